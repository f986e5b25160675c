// What one request may make the store do.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { hasCode } from '../../src/errors.js'
import type { LorekeepOptions } from '../../src/lorekeep.js'
import { altered } from '../fixtures/altered-storage.js'
import { openStore } from '../fixtures/stores.js'
import type { Backend } from '../../src/storage.js'
import type { JsonObject } from '../../src/types.js'
import { objectProblems } from '../fixtures/problems.js'
import { CountedBackend } from '../fixtures/counted-backend.js'
import { countTurns } from '../fixtures/turns.js'
import { KeptBackend } from './kept-backend.js'

type Tap = Parameters<typeof openStore>[0]

async function opened(t: Tap, options: Partial<LorekeepOptions> = {}) {
  const backend = new KeptBackend(new MemoryBackend())
  const { objects } = await openStore(t, backend, options)
  const put = (values: readonly Record<string, never | string | number>[], metadata = {}) =>
    objects.import({
      metadata: { id: 'b', user: 'u', collection: 'c', metadata },
      schema_name: 's',
      values,
    })
  return { objects, backend, put }
}

const definition = {
  name: 's',
  fields: { id: { type: 'string' }, text: { type: 'text' }, n: { type: 'number' } },
  indexes: ['text', 'n'],
}

/** Measures what writes put. */
class MeasuredBackend extends KeptBackend {
  readonly writes: number[] = []

  override async open(partition: Parameters<Backend['open']>[0]) {
    const storage = await super.open(partition)
    const write: typeof storage.write = async (operations, options) => {
      let bytes = 0
      for (const operation of operations) if ('value' in operation) bytes += operation.value.length
      this.writes.push(bytes)
      await storage.write(operations, options)
    }
    return altered(storage, { write })
  }
}

t.test('the metadata of an import is bounded', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema(definition)
  // {"d":"…"} is eight characters longer than what is in it.
  await put([{ id: 'a' }], { d: 'x'.repeat(16 * 1024 - 8) })
  const long = put([{ id: 'b' }], { d: 'x'.repeat(16 * 1024 - 7) })
  await t.rejects(long, { code: 'LK_OBJECT_REQUEST' })
})

t.test('an index of long strings is read in small pages, and right', async (t) => {
  const { objects, backend, put } = await opened(t, { objectCacheBytes: 1 })
  await objects.defineSchema(definition)
  // Pairs of the same text, and a beginning that tells them apart.
  const text = (n: number) => `${n >> 1}${'x'.repeat(20_000)}`
  const values = Array.from({ length: 300 }, (_, n) => ({ id: `i${n}`, text: text(n), n }))
  for (let at = 0; at < 300; at += 50) await put(values.slice(at, at + 50))
  for (let n = 0; n < 20; n++) {
    const query = { schema_name: 's', filters: { text: text(n) }, fields: ['n'], limit: 1000 }
    const plan = await objects.explain(query)
    t.match(plan, { plan: 'index', counted: true })
    const expected = values.filter((value) => value.text === text(n)).map((value) => value.n)
    const page = await objects.query(query)
    t.equal(page.total, expected.length)
    t.strictSame(
      page.objects.map((object) => object['n']),
      expected,
    )
  }
  let largest = 0
  const storage = await backend.open('objects')
  for await (const page of storage.scan({})) {
    for (const { value } of page) largest = Math.max(largest, value.length)
  }
  t.ok(largest < 256 * 1024, `${largest} bytes`)
  t.strictSame(await objectProblems(backend), [])
})

t.test('a cursor is good for the query that it came from', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema(definition)
  await objects.defineSchema({ ...definition, name: 'other' })
  await put(Array.from({ length: 4 }, (_, n) => ({ id: `${n}`, n, text: 'of four' })))
  for (const query of [
    { schema_name: 's' },
    { schema_name: 's', sort: { n: 'asc' } },
    { schema_name: 's', filters: { n: { $gte: 0 } } },
  ] as const) {
    const { next: after = '' } = await objects.query({ ...query, limit: 1 }, { user: 'u' })
    const page = await objects.query({ ...query, after, fields: ['n'] }, { user: 'u' })
    t.equal(page.objects.length, 3, 'with another limit, and other fields')
    for (const other of [
      { schema_name: 'other' },
      { sort: { n: 'desc' } },
      { sort: { id: 'asc' } },
      { filters: { n: { $gte: 1 } } },
    ] as const) {
      const asked = objects.query({ ...query, ...other, after }, { user: 'u' })
      await t.rejects(asked, { code: 'LK_CURSOR' }, JSON.stringify(other))
    }
    await t.rejects(objects.query({ ...query, after }, { user: 'v' }), { code: 'LK_CURSOR' })
    await t.rejects(objects.query({ ...query, after }), { code: 'LK_CURSOR' })
    const made = Buffer.from('[[],[],"0"]').toString('base64url')
    for (const wrong of ['x', made, `${after}A`, after.slice(0, -2)]) {
      const asked = objects.query({ ...query, after: wrong }, { user: 'u' })
      await t.rejects(asked, { code: 'LK_CURSOR' }, wrong)
    }
  }
})

