// Where the commands for objects find them: in a data directory, or behind the HTTP interface of a
// running server, which has that directory to itself.

import type {
  CollectionStat,
  ObjectImport,
  ObjectImportOptions,
  ObjectImportResult,
  FoundFields,
  ObjectPage,
  ObjectQuery,
  QueryPlan,
  SchemaDefinition,
} from '../../objects/types.js'
import type { InputObject } from '../input/object-input.js'

/** An import request whose objects know their text, which is what a server is sent. */
export interface ObjectBatch extends Omit<ObjectImport, 'values'> {
  readonly objects: readonly InputObject[]
}

/** A server counts for those alone who may see everybody's objects. */
export type SeenCollection = Pick<CollectionStat, 'name' | 'created_at'> & Partial<CollectionStat>

export interface ObjectAccess {
  define(name: string, definition: unknown): Promise<SchemaDefinition>
  schemas(): Promise<readonly SchemaDefinition[]>
  /** Fails where there is no such schema. */
  schema(name: string): Promise<SchemaDefinition>
  import(batch: ObjectBatch, options: ObjectImportOptions): Promise<ObjectImportResult>
  query(query: ObjectQuery): Promise<ObjectPage<FoundFields>>
  find(query: ObjectQuery): AsyncIterable<FoundFields>
  explain(query: ObjectQuery): Promise<QueryPlan>
  collections(): Promise<readonly SeenCollection[]>
  /** Gives the number of objects. Fails where there is no such collection. */
  deleteCollection(name: string): Promise<number>
  close(): Promise<void>
}
