// What there is, as of one version: schemas, collections, and where their blocks and runs lie. A
// state is never changed; a commit makes the next one. So a query sees one state from its first
// page to its last, as long as the pages are there.

import { LorekeepError } from '../../errors.js'
import type { Index } from './index-runs.js'
import { firstRow, laneBase, rowBase, rowEnd } from './lanes.js'
import type { KnownCollections } from './collection-records.js'
import type { Owner } from './owners.js'
import type { HeadRecord, LaneRecord } from './records.js'
import { laneOfRef, refOf } from './ref.js'
import type { CompiledSchema } from '../schema/schema.js'

/** The head of a lane, and how it lies in the storage: the precondition of the next commit. */
export interface Head<Kind extends LaneRecord = LaneRecord> {
  readonly record: Kind
  readonly bytes: Uint8Array
}

/** The heads as of one moment. */
export interface Heads {
  readonly main: Head<HeadRecord>
  /** Of lanes behind 0 that there are. */
  readonly others: ReadonlyMap<number, Head>
  /** What all lanes but 0 require, too; undefined where no commit has concerned all lanes. */
  readonly common: Uint8Array | undefined
}

export interface State extends KnownCollections {
  readonly heads: Heads
  readonly tables: ReadonlyMap<string, Table>
  readonly ids: Index
  /** Schemas that are being changed, by name. */
  readonly building: ReadonlyMap<string, Building>
}

/** Indexes on their way into a schema: they hold the rows of each lane whose references are below its `upTo`. */
export interface Building {
  readonly token: string
  readonly member: string | undefined
  readonly indexes: readonly Index[]
  readonly upTo: ReadonlyMap<number, number>
}

/** Whether the indexes that are being built hold the row. */
export function isBuilt({ upTo }: Pick<Building, 'upTo'>, ref: number): boolean {
  return ref < (upTo.get(laneOfRef(ref)) ?? 0)
}

export function headOf({ main, others }: Heads, lane: number): Head | undefined {
  return lane === 0 ? main : others.get(lane)
}

/** Where a lane is; one that has no head yet is at its beginning. */
export function laneIn(heads: Heads, lane: number): LaneRecord {
  const base = laneBase(lane)
  return (
    headOf(heads, lane)?.record ?? {
      version: base,
      token: '',
      nextRow: firstRow(lane),
      nextPage: base,
    }
  )
}

/** What a table has in a lane: the blocks from one place to another. */
export function blocksIn(table: Table, lane: number): readonly [from: number, to: number] {
  const placeOf = (row: number) => placeFrom(table.blocks, refOf(row, 0))
  return [placeOf(rowBase(lane)), placeOf(rowEnd(lane))]
}

/** The place of the first block that begins there or behind it. */
export function placeFrom(blocks: readonly BlockPlace[], ref: number): number {
  const at = blockOf({ blocks }, ref)
  return at < 0 || (blocks[at] as BlockPlace).first < ref ? at + 1 : at
}

/** The objects of one schema. */
export interface Table {
  readonly number: number
  readonly schema: CompiledSchema
  /** In the order of the rows. */
  readonly blocks: readonly BlockPlace[]
  /** The first references of groups of blocks, which share a record. */
  readonly groups: readonly number[]
  readonly rows: number
  /** In the order of `definition.indexes`. */
  readonly indexes: readonly Index[]
}

/** Rows of a table that lie together in a page, with references from `first` up to the next block's. */
export interface BlockPlace {
  readonly first: number
  readonly page: number
  readonly rows: number
  readonly bytes: number
  /** Each that a row has; absent where they are many. */
  readonly owners?: readonly Owner[]
}

/** The block that a reference is in, if it is in any; -1 in front of the first. */
export function blockOf({ blocks }: Pick<Table, 'blocks'>, ref: number): number {
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
