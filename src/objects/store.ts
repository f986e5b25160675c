import { hasCode, LorekeepError } from '../errors.js'
import { conditionRules, conditionsIn, versionOf } from '../conditions.js'
import type { ChangeConditions } from '../conditions.js'
import type { Fill } from '../health.js'
import { InFlight } from '../in-flight.js'
import type { Presence } from '../presence.js'
import type { Sharing, Storage } from '../storage.js'
import type { Row } from './engine/block.js'
import { deleteCollection, type DeletionOptions } from './collection-deletion.js'
import { checkCollectionIs, collectionThere, makeCollection, statsOf } from './collections.js'
import { Committer } from './engine/committer.js'
import { NotInThisDraft, type Change } from './engine/lane-queue.js'
import { findPlace } from './engine/lookup.js'
import { openState } from './engine/opening.js'
import { findRows } from './query/find.js'
import { checkCollection, checkImportOptions, parseImport } from './import-request.js'
import { Importing } from './importing.js'
import { mergePatch } from './merge-patch.js'
import { checkChanges, checkNoOperators, idText, ObjectChange, withId } from './object-change.js'
import { commitIn } from './placing.js'
import { runQuery } from './query/query.js'
import { planOf, type QueryResult } from './query/query-result.js'
import { parseQuery, type QueryRequest } from './query/query-request.js'
import { Meter, outputAll } from './query/rows.js'
import { compileSchema } from './schema/schema.js'
import { checkSchema, SchemaChange } from './schema-change.js'
import { aReads, type Reads } from '../reads.js'
import { Cursors, namedPageRules, pageOf, type NamedPageOptions } from '../paging.js'
import { aScope, copied, scopeGiven, type Scope } from '../scope.js'
import { checkTarget, isSeen } from './scope.js'
import { parseSchemaDefinition } from './schema/definition.js'
import { loadValidators } from './schema/validators.js'
import type { State } from './engine/state.js'
import type {
  CollectionPage,
  CollectionQuery,
  CollectionStat,
  ObjectChangeOptions,
  ObjectGetOptions,
  ObjectId,
  ObjectImport,
  ObjectImportOptions,
  ObjectImportResult,
  ObjectLimits,
  ObjectPage,
  ObjectQuery,
  ObjectStore,
  QueryPlan,
  SchemaDefinition,
  SchemaPage,
  StoredObject,
} from './types.js'
import type { JsonObject } from '../types.js'
import { limitsOf } from '../door/limits.js'
import { objectLimits } from './limits.js'
import { checkArgument, checkNoMore, checkOptions } from '../door/options.js'
import { aString } from '../door/rules.js'
import { stringsIn, traceMethods, type Fields } from '../tracing.js'
import { isRecord } from '../door/wording.js'

interface ObjectParts {
  readonly objects: Storage
  /** Nobody else has the storage open: what is half done in it was left by a former owner. */
  readonly isAlone: boolean
  /** Others may write to it at any time: each question begins with a look. */
  readonly isShared: boolean
  /** Of those who share it. */
  readonly presence?: Presence | undefined
  /** Of calls that do not say it. */
  readonly reads: Reads
  readonly limits?: Partial<ObjectLimits> | undefined
  /** Memory for pages of objects and indexes, in bytes. */
  readonly cacheBytes: number
  /** `declared`: imports make no collections. */
  readonly collections: 'open' | 'declared'
  /** Gets errors of work that no caller waits for. */
  readonly onError: (error: unknown) => void
  readonly now?: (() => number) | undefined
  readonly elapsed?: (() => number) | undefined
}

