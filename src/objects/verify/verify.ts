// What has to hold of the `objects` partition. Opening holds the records of blocks and runs; this
// reads them one after the other, and keeps of each page 8 bytes, and of each index the balance of
// its entries and those that the rows say.

import { Balance } from '../../verify/balance.js'
import type { Finding, Source } from '../../verify/finding.js'
import { verifyFormat, verifyKeys } from '../../verify/partition-check.js'
import { Reading, tupleOf } from '../../verify/reading.js'
import { givenOut, tupleText, type Report } from '../../verify/report.js'
import { isCount } from '../../verify/shapes.js'
import { Block, type Row } from '../engine/block.js'
import { placesOf } from '../engine/block-groups.js'
import { IdHash } from '../engine/hash.js'
import {
  allBlocks,
  allCollections,
  allRetired,
  allRuns,
  allSchemas,
  blocksKey,
  formatKey,
  formatVersion,
  headKey,
  idIndex,
  pageKey,
  pagesOf,
  schemaKey,
  type BlocksRecord,
  type CollectionRecord,
  type HeadRecord,
  type LaneRecord,
  type ListRecord,
  type RetiredRecord,
  type RunRecord,
  type SchemaRecord,
} from '../engine/records.js'
import { newKeys } from '../engine/key-list.js'
import { indexOf } from '../engine/index-runs.js'
import { laneCount, laneOf, laneOfRow } from '../engine/lanes.js'
import { laneOfRef, tableOf, tableSpan } from '../engine/ref.js'
import { collectKeys } from '../engine/row-keys.js'
import { RowShapes } from '../engine/row-shapes.js'
import { blockOf, type BlockPlace } from '../engine/state.js'
import type { IndexDefinition } from '../types.js'
import type { Scalar } from '../values/values.js'
import { parseSchemaDefinition } from '../schema/definition.js'
import { compileSchema, type CompiledSchema } from '../schema/schema.js'
import { loadValidators } from '../schema/validators.js'
import type { IndexCheck, TableCheck } from './checks.js'
import { compareCounts } from './counts.js'
import { entryText, placeText, walkEntries, type NumberedRun } from './index-entries.js'
import { PagesCheck, type NamedPage } from './pages.js'
import {
  areOwnersOf,
  blockText,
  isCollectionRecord,
  isTable,
  otherSchema,
  problemsOf,
  rowsIn,
  tellsOwners,
} from './rows.js'

/** Blocks whose rows are read at a time: a megabyte or two. */
const blocksAtOnce = 16

/** What follows in a key of each kind: numbers and strings. */
const shapes = new Map([
  ['format', ''],
  ['head', '|n'],
  ['schema', 's'],
  ['collection', 's'],
  ['building', 's'],
  ['change', 'n'],
  ['blocks', 'nn'],
  ['run', 'nn'],
  ['page', 'n'],
  ['retired', 'n'],
])

/** Pairs of rows that may have the same id; hashes of 53 bits hardly ever meet. */
const maxSuspects = 1000

interface CheckedBlock extends BlockPlace {
  readonly table: number
  /** Where the next one of the table begins. */
  readonly end: number
}

export async function* verifyObjects(
  source: Source,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  await loadValidators()
  const check = new ObjectsCheck(new Reading('objects', source, report), report)
  yield* givenOut(check.run(), report)
}

class ObjectsCheck {
  readonly #reading: Reading
  readonly #report: Report
  #head: HeadRecord | undefined
  /** Of lanes behind 0. */
  readonly #lanes = new Map<number, LaneRecord>()
  readonly #tables = new Map<number, TableCheck>()
  readonly #indexes = new Map<number, IndexCheck>()
  readonly #ids: IndexCheck
  readonly #collections = new Map<string, CollectionRecord>()
  /** Collections whose record is none: what they count is not known. */
  readonly #damaged = new Set<string>()
  /** Objects by collection and schema, as the rows say. */
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #pages: PagesCheck
  readonly #shapes = new RowShapes()
  #hash = new IdHash('0'.repeat(16))
  /** Rows that could not be read: what is counted of them is not known. */
  #hasAllRows = true
  #suspects: [number, number][] = []

  constructor(reading: Reading, report: Report) {
    this.#reading = reading
    this.#report = report
    this.#pages = new PagesCheck(reading)
    this.#ids = this.#indexCheck('the index of ids', idIndex, '_id')
  }

