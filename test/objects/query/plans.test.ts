// Which objects are looked into for conditions that indexes answer together.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const schema_name = 'products'
const categories = 10
const prices = 1000

interface Product {
  readonly id: string
  readonly category: string
  readonly price: number
  readonly name: string
}

async function filled(t: Test, random: Random, objectCacheBytes?: number) {
  const keep = await createLorekeep({
    backend: new MemoryBackend(),
    ...(objectCacheBytes !== undefined && { objectCacheBytes }),
  })
  t.teardown(() => keep.close())
  const { objects } = keep
  await objects.defineSchema({
    name: schema_name,
    fields: {
      id: { type: 'string' },
      category: { type: 'string' },
      price: { type: 'integer' },
      name: { type: 'string' },
    },
    indexes: ['category', 'price', { text: ['name'] }],
  })
  const stored = new Map<string, Product>()
  const product = (n: number): Product => ({
    id: `p${n}`,
    category: `c${random.below(categories)}`,
    price: random.below(prices),
    name: `thing of ${random.below(100)} kinds`,
  })
  const store = async (products: readonly Product[]) => {
    const metadata = { id: 'batch', user: 'alice', collection: 'c' }
    await objects.import(
      { metadata, schema_name, values: products as never },
      { onDuplicate: 'replace' },
    )
    for (const one of products) stored.set(one.id, one)
  }
  const some = (count: number) => Array.from({ length: count }, () => random.below(20_000))
  for (let from = 0; from < 20_000; from += 1000) {
    await store(Array.from({ length: 1000 }, (_, n) => product(from + n)))
  }
  await store([...new Set(some(1500))].map(product))
  for (const n of new Set(some(500))) {
    await objects.delete('c', `p${n}`)
    stored.delete(`p${n}`)
  }
  return { objects, stored }
}

for (const [name, cacheBytes] of [
  ['in memory', undefined],
  ['out of memory', 512 * 1024],
] as const) {
  t.test(`${name}: what two indexes say together needs no object`, async (t) => {
    const seed = pickSeed()
    t.comment(`seed ${seed}`)
    const random = new Random(seed)
    const { objects, stored } = await filled(t, random, cacheBytes)
    for (let n = 0; n < 20; n++) {
      const category = `c${random.below(categories)}`
      const isNarrow = n < 10
      const low = random.below(prices - 20)
      const high = low + (isNarrow ? 20 : random.below(prices))
      const filters = { category, price: { $gte: low, $lt: high } }
      const matching = [...stored.values()].filter(
        (one) => one.category === category && one.price >= low && one.price < high,
      )
      const query = { schema_name, filters, limit: 5 }
      const { plan, total, objectsRead } = await objects.explain(query)
      t.equal(total, matching.length, `${category} [${low}, ${high})`)
      if (isNarrow) {
        t.equal(plan, 'intersection')
        t.equal(objectsRead, Math.min(5, total), 'those of the page')
      }
      const found: unknown[] = []
      for await (const { id } of objects.find({ schema_name, filters })) found.push(id)
      t.strictSame(found.sort(), matching.map(({ id }) => id).sort())
    }
  })
}

t.test('of what a text finds, what an index says is looked up where that costs less', async (t) => {
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const random = new Random(seed)
  const { objects, stored } = await filled(t, random, 512 * 1024)
  for (let n = 0; n < 10; n++) {
    const kind = random.below(100)
    const category = `c${random.below(categories)}`
    // At least a fifth of all: those that would be left are more than looking at the category costs.
    const low = random.below((prices * 4) / 5)
    const matching = [...stored.values()].filter(
      (one) => one.category === category && one.price >= low && one.name.includes(` ${kind} `),
    )
    const filters = { $text: { $search: `${kind}` }, category, price: { $gte: low } }
    const { total, indexes, objectsRead } = await objects.explain({
      schema_name,
      filters,
      limit: 0,
    })
    t.equal(total, matching.length, `${kind} ${category} ${low}`)
    // 200 are of a kind, in as many blocks; 2,000 are of a category.
    t.ok(indexes.some(({ path }) => path === 'category'))
    t.ok(objectsRead <= 100, `${objectsRead} objects`)
  }
})