/** An ObjectStore and its end. The storage stays open: it is closed by who opened it. */
interface ClosableObjectStore extends ObjectStore {
  /** What it keeps in memory. */
  readonly fill: Fill
  /** Nobody else has it, and it is the same after a restart: what cursors are sealed with. */
  readonly secret: string
  /** Refuses new work, waits for what is under way, gives up waiting after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>
}

/** Opens the store: checks the format on disk, and takes up deletions that were cut off. */
export async function openObjectStore(parts: ObjectParts): Promise<ClosableObjectStore> {
  const limits = limitsOf(objectLimits, parts.limits)
  const state = await openState(parts.objects, parts.isAlone)
  const store = new StoredObjects(parts, limits, state)
  store.resume()
  return store
}

// A find that nobody goes on with, and nobody ends: what it holds goes with its garbage.
const dropped = new FinalizationRegistry(letGoOf)

function letGoOf(held: ReadonlySet<() => void>): void {
  for (const letGo of held) letGo()
}

const collectionRules = { ...namedPageRules, scope: aScope }

class StoredObjects implements ClosableObjectStore {
  readonly #committer: Committer
  readonly #limits: ObjectLimits
  readonly #collections: ObjectParts['collections']
  readonly #onError: (error: unknown) => void
  readonly #presence: Presence | undefined
  readonly #sharing: Sharing | undefined
  readonly #forget: (() => void) | undefined
  readonly #inFlight = new InFlight()
  readonly #cursors = new Cursors(() => this.secret)
  /** Work of several commits on one schema, or one collection, comes one after another. */
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(parts: ObjectParts, limits: ObjectLimits, state: State) {
    const { objects, cacheBytes, isShared, presence, reads, collections, onError } = parts
    const { now = Date.now, elapsed = () => performance.now() } = parts
    this.#committer = new Committer(objects, state, {
      cacheBytes,
      isShared,
      presence,
      reads,
      now,
      elapsed,
    })
    this.#limits = limits
    this.#collections = collections
    this.#onError = onError
    this.#presence = presence
    this.#sharing = objects.sharing
    this.#forget = presence?.onGone((id) => this.#cleanUpBehind(id))
  }

  /** Goes on with what a crash cut off, until somebody closes: then the next open goes on. */
  resume(): void {
    const { closing } = this.#inFlight
    const tell = (error: unknown) => {
      if (error !== closing.reason && !hasCode(error, 'LK_CLOSED')) this.#onError(error)
    }
    const resuming = this.#committer.read(async (state) => {
      for (const [name, { deleting }] of state.collections) {
        if (deleting === undefined) continue
        this.#deleteCollection(name, { begun: deleting }).catch(tell)
      }
    })
    resuming.catch(tell)
    this.#inFlight.run(() => this.#committer.dropLeft(closing)).catch(tell)
  }

  async defineSchema(
    definition: unknown,
    given?: ChangeConditions,
    ...surplus: never[]
  ): Promise<SchemaDefinition> {
    checkNoMore('defineSchema()', surplus)
    const conditions = conditionsIn(checkOptions('defineSchema()', given, conditionRules))
    const asked = { id: this.#presence?.id, member: this.#committer.member }
    await loadValidators()
    const parsed = parseSchemaDefinition(definition)
    const compiled = compileSchema(parsed)
    const change = new SchemaChange(this.#committer, compiled, conditions, asked)
    return this.#inTurn(`schema ${parsed.name}`, async () => {
      await change.run(this.#inFlight.signal)
      return parsed
    })
  }

  async schema(name: string, ...surplus: never[]): Promise<SchemaDefinition | undefined> {
    checkNoMore('schema()', surplus)
    checkArgument('the name of a schema', name, aString)
    return this.#read(async ({ tables }) => tables.get(name)?.schema.definition)
  }

  async schemaVersion(name: string, ...surplus: never[]): Promise<string | undefined> {
    checkNoMore('schemaVersion()', surplus)
    checkArgument('the name of a schema', name, aString)
    return this.#read(async ({ tables }) => {
      const definition = tables.get(name)?.schema.definition
      return definition && versionOf(definition)
    })
  }

  async schemas(...surplus: never[]): Promise<SchemaDefinition[]> {
    checkNoMore('schemas()', surplus)
    return this.#read(async ({ tables }) =>
      [...tables.values()].map(({ schema }) => schema.definition).sort(byName),
    )
  }

  async schemaPage(query?: NamedPageOptions, ...surplus: never[]): Promise<SchemaPage> {
    checkNoMore('schemaPage()', surplus)
    const asked = checkOptions('schemaPage()', query, namedPageRules) as NamedPageOptions
    const list = namedList(await this.schemas())
    const { items, page } = pageOf(list, asked, this.#cursors, 'schemas')
    return { schemas: items, ...page }
  }

  async dropSchema(name: string, given?: ChangeConditions, ...surplus: never[]): Promise<boolean> {
    checkNoMore('dropSchema()', surplus)
    checkArgument('the name of a schema', name, aString)
    const { member } = this.#committer
    const conditions = conditionsIn(checkOptions('dropSchema()', given, conditionRules))
    return this.#inTurn(`schema ${name}`, () =>
      this.#committer.commitOfAll(async (draft) => {
        if (draft.touches(name)) throw new NotInThisDraft()
        const table = draft.table(name)
        if (table === undefined) return false
        const { rows, schema } = table
        checkSchema(conditions, name, schema)
        if (rows > 0) {
          throw new LorekeepError(
            'LK_SCHEMA_IN_USE',
            `'${name}' has ${rows === 1 ? '1 object' : `${rows} objects`}`,
            {
              details: { objects: rows },
            },
          )
        }
        draft.dropSchema(name)
        return true
      }, member),
    )
  }

  async import(
    batch: ObjectImport<object>,
    options: ObjectImportOptions = {},
    ...surplus: never[]
  ): Promise<ObjectImportResult> {
    checkNoMore('import()', surplus)
    const { onDuplicate, scope } = checkImportOptions(options)
    const parsed = parseImport(batch, this.#limits)
    checkTarget(scope, parsed.metadata, parsed.values.length)
    const { member } = this.#committer
    return this.#inFlight.run(async () => {
      const loading = loadValidators()
      if (loading !== undefined) await loading
      const importing = new Importing(parsed, {
        onDuplicate,
        scope,
        limits: this.#limits,
        isDeclared: this.#collections === 'declared',
      })
      const known = this.#committer.known.tables.get(parsed.schema_name)
      if (known !== undefined) importing.check(known.schema)
      return this.#commitIn(parsed.metadata.collection, (draft) => importing.commit(draft), member)
    })
  }

  async query<T extends object>(
    query: ObjectQuery,
    ...scope: [scope?: Scope]
  ): Promise<ObjectPage<StoredObject<T>>> {
    return this.#run(query, scopeGiven('query()', scope), ({ found, request }) => {
      const { limit, offset, fields } = request
      const { places, total, next, text } = found
      const objects = outputAll(places, fields, text?.scoreOf)
      return {
        objects: objects.map(asTyped<T>),
        total,
        limit,
        offset,
        ...(next !== undefined && { next }),
      }
    })
  }

  async explain(query: ObjectQuery, ...surplus: never[]): Promise<QueryPlan> {
    checkNoMore('explain()', surplus)
    const explained = (request: QueryRequest) => ({ ...request, isExplained: true as const })
    return this.#run(query, {}, ({ found, meter }) => planOf(found, meter), explained)
  }

  find<T extends object>(
    query: ObjectQuery,
    ...scope: [scope?: Scope]
  ): AsyncGenerator<StoredObject<T>> {
    const held = new Set<() => void>()
    const objects = this.#find<T>(query, scopeGiven('find()', scope), held)
    dropped.register(objects, held)
    return objects
  }

  async *#find<T extends object>(
    query: ObjectQuery,
    scope: Scope,
    held: Set<() => void>,
  ): AsyncGenerator<StoredObject<T>> {
    const end = this.#inFlight.begin()
    const { signal } = this.#inFlight
    // close() waits for whoever reads, and not for ever for one who does not go on.
    const letGo = () => letGoOf(held)
    held.add(end)
    signal.addEventListener('abort', letGo)
    try {
      const limits = {
        ...this.#limits,
        maxQueryLimit: Infinity,
        maxQueryObjects: Infinity,
        maxQueryMs: Infinity,
      }
      const questionOf = async (state: State) => {
        const { table, request } = await parseQuery(query, state, limits, scope, this.#cursors)
        const limit = query.limit === undefined ? Infinity : request.limit
        return { table, request: { ...request, limit } }
      }
      yield* findRows(
        this.#committer,
        questionOf,
        new Meter(limits),
        held,
        signal,
        readsOf(query),
      ) as AsyncGenerator<StoredObject<T>>
    } finally {
      signal.removeEventListener('abort', letGo)
      letGo()
    }
  }

  async get<T extends object>(
    collection: string,
    id: ObjectId,
    options: ObjectGetOptions = {},
    ...surplus: never[]
  ): Promise<StoredObject<T> | undefined> {
    checkNoMore('get()', surplus)
    checkArgument('the name of a collection', collection, aString)
    const text = idText(id)
    const { scope: given, reads } = checkOptions('get()', options, getOptions)
    const scope = copied(given)
    return this.#read(async (state) => {
      const place = await findPlace(state, this.#committer.memory, collection, text)
      const found = place?.block.stored(place.n)
      if (found === undefined) return undefined
      const { _user: user, _collection, _schema } = found
      const isHere = isSeen(scope, { user, collection: _collection }, _schema)
      return isHere ? asTyped<T>(found) : undefined
    }, reads)
  }

  async replace(
    collection: string,
    id: ObjectId,
    object: object,
    options: ObjectChangeOptions = {},
    ...surplus: never[]
  ): Promise<StoredObject | undefined> {
    checkNoMore('replace()', surplus)
    return this.#change('replace()', collection, id, options, (old, field) =>
      withId(object, field, old.id),
    )
  }

  async patch(
    collection: string,
    id: ObjectId,
    changes: object,
    options: ObjectChangeOptions = {},
    ...surplus: never[]
  ): Promise<StoredObject | undefined> {
    checkNoMore('patch()', surplus)
    checkChanges(changes)
    const patched = ({ object }: Row) => {
      checkNoOperators(object, changes)
      return mergePatch(object, changes as JsonObject)
    }
    return this.#change('patch()', collection, id, options, patched)
  }

  async delete(
    collection: string,
    id: ObjectId,
    options: ObjectChangeOptions = {},
    ...surplus: never[]
  ): Promise<boolean> {
    checkNoMore('delete()', surplus)
    checkArgument('the name of a collection', collection, aString)
    const { hash } = this.#committer.memory
    const change = new ObjectChange('delete()', collection, id, options, hash)
    return this.#inFlight.run(() => this.#commitIn(collection, (draft) => change.delete(draft)))
  }

  async collections(...surplus: never[]): Promise<CollectionStat[]> {
    checkNoMore('collections()', surplus)
    return this.#read(async (state) => statsOf(state).sort(byName))
  }

  async collectionPage(query?: CollectionQuery, ...surplus: never[]): Promise<CollectionPage> {
    checkNoMore('collectionPage()', surplus)
    const { scope, ...asked } = checkOptions('collectionPage()', query, collectionRules)
    const allowed = copied(scope).collections
    const all = await this.collections()
    const list = namedList(all.filter(({ name }) => allowed?.includes(name) ?? true))
    const { items, page } = pageOf(list, asked as NamedPageOptions, this.#cursors, 'collections')
    return { collections: items, ...page }
  }

  async createCollection(
    name: string,
    given?: ChangeConditions,
    ...surplus: never[]
  ): Promise<boolean> {
    checkNoMore('createCollection()', surplus)
    const conditions = conditionsIn(checkOptions('createCollection()', given, conditionRules))
    const reason = checkCollection(name)
    if (reason !== undefined) {
      const errors = [{ path: 'collection', message: reason }]
      throw new LorekeepError('LK_OBJECT_REQUEST', `collection ${reason}`, { details: { errors } })
    }
    return this.#inFlight.run(() =>
      this.#commitIn(name, async (draft) => {
        const there = collectionThere(draft, name)
        checkCollectionIs(conditions, name, there)
        if (there !== undefined) return false
        makeCollection(draft, name)
        return true
      }),
    )
  }

  async deleteCollection(
    name: string,
    given?: ChangeConditions,
    ...surplus: never[]
  ): Promise<number | undefined> {
    checkNoMore('deleteCollection()', surplus)
    checkArgument('the name of a collection', name, aString)
    const conditions = conditionsIn(checkOptions('deleteCollection()', given, conditionRules))
    return this.#deleteCollection(name, {
      check: (there) => checkCollectionIs(conditions, name, there),
    })
  }

  #deleteCollection(
    name: string,
    options: Pick<DeletionOptions, 'begun' | 'check'>,
  ): Promise<number | undefined> {
    const { closing, signal: stop } = this.#inFlight
    const signal = options.begun === undefined ? stop : closing
    const { member } = this.#committer
    const placing = this.#placing
    const work = () =>
      deleteCollection(this.#committer, name, signal, { ...options, member, placing })
    return this.#inTurn(`collection ${name}`, work, signal)
  }

  get fill(): Fill {
    return this.#committer.fill
  }

  get secret(): string {
    return this.#committer.secret
  }

  async close(timeoutMs: number): Promise<void> {
    this.#forget?.()
    await this.#inFlight.close(timeoutMs)
    await this.#committer.drained()
  }

  async #read<Result>(work: (state: State) => Promise<Result>, reads?: Reads): Promise<Result> {
    return this.#inFlight.run(() => this.#committer.read(work, reads))
  }

  async #run<Result>(
    query: ObjectQuery,
    scope: Scope,
    give: (answer: { found: QueryResult; request: QueryRequest; meter: Meter }) => Result,
    altered = (request: QueryRequest) => request,
  ): Promise<Result> {
    let begun: number | undefined
    return this.#read(async (state) => {
      // All attempts at it have the time of one.
      begun ??= performance.now()
      const parsed = await parseQuery(query, state, this.#limits, scope, this.#cursors)
      const { table } = parsed
      const request = altered(parsed.request)
      const meter = new Meter(this.#limits, begun)
      const found = await runQuery(table, this.#committer.memory, request, meter)
      return give({ found, request, meter })
    }, readsOf(query))
  }

  async #change(
    call: string,
    collection: string,
    id: ObjectId,
    options: ObjectChangeOptions,
    make: (old: Row, idField: string) => unknown,
  ): Promise<StoredObject | undefined> {
    checkArgument('the name of a collection', collection, aString)
    const { hash } = this.#committer.memory
    const change = new ObjectChange(call, collection, id, options, hash)
    return this.#inFlight.run(() =>
      this.#commitIn(collection, async (draft) => {
        const loading = loadValidators()
        if (loading !== undefined) await loading
        return change.put(draft, this.#limits, make)
      }),
    )
  }

  #commitIn<Result>(
    collection: string,
    change: Change<Result>,
    member = this.#committer.member,
  ): Promise<Result> {
    return commitIn(this.#committer, collection, this.#placing, change, member)
  }

  readonly #placing = () => this.#sharedTurn('new collections')

  /** What other processes are at they bring to its end first. It is for order alone: commits have their conditions. */
  async #sharedTurn(name: string, signal = this.#inFlight.signal): Promise<() => void> {
    const nothing = () => undefined
    if (this.#sharing === undefined) return nothing
    try {
      const most = AbortSignal.any([signal, AbortSignal.timeout(mostWaitMs)])
      return await this.#sharing.turn(name, most)
    } catch (error) {
      signal.throwIfAborted()
      if (hasCode(error, 'LK_CLOSED')) throw error
      return nothing
    }
  }

  /**
   * What somebody was building who is gone would be kept up by every commit, for nobody, and what his readers had would
   * stay.
   */
  async #cleanUpBehind(member: string): Promise<void> {
    const { closing, signal } = this.#inFlight
    if (signal.aborted) return
    await this.#inFlight.run(async () => {
      await this.#committer.commitOfAll(async (draft) => {
        for (const [name, building] of draft.state.building) {
          if (building.member === member && draft.building(name) === building) {
            draft.endBuilding(name)
          }
        }
      })
      await this.#committer.dropLeft(closing)
    })
  }

  async #inTurn<Result>(
    name: string,
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.#inFlight.run(async () => {
      const before = this.#turns.get(name)
      const turn = (async () => {
        await before?.catch(() => {})
        const end = await this.#sharedTurn(name, signal)
        try {
          return await work()
        } finally {
          end()
        }
      })()
      this.#turns.set(name, turn)
      try {
        return await turn
      } finally {
        if (this.#turns.get(name) === turn) this.#turns.delete(name)
      }
    })
  }
}

