// What questions see of what others write: the newest, or what is at most a second old.

import t, { type Test } from 'tap'
import { createLorekeep } from '../../src/lorekeep.js'
import { openObjectStore } from '../../src/objects/store.js'
import type { Reads } from '../../src/reads.js'
import type { Storage } from '../../src/storage.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { MemoryBackend } from '../../adapters/memory.js'

const one = (id: string) => ({
  metadata: { id: 'batch', user: 'alice', collection: 'c' },
  schema_name: 's',
  values: [{ id }],
})

/** A store that writes, and one that reads, whose reads of the storage are counted. */
async function two(t: Test, { reads, hears = true }: { reads: Reads; hears?: boolean }) {
  const memory = new SharedMemory()
  const clock = { now: 0, looks: 0 }
  const openStore = async (alter: (storage: Storage) => Storage) => {
    const backend = memory.backend()
    const storage = alter(await backend.open('objects'))
    const store = await openObjectStore({
      objects: storage,
      isAlone: false,
      isShared: true,
      reads,
      cacheBytes: 1024 ** 2,
      collections: 'open',
      onError: (error) => t.fail(String(error)),
      elapsed: () => clock.now,
    })
    t.teardown(async () => {
      await store.close(1000)
      await backend.close()
    })
    return store
  }
  const writer = await openStore((storage) => storage)
  await writer.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const reader = await openStore((storage) => {
    const { sharing } = storage
    return {
      get: (key) => (clock.looks++, storage.get(key)),
      getBytes: (key, from, to) => (clock.looks++, storage.getBytes(key, from, to)),
      getMany: (keys) => (clock.looks++, storage.getMany(keys)),
      scan: (range) => (clock.looks++, storage.scan(range)),
      write: (operations, options) => storage.write(operations, options),
      sharing: hears ? sharing : { ...sharing!, subscribe: () => () => {} },
      close: () => storage.close(),
      [Symbol.asyncDispose]: () => storage.close(),
    }
  })
  const counted = async (asked?: Reads) => {
    const query = { schema_name: 's', limit: 0, ...(asked && { reads: asked }) }
    return (await reader.query(query)).total
  }
  return { writer, reader, clock, counted }
}

/** Messages are on their way some milliseconds: until it is so, or for too long. */
async function soon(isSo: () => Promise<boolean>): Promise<boolean> {
  for (let n = 0; n < 500; n++) {
    if (await isSo()) return true
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return false
}

t.test('fresh sees what was acknowledged, and looks each time', async (t) => {
  const { writer, reader, clock, counted } = await two(t, { reads: 'fresh' })
  for (let n = 1; n <= 3; n++) {
    await writer.import(one(`${n}`))
    t.equal(await counted(), n)
    t.match(await reader.get('c', `${n}`), { id: `${n}` })
  }
  clock.looks = 0
  await counted()
  await counted()
  t.equal(clock.looks, 2)
})

t.test('recent looks once in a second', async (t) => {
  const { writer, clock, counted } = await two(t, { reads: 'recent', hears: false })
  t.equal(await counted(), 0)
  await writer.import(one('1'))
  clock.looks = 0
  clock.now = 999
  t.equal(await counted(), 0)
  t.equal(clock.looks, 0)
  clock.now = 1000
  t.equal(await counted(), 1)
  t.ok(clock.looks > 0)
})

t.test('and as soon as another one has told of a change', async (t) => {
  const { writer, clock, counted } = await two(t, { reads: 'recent' })
  t.equal(await counted(), 0)
  await writer.import(one('1'))
  t.ok(await soon(async () => (await counted()) === 1))
  clock.looks = 0
  t.equal(await counted(), 1)
  t.equal(clock.looks, 0)
})

t.test('changes that follow each other soon are told, too', async (t) => {
  const { writer, counted } = await two(t, { reads: 'recent' })
  await writer.import(one('1'))
  await writer.import(one('2'))
  t.ok(await soon(async () => (await counted()) === 2))
})

t.test('each call may say what it needs', async (t) => {
  const { writer, reader, counted } = await two(t, { reads: 'recent', hears: false })
  t.equal(await counted(), 0)
  await writer.import(one('1'))
  t.equal(await reader.get('c', '1'), undefined)
  t.equal(await counted('recent'), 0)
  t.match(await reader.get('c', '1', { reads: 'fresh' }), { id: '1' })
  await writer.import(one('2'))
  t.equal(await counted('fresh'), 2)
  await writer.import(one('3'))
  const found: unknown[] = []
  for await (const { _id } of reader.find({ schema_name: 's', reads: 'fresh' })) found.push(_id)
  t.same(found, ['1', '2', '3'])
  await writer.import(one('4'))
  t.equal((await reader.explain({ schema_name: 's', reads: 'recent' })).total, 3)
  await t.rejects(reader.query({ schema_name: 's', reads: 'new' as never }), { code: 'LK_QUERY' })
  await t.rejects(reader.get('c', '1', { reads: 'new' as never }), TypeError)
})

t.test('what a store has written itself it sees, whatever is asked', async (t) => {
  const { reader, counted } = await two(t, { reads: 'recent', hears: false })
  t.equal(await counted(), 0)
  await reader.import(one('1'))
  t.equal(await counted(), 1)
})

t.test('the default is an option of all', async (t) => {
  const memory = new SharedMemory()
  const a = await createLorekeep({ backend: memory.backend() })
  const b = await createLorekeep({ backend: memory.backend(), reads: 'recent' })
  t.teardown(() => Promise.all([a.close(), b.close()]))
  t.same(await b.objects.collections(), [])
  await a.objects.createCollection('c')
  t.same(await b.objects.collections(), [], 'told in the next turn of the event loop')
  t.ok(await soon(async () => (await b.objects.collections()).length === 1))
})

t.test('where nobody shares the backend nothing is looked at', async (t) => {
  const backend = new MemoryBackend()
  const keep = await createLorekeep({ backend, reads: 'fresh' })
  t.teardown(() => keep.close())
  await keep.objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const storage = await backend.open('objects')
  let reads = 0
  const { get } = storage
  storage.get = (key) => (reads++, get.call(storage, key))
  await keep.objects.import(one('1'))
  reads = 0
  await keep.objects.get('c', '1')
  await keep.objects.query({ schema_name: 's' })
  t.equal(reads, 0)
})
