// What an ObjectStore takes and gives.

import type { ChangeConditions } from '../conditions.js'
import type { NamedPageOptions, Page } from '../paging.js'
import type { Reads } from '../reads.js'
import type { Scope } from '../scope.js'
import type { AsJson, JsonObject, JsonValue } from '../types.js'
import type { Filters } from './filter-types.js'

/**
 * A string of 1 to 1,024 bytes, or a safe integer. Two ids are the same where their text is: 7 and
 * '7' cannot both be in a collection.
 */
export type ObjectId = string | number

export type FieldType =
  | 'string'
  | 'text'
  | 'number'
  | 'integer'
  | 'boolean'
  | 'enum'
  | 'array'
  | 'object'
  | 'date'
  | 'timestamp'
  | 'uri'
  | 'email'
  | 'uuid'
  | 'any'

export interface FieldDefinition {
  readonly type: FieldType
  readonly description?: string
  readonly required?: boolean
  /** Takes null too. */
  readonly nullable?: boolean
  /** Put where an object has no such field. It has to be valid itself. */
  readonly default?: JsonValue
  /** Of an enum. */
  readonly values?: readonly (string | number | boolean | null)[]
  /** Of an array: what its elements are. */
  readonly items?: FieldDefinition
  /** Of an object: its fields. */
  readonly properties?: Readonly<Record<string, FieldDefinition>>
  /** Inclusive bounds of a number or integer. */
  readonly min?: number
  readonly max?: number
  /** Of a string in code points, of an array in elements. */
  readonly min_length?: number
  readonly max_length?: number
}

/**
 * The words of some fields, for `$text`. A schema has one at most.
 */
export interface TextIndex {
  /** Paths of the fields. Strings that they lead to are searched, also those in arrays. */
  readonly text: readonly string[]
  /** As if the text of a field were there so many times: whole numbers, 1 where nothing is said. */
  readonly weights?: Readonly<Record<string, number>>
  /** Of questions that name none: its words have stems and stop words. `en` by default. */
  readonly language?: string
}

/** A path, or the words of several. */
export type IndexDefinition = string | TextIndex

/** A schema in its plain form: what `schema()` gives, and `defineSchema()` takes again. */
export interface SchemaDefinition {
  readonly name: string
  readonly description?: string
  readonly fields: Readonly<Record<string, FieldDefinition>>
  /** Paths: declared fields, dotted paths into them, system fields such as `_collection`; words. */
  readonly indexes: readonly IndexDefinition[]
  /** Indexes may also lead to fields that are not declared; a misspelt path is no error then. */
  readonly index_undeclared?: true
  /** Refuses fields that are not declared, at every depth where some are. */
  readonly strict: boolean
  /** The field that holds the id: `id` unless named otherwise. */
  readonly id_field: string
  /** Objects without an id get one made by hyperid. */
  readonly generate_ids: boolean
}

/** An import request, as on the wire. */
export interface ObjectImport<T extends object = JsonObject> {
  readonly metadata: {
    /** Names the import batch. */
    readonly id: string
    readonly user: string
    readonly collection: string
    /** Stored with each object, under `_metadata`. */
    readonly metadata?: JsonObject
  }
  readonly schema_name: string
  readonly values: readonly T[]
}

export interface ObjectImportOptions {
  /**
   * What to do with an object whose id the collection has: refuse the batch (the default), put the
   * new object in its place, or leave the old one. An id twice in one batch is refused always.
   */
  readonly onDuplicate?: 'reject' | 'replace' | 'skip'
  /**
   * Replaces and skips objects of its user alone. An id that another's object has refuses the batch:
   * with `LK_OBJECT_DUPLICATE`, or `LK_OBJECT_ACCESS` where it is seen and was to be replaced.
   */
  readonly scope?: Scope
}

/** The conditions are of the object's `_version`; none of an object that is not there: nothing is changed then anyhow. */
export interface ObjectChangeOptions extends ChangeConditions {
  /**
   * Changes an object of its user alone. Another's is not there, or refused with `LK_OBJECT_ACCESS`
   * where it is seen.
   */
  readonly scope?: Scope
}

export interface ObjectGetOptions {
  readonly scope?: Scope
  /** Whether the newest is asked for where others write too: as `createLorekeep` was told by default. */
  readonly reads?: Reads
}

export interface ObjectImportResult {
  readonly id: string
  readonly collection: string
  readonly schema_name: string
  /** Objects stored: `values` less those skipped. */
  readonly imported: number
  /** Of those, how many took the place of another. */
  readonly replaced: number
  readonly skipped: number
  /** The ids of the objects, in the order of `values`, skipped ones too. */
  readonly ids: readonly ObjectId[]
}

/** What every object has beside its own fields. */
export interface SystemFields {
  readonly _id: ObjectId
  readonly _schema: string
  readonly _collection: string
  readonly _user: string
  /** ISO 8601, UTC. */
  readonly _created_at: string
  readonly _updated_at: string
  /** Another one with every change. What `ifVersion` of a change takes. */
  readonly _version: string
  /** The import's metadata, with `created_at`, `updated_at` and `collection` beside it. */
  readonly _metadata: JsonObject
  /** How well it fits the `$text` of a query; of queries that have one alone. */
  readonly _score?: number
}

