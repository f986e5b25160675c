// Several processes over one backend: what one has changed the others follow, and an index that one builds all keep
// up, whatever they write meanwhile.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { openObjectStore } from '../../src/objects/store.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Filters } from '../../src/objects/filter-types.js'
import { deleteCollection } from '../../src/objects/collection-deletion.js'
import { Committer } from '../../src/objects/engine/committer.js'
import { openState } from '../../src/objects/engine/opening.js'
import { changeKey } from '../../src/objects/engine/records.js'
import type { Operation, Storage } from '../../src/storage.js'
import { objectProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'

const definition = {
  name: 's',
  fields: { id: { type: 'integer' }, group: { type: 'integer' }, text: { type: 'text' } },
  indexes: ['group'],
}
const more = { ...definition, indexes: ['group', 'id', { text: ['text'] }] }

const batch = (from: number, count: number, collection = 'c') => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 's',
  values: Array.from({ length: count }, (_, n) => ({
    id: from + n,
    group: (from + n) % 3,
    text: `word${from + n} of all`,
  })),
})

interface Seen {
  gets: number
  scans: number
  writes: number
  beforeWrite: (write: number) => unknown
}

async function one(t: Test, memory: SharedMemory) {
  const backend = memory.backend()
  const real = await backend.open('objects')
  const seen: Seen = { gets: 0, scans: 0, writes: 0, beforeWrite: () => undefined }
  const objects: Storage = {
    sharing: real.sharing,
    get: (key) => (seen.gets++, real.get(key)),
    getBytes: (key, from, to) => (seen.gets++, real.getBytes(key, from, to)),
    getMany: (keys) => (seen.gets++, real.getMany(keys)),
    scan: (range) => (seen.scans++, real.scan(range)),
    write: async (operations, options) => {
      await seen.beforeWrite(++seen.writes)
      return real.write(operations, options)
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  const errors: unknown[] = []
  const store = await openObjectStore({
    objects,
    isAlone: false,
    isShared: true,
    reads: 'fresh',
    cacheBytes: 8 * 1024 ** 2,
    collections: 'open',
    onError: (error) => void errors.push(error),
  })
  const close = async () => {
    await store.close(1000)
    await backend.close()
  }
  t.teardown(close)
  return { store, seen, real, close, backend, errors }
}

/** By the indexes that `more` adds, in whichever process. */
async function totals(store: ObjectStore) {
  const total = async (filters: Filters) =>
    (await store.query({ schema_name: 's', filters, limit: 0 })).total
  const { notUsed, plan } = await store.explain({ schema_name: 's', filters: { id: { $gte: 0 } } })
  return {
    plan,
    notUsed: notUsed.map(({ path }) => path),
    all: await total({}),
    ids: await total({ id: { $gte: 0 } }),
    words: await total({ $text: { $search: 'all' } }),
  }
}

const even = (all: number) => ({ plan: 'index', notUsed: [], all, ids: all, words: all })

t.test('what others have changed is read by one call, and nothing else', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 30; n++) {
    await a.store.import(batch(n * 10, 10, `c${n % 4}`))
    if (n % 7 === 3) t.ok((await a.store.delete('c0', 0 + n * 0)) !== undefined)
  }
  await a.store.import(batch(990, 1))
  await b.store.query({ schema_name: 's', limit: 0 })
  Object.assign(b.seen, { gets: 0, scans: 0 })
  await a.store.import(batch(1000, 5))
  await a.store.patch('c', 1001, { group: 77 })
  await a.store.deleteCollection('c1')
  await a.store.createCollection('empty')
  t.same(await b.store.collections(), await a.store.collections())
  t.equal(b.seen.gets, 1)
  t.equal(b.seen.scans, 0)
  const query = { schema_name: 's', filters: { group: { $gte: 0 } }, limit: 1000 } as const
  t.same(await b.store.query(query), await a.store.query(query))
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('a turn is kept for who goes on, and what others have made is read together', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 3; n++) await a.store.import(batch(n * 40, 40))
  await b.store.collections()
  b.seen.gets = 0
  await b.store.import(batch(1000, 40))
  // The look, the ids, the runs of two indexes, and the small blocks: one read each.
  t.ok(b.seen.gets <= 5, `${b.seen.gets} reads`)
  const { sharing } = a.real
  let turns = 0
  const take = sharing!.turn.bind(sharing)
  sharing!.turn = (...asked) => (turns++, take(...asked))
  const since = performance.now()
  for (let n = 0; n < 8; n++) await a.store.import(batch(2000 + n, 1))
  // One ends when it is over, and no sooner.
  const most = 1 + Math.ceil((performance.now() - since) / 100)
  t.ok(turns > 0 && turns <= most, `${turns} turns`)
})

t.test('what is far behind, or has lost what leads on, reads everything', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  await b.store.schemas()
  for (let n = 0; n < 20; n++) await a.store.import(batch(n, 1))
  t.equal((await b.store.query({ schema_name: 's' })).total, 20)
  for (let n = 20; n < 23; n++) await a.store.import(batch(n, 1))
  for (let version = 1; version < 40; version++) {
    if (version % 2 === 0) continue
    await a.real.write([{ type: 'del', key: changeKey(version) }])
  }
  b.seen.scans = 0
  t.equal((await b.store.query({ schema_name: 's' })).total, 23)
  t.ok(b.seen.scans > 0)
  t.same(await b.store.collections(), await a.store.collections())
})

