// A process that stood still, and was taken for dead, cannot store what it held.

import { register } from 'node:module'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { Committer } from '../../src/objects/engine/committer.js'
import { openState } from '../../src/objects/engine/opening.js'
import { allRetired, type RetiredRecord } from '../../src/objects/engine/records.js'
import { compileSchema } from '../../src/objects/schema/schema.js'
import { openObjectStore } from '../../src/objects/store.js'
import { Presence } from '../../src/presence.js'
import { decodeRecord } from '../../src/record.js'
import type { Backend, Storage } from '../../src/storage.js'
import { objectProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { overSharedPlaces, type SharedPlace } from '../fixtures/shared-places.js'
import { VirtualClock } from '../flow/virtual-clock.js'

const over = await overSharedPlaces(t)

const one = (id: string, collection = 'c') => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 's',
  values: [{ id }],
})

async function member(t: Test, place: Pick<SharedPlace, 'backend'>, clock: VirtualClock) {
  const backend = place.backend()
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const real = await backend.open('objects')
  /** What writes of objects wait for. */
  const held: { until: Promise<unknown> | undefined; begun: () => void } = {
    until: undefined,
    begun: () => {},
  }
  const objects: Storage = {
    sharing: real.sharing,
    get: (key) => real.get(key),
    getMany: (keys) => real.getMany(keys),
    getBytes: (key, from, to) => real.getBytes(key, from, to),
    scan: (range) => real.scan(range),
    write: async (operations, options) => {
      held.begun()
      await held.until
      return real.write(operations, options)
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  const partitions = {
    cores: await backend.open('cores'),
    objects: real,
    flows: await backend.open('flows'),
  }
  const presence = await Presence.join({ partitions, leaseMs: 30_000, clock, onError })
  const store = await openObjectStore({
    objects,
    isAlone: false,
    isShared: true,
    presence,
    reads: 'fresh',
    cacheBytes: 1024 ** 2,
    collections: 'open',
    onError,
    elapsed: () => clock.elapsed(),
  })
  t.teardown(async () => {
    await store.close(1000)
    await presence.close()
    await backend.close()
  })
  return { store, presence, errors, held, backend }
}

// In front of all others, which load the validators.
t.test('what waited for the validators while others took it for dead is refused', async (t) => {
  const release = holdValidators()
  const place = new SharedMemory()
  await defineWithoutValidators(place, 's')
  const a = await member(t, place, new VirtualClock())
  const b = await member(t, place, new VirtualClock())
  const waiting = [
    a.store.import(one('1')),
    a.store.defineSchema({ name: 's', fields: { id: { type: 'string' } }, indexes: ['id'] }),
    a.store.defineSchema({ name: 'new', fields: { id: { type: 'string' } } }),
  ].map((change) => change.catch((error: unknown) => error))
  await b.presence.expel(a.presence.id)
  // It notices, and joins anew, before they are loaded.
  await t.rejects(a.store.createCollection('d'), { code: 'LK_STORAGE_UNAVAILABLE' })
  await a.presence.ready()
  release()
  for (const change of waiting) t.match(await change, { code: 'LK_STORAGE_UNAVAILABLE' })
  t.equal((await b.store.query({ schema_name: 's' })).total, 0)
  t.same(
    (await b.store.schemas()).map(({ name, indexes }) => [name, indexes]),
    [['s', []]],
  )
  await a.store.import(one('2'))
  t.equal((await b.store.query({ schema_name: 's' })).total, 1)
})

/** They are not loaded before what it gives is called. */
function holdValidators(): () => void {
  const { port1, port2 } = new MessageChannel()
  const hooks = `
    let released
    export const initialize = (port) => {
      released = new Promise((resolve) => port.once('message', resolve)).then(() => port.close())
    }
    export async function load(url, context, next) {
      if (url.endsWith('/schema/validator.js')) await released
      return next(url, context)
    }`
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, {
    data: port2,
    transferList: [port2],
  })
  return () => port1.postMessage('go on')
}

/** As it is where another process has defined it. */
async function defineWithoutValidators(place: SharedMemory, name: string): Promise<void> {
  const storage = await place.backend().open('objects')
  const committer = new Committer(storage, await openState(storage, false), {
    cacheBytes: 1024,
    isShared: true,
    presence: undefined,
    reads: 'fresh',
    now: Date.now,
    elapsed: () => 0,
  })
  const fields = { id: { type: 'string' } } as const
  const schema = compileSchema({
    name,
    id_field: 'id',
    fields,
    indexes: [],
    strict: false,
    generate_ids: false,
  })
  await committer.commitOfAll(async (draft) => draft.setSchema(schema, []))
}

over('what it held is refused, and it goes on under another id', async (t, place) => {
  const a = await member(t, place, new VirtualClock())
  const b = await member(t, place, new VirtualClock(Date.UTC(2026, 0, 1) + 60_000))
  await a.store.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  await a.store.import(one('before'))
  // It stands still in the middle of a write, and others wait for that.
  let goOn = () => {}
  a.held.until = new Promise<void>((resolve) => (goOn = resolve))
  const begun = new Promise<void>((resolve) => (a.held.begun = resolve))
  const late = a.store.import(one('late')).catch((error: unknown) => error)
  await begun
  const later = a.store.import(one('later')).catch((error: unknown) => error)
  const { id } = a.presence
  await b.presence.expel(id)
  a.held.until = undefined
  goOn()
  for (const refused of [await late, await later]) {
    t.match(refused, { code: 'LK_STORAGE_UNAVAILABLE' })
  }
  await a.presence.ready()
  t.not(a.presence.id, id)
  t.match(a.errors, [{ code: 'LK_STORAGE_UNAVAILABLE' }])
  t.equal((await b.store.query({ schema_name: 's' })).total, 1)
  await a.store.import(one('after'))
  t.equal((await b.store.query({ schema_name: 's' })).total, 2)
})

over('whatever else it would change is refused, too', async (t, place) => {
  const b = await member(t, place, new VirtualClock())
  await b.store.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  await b.store.import(one('1'))
  const changes: ((store: typeof b.store) => Promise<unknown>)[] = [
    (store) => store.patch('c', '1', { more: 1 }),
    (store) => store.delete('c', '1'),
    (store) => store.deleteCollection('c'),
    (store) => store.createCollection('d'),
    (store) => store.defineSchema({ name: 's2', fields: { id: { type: 'string' } } }),
    (store) =>
      store.defineSchema({ name: 's', fields: { id: { type: 'string' } }, indexes: ['id'] }),
  ]
  for (const change of changes) {
    const { store, presence } = await member(t, place, new VirtualClock())
    await b.presence.expel(presence.id)
    await t.rejects(change(store), { code: 'LK_STORAGE_UNAVAILABLE' })
    await presence.ready()
    t.equal((await store.query({ schema_name: 's' })).total, 1)
  }
})

over('what waited for a turn while others took it for dead is refused', async (t, place) => {
  const b = await member(t, place, new VirtualClock())
  await b.store.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  await b.store.defineSchema({ name: 'empty', fields: { id: { type: 'string' } } })
  await b.store.import(one('1'))
  const { sharing } = await place.backend().open('objects')
  type Store = typeof b.store
  const changes: [turn: string, change: (store: Store) => Promise<unknown>][] = [
    ['new collections', (store) => store.import(one('2', 'another'))],
    ['new collections', (store) => store.createCollection('new')],
    ['collection c', (store) => store.deleteCollection('c')],
    ['schema empty', (store) => store.dropSchema('empty')],
    [
      'schema s',
      (store) =>
        store.defineSchema({ name: 's', fields: { id: { type: 'string' } }, indexes: ['id'] }),
    ],
  ]
  for (const [turn, change] of changes) {
    const { store, presence } = await member(t, place, new VirtualClock())
    await store.query({ schema_name: 's' })
    const end = await sharing!.turn(turn)
    const changing = change(store)
    await b.presence.expel(presence.id)
    // It notices, and joins anew, before its turn comes.
    await t.rejects(store.import(one('3')), { code: 'LK_STORAGE_UNAVAILABLE' })
    await presence.ready()
    end()
    await t.rejects(changing, { code: 'LK_STORAGE_UNAVAILABLE' }, turn)
  }
  t.equal((await b.store.query({ schema_name: 's' })).total, 1)
  t.equal((await b.store.collections()).length, 1)
  t.same(
    (await b.store.schemas()).map(({ name, indexes }) => [name, indexes]),
    [
      ['empty', []],
      ['s', []],
    ],
  )
})

/** Whose readers pages are kept for. */
async function keepers(backend: Backend): Promise<(string | undefined)[]> {
  const found = new Set<string | undefined>()
  const objects = await backend.open('objects')
  for await (const page of objects.scan(allRetired())) {
    for (const { value } of page) found.add(decodeRecord<RetiredRecord>(value).member)
  }
  return [...found].sort()
}

const many = {
  metadata: { id: 'batch', user: 'alice', collection: 'c' },
  schema_name: 's',
  values: Array.from({ length: 300 }, (_, id) => ({ id: String(id), state: 'old' })),
}
const stated = { name: 's', fields: { id: { type: 'string' }, state: { type: 'string' } } }

over('what was kept for readers of a process that is gone goes', async (t, place) => {
  const a = await member(t, place, new VirtualClock())
  const b = await member(t, place, new VirtualClock())
  await a.store.defineSchema(stated)
  await a.store.import(many)
  const finds = [a, b].map(({ store }) => store.find({ schema_name: 's' })[Symbol.asyncIterator]())
  for (const find of finds) t.equal((await find.next()).done, false)
  await a.store.patch('c', '299', { state: 'new' })
  await a.store.patch('c', '0', { state: 'new' })
  const { id } = a.presence
  t.same(await keepers(b.backend), [id])
  await b.presence.expel(id)
  await place.quiet()
  // Somebody here reads them yet.
  t.same(await keepers(b.backend), [b.presence.id])
  const [, find] = finds
  for (let n = 1; n < 300; n++) t.match(await find!.next(), { value: { state: 'old' } })
  t.equal((await find!.next()).done, true)
  await b.store.patch('c', '1', { state: 'new' })
  t.same(await keepers(b.backend), [])
  // It joins anew, and deletes nothing once more.
  await t.rejects(a.store.createCollection('e'), { code: 'LK_STORAGE_UNAVAILABLE' })
  await a.presence.ready()
  await finds[0]!.return?.()
  await a.store.patch('c', '2', { state: 'new' })
  t.same(await keepers(b.backend), [])
  t.strictSame(await objectProblems(b.backend), [])
})

over('what a process leaves that its readers had goes when one opens', async (t, place) => {
  const a = await member(t, place, new VirtualClock())
  const b = await member(t, place, new VirtualClock())
  const ends: (() => Promise<unknown>)[] = []
  await a.store.defineSchema(stated)
  await a.store.import(many)
  for (const { store } of [a, b]) {
    const find = store.find({ schema_name: 's' })[Symbol.asyncIterator]()
    t.equal((await find.next()).done, false)
    ends.push(async () => find.return?.())
    await store.patch('c', '0', { state: 'new' })
  }
  t.same(await keepers(b.backend), [a.presence.id, b.presence.id].sort())
  await ends[0]!()
  await a.store.close(1000)
  await a.presence.close()
  const c = await member(t, place, new VirtualClock())
  await place.quiet()
  t.same(await keepers(c.backend), [b.presence.id])
  await ends[1]!()
  await b.store.patch('c', '1', { state: 'new' })
  t.same(await keepers(c.backend), [])
  t.strictSame(await objectProblems(c.backend), [])
})
