// The stores that objects are measured against, each given its fair best: statements prepared
// once, JSON text with expression indexes in SQLite, NeDB's own `_id` for the id.
//
// better-sqlite3 has to be built where it runs (sqlite-build.ts); without it its rows are skipped.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type * as Mingo from 'mingo'
import { inBatches, indexes, type Product } from './objects-data.js'
import { check, report } from './measure.js'

const require = createRequire(new URL('../../benchmarks/package.json', import.meta.url))

export const { Query: MingoQuery } = require('mingo') as typeof Mingo

// The two below come from benchmarks/node_modules alone, so their types are not there to compile
// against in a fresh clone: what is used of them is written down here.

interface Statement {
  run(...values: unknown[]): unknown
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  /** The first column of each row alone. */
  pluck(): Statement
}

interface Database {
  pragma(text: string): unknown
  exec(sql: string): void
  prepare(sql: string): Statement
  transaction<T>(work: (argument: T) => void): (argument: T) => void
  close(): void
}

export interface Nedb {
  loadDatabaseAsync(): Promise<void>
  ensureIndexAsync(options: { readonly fieldName: string }): Promise<void>
  insertAsync(documents: readonly object[]): Promise<unknown>
  countAsync(query: object): Promise<number>
  findAsync(query: object): PromiseLike<NedbProduct[]> & {
    limit(limit: number): PromiseLike<NedbProduct[]>
  }
  findOneAsync(query: object): PromiseLike<NedbProduct | null>
}

const NedbDatastore = require('@seald-io/nedb') as new (options: {
  readonly filename: string
}) => Nedb

export type NedbProduct = Omit<Product, 'id'> & { readonly _id: string }

const Sqlite = loadSqlite()

export const sqliteName = 'better-sqlite3'
export const nedbName = 'NeDB'

/** False where it could not be built. */
export const hasSqlite = Sqlite !== undefined

/** Reports the comparison, or that its peer was not there to be measured. */
export function reportOrSkip<T>(
  names: { readonly scenario: string; readonly peer: string },
  theirs: T | undefined,
  compare: (theirs: T) => void,
): void {
  if (theirs === undefined) report({ ...names, skipped: 'better-sqlite3 could not be built' })
  else compare(theirs)
}

/** A table of JSON text with both indexes, as durable as ours: a commit is on disk. */
export class SqlitePeer {
  readonly #database: Database
  readonly #insert: (batch: readonly Product[]) => void

  constructor(directory: string) {
    if (!Sqlite) throw new Error('better-sqlite3 is not there')
    this.#database = new Sqlite(join(directory, 'products.db'))
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma('synchronous = FULL')
    this.#database.exec('create table if not exists products (id text primary key, doc text)')
    for (const path of indexes) {
      this.#database.exec(
        `create index if not exists by_${path} on products (json_extract(doc, '$.${path}'))`,
      )
    }
    const insert = this.prepare('insert into products values (?, ?)')
    this.#insert = this.#database.transaction((batch) => {
      for (const product of batch) insert.run(product.id, JSON.stringify(product))
    })
  }

  prepare(sql: string): Statement {
    return this.#database.prepare(sql)
  }

  import(batch: readonly Product[]): void {
    this.#insert(batch)
  }

  count(): number {
    return this.prepare('select count(*) from products').pluck().get() as number
  }

  close(): void {
    this.#database.close()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

export function fillSqlite(directory: string, products: readonly Product[]): void {
  using sqlite = new SqlitePeer(directory)
  for (const batch of inBatches(products)) sqlite.import(batch)
  check(sqlite.count() === products.length, 'the rows in SQLite')
}

export async function openNedb(directory: string): Promise<Nedb> {
  const nedb = new NedbDatastore({ filename: join(directory, 'products.ndjson') })
  await nedb.loadDatabaseAsync()
  for (const fieldName of indexes) await nedb.ensureIndexAsync({ fieldName })
  return nedb
}

export function toNedb({ id, ...fields }: Product): NedbProduct {
  return { _id: id, ...fields }
}

export async function fillNedb(directory: string, products: readonly Product[]): Promise<Nedb> {
  const nedb = await openNedb(directory)
  for (const batch of inBatches(products)) await nedb.insertAsync(batch.map(toNedb))
  check((await nedb.countAsync({})) === products.length, 'the documents in NeDB')
  return nedb
}

function loadSqlite(): (new (file: string) => Database) | undefined {
  try {
    const Loaded = require('better-sqlite3') as new (file: string) => Database
    // The binary is loaded by the first database, not by require().
    new Loaded(':memory:').close()
    return Loaded
  } catch {
    return undefined
  }
}