  /** Yields now and then, for what was found to be given out. */
  async *run(): AsyncGenerator<void, void, undefined> {
    await this.#readRecords()
    yield
    yield* this.#readBlocks()
    yield* this.#readRuns()
    await this.#readRetired()
    yield* this.#pages.compare(
      (page) => page < this.#lane(laneOf(page)).nextPage,
      () => this.#namedPages(),
    )
    if (this.#report.deep) {
      yield* this.#compareIndexes()
      yield* this.#compareIds()
    }
    compareCounts(
      {
        tables: [...this.#tables.values()],
        ids: this.#ids,
        collections: this.#collections,
        damaged: this.#damaged,
        found: this.#counts,
        hasAllRows: this.#hasAllRows,
      },
      this.#report,
    )
  }

  #error(code: Finding['code'], what: string, message: string): void {
    this.#report.error('objects', code, what, message)
  }

  #indexCheck(what: string, number: number, definition: IndexDefinition): IndexCheck {
    const balance = this.#report.deep ? new Balance() : undefined
    const index = indexOf(number, definition)
    const check = { what, index, balance, irregular: 0, counted: 0, entries: 0, isWhole: true }
    this.#indexes.set(number, check)
    return check
  }

  // Records

  async #readRecords(): Promise<void> {
    const counts = await verifyKeys(this.#reading, shapes)
    // Nothing was ever opened here.
    if (counts.size === 0) return
    await verifyFormat(this.#reading, formatKey(), 'format', formatVersion)
    await this.#readHead()
    for await (const entry of this.#reading.entries(allSchemas())) {
      const [name] = tupleOf<[string]>(entry.key, 's') ?? []
      const record = this.#reading.record<SchemaRecord>(entry)
      if (record !== undefined && name !== undefined) this.#readSchema(name, record)
    }
    for await (const entry of this.#reading.entries(allCollections())) {
      const [name] = tupleOf<[string]>(entry.key, 's') ?? []
      const record = this.#reading.record<CollectionRecord>(entry)
      if (record === undefined || name === undefined) continue
      if (!isCollectionRecord(record)) {
        this.#reading.damaged(entry.key, 'it is not the record of a collection')
        this.#damaged.add(name)
        continue
      }
      this.#collections.set(name, record)
      if (record.deleting !== undefined) {
        const what = tupleText('collection', name)
        this.#report.leftover('objects', what, 'is being deleted: opening goes on with it')
      }
    }
  }

  async #readHead(): Promise<void> {
    const value = await this.#reading.get(headKey())
    if (value === undefined) {
      this.#error('missing', tupleText('head'), 'says which numbers were given, and the key of ids')
      this.#ids.isWhole = false
      return
    }
    const head = this.#reading.record<HeadRecord>({ key: headKey(), value })
    const numbers = [head?.version, head?.nextRow, head?.nextPage, head?.nextIndex]
    const isHead =
      numbers.every((number) => Number.isSafeInteger(number) && Number(number) > 0) &&
      /^[0-9a-f]{16}$/.test(String(head?.hashKey)) &&
      typeof head?.token === 'string'
    if (head === undefined || !isHead) {
      this.#reading.damaged(headKey(), 'it is not a head')
      this.#ids.isWhole = false
      return
    }
    this.#head = head
    this.#hash = new IdHash(head.hashKey)
    for (let lane = 1; lane < laneCount; lane++) {
      const key = headKey(lane)
      const bytes = await this.#reading.get(key)
      const record = bytes && this.#reading.record<LaneRecord>({ key, value: bytes })
      if (record === undefined) continue
      const { version, nextRow, nextPage } = record
      const isLane =
        laneOf(version) === lane && laneOf(nextPage) === lane && laneOfRow(nextRow) === lane
      if (isLane && typeof record.token === 'string') this.#lanes.set(lane, record)
      else this.#reading.damaged(key, 'it is not the head of the lane')
    }
  }

  /** What is not known of a lane cannot be held against its numbers. */
  #lane(lane: number): Pick<LaneRecord, 'version' | 'nextRow' | 'nextPage'> {
    const known = lane === 0 ? this.#head : this.#lanes.get(lane)
    return known ?? { version: Infinity, nextRow: Infinity, nextPage: Infinity }
  }

  #readSchema(name: string, { definition, table, indexes }: SchemaRecord): void {
    const what = tupleText('schema', name)
    let schema: CompiledSchema
    try {
      schema = compileSchema(parseSchemaDefinition(definition))
    } catch (error) {
      this.#reading.damaged(schemaKey(name), (error as Error).message)
      return
    }
    if (schema.definition.name !== name)
      this.#error('different', what, `is of '${definition.name}'`)
    if (!isTable(table) || !Array.isArray(indexes) || !indexes.every(isCount)) {
      this.#reading.damaged(schemaKey(name), 'it has no table, or no indexes')
      return
    }
    const defined = schema.definition.indexes
    if (indexes.length !== defined.length) {
      this.#error('different', what, `defines ${defined.length} indexes and has ${indexes.length}`)
    }
    if (this.#tables.has(table)) this.#error('duplicate', what, `has the table ${table} of another`)
    const checks = defined.slice(0, indexes.length).map((index, n) => {
      const number = indexes[n] as number
      if (this.#indexes.has(number))
        this.#error('duplicate', what, `has index ${number} of another`)
      if (number >= (this.#head?.nextIndex ?? Infinity)) {
        this.#error('different', what, `has index ${number}, which the head has not given yet`)
      }
      const which = typeof index === 'string' ? `index ${index}` : 'index of text'
      return this.#indexCheck(`the ${which} of ${name}`, number, index)
    })
    this.#tables.set(table, { schema, indexes: checks, rows: 0 })
  }

  // Blocks and their rows

  async *#blocks(): AsyncGenerator<CheckedBlock, void, undefined> {
    let last: Omit<CheckedBlock, 'end'> | undefined
    for await (const entry of this.#reading.entries(allBlocks())) {
      const [table, first] = tupleOf<[number, number]>(entry.key, 'nn') ?? []
      if (table === undefined || first === undefined) continue
      const record = this.#reading.record<BlocksRecord>(entry)
      if (last !== undefined) yield { ...last, end: last.table === table ? first : Infinity }
      last = undefined
      const places = record && placesOf(first, record)
      if (record === undefined || places === undefined) {
        if (record !== undefined) this.#reading.damaged(entry.key, 'it is not a record of blocks')
        this.#hasAllRows = false
        continue
      }
      const what = tupleText('blocks', table, first)
      if (tableOf(first) !== table) this.#error('different', what, 'is of another table')
      if (!tellsOwners(record, places)) {
        this.#error('different', what, 'has owners that are none')
      }
      // They grow, and lanes follow each other.
      if (laneOfRef((places.at(-1) as BlockPlace).first) !== laneOfRef(first)) {
        this.#error('different', what, 'has blocks of another lane')
      }
      for (const place of places) {
        if (last !== undefined) yield { ...last, end: place.first }
        last = { table, ...place }
      }
    }
    if (last !== undefined) yield { ...last, end: Infinity }
  }

  async *#readBlocks(): AsyncGenerator<void, void, undefined> {
    let places: CheckedBlock[] = []
    for await (const place of this.#blocks()) {
      const { table, first, page, rows } = place
      const what = blockText(table, first)
      const of = this.#tables.get(table)
      if (of === undefined) this.#error('unreferenced', what, `no schema has the table ${table}`)
      else if (!this.#report.isMuted) of.rows += rows
      if (!this.#report.isMuted) this.#pages.name(page)
      places.push(place)
      if (places.length < blocksAtOnce) continue
      if (this.#report.deep) await this.#readRows(places)
      places = []
      yield
    }
    if (this.#report.deep) await this.#readRows(places)
    yield
  }

  async #readRows(places: readonly CheckedBlock[]): Promise<void> {
    const pages = await this.#reading.getMany(places.map(({ page }) => pageKey(page)))
    for (const [n, place] of places.entries()) {
      const bytes = pages[n]
      const rows = bytes && this.#rowsOf(place, bytes)
      if (rows === undefined) this.#hasAllRows = false
      else this.#checkRows(place, rows)
    }
  }

  #rowsOf(place: CheckedBlock, bytes: Uint8Array): readonly Row[] | undefined {
    const what = blockText(place.table, place.first)
    if (bytes.length !== place.bytes) {
      this.#error('different', what, `says ${place.bytes} bytes; its page has ${bytes.length}`)
    }
    try {
      const block = new Block(bytes, this.#shapes)
      const rows = rowsIn(block)
      if (rows.length !== place.rows) {
        this.#error('different', what, `says ${place.rows} rows; its page has ${rows.length}`)
      }
      const schema = this.#tables.get(place.table)?.schema
      if (!areOwnersOf(rows, place.owners)) {
        this.#error('different', what, 'does not name all owners of its rows')
      }
      const other = schema && otherSchema(block, schema)
      if (other !== undefined) this.#error('different', what, other)
      return rows
    } catch (error) {
      this.#reading.damaged(pageKey(place.page), (error as Error).message)
      return undefined
    }
  }

  #checkRows({ table, first, end }: CheckedBlock, rows: readonly Row[]): void {
    const what = blockText(table, first)
    let last = first - 1
    for (const { ref } of rows) {
      if (!(ref > last && ref < end) || tableOf(ref) !== table) {
        this.#error('different', what, `has the row ${ref} behind ${last}, in front of ${end}`)
      }
      if (Math.floor(ref / tableSpan) >= this.#lane(laneOfRef(ref)).nextRow) {
        this.#error('different', what, `has the row ${ref}, which the head has not given yet`)
      }
      last = ref
    }
    const of = this.#tables.get(table)
    if (of === undefined) return
    const { name } = of.schema.definition
    for (const row of rows) {
      const whose = `row ${row.ref}, '${row.id}' of '${row.collection}'`
      of.schema.check(row.object, (path, reason) => {
        this.#error('invalid', what, `${whose}: ${path} ${reason}`)
      })
      for (const problem of problemsOf(row)) this.#error('invalid', what, `${whose} ${problem}`)
      if (!this.#report.isMuted) {
        const counts = this.#counts.get(row.collection) ?? new Map<string, number>()
        this.#counts.set(row.collection, counts)
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      const id = this.#hash.of(row.collection, String(row.id))
      this.#ids.balance?.add(entryText(id, row.ref), 1)
    }
    for (const index of of.indexes) {
      const found = newKeys()
      const { keys, refs } = found
      const irregular = collectKeys(index.index, rows, found)
      if (!this.#report.isMuted) index.irregular += irregular
      for (let n = 0; n < keys.length; n++) {
        const place = placeText(found, n)
        index.balance?.add(entryText(keys[n] as Scalar, refs[n] as number, place), 1)
      }
    }
  }

  // Indexes

  /** The runs of each index, oldest first. */
  async *#runs(): AsyncGenerator<readonly [number, readonly NumberedRun[]], void, undefined> {
    let index = -1
    let runs: NumberedRun[] = []
    for await (const entry of this.#reading.entries(allRuns())) {
      const [of, number] = tupleOf<[number, number]>(entry.key, 'nn') ?? []
      if (of === undefined || number === undefined) continue
      if (of !== index) {
        if (runs.length > 0) yield [index, runs]
        index = of
        runs = []
      }
      const record = this.#reading.record<RunRecord>(entry)
      const isRun =
        record !== undefined &&
        isList(record.adds) &&
        isList(record.dels) &&
        Number.isSafeInteger(record.irregular)
      if (isRun) runs.push({ number, record })
      else {
        if (record !== undefined) this.#reading.damaged(entry.key, 'it is not the record of a run')
        const check = this.#indexes.get(of)
        if (check !== undefined) check.isWhole = false
      }
    }
    if (runs.length > 0) yield [index, runs]
  }

  async *#readRuns(): AsyncGenerator<void, void, undefined> {
    for await (const [index, runs] of this.#runs()) {
      const check = this.#indexes.get(index)
      for (const { number, record } of runs) {
        const what = tupleText('run', index, number)
        for (const page of pagesOf(record)) this.#pages.name(page)
        if (check === undefined) {
          const message = 'of an index that no schema has: opening deletes it'
          this.#report.leftover('objects', what, message)
          continue
        }
        check.counted += record.irregular
        check.entries += sum(record.adds.counts) - sum(record.dels.counts)
      }
      if (check !== undefined && this.#report.deep) await this.#readEntries(check, index, runs)
      yield
    }
  }

  async #readEntries(
    check: IndexCheck,
    index: number,
    runs: readonly NumberedRun[],
  ): Promise<void> {
    let lastKey: Scalar = null
    let lastRef = -1
    const isWhole = await walkEntries(this.#reading, index, runs, (key, ref, times, place) => {
      if (times !== 0) check.balance?.add(entryText(key, ref, place), -times)
      if (index !== idIndex || times <= 0) return
      if (lastRef >= 0 && lastKey === key && this.#suspects.length < maxSuspects) {
        if (!this.#report.isMuted) this.#suspects.push([lastRef, ref])
      }
      lastKey = key
      lastRef = ref
    })
    if (!isWhole) check.isWhole = false
  }

  // Pages

  /** Pages that were replaced while somebody read them. */
  async *#retired(): AsyncGenerator<readonly [number, readonly number[]], void, undefined> {
    for await (const entry of this.#reading.entries(allRetired())) {
      const [version] = tupleOf<[number]>(entry.key, 'n') ?? []
      const record = this.#reading.record<RetiredRecord>(entry)
      if (version === undefined || record === undefined) continue
      const { pages } = record
      if (Array.isArray(pages) && pages.length > 0 && pages.every(isCount)) yield [version, pages]
      else this.#reading.damaged(entry.key, 'it does not list pages')
    }
  }

  async #readRetired(): Promise<void> {
    for await (const [version, pages] of this.#retired()) {
      const what = tupleText('retired', version)
      for (const page of pages) this.#pages.name(page)
      const message = `${pages.length} pages that are kept for a reader: a later commit, or opening, deletes them`
      this.#report.leftover('objects', what, message)
      if (version > this.#lane(laneOf(version)).version) {
        this.#error('different', what, 'there was no such commit yet')
      }
    }
  }

  async *#namedPages(): AsyncGenerator<NamedPage, void, undefined> {
    for await (const { table, first, page } of this.#blocks()) {
      yield [page, blockText(table, first)]
    }
    for await (const [index, runs] of this.#runs()) {
      for (const { number, record } of runs) {
        for (const page of pagesOf(record)) yield [page, tupleText('run', index, number)]
      }
    }
    for await (const [version, pages] of this.#retired()) {
      for (const page of pages) yield [page, tupleText('retired', version)]
    }
  }

  // What two sides say

  async *#compareIndexes(): AsyncGenerator<void, void, undefined> {
    const isOpen = ({ balance, isWhole }: IndexCheck) =>
      isWhole && this.#hasAllRows && balance?.isOpen === true
    for (;;) {
      const open = [...this.#indexes.values()].filter(isOpen)
      if (open.length === 0) return
      for (const { balance } of open) balance?.list()
      this.#report.isMuted = true
      for await (const _ of this.#readBlocks());
      for await (const [index, runs] of this.#runs()) {
        const check = open.find((one) => one.index.number === index)
        if (check !== undefined) await this.#readEntries(check, index, runs)
      }
      this.#report.isMuted = false
      for (const { what, index, balance } of open) {
        for (const { text, weight } of balance?.differences() ?? []) {
          const [row] = text.split(' ', 1)
          const key = text.slice((row?.length ?? 0) + 1)
          const message =
            weight > 0
              ? `${what} lacks ${key} of row ${row}`
              : `${what} has ${key} of row ${row}, which has it not`
          this.#error('different', `index ${index.number}`, message)
        }
        yield
      }
    }
  }

  /** Rows whose ids have one hash are the same object twice, or two whose hashes meet. */
  async *#compareIds(): AsyncGenerator<void, void, undefined> {
    for (const [a, b] of this.#suspects) {
      const [first, second] = [await this.#row(a), await this.#row(b)]
      if (first === undefined || second === undefined) continue
      const isSame =
        first.collection === second.collection && String(first.id) === String(second.id)
      if (isSame) {
        const what = `row ${b}`
        const message = `'${second.id}' of '${second.collection}' is there as row ${a}, too`
        this.#error('duplicate', what, message)
      }
      yield
    }
  }

  async #row(ref: number): Promise<Row | undefined> {
    const table = tableOf(ref)
    const range = { gte: blocksKey(table, 0), lte: blocksKey(table, ref), reverse: true, limit: 1 }
    for await (const entry of this.#reading.entries(range)) {
      const [, first] = tupleOf<[number, number]>(entry.key, 'nn') ?? []
      const record = this.#reading.record<BlocksRecord>(entry)
      if (record === undefined || first === undefined) return undefined
      const blocks = placesOf(first, record) ?? []
      const place = blocks[blockOf({ blocks }, ref)]
      if (place === undefined) return undefined
      const bytes = await this.#reading.get(pageKey(place.page))
      try {
        return bytes && rowsIn(new Block(bytes, this.#shapes)).find((row) => row.ref === ref)
      } catch {
        // It was told with its block.
        return undefined
      }
    }
    return undefined
  }
}

function isList(list: ListRecord | undefined): list is ListRecord {
  const { pages, counts, keys, refs } = list ?? {}
  return (
    Array.isArray(pages) &&
    pages.every(isCount) &&
    [counts, keys, refs].every((other) => Array.isArray(other) && other.length === pages.length) &&
    (counts as readonly unknown[]).every(isCount)
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
