// Products by id, in random order, against SQLite's row and JSON.parse, and against NeDB.

import type { Lorekeep } from '../src/index.js'
import { Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import { checkProduct, collection, createProducts, idOf } from './objects-data.js'
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
import { fillOurs, openOurs } from './objects-store.js'

const rounds = 9
const count = 100_000
const gets = 100_000
/** How many gets are awaited together in the line that measures that. */
const atOnce = 16

await bench.inDirectory(async (directory) => {
  bench.note('objects-get: filling the stores')
  const products = createProducts(count)
  await fillOurs(directory, products)
  if (hasSqlite) fillSqlite(directory, products)
  await measure(directory, await fillNedb(directory, products))
})

async function measure(directory: string, nedb: Nedb): Promise<void> {
  await using keep = await openOurs(directory)
  using sqlite = hasSqlite ? new SqlitePeer(directory) : undefined
  for (const id of createIds(0, 1000)) checkProduct(await keep.objects.get(collection, id), id)
  bench.check(
    (await keep.objects.get(collection, idOf(count))) === undefined,
    'an id that is not there',
  )
  const { ours, together, theirs, text, nedbs } = await bench.interleave(rounds, {
    ours: (round) => measureIds(round, (ids) => getOurs(keep, ids)),
    together: (round) => measureIds(round, (ids) => getTogether(keep, ids)),
    ...(sqlite && {
      theirs: (round: number) => measureIds(round, (ids) => getSqlite(sqlite, ids)),
      text: (round: number) => measureIds(round, (ids) => getText(sqlite, ids)),
    }),
    nedbs: (round) => measureIds(round, (ids) => getNedb(nedb, ids)),
  })
  const operations = { count: gets, unit: 'gets/s' }
  const scenario = 'get by id, at random'
  const toSqlite = { scenario, peer: `${sqliteName}, rows parsed` }
  reportOrSkip(toSqlite, theirs, (theirs) =>
    bench.report(bench.compareOperations(toSqlite, operations, ours, theirs, { least: 1.2 })),
  )
  const toText = { scenario, peer: `${sqliteName}, rows left as text` }
  reportOrSkip(toText, text, (theirs) =>
    bench.report(bench.compareOperations(toText, operations, ours, theirs)),
  )
  const toNedb = { scenario, peer: nedbName }
  bench.report(bench.compareOperations(toNedb, operations, ours, nedbs))
  const names = { scenario: `${scenario}, ${atOnce} at once`, peer: `${sqliteName}, rows parsed` }
  reportOrSkip(names, theirs, (theirs) =>
    bench.report(bench.compareOperations(names, operations, together, theirs)),
  )
}

/** The ids are made before the clock starts. */
function measureIds(round: number, work: (ids: readonly string[]) => unknown): Promise<number> {
  const ids = createIds(round, gets)
  return bench.seconds(() => work(ids))
}

function createIds(round: number, length: number): string[] {
  const random = new Random(1000 + round)
  return Array.from({ length }, () => idOf(random.below(count)))
}

async function getOurs(keep: Lorekeep, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const found = await keep.objects.get(collection, id)
    bench.check(found !== undefined && found['id'] === id, 'the product')
  }
}

async function getTogether(keep: Lorekeep, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += atOnce) {
    const some = ids.slice(at, at + atOnce)
    const found = await Promise.all(some.map((id) => keep.objects.get(collection, id)))
    for (const [n, id] of some.entries()) bench.check(found[n]?.['id'] === id, 'the product')
  }
}

function getSqlite(sqlite: SqlitePeer, ids: readonly string[]): void {
  const select = sqlite.prepare('select doc from products where id = ?').pluck()
  for (const id of ids) {
    const found = JSON.parse(select.get(id) as string) as { readonly id: string }
    bench.check(found.id === id, 'the product in SQLite')
  }
}

function getText(sqlite: SqlitePeer, ids: readonly string[]): void {
  const select = sqlite.prepare('select doc from products where id = ?').pluck()
  for (const id of ids) bench.check(typeof select.get(id) === 'string', 'the row in SQLite')
}

async function getNedb(nedb: Nedb, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const found = await nedb.findOneAsync({ _id: id })
    bench.check(found?._id === id, 'the product in NeDB')
  }
}
