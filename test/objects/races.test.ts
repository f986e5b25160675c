// Many changes at once: what they leave has to be what they would leave one after another in some
// order, and no reader sees a part of one.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { createLorekeep, type LorekeepOptions } from '../../src/lorekeep.js'
import type { ObjectImport, ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import type { Backend } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { backends } from '../fixtures/stores.js'
import { objectProblems } from '../fixtures/problems.js'
import { collectionKey } from '../../src/objects/engine/records.js'
import { decodeRecord } from '../../src/record.js'
import { KeptBackend } from './kept-backend.js'

const definition = {
  name: 'things',
  fields: { group: { type: 'integer' }, name: { type: 'string' }, any: { type: 'object' } },
  indexes: ['group'],
}

/** Holds some pages, and not all. */
const smallCache = 256 * 1024

const batchOf = (values: readonly JsonObject[], collection = 'c'): ObjectImport => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 'things',
  values,
})

const numbered = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, n) => ({ id: from + n, group: (from + n) % 3 }))

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: of 200 imports of one id at once one succeeds`, async (t) => {
    const { objects, backend } = await opened(t, createBackend(t))
    const outcomes = await Promise.all(
      Array.from({ length: 200 }, (_, group) =>
        codeOf(objects.import(batchOf([{ id: 1, group }]))),
      ),
    )
    t.equal(outcomes.filter((code) => code === 'ok').length, 1)
    t.equal(outcomes.filter((code) => code === 'LK_OBJECT_DUPLICATE').length, 199)
    t.equal((await objects.query({ schema_name: 'things' })).total, 1)
    t.strictSame(await objectProblems(backend), [])
  })

  t.test(`${engine}: 100 imports at once share a few writes`, async (t) => {
    const counting = new CountingBackend(createBackend(t))
    t.teardown(() => counting.real.close())
    const { objects } = await opened(t, counting)
    const before = counting.durable
    await Promise.all(numbered(0, 100).map((value) => objects.import(batchOf([value]))))
    t.ok(counting.durable - before <= 3, `${counting.durable - before} writes`)
    t.equal((await objects.query({ schema_name: 'things' })).total, 100)
  })

  t.test(`${engine}: a query never sees a part of a batch`, async (t) => {
    const { objects, backend } = await opened(t, createBackend(t), { objectCacheBytes: smallCache })
    const size = 50
    let isDone = false
    const write = async () => {
      for (let n = 0; n < 20; n++) {
        await objects.import(batchOf(numbered(n * size, (n + 1) * size)))
        if (n % 3 !== 2) continue
        await objects.import(batchOf(numbered((n - 1) * size, n * size)), {
          onDuplicate: 'replace',
        })
      }
    }
    const writing = write().finally(() => (isDone = true))
    const filters = [
      {},
      { group: { $gte: 0 } },
      { name: { $exists: false } },
      { group: { $in: [0, 1, 2] } },
    ]
    let seen = 0
    const reading = filters.map(async (filter) => {
      while (!isDone) {
        await turn()
        const page = await objects.query({ schema_name: 'things', filters: filter, limit: 1000 })
        assert.equal(page.total % size, 0)
        assert.equal(new Set(page.objects.map(({ _id }) => _id)).size, page.total)
        seen++
      }
    })
    await Promise.all([writing, ...reading])
    t.ok(seen >= filters.length, `${seen} queries`)
    t.strictSame(await objectProblems(backend), [])
  })
}

t.test('a memory for pages that holds one alone is enough for all', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { objects } = await opened(t, backend, { objectCacheBytes: 1 })
  for (let n = 0; n < 3; n++) await objects.import(batchOf(numbered(n * 50, n * 50 + 50)))
  // What goes in circles ends here.
  Object.assign(backend, { failAt: backend.calls + 2000, lasting: true })
  const alone = await objects.get('c', 7)
  t.equal(alone?._id, 7)
  const filters = [{ group: 1 }, { group: { $gt: 0 } }, { name: null }, { group: { $in: [0, 2] } }]
  const pages = await Promise.all([
    ...filters.map((filter) => objects.query({ schema_name: 'things', filters: filter })),
    objects.import(batchOf(numbered(500, 550))).then(() => ({ total: 0 })),
    objects.import(batchOf(numbered(600, 650))).then(() => ({ total: 0 })),
  ])
  t.ok((pages[0]?.total ?? 0) >= 50)
})

t.test('two stores over one backend: one import of an id succeeds in both together', async (t) => {
  const { both, backend } = await openedTwice(t)
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, (_, n) =>
      codeOf((both[n % 2] as ObjectStore).import(batchOf([{ id: 1 + (n % 5), group: n }]))),
    ),
  )
  t.equal(outcomes.filter((code) => code === 'ok').length, 5)
  t.equal(outcomes.filter((code) => code === 'LK_OBJECT_DUPLICATE').length, 195)
  t.strictSame(await objectProblems(backend), [])
})

const seed = pickSeed()

t.test(`two stores that read and write at once lose nothing (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const { both, backend } = await openedTwice(t)
  const acknowledged = new Set<number>()
  let next = 0
  const lane = async (objects: ObjectStore) => {
    for (let n = 0; n < 60; n++) {
      const from = next
      next += 1 + random.below(20)
      const to = next
      await objects.import(batchOf(numbered(from, to)))
      for (let id = from; id < to; id++) acknowledged.add(id)
      if (to - from < 3) continue
      await Promise.all([
        objects.patch('c', from, { group: null }),
        objects.query({ schema_name: 'things', filters: { name: 'x' } }),
        objects.query({
          schema_name: 'things',
          filters: { group: { $gt: 0 } },
          sort: { group: 'asc' },
        }),
        objects.delete('c', from + 1).then(() => acknowledged.delete(from + 1)),
      ])
    }
  }
  await Promise.all([...both, ...both].map(lane))
  t.strictSame((await objectProblems(backend)).slice(0, 5), [])
  const { objects } = await opened(t, backend, {}, 'keep')
  const found: unknown[] = []
  for await (const { _id } of objects.find({ schema_name: 'things' })) found.push(_id)
  t.strictSame(found.sort(byNumber), [...acknowledged].sort(byNumber))
})

