// What a user's search reads: the objects that it may see, however many others there are beside them.

import fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { hasCode } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { Block, encodeBlocks } from '../../src/objects/engine/block.js'
import { allBlocks } from '../../src/objects/engine/records.js'
import { refOf } from '../../src/objects/engine/ref.js'
import { RowShapes } from '../../src/objects/engine/row-shapes.js'
import type { ParsedCondition } from '../../src/objects/filter/condition.js'
import { evaluate } from '../../src/objects/query/evaluate.js'
import { parseSchemaDefinition } from '../../src/objects/schema/definition.js'
import { compileSchema } from '../../src/objects/schema/schema.js'
import { decodeRecord, encodeRecord } from '../../src/record.js'
import { CountedBackend } from '../fixtures/counted-backend.js'
import { KeptBackend } from './kept-backend.js'
import type { ObjectQuery } from '../../src/objects/types.js'
import type { Scope } from '../../src/scope.js'

const numRuns = Number(process.env['RUNS'] ?? 25)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)

const users = ['alice', 'bob', 'carol']
const collections = ['shop', 'store']
const pick = <T>(values: readonly T[]) => fc.constantFrom(...values)

const definition = {
  name: 'product',
  fields: { id: { type: 'string' }, price: { type: 'number' } },
  indexes: ['price'],
}

const aBatch = fc.record({
  user: pick(users),
  collection: pick(collections),
  count: pick([1, 3, 70, 200]),
})

const aScope = fc.record(
  {
    user: pick(users),
    collections: fc.subarray(collections),
    shared: fc.subarray(collections),
  },
  { requiredKeys: [] },
)

const aTest = fc.oneof(
  fc.record({ _user: pick(users) }),
  fc.record({ _user: fc.record({ $ne: pick(users) }) }),
  fc.record({ _collection: fc.record({ $in: fc.subarray(collections) }) }),
  fc.record({ price: fc.record({ $gte: pick([0, 4, 9]) }) }),
)

const aFilter = fc.letrec((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    aTest,
    fc.record({ $and: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $or: fc.array(tie('filter'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ $nor: fc.array(tie('filter'), { minLength: 1, maxLength: 2 }) }),
  ),
})).filter

interface Known {
  readonly id: string
  readonly _user: string
  readonly _collection: string
  readonly price: number
}

function isMatch(filter: unknown, known: Known): boolean {
  return Object.entries(filter as Record<string, unknown>).every(([name, operand]) => {
    const all = operand as readonly unknown[]
    if (name === '$and') return all.every((each) => isMatch(each, known))
    if (name === '$or') return all.some((each) => isMatch(each, known))
    if (name === '$nor') return !all.some((each) => isMatch(each, known))
    const value = known[name as keyof Known]
    if (typeof operand !== 'object' || operand === null) return value === operand
    const { $ne, $in, $gte } = operand as { $ne?: string; $in?: string[]; $gte?: number }
    if ($in !== undefined) return $in.includes(String(value))
    return $gte === undefined ? value !== $ne : Number(value) >= $gte
  })
}

function isSeen({ user, collections, shared = [] }: Scope, known: Known): boolean {
  if (collections?.includes(known._collection) === false) return false
  return user === undefined || user === known._user || shared.includes(known._collection)
}

