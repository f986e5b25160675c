import { encodeMessage } from '../codec/encoder.js'
import { tellClosing } from '../closing.js'
import { conditionRules, conditionsIn, type ChangeConditions } from '../conditions.js'
import { limitsOf } from '../door/limits.js'
import { checkArgument, checkNoMore, checkOptions } from '../door/options.js'
import { aCount, aFunction, anIterable, anyValue, aSignal, aString, oneOf } from '../door/rules.js'
import { exportDialects } from '../codec/dialects/names.js'
import { LorekeepError } from '../errors.js'
import { StoredGraph } from '../graph/graph.js'
import { fewestLinked } from '../graph/index/links-writer.js'
import type {
  Graph,
  GraphQuery,
  IndexOptions,
  IndexState,
  LibraryIndexState,
} from '../graph/types.js'
import { VectorMemory } from '../graph/vectors/memory.js'
import type { HeldParts } from '../graph/version.js'
import { isRecord } from '../door/wording.js'
import type { Fill, IndexPressure } from '../health.js'
import { eitherOf, InFlight } from '../in-flight.js'
import { listRules, pageRules, type Cursors } from '../paging.js'
import { aTime } from '../time-range.js'
import type { Reads } from '../reads.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Presence } from '../presence.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import type { CoreMessage, Embedder } from '../types.js'
import { Collector } from './collector.js'
import { createCoreExport } from './core-export.js'
import { checkCore, CoreImporter, importOptions } from './core-import.js'
import { knowledgeLimits, type KnowledgeLimits } from './limits.js'
import { CoreListing } from './core-listing.js'
import { CoreTable } from './core-table.js'
import { SameThings } from './same-things.js'
import { Libraries } from './library/libraries.js'
import { deleteTicks } from './library/ticks.js'
import { readWaiting } from './library/read-waiting.js'
import { checkGraphQuery } from './graph-query.js'
import { checkName, checkRef, coreKey, formatKey, formatVersion, toStat } from './records.js'
import type {
  CoreExport,
  CorePage,
  CoreQuery,
  CoreRef,
  CoreStat,
  ExportOptions,
  ImportOptions,
  ImportSummary,
  KnowledgeStore,
  OfUser,
} from './types.js'
import type { ByteSource } from '../byte-source.js'
import { stringsIn, traceMethods } from '../tracing.js'

interface KnowledgeParts {
  /** Small records. */
  readonly cores: Storage
  /** Bulk values. */
  readonly slices: Storage
  /** Nobody else has the storages open: what is half done in them was left by a former owner. */
  readonly isAlone: boolean
  /** Of those who share the storages. */
  readonly presence?: Presence | undefined
  /** How new that has to be which questions see, where they do not say it. */
  readonly reads?: Reads
  readonly cursors: Cursors
  readonly limits?: Partial<KnowledgeLimits> | undefined
  /** Gets errors of work that no caller waits for, such as deleting what was replaced. */
  readonly onError: (error: unknown) => void
  readonly now?: (() => number) | undefined
  /** Memory for blocks of indexes, and for vectors, in bytes. */
  readonly indexCacheBytes: number
  readonly vectorCacheBytes: number
  /** So many vectors of one length get an approximate index. */
  readonly minLinked?: number
  /** Merges of indexes that are under way at once; with 0, the default, nothing is done in the background. */
  readonly indexThreads?: number
  readonly indexBytesPerSecond?: number
  /** Makes the vector of a question in words. */
  readonly embedder: Embedder
  /** Whether no model makes it. */
  readonly isOffline: boolean
}