t.test('a cursor tells neither what lies there nor how many objects there are', async (t) => {
  const found = new Map<string, Set<string>>()
  for (const before of [0, 1, 500]) {
    const { objects, put } = await opened(t)
    await objects.defineSchema(definition)
    if (before > 0) await put(Array.from({ length: before }, (_, n) => ({ id: `hidden ${n}` })))
    for (const id of ['a', 'b']) {
      const metadata = { id: 'b', user: 'alice', collection: 'c' }
      await objects.import({ metadata, schema_name: 's', values: [{ id, n: 1, text: 'a text' }] })
    }
    for (const sort of [undefined, { n: 'asc' }, { text: 'asc' }] as const) {
      const query = { schema_name: 's', limit: 1, ...(sort && { sort }) }
      const { next = '' } = await objects.query(query, { user: 'alice' })
      t.notOk(Buffer.from(next, 'base64url').includes('text'))
      const name = JSON.stringify(sort ?? {})
      found.set(name, (found.get(name) ?? new Set()).add(next))
    }
  }
  for (const [sort, cursors] of found) {
    t.equal(cursors.size, 3, 'another one of each store')
    t.equal(new Set([...cursors].map(({ length }) => length)).size, 1, `all as long, by ${sort}`)
  }
})

t.test('an order that JavaScript would change is refused', async (t) => {
  const { objects } = await opened(t)
  await objects.defineSchema(definition)
  const sort = { 2: 'asc', 1: 'asc' } as const
  await t.rejects(objects.query({ schema_name: 's', sort }), { code: 'LK_QUERY' })
  await objects.query({ schema_name: 's', sort: { 2: 'asc' } })
})

t.test('answers from memory leave the event loop its turns', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema(definition)
  await put([{ id: 'a' }])
  const reading = countTurns()
  for (let n = 0; n < 2000; n++) await objects.get('c', 'a')
  const turns = reading()
  t.ok(turns >= 10, `${turns} turns in 2000 reads`)
})

t.test('what is sorted by elements of arrays leaves the event loop its turns', async (t) => {
  const { objects } = await opened(t)
  await objects.defineSchema({ name: 's', fields: { a: { type: 'array' } } })
  // Each has 200,000 combinations, and all of them are in one block.
  const a = [{ b: [...Array(500).keys()] }, ...Array(400).fill({ c: 1 })] as JsonObject[]
  const count = 10
  const values = Array.from({ length: count }, (_, id) => ({ id: `${id}`, a }))
  const metadata = { id: 'b', user: 'u', collection: 'c' }
  await objects.import({ metadata, schema_name: 's', values })
  const query = { schema_name: 's', sort: { 'a.0.b': 'asc', 'a.c': 'asc' }, fields: [] } as const
  let turns = countTurns()
  t.equal((await objects.query(query)).objects.length, count)
  const ofQuery = turns()
  t.ok(ofQuery >= count - 1, `${ofQuery} turns of a query`)
  turns = countTurns()
  const found: unknown[] = []
  for await (const { _id } of objects.find(query)) found.push(_id)
  const ofFind = turns()
  t.ok(ofFind >= count - 1, `${ofFind} turns of a find`)
  t.equal(found.length, count)
})

t.test('a page that cannot be held is refused', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema({ ...definition, indexes: [] })
  const text = 'x'.repeat(1_000_000)
  for (let n = 0; n < 70; n += 10) {
    await put(Array.from({ length: 10 }, (_, k) => ({ id: `${n + k}`, text })))
  }
  await t.rejects(objects.query({ schema_name: 's' }), { code: 'LK_QUERY_BUDGET' })
  t.equal((await objects.query({ schema_name: 's', limit: 10 })).objects.length, 10)
  t.equal((await objects.query({ schema_name: 's', fields: ['n'] })).objects.length, 70)
  // A plan has no objects.
  for (const query of [{}, { sort: { n: 'asc' } }, { filters: { id: { $ne: 'x' } } }] as const) {
    const plan = await objects.explain({ schema_name: 's', ...query })
    t.match(plan, { total: 70, returned: 70 }, JSON.stringify(query))
    for (const [offset, returned] of [
      [0, 20],
      [60, 10],
      [70, 0],
    ] as const) {
      const some = await objects.explain({ schema_name: 's', ...query, limit: 20, offset })
      t.match(some, { total: 70, returned }, `${JSON.stringify(query)} from ${offset}`)
    }
  }
})

