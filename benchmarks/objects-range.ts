// A page of 100 and the exact total of about 10,000 products in a range of prices, another range
// each time, against SQLite's count(*) and page over its expression index, and against NeDB.

import type { Lorekeep } from '../src/index.js'
import { Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import {
  checkProduct,
  createProducts,
  importOf,
  inBatches,
  schema,
  type Product,
} from './objects-data.js'
import {
  fillNedb,
  fillSqlite,
  hasSqlite,
  nedbName,
  reportOrSkip,
  sqliteName,
  SqlitePeer,
  type Nedb,
} from './objects-peers.js'
import { measureOpening } from './objects-opening.js'
import { fillNeeded, rangesName, rangesNeeded, type PriceRange } from './objects-needed.js'
import { fillOurs, openOurs, withOurs } from './objects-store.js'

const rounds = 9
const count = 100_000
const queries = 3000
const firstQueries = 300
const limit = 100
/** NeDB is asked one query of so many, and its time multiplied. */
const nedbShare = 50

await bench.inDirectory(async (directory) => {
  bench.note('objects-range: filling the stores')
  const products = createProducts(count)
  await fillOurs(directory, products)
  if (hasSqlite) fillSqlite(directory, products)
  await measureReopening(directory)
  await measureOpening(directory, '100,000 objects', 10)
  await bench.inDirectory((raw) => measureFirst(directory, raw, products))
  await measureWarm(directory, await fillNedb(directory, products))
})

async function measureReopening(directory: string): Promise<void> {
  bench.note('  reopening')
  const { ours, sqlite } = await bench.interleave(rounds, {
    ours: () => bench.seconds(async () => (await openOurs(directory)).close()),
    ...(hasSqlite && { sqlite: () => bench.seconds(() => new SqlitePeer(directory).close()) }),
  })
  const names = { scenario: 'open and close, 100,000 objects', peer: sqliteName }
  reportOrSkip(names, sqlite, (theirs) =>
    bench.report(bench.compareOperations(names, { count: 1, unit: 'opens/s' }, ours, theirs)),
  )
}

/** What a user meets who asks for the first time: nothing of it was read before. */
async function measureFirst(
  directory: string,
  raw: string,
  products: readonly Product[],
): Promise<void> {
  bench.note(`  first ${firstQueries} queries`)
  const asking = (keep: Lorekeep, round: number) =>
    bench.seconds(() => queryOurs(keep, createRanges(round, firstQueries)))
  const askingSqlite = (sqlite: SqlitePeer, round: number) =>
    bench.seconds(() => querySqlite(sqlite, createRanges(round, firstQueries)))
  await fillNeeded(raw, products)
  const needed = (round: number) =>
    rangesNeeded(raw, createRanges(round, firstQueries), limit, checkPage)
  const reopened = await bench.interleave(rounds, {
    ours: async (round) => {
      await using keep = await openOurs(directory)
      return await asking(keep, round)
    },
    needed,
    ...(hasSqlite && {
      sqlite: async (round: number) => {
        using sqlite = new SqlitePeer(directory)
        return await askingSqlite(sqlite, round)
      },
    }),
  })
  reportFirst('after reopening', reopened)
  const batches = inBatches(products)
  const imported = await bench.interleave(rounds, {
    needed,
    ours: (round) =>
      withOurs(async (keep) => {
        for (const [n, values] of batches.entries()) await keep.objects.import(importOf(values, n))
        return asking(keep, round)
      }),
    ...(hasSqlite && {
      sqlite: (round: number) =>
        bench.inDirectory(async (directory) => {
          using sqlite = new SqlitePeer(directory)
          for (const batch of batches) sqlite.import(batch)
          return await askingSqlite(sqlite, round)
        }),
    }),
  })
  reportFirst('after an import', imported)
}

function reportFirst(
  when: string,
  times: {
    readonly ours: readonly number[]
    readonly needed: readonly number[]
    readonly sqlite?: readonly number[]
  },
): void {
  const { ours, needed, sqlite } = times
  const scenario = `range query, first ${firstQueries} ${when}`
  const operations = { count: firstQueries, unit: 'queries/s' }
  const toSqlite = { scenario, peer: sqliteName }
  reportOrSkip(toSqlite, sqlite, (theirs) =>
    bench.report(bench.compareOperations(toSqlite, operations, ours, theirs, { least: 1 })),
  )
  const toNeeded = { scenario, peer: rangesName }
  bench.report(bench.compareOperations(toNeeded, operations, ours, needed, { least: 0.8 }))
}

async function measureWarm(directory: string, nedb: Nedb): Promise<void> {
  bench.note(`  ${queries} queries`)
  await using keep = await openOurs(directory)
  using sqlite = hasSqlite ? new SqlitePeer(directory) : undefined
  await verify(keep)
  const { ours, parsed, unparsed, theirs } = await bench.interleave(rounds, {
    ours: (round) => bench.seconds(() => queryOurs(keep, createRanges(round, queries))),
    ...(sqlite && {
      parsed: (round: number) =>
        bench.seconds(() => querySqlite(sqlite, createRanges(round, queries))),
      unparsed: (round: number) =>
        bench.seconds(() => querySqlite(sqlite, createRanges(round, queries), false)),
    }),
    theirs: async (round) => {
      const ranges = createRanges(round, queries / nedbShare)
      return nedbShare * (await bench.seconds(() => queryNedb(nedb, ranges)))
    },
  })
  const scenario = 'range query, page of 100 and total'
  const operations = { count: queries, unit: 'queries/s' }
  const toParsed = { scenario, peer: `${sqliteName}, rows parsed` }
  reportOrSkip(toParsed, parsed, (theirs) =>
    bench.report(bench.compareOperations(toParsed, operations, ours, theirs, { least: 3 })),
  )
  const toUnparsed = { scenario, peer: `${sqliteName}, rows left as text` }
  reportOrSkip(toUnparsed, unparsed, (theirs) =>
    bench.report(bench.compareOperations(toUnparsed, operations, ours, theirs)),
  )
  const toNedb = { scenario, peer: nedbName }
  bench.report(bench.compareOperations(toNedb, operations, ours, theirs, { least: 10 }))
}

/** Prices are all whole cents, each once: a range of so many cents has so many products. */
function createRanges(round: number, length: number): PriceRange[] {
  const random = new Random(1000 + round)
  return Array.from({ length }, () => {
    const total = 9500 + random.below(1001)
    const low = random.below(count - total)
    return { low: low / 100, high: (low + total) / 100, total }
  })
}

async function queryOurs(keep: Lorekeep, ranges: readonly PriceRange[]): Promise<void> {
  for (const range of ranges) {
    const { low, high } = range
    const filters = { price: { $gte: low, $lt: high } }
    const page = await keep.objects.query({ schema_name: schema.name, filters, limit })
    checkPage(page.objects, page.total, range)
  }
}

function querySqlite(sqlite: SqlitePeer, ranges: readonly PriceRange[], parse = true): void {
  const where = `from products
    where json_extract(doc, '$.price') >= ? and json_extract(doc, '$.price') < ?`
  const count = sqlite.prepare(`select count(*) ${where}`).pluck()
  const select = sqlite.prepare(`select doc ${where} limit ${limit}`).pluck()
  for (const range of ranges) {
    const total = count.get(range.low, range.high)
    const rows = select.all(range.low, range.high) as string[]
    if (parse)
      checkPage(
        rows.map((row) => JSON.parse(row) as Product),
        total,
        range,
      )
    else bench.check(rows.length === limit && total === range.total, 'the page in SQLite')
  }
}

async function queryNedb(nedb: Nedb, ranges: readonly PriceRange[]): Promise<void> {
  for (const range of ranges) {
    const query = { price: { $gte: range.low, $lt: range.high } }
    const total = await nedb.countAsync(query)
    checkPage(await nedb.findAsync(query).limit(limit), total, range)
  }
}

/** As cheap as it can be, because it is measured along, alike for all. */
function checkPage(page: readonly object[], total: unknown, { low, high, ...range }: PriceRange) {
  let fitting = 0
  for (const found of page) {
    const { price } = found as { readonly price: unknown }
    if (typeof price === 'number' && price >= low && price < high) fitting++
  }
  bench.check(fitting === limit && page.length === limit, `the page of [${low}, ${high})`)
  bench.check(total === range.total, `the total of [${low}, ${high}): ${String(total)}`)
}

/** Every field of what comes back, and, in the order of the index, which products they are. */
async function verify(keep: Lorekeep): Promise<void> {
  for (const { low, high } of createRanges(0, 20)) {
    const { objects } = await keep.objects.query({
      schema_name: schema.name,
      filters: { price: { $gte: low, $lt: high } },
      sort: { price: 'asc' },
      limit,
    })
    for (const [n, object] of objects.entries()) {
      checkProduct(object, object['_id'])
      bench.check(object['price'] === (Math.round(low * 100) + n) / 100, 'the order of the index')
    }
    bench.check(objects.length === limit, 'the length of the page')
  }
}
