// Collections lie in lanes, each with a head: processes do not wait for each other where they change different ones,
// and what holds for one head holds for all of them together.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { decodeKey } from '../../src/keys.js'
import { decodeRecord } from '../../src/record.js'
import { openObjectStore } from '../../src/objects/store.js'
import {
  allCollections,
  changeKey,
  headKey,
  type CollectionRecord,
  type LaneRecord,
} from '../../src/objects/engine/records.js'
import type { Filters } from '../../src/objects/filter-types.js'
import type { Operation, Storage } from '../../src/storage.js'
import { objectProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'

const definition = {
  name: 's',
  fields: { id: { type: 'integer' }, group: { type: 'integer' }, text: { type: 'text' } },
  indexes: ['group'],
}
const more = { ...definition, indexes: ['group', 'id', { text: ['text'] }] }

const batch = (from: number, count: number, collection: string) => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 's',
  values: Array.from({ length: count }, (_, n) => ({
    id: from + n,
    group: (from + n) % 3,
    text: `word${from + n} of all`,
  })),
})

const parts = {
  reads: 'fresh' as const,
  cacheBytes: 8 * 1024 ** 2,
  collections: 'open' as const,
  onError: (error: unknown) => t.fail(String(error)),
}

/** @param turns nobody waits for anybody where they are left out: they are for order alone */
async function one(t: Test, memory: SharedMemory, { turns = true } = {}) {
  const backend = memory.backend()
  const real = await backend.open('objects')
  const hooks = {
    beforeWrite: async (): Promise<unknown> => undefined,
    afterWrite: async (): Promise<unknown> => undefined,
    afterRead: async (_keys: number): Promise<unknown> => undefined,
  }
  const sharing = real.sharing!
  const objects: Storage = {
    sharing: turns ? sharing : { ...sharing, turn: async () => () => undefined },
    get: (key) => real.get(key),
    getBytes: (key, from, to) => real.getBytes(key, from, to),
    getMany: async (keys) => {
      const values = await real.getMany(keys)
      await hooks.afterRead(keys.length)
      return values
    },
    scan: (range) => real.scan(range),
    write: async (operations, options) => {
      await hooks.beforeWrite()
      await real.write(operations, options)
      await hooks.afterWrite()
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  const store = await openObjectStore({ ...parts, objects, isAlone: false, isShared: true })
  t.teardown(async () => {
    await store.close(1000)
    await backend.close()
  })
  return { store, hooks, real, backend }
}

function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

async function lanesIn(storage: Storage): Promise<Record<string, number>> {
  const lanes: Record<string, number> = {}
  for await (const page of storage.scan(allCollections())) {
    for (const { key, value } of page) {
      lanes[String(decodeKey(key)[1])] = decodeRecord<CollectionRecord>(value).lane ?? 0
    }
  }
  return lanes
}

t.test('who changes one collection does not wait for who changes another', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory), await one(t, memory)]
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 10, 'x'))
  await b.store.import(batch(0, 10, 'y'))
  t.strictSame(await lanesIn(a.real), { x: 0, y: 1 })
  // A write takes as long as it likes, and its turn with it.
  const { opened, open } = gate()
  a.hooks.beforeWrite = () => opened
  const slow = a.store.import(batch(100, 10, 'x'))
  for (let n = 0; n < 5; n++) await b.store.import(batch(100 + n, 1, 'y'))
  t.equal((await b.store.query({ schema_name: 's' })).total, 25)
  open()
  await slow
  for (const { store } of [a, b]) t.equal((await store.query({ schema_name: 's' })).total, 35)
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('a collection that several make at once is one, and ids in it are unique', async (t) => {
  const memory = new SharedMemory()
  const stores = [await one(t, memory), await one(t, memory), await one(t, memory)]
  const [a] = stores
  await a!.store.defineSchema(definition)
  for (const name of ['p', 'q', 'r']) {
    const outcomes = await Promise.allSettled(
      stores.flatMap(({ store }) => [1, 2, 3].map((id) => store.import(batch(id, 1, name)))),
    )
    t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 3)
  }
  t.strictSame(await lanesIn(a!.real), { p: 0, q: 1, r: 2 })
  for (const { store } of stores) t.equal((await store.query({ schema_name: 's' })).total, 9)
  t.strictSame(await objectProblems(a!.backend), [])
})