t.test('so is one of named fields, and one of what objects share', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema({ ...definition, indexes: [] })
  const text = 'x'.repeat(1_000_000)
  await put(Array.from({ length: 70 }, (_, k) => ({ id: `${k}`, text })))
  const all = { schema_name: 's', limit: 200 }
  t.equal((await objects.query({ ...all, fields: ['id', 'n'] })).objects.length, 70)
  await t.rejects(objects.query({ ...all, fields: ['text'] }), { code: 'LK_QUERY_BUDGET' })
  await t.rejects(objects.query(all), { code: 'LK_QUERY_BUDGET' })
  t.equal((await objects.query({ ...all, limit: 60, fields: ['text'] })).objects.length, 60)
})

t.test('a page that cannot be held is not read', async (t) => {
  const backend = new CountedBackend(new MemoryBackend())
  const { objects } = await openStore(t, backend, { objectCacheBytes: 1 })
  await objects.defineSchema({ ...definition, indexes: ['n', { text: ['id'] }] })
  for (let n = 0; n < 150; n += 25) {
    const values = Array.from({ length: 25 }, (_, k) => ({
      id: `word ${n + k}`,
      n: n + k,
      text: randomBytes(500_000).toString('hex'),
    }))
    const metadata = { id: 'b', user: 'u', collection: 'c' }
    await objects.import({ metadata, schema_name: 's', values })
  }
  // The blocks of 64 objects are read at once.
  for (const query of [
    {},
    { filters: { n: { $gte: 0 } } },
    { sort: { n: 'desc' } },
    { filters: { $text: { $search: 'word' } } },
    { filters: { id: { $ne: 'x' } } },
  ] as const) {
    backend.bytes = 0
    const asked = objects.query({ schema_name: 's', limit: 1000, ...query })
    await t.rejects(asked, { code: 'LK_QUERY_BUDGET' }, JSON.stringify(query))
    t.ok(backend.bytes < 140 * 1024 ** 2, `${backend.bytes} bytes for ${JSON.stringify(query)}`)
  }
  // Where a plan needs no block there is none that it reads.
  for (const query of [
    { filters: { n: { $gte: 0 } } },
    { filters: { n: { $gte: 0 }, $and: [{ n: { $lt: 200 } }] } },
    { sort: { n: 'desc' } },
    { filters: { $text: { $search: 'word' } } },
  ] as const) {
    backend.bytes = 0
    const plan = await objects.explain({ schema_name: 's', limit: 1000, ...query })
    const name = JSON.stringify(query)
    t.match(plan, { total: 150, returned: 150, objectsRead: 150 }, name)
    t.ok(backend.bytes < 1024 ** 2, `${backend.bytes} bytes for the plan of ${name}`)
  }
})

t.test('each limit holds to the last object, and not one further', async (t) => {
  const limits = { maxBatchObjects: 40, maxObjectBytes: 60, maxQueryLimit: 30, maxQueryObjects: 39 }
  const { objects, put } = await opened(t, { limits })
  await objects.defineSchema({ ...definition, indexes: ['n'] })
  const values = Array.from({ length: 41 }, (_, n) => ({ id: `${n}`, n }))
  await t.rejects(put(values), {
    code: 'LK_OBJECT_TOO_LARGE',
    details: { count: 41, maxBatchObjects: 40 },
  })
  await put(values.slice(0, 39))
  const scan = { schema_name: 's', filters: { text: null } }
  // 39 objects are looked at, and then 40.
  t.equal((await objects.query(scan)).total, 39)
  // {"id":"long","text":"…"} is 23 bytes longer than its text.
  await put([{ id: 'long', text: 'x'.repeat(60 - 23) }])
  const longer = put([{ id: 'more', text: 'x'.repeat(60 - 22) }])
  await t.rejects(longer, { code: 'LK_OBJECT_INVALID', details: { count: 1 } })
  // Of an object with far too many fields one reason is told, and not what else is wrong with it.
  const wide = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, n]))
  const error = (await put([{ ...wide, end: undefined } as never]).catch(
    (thrown: unknown) => thrown,
  )) as {
    details: unknown
  }
  t.match(error.details, { count: 1, errors: [{ index: 0, path: '', message: /60 bytes/ }] })
  for (const work of [() => objects.query(scan), () => objects.explain(scan)]) {
    await t.rejects(work() as Promise<unknown>, {
      code: 'LK_QUERY_BUDGET',
      details: { maxQueryObjects: 39 },
    })
  }
  // By an index only what it gives is looked at; and find() has no such bounds.
  t.equal((await objects.query({ schema_name: 's', filters: { n: { $gte: 0 } } })).total, 39)
  let count = 0
  for await (const _ of objects.find(scan)) count++
  t.equal(count, 39)
  for (const [limit, applied] of [
    [29, 29],
    [30, 30],
    [31, 30],
  ] as const) {
    const page = await objects.query({ schema_name: 's', sort: { n: 'asc' }, limit })
    t.equal(page.limit, applied)
    t.equal(page.objects.length, applied)
  }
})