const schemaOfQuery = (query: unknown) => stringsIn(query, { schema: 'schema_name' })
const ofCollection = (collection: unknown) =>
  stringsIn({ collection }, { collection: 'collection' })
const ofSchema = (schema: unknown) => stringsIn({ schema }, { schema: 'schema' })
const nothing = () => ({})

traceMethods(StoredObjects, 'objects', {
  defineSchema: (definition) => stringsIn(definition, { schema: 'name' }),
  schema: ofSchema,
  schemaVersion: ofSchema,
  schemas: nothing,
  schemaPage: nothing,
  dropSchema: ofSchema,
  import: ofBatch,
  query: schemaOfQuery,
  explain: schemaOfQuery,
  find: schemaOfQuery,
  get: ofCollection,
  replace: ofCollection,
  patch: ofCollection,
  delete: ofCollection,
  collections: nothing,
  collectionPage: nothing,
  createCollection: ofCollection,
  deleteCollection: ofCollection,
})

function ofBatch(batch: unknown): Fields {
  const { metadata, values } = isRecord(batch) ? batch : {}
  return {
    ...schemaOfQuery(batch),
    ...stringsIn(metadata, { collection: 'collection', user: 'user' }),
    ...(Array.isArray(values) && { objects: values.length }),
  }
}

const getOptions = { scope: aScope, reads: aReads }

/** What a query says, before it is checked. */
function readsOf(query: unknown): Reads | undefined {
  const reads = isRecord(query) ? query.reads : undefined
  return aReads.holds(reads) ? reads : undefined
}

/** Whoever has the turn may stand still: after so long it is done without one. */
const mostWaitMs = 30_000

/** Of what type objects are, and which of their fields a query left, is for the caller's types. */
function asTyped<T extends object>(found: object): StoredObject<T> {
  return found as StoredObject<T>
}

const compareNames = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

function namedList<T extends { readonly name: string }>(all: readonly T[]) {
  return { all, nameOf: ({ name }: T) => name, compare: compareNames }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return compareNames(a.name, b.name)
}
