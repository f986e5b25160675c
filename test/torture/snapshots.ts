// Snapshots against a plain map: writes go on before, during and after each of them, and what is
// read is what there was when it was taken.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { SnapshotLayer } from '../../src/snapshot/snapshot-layer.js'
import type { Backend, Operation, PartitionName } from '../../src/storage.js'
import type { Range, SnapshotView, Storage } from '../../src/storage.js'
import { Random } from '../fixtures/random.js'

const partitions = ['cores', 'slices', 'objects', 'flows'] as const

type Model = Map<PartitionName, Map<string, string>>

export interface SnapshotRuns {
  readonly runs: number
  readonly seed: number
  /** A fresh directory for each run on LevelDB. */
  readonly directory: (run: number) => string
}

export async function snapshotRuns({ runs, seed, directory }: SnapshotRuns) {
  let [snapshots, entries] = [0, 0]
  for (let run = 0; run < runs; run++) {
    const random = new Random(seed + run)
    // Mostly in memory, where turns of the event loop are all that divides what happens.
    const backend =
      run % 8 === 7
        ? new LevelBackend(directory(run), { profiles: { slices: { separateBytes: 40 } } })
        : new SlowBackend(new MemoryBackend(), random)
    try {
      const counts = await oneRun(backend, random)
      snapshots += counts.snapshots
      entries += counts.entries
    } catch (error) {
      throw new Error(`run ${run} of seed ${seed}: ${String(error)}`, { cause: error })
    } finally {
      await backend.close()
    }
  }
  return { runs, snapshots, entries }
}

async function oneRun(backend: Backend, random: Random) {
  const layer = new SnapshotLayer(backend)
  const storages = new Map<PartitionName, Storage>()
  for (const name of partitions) storages.set(name, await layer.open(name))
  const model: Model = new Map(partitions.map((name) => [name, new Map()]))
  const keys = 1 + random.below(60)
  const key = () => Buffer.from(`k${String(random.below(keys)).padStart(3, '0')}`)
  const value = () => random.bytes(random.pick([0, 1, 20, 60]))
  const writes: Promise<unknown>[] = []
  const write = () => {
    const name = random.pick(partitions)
    const operations = Array.from({ length: random.below(6) }, (): Operation =>
      random.chance(0.6)
        ? { type: 'put', key: key(), value: value() }
        : { type: 'del', key: key() },
    )
    const map = model.get(name)!
    const require = random.chance(0.2) ? ([{ type: 'absent', key: key() }] as const) : []
    const refused = require.some((one) => map.has(one.key.toString('hex')))
    if (!refused) {
      for (const operation of operations) {
        const hex = Buffer.from(operation.key).toString('hex')
        if (operation.type === 'put') map.set(hex, Buffer.from(operation.value).toString('hex'))
        else map.delete(hex)
      }
    }
    const written = storages.get(name)!.write(operations, { require })
    const checked = written.then(
      () => assert.ok(!refused, 'it should have conflicted'),
      (error: { code?: string }) => {
        assert.ok(refused, String(error))
        assert.equal(error.code, 'LK_STORAGE_CONFLICT')
      },
    )
    checked.catch(() => {})
    writes.push(checked)
  }
  const reading: Promise<number>[] = []
  const steps = 20 + random.below(60)
  for (let step = 0; step < steps; step++) {
    for (let count = random.below(5); count > 0; count--) write()
    if (random.chance(0.1)) {
      const expected = new Map([...model].map(([name, map]) => [name, new Map(map)]))
      const snapshot = layer.take()
      const own = new Random(random.below(2 ** 31))
      const work = async () => {
        let read = 0
        for (const name of own.shuffle(partitions)) {
          read += await compare(snapshot.partitions[name], expected.get(name)!, own, (passed) =>
            snapshot.pass(name, passed),
          )
        }
        await snapshot.close()
        return read
      }
      const read = work()
      // Told at the end, with the seed.
      read.catch(() => {})
      reading.push(read)
    }
    if (random.chance(0.5)) await turn()
    if (random.chance(0.1)) await Promise.all(writes)
  }
  await Promise.all(writes)
  const read = await Promise.all(reading)
  // Nothing is left of them: what is in the storages is the model.
  for (const [name, map] of model) {
    assert.deepEqual(await contents(storages.get(name)!, {}), inOrder(map), name)
  }
  return { snapshots: read.length, entries: read.reduce((sum, count) => sum + count, 0) }
}

