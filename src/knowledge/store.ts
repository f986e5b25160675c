import { MessageDecoder } from '../codec/decoder.js'
import { encodeMessage } from '../codec/encoder.js'
import { tellClosing } from '../closing.js'
import { limitsOf } from '../door/limits.js'
import { checkArgument, checkNoMore, checkOptions } from '../door/options.js'
import { aCount, aFunction, anIterable, anyValue, aSignal, oneOf } from '../door/rules.js'
import { exportDialects } from '../codec/dialects/names.js'
import { hasCode, LorekeepError } from '../errors.js'
import { StoredGraph, type GraphParts } from '../graph/graph.js'
import type { HeldCores } from '../graph/holding.js'
import { fewestLinked } from '../graph/index/links-writer.js'
import type { Graph, GraphQuery, IndexOptions, IndexState } from '../graph/types.js'
import { VectorMemory } from '../graph/vectors/memory.js'
import type { CoreVersion } from '../graph/version.js'
import { eitherOf, InFlight } from '../in-flight.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import type { CoreMessage, Embedder } from '../types.js'
import { Collector } from './collector.js'
import { createCoreExport } from './core-export.js'
import { CoreImporter, markGarbage, importOptions } from './core-import.js'
import { knowledgeLimits, type KnowledgeLimits } from './limits.js'
import { CoreIndexes } from './core-indexes.js'
import { CoreTable } from './core-table.js'
import { checkGraphQuery } from './graph-query.js'
import {
  checkName,
  checkRef,
  coreKey,
  coresOf,
  formatKey,
  formatVersion,
  type CoreRecord,
} from './records.js'
import type {
  CoreExport,
  CoreRef,
  CoreStat,
  ExportOptions,
  ImportOptions,
  ImportSummary,
  KnowledgeStore,
} from './types.js'
import type { ByteSource } from '../byte-source.js'

interface KnowledgeParts {
  /** Small records. */
  readonly cores: Storage
  /** Bulk values. */
  readonly slices: Storage
  /** Nobody else has the storages open: what is half done in them was left by a former owner. */
  readonly isAlone: boolean
  readonly limits?: Partial<KnowledgeLimits> | undefined
  /** Gets errors of work that no caller waits for, such as deleting what was replaced. */
  readonly onError: (error: unknown) => void
  readonly now?: (() => number) | undefined
  /** Memory for blocks of indexes, and for vectors, in bytes. */
  readonly indexCacheBytes: number
  readonly vectorCacheBytes: number
  /** So many vectors of one length get an approximate index. */
  readonly minLinked?: number
  /** Makes the vector of a question in words. */
  readonly embedder: Embedder
  /** Looks up the text of a passage. */
  readonly passage?: GraphParts['passage']
}