t.test('a collection that another makes meanwhile in another lane is not made twice', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory, { turns: false }), await one(t, memory, { turns: false })]
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 10, 'x'))
  const { opened, open } = gate()
  const asked = gate()
  b.hooks.beforeWrite = async () => {
    asked.open()
    await opened
  }
  const later = b.store.import(batch(1, 1, 'y'))
  await asked.opened
  await a.store.deleteCollection('x')
  await a.store.import(batch(1, 1, 'y'))
  open()
  await t.rejects(later, { code: 'LK_OBJECT_DUPLICATE' })
  t.strictSame(await lanesIn(a.real), { y: 0 })
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('what was checked by a schema is checked anew where another one came before', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory, { turns: false }), await one(t, memory, { turns: false })]
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 1, 'x'))
  await b.store.import(batch(0, 1, 'y'))
  const { opened, open } = gate()
  const asked = gate()
  b.hooks.beforeWrite = async () => {
    asked.open()
    await opened
  }
  const later = b.store.import(batch(100, 1, 'y'))
  await asked.opened
  const fields = { ...definition.fields, id: { type: 'integer', max: 50 } }
  await a.store.defineSchema({ ...definition, fields })
  open()
  await t.rejects(later, { code: 'LK_OBJECT_INVALID' })
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('a write in doubt has happened where others have gone on from it', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory, { turns: false }), await one(t, memory, { turns: false })]
  await a.store.defineSchema(definition)
  for (const name of ['x', 'y']) await a.store.import(batch(0, 1, name))
  for (const name of ['x', 'y']) {
    a.hooks.afterWrite = async () => {
      a.hooks.afterWrite = async () => undefined
      await b.store.import(batch(2, 1, name))
      throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
    }
    await a.store.import(batch(1, 1, name))
    await a.store.import(batch(3, 1, name))
  }
  for (const { store } of [a, b]) t.equal((await store.query({ schema_name: 's' })).total, 8)
  t.strictSame(await objectProblems(a.backend), [])
})

t.test(
  'a write known to have happened is told as such, whatever cannot be read then',
  async (t) => {
    const memory = new SharedMemory()
    const [a, b] = [await one(t, memory, { turns: false }), await one(t, memory, { turns: false })]
    await a.store.defineSchema(definition)
    for (const name of ['x', 'y']) await a.store.import(batch(0, 1, name))
    for (const name of ['x', 'y']) {
      let failed = 0
      a.hooks.afterWrite = async () => {
        a.hooks.afterWrite = async () => undefined
        await b.store.import(batch(2, 1, name))
        a.hooks.afterRead = async () => {
          a.hooks.afterRead = async () => undefined
          failed++
          throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
        }
        throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
      }
      await a.store.import(batch(1, 1, name))
      t.equal(failed, 1)
      await a.store.import(batch(3, 1, name))
    }
    for (const { store } of [a, b]) t.equal((await store.query({ schema_name: 's' })).total, 8)
    t.strictSame(await objectProblems(a.backend), [])
  },
)