t.test('an import takes a batch of exactly as many objects as it may have', async (t) => {
  const { put, objects } = await opened(t, { limits: { maxBatchObjects: 3 } })
  await objects.defineSchema(definition)
  t.equal((await put([{ id: 'a' }, { id: 'b' }, { id: 'c' }])).imported, 3)
})

t.test('a find gives exactly the window that is asked for', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema(definition)
  await put(Array.from({ length: 700 }, (_, n) => ({ id: `${n}`, n, text: `${n % 7}` })))
  const orders = [
    {},
    { sort: { n: 'desc' } },
    { sort: { _id: 'asc' } },
    { filters: { n: { $gte: 0 } } },
    { filters: { $or: [{ n: { $lt: 600 } }, { text: '3' }] } },
    { filters: { id: { $ne: 'x' } } },
  ] as const
  for (const order of orders) {
    const query = { schema_name: 's', ...order }
    const all: unknown[] = []
    for await (const { _id } of objects.find(query)) all.push(_id)
    for (const limit of [0, 1, 512, 513, 700, 701]) {
      for (const offset of [0, 1, 512, 699, 701]) {
        const found: unknown[] = []
        for await (const { _id } of objects.find({ ...query, limit, offset })) found.push(_id)
        const place = `${JSON.stringify(order)}, ${limit} from ${offset}`
        assert.deepEqual(found, all.slice(offset, offset + limit), place)
      }
    }
    t.ok(all.length >= 600, JSON.stringify(order))
  }
})

t.test('a find goes on behind a cursor', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema(definition)
  await put(Array.from({ length: 600 }, (_, n) => ({ id: `${n}`, n, text: `${n % 7}` })))
  for (const order of [
    {},
    { sort: { n: 'desc' } },
    { sort: { _id: 'asc' } },
    { filters: { n: { $gte: 0 }, text: { $lt: '6' } } },
  ] as const) {
    const query = { schema_name: 's', ...order }
    const all: unknown[] = []
    for await (const { _id } of objects.find(query)) all.push(_id)
    const { next } = await objects.query({ ...query, limit: 130 })
    assert.ok(next !== undefined)
    const found: unknown[] = []
    for await (const { _id } of objects.find({ ...query, after: next })) found.push(_id)
    t.strictSame(found, all.slice(130), JSON.stringify(order))
  }
})

t.test('changes share a write, or a step of a deletion, by their bytes as well', async (t) => {
  const backend = new MeasuredBackend(new MemoryBackend())
  const { objects } = await openStore(t, backend)
  await objects.defineSchema({ ...definition, indexes: [] })
  const text = 'x'.repeat(900_000)
  const batchOf = (collection: string, ids: number) => ({
    metadata: { id: 'b', user: 'u', collection },
    schema_name: 's',
    values: Array.from({ length: ids }, (_, n) => ({ id: `${n}`, text })),
  })
  const names = Array.from({ length: 8 }, (_, n) => `c${n}`)
  await Promise.all(names.map((name) => objects.import(batchOf(name, 7))))
  t.equal((await objects.query({ schema_name: 's', limit: 0 })).total, 56)
  const most = Math.max(...backend.writes)
  t.ok(most > 20 * 1024 ** 2 && most < 48 * 1024 ** 2, `${most} bytes`)

  backend.writes.length = 0
  const patched = names.map((name) => objects.patch(name, 0, { text: `${text}y` }))
  for (const object of await Promise.all(patched)) t.equal(object?.['text'], `${text}y`)
  t.equal(backend.writes.length, 1, 'eight objects are not too much for one')

  await objects.import(batchOf('d', 45))
  backend.writes.length = 0
  t.equal(await objects.deleteCollection('d'), 45)
  t.ok(backend.writes.length >= 3, `${backend.writes.length} writes`)
  t.strictSame(await objectProblems(backend), [])
})

