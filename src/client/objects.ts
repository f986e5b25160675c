// The objects of a server.

import type {
  CollectionPage,
  CollectionStat,
  FoundFields,
  ObjectGetOptions,
  ObjectId,
  ObjectImport,
  ObjectImportOptions,
  ObjectImportResult,
  ObjectPage,
  ObjectQuery,
  ObjectStore,
  QueryPlan,
  SchemaDefinition,
  SchemaPage,
  StoredObject,
  WholeQuery,
} from '../objects/types.js'
import type { NamedPageOptions } from '../paging.js'
import type { AsJson, JsonObject } from '../types.js'
import { allOf, inJson, json, leave, maybe, nameIn, onCondition, part } from './connection.js'
import type { Connection, RemoteConditions } from './connection.js'

type Typed<T> = JsonObject extends T ? unknown : T

type SeenCollection = Pick<CollectionStat, 'name' | 'created_at'> & Partial<CollectionStat>

/** An ObjectStore whose scope is the token's. */
export interface RemoteObjects extends Pick<
  ObjectStore,
  'schema' | 'schemaVersion' | 'schemas' | 'schemaPage' | 'explain'
> {
  defineSchema(definition: unknown, conditions?: RemoteConditions): Promise<SchemaDefinition>
  dropSchema(name: string, conditions?: RemoteConditions): Promise<boolean>
  createCollection(name: string, conditions?: RemoteConditions): Promise<boolean>
  deleteCollection(name: string, conditions?: RemoteConditions): Promise<number | undefined>
  /** A text of JSON is sent as it is: numbers that no double holds, too, which the server refuses. */
  import<T extends object = JsonObject>(
    batch: ObjectImport<T & AsJson<T>> | string,
    options?: Omit<ObjectImportOptions, 'scope'>,
  ): Promise<ObjectImportResult>
  query<T extends object = JsonObject>(
    query: WholeQuery<NoInfer<T>>,
  ): Promise<ObjectPage<StoredObject<T>>>
  query<T extends object = JsonObject>(
    query: ObjectQuery<Typed<NoInfer<T>>>,
  ): Promise<ObjectPage<FoundFields<T>>>
  /** Page by page: of one version each, and not all of one. */
  find<T extends object = JsonObject>(query: WholeQuery<NoInfer<T>>): AsyncIterable<StoredObject<T>>
  find<T extends object = JsonObject>(
    query: ObjectQuery<Typed<NoInfer<T>>>,
  ): AsyncIterable<FoundFields<T>>
  get<T extends object = JsonObject>(
    collection: string,
    id: ObjectId,
    options?: Omit<ObjectGetOptions, 'scope' | 'reads'>,
  ): Promise<StoredObject<T> | undefined>
  replace<T extends object = JsonObject>(
    collection: string,
    id: ObjectId,
    object: T & AsJson<T>,
    conditions?: RemoteConditions,
  ): Promise<StoredObject | undefined>
  patch<T extends object = JsonObject>(
    collection: string,
    id: ObjectId,
    changes: T & AsJson<T>,
    conditions?: RemoteConditions,
  ): Promise<StoredObject | undefined>
  delete(collection: string, id: ObjectId, conditions?: RemoteConditions): Promise<boolean>
  /** What is counted is told to tokens for any user alone. */
  collections(): Promise<SeenCollection[]>
  collectionPage(
    query?: NamedPageOptions,
  ): Promise<
    Omit<CollectionPage, 'collections'> & { readonly collections: readonly SeenCollection[] }
  >
}

const pageLimit = 1000

/** Of the flow that paths name, which says nothing of objects. */
export function createObjects(connection: Connection, flow = 'default'): RemoteObjects {
  const ofFlow = `flow/${part(flow)}/objects`
  const single = (collection: string, id: ObjectId) =>
    `collections/${part(collection)}/objects/${part(id)}`
  const change = async (
    method: string,
    path: string,
    body: object,
    conditions: RemoteConditions | undefined,
  ) => {
    const { headers } = onCondition(conditions)
    const asked = connection.json<StoredObject>(method, path, { ...inJson(body), headers })
    return maybe('LK_OBJECT_NOT_FOUND', asked)
  }
  const query = (query: ObjectQuery) => connection.post<ObjectPage<never>>(`${ofFlow}/query`, query)

  return {
    async defineSchema(definition, conditions) {
      const name = nameIn(definition, 'name', 'LK_SCHEMA_INVALID')
      // Saying it again changes nothing.
      const asking = { ...inJson(definition), ...onCondition(conditions) }
      return connection.json('PUT', `schemas/${part(name)}`, asking)
    },
    schema: (name) =>
      maybe('LK_SCHEMA_NOT_FOUND', connection.get<SchemaDefinition>(`schemas/${part(name)}`)),
    schemaVersion: (name) => connection.version(`schemas/${part(name)}`, 'LK_SCHEMA_NOT_FOUND'),
    schemas: () => allOf<SchemaDefinition>(connection, 'schemas'),
    schemaPage: (query = {}) => connection.get<SchemaPage>('schemas', { ...query }),
    dropSchema: (name, conditions) =>
      connection.remove(`schemas/${part(name)}`, 'LK_SCHEMA_NOT_FOUND', conditions),
    async import(batch, { onDuplicate } = {}) {
      return connection.json('POST', `${ofFlow}/import`, {
        ...(typeof batch === 'string' ? { type: json, body: batch } : inJson(batch)),
        query: { on_duplicate: onDuplicate },
      })
    },
    query,
    async *find({ limit = Infinity, offset, after, ...rest }: ObjectQuery) {
      let left = limit
      let place: object = { offset, after }
      while (left > 0) {
        const asked = { ...rest, ...place, limit: Math.min(left, pageLimit) }
        const { objects, next } = await query(asked as ObjectQuery)
        yield* objects
        left -= objects.length
        if (next === undefined) return
        place = { after: next }
      }
    },
    explain: (query) => connection.post<QueryPlan>(`${ofFlow}/explain`, query),
    get: <T extends object>(collection: string, id: ObjectId) =>
      maybe('LK_OBJECT_NOT_FOUND', connection.get<StoredObject<T>>(single(collection, id))),
    replace: (collection, id, object, conditions) =>
      change('PUT', single(collection, id), object, conditions),
    patch: (collection, id, changes, conditions) =>
      change('PATCH', single(collection, id), changes, conditions),
    delete: (collection, id, conditions) =>
      connection.remove(single(collection, id), 'LK_OBJECT_NOT_FOUND', conditions),
    collections: () => allOf<CollectionStat>(connection, 'collections'),
    collectionPage: (query = {}) => connection.get<CollectionPage>('collections', { ...query }),
    async createCollection(name, conditions) {
      const { headers } = onCondition(conditions)
      const response = await connection.ask('PUT', `collections/${part(name)}`, { headers })
      await leave(response)
      return response.status === 201
    },
    async deleteCollection(name, conditions) {
      const { headers } = onCondition(conditions)
      const path = `collections/${part(name)}`
      const asked = connection.json<{ deleted: number }>('DELETE', path, { headers })
      return (await maybe('LK_COLLECTION_NOT_FOUND', asked))?.deleted
    },
  } as RemoteObjects
}