t.test('damage to what tells of a write in doubt ends with that write', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory, { turns: false }), await one(t, memory, { turns: false })]
  await a.store.defineSchema(definition)
  for (const name of ['x', 'y']) await a.store.import(batch(0, 1, name))
  for (const [lane, name] of ['x', 'y'].entries()) {
    a.hooks.afterWrite = async () => {
      a.hooks.afterWrite = async () => undefined
      const head = (await a.real.get(headKey(lane))) as Uint8Array
      const key = changeKey(decodeRecord<LaneRecord>(head).version)
      await b.store.import(batch(2, 1, name))
      t.ok(await a.real.get(key))
      await a.real.write([{ type: 'put', key, value: Uint8Array.of(0xff) }], { durable: true })
      throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
    }
    // Nobody can know of it.
    await t.rejects(a.store.import(batch(1, 1, name)), { code: 'LK_STORAGE_FAILED' })
    t.ok(await a.store.get(name, 1))
    await a.store.import(batch(3, 1, name))
  }
  for (const { store } of [a, b]) t.equal((await store.query({ schema_name: 's' })).total, 8)
})

t.test('a write in doubt has failed where others have gone on without it', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory, { turns: false }), await one(t, memory, { turns: false })]
  await a.store.defineSchema(definition)
  for (const name of ['x', 'y']) await a.store.import(batch(0, 1, name))
  for (const name of ['x', 'y']) {
    a.hooks.beforeWrite = async () => {
      a.hooks.beforeWrite = async () => undefined
      await b.store.import(batch(2, 1, name))
      throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
    }
    await t.rejects(a.store.import(batch(1, 1, name)), { code: 'LK_STORAGE_FAILED' })
    await a.store.import(batch(3, 1, name))
  }
  for (const { store } of [a, b]) t.equal((await store.query({ schema_name: 's' })).total, 6)
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('what others have made anew in another lane is found there', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory), await one(t, memory)]
  await a.store.defineSchema(definition)
  await a.store.import(batch(0, 10, 'x'))
  await b.store.import(batch(10, 1, 'x'))
  t.equal(await a.store.deleteCollection('x'), 11)
  await a.store.import(batch(0, 1, 'y'))
  await a.store.import(batch(5, 5, 'x'))
  t.strictSame(await lanesIn(a.real), { x: 1, y: 0 })
  t.equal(await b.store.delete('x', 9), true)
  t.equal((await b.store.patch('x', 5, { group: 9 }))?.['group'], 9)
  await t.rejects(b.store.import(batch(8, 3, 'x')), { code: 'LK_OBJECT_DUPLICATE' })
  await b.store.import(batch(9, 1, 'x'))
  t.equal((await a.store.query({ schema_name: 's' })).total, 6)
  t.strictSame(await objectProblems(a.backend), [])
})

t.test('a commit of ours is in no version that others have made before it', async (t) => {
  const memory = new SharedMemory()
  const [a, b] = [await one(t, memory), await one(t, memory)]
  await a.store.defineSchema(definition)
  await b.store.import(batch(0, 1, 'x'))
  await a.store.import(batch(0, 1, 'y'))
  await a.store.schemas()
  const { opened, open } = gate()
  const asked = gate()
  a.hooks.afterRead = async () => {
    a.hooks.afterRead = async () => undefined
    asked.open()
    await opened
  }
  const stats = a.store.collections()
  await asked.opened
  await b.store.import(batch(1, 1, 'x'))
  await a.store.import(batch(1, 1, 'y'))
  open()
  t.strictSame(
    (await stats).map(({ objects }) => objects),
    [1, 1],
  )
})

t.test('a question is of one version of all lanes', async (t) => {
  const memory = new SharedMemory()
  const stores = [await one(t, memory), await one(t, memory)]
  const [a, b] = stores as [(typeof stores)[0], (typeof stores)[0]]
  await a.store.defineSchema(definition)
  await b.store.schemas()
  let isDone = false
  // Each object of y comes after the one of x that has its id; the processes take turns at it.
  const write = async () => {
    for (let n = 0; n < 40; n++) {
      await (n % 2 === 0 ? a : b).store.import(batch(n, 1, 'x'))
      await (n % 2 === 0 ? b : a).store.import(batch(n, 1, 'y'))
    }
  }
  const writing = write().finally(() => (isDone = true))
  let asked = 0
  const ask = async ({ store }: (typeof stores)[0], reads: 'fresh' | 'recent') => {
    while (!isDone) {
      const { objects } = await store.query({ schema_name: 's', limit: 1000, reads })
      const of = (name: string) => objects.filter((object) => object._collection === name).length
      const ahead = of('x') - of('y')
      if (ahead !== 0 && ahead !== 1) t.fail(`${of('x')} of x, ${of('y')} of y (${reads})`)
      asked++
      await new Promise(setImmediate)
    }
  }
  await Promise.all([writing, ask(a, 'fresh'), ask(b, 'fresh'), ask(a, 'recent'), ask(b, 'recent')])
  t.ok(asked > 0)
})