t.test('a change is made on what it was worked out on, whatever is read meanwhile', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const b = await opened(t, backend)
  await b.objects.import(batchOf(numbered(0, 300)))
  const faulty = new FaultyBackend(backend)
  const a = await opened(t, faulty, {}, 'keep')
  // While the import looks for its id, the other store changes an object, and a query in this one
  // finds a page gone and reads the newest state.
  faulty.afterGet = async () => {
    await b.objects.patch('c', 3, { name: 'changed' })
    await a.objects.query({ schema_name: 'things', filters: { name: 'changed' } })
  }
  await a.objects.import(batchOf([{ id: 1000, group: 1 }]))
  t.strictSame((await objectProblems(backend)).slice(0, 5), [])
  const { objects } = await opened(t, backend, {}, 'keep')
  t.equal((await objects.get('c', 3))?.['name'], 'changed')
  t.equal((await objects.get('c', 1000))?._id, 1000)
})

t.test('a store that opens leaves alone what another one is building', async (t) => {
  const kept = new KeptBackend(new MemoryBackend())
  const backend = new CountingBackend(kept)
  const { objects } = await opened(t, backend)
  // More than one step of a redefinition takes.
  for (let n = 0; n < 3; n++) await objects.import(batchOf(numbered(n * 9000, (n + 1) * 9000)))
  const begun = backend.durable
  backend.afterWrite = async () => {
    if (backend.durable === begun + 2) await opened(t, kept, {}, 'keep')
  }
  await objects.defineSchema({ ...definition, indexes: ['group', 'name'] })
  t.strictSame((await objectProblems(kept)).slice(0, 5), [])
  const query = { schema_name: 'things', filters: { name: null } }
  t.equal((await objects.query(query)).total, 27_000)
})

t.test('objects of equal keys go in any order at once', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  const values = Array.from({ length: 30 }, (_, id) => ({ id, group: 7 }))
  await objects.import(batchOf(values))
  await Promise.all([9, 3, 6, 1].map((id) => objects.delete('c', id)))
  t.strictSame(await objectProblems(backend), [])
  await objects.import(batchOf(values.toReversed()), { onDuplicate: 'replace' })
  t.strictSame(await objectProblems(backend), [])
  const page = await objects.query({ schema_name: 'things', filters: { group: 7 } })
  t.equal(page.total, 30)
  t.equal(new Set(page.objects.map(({ _id }) => _id)).size, 30)
})

