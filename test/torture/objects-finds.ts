// Random interleavings of the steps of finds with commits: each find gives what was there when its
// first object was asked for, and what was kept for it is gone when it has ended.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import { Random } from '../fixtures/random.js'
import { objectProblems } from '../fixtures/problems.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { allOf, batchOf, BegunFind, definition, queries, things } from './objects-find-steps.js'

export interface FindReport {
  readonly runs: number
  /** Finds that were begun, and objects that they gave. */
  finds: number
  objects: number
  commits: number
}

const size = 600

export async function findRuns(options: {
  readonly runs: number
  readonly seed: number
}): Promise<FindReport> {
  const { runs, seed } = options
  const report = { runs, finds: 0, objects: 0, commits: 0 }
  const run = fc.asyncProperty(fc.nat(), (number) => interleave(new Random(number), report))
  await fc.assert(run, { seed, numRuns: runs, endOnFailure: true })
  return report
}

async function interleave(random: Random, report: FindReport): Promise<void> {
  const backend = new KeptBackend(new MemoryBackend())
  const objectCacheBytes = random.pick([1, 40_000, 2 ** 24])
  const keep = await createLorekeep({ backend, objectCacheBytes })
  const { objects } = keep
  await objects.defineSchema(definition)
  await objects.import(batchOf(things(0, size, 0)))
  const finds: BegunFind[] = []
  const read = async (find: BegunFind, count: number) => {
    const before = find.found.length
    await find.readTo(before + count)
    report.objects += find.found.length - before
    if (find.found.length < before + count) finds.splice(finds.indexOf(find), 1)
  }
  for (let n = 1; n <= 60; n++) {
    const choice = random.next()
    const find = finds[random.below(Math.max(1, finds.length))]
    if (choice < 0.25) {
      const [name, query] = random.pick(Object.entries(queries))
      const expected = await allOf(objects, query)
      const found = objects.find({ schema_name: 'things', ...query })[Symbol.asyncIterator]()
      const begun = new BegunFind(name, expected, found)
      finds.push(begun)
      report.finds++
      // Its version is fixed by the first object that is asked for, whatever comes then.
      const first = read(begun, 1)
      await Promise.all([first, random.chance(0.5) && change(random, objects, n)])
    } else if (choice < 0.6 && find !== undefined) await read(find, random.below(500))
    else if (choice < 0.65 && find !== undefined) {
      await find.leave()
      finds.splice(finds.indexOf(find), 1)
    } else {
      await change(random, objects, n)
      report.commits++
    }
    if (n % 15 === 0) assert.deepEqual(await objectProblems(backend, { reading: true }), [])
  }
  for (const find of [...finds]) await read(find, Infinity)
  await objects.createCollection('one more commit')
  assert.deepEqual(await objectProblems(backend), [])
  await keep.close()
}

async function change(random: Random, objects: ObjectStore, version: number): Promise<unknown> {
  const id = random.below(size)
  const choice = random.next()
  if (choice < 0.4) {
    const batch = batchOf(things(id, id + 1 + random.below(300), version))
    return objects.import(batch, { onDuplicate: 'replace' })
  }
  if (choice < 0.6) return objects.delete('c', id)
  if (choice < 0.7) {
    const indexes = random.shuffle(definition.indexes).slice(0, random.below(5))
    return objects.defineSchema({ ...definition, indexes })
  }
  if (choice < 0.75) return objects.deleteCollection('c')
  return objects.patch('c', id, { text: 'patched', group: 3 })
}