/** A KnowledgeStore and its end. The storages stay open: they are closed by who opened them. */
interface ClosableKnowledgeStore extends KnowledgeStore {
  /** Deletes no slices until the returned function is called. */
  holdDeletions(): () => void
  /** Refuses new work, waits for what is under way, aborts it after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>
}

/** Opens the store: checks the format on disk and deletes what a crash left. */
export async function openKnowledgeStore(parts: KnowledgeParts): Promise<ClosableKnowledgeStore> {
  await checkFormat(parts.cores)
  const store = new StoredKnowledge(parts)
  if (parts.isAlone) await store.sweep()
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

const exportOptions = { dialect: oneOf(...exportDialects), signal: aSignal }
const messagesOptions = { signal: aSignal }
const indexOptions = { signal: aSignal, onProgress: aFunction }
// Names are for checkName(), which clients' go through too.
const listOptions = { user: anyValue, after: anyValue, limit: aCount() }

class StoredKnowledge implements ClosableKnowledgeStore {
  readonly #cores: Storage
  readonly #slices: Storage
  readonly #collector: Collector
  readonly #table: CoreTable
  readonly #importer: CoreImporter
  readonly #indexes: CoreIndexes
  readonly #memory: VectorMemory
  readonly #embedder: Embedder
  readonly #passage: GraphParts['passage']
  readonly #inFlight = new InFlight()

  constructor(parts: KnowledgeParts) {
    const { cores, slices, onError, now = Date.now, minLinked = fewestLinked } = parts
    const limits = limitsOf(knowledgeLimits, parts.limits)
    this.#cores = cores
    this.#slices = slices
    this.#collector = new Collector(cores, slices, onError)
    const table = new CoreTable(cores, this.#collector)
    const closing = this.#inFlight.signal
    tellClosing(this, this.#inFlight.closing)
    this.#table = table
    this.#importer = new CoreImporter({ table, slices, limits, minLinked, now, closing })
    this.#indexes = new CoreIndexes({
      table,
      slices,
      cacheBytes: parts.indexCacheBytes,
      minLinked,
      now,
    })
    this.#memory = new VectorMemory(parts.vectorCacheBytes)
    this.#embedder = parts.embedder
    this.#passage = parts.passage
  }

  async sweep(): Promise<void> {
    await this.#collector.sweep()
  }

  async import(
    ref: CoreRef,
    source: ByteSource,
    options: ImportOptions = {},
  ): Promise<ImportSummary> {
    const core = checkRef(ref)
    const summary = await this.#inFlight.run(() => this.#importer.import(core, source, options))
    // What was there already may have no index yet.
    if (summary.duplicate && options.index === true)
      await this.index(ref, { signal: options.signal })
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
    const { dialect = 'specification', signal } = checkOptions('export()', options, exportOptions)
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      signal?.throwIfAborted()
      const { core, release } = await this.#table.pinned(name)
      const [cores, slices, inFlight] = [this.#cores, this.#slices, this.#inFlight]
      return createCoreExport({ core, dialect, cores, slices, inFlight, signal, release })
    })
  }

  async *messages(
    ref: CoreRef,
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<CoreMessage, void, undefined> {
    checkOptions('messages()', options, messagesOptions)
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

  async *list(
    query: {
      readonly user: string
      readonly after?: string
      readonly limit?: number
    },
    ...surplus: never[]
  ): AsyncGenerator<CoreStat, void, undefined> {
    checkNoMore('list()', surplus)
    const { user: named, after, limit } = checkOptions('list()', query, listOptions)
    const user = checkName('user', named)
    const { gt, lt } = coresOf(user)
    const from = after === undefined ? gt : coreKey({ user, id: checkName('after', after) })
    this.#inFlight.check()
    const range = { gt: from, lt, ...(limit !== undefined && { limit }) }
    for await (const page of this.#cores.scan(range)) {
      for (const { value } of page) yield toStat(decodeRecord<CoreRecord>(value))
    }
  }

  async delete(ref: CoreRef, ...surplus: never[]): Promise<boolean> {
    checkNoMore('delete()', surplus)
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      const key = coreKey(name)
      for (;;) {
        const stored = await this.#cores.get(key)
        if (stored === undefined) return false
        const { generation } = decodeRecord<CoreRecord>(stored)
        const operations: Operation[] = [{ type: 'del', key }, markGarbage(generation)]
        const require: Precondition[] = [{ type: 'equals', key, value: stored }]
        if (!(await this.#table.attempt(name, operations, require))) continue
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
        open: (asked, signal) => this.#openCores(asked, signal),
        closing: this.#inFlight.signal,
        closed: this.#inFlight.closing,
        memory: this.#memory,
        embedder: this.#embedder,
        passage: this.#passage,
      },
      checked,
    )
  }

  async index(ref: CoreRef, options: IndexOptions = {}): Promise<IndexState> {
    checkOptions('index()', options, indexOptions)
    const name = checkRef(ref)
    const { signal: closing } = this.#inFlight
    const signal = eitherOf(closing, options.signal)
    return this.#inFlight.run(() => this.#indexes.index(name, { ...options, signal }))
  }

  async indexState(ref: CoreRef, ...surplus: never[]): Promise<IndexState> {
    checkNoMore('indexState()', surplus)
    const name = checkRef(ref)
    return this.#inFlight.run(() => this.#indexes.state(name))
  }

  /** A question is work under way until it lets go of its cores. */
  #openCores(query: GraphQuery, signal: AbortSignal | undefined): HeldCores | Promise<HeldCores> {
    const endWork = this.#inFlight.begin()
    const { user, cores } = query
    const [id] = cores ?? []
    if (cores?.length === 1 && id !== undefined) {
      // One core that is known: there is nothing to wait for.
      const version = this.#indexes.known({ user, id })
      if (version !== undefined) {
        const release = () => {
          version.release()
          endWork()
        }
        return { cores: version.asCores, release }
      }
    }
    return this.#openAll(query, signal, endWork)
  }

  async #openAll(
    { user, cores }: GraphQuery,
    signal: AbortSignal | undefined,
    endWork: () => void,
  ): Promise<HeldCores> {
    const held: (() => void)[] = [endWork]
    const release = () => {
      for (const letGo of held.splice(0)) letGo()
    }
    const stop = this.#inFlight.signal
    const until = eitherOf(stop, signal)
    try {
      const found: CoreVersion[] = []
      for (const id of cores ?? (await this.#idsOf(user))) {
        const version = await this.#opened({ user, id }, until, cores !== undefined)
        if (version === undefined) continue
        held.push(version.release)
        found.push(...version.asCores)
      }
      return { cores: found, release }
    } catch (error) {
      release()
      throw error
    }
  }

  async #idsOf(user: string): Promise<string[]> {
    const ids: string[] = []
    for await (const { id } of this.list({ user })) ids.push(id)
    return ids
  }

  /** Undefined for a core that was not named, and deleted since it was listed. */
  async #opened(name: CoreRef, signal: AbortSignal, isNamed: boolean) {
    const known = this.#indexes.known(name)
    if (known !== undefined) return known
    try {
      return await this.#indexes.open(name, signal)
    } catch (error) {
      if (isNamed || !hasCode(error, 'LK_CORE_NOT_FOUND')) throw error
      return undefined
    }
  }

  holdDeletions(): () => void {
    return this.#collector.hold()
  }

  async close(timeoutMs: number): Promise<void> {
    await this.#inFlight.close(timeoutMs)
    await this.#collector.close()
  }
}

function toStat({ generation: _, ...stat }: CoreRecord): CoreStat {
  return stat
}

async function* encodeMessages(
  messages: Iterable<CoreMessage> | AsyncIterable<CoreMessage>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let index = 0
  for await (const message of messages) yield encodeMessage(message, index++)
}