t.test(`no object is missed for the block that it lies in (seed ${seed})`, async (t) => {
  const questions = fc.array(fc.tuple(aScope, aFilter, fc.boolean()), { minLength: 5 })
  const property = fc.asyncProperty(
    fc.array(aBatch, { minLength: 1, maxLength: 8 }),
    fc.nat(6),
    questions,
    async (batches, every, asked) => {
      // More than all batches together.
      const limits = { maxQueryLimit: 10_000 }
      await using keep = await createLorekeep({ backend: new MemoryBackend(), limits })
      const { objects } = keep
      await objects.defineSchema(definition)
      const stored = new Map<string, Known>()
      for (const { user, collection, count } of batches) {
        const values = Array.from({ length: count }, (_, n) => {
          return { id: `${stored.size + n}`, price: n % 10 }
        })
        const metadata = { id: 'b', user, collection }
        await objects.import({ schema_name: 'product', metadata, values })
        for (const { id, price } of values) {
          stored.set(id, { id, price, _user: user, _collection: collection })
        }
      }
      // Blocks that lose rows, and the rows that come behind them, are written anew.
      const some = [...stored.values()].filter((_, n) => every > 1 && n % (every * 9) === 0)
      for (const { id, _collection } of some) {
        await objects.delete(_collection, id)
        stored.delete(id)
      }
      for (const [scope, filters, isSorted] of asked) {
        const expected = [...stored.values()]
          .filter((known) => isSeen(scope, known) && isMatch(filters, known))
          .map(({ id }) => id)
          .sort()
        const query: ObjectQuery = {
          schema_name: 'product',
          filters: filters as never,
          ...(isSorted && { sort: { price: 'desc' } }),
        }
        const found: string[] = []
        for await (const object of objects.find(query, scope)) found.push(String(object['id']))
        const { total, objects: page } = await objects.query({ ...query, limit: 10_000 }, scope)
        const what = JSON.stringify([scope, filters])
        if (total !== expected.length) throw new Error(`${what}: ${total}, not ${expected.length}`)
        for (const ids of [found, page.map((object) => String(object['id']))]) {
          if (ids.sort().join() !== expected.join()) throw new Error(`${what}: other objects`)
        }
      }
    },
  )
  await fc.assert(property, { numRuns, seed })
  t.pass()
})

t.test('what others store neither costs a user anything nor tells it anything', async (t) => {
  const ofAlice = 40
  const limits = { maxQueryObjects: ofAlice }
  await using keep = await createLorekeep({ backend: new MemoryBackend(), limits })
  const { objects } = keep
  await objects.defineSchema(definition)
  let next = 0
  const put = async (user: string, count: number) => {
    const metadata = { id: 'b', user, collection: 'shop' }
    const values = Array.from({ length: count }, () => ({ id: `${next}`, price: next++ % 10 }))
    await objects.import({ schema_name: 'product', metadata, values })
  }
  // With just the limit of objects that are its own.
  const alone = async () => {
    const queries: ObjectQuery[] = [
      { schema_name: 'product' },
      { schema_name: 'product', filters: { price: { $gte: 3 } } },
      { schema_name: 'product', filters: { id: { $ne: '0' } }, sort: { price: 'asc' } },
    ]
    const answers = []
    for (const query of queries) {
      const { total, next, objects: found } = await objects.query(query, { user: 'alice' })
      answers.push({ total, next, ids: found.map(({ _id }) => _id) })
    }
    return answers
  }
  // Some in blocks of their own, some between others'.
  for (let n = 0; n < ofAlice / 2; n++) await put('alice', 1)
  await put('alice', ofAlice / 2)
  const before = await alone()
  t.equal(before[0]?.total, ofAlice)

  await put('bob', 3000)
  t.strictSame(await alone(), before)
  for (let n = 0; n < 100; n++) await put(`user ${n}`, 2)
  t.strictSame(await alone(), before)
  const all = { schema_name: 'product', filters: { id: { $ne: '0' } } }
  t.equal((await objects.query({ ...all, limit: 9 }, { user: 'alice' })).total, ofAlice - 1)
  const error: unknown = await objects.query(all).catch((error: unknown) => error)
  t.ok(hasCode(error, 'LK_QUERY_BUDGET'))
})

