// A find is of one version: what is there when the first object is asked for, each object once,
// whatever others do meanwhile; and what is kept for it goes when it has ended.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type LorekeepOptions } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Backend, Operation, WriteOptions } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { pickSeed } from '../fixtures/random.js'
import { backends } from '../fixtures/stores.js'
import {
  allOf,
  batchOf,
  begunFinds,
  definition,
  replaceAll,
  things,
} from '../torture/objects-find-steps.js'
import { findRuns } from '../torture/objects-finds.js'
import { objectProblems } from '../fixtures/problems.js'
import { KeptBackend } from './kept-backend.js'

/** Holds some pages, and not all: what is read late is read from the storage. */
const smallCache = 256 * 1024

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: all objects are replaced twice while they are read`, async (t) => {
    const { objects, backend } = await opened(t, createBackend(t), { objectCacheBytes: 2 ** 21 })
    await objects.import(batchOf(things(0, 5000, 0)))
    const finds = await begunFinds(objects, engine === 'memory' ? 2 : 5)
    for (const find of finds) await find.readTo(600)
    await replaceAll(objects, 1)
    for (const find of finds) await find.readTo(1800)
    await replaceAll(objects, 2)
    for (const find of finds) {
      await find.readTo(Infinity)
      t.ok(find.found.length >= 2000, `${find.name}: ${find.found.length} objects`)
    }
    // One more commit, and nothing is left of what was kept.
    await objects.patch('c', 1, { text: 'last' })
    t.strictSame(await objectProblems(backend), [])
    t.equal((await objects.query({ schema_name: 'things', filters: { version: 2 } })).total, 5000)
  })
}

const intrusions: Readonly<Record<string, (objects: ObjectStore) => Promise<unknown>>> = {
  'its collection is deleted': (objects) => objects.deleteCollection('c'),
  'its schema is dropped': async (objects) => {
    await objects.deleteCollection('c')
    await objects.dropSchema('things')
  },
  'its schema is another one': async (objects) => {
    await objects.deleteCollection('c')
    await objects.dropSchema('things')
    await objects.defineSchema({ name: 'things', fields: { other: { type: 'string' } } })
    await objects.import(batchOf([{ id: 0, other: 'x' }]))
  },
  'its indexes are dropped': (objects) => objects.defineSchema({ ...definition, indexes: [] }),
  'its indexes are built anew': async (objects) => {
    await objects.defineSchema({ ...definition, indexes: ['text'] })
    await replaceAll(objects, 1, 700)
    await objects.defineSchema(definition)
  },
  'an object comes with an array': (objects) =>
    objects.import(batchOf([{ id: 'new', deep: { x: [400, 450, 499] }, version: 0 }])),
}

for (const [intrusion, intrude] of Object.entries(intrusions)) {
  t.test(`a find goes on as it began while ${intrusion}`, async (t) => {
    const { objects, backend } = await opened(t, new MemoryBackend())
    await objects.import(batchOf(things(0, 700, 0)))
    const finds = await begunFinds(objects)
    for (const find of finds) await find.readTo(100)
    await intrude(objects)
    for (const find of finds) await find.readTo(Infinity)
    await objects.createCollection('one more commit')
    t.strictSame(await objectProblems(backend), [])
  })
}

t.test('its version is that of the first next(), not that of the call', async (t) => {
  const { objects } = await opened(t, new MemoryBackend())
  await objects.import(batchOf(things(0, 10, 0)))
  const found = objects.find({ schema_name: 'things' })[Symbol.asyncIterator]()
  await objects.import(batchOf(things(10, 20, 0)))
  const first = found.next()
  const late = objects.import(batchOf(things(20, 30, 0)))
  await first
  await late
  let count = 1
  while ((await found.next()).done !== true) count++
  t.equal(count, 20)
})

t.test('what a find still needs is kept, and nothing more', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const { objects } = await opened(t, backend)
  // The same without readers.
  const twin = await opened(t, new MemoryBackend())
  const replaceBoth = async (version: number) => {
    for (const each of [objects, twin.objects]) await replaceAll(each, version, 1000)
  }
  const kept = async () => (await pagesOf(backend)) - (await pagesOf(twin.backend))
  await replaceBoth(0)
  const older = await pagesOf(backend)
  const slow = objects.find({ schema_name: 'things' })[Symbol.asyncIterator]()
  await slow.next()
  for (let version = 1; version <= 8; version++) await replaceBoth(version)
  t.strictSame(await objectProblems(backend, { reading: true }), [])
  t.ok((await kept()) > 0 && (await kept()) <= older, 'nobody reads the versions in between')
  const newer = await pagesOf(twin.backend)
  const other = objects.find({ schema_name: 'things' })[Symbol.asyncIterator]()
  await other.next()
  await replaceBoth(9)
  t.strictSame(await objectProblems(backend, { reading: true }), [])
  await slow.return?.()
  for (const each of [objects, twin.objects]) await each.patch('c', 1, { text: 'x' })
  t.strictSame(await objectProblems(backend, { reading: true }), [])
  t.ok((await kept()) > 0 && (await kept()) <= newer, 'the pages of the older one have gone')
  let count = 1
  for (let next = await other.next(); next.done !== true; next = await other.next()) {
    assert.equal(next.value['version'], 8)
    count++
  }
  t.equal(count, 1000)
  for (const each of [objects, twin.objects]) await each.patch('c', 2, { text: 'x' })
  t.strictSame(await objectProblems(backend), [])
  t.equal(await kept(), 0)
})

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: opening deletes what was kept for readers that are gone`, async (t) => {
    const backend = new KeptBackend(createBackend(t))
    t.teardown(() => backend.real.close())
    const first = await createLorekeep({ backend, closeTimeoutMs: 1 })
    await first.objects.defineSchema(definition)
    await first.objects.import(batchOf(things(0, 1000, 0)))
    const finds = Array.from({ length: 5 }, () => first.objects.find({ schema_name: 'things' }))
    for (const [n, find] of finds.entries()) {
      await find[Symbol.asyncIterator]().next()
      await replaceAll(first.objects, n + 1, 1000)
    }
    t.strictSame(await objectProblems(backend, { reading: true }), [])
    t.not((await objectProblems(backend)).length, 0, 'something is kept')
    await first.close()
    const again = await createLorekeep({ backend })
    t.strictSame(await objectProblems(backend), [])
    t.equal((await again.objects.query({ schema_name: 'things' })).total, 1000)
    await again.close()
  })
}