t.test('a schema is changed while others write to all lanes', async (t) => {
  const memory = new SharedMemory()
  const first = { turns: false }
  const stores = [await one(t, memory, first), await one(t, memory, first), await one(t, memory)]
  const [a, b] = stores
  await a!.store.defineSchema(definition)
  // More than a step in each.
  for (const [n, { store }] of stores.entries()) await store.import(batch(0, 9000, `c${n}`))
  let isDone = false
  let made = 0
  const write = async ({ store }: (typeof stores)[0], n: number) => {
    for (let id = 20_000; !isDone || id < 20_003; id++) {
      await store.import(batch(id, 1, `c${n}`))
      await store.delete(`c${n}`, id - 20_000)
      await store.patch(`c${n}`, 8000 + (id % 500), { group: 7 })
      await store.createCollection(`new ${n} ${id % 5}`)
      made++
    }
  }
  // Whoever takes no turns is between the reads and the writes of who changes the schema.
  let between = 0
  a!.hooks.beforeWrite = async () => {
    if (between < 8) await b!.store.import(batch(50_000 + between++, 1, 'c1'))
  }
  const writing = [write(stores[1]!, 1), write(stores[2]!, 2)]
  await a!.store.defineSchema(more)
  isDone = true
  await Promise.all(writing)
  t.ok(made > 0)
  t.equal(between, 8)
  for (const { store } of stores) {
    const total = async (filters: Filters) =>
      (await store.query({ schema_name: 's', filters, limit: 0 })).total
    t.equal(await total({}), 27_008)
    t.equal(await total({ id: { $gte: 0 } }), 27_008)
    t.equal(await total({ $text: { $search: 'all' } }), 27_008)
  }
  t.strictSame(await objectProblems(a!.backend), [])
})

t.test('a store that was shared is moved to where nobody shares it', async (t) => {
  const memory = new SharedMemory()
  const stores = [await one(t, memory), await one(t, memory), await one(t, memory)]
  const [a] = stores
  await a!.store.defineSchema(definition)
  for (const [n, { store }] of stores.entries()) await store.import(batch(0, 300, `c${n}`))
  const backend = new MemoryBackend()
  const objects = await backend.open('objects')
  for await (const page of a!.real.scan({})) {
    const put = ({ key, value }: { key: Uint8Array; value: Uint8Array }): Operation => ({
      type: 'put',
      key,
      value,
    })
    await objects.write(page.map(put))
  }
  const store = await openObjectStore({ ...parts, objects, isAlone: true, isShared: false })
  await store.import(batch(300, 10, 'c1'))
  await t.rejects(store.import(batch(5, 1, 'c2')), { code: 'LK_OBJECT_DUPLICATE' })
  await Promise.all([
    store.import(batch(300, 10, 'c2')),
    store.import(batch(0, 10, 'more')),
    store.defineSchema(more),
    store.deleteCollection('c0'),
  ])
  t.equal(await store.delete('c2', 7), true)
  t.strictSame(await lanesIn(objects), { c1: 1, c2: 2, more: 0 })
  const { total } = await store.query({
    schema_name: 's',
    filters: { $text: { $search: 'all' } },
    limit: 0,
  })
  t.equal(total, 310 + 309 + 10)
  t.strictSame(await objectProblems(backend), [])
  await store.close(1000)
})
