// Where the commands for objects find them: in a data directory, or behind the HTTP interface of a
// running server, which has that directory to itself.

import type {
  CollectionStat,
  ObjectImportOptions,
  ObjectImportResult,
  FoundFields,
  ObjectPage,
  ObjectQuery,
  QueryPlan,
  SchemaDefinition,
} from '../../objects/types.js'
import { LorekeepError } from '../../errors.js'
import { telling } from './loss.js'
import type { ObjectBatch, Stores } from './stores.js'

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

const importing = {
  sending: 'none of the objects on their way was stored',
  sent: 'whether the objects on their way were stored is not known',
}
const defining = {
  sending: 'the schema is as it was',
  sent: 'whether the schema was defined is not known; defining it again is safe',
}

export function objectsIn({ objects, importObjects, close }: Stores): ObjectAccess {
  return {
    define: (_name, definition) => telling(defining, objects.defineSchema(definition)),
    schemas: () => objects.schemas(),
    async schema(name) {
      const found = await objects.schema(name)
      if (found === undefined) throw new LorekeepError('LK_SCHEMA_NOT_FOUND', `'${name}'`)
      return found
    },
    import: (batch, options) => telling(importing, importObjects(batch, options)),
    query: (query) => objects.query(query),
    find: (query) => objects.find(query),
    explain: (query) => objects.explain(query),
    collections: () => objects.collections(),
    async deleteCollection(name) {
      const deleted = await objects.deleteCollection(name)
      if (deleted === undefined) throw new LorekeepError('LK_COLLECTION_NOT_FOUND', `'${name}'`)
      return deleted
    },
    close,
  }
}