t.test('a find that begins while a commit is under way misses no page', async (t) => {
  const backend = new HeldBackend(new MemoryBackend())
  const { objects } = await opened(t, backend, { objectCacheBytes: 1 })
  await objects.import(batchOf(things(0, 600, 0)))
  for (const version of [1, 2]) {
    const held = backend.hold()
    const replacing = replaceAll(objects, version, 600)
    await held.begun
    const finding = allOf(objects, { sort: { place: 'asc' } })
    for (let n = 0; n < 20; n++) await turn()
    held.release()
    const found = await finding
    await replacing
    assert.equal(found.length, 600)
    const versions = new Set(found.map((object) => object['version']))
    t.equal(versions.size, 1, `one version: ${[...versions].join()}`)
  }
  await objects.patch('c', 1, { text: 'x' })
  t.strictSame(await objectProblems(backend), [])
})

for (const when of ['before', 'after'] as const) {
  t.test(
    `a find that begins while a write is in doubt reads what is there (${when})`,
    async (t) => {
      const backend = new FaultyBackend(new HeldBackend(new MemoryBackend()))
      const held = backend.real as HeldBackend
      const { objects } = await opened(t, backend, { objectCacheBytes: 1 })
      await objects.import(batchOf(things(0, 1000, 0)))
      const gate = held.hold()
      Object.assign(held, { failing: when })
      const replacing = replaceAll(objects, 1, 1000).then(
        () => undefined,
        (error: unknown) => error,
      )
      await gate.begun
      // The look at the head that tells whether it happened fails too, and then works again.
      const finding = allOf(objects, {})
      await turn()
      Object.assign(backend, { failAt: backend.calls + 1 })
      gate.release()
      const outcome = await Promise.allSettled([finding, replacing])
      Object.assign(held, { failing: undefined })
      const found = await allOf(objects, { sort: { place: 'asc' } })
      t.equal(found.length, 1000)
      const versions = new Set(found.map((object) => object['version']))
      t.strictSame([...versions], [when === 'after' ? 1 : 0])
      if (outcome[0].status === 'fulfilled') {
        t.equal(outcome[0].value.length, 1000)
        t.equal(new Set(outcome[0].value.map((object) => object['version'])).size, 1)
      }
      await objects.patch('c', 1, { text: 'x' })
      t.strictSame(await objectProblems(held), [])
    },
  )
}