t.test('an index is built while others write all the time, and is right', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  // More than two steps.
  for (let n = 0; n < 2; n++) await a.store.import(batch(n * 9000, 9000))
  let next = 20_000
  let written = 0
  const others: Promise<unknown>[] = []
  // Before each write of the builder others make one of theirs: without turns they would be first each time.
  a.seen.beforeWrite = async () => {
    if (written >= 12) return
    written++
    const writing = (async () => {
      await b.store.import(batch(next++, 1))
      await b.store.delete('c', written * 700)
      await b.store.patch('c', 17_000 + written, { group: 1 })
    })()
    others.push(writing)
    // They wait for their turn.
    await Promise.race([writing, new Promise((resolve) => setTimeout(resolve, 20))])
  }
  await a.store.defineSchema(more)
  await Promise.all(others)
  await b.store.import(batch(50_000, 1))
  t.ok(written > 3, `${written} times`)
  for (const { store } of [a, b]) {
    const { all } = await totals(store)
    t.same(await totals(store), even(all))
  }
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('what a process was building that has ended others begin anew', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 2; n++) await a.store.import(batch(n * 9000, 9000))
  // It ends in the middle: nothing of it arrives any more.
  const from = a.seen.writes
  a.seen.beforeWrite = async (write) => {
    if (write > from + 2) await a.backend.close()
  }
  await t.rejects(a.store.defineSchema(more))
  await b.store.import(batch(20_000, 10))
  await b.store.delete('c', 5)
  t.equal((await b.store.query({ schema_name: 's' })).total, 18_009)
  await b.store.defineSchema(more)
  t.same(await totals(b.store), even(18_009))
  const c = await one(t, memory)
  t.same(await totals(c.store), even(18_009))
  t.strictSame(await objectProblems(b.backend), [])
})

t.test('a process that opens leaves alone what another one is building', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  await a.store.defineSchema(definition)
  for (let n = 0; n < 2; n++) await a.store.import(batch(n * 9000, 9000))
  const from = a.seen.writes
  a.seen.beforeWrite = async (write) => {
    if (write !== from + 2) return
    const { store } = await one(t, memory)
    t.equal((await store.schema('s'))?.indexes.length, 1)
  }
  await a.store.defineSchema(more)
  t.same(await totals(a.store), even(18_000))
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('one schema that several change at once is what one of them said', async (t) => {
  const memory = new SharedMemory()
  const stores = await Promise.all([one(t, memory), one(t, memory), one(t, memory)])
  const [a] = stores
  await a!.store.defineSchema(definition)
  for (let n = 0; n < 2; n++) await a!.store.import(batch(n * 9000, 9000))
  const indexes = [['id'], ['id', 'group'], ['group', { text: ['text'] }]]
  await Promise.all(
    stores.map(({ store }, n) => store.defineSchema({ ...definition, indexes: indexes[n] })),
  )
  const found = await Promise.all(stores.map(({ store }) => store.schema('s')))
  t.same(found[1], found[0])
  t.same(found[2], found[0])
  t.strictSame(await objectProblems(a!.backend), [])
})

t.test('of one collection that several delete each object is counted once', async (t) => {
  const memory = new SharedMemory()
  const stores = await Promise.all([one(t, memory), one(t, memory), one(t, memory)])
  await stores[0]!.store.defineSchema(definition)
  await stores[0]!.store.import(batch(0, 9000))
  const deleted = await Promise.all(stores.map(({ store }) => store.deleteCollection('c')))
  t.same(
    deleted.filter((count) => count !== undefined),
    [9000],
  )
  for (const { store } of stores) t.same(await store.collections(), [])
})

t.test('a deletion that another one has ended is not taken up again', async (t) => {
  const storage = await new MemoryBackend().open('objects')
  const committer = new Committer(storage, await openState(storage, true), {
    cacheBytes: 1024,
    isShared: true,
    presence: undefined,
    reads: 'fresh',
    now: Date.now,
    elapsed: () => 0,
  })
  await committer.commit(async (draft) => draft.createCollection('anew'))
  const { signal } = new AbortController()
  t.equal(await deleteCollection(committer, 'anew', signal, true), undefined)
  t.ok(committer.known.collections.has('anew'))
  t.equal(await deleteCollection(committer, 'anew', signal), 0)
  t.notOk(committer.known.collections.has('anew'))
})

t.test('versions of another history are not followed', async (t) => {
  const memory = new SharedMemory()
  const a = await one(t, memory)
  const b = await one(t, memory)
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 1))
  const kept: Operation[] = []
  for await (const page of a.real.scan({})) {
    for (const { key, value } of page) kept.push({ type: 'put', key, value })
  }
  await a.store.import(batch(1, 1))
  t.equal((await b.store.query({ schema_name: 's' })).total, 2)
  // A fail-over loses the last write, and others go on from there.
  for await (const page of a.real.scan({ keysOnly: true })) {
    await a.real.write(page.map(({ key }) => ({ type: 'del', key })))
  }
  await a.real.write(kept)
  const c = await one(t, memory)
  await c.store.import(batch(100, 10))
  await c.store.import(batch(200, 10))
  t.equal((await b.store.query({ schema_name: 's' })).total, 21)
  t.same(await b.store.collections(), await c.store.collections())
})