/**
 * The object's own fields, and the system's. With a type of yours, `StoredObject<Product>`, the fields
 * are those of it: nothing but the schema sees to it that they are there.
 */
export type StoredObject<T extends object = JsonObject> = T & SystemFields

export type SortDirection = 'asc' | 'desc'

/** As MongoDB writes it: by `_score`, the best first, whatever the key. */
export interface TextScore {
  readonly $meta: 'textScore'
}

export interface ObjectQuery<T = unknown> {
  readonly schema_name: string
  readonly filters?: Filters<T>
  /** 100 by default; clamped to `maxQueryLimit`. 0 counts only. */
  readonly limit?: number
  readonly offset?: number
  /** Several keys in their order. By `_score`, the best first, where there is a `$text` and no sort. */
  readonly sort?: { readonly [field: string]: SortDirection | TextScore }
  /** Paths of the fields to give; all by default. `_id` comes always. */
  readonly fields?: readonly string[]
  /** `next` of the page before. Not together with `offset`. */
  readonly after?: string | undefined
  /** Whether the newest is asked for where others write too: as `createLorekeep` was told by default. */
  readonly reads?: Reads
}

/** A query that names no `fields`: it gives whole objects. */
export type WholeQuery<T> = ObjectQuery<Typed<T>> & { readonly fields?: never }

/** Those of the fields that a query names, and the id. */
export type FoundFields<T extends object = JsonObject> = Partial<StoredObject<T>> &
  Pick<SystemFields, '_id'>

/** JsonObject stands for objects of a type that nobody knows. */
type Typed<T> = JsonObject extends T ? unknown : T

/** What a query gives: whole objects, or their `fields` where it names them, and `_id`. */
export interface ObjectPage<Found extends object = StoredObject> {
  readonly objects: readonly Found[]
  /** Of all matches, exact. */
  readonly total: number
  /** The limit that was applied. */
  readonly limit: number
  readonly offset: number
  /** Where more follow: what to pass as `after`. */
  readonly next?: string
}

export interface SchemaPage extends Page {
  readonly schemas: readonly SchemaDefinition[]
  readonly total: number
}

export interface CollectionQuery extends NamedPageOptions {
  readonly scope?: Scope
}

export interface CollectionPage extends Page {
  readonly collections: readonly CollectionStat[]
  /** Of those that the scope has. */
  readonly total: number
}

export type PlanType = 'scan' | 'index' | 'intersection' | 'union' | 'text' | 'none'

export interface QueryPlan {
  /**
   * `scan` reads every object of the schema, `index` a part of one index, `intersection` and
   * `union` parts of several, `text` the lists of words, and what is crossed with them, `none`
   * nothing, because nothing can match.
   */
  readonly plan: PlanType
  readonly indexes: readonly {
    readonly path: string
    /** In the order of the index: `[5, 10)`, `["a", "a"]`. */
    readonly ranges: readonly string[]
    /** Keys of the index in these ranges. */
    readonly keys: number
  }[]
  /** What the index does not decide and each object is asked: true where anything is left. */
  readonly filtered: boolean
  /** Whether the total is the difference of positions in the index, without reading keys. */
  readonly counted: boolean
  /** `index`: the objects come in that order; `memory`: they were sorted; `none`: nothing asked for. */
  readonly sort: 'index' | 'memory' | 'none'
  readonly keysRead: number
  /** Objects whose fields were looked at or given out. */
  readonly objectsRead: number
  readonly total: number
  readonly returned: number
  readonly milliseconds: number
  /** Each index that was not used, or that could be made, and why not. */
  readonly notUsed: readonly { readonly path: string; readonly reason: string }[]
}

export interface CollectionStat {
  readonly name: string
  readonly objects: number
  /** Objects by schema. */
  readonly schemas: Readonly<Record<string, number>>
  /** ISO 8601, UTC. */
  readonly created_at: string
  /** Another one where it was deleted and made anew, and not for what is in it. */
  readonly version: string
}

/**
 * Objects that conform to schemas. Every change is durable when its promise resolves; changes made
 * at the same time share a write. Every method rejects with `LK_CLOSED` after close().
 */
export interface ObjectStore {
  /**
   * Defines a schema, or changes it: added indexes are built over the objects that are there before
   * they are used, removed ones are dropped. Resolves with the plain form.
   * @throws LorekeepError `LK_SCHEMA_INVALID` with every reason; `LK_SCHEMA_VIOLATED` with examples
   * where objects that are there do not conform to the new definition: nothing is changed then
   */
  defineSchema(definition: unknown, conditions?: ChangeConditions): Promise<SchemaDefinition>

  /** `undefined` where there is no such schema. */
  schema(name: string): Promise<SchemaDefinition | undefined>

  /** What `ifVersion` takes: it changes with the plain form alone. `undefined` where there is no such schema. */
  schemaVersion(name: string): Promise<string | undefined>

  /** In the order of their names. */
  schemas(): Promise<SchemaDefinition[]>