t.test('writes that fail leave what readers read, and nothing behind', async (t) => {
  const kept = new KeptBackend(new MemoryBackend())
  const backend = new FaultyBackend(kept)
  const { objects } = await opened(t, backend)
  await objects.import(batchOf(things(0, 1500, 0)))
  const expected = await allOf(objects, { sort: { place: 'asc' } })
  for (const when of ['before', 'after'] as const) {
    const now = await allOf(objects, { sort: { place: 'asc' } })
    const find = objects.find({ schema_name: 'things', sort: { place: 'asc' } })
    const found: unknown[] = []
    let round = 0
    for await (const object of find) {
      found.push(object)
      if (found.length % 100 !== 0) continue
      Object.assign(backend, { failAt: backend.calls + 1 + (round++ % 12), when })
      await replaceAll(objects, round, 1500).catch(() => undefined)
      backend.failAt = Infinity
    }
    assert.deepEqual(found, now)
    await objects.patch('c', 1, { text: 'x' })
    t.strictSame(await objectProblems(kept), [])
  }
  t.equal(expected.length, 1500)
})

t.test('a find that is left in the middle, or forgotten, keeps nothing', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const backend = new KeptBackend(new MemoryBackend())
  const { objects, keep } = await opened(t, backend, { closeTimeoutMs: 60_000 })
  await objects.import(batchOf(things(0, 2000, 0)))
  for await (const _ of objects.find({ schema_name: 'things' })) break
  await replaceAll(objects, 1, 2000)
  t.strictSame(await objectProblems(backend), [], 'left by break')
  const forget = async (): Promise<void> => {
    await objects.find({ schema_name: 'things' })[Symbol.asyncIterator]().next()
    objects.find({ schema_name: 'things' })
  }
  await forget()
  await replaceAll(objects, 2, 2000)
  t.strictSame(await objectProblems(backend, { reading: true }), [])
  for (let n = 0; n < 50; n++) {
    collect()
    await turn()
    await objects.patch('c', n, { text: 'x' })
    if ((await objectProblems(backend)).length === 0) break
  }
  t.strictSame(await objectProblems(backend), [], 'forgotten')
  // Nor does close() wait for it.
  await keep.close()
})

t.test('close() ends finds, and what is left of them goes with the next opening', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const { objects, keep } = await opened(t, backend, { closeTimeoutMs: 20 })
  await objects.import(batchOf(things(0, 2000, 0)))
  const find = objects.find({ schema_name: 'things' })[Symbol.asyncIterator]()
  await find.next()
  await replaceAll(objects, 1, 2000)
  const ending = assert.rejects(
    async () => {
      for (;;) {
        const { done } = await find.next()
        if (done === true) return
        await turn()
        if (closing === undefined) closing = keep.close()
        else await closed
      }
    },
    { code: 'LK_CLOSED' },
  )
  let closing: Promise<void> | undefined
  const closed = new Promise((resolve) => setTimeout(resolve, 60))
  await ending
  await closing
  const again = await opened(t, backend, {}, 'keep')
  t.strictSame(await objectProblems(backend), [])
  t.equal((await allOf(again.objects, {})).length, 2000)
})