t.test('a request is refused for each thing that is wrong with it', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema({
    ...definition,
    fields: { ...definition.fields, o: { type: 'object' } },
  })
  await put([{ id: 'a' }])
  const paths = (length: number) => Array.from({ length }, (_, n) => `o.f${n}`)
  const sortOf = (length: number) => Object.fromEntries(paths(length).map((path) => [path, 'asc']))
  const deep = (parts: number) => ['o', ...Array<string>(parts - 1).fill('x')].join('.')
  const good = [
    { sort: sortOf(32) as Record<string, 'asc'> },
    { fields: paths(1000) },
    { filters: { [deep(32)]: null } },
    { limit: 0, offset: 0 },
  ]
  for (const query of good) {
    t.equal((await objects.query({ schema_name: 's', ...query })).total, 1)
  }
  const bad: readonly (readonly [Record<string, unknown>, readonly string[]])[] = [
    [{ schema_name: '' }, ['schema_name']],
    [{ schema_name: 7 }, ['schema_name']],
    [{ more: 1 }, ['more']],
    [{ more: 1, schema_name: '' }, ['more', 'schema_name']],
    [{ sort: sortOf(33) }, ['sort']],
    [{ fields: paths(1001) }, ['fields']],
    [{ sort: { [deep(33)]: 'asc' } }, [`sort.${deep(33)}`]],
    [{ limit: -1 }, ['limit']],
    [{ offset: 0.5 }, ['offset']],
    [{ limit: -1, offset: -1 }, ['limit', 'offset']],
  ]
  for (const [query, expected] of bad) {
    const given = { schema_name: 's', ...query } as { schema_name: string }
    const works = [
      () => objects.query(given),
      () => objects.explain(given),
      () => objects.find(given)[Symbol.asyncIterator]().next(),
    ]
    for (const work of works) {
      const error: unknown = await work().catch((error: unknown) => error)
      assert.ok(hasCode(error, 'LK_QUERY'), JSON.stringify(query).slice(0, 60))
      const errors = error.details['errors'] as readonly { path: string }[]
      assert.deepEqual(errors.map(({ path }) => path).sort(), expected)
    }
  }
})

t.test('explain says why an index is not used', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema({ ...definition, indexes: ['text', 'n'] })
  await put(Array.from({ length: 200 }, (_, n) => ({ id: `${n}`, n, text: 'same' })))
  const reasonsOf = async (filters: object) => {
    const plan = await objects.explain({ schema_name: 's', filters: filters as never })
    return Object.fromEntries(plan.notUsed.map(({ path, reason }) => [path, reason]))
  }
  t.strictSame(await reasonsOf({ $or: [{ n: 1 }, { text: 'x' }, { other: 2 }] }), {
    n: 'another part of $or has no index',
    text: 'another part of $or has no index',
    other: 'it has no index',
  })
  t.strictSame(await reasonsOf({ n: 3, text: 'same' }), {
    text: 'it has 200 entries there, and 1 objects are left',
  })
  t.strictSame(await reasonsOf({ n: { $gte: 100 }, id: { $ne: 'x' } }), {
    id: 'it has no index',
    n: 'it would give 100 of 200 objects',
  })
})

t.test('a schema is changed before an import or after it, and never in the middle', async (t) => {
  const { objects, backend, put } = await opened(t)
  const other = { ...definition, fields: { ...definition.fields, other: { type: 'integer' } } }
  const seen = new Set<string>()
  // One of these puts both into one group of changes, the import in front.
  for (let turns = -30; turns < 30; turns++) {
    await objects.defineSchema(definition)
    const begin = [
      () => put([{ id: 'a', other: 'text' }]),
      () => objects.defineSchema(other),
    ] as const
    const [first, second] = turns < 0 ? begin.toReversed() : begin
    const begun = first!()
    for (let n = 0; n < Math.abs(turns); n++) await undefined
    const both = [begun, second!()]
    const outcomes = await Promise.allSettled(turns < 0 ? both.toReversed() : both)
    const codes = outcomes.map((outcome) =>
      outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as { code: string }).code,
    )
    seen.add(codes.join())
    await objects.deleteCollection('c')
  }
  t.strictSame([...seen].sort(), ['LK_OBJECT_INVALID,ok', 'ok,LK_SCHEMA_VIOLATED'])
  t.strictSame(await objectProblems(backend), [])
})
