// The keys and small records of the `objects` partition. docs/format.md says who writes and who
// deletes each kind.

import { decodeKey, encodeKey, keyPrefix } from '../../keys.js'
import type { IndexDefinition, SchemaDefinition } from '../types.js'
import type { Owner } from './owners.js'

/** The newest state of a lane: a write to it is made on condition that it is still what its maker saw. */
export interface LaneRecord {
  readonly version: number
  /** Random: tells this write from another one that made the same version. */
  readonly token: string
  readonly nextRow: number
  readonly nextPage: number
}

/** Of lane 0, with what there is once. */
export interface HeadRecord extends LaneRecord {
  readonly nextIndex: number
  /** The secret of the hashes of ids: eight bytes in hexadecimal. */
  readonly hashKey: string
}

export interface SchemaRecord {
  readonly definition: SchemaDefinition
  /** Its table: the low bits of the references of its rows. */
  readonly table: number
  /** Index numbers, in the order of `definition.indexes`. */
  readonly indexes: readonly number[]
}

export interface CollectionRecord {
  readonly created_at: string
  /** 0 where it is left out. */
  readonly lane?: number
  /** Objects by schema. */
  readonly schemas: Readonly<Record<string, number>>
  /** Being deleted: its rows below that reference go. */
  readonly deleting?: number
  /** Made anew since: it stays when its deletion ends, with whatever it has then. */
  readonly isKept?: boolean
}

/** Blocks of a table in the order of their rows. Of each list the numbers of the blocks, one behind the other. */
export interface BlocksRecord {
  /** Rows from the first one of the block in front to its own first one; 0, the first of all. */
  readonly firsts: readonly number[]
  /** Each by how much it is above that of the block in front. */
  readonly pages: readonly number[]
  readonly rows: readonly number[]
  readonly bytes: readonly number[]
  readonly owners: readonly Owner[]
  /** Places in `owners` of all that rows of the block have; null where they are many. */
  readonly owned: readonly (number | readonly number[] | null)[]
}

/** A list in the order of its entries: where its pages are, and what each begins with. */
export interface ListRecord {
  readonly pages: readonly number[]
  readonly counts: readonly number[]
  readonly keys: readonly unknown[]
  readonly refs: readonly number[]
}

export interface RunRecord {
  readonly adds: ListRecord
  readonly dels: ListRecord
  /** Rows with an array or an object where the path leads: added less deleted. */
  readonly irregular: number
}

export function pagesOf({ adds, dels }: RunRecord): readonly number[] {
  return [...adds.pages, ...dels.pages]
}

/** Pages that a commit has replaced while somebody read a state that has them. */
export interface RetiredRecord {
  readonly pages: readonly number[]
  /** Whose readers need them, of those who share the backend. */
  readonly member?: string
}

/** Indexes on their way into a schema: they hold the rows of each lane whose references are below its `upTo`. */
export interface BuildingRecord {
  /** Random: tells this change of the schema from others. */
  readonly token: string
  /** Whose it is of those who share the backend. */
  readonly member?: string
  readonly indexes: readonly { readonly number: number; readonly index: IndexDefinition }[]
  readonly upTo: readonly (readonly [lane: number, ref: number])[]
}

/** A record that a commit has put, or deleted (`null`), with what its key has behind the kind. */
export type RecordChange =
  | readonly ['schema', string, SchemaRecord | null]
  | readonly ['collection', string, CollectionRecord | null]
  | readonly ['building', string, BuildingRecord | null]
  | readonly ['blocks', number, number, BlocksRecord | null]
  | readonly ['run', number, number, RunRecord | null]

/** What a commit has made of the version before, for others to follow without reading everything. */
export interface ChangeRecord {
  /** The tokens of the two versions. */
  readonly before: string
  readonly token: string
  readonly changes: readonly RecordChange[]
  /** Of one that was made of all lanes: the versions of the others at that time, which came before. */
  readonly after?: readonly number[]
}

/** Versions of a lane that others may be behind, and follow: more, and they read everything. */
export const keptChanges = 1024

/**
 * 2: an index has null for objects in arrays that lack the field. 3: entries have their references as
 * distances, and any values may be those of a table. 4: words have places. 5: words have
 * pages of their own, and there are lanes. 6: blocks share records.
 */
export const formatVersion = 6

/** The index of ids; the others have numbers from 1. */
export const idIndex = 0

export const formatKey = () => encodeKey('format')

/** The heads of all lanes, and what is common to them. */
export const allHeads = () => ({ gte: encodeKey('head'), lt: keyPrefix('head').lt })
export const headKey = (lane = 0) => (lane === 0 ? encodeKey('head') : encodeKey('head', lane))
/** Random: another one with each commit that concerns all lanes. No lane is called 0 here. */
export const commonKey = () => encodeKey('head', 0)
export const schemaKey = (name: string) => encodeKey('schema', name)
export const allSchemas = () => keyPrefix('schema')
export const collectionKey = (name: string) => encodeKey('collection', name)
export const allCollections = () => keyPrefix('collection')
export const buildingKey = (schema: string) => encodeKey('building', schema)
export const allBuilding = () => keyPrefix('building')
export const changeKey = (version: number) => encodeKey('change', version)
export const allChanges = () => keyPrefix('change')
export const blocksKey = (table: number, first: number) => encodeKey('blocks', table, first)
export const allBlocks = () => keyPrefix('blocks')
export const runKey = (index: number, run: number) => encodeKey('run', index, run)
export const allRuns = () => keyPrefix('run')

// Pages come in the order of their numbers, so that an LSM tree never has to merge new ones with
// old ones.
export const pageKey = (number: number) => encodeKey('page', number)
export const allPages = () => keyPrefix('page')
export const retiredKey = (version: number) => encodeKey('retired', version)
export const allRetired = () => keyPrefix('retired')

/** The elements of a key behind the first, which names the kind. */
export function partsOf(key: Uint8Array): (string | number)[] {
  return decodeKey(key).slice(1) as (string | number)[]
}

/** The key of a record that has changed. */
export function keyOf(change: RecordChange): Uint8Array {
  switch (change[0]) {
    case 'schema':
      return schemaKey(change[1])
    case 'collection':
      return collectionKey(change[1])
    case 'building':
      return buildingKey(change[1])
    case 'blocks':
      return blocksKey(change[1], change[2])
    case 'run':
      return runKey(change[1], change[2])
  }
}
