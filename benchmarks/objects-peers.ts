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

/** A table of JSON text with indexes, as durable as ours: a commit is on disk. */
export class SqlitePeer {
  readonly #database: Database
  readonly #insert: (batch: readonly Product[]) => void

  constructor(directory: string, paths: readonly string[] = indexes) {
    if (!Sqlite) throw new Error('better-sqlite3 is not there')
    this.#database = new Sqlite(join(directory, 'products.db'))
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma('synchronous = FULL')
    this.#database.exec('create table if not exists products (id text primary key, doc text)')
    for (const path of paths) {
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

  /** Tells its planner what lies in the indexes. */
  analyze(): void {
    this.#database.exec('analyze')
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

interface Text {
  readonly id: string
  readonly title: string
  readonly body: string
  readonly group: number
}

interface Asked {
  readonly match: string
  readonly group?: number
  readonly offset?: number
}

/** A table of JSON text, and an index of words over two of its fields: porter's stems, no accents. */
export class TextPeer {
  readonly #database: Database
  readonly #insert: (batch: readonly Text[]) => void
  readonly #questions: readonly Record<'count' | 'page', Statement>[]

  constructor(directory: string) {
    if (!Sqlite) throw new Error('better-sqlite3 is not there')
    this.#database = new Sqlite(join(directory, 'texts.db'))
    this.#database.pragma('journal_mode = WAL')
    this.#database.pragma('synchronous = FULL')
    this.#database.exec(`
      create table if not exists texts (n integer primary key, id text unique, doc text);
      create index if not exists by_group on texts (json_extract(doc, '$.group'));
      create virtual table if not exists words using fts5 (
        title, body, content = '', tokenize = "porter unicode61 remove_diacritics 2");
      insert into words (words, rank) values ('rank', 'bm25(3.0, 1.0)');`)
    const row = this.#database
      .prepare('insert into texts (id, doc) values (?, ?) returning n')
      .pluck()
    const words = this.#database.prepare('insert into words (rowid, title, body) values (?, ?, ?)')
    this.#insert = this.#database.transaction((batch) => {
      for (const text of batch) {
        words.run(row.get(text.id, JSON.stringify(text)), text.title, text.body)
      }
    })
    const joined = `from words join texts on n = words.rowid where words match ?`
    const inGroup = `${joined} and json_extract(doc, '$.group') = ?`
    const best = 'order by rank limit ? offset ?'
    this.#questions = [
      [`from words where words match ?`, joined],
      [inGroup, inGroup],
    ].map(([counted, found]) => ({
      count: this.#database.prepare(`select count(*) ${counted}`).pluck(),
      page: this.#database.prepare(`select doc ${found} ${best}`).pluck(),
    }))
  }

  import(batch: readonly Text[]): void {
    this.#insert(batch)
  }

  /** The best are parsed. Gives the total. */
  ask({ match, group, offset = 0 }: Asked, limit: number): number {
    const values = group === undefined ? [match] : [match, group]
    const { count, page } = this.#questions[values.length - 1] as Record<
      'count' | 'page',
      Statement
    >
    const total = count.get(...values) as number
    const docs = page.all(...values, limit, offset)
    const found = docs.map((doc) => JSON.parse(doc as string) as Text)
    check(found.length === Math.min(limit, Math.max(0, total - offset)), 'the page of FTS5')
    return total
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