async function compare(
  view: SnapshotView,
  expected: ReadonlyMap<string, string>,
  random: Random,
  pass: (key?: Uint8Array) => void,
): Promise<number> {
  const all = inOrder(expected)
  const isPassing = random.chance(0.5)
  if (!isPassing) {
    for (let count = random.below(4); count > 0; count--) {
      const keys = Array.from({ length: 3 }, () =>
        Buffer.from(`k${String(random.below(60)).padStart(3, '0')}`),
      )
      const found = await view.getMany(keys)
      const hex = found.map((value) => value && Buffer.from(value).toString('hex'))
      assert.deepEqual(
        hex,
        keys.map((key) => expected.get(key.toString('hex'))),
        'getMany',
      )
    }
    const gte = Buffer.from(`k${String(random.below(60)).padStart(3, '0')}`)
    const limit = random.below(8)
    const reverse = random.chance(0.5)
    const inside = all.filter(([key]) => key >= gte.toString('hex'))
    if (reverse) inside.reverse()
    assert.deepEqual(await contents(view, { gte, limit, reverse }), inside.slice(0, limit), 'range')
  }
  assert.deepEqual(await contents(view, {}, isPassing ? pass : undefined), all, 'scan')
  pass()
  return all.length
}

async function contents(
  view: SnapshotView,
  range: Range,
  pass?: (key: Uint8Array) => void,
): Promise<[string, string][]> {
  const found: [string, string][] = []
  for await (const page of view.scan(range)) {
    assert.ok(page.length > 0, 'an empty page')
    for (const { key, value } of page) {
      found.push([Buffer.from(key).toString('hex'), Buffer.from(value).toString('hex')])
    }
    pass?.(page.at(-1)!.key)
    await turn()
  }
  return found
}

function inOrder(map: ReadonlyMap<string, string>): [string, string][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Memory that takes its time, and whose pages are short. Writes stay in their order. */
class SlowBackend implements Backend {
  readonly shared = false
  readonly #backend: Backend
  readonly #random: Random

  constructor(backend: Backend, random: Random) {
    this.#backend = backend
    this.#random = new Random(random.below(2 ** 31))
  }

  async open(name: PartitionName): Promise<Storage> {
    const storage = await this.#backend.open(name)
    const random = this.#random
    const wait = async () => {
      for (let turns = random.below(4); turns > 0; turns--) await turn()
    }
    const slowly = async <T>(work: () => Promise<T>) => {
      await wait()
      const result = await work()
      await wait()
      return result
    }
    let last: Promise<unknown> = Promise.resolve()
    return {
      get: (key) => slowly(() => storage.get(key)),
      getBytes: (key, from, to) => slowly(() => storage.getBytes(key, from, to)),
      getMany: (keys) => slowly(() => storage.getMany(keys)),
      async *scan(range: Range) {
        let rest = range
        for (;;) {
          const limit = Math.min(rest.limit ?? Infinity, 1 + random.below(10))
          const [page] = await slowly(() => firstOf(storage.scan({ ...rest, limit })))
          if (page === undefined) return
          const key = new Uint8Array(page.at(-1)!.key)
          const left = (rest.limit ?? Infinity) - page.length
          yield page
          if (left === 0) return
          rest = { ...rest, ...(range.reverse ? { lt: key } : { gt: key }) }
          if (left !== Infinity) rest = { ...rest, limit: left }
        }
      },
      write: (operations, options) => {
        const written = last.then(() => slowly(() => storage.write(operations, options)))
        last = written.catch(() => {})
        return written
      },
      close: () => storage.close(),
      [Symbol.asyncDispose]: () => storage.close(),
    }
  }

  async close(): Promise<void> {
    await this.#backend.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

async function firstOf<T>(pages: AsyncIterable<T>): Promise<T[]> {
  for await (const page of pages) return [page]
  return []
}