t.test('the last object goes together with its schema', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  await objects.import(batchOf(numbered(0, 3)))
  await Promise.all([
    ...[0, 1, 2].map((id) => objects.delete('c', id)),
    codeOf(objects.dropSchema('things')),
  ])
  t.strictSame(await objectProblems(backend), [])
})

t.test('the last object goes, the schema goes, and both come again', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  await objects.import(batchOf(numbered(0, 3)))
  await Promise.all([
    ...[0, 1, 2].map((id) => objects.delete('c', id)),
    codeOf(objects.dropSchema('things')),
    objects.defineSchema({ ...definition, indexes: ['group', 'name'] }),
    codeOf(objects.import(batchOf(numbered(0, 3)))),
  ])
  t.strictSame(await objectProblems(backend), [])
  await codeOf(objects.import(batchOf(numbered(0, 3)), { onDuplicate: 'replace' }))
  t.equal(
    (await objects.query({ schema_name: 'things', filters: { group: { $gte: 0 } } })).total,
    3,
  )
  t.strictSame(await objectProblems(backend), [])
})

t.test('the last object goes while an index is added', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  await objects.import(batchOf(numbered(0, 3)))
  await Promise.all([
    ...[0, 1, 2].map((id) => objects.delete('c', id)),
    objects.defineSchema({ ...definition, indexes: ['group', 'name'] }),
  ])
  t.strictSame(await objectProblems(backend), [])
  await objects.import(batchOf(numbered(5, 7)))
  t.equal((await objects.query({ schema_name: 'things', filters: { name: null } })).total, 2)
})

t.test('changes go on while an index is built', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend(), {
    objectCacheBytes: smallCache,
  })
  for (let n = 0; n < 3; n++) await objects.import(batchOf(numbered(n * 9000, (n + 1) * 9000)))
  let isDone = false
  const indexes = ['group', '_id', 'name', 'any.x']
  const defining = objects.defineSchema({ ...definition, indexes }).finally(() => (isDone = true))
  let changes = 0
  for (let n = 0; !isDone || n < 20; n++) {
    await turn()
    await Promise.all([
      objects.import(batchOf([{ id: `n${n}`, group: n, any: { x: [1, 2] } }])),
      objects.patch('c', 26_999 - n, { name: 'patched', any: { x: [n, 1] } }),
      objects.patch('c', n, { name: 'patched' }),
      objects.delete('c', 4000 + n),
      objects.query({ schema_name: 'things', filters: { group: 1 }, limit: 3 }),
    ])
    changes++
  }
  await defining
  t.ok(changes > 0)
  t.strictSame((await objectProblems(backend)).slice(0, 5), [])
  const plan = await objects.explain({ schema_name: 'things', filters: { name: 'patched' } })
  t.equal(plan.plan, 'index')
  t.equal(plan.total, 2 * changes)
})

t.test('deleting a collection again takes what came since the first time', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  await objects.import(batchOf(numbered(0, 10)))
  const first = objects.deleteCollection('c')
  const importing = objects.import(batchOf(numbered(20, 25)))
  // All are in one group of changes, the import between the two.
  await importing.then(() => objects.deleteCollection('c'))
  await first
  t.equal((await objects.query({ schema_name: 'things' })).total, 0)
  t.strictSame(await objectProblems(backend), [])
})

t.test(
  'deleting a collection twice while objects come: what came before the second goes',
  async (t) => {
    const { objects, backend } = await opened(t, new MemoryBackend())
    // More than one step of the deletion takes.
    await objects.import(batchOf(numbered(0, 9000)))
    const first = objects.deleteCollection('c')
    await objects.import(batchOf(numbered(20_000, 20_005)))
    const second = objects.deleteCollection('c')
    await Promise.all([first, second])
    t.equal((await objects.query({ schema_name: 'things' })).total, 0)
    t.strictSame(await objectProblems(backend), [])
  },
)