/** A KnowledgeStore and its end. The storages stay open: they are closed by who opened them. */
interface ClosableKnowledgeStore extends KnowledgeStore {
  /** Deletes no slices until the returned function is called. */
  holdDeletions(): () => void
  /** What it keeps in memory, and how its indexes are getting on. */
  readonly fill: { readonly graph: Fill; readonly vectors: Fill; readonly index: IndexPressure }
  /** Refuses new work, waits for what is under way, aborts it after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>
}

/** Opens the store: checks the format on disk and deletes what a crash left. */
export async function openKnowledgeStore(parts: KnowledgeParts): Promise<ClosableKnowledgeStore> {
  await checkFormat(parts.cores)
  const store = new StoredKnowledge(parts)
  if (parts.isAlone || parts.presence !== undefined) await store.sweep(parts.isAlone)
  await store.resume()
  return store
}

async function checkFormat(cores: Storage): Promise<void> {
  const stored = await cores.get(formatKey())
  if (stored === undefined) {
    const value = encodeRecord({ version: formatVersion })
    await cores.write([{ type: 'put', key: formatKey(), value }], { durable: true })
    return
  }
  const { version } = decodeRecord<{ version: number }>(stored)
  if (version !== formatVersion) {
    const detail = `this version reads format ${formatVersion}, the data is of format ${version}`
    throw new LorekeepError('LK_STORAGE_FORMAT', detail)
  }
}

const exportOptions = {
  dialect: oneOf(...exportDialects),
  from: aCount(),
  to: aCount(),
  signal: aSignal,
}
const messagesOptions = { signal: aSignal }
const indexOptions = { signal: aSignal, onProgress: aFunction }
// Names are for checkName(), which clients' go through too.
const coreFilter = {
  user: anyValue,
  prefix: aString,
  createdFrom: aTime,
  createdTo: aTime,
  updatedFrom: aTime,
  updatedTo: aTime,
}
const listOptions = { ...coreFilter, ...listRules }
const pageOptions = { ...coreFilter, ...pageRules }

class StoredKnowledge implements ClosableKnowledgeStore {
  readonly #cores: Storage
  readonly #slices: Storage
  readonly #collector: Collector
  readonly #table: CoreTable
  readonly #listing: CoreListing
  readonly #importer: CoreImporter
  readonly #libraries: Libraries
  readonly #memory: VectorMemory
  readonly #embedder: Embedder
  readonly #isOffline: boolean
  readonly #reads: Reads
  readonly #sameThings: SameThings
  readonly #inFlight = new InFlight()

