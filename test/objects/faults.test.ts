// A storage error at any call: a change is whole or did not happen, the store goes on once the
// storage works again, with or without being opened anew, and nothing is left behind.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectImport, ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { backends } from '../fixtures/stores.js'
import { objectProblems } from '../fixtures/problems.js'
import { KeptBackend } from './kept-backend.js'

const definition = {
  name: 'things',
  fields: { group: { type: 'integer' }, tags: { type: 'array' }, name: { type: 'string' } },
  indexes: ['group', 'tags', { text: ['name', 'tags'] }],
}
const redefined = {
  ...definition,
  indexes: ['group', 'name', { text: ['tags'] }, '_collection'],
}

const batchOf = (values: readonly JsonObject[], collection = 'c'): ObjectImport => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 'things',
  values,
})

const numbered = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, n) => ({
    id: from + n,
    group: (from + n) % 3,
    tags: [n % 2, 'x'],
  }))

interface Operation {
  readonly run: (objects: ObjectStore) => Promise<unknown>
  /** Objects there are beforehand, in the first of two collections. */
  readonly objects: number
  /** In several steps: an error may leave some of them done, and the next try does the rest. */
  readonly inSteps?: boolean
}

const operations: Readonly<Record<string, Operation>> = {
  import: { objects: 20, run: (objects) => objects.import(batchOf(numbered(100, 150))) },
  'import that replaces': {
    objects: 20,
    run: (objects) => objects.import(batchOf(numbered(10, 40)), { onDuplicate: 'replace' }),
  },
  replace: { objects: 20, run: (objects) => objects.replace('c', 3, { group: 9 }) },
  patch: { objects: 20, run: (objects) => objects.patch('c', 3, { tags: null, name: 'new' }) },
  delete: { objects: 20, run: (objects) => objects.delete('c', 3) },
  defineSchema: { objects: 20, run: (objects) => objects.defineSchema(redefined) },
  'defineSchema in several steps': {
    objects: 8400,
    run: (objects) => objects.defineSchema(redefined),
  },
  dropSchema: {
    objects: 20,
    run: async (objects) => objects.dropSchema('empty'),
  },
  deleteCollection: { objects: 20, inSteps: true, run: (objects) => objects.deleteCollection('c') },
  'deleteCollection of much': {
    objects: 4500,
    inSteps: true,
    run: (objects) => objects.deleteCollection('c'),
  },
}

const modes = [
  { name: 'before each call', when: 'before', lasting: false },
  { name: 'after each call', when: 'after', lasting: false },
  { name: 'from each call on', when: 'before', lasting: true },
  { name: 'from each call on, which happens', when: 'after', lasting: true },
] as const

const outcomes = new Map<Operation, Promise<unknown>>()

for (const [engine, createBackend] of backends) {
  for (const [name, operation] of Object.entries(operations)) {
    if (engine === 'level' && operation.objects > 100) continue
    for (const { name: mode, when, lasting } of modes) {
      if (operation.objects > 100 && lasting !== (when === 'after')) continue
      t.test(`${engine}: ${name}, failing ${mode}`, async (t) => {
        const after = await outcomeOf(operation)
        let calls = Infinity
        // The first round fails nowhere and counts the calls.
        for (let failAt = 0; failAt <= calls; failAt++) {
          const real = createBackend(t)
          const kept = new KeptBackend(real)
          const backend = new FaultyBackend(kept)
          const keep = await filled(backend, operation.objects)
          const before = await stateOf(keep.objects)
          const start = backend.calls
          if (failAt > 0) Object.assign(backend, { failAt: start + failAt, when, lasting })
          const { error } = await settle(operation.run(keep.objects))
          if (failAt === 0) calls = backend.calls - start
          backend.failAt = Infinity
          const place = `call ${failAt} of ${calls}`
          if (error !== undefined) assert.ok(error instanceof LorekeepError, place)
          const found = await stateOf(keep.objects)
          if (error === undefined) assert.deepEqual(found, after, `${place}: acknowledged`)
          // The storage may have carried out the call that failed last.
          else if (operation.inSteps !== true && !(lasting && when === 'after')) {
            assert.deepEqual(found, before, `${place}: nothing happened`)
          } else if (operation.inSteps !== true) {
            const isBefore = JSON.stringify(found) === JSON.stringify(before)
            assert.deepEqual(found, isBefore ? before : after, `${place}: old or new`)
          }
          if (operation.inSteps !== true) {
            // What a build has written goes with the next commit, where the storage failed so long
            // that nothing could be undone.
            const isLeft = (problem: string) =>
              error !== undefined && lasting && problem.startsWith('leftover ("run"')
            const problems = (await objectProblems(kept)).filter((problem) => !isLeft(problem))
            assert.deepEqual(problems, [], `${place}: at once`)
          }
          // Nor does the storage have what the store was told has failed.
          if (operation.inSteps !== true) {
            const other = await createLorekeep({ backend: kept })
            assert.deepEqual(await stateOf(other.objects), found, `${place}: in the storage`)
            await other.close()
          }
          // It goes on without being opened anew …
          await keep.objects.import(batchOf(numbered(500_000, 500_010), 'other'))
          if (error !== undefined) await settle(operation.run(keep.objects))
          await keep.objects.delete('other', 500_000)
          assert.deepEqual(await objectProblems(kept), [], `${place}: when it goes on`)
          await keep.close()
          // … and with it.
          const again = await createLorekeep({ backend: kept })
          const { total } = await again.objects.query({
            schema_name: 'things',
            filters: { _collection: 'other', group: { $gte: 0 } },
          })
          assert.equal(total, 14, place)
          await again.objects.patch('other', 500_001, { name: 'patched' })
          assert.deepEqual(await objectProblems(kept), [], `${place}: opened anew`)
          await again.close()
          await real.close()
        }
        t.ok(calls >= 1, `${calls} calls`)
      })
    }
  }
}