t.test('two stores over one backend: never a mixture, and a typed error at worst', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const a = await opened(t, backend, { objectCacheBytes: 1 })
  await a.objects.import(batchOf(things(0, 2000, 0)))
  const b = await opened(t, backend, {}, 'keep')
  const finds = await begunFinds(a.objects, 3)
  for (const find of finds) await find.readTo(100)
  await replaceAll(b.objects, 1, 2000)
  for (const find of finds) {
    await assert.rejects(find.readTo(Infinity), { code: 'LK_STORAGE_CONFLICT' }, find.name)
  }
  // Nobody has seen anything of the old version yet: it begins with the new one.
  for (const query of [{}, { sort: { place: 'asc' } }, { filters: { group: 3 } }] as const) {
    await replaceAll(b.objects, 2, 2000)
    const found = await allOf(a.objects, query)
    assert.ok(found.every(({ version }) => version === 2))
    t.equal(found.length, (await b.objects.query({ schema_name: 'things', ...query })).total)
  }
  await a.objects.patch('c', 1, { text: 'x' })
  t.strictSame(await objectProblems(backend), [])
})

t.test('a store that opens beside another one leaves what that one reads and builds', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const a = await opened(t, backend, { objectCacheBytes: 1 })
  await a.objects.import(batchOf(things(0, 1500, 0)))
  const finds = await begunFinds(a.objects, 4)
  await replaceAll(a.objects, 1, 1500)
  const defining = a.objects.defineSchema({ ...definition, indexes: ['text', 'place'] })
  const b = await opened(t, backend, {}, 'keep')
  for (const find of finds) await find.readTo(Infinity)
  await defining
  t.equal((await allOf(b.objects, { filters: { version: 1 } })).length, 1500)
  await a.objects.patch('c', 1, { text: 'x' })
  t.strictSame(await objectProblems(backend), [])
})

t.test('a page that is gone though nobody else writes is damage', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const { objects } = await opened(t, backend, { objectCacheBytes: 1 })
  await objects.import(batchOf(things(0, 3000, 0)))
  const find = objects.find({ schema_name: 'things' })[Symbol.asyncIterator]()
  await find.next()
  await replaceAll(objects, 1, 3000)
  const storage = await backend.open('objects')
  for await (const page of storage.scan({
    gte: Buffer.from('\x02page'),
    lt: Buffer.from('\x02pagf'),
  })) {
    await storage.write(page.map(({ key }) => ({ type: 'del', key })))
  }
  await assert.rejects(
    async () => {
      while ((await find.next()).done !== true);
    },
    { code: 'LK_STORAGE_CORRUPT' },
  )
})

const seed = pickSeed()

// The long run is `npm run torture -- objects-finds`.
t.test(`steps of finds among commits: a snapshot each (seed ${seed})`, async (t) => {
  const report = await findRuns({ runs: 2, seed })
  t.comment(JSON.stringify(report))
  t.ok(report.objects > 0)
})

async function pagesOf(backend: Backend): Promise<number> {
  let count = 0
  for await (const page of (await backend.open('objects')).scan({ keysOnly: true })) {
    count += page.filter(({ key }) => Buffer.from(key).subarray(1, 5).toString() === 'page').length
  }
  return count
}

async function opened(
  t: Test,
  backend: Backend,
  options: Partial<LorekeepOptions> = {},
  schema: 'define' | 'keep' = 'define',
) {
  const keep = await createLorekeep({ backend, objectCacheBytes: smallCache, ...options })
  t.teardown(() => keep.close())
  if (schema === 'define') await keep.objects.defineSchema(definition)
  return { objects: keep.objects, backend, keep }
}

/** Holds a write back, where it is told to, before it does anything; and may fail it. */
class HeldBackend extends KeptBackend {
  failing: 'before' | 'after' | undefined
  #held: { readonly begun: () => void; readonly goOn: Promise<void> } | undefined

  hold(): { readonly begun: Promise<void>; readonly release: () => void } {
    let begin = (): void => undefined
    let release = (): void => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const goOn = new Promise<void>((resolve) => (release = resolve))
    this.#held = { begun: begin, goOn }
    return { begun, release }
  }

  override async open(partition: Parameters<Backend['open']>[0]) {
    const storage = await super.open(partition)
    const write = async (operations: readonly Operation[], options?: WriteOptions) => {
      const held = this.#held
      this.#held = undefined
      held?.begun()
      await held?.goOn
      const failing = held && this.failing
      if (failing !== 'before') await storage.write(operations, options)
      if (failing !== undefined) throw new Error('the write fails on purpose')
    }
    return altered(storage, { write })
  }
}