t.test('a deletion that failed, called again, takes what came since', async (t) => {
  const cut = await cutOff(t)
  await cut.objects.import(batchOf(numbered(20_000, 20_005)))
  t.equal(await cut.objects.deleteCollection('c'), 9005)
  t.strictSame(await cut.objects.collections(), [])
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('a deletion that failed leaves what came since to the next open', async (t) => {
  const cut = await cutOff(t)
  await cut.objects.import(batchOf(numbered(20_000, 20_005)))
  const { objects } = await goneOn(t, cut.backend)
  t.match(await objects.collections(), [{ name: 'c', objects: 5 }])
  t.equal((await objects.get('c', 20_004))?._id, 20_004)
  t.equal(await objects.deleteCollection('c'), 5)
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('ids that are being deleted are free for imports, and what comes stays', async (t) => {
  const cut = await cutOff(t)
  const ids = [20_000]
  for (const [n, onDuplicate] of (['reject', 'skip', 'replace'] as const).entries()) {
    ids.push(8997 + n)
    const values = [{ id: 8997 + n, name: 'anew' }]
    const imported = await cut.objects.import(batchOf(values), { onDuplicate })
    t.match(imported, { imported: 1, replaced: 0, skipped: 0 })
  }
  await cut.objects.import(batchOf([{ id: 20_000 }]))
  const { objects } = await goneOn(t, cut.backend)
  t.match(await objects.collections(), [{ name: 'c', objects: ids.length }])
  for (const id of ids) {
    const stored = await objects.get('c', id)
    t.equal(stored?._id, id)
    t.equal(stored?._created_at, stored?._updated_at)
  }
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('a collection that is being deleted can be made anew', async (t) => {
  const cut = await cutOff(t)
  const [before] = await cut.objects.collections()
  t.equal(await cut.objects.createCollection('c', { ifVersion: null }), true)
  t.equal(await cut.objects.createCollection('c'), false, 'it is there')
  const there = cut.objects.createCollection('c', { ifVersion: null })
  await t.rejects(there, { code: 'LK_PRECONDITION' })
  const { objects } = await goneOn(t, cut.backend)
  const [after] = await objects.collections()
  t.match(after, { name: 'c', objects: 0 })
  t.ok(after!.created_at > before!.created_at)
  t.strictSame(await objectProblems(cut.backend), [])
  t.equal(await objects.deleteCollection('c'), 0)
  t.strictSame(await objects.collections(), [], 'a later deletion takes it away')
})

t.test('an import makes a collection anew that is being deleted', async (t) => {
  const cut = await cutOff(t)
  const [before] = await cut.objects.collections()
  await cut.objects.import(batchOf(numbered(20_000, 20_001)))
  const [there] = await cut.objects.collections()
  t.ok(there!.created_at > before!.created_at)
  const again = cut.objects.createCollection('c', { ifVersion: null })
  await t.rejects(again, { code: 'LK_PRECONDITION' })
  await cut.objects.import(batchOf(numbered(20_001, 20_002)))
  for (const id of [20_000, 20_001]) t.equal(await cut.objects.delete('c', id), true)
  const { objects } = await goneOn(t, cut.backend)
  const { created_at } = there!
  t.match(await objects.collections(), [{ name: 'c', objects: 0, created_at }])
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('a declared collection that is being deleted takes no imports', async (t) => {
  const cut = await cutOff(t, { collections: 'declared' })
  const late = cut.objects.import(batchOf(numbered(20_000, 20_001)))
  await t.rejects(late, { code: 'LK_COLLECTION_NOT_FOUND' })
  t.equal(await cut.objects.createCollection('c'), true)
  t.match(await cut.objects.import(batchOf(numbered(20_000, 20_001))), { imported: 1 })
  const { objects } = await goneOn(t, cut.backend)
  t.match(await objects.collections(), [{ name: 'c', objects: 1 }])
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('a collection that was made anew goes with a later deletion', async (t) => {
  const cut = await cutOff(t)
  t.equal(await cut.objects.createCollection('c'), true)
  await cut.fail()
  const { objects } = await goneOn(t, cut.backend)
  t.strictSame(await objects.collections(), [])
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('closing does not wait for the end of a deletion that opening goes on with', async (t) => {
  const cut = await cutOff(t)
  const told: unknown[] = []
  const counting = new CountingBackend(cut.backend)
  const onError = (error: unknown) => told.push(error)
  const keep = await createLorekeep({ backend: counting, onError })
  // Behind the first of three steps.
  const closing = new Promise<void>((resolve) => {
    counting.afterWrite = async () => {
      counting.afterWrite = undefined
      resolve(keep.close())
    }
  })
  await closing
  t.strictSame(told, [])
  const storage = await cut.backend.open('objects')
  t.match(decodeRecord((await storage.get(collectionKey('c')))!), { deleting: Number })
  const { objects } = await goneOn(t, cut.backend)
  t.strictSame(await objects.collections(), [])
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('of a deletion that failed twice the next open goes on with the later one', async (t) => {
  const cut = await cutOff(t)
  await cut.objects.import(batchOf(numbered(20_000, 20_005)))
  await cut.fail()
  await cut.objects.import(batchOf(numbered(30_000, 30_003)))
  const { objects } = await goneOn(t, cut.backend)
  t.match(await objects.collections(), [{ name: 'c', objects: 3 }])
  t.equal((await objects.get('c', 30_002))?._id, 30_002)
  t.strictSame(await objectProblems(cut.backend), [])
})

t.test('an object that is changed while its collection is deleted goes all the same', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  await objects.import(batchOf(numbered(0, 9000)))
  const deleting = objects.deleteCollection('c')
  const patched = await objects.patch('c', 8999, { name: 'late' })
  await deleting
  t.ok(patched === undefined || (await objects.get('c', 8999)) === undefined)
  t.strictSame(await objectProblems(backend), [])
})

t.test('a large collection goes in steps, and indexes with it', async (t) => {
  const { objects, backend } = await opened(t, new MemoryBackend())
  for (let n = 0; n < 3; n++) await objects.import(batchOf(numbered(n * 9000, (n + 1) * 9000)))
  await objects.import(batchOf(numbered(0, 200), 'other'))
  t.equal(await objects.deleteCollection('c'), 27_000)
  t.strictSame(
    (await objects.collections()).map(({ name, objects }) => [name, objects]),
    [['other', 200]],
  )
  t.equal(
    (await objects.query({ schema_name: 'things', filters: { group: { $gte: 0 } } })).total,
    200,
  )
  t.strictSame(await objectProblems(backend), [])
})

t.test('a deletion looks no object up', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { objects } = await opened(t, backend, { objectCacheBytes: 1 })
  await objects.import(batchOf(numbered(0, 1000)))
  const before = backend.calls
  t.equal(await objects.deleteCollection('c'), 1000)
  t.ok(backend.calls - before < 100, `${backend.calls - before} calls`)
})

const finds = {
  scan: {},
  'scan with a filter': { filters: { name: { $ne: 'zzz' } } },
  index: { filters: { group: { $gte: 0 } } },
  'several parts of an index': { filters: { group: { $in: [0, 1, 2] } } },
  'order of an index': { sort: { group: 'desc' } },
  'order in memory': { sort: { name: 'asc', group: 'desc' } },
} as const

for (const [name, query] of Object.entries(finds)) {
  t.test(`a long find survives changes: ${name} (seed ${seed})`, async (t) => {
    const random = new Random(seed)
    const { objects } = await opened(t, new MemoryBackend(), { objectCacheBytes: smallCache })
    await objects.import(batchOf(numbered(0, 2000)))
    const changed = new Set<unknown>()
    const seen = new Map<unknown, number>()
    for await (const { _id } of objects.find({ schema_name: 'things', ...query })) {
      seen.set(_id, (seen.get(_id) ?? 0) + 1)
      if (seen.size % 10 !== 0) continue
      const id = random.below(2000)
      changed.add(id)
      if (random.chance(0.5)) await objects.delete('c', id)
      else await objects.patch('c', id, { group: random.below(3) })
      const fresh = 2000 + changed.size
      await codeOf(objects.import(batchOf([{ id: fresh, group: random.below(3) }])))
      changed.add(fresh)
    }
    for (let id = 0; id < 2000; id++) {
      if (!changed.has(id)) assert.equal(seen.get(id), 1, `object ${id}`)
    }
    t.ok(changed.size > 100)
  })
}

t.test('an object that comes with an array while an index is read comes once', async (t) => {
  const { objects } = await opened(t, new MemoryBackend())
  await objects.defineSchema({ ...definition, indexes: ['group', 'any.x'] })
  const values = numbered(0, 600).map((value, n) => ({ ...value, any: { x: n } }))
  await objects.import(batchOf(values))
  const seen: unknown[] = []
  for await (const { _id } of objects.find({ schema_name: 'things', sort: { 'any.x': 'asc' } })) {
    if (_id === 0) await objects.import(batchOf([{ id: 'new', any: { x: [550, 560, 570] } }]))
    if (_id === 'new') seen.push(_id)
  }
  t.ok(seen.length <= 1, `${seen.length} times`)
})

t.test('pages go on where they ended when an index has come or gone', async (t) => {
  const { objects } = await opened(t, new MemoryBackend())
  const values = numbered(0, 90).map((value) => ({
    ...value,
    name: 'abc'[value['group'] as number] ?? '',
  }))
  await objects.import(batchOf(values))
  const changes = [['group', 'name'], ['group'], ['name'], []]
  for (const from of changes) {
    for (const to of changes) {
      await objects.defineSchema({ ...definition, indexes: from })
      const query = { schema_name: 'things', filters: { name: { $gte: 'a' } }, limit: 40 }
      const first = await objects.query(query)
      await objects.defineSchema({ ...definition, indexes: to })
      const ids = first.objects.map(({ _id }) => _id)
      let { next } = first
      while (next !== undefined) {
        const page = await objects.query({ ...query, after: next })
        ids.push(...page.objects.map(({ _id }) => _id))
        next = ids.length > 1000 ? undefined : page.next
      }
      t.equal(new Set(ids).size, 90, `${from.join()} to ${to.join()}: all are there`)
      t.equal(ids.length, 90, `${from.join()} to ${to.join()}: each once`)
    }
  }
})

async function opened(
  t: Test,
  backend: Backend,
  options: Partial<LorekeepOptions> = {},
  schema: 'define' | 'keep' = 'define',
) {
  const keep = await createLorekeep({ backend, onError: () => undefined, ...options })
  t.teardown(() => keep.close())
  if (schema === 'define') await keep.objects.defineSchema(definition)
  return { objects: keep.objects, backend }
}

async function openedTwice(t: Test) {
  const backend = new KeptBackend(new MemoryBackend())
  const options = { objectCacheBytes: smallCache }
  const a = await opened(t, new FaultyBackend(backend), options)
  const b = await opened(t, new FaultyBackend(backend), options, 'keep')
  return { both: [a.objects, b.objects] as const, backend }
}

/** A store whose disk has failed behind the first write of a deletion of 9,000 objects. */
async function cutOff(t: Test, options: Partial<LorekeepOptions> = {}) {
  const backend = new KeptBackend(new MemoryBackend())
  const faulty = new FaultyBackend(backend)
  const counting = new CountingBackend(faulty)
  const { objects } = await opened(t, counting, options)
  await objects.createCollection('c')
  await objects.import(batchOf(numbered(0, 9000)))
  const fail = async () => {
    counting.afterWrite = async () => void (faulty.refusesWrites = true)
    await t.rejects(objects.deleteCollection('c'), { code: 'LK_STORAGE_UNAVAILABLE' })
    counting.afterWrite = undefined
    faulty.refusesWrites = false
  }
  await fail()
  return { objects, backend, fail }
}

/** Opening goes on with a deletion, and this waits for its end. */
async function goneOn(t: Test, backend: Backend) {
  const store = await opened(t, backend, {}, 'keep')
  const storage = await backend.open('objects')
  for (;;) {
    const record = await storage.get(collectionKey('c'))
    if (record === undefined || !('deleting' in decodeRecord<object>(record))) return store
    await turn()
  }
}

/** Counts the writes that are waited for until they are on disk. */
class CountingBackend extends KeptBackend {
  durable = 0
  afterWrite: (() => Promise<void>) | undefined

  override async open(partition: Parameters<Backend['open']>[0]) {
    const storage = await super.open(partition)
    const write: typeof storage.write = async (operations, options) => {
      await storage.write(operations, options)
      if (options?.durable === true) this.durable++
      await this.afterWrite?.()
    }
    return altered(storage, { write })
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'ok'
  } catch (error) {
    if (error instanceof LorekeepError) return error.code
    throw error
  }
}

const byNumber = (a: unknown, b: unknown) => Number(a) - Number(b)
