// What can be read of damaged objects, written anew: rows get new references in the order of the old
// ones, blocks and indexes are made of them. Held are 8 bytes for each object, and the keys of a run.

import { randomBytes } from 'node:crypto'
import { encodeRecord } from '../record.js'
import type { Operation, Storage } from '../storage.js'
import type { Finding, Source } from '../verify/finding.js'
import { Numbers, placeOf } from '../verify/numbers.js'
import { Reading, tupleOf } from '../verify/reading.js'
import { givenOut, tupleText, type Report } from '../verify/report.js'
import { Block, blockRows, encodeBlocks, placeOfBlock, type Row } from './engine/block.js'
import { placesOf, recordOfBlocks, regroup } from './engine/block-groups.js'
import { EntryPage, noEntries, sortEntries, sortWords } from './engine/entries.js'
import { newKeys, type KeyList } from './engine/key-list.js'
import { IdHash } from './engine/hash.js'
import { indexOf, maxRunEntries, mergeChange, type Index } from './engine/index-runs.js'
import type { EntryPages } from './engine/list.js'
import {
  allBlocks,
  allCollections,
  allPages,
  allRetired,
  allSchemas,
  blocksKey,
  collectionKey,
  formatKey,
  formatVersion,
  headKey,
  idIndex,
  pageKey,
  runKey,
  schemaKey,
  type BlocksRecord,
  type CollectionRecord,
  type HeadRecord,
  type RetiredRecord,
  type SchemaRecord,
} from './engine/records.js'
import { refOf, tableOf } from './engine/ref.js'
import { collectKeys } from './engine/row-keys.js'
import { RowShapes } from './engine/row-shapes.js'
import type { BlockPlace } from './engine/state.js'
import { parseSchemaDefinition } from './schema/definition.js'
import type { IndexDefinition } from './types.js'
import { compileSchema, type CompiledSchema } from './schema/schema.js'
import { loadValidators } from './schema/validators.js'
import {
  blockText,
  isCollectionRecord,
  isTable,
  otherSchema,
  problemsOf,
  rowsIn,
} from './verify/rows.js'

export interface SalvagedObjects {
  schemas: number
  collections: number
  objects: number
}

/** Entries of a run that is written: it is sorted in memory, and shorter ones would all be merged by one commit. */
const runEntries = maxRunEntries

interface TableDraft {
  readonly number: number
  readonly schema: CompiledSchema
  readonly indexes: readonly IndexDraft[]
  rows: Row[]
  /** Of blocks that are written. */
  readonly places: BlockPlace[]
}

/** Blocks of a table whose record cannot be read: where it began, and the next one begins. */
interface LostBlocks {
  readonly table: number
  readonly first: number
  end: number
}

interface IndexDraft {
  readonly of: Index
  added: KeyList
  irregular: number
  runs: number
}

/** Gives out what it leaves behind, or corrects, as it comes to it. */
export async function* salvageObjects(
  from: Source,
  to: Storage,
  report: Report,
): AsyncGenerator<Finding, SalvagedObjects, undefined> {
  const salvage = new ObjectSalvage(from, to, report)
  yield* givenOut(salvage.run(), report)
  return salvage.kept
}

class ObjectSalvage {
  readonly kept: SalvagedObjects = { schemas: 0, collections: 0, objects: 0 }
  readonly #reading: Reading
  readonly #to: Storage
  readonly #report: Report
  readonly #tables = new Map<number, TableDraft>()
  readonly #collections = new Map<
    string,
    { record: CollectionRecord; counts: Map<string, number> }
  >()
  readonly #ids: IndexDraft = indexDraft(idIndex, '_id')
  readonly #shapes = new RowShapes()
  /** Pages of blocks. */
  readonly #named = new Numbers()
  #hashKey = randomBytes(8).toString('hex')
  #hash = new IdHash(this.#hashKey)
  #nextRow = 1
  #nextPage = 1
  #nextIndex = 1