t.test('an index of few objects beside a text leaves others out', async (t) => {
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const random = new Random(seed)
  const { objects, stored } = await filled(t, random, 512 * 1024)
  const kind = random.below(100)
  const category = `c${random.below(categories)}`
  const filters = { $text: { $search: `${kind}` }, category, price: { $gte: prices - 1 } }
  const { total, indexes } = await objects.explain({ schema_name, filters, limit: 0 })
  const matching = [...stored.values()].filter(
    (one) => one.category === category && one.price >= prices - 1 && one.name.includes(` ${kind} `),
  )
  t.equal(total, matching.length)
  t.ok(indexes.some(({ path }) => path === 'price'))
  t.notOk(
    indexes.some(({ path }) => path === 'category'),
    'the one or two that are left are looked at',
  )
})

t.test('of what a text finds, what any of two indexes gives is looked up', async (t) => {
  const seed = pickSeed()
  t.comment(`seed ${seed}`)
  const random = new Random(seed)
  const { objects, stored } = await filled(t, random, 512 * 1024)
  for (let n = 0; n < 10; n++) {
    const category = `c${random.below(categories)}`
    const low = prices - 1 - random.below(50)
    const matching = [...stored.values()].filter(
      (one) => one.category === category || one.price >= low,
    )
    const filters = { $text: { $search: 'thing' }, $or: [{ category }, { price: { $gte: low } }] }
    const query = { schema_name, filters, limit: 5 }
    const { plan, total, objectsRead } = await objects.explain(query)
    t.equal(plan, 'text')
    t.equal(total, matching.length, `${category} or ${low}`)
    t.equal(objectsRead, 5, 'those of the page')
  }
})

t.test('a page goes on where the last object without a key in its index is gone', async (t) => {
  for (const direction of ['asc', 'desc'] as const) {
    const keep = await createLorekeep({ backend: new MemoryBackend() })
    t.teardown(() => keep.close())
    const { objects } = keep
    await objects.defineSchema({
      name: 's',
      fields: { id: { type: 'string' }, tags: { type: 'any' } },
      indexes: ['tags'],
    })
    const tags = direction === 'asc' ? [[], 'p', 'q'] : ['q', { of: 1 }, 'p'].reverse()
    const values = tags.map((tags, n) => ({ id: `o${n}`, tags }))
    const metadata = { id: 'b', user: 'u', collection: 'c' }
    await objects.import({ metadata, schema_name: 's', values: values as never })
    const query = { schema_name: 's', sort: { tags: direction } }
    const whole = (await objects.query(query)).objects.map(({ id }) => id)
    const irregular = values.find(({ tags }) => typeof tags !== 'string')?.id as string
    const first = await objects.query({ ...query, limit: whole.indexOf(irregular) + 1 })
    t.equal(first.objects.at(-1)?.id, irregular)
    await objects.delete('c', irregular)
    const second = await objects.query({ ...query, after: first.next as string })
    t.strictSame(
      second.objects.map(({ id }) => id),
      whole.slice(whole.indexOf(irregular) + 1),
    )
    const found = []
    for await (const { id } of objects.find({ ...query, after: first.next as string }))
      found.push(id)
    t.strictSame(found, whole.slice(whole.indexOf(irregular) + 1))
  }
})

t.test('numbers of an index may lie further apart than a number can say', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { objects } = keep
  await objects.defineSchema({
    name: 's',
    fields: { id: { type: 'string' }, x: { type: 'number' } },
    indexes: ['x'],
  })
  const values = [-1e308, 0, 1e308, 1.5e308].map((x, n) => ({ id: 'abcd'[n] as string, x }))
  const metadata = { id: 'b', user: 'u', collection: 'c' }
  await objects.import({ metadata, schema_name: 's', values })
  const ids = async (query: object) => {
    const { objects: page, total } = await objects.query({ schema_name: 's', ...query })
    return `${total} ${page.map(({ id }) => id).join('')}`
  }
  t.equal(await ids({ filters: { x: 1e308 } }), '1 c')
  t.equal(await ids({ filters: { x: { $gte: 1e308 } } }), '2 cd')
  t.equal(await ids({ filters: { x: { $lt: 1e308 } } }), '2 ab')
  const { next } = await objects.query({ schema_name: 's', sort: { x: 'asc' }, limit: 3 })
  t.equal(await ids({ sort: { x: 'asc' }, after: next }), '4 d')
})
