// What there is, as of one version: schemas, collections, and where their blocks and runs lie. A
// state is never changed; a commit makes the next one. So a query sees one state from its first
// page to its last, as long as the pages are there.

import { LorekeepError } from '../../errors.js'
import { decodeRecord } from '../../record.js'
import type { Entry, Range, Storage } from '../../storage.js'
import { indexOf, runOf, type Index } from './index-runs.js'
import { areOwners } from './owners.js'
import {
  allBlocks,
  allCollections,
  allRetired,
  allRuns,
  allSchemas,
  headKey,
  idIndex,
  partsOf,
  runKey,
  type BlockRecord,
  type CollectionRecord,
  type HeadRecord,
  type RetiredRecord,
  type RunRecord,
  type SchemaRecord,
} from './records.js'
import { compileSchema, type CompiledSchema } from '../schema/schema.js'
import type { IndexDefinition } from '../types.js'

export interface State {
  readonly head: HeadRecord
  /** As it lies in the storage: the precondition of the next commit. */
  readonly headBytes: Uint8Array
  readonly tables: ReadonlyMap<string, Table>
  readonly collections: ReadonlyMap<string, CollectionRecord>
  readonly ids: Index
  /** Schemas that are being changed, by name. In memory alone: a crash ends it. */
  readonly building: ReadonlyMap<string, Building>
}

/** Indexes on their way into a schema: they hold the rows whose references are below `upTo`. */
export interface Building {
  readonly token: symbol
  readonly indexes: readonly Index[]
  readonly upTo: number
}

/** The objects of one schema. */
export interface Table {
  readonly number: number
  readonly schema: CompiledSchema
  /** In the order of the rows. */
  readonly blocks: readonly BlockPlace[]
  readonly rows: number
  /** In the order of `definition.indexes`. */
  readonly indexes: readonly Index[]
}

/** Rows with references from `first` up to the next block's. */
export interface BlockPlace extends BlockRecord {
  readonly first: number
}

/** The block that a reference is in, if it is in any; -1 in front of the first. */
export function blockOf({ blocks }: Table, ref: number): number {
  let low = -1
  let high = blocks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((blocks[middle] as BlockPlace).first <= ref) low = middle
    else high = middle - 1
  }
  return low
}

export function tableNumbered({ tables }: Pick<State, 'tables'>, number: number): Table {
  for (const table of tables.values()) if (table.number === number) return table
  throw new LorekeepError('LK_STORAGE_CORRUPT', `there is no schema with the table ${number}`)
}

export interface Loaded {
  readonly state: State
  /**
   * Records, with their pages, that belong to no state: runs of indexes that no schema names,
   * whose building was cut off, and pages that readers needed.
   */
  readonly orphans: readonly Orphan[]
}

export interface Orphan {
  readonly key: Uint8Array
  readonly pages: readonly number[]
}

/** `undefined` where nothing was ever written. @throws LorekeepError `LK_STORAGE_*` */
export async function loadState(storage: Storage): Promise<Loaded | undefined> {
  for (;;) {
    const headBytes = await storage.get(headKey())
    if (headBytes === undefined) return undefined
    const loaded = await loadAround(storage, headBytes)
    // What was read is one version if nobody has made another one meanwhile.
    const after = await storage.get(headKey())
    if (after !== undefined && Buffer.compare(after, headBytes) === 0) return loaded
  }
}

async function loadAround(storage: Storage, headBytes: Uint8Array): Promise<Loaded> {
  const head = decodeRecord<HeadRecord>(headBytes)
  const blocks = new Map<number, BlockPlace[]>()
  for await (const { key, value } of entriesOf(storage, allBlocks())) {
    const [table, first] = partsOf(key) as [number, number]
    const places = blocks.get(table) ?? []
    const { owners, ...record } = decodeRecord<BlockRecord>(value)
    // Of damaged ones it is not known whose rows there are, and the block is read.
    places.push({ first, ...record, ...(areOwners(owners) && { owners }) })
    blocks.set(table, places)
  }
  const runs = new Map<number, { number: number; record: RunRecord }[]>()
  for await (const { key, value } of entriesOf(storage, allRuns())) {
    const [index, number] = partsOf(key) as [number, number]
    const found = runs.get(index) ?? []
    found.push({ number, record: decodeRecord<RunRecord>(value) })
    runs.set(index, found)
  }
  const loadedIndex = (number: number, definition: IndexDefinition): Index => {
    const found = runs.get(number) ?? []
    runs.delete(number)
    return indexOf(
      number,
      definition,
      found.map(({ number, record }) => runOf(number, record)),
    )
  }
  const ids = loadedIndex(idIndex, '_id')
  const tables = new Map<string, Table>()
  for await (const { value } of entriesOf(storage, allSchemas())) {
    const { definition, table, indexes } = decodeRecord<SchemaRecord>(value)
    const places = blocks.get(table) ?? []
    tables.set(definition.name, {
      number: table,
      schema: compileSchema(definition),
      blocks: places,
      rows: places.reduce((rows, place) => rows + place.rows, 0),
      indexes: indexes.map((number, n) => loadedIndex(number, definition.indexes[n] ?? '')),
    })
  }
  const collections = new Map<string, CollectionRecord>()
  for await (const { key, value } of entriesOf(storage, allCollections())) {
    collections.set(partsOf(key)[0] as string, decodeRecord<CollectionRecord>(value))
  }
  const orphans: Orphan[] = [...runs].flatMap(([index, found]) =>
    found.map(({ number, record: { adds, dels } }) => ({
      key: runKey(index, number),
      pages: [...adds.pages, ...dels.pages],
    })),
  )
  for await (const { key, value } of entriesOf(storage, allRetired())) {
    orphans.push({ key, pages: decodeRecord<RetiredRecord>(value).pages })
  }
  return { state: { head, headBytes, tables, collections, ids, building: new Map() }, orphans }
}

async function* entriesOf(storage: Storage, range: Range): AsyncGenerator<Entry> {
  for await (const page of storage.scan(range)) yield* page
}
