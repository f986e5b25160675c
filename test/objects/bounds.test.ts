// What one request may make the store do.

import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { LorekeepOptions } from '../../src/lorekeep.js'
import { openStore } from '../fixtures/stores.js'
import { problemsOf } from './inspect.js'
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

const cursor = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url')

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
  t.strictSame(await problemsOf(backend), [])
})

t.test('a cursor may ask for no more than a sort', async (t) => {
  const { objects, put } = await opened(t)
  await objects.defineSchema({ ...definition, strict: true })
  await put([{ id: 'a', n: 1 }])
  const cursors = [
    [Array(33).fill(['n', 'asc']), Array(33).fill(1), 0],
    [[['nope', 'asc']], [null], 0],
    [[['', 'asc']], [null], 0],
    [[['__proto__', 'asc']], [null], 0],
    [[['_x.y', 'asc']], [null], 0],
    [[['n', 'asc']], [[1]], 0],
    [[['n', 'up']], [1], 0],
    ['n', 1, 0],
    [[], [], 'x'],
  ]
  for (const parts of cursors) {
    const query = { schema_name: 's', after: cursor(parts) }
    await t.rejects(objects.query(query), { code: 'LK_QUERY' }, JSON.stringify(parts).slice(0, 60))
  }
  await t.rejects(objects.query({ schema_name: 's', after: 'x' }), { code: 'LK_QUERY' })
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
  let turns = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; turns++) await turn()
  })()
  for (let n = 0; n < 2000; n++) await objects.get('c', 'a')
  isOver = true
  t.ok(turns >= 10, `${turns} turns in 2000 reads`)
  await counting
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
})