  /** One page of them. @throws LorekeepError `LK_CURSOR` */
  schemaPage(query?: NamedPageOptions): Promise<SchemaPage>

  /** False where there was none. @throws LorekeepError `LK_SCHEMA_IN_USE` while it has objects */
  dropSchema(name: string, conditions?: ChangeConditions): Promise<boolean>

  /**
   * Stores the batch: all of it or, after any error, nothing.
   * @throws LorekeepError `LK_OBJECT_REQUEST`, `LK_SCHEMA_NOT_FOUND`, `LK_COLLECTION_NOT_FOUND`,
   * `LK_OBJECT_INVALID` (every bad object, up to 100), `LK_OBJECT_DUPLICATE` (the ids),
   * `LK_OBJECT_TOO_LARGE`, `LK_STORAGE_*`
   */
  import<T extends object = JsonObject>(
    batch: ObjectImport<T & AsJson<T>>,
    options?: ObjectImportOptions,
  ): Promise<ObjectImportResult>

  /**
   * One page. `query<Product>(…)` checks the filters against the type and gives objects of it.
   * @throws LorekeepError `LK_QUERY`, `LK_QUERY_BUDGET`, `LK_CURSOR`, `LK_SCHEMA_NOT_FOUND`, `LK_STORAGE_*`
   */
  query<T extends object = JsonObject>(
    query: WholeQuery<NoInfer<T>>,
    scope?: Scope,
  ): Promise<ObjectPage<StoredObject<T>>>
  query<T extends object = JsonObject>(
    query: ObjectQuery<Typed<NoInfer<T>>>,
    scope?: Scope,
  ): Promise<ObjectPage<FoundFields<T>>>

  /**
   * Every match, read piece by piece: `limit` bounds it only where it is given. It is of one version,
   * the newest when the first object is asked for (the first `next()`, not the call), whatever is
   * changed, deleted or dropped meanwhile. What that takes stays stored until the iteration ends: a
   * loop that is left ends it.
   * @throws LorekeepError as query(); `LK_STORAGE_CONFLICT` where another store over the same
   * backend has deleted that version
   */
  find<T extends object = JsonObject>(
    query: WholeQuery<NoInfer<T>>,
    scope?: Scope,
  ): AsyncIterable<StoredObject<T>>
  find<T extends object = JsonObject>(
    query: ObjectQuery<Typed<NoInfer<T>>>,
    scope?: Scope,
  ): AsyncIterable<FoundFields<T>>

  /** Runs the query, and tells how. @throws LorekeepError as query() */
  explain(query: ObjectQuery): Promise<QueryPlan>

  /** `undefined` where the collection has no such object. */
  get<T extends object = JsonObject>(
    collection: string,
    id: ObjectId,
    options?: ObjectGetOptions,
  ): Promise<StoredObject<T> | undefined>

  /**
   * Puts a whole object in the place of one that is there; the id in it, if any, has to be that id.
   * Resolves with what is stored then, `undefined` where there is no such object.
   * @throws LorekeepError `LK_OBJECT_INVALID`
   */
  replace<T extends object = JsonObject>(
    collection: string,
    id: ObjectId,
    object: T & AsJson<T>,
    options?: ObjectChangeOptions,
  ): Promise<StoredObject | undefined>

  /**
   * Changes an object by a JSON Merge Patch (RFC 7396): null removes a field. A key that begins with `$` changes a
   * field that is there: operators, as `$set`, are refused.
   * @throws LorekeepError `LK_OBJECT_INVALID`, `LK_OBJECT_REQUEST`
   */
  patch<T extends object = JsonObject>(
    collection: string,
    id: ObjectId,
    changes: T & AsJson<T>,
    options?: ObjectChangeOptions,
  ): Promise<StoredObject | undefined>

  /** False where there was none. */
  delete(collection: string, id: ObjectId, options?: ObjectChangeOptions): Promise<boolean>

  /** In the order of their names. */
  collections(): Promise<CollectionStat[]>

  /** One page of them. @throws LorekeepError `LK_CURSOR` */
  collectionPage(query?: CollectionQuery): Promise<CollectionPage>

  /** Makes an empty collection; false where it exists. Imports make theirs unless told otherwise. */
  createCollection(name: string, conditions?: ChangeConditions): Promise<boolean>

  /**
   * Deletes a collection and every object that was in it when the call was made, in steps, each
   * durable; a deletion that a crash or an error cut off goes on at the next open. Gives the number of
   * objects that this call has deleted, `undefined` where there is no such collection.
   */
  deleteCollection(name: string, conditions?: ChangeConditions): Promise<number | undefined>
}

export interface ObjectLimits {
  /** Objects of one import. 10,000 by default. */
  readonly maxBatchObjects: number
  /** JSON text of one object, in bytes. 1 MiB by default. */
  readonly maxObjectBytes: number
  /** The most a query's `limit` gives. 1,000 by default. */
  readonly maxQueryLimit: number
  /** Objects that one query may look at. 10,000,000 by default. */
  readonly maxQueryObjects: number
  /** How long one query may take, in milliseconds. 30,000 by default. */
  readonly maxQueryMs: number
}
