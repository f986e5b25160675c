// Filters that no index answers, over 100,000 products, with a page of 100 and the exact total:
// against SQLite's json_extract, and against mingo over objects that are parsed already.

import type { Filters, Lorekeep } from '../src/index.js'
import { Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import { checkProduct, createProducts, schema, type Product } from './objects-data.js'
import {
  fillSqlite,
  hasSqlite,
  MingoQuery,
  reportOrSkip,
  sqliteName,
  SqlitePeer,
} from './objects-peers.js'
import { fillOurs, openOurs } from './objects-store.js'

const rounds = 7
const count = 100_000
const queries = 10
const limit = 100

interface Case {
  readonly name: string
  readonly targets: boolean
  /** Another number each time, so that no answer can be kept from the time before. */
  filters(n: number): Filters
  readonly where: string
  values(n: number): readonly unknown[]
  matches(product: Product, n: number): boolean
}

const stock: Case = {
  name: 'filter, stock > n',
  targets: true,
  filters: (n) => ({ stock: { $gt: 449 - n } }),
  where: "json_extract(doc, '$.stock') > ?",
  values: (n) => [449 - n],
  matches: ({ stock }, n) => stock > 449 - n,
}

const nameAndActive: Case = {
  name: 'filter, active and a range of names',
  targets: false,
  filters: (n) => ({ active: true, name: { $gte: `Oak ${n}`, $lt: 'Paper' } }),
  where: `json_extract(doc, '$.active') = 1
    and json_extract(doc, '$.name') >= ? and json_extract(doc, '$.name') < ?`,
  values: (n) => [`Oak ${n}`, 'Paper'],
  matches: ({ active, name }, n) => active && name >= `Oak ${n}` && name < 'Paper',
}

await bench.inDirectory(async (directory) => {
  bench.note('objects-filter: filling the stores')
  const products = createProducts(count)
  await fillOurs(directory, products)
  if (hasSqlite) fillSqlite(directory, products)
  await measureCold(directory, expect(products, stock))
  for (const chosen of [stock, nameAndActive]) await measureWarm(directory, products, chosen)
})

interface Expected extends Case {
  readonly totals: readonly number[]
}

function expect(products: readonly Product[], chosen: Case): Expected {
  const totals = Array.from(
    { length: queries },
    (_, n) => products.filter((product) => chosen.matches(product, n)).length,
  )
  return { ...chosen, totals }
}

async function measureCold(directory: string, expected: Expected): Promise<void> {
  bench.note('  first query after reopening')
  const { ours, sqlite } = await bench.interleave(rounds, {
    ours: async () => {
      await using keep = await openOurs(directory)
      return await bench.seconds(() => queryOurs(keep, expected, [0]))
    },
    ...(hasSqlite && {
      sqlite: async () => {
        using sqlite = new SqlitePeer(directory)
        return await bench.seconds(() => querySqlite(sqlite, expected, [0]))
      },
    }),
  })
  const names = { scenario: `${expected.name}, first after reopening`, peer: sqliteName }
  reportOrSkip(names, sqlite, (theirs) =>
    bench.report(bench.compareOperations(names, { count: 1, unit: 'queries/s' }, ours, theirs)),
  )
}

async function measureWarm(directory: string, products: readonly Product[], chosen: Case) {
  bench.note(`  ${chosen.name}`)
  const expected = expect(products, chosen)
  await using keep = await openOurs(directory)
  using sqlite = hasSqlite ? new SqlitePeer(directory) : undefined
  await verify(keep, expected)
  const { ours, theirs, mingo } = await bench.interleave(rounds, {
    ours: (round) => bench.seconds(() => queryOurs(keep, expected, createOrder(round))),
    ...(sqlite && {
      theirs: (round: number) =>
        bench.seconds(() => querySqlite(sqlite, expected, createOrder(round))),
    }),
    mingo: (round) => bench.seconds(() => queryMingo(products, expected, createOrder(round))),
  })
  const scenario = `${expected.name}, page of 100 and total`
  const operations = { count: queries, unit: 'queries/s' }
  const target = (least: number) => (chosen.targets ? { least } : undefined)
  const toSqlite = { scenario, peer: `${sqliteName}, json_extract` }
  reportOrSkip(toSqlite, theirs, (theirs) =>
    bench.report(bench.compareOperations(toSqlite, operations, ours, theirs, target(1))),
  )
  const toMingo = { scenario, peer: 'mingo over parsed objects' }
  bench.report(bench.compareOperations(toMingo, operations, ours, mingo, target(2)))
}

function createOrder(round: number): number[] {
  return new Random(1000 + round).shuffle(Array.from({ length: queries }, (_, n) => n))
}

async function queryOurs(keep: Lorekeep, expected: Expected, order: readonly number[]) {
  for (const n of order) {
    const filters = expected.filters(n)
    const { objects, total } = await keep.objects.query({
      schema_name: schema.name,
      filters,
      limit,
    })
    checkPage(objects, total, expected, n)
  }
}

function querySqlite(sqlite: SqlitePeer, expected: Expected, order: readonly number[]): void {
  const count = sqlite.prepare(`select count(*) from products where ${expected.where}`).pluck()
  const select = sqlite
    .prepare(`select doc from products where ${expected.where} limit ${limit}`)
    .pluck()
  for (const n of order) {
    const total = count.get(...expected.values(n)) as number
    const rows = select.all(...expected.values(n)) as string[]
    checkPage(
      rows.map((row) => JSON.parse(row) as Product),
      total,
      expected,
      n,
    )
  }
}

function queryMingo(products: readonly Product[], expected: Expected, order: readonly number[]) {
  for (const n of order) {
    const found = new MingoQuery(expected.filters(n)).find<Product>(products as Product[]).all()
    checkPage(found.slice(0, limit), found.length, expected, n)
  }
}

function checkPage(page: readonly object[], total: number, expected: Expected, n: number): void {
  let fitting = 0
  for (const found of page) if (expected.matches(found as Product, n)) fitting++
  bench.check(fitting === limit && page.length === limit, `the page of ${expected.name} ${n}`)
  bench.check(total === expected.totals[n], `the total of ${expected.name} ${n}: ${total}`)
}

/** Every match once, with every field. */
async function verify(keep: Lorekeep, expected: Expected): Promise<void> {
  const ids = new Set<unknown>()
  for await (const object of keep.objects.find({
    schema_name: schema.name,
    filters: expected.filters(0),
  })) {
    checkProduct(object, object._id)
    bench.check(expected.matches(object as unknown as Product, 0), 'that it matches')
    ids.add(object._id)
  }
  bench.check(ids.size === expected.totals[0], 'the matches read back')
}