for (const [name, operation] of Object.entries(operations)) {
  t.test(
    `a process that ends at any call of ${name} leaves what the next one can use`,
    async (t) => {
      const after = await outcomeOf(operation)
      let calls = Infinity
      for (let failAt = 0; failAt <= calls; failAt++) {
        const kept = new KeptBackend(new MemoryBackend())
        const backend = new FaultyBackend(kept)
        const first = await filled(backend, operation.objects)
        const before = await stateOf(first.objects)
        const start = backend.calls
        if (failAt > 0) Object.assign(backend, { failAt: start + failAt, lasting: true })
        const { error } = await settle(operation.run(first.objects))
        if (failAt === 0) calls = backend.calls - start
        await first.close()

        const place = `call ${failAt} of ${calls}`
        const second = await createLorekeep({ backend: kept })
        // A deletion that was cut off is taken up before this has its turn.
        await settle(second.objects.deleteCollection('nothing'))
        await second.close()
        assert.deepEqual(await objectProblems(kept), [], place)
        const third = await createLorekeep({ backend: kept })
        const found = await stateOf(third.objects)
        const isBefore = JSON.stringify(found) === JSON.stringify(before)
        if (error === undefined) assert.deepEqual(found, after, place)
        else assert.deepEqual(found, isBefore ? before : after, place)
        await third.close()
      }
      t.ok(calls >= 1, `${calls} calls`)
    },
  )
}

async function filled(backend: FaultyBackend | KeptBackend, count: number) {
  const keep = await createLorekeep({ backend, onError: () => undefined })
  await keep.objects.defineSchema(definition)
  await keep.objects.defineSchema({ ...definition, name: 'empty' })
  for (let from = 0; from < count; from += 10_000) {
    await keep.objects.import(batchOf(numbered(from, Math.min(from + 10_000, count))))
  }
  await keep.objects.import(batchOf(numbered(0, 5), 'other'))
  return keep
}

/** What there is when nothing has failed. */
function outcomeOf(operation: Operation): Promise<unknown> {
  const known = outcomes.get(operation) ?? findOutcome(operation)
  outcomes.set(operation, known)
  return known
}

async function findOutcome({ objects: count, run }: Operation): Promise<unknown> {
  const keep = await filled(new KeptBackend(new MemoryBackend()), count)
  await run(keep.objects)
  const state = await stateOf(keep.objects)
  await keep.close()
  return state
}

/** What readers see, but for the time of changes. */
async function stateOf(objects: ObjectStore): Promise<unknown> {
  const found: unknown[] = []
  for await (const { _id, _collection, group, tags, name } of objects.find({
    schema_name: 'things',
  })) {
    found.push([_id, _collection, group, tags, name])
  }
  const collections = await objects.collections()
  return {
    schemas: await objects.schemas(),
    collections: collections.map(({ name, schemas }) => ({ name, schemas })),
    found,
  }
}

async function settle(work: Promise<unknown>): Promise<{ error?: unknown }> {
  try {
    await work
    return {}
  } catch (error) {
    return { error }
  }
}