for (const [what, text, isLong] of [
  ['does not read how long those of others are', 'of alice', false],
  ['counts no words of long texts', `of alice ${'or '.repeat(300)}`, true],
] as const) {
  t.test(`a user's search of few texts ${what}`, async (t) => {
    const backend = new CountedBackend(new MemoryBackend())
    await using keep = await createLorekeep({ backend, objectCacheBytes: 1 })
    const { objects } = keep
    const fields = { id: { type: 'string' }, text: { type: 'text' } }
    await objects.defineSchema({ ...definition, fields, indexes: [{ text: ['text'] }] })
    let next = 0
    const put = async (user: string, count: number, text: string) => {
      const metadata = { id: 'b', user, collection: 'shop' }
      const values = Array.from({ length: count }, () => ({ id: `${next++}`, text }))
      await objects.import({ schema_name: 'product', metadata, values })
    }
    await put('alice', 20, text)
    const asked = async () => {
      backend.values = 0
      const query: ObjectQuery = {
        schema_name: 'product',
        filters: { $text: { $search: 'alice' } },
        fields: ['_score'],
      }
      const { total, objects: found } = await objects.query(query, { user: 'alice' })
      return { total, scores: found.map((object) => object['_score']), values: backend.values }
    }
    const before = await asked()
    t.equal(before.total, 20)
    await put('bob', 10_000, 'of bob')
    const after = await asked()
    t.strictSame(after.scores, before.scores)
    // Ten pages have the lengths.
    const read = after.values - before.values
    t.ok(isLong ? read >= 8 : read < 5, `${after.values} values, ${before.values} before`)
  })
}

t.test('names that hold what others are joined by are told apart', async (t) => {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { objects } = keep
  await objects.defineSchema(definition)
  const owners = [
    ['a\0b', 'x'],
    ['a', 'b\0x'],
    ['["a"', '"x"]'],
  ] as const
  for (const [user, collection] of owners) {
    const values = Array.from({ length: 200 }, (_, n) => ({ id: `${n}` }))
    const metadata = { id: 'b', user, collection }
    await objects.import({ schema_name: 'product', metadata, values })
  }
  for (const [user, collection] of owners) {
    const query = { schema_name: 'product' }
    t.equal((await objects.query(query, { user })).total, 200)
    t.equal((await objects.query(query, { collections: [collection] })).total, 200)
    t.equal((await objects.query({ ...query, filters: { _user: user } })).total, 200)
  }
})

t.test('a block whose owners are damaged is read', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const open = () => createLorekeep({ backend })
  const first = await open()
  await first.objects.defineSchema(definition)
  const metadata = { id: 'b', user: 'alice', collection: 'c' }
  await first.objects.import({ schema_name: 'product', metadata, values: [{ id: 'a' }] })
  await first.close()
  const storage = await backend.open('objects')
  for (const owners of [null, 5, 'x', [['c']], [null], [['c', 'alice', 'z']]]) {
    for await (const page of storage.scan(allBlocks())) {
      for (const { key, value } of page) {
        const record = { ...decodeRecord<object>(value), owners }
        await storage.write([{ type: 'put', key, value: encodeRecord(record) }])
      }
    }
    const keep = await open()
    const { total } = await keep.objects.query({ schema_name: 'product' }, { user: 'alice' })
    t.equal(total, 1, JSON.stringify(owners))
    await keep.close()
  }
  const keep = await open()
  t.equal(await keep.objects.deleteCollection('c'), 1)
  await keep.close()
})

t.test('of hidden rows no value is looked at', async (t) => {
  const schema = compileSchema(parseSchemaDefinition(definition))
  const rowOf = (n: number) => ({
    ref: refOf(n, 0),
    id: `${n}`,
    object: { id: `${n}`, price: n },
    collection: 'c',
    user: n % 2 === 0 ? 'alice' : 'bob',
    created_at: 'x',
    updated_at: 'x',
    metadata: undefined,
  })
  const rows = Array.from({ length: 10 }, (_, n) => rowOf(n))
  const [encoded] = encodeBlocks(schema, rows)
  const block = new Block(encoded!.bytes, new RowShapes())
  const looked: unknown[] = []
  const test: ParsedCondition = {
    type: 'test',
    path: ['price'],
    operator: '$gt',
    operand: 0,
    matches: (value) => looked.push(value) > 0,
  }
  for (const condition of [
    test,
    { type: 'not', condition: test },
    { type: 'and', conditions: [test] },
    { type: 'or', conditions: [test] },
  ] as const) {
    evaluate(condition, block, [0, 4, 8])
    t.strictSame(looked.splice(0), [0, 4, 8])
  }
})
