// Durable imports of 100,000 products in batches of 1,000, ours validated and with both indexes,
// against the same in SQLite and NeDB. NeDB validates nothing and does not sync.

import { Random } from '../test/fixtures/random.js'
import * as bench from './measure.js'
import type { Target } from './measure.js'
import { createProducts, importOf, inBatches, type Product } from './objects-data.js'
import {
  hasSqlite,
  nedbName,
  openNedb,
  reportOrSkip,
  sqliteName,
  SqlitePeer,
  toNedb,
} from './objects-peers.js'
import { importName, importNeeded } from './objects-needed.js'
import { checkOurs, withOurs } from './objects-store.js'

const rounds = 7
const count = 100_000

const products = createProducts(count)
bench.note(`objects-import: ${Math.round(JSON.stringify(products).length / count)} bytes an object`)
await measure('ids in order', inBatches(products), { sqlite: { least: 1.5 }, nedb: { least: 3 } })
await measure('ids at random', inBatches(new Random(1).shuffle(products)))

async function measure(
  order: string,
  batches: readonly (readonly Product[])[],
  targets: { readonly sqlite?: Target; readonly nedb?: Target } = {},
): Promise<void> {
  bench.note(`  ${order}`)
  const documents = batches.map((batch) => batch.map(toNedb))
  const { ours, ours4, needed, sqlite, nedb } = await bench.interleave(rounds, {
    ours: (round) => importOurs(batches, 1, isChecked(round)),
    ours4: (round) => importOurs(batches, 4, isChecked(round)),
    needed: () => importNeeded(batches),
    ...(hasSqlite && { sqlite: () => importSqlite(batches) }),
    nedb: () => importNedb(documents),
  })
  const operations = { count, unit: 'objects/s' }
  for (const [flight, times, isTarget] of [
    ['', ours, true],
    [', 4 at once', ours4, false],
  ] as const) {
    const scenario = `import objects, ${order}${flight}`
    const target = (name: 'sqlite' | 'nedb') => (isTarget ? targets[name] : undefined)
    const toSqlite = { scenario, peer: `${sqliteName}, JSON text, synchronous=FULL` }
    reportOrSkip(toSqlite, sqlite, (theirs) =>
      bench.report(bench.compareOperations(toSqlite, operations, times, theirs, target('sqlite'))),
    )
    if (isTarget) {
      const toNeeded = { scenario, peer: importName }
      bench.report(bench.compareOperations(toNeeded, operations, times, needed, { least: 0.8 }))
    }
    const toNeDB = { scenario, peer: `${nedbName}, not synced` }
    bench.report(bench.compareOperations(toNeDB, operations, times, nedb, target('nedb')))
  }
}

/** Everything is read back before the first round that counts, and after the last. */
function isChecked(round: number): boolean {
  return round === -1 || round === rounds - 1
}

function importOurs(
  batches: readonly (readonly Product[])[],
  atOnce: number,
  readBack: boolean,
): Promise<number> {
  return withOurs(async (keep) => {
    const requests = batches.map((values, n) => importOf(values, n))
    let imported = 0
    const time = await bench.seconds(async () => {
      const queue = requests.values()
      const work = async () => {
        for (const request of queue) {
          const result = await keep.objects.import(request)
          imported += result.imported
        }
      }
      await Promise.all(Array.from({ length: atOnce }, work))
    })
    bench.check(imported === count, 'how many were imported')
    if (readBack) await checkOurs(keep, count)
    return time
  })
}

function importSqlite(batches: readonly (readonly Product[])[]): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const sqlite = new SqlitePeer(directory)
    const time = await bench.seconds(() => {
      for (const batch of batches) sqlite.import(batch)
    })
    bench.check(sqlite.count() === count, 'the rows in SQLite')
    sqlite.close()
    return time
  })
}

function importNedb(batches: readonly (readonly object[])[]): Promise<number> {
  return bench.inDirectory(async (directory) => {
    const nedb = await openNedb(directory)
    const time = await bench.seconds(async () => {
      for (const batch of batches) await nedb.insertAsync(batch)
    })
    bench.check((await nedb.countAsync({})) === count, 'the documents in NeDB')
    return time
  })
}
