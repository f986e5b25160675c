// The facts of MongoDB through a whole store: with indexes, in pages, by find().

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import { facts, sorted } from './filter/mongodb/filters.js'
import { refusedSorts } from './filter/mongodb/refusals.js'
import { sortFacts } from './filter/mongodb/sorts.js'

async function openWith(
  t: Test,
  objects: readonly JsonObject[],
  indexes: readonly string[] = [],
): Promise<ObjectStore> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  // Half of what is indexed is declared.
  await keep.objects.defineSchema({
    name: 'things',
    fields: { a: { type: 'any' }, i: { type: 'any' } },
    indexes,
    index_undeclared: true,
  })
  await keep.objects.import({
    metadata: { id: 'batch', user: 'alice', collection: 'c' },
    schema_name: 'things',
    values: objects,
  })
  return keep.objects
}

/** The fields that a filter asks for. */
function pathsOf(filter: JsonObject): string[] {
  return Object.entries(filter).flatMap(([key, value]) =>
    key.startsWith('$') ? (value as JsonObject[]).flatMap(pathsOf) : [key],
  )
}

// So many that it pays to use an index, and with none of the values that are asked for.
const inner = { b: 'zz', x: 'zz', y: 'zz', 0: 'zz', 1: { b: 'zz', foo: 'zz' } }
const others: readonly JsonObject[] = Array.from({ length: 300 }, (_, n) => ({
  id: `other ${n}`,
  ...(n % 2 === 0 ? { a: inner } : { a: 'zz' }),
  ...{ i: 'zz', x: 'zz', foo: 'zz', arr: 'zz', str: 'zz', sku: 'zz', description: 'zz' },
}))

let plans = 0
let indexed = 0

for (const { source, objects, answers } of facts) {
  t.test(`filters match what MongoDB matches, with indexes and without: ${source}`, async (t) => {
    const named = Object.entries(objects).map(([id, object]) => ({ id, ...object }))
    const indexes = [...new Set(answers.flatMap(([filter]) => pathsOf(filter)))]
    const scan = await openWith(t, [...named, ...others])
    const store = await openWith(t, [...named, ...others], indexes)
    for (const [filter, names] of answers) {
      const query = { schema_name: 'things', filters: filter, limit: 1000 }
      const [page, all] = [await store.query(query), await scan.query(query)]
      const ids = page.objects.map(({ _id }) => String(_id)).sort()
      t.same(
        ids.filter((id) => !id.startsWith('other')),
        sorted(names),
        JSON.stringify(filter),
      )
      t.same(ids, all.objects.map(({ _id }) => String(_id)).sort(), JSON.stringify(filter))
      const { plan, total } = await store.explain(query)
      t.equal(total, ids.length)
      plans++
      if (plan !== 'scan') indexed++
    }
  })
}

t.test('of the facts about filters many were found by an index', async (t) => {
  t.ok(indexed > plans / 4, `${indexed} of ${plans}`)
})

t.test('null in a nullable field is found by an index and without', async (t) => {
  const field = { type: 'number', nullable: true }
  for (const indexes of [[], ['price']]) {
    const keep = await createLorekeep({ backend: new MemoryBackend() })
    t.teardown(() => keep.close())
    await keep.objects.defineSchema({ name: 'things', fields: { price: field }, indexes })
    const values = [{ id: 'a', price: null }, { id: 'b' }, { id: 'c', price: 0 }]
    const metadata = { id: 'batch', user: 'alice', collection: 'c' }
    await keep.objects.import({ metadata, schema_name: 'things', values })
    const found = async (filters: JsonObject) => {
      const page = await keep.objects.query({ schema_name: 'things', filters })
      return page.objects
        .map(({ _id }) => _id)
        .sort()
        .join('')
    }
    t.equal(await found({ price: null }), 'ab')
    t.equal(await found({ price: { $ne: null } }), 'c')
    t.equal(await found({ price: { $type: 'null' } }), 'a')
    t.equal(await found({ price: { $exists: false } }), 'b')
    t.equal(await found({ price: { $gte: 0 } }), 'c')
    t.equal((await keep.objects.get('c', 'a'))?.['price'], null)
    const patched = await keep.objects.patch('c', 'c', { price: null })
    t.notOk('price' in (patched ?? {}), 'a patch takes it out')
  }
})

t.test('an index of mixed types keeps the order of BSON', async (t) => {
  const values = [null, undefined, -1, 2.5, 'A', 'b', false, true]
  const objects = values.map((a, id) => (a === undefined ? { id } : { id, a }))
  const store = await openWith(t, [...objects].reverse(), ['a'])
  const sorted = async (direction: 'asc' | 'desc') => {
    const query = { schema_name: 'things', sort: { a: direction } }
    t.equal((await store.explain(query)).sort, 'index')
    return (await store.query(query)).objects.map(({ _id }) => _id).join('')
  }
  t.equal(await sorted('asc'), '10234567')
  t.equal(await sorted('desc'), '76543210')
  await store.import({
    metadata: { id: 'more', user: 'alice', collection: 'c' },
    schema_name: 'things',
    values: [
      { id: 8, a: { x: 1 } },
      { id: 9, a: [[1]] },
    ],
  })
  const query = { schema_name: 'things', sort: { a: 'asc' } } as const
  t.equal((await store.explain(query)).sort, 'memory', 'objects and arrays have no key')
  const { objects: all } = await store.query(query)
  t.equal(all.map(({ _id }) => _id).join(''), '1023458967')
})

for (const { source, objects, answers } of sortFacts) {
  t.test(`pages and finds come in MongoDB's order: ${source}`, async (t) => {
    const store = await openWith(t, objects)
    for (const [sort, ids] of answers) {
      const query = { schema_name: 'things', sort }
      const paged: unknown[] = []
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined;) {
        isFirst = false
        const page = await store.query({
          ...query,
          limit: 2,
          ...(after !== undefined && { after }),
        })
        paged.push(...page.objects.map(({ _id }) => _id))
        after = page.next
      }
      t.equal(paged.join(' '), ids, `pages: ${JSON.stringify(sort)}`)
      const found: unknown[] = []
      for await (const { _id } of store.find(query)) found.push(_id)
      t.equal(found.join(' '), ids, `find: ${JSON.stringify(sort)}`)
    }
  })
}

t.test('a sort over two arrays of one object is refused, and told which', async (t) => {
  for (const [object, sort] of refusedSorts) {
    const store = await openWith(t, [{ id: 7, ...object }])
    const query = { schema_name: 'things', sort }
    const error = await store.query(query).catch((error: unknown) => error)
    t.match(error, { code: 'LK_QUERY', details: { errors: [{ path: 'sort' }] } })
    t.match(String(error), /'7'|"7"/)
    await t.rejects(store.find(query)[Symbol.asyncIterator]().next(), { code: 'LK_QUERY' })
    t.equal((await store.query({ ...query, limit: 0 })).total, 1, 'who only counts may')
    const apart = await store.query({ ...query, filters: { id: 8 } })
    t.equal(apart.total, 0, 'nor is what the filter leaves out sorted')
  }
})