  constructor(from: Source, to: Storage, report: Report) {
    this.#reading = new Reading('objects', from, report)
    this.#to = to
    this.#report = report
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    yield* this.#readRecords()
    const newest = await this.#newestOfTwins()
    let last: TableDraft | undefined
    for await (const { table, rows } of this.#blocks(true)) {
      yield
      // Records of blocks come table by table; what no record names comes behind them, in any order.
      if (table.number > (last?.number ?? -1)) {
        if (last !== undefined) await this.#writeRuns(last)
        last = table
      }
      for (const row of rows) {
        const twins = newest.get(nameOf(row))
        if (twins !== undefined && twins !== row.ref) continue
        // The same version may lie in an old block and in a new one.
        if (twins !== undefined) newest.set(nameOf(row), -1)
        await this.#add(table, row)
      }
    }
    yield* this.#tellUnnamed()
    for (const table of this.#tables.values()) await this.#writeRows(table)
    for (const table of this.#tables.values()) await this.#writeRuns(table)
    await this.#writeRun(this.#ids)
    await this.#writeRecords()
  }

  #lost(what: string, message: string): void {
    this.#report.error('objects', 'lost', what, message)
  }

  async *#readRecords(): AsyncGenerator<void, void, undefined> {
    await loadValidators()
    const value = await this.#reading.get(headKey())
    const head = value && this.#reading.record<HeadRecord>({ key: headKey(), value })
    if (/^[0-9a-f]{16}$/.test(String(head?.hashKey))) {
      this.#hashKey = String(head?.hashKey)
      this.#hash = new IdHash(this.#hashKey)
    }
    for await (const entry of this.#reading.entries(allSchemas())) {
      yield
      const [name] = tupleOf<[string]>(entry.key, 's') ?? []
      const record = this.#reading.record<SchemaRecord>(entry)
      if (record === undefined || name === undefined) continue
      try {
        const { table } = record
        const schema = compileSchema(parseSchemaDefinition(record.definition))
        if (schema.definition.name !== name) {
          throw new Error(`it is the schema '${schema.definition.name}'`)
        }
        if (!isTable(table)) throw new Error('it has no table')
        const other = this.#tables.get(table)?.schema.definition.name
        if (other !== undefined) throw new Error(`it has the table ${table} of '${other}'`)
        const defined = schema.definition.indexes
        const indexes = defined.map((index) => indexDraft(this.#nextIndex++, index))
        this.#tables.set(table, { number: table, schema, indexes, rows: [], places: [] })
        this.kept.schemas++
      } catch (error) {
        this.#reading.damaged(entry.key, (error as Error).message)
      }
    }
    for await (const entry of this.#reading.entries(allCollections())) {
      const [name] = tupleOf<[string]>(entry.key, 's') ?? []
      const record = this.#reading.record<CollectionRecord>(entry)
      if (name !== undefined && record !== undefined) {
        if (isCollectionRecord(record)) this.#collections.set(name, { record, counts: new Map() })
        else this.#reading.damaged(entry.key, 'it is not the record of a collection')
      }
      yield
    }
  }

  /** The rows that can be read, block by block. What cannot is told where `tells`. */
  async *#blocks(tells: boolean): AsyncGenerator<{ table: TableDraft; rows: Row[] }> {
    const lost: LostBlocks[] = []
    for await (const entry of this.#reading.entries(allBlocks())) {
      const [number, first] = tupleOf<[number, number]>(entry.key, 'nn') ?? []
      if (number === undefined || first === undefined) continue
      const last = lost.at(-1)
      if (last?.table === number && last.end === Infinity) last.end = first
      const record = this.#reading.record<BlocksRecord>(entry, tells)
      const places = record && placesOf(first, record)
      if (places === undefined) {
        // Not as lost: its rows are found by their pages.
        if (record !== undefined && tells) {
          this.#reading.damaged(entry.key, 'it is not a record of blocks')
        }
        lost.push({ table: number, first, end: Infinity })
        continue
      }
      for (const place of places) {
        const lose = (message: string) => {
          if (tells) this.#lost(blockText(number, place.first), message)
        }
        if (!tells) this.#named.add(place.page)
        const table = this.#tables.get(number)
        if (table === undefined) lose(`${place.rows} objects of a schema that cannot be read`)
        else yield* this.#rowsOf(table, place, lose)
      }
    }
    if (lost.length > 0) yield* this.#unnamedBlocks(lost, tells)
  }

  /** What lies where records are lost, in pages that no other record names: each block says where it begins. */
  async *#unnamedBlocks(
    lost: readonly LostBlocks[],
    tells: boolean,
  ): AsyncGenerator<{ table: TableDraft; rows: Row[] }> {
    const found: number[] = []
    for await (const page of this.#unnamed()) {
      const bytes = await this.#reading.get(pageKey(page))
      const block = blockIn(bytes, this.#shapes)
      if (bytes === undefined || block === undefined) continue
      const first = block.refs[0] as number
      const isLost = lost.some(
        ({ table, first: from, end }) => tableOf(first) === table && from <= first && first < end,
      )
      const table = this.#tables.get(tableOf(first))
      if (!isLost || table === undefined) continue
      if (tells) found.push(page)
      const lose = (message: string) => {
        if (tells) this.#lost(blockText(table.number, first), message)
      }
      yield* this.#rowsOf(table, { first, page, rows: block.rows, bytes: bytes.length }, lose)
    }
    for (const page of found) this.#named.add(page)
  }

  async *#rowsOf(
    table: TableDraft,
    { page, rows: count, bytes: length }: BlockPlace,
    lose: (message: string) => void,
  ): AsyncGenerator<{ table: TableDraft; rows: Row[] }> {
    const bytes = await this.#reading.get(pageKey(page))
    try {
      if (bytes?.length !== length) throw new Error('its page is not there, or not whole')
      const block = new Block(bytes, this.#shapes)
      const rows = rowsIn(block)
      const other = otherSchema(block, table.schema)
      if (other !== undefined) throw new Error(`its page ${other}`)
      yield { table, rows: rows.filter((row) => this.#isRight(table, row, lose)) }
    } catch (error) {
      lose(`${count} objects of ${table.schema.definition.name}: ${(error as Error).message}`)
    }
  }

  /** Objects in pages that no record names. */
  async *#tellUnnamed(): AsyncGenerator<void, void, undefined> {
    for await (const page of this.#unnamed()) {
      const block = blockIn(await this.#reading.get(pageKey(page)), this.#shapes)
      if (block !== undefined) {
        const message = `${block.rows} objects, the record of whose block is lost`
        this.#lost(tupleText('page', page), message)
      }
      yield
    }
  }

  /** Pages that no record names. Old versions, which a reader held, are named as that. */
  async *#unnamed(): AsyncGenerator<number, void, undefined> {
    const retired = new Set<number>()
    for await (const entry of this.#reading.entries(allRetired())) {
      const pages = this.#reading.record<RetiredRecord>(entry)?.pages
      if (Array.isArray(pages)) for (const page of pages) retired.add(Number(page))
    }
    const named = this.#named.sorted()
    for await (const { key } of this.#reading.entries({ ...allPages(), keysOnly: true })) {
      const [page] = tupleOf<[number]>(key, 'n') ?? []
      if (page === undefined || retired.has(page) || named[placeOf(page, named)] === page) continue
      yield page
    }
  }

  #isRight({ schema }: TableDraft, row: Row, lose: (message: string) => void): boolean {
    const deleting = this.#collections.get(row.collection)?.record.deleting
    if (deleting !== undefined && row.ref < deleting) return false
    const reasons = [...problemsOf(row)]
    schema.check(row.object, (path, reason) => reasons.push(`${path} ${reason}`))
    if (reasons.length === 0) return true
    lose(`'${row.id}' of '${row.collection}', which does not conform: ${reasons.join('; ')}`)
    return false
  }

  /** Of objects that are there twice, as an older version comes back where records are lost: the newest. */
  async #newestOfTwins(): Promise<Map<string, number>> {
    const hashes = new Numbers()
    for await (const { rows } of this.#blocks(false)) {
      for (const { collection, id } of rows) hashes.add(this.#hash.of(collection, String(id)))
    }
    const sorted = hashes.sorted()
    const twice = new Set<number>()
    for (let n = 1; n < sorted.length; n++) {
      if (sorted[n] === sorted[n - 1]) twice.add(sorted[n] as number)
    }
    const newest = new Map<string, number>()
    if (twice.size === 0) return newest
    for await (const { rows } of this.#blocks(false)) {
      for (const row of rows) {
        if (!twice.has(this.#hash.of(row.collection, String(row.id)))) continue
        newest.set(nameOf(row), Math.max(newest.get(nameOf(row)) ?? 0, row.ref))
      }
    }
    return newest
  }

  // Writing

  async #add(table: TableDraft, old: Row): Promise<void> {
    const row: Row = { ...old, ref: refOf(this.#nextRow++, table.number) }
    table.rows.push(row)
    this.kept.objects++
    const { name } = table.schema.definition
    const collection = this.#collections.get(row.collection) ?? {
      record: { created_at: row.created_at, schemas: {} },
      counts: new Map<string, number>(),
    }
    this.#collections.set(row.collection, collection)
    collection.counts.set(name, (collection.counts.get(name) ?? 0) + 1)
    this.#ids.added.keys.push(this.#hash.of(row.collection, String(row.id)))
    this.#ids.added.refs.push(row.ref)
    if (this.#ids.added.refs.length >= runEntries) await this.#writeRun(this.#ids)
    for (const index of table.indexes) {
      index.irregular += collectKeys(index.of, [row], index.added)
      if (index.added.refs.length >= runEntries) await this.#writeRun(index)
    }
    if (table.rows.length >= blockRows) await this.#writeRows(table)
  }

  async #writeRows(table: TableDraft): Promise<void> {
    const { schema, rows } = table
    table.rows = []
    if (rows.length === 0) return
    const operations: Operation[] = []
    for (const block of encodeBlocks(schema, rows)) {
      const page = this.#nextPage++
      operations.push({ type: 'put', key: pageKey(page), value: block.bytes })
      table.places.push(placeOfBlock(block, page))
    }
    await this.#to.write(operations, { durable: true })
  }

  async #writeRuns({ indexes }: TableDraft): Promise<void> {
    for (const index of indexes) await this.#writeRun(index)
  }

  async #writeRun(index: IndexDraft): Promise<void> {
    const { of, added, irregular } = index
    const { number } = of
    const isText = of.text !== undefined
    const adds = isText ? sortWords(added) : sortEntries(added.keys, added.refs)
    const change = { adds, dels: noEntries, irregular }
    Object.assign(index, { added: newKeys(), irregular: 0 })
    // An index without runs has no pages to be read.
    const none = undefined as unknown as EntryPages
    const takePage = () => this.#nextPage++
    const { records, pages } = await mergeChange(of, change, none, takePage)
    const operations = [
      ...pages.map(({ number: page, page: entries }): Operation => {
        return { type: 'put', key: pageKey(page), value: EntryPage.encode(entries) }
      }),
      ...records.map((record): Operation => {
        return { type: 'put', key: runKey(number, ++index.runs), value: encodeRecord(record) }
      }),
    ]
    if (operations.length > 0) await this.#to.write(operations, { durable: true })
  }

  async #writeRecords(): Promise<void> {
    const operations: Operation[] = []
    const put = (key: Uint8Array, record: object) => {
      operations.push({ type: 'put', key, value: encodeRecord(record) })
    }
    for (const { number, schema, indexes, places } of this.#tables.values()) {
      for (const [first, group] of regroup({ blocks: [], groups: [] }, places, 0).changes) {
        if (group !== null) put(blocksKey(number, first), recordOfBlocks(group))
      }
      const { definition } = schema
      const numbers = indexes.map(({ of }) => of.number)
      const record: SchemaRecord = { definition, table: number, indexes: numbers }
      put(schemaKey(definition.name), record)
    }
    for (const [name, { record, counts }] of this.#collections) {
      // What was being deleted has no objects left.
      const isGone = record.deleting !== undefined && record.isKept !== true
      if (isGone && counts.size === 0) continue
      const kept: CollectionRecord = {
        created_at: String(record.created_at),
        schemas: Object.fromEntries(counts),
      }
      put(collectionKey(name), kept)
      this.kept.collections++
    }
    const head: HeadRecord = {
      version: 1,
      token: randomBytes(8).toString('hex'),
      nextRow: this.#nextRow,
      nextPage: this.#nextPage,
      nextIndex: this.#nextIndex,
      hashKey: this.#hashKey,
    }
    put(formatKey(), { format: formatVersion })
    put(headKey(), head)
    await this.#to.write(operations, { durable: true })
  }
}

function indexDraft(number: number, definition: IndexDefinition): IndexDraft {
  return { of: indexOf(number, definition), added: newKeys(), irregular: 0, runs: 0 }
}

function nameOf({ collection, id }: Row): string {
  return `${collection.length} ${collection}${id}`
}

/** A page of an index is none. */
function blockIn(bytes: Uint8Array | undefined, shapes: RowShapes): Block | undefined {
  if (bytes === undefined) return undefined
  try {
    const block = new Block(bytes, shapes)
    return rowsIn(block).length > 0 ? block : undefined
  } catch {
    // Nor is one that was cut, wherever: its bytes mean nothing any more.
    return undefined
  }
}
