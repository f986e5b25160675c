// What there is, as of one version: schemas, collections, and where their blocks and runs lie. A
// state is never changed; a commit makes the next one. So a query sees one state from its first
// page to its last, as long as the pages are there.

import { LorekeepError } from '../../errors.js'
import type { Index } from './index-runs.js'
import type { BlockRecord, CollectionRecord, HeadRecord } from './records.js'
import type { CompiledSchema } from '../schema/schema.js'

export interface State {
  readonly head: HeadRecord
  /** As it lies in the storage: the precondition of the next commit. */
  readonly headBytes: Uint8Array
  readonly tables: ReadonlyMap<string, Table>
  readonly collections: ReadonlyMap<string, CollectionRecord>
  readonly ids: Index
  /** Schemas that are being changed, by name. */
  readonly building: ReadonlyMap<string, Building>
}

/** Indexes on their way into a schema: they hold the rows whose references are below `upTo`. */
export interface Building {
  readonly token: string
  readonly member: string | undefined
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