  constructor(parts: KnowledgeParts) {
    const { cores, slices, onError, now = Date.now, minLinked = fewestLinked } = parts
    const limits = limitsOf(knowledgeLimits, parts.limits)
    this.#cores = cores
    this.#slices = slices
    const { presence, cursors } = parts
    this.#collector = new Collector(cores, slices, onError, presence)
    const table = new CoreTable(cores, this.#collector, presence)
    const closing = this.#inFlight.signal
    tellClosing(this, this.#inFlight.closing)
    this.#table = table
    this.#listing = new CoreListing(cores, cursors)
    this.#libraries = new Libraries({
      table,
      slices,
      read: (waiting) => readWaiting({ cores, slices }, waiting, presence !== undefined),
      cacheBytes: parts.indexCacheBytes,
      forgetVectors: (file) => this.#memory.forget(file),
      minLinked,
      now,
      threads: parts.indexThreads ?? 0,
      bytesPerSecond: parts.indexBytesPerSecond ?? Infinity,
      onError,
      mend: async (ref, member) => {
        // It takes what nothing else here needs at first.
        const { mendCore } = await import('./core-mending.js')
        return mendCore(ref, member, { table, slices, now })
      },
      presence,
    })
    const libraries = this.#libraries
    this.#importer = new CoreImporter({ table, libraries, slices, limits, minLinked, now, closing })
    this.#sameThings = new SameThings({
      stat: async (ref) => {
        const core = await table.read(ref)
        return core && toStat(core)
      },
      messages: (ref, options) => this.messages(ref, options),
      replace: (ref, messages, expected, { member, signal }) => {
        const options = { mode: 'replace', ...(signal && { signal }) } as const
        return this.#importer.import(ref, encodeMessages(messages), options, member, expected)
      },
    })
    this.#memory = new VectorMemory(parts.vectorCacheBytes)
    this.#embedder = parts.embedder
    this.#isOffline = parts.isOffline
    this.#reads = parts.reads ?? 'fresh'
  }

  async sweep(isAlone: boolean): Promise<void> {
    if (!isAlone) return this.#collector.sweepDead()
    await deleteTicks(this.#cores)
    await this.#collector.sweep()
  }

  async resume(): Promise<void> {
    await this.#libraries.begin()
    await this.#libraries.resume()
  }

  async import(
    ref: CoreRef,
    source: ByteSource,
    options: ImportOptions = {},
  ): Promise<ImportSummary> {
    const core = checkRef(ref)
    const { member } = this.#table
    const importing = () => this.#importer.import(core, source, options, member)
    const summary = await this.#inFlight.run(importing)
    // What was there already may have no index yet.
    if (summary.duplicate && options.index === true) {
      const until = this.#until({ signal: options.signal }, member)
      await this.#inFlight.run(() => this.#libraries.index(core, until))
    }
    return summary
  }

  async write(
    ref: CoreRef,
    messages: Iterable<CoreMessage> | AsyncIterable<CoreMessage>,
    options: ImportOptions = {},
  ): Promise<ImportSummary> {
    checkArgument('the messages of write()', messages, anIterable)
    checkOptions('write()', options, importOptions)
    return this.import(ref, encodeMessages(messages), options)
  }

  async export(ref: CoreRef, options: ExportOptions = {}): Promise<CoreExport> {
    const checked = checkOptions('export()', options, exportOptions)
    const { dialect = 'specification', from, to, signal } = checked
    if (dialect !== 'specification' && (from ?? to) !== undefined) {
      throw new TypeError(
        `export(): from and to are for what is stored, not for dialect '${dialect}'`,
      )
    }
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      signal?.throwIfAborted()
      const { core, release } = await this.#table.pinned(name)
      const [cores, slices, inFlight] = [this.#cores, this.#slices, this.#inFlight]
      const isGone = async () => {
        if (!this.#table.isShared) return false
        return (await this.#table.read(name))?.generation !== core.generation
      }
      const end = Math.min(core.bytes, to ?? Infinity)
      const range = { from: Math.min(from ?? 0, end), to: end }
      const parts = { core, dialect, range, cores, slices, inFlight, signal, release, isGone }
      return createCoreExport(parts)
    })
  }

  async *messages(
    ref: CoreRef,
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<CoreMessage, void, undefined> {
    checkOptions('messages()', options, messagesOptions)
    // Who opens a store and asks has nothing of msgpackr, which takes 20 ms to load.
    const { MessageDecoder } = await import('../codec/decoder.js')
    const decoder = new MessageDecoder()
    for await (const chunk of await this.export(ref, options)) yield* decoder.push(chunk)
    decoder.finish()
  }

  async stat(ref: CoreRef, ...surplus: never[]): Promise<CoreStat | undefined> {
    checkNoMore('stat()', surplus)
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      const core = await this.#table.read(name)
      return core && toStat(core)
    })
  }

  async *list(query: CoreQuery, ...surplus: never[]): AsyncGenerator<CoreStat, void, undefined> {
    checkNoMore('list()', surplus)
    const asked = checkOptions('list()', query, listOptions) as CoreQuery
    this.#inFlight.check()
    for await (const core of this.#listing.list(asked)) {
      yield core
      this.#inFlight.check()
    }
  }

  corePage(query: CoreQuery, ...surplus: never[]): Promise<CorePage> {
    checkNoMore('corePage()', surplus)
    return this.#inFlight.run(async () => {
      return this.#listing.page(checkOptions('corePage()', query, pageOptions) as CoreQuery)
    })
  }

  async delete(ref: CoreRef, given?: ChangeConditions, ...surplus: never[]): Promise<boolean> {
    checkNoMore('delete()', surplus)
    const name = checkRef(ref)
    const conditions = conditionsIn(checkOptions('delete()', given, conditionRules))
    const { member } = this.#table
    return this.#inFlight.run(async () => {
      const key = coreKey(name)
      for (;;) {
        const found = await this.#libraries.toBeChanged(name, member)
        if (found === undefined) return false
        const { core, stored } = found
        checkCore(conditions, name, core)
        const { generation } = core
        const operations: Operation[] = [{ type: 'del', key }, this.#table.markGarbage(generation)]
        const require: Precondition[] = [{ type: 'equals', key, value: stored }]
        const change = { name, operations, require, member, retired: generation }
        if (!(await this.#libraries.commit(change))) continue
        this.#collector.retire(generation)
        return true
      }
    })
  }

  graph(query: GraphQuery, ...surplus: never[]): Graph {
    checkNoMore('graph()', surplus)
    const checked = checkGraphQuery(query)
    return new StoredGraph(
      {
        open: (asked, signal) => this.#open(asked, signal),
        closing: this.#inFlight.signal,
        closed: this.#inFlight.closing,
        memory: this.#memory,
        embed: this.#embedder,
        isOffline: this.#isOffline,
        decide: (asked, plan, signal) => {
          const { member } = this.#table
          return this.#inFlight.run(() => this.#sameThings.decide(asked, plan, { member, signal }))
        },
      },
      checked,
    )
  }

  index(ref: CoreRef, options?: IndexOptions): Promise<IndexState>
  index(all: OfUser, options?: IndexOptions): Promise<LibraryIndexState>
  async index(
    asked: CoreRef | OfUser,
    options: IndexOptions = {},
  ): Promise<IndexState | LibraryIndexState> {
    checkOptions('index()', options, indexOptions)
    const until = this.#until(options, this.#table.member)
    const libraries = this.#libraries
    if (!isOfUser(asked)) {
      const name = checkRef(asked)
      return this.#inFlight.run(() => libraries.index(name, until))
    }
    const user = checkName('user', asked.user)
    return this.#inFlight.run(() => libraries.indexAll(user, until))
  }

  #until(options: IndexOptions, member: string | undefined) {
    return { ...options, member, signal: eitherOf(this.#inFlight.signal, options.signal) }
  }

  indexState(ref: CoreRef, ...surplus: never[]): Promise<IndexState>
  indexState(all: OfUser, ...surplus: never[]): Promise<LibraryIndexState>
  async indexState(
    asked: CoreRef | OfUser,
    ...surplus: never[]
  ): Promise<IndexState | LibraryIndexState> {
    checkNoMore('indexState()', surplus)
    const libraries = this.#libraries
    if (!isOfUser(asked)) {
      const name = checkRef(asked)
      return this.#inFlight.run(() => libraries.state(name))
    }
    const user = checkName('user', asked.user)
    return this.#inFlight.run(() => libraries.stateOfAll(user))
  }

  /** A question is work under way until it lets go of what it holds. */
  #open(
    { user, cores, reads = this.#reads }: GraphQuery,
    signal: AbortSignal | undefined,
  ): HeldParts | Promise<HeldParts> {
    const endWork = this.#inFlight.begin()
    const until =
      signal === undefined ? this.#inFlight.signal : eitherOf(this.#inFlight.signal, signal)
    try {
      const held = this.#libraries.open(user, cores, until, reads)
      if (!(held instanceof Promise)) return ending(held, endWork)
      return held.then(
        (parts) => ending(parts, endWork),
        (error: unknown) => {
          endWork()
          throw error
        },
      )
    } catch (error) {
      endWork()
      throw error
    }
  }

  get fill() {
    const { bytes, capacity: maxBytes } = this.#memory
    const { cache: graph, pressure: index } = this.#libraries
    return { graph, vectors: { bytes, maxBytes }, index }
  }

  holdDeletions(): () => void {
    return this.#collector.hold()
  }

  async close(timeoutMs: number): Promise<void> {
    const began = performance.now()
    await this.#inFlight.close(timeoutMs)
    await this.#libraries.stop()
    await this.#collector.close(Math.max(0, timeoutMs - (performance.now() - began)))
  }
}

const ofCore = (ref: unknown) => stringsIn(ref, { user: 'user', core: 'id' })

traceMethods(StoredKnowledge, 'knowledge', {
  import: ofCore,
  write: ofCore,
  export: ofCore,
  messages: ofCore,
  stat: ofCore,
  list: ofCore,
  corePage: ofCore,
  delete: ofCore,
  index: ofCore,
  indexState: ofCore,
})

function ending({ parts, release }: HeldParts, endWork: () => void): HeldParts {
  return {
    parts,
    release: () => {
      release()
      endWork()
    },
  }
}

/** All that a user has, and not a core whose id was forgotten, or some other choice. */
function isOfUser(asked: CoreRef | OfUser): asked is OfUser {
  return isRecord(asked) && Object.keys(asked).join() === 'user'
}

async function* encodeMessages(
  messages: Iterable<CoreMessage> | AsyncIterable<CoreMessage>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let index = 0
  for await (const message of messages) yield encodeMessage(message, index++)
}
