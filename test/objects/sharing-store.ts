// A store of objects as each of several processes has it: what it asks of the storage is counted, and may wait.

import type { Test } from 'tap'
import { openObjectStore } from '../../src/objects/store.js'
import type { Filters } from '../../src/objects/filter-types.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Backend, Storage } from '../../src/storage.js'

export const definition = {
  name: 's',
  fields: { id: { type: 'integer' }, group: { type: 'integer' }, text: { type: 'text' } },
  indexes: ['group'],
}
export const more = { ...definition, indexes: ['group', 'id', { text: ['text'] }] }

export const batch = (from: number, count: number, collection = 'c') => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 's',
  values: Array.from({ length: count }, (_, n) => ({
    id: from + n,
    group: (from + n) % 3,
    text: `word${from + n} of all`,
  })),
})

export interface Seen {
  gets: number
  scans: number
  writes: number
  beforeWrite: (write: number) => unknown
}

interface Sharer {
  readonly store: ObjectStore
  readonly seen: Seen
  readonly real: Storage
  readonly backend: Backend
}

interface SharerOptions {
  readonly beforeWrite?: Seen['beforeWrite']
  /** Nobody waits for anybody where they are left out: they are for order alone. */
  readonly turns?: boolean
  readonly collections?: 'open' | 'declared'
}

/** One of those who share a storage, with what it asks of it. */
export async function one(
  t: Test,
  place: { backend(): Backend },
  { beforeWrite = () => undefined, turns = true, collections = 'open' }: SharerOptions = {},
): Promise<Sharer> {
  const backend = place.backend()
  const real = await backend.open('objects')
  const seen: Seen = { gets: 0, scans: 0, writes: 0, beforeWrite }
  const sharing = real.sharing!
  const objects: Storage = {
    sharing: turns ? sharing : { ...sharing, turn: async () => () => undefined },
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
  const store = await openObjectStore({
    objects,
    isAlone: false,
    isShared: true,
    reads: 'fresh',
    cacheBytes: 8 * 1024 ** 2,
    collections,
    onError: () => undefined,
  })
  t.teardown(async () => {
    await store.close(1000)
    await backend.close()
  })
  return { store, seen, real, backend }
}

/** By the indexes that `more` adds, in whichever process. */
export async function totals(store: ObjectStore) {
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

export const even = (all: number) => ({ plan: 'index', notUsed: [], all, ids: all, words: all })
