import { createHash } from 'node:crypto'
import { MessageDecoder } from '../codec/decoder.js'
import { encodeMessage } from '../codec/encoder.js'
import { checkLimit, resolveLimits, type CodecLimits } from '../codec/limits.js'
import { CoreScanner } from '../codec/scanner.js'
import { hasCode, LorekeepError } from '../errors.js'
import { InFlight } from '../in-flight.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import type { CoreMessage } from '../types.js'
import { readSteps } from './byte-source.js'
import { Collector } from './collector.js'
import { createCoreExport } from './core-export.js'
import {
  checkName,
  checkRef,
  contentKey,
  coreKey,
  coresOf,
  createId,
  formatKey,
  garbageKey,
  segmentKey,
  stagedKey,
  type CoreRecord,
  type SegmentRecord,
} from './records.js'
import { decodeRecord, encodeRecord } from '../record.js'
import { SegmentWriter } from './segment-writer.js'
import type {
  ByteSource,
  CoreCounts,
  CoreExport,
  CoreRef,
  CoreStat,
  ImportOptions,
  ImportSummary,
  KnowledgeStore,
} from './types.js'

/** The most bytes of a source that are taken in one step, before an abort is looked for. */
const stepBytes = 128 * 1024

const formatVersion = 1

const emptyDigest = createHash('sha256').digest('hex')

export interface KnowledgeLimits extends CodecLimits {
  /** The bytes of one import. */
  readonly maxCoreBytes: number
}

export interface KnowledgeParts {
  /** Small records. */
  readonly cores: Storage
  /** Bulk values. */
  readonly slices: Storage
  readonly limits?: Partial<KnowledgeLimits> | undefined
  /** Gets errors of work that no caller waits for, such as deleting what was replaced. */
  readonly onError: (error: unknown) => void
  readonly now?: (() => number) | undefined
}

/** A KnowledgeStore and its end. The storages stay open: they are closed by who opened them. */
export interface OpenKnowledgeStore extends KnowledgeStore {
  /** Refuses new work, waits for what is under way, aborts it after `timeoutMs`. */
  close(timeoutMs: number): Promise<void>
}

/** Opens the store: checks the format on disk and deletes what a crash left. */
export async function openKnowledgeStore(parts: KnowledgeParts): Promise<OpenKnowledgeStore> {
  await checkFormat(parts.cores)
  const store = new StoredKnowledge(parts)
  await store.sweep()
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

class StoredKnowledge implements OpenKnowledgeStore {
  readonly #cores: Storage
  readonly #slices: Storage
  readonly #limits: KnowledgeLimits
  readonly #now: () => number
  readonly #collector: Collector
  readonly #inFlight = new InFlight()

  constructor({ cores, slices, limits, onError, now = Date.now }: KnowledgeParts) {
    const { maxCoreBytes = 4 * 1024 ** 3, ...codecLimits } = limits ?? {}
    checkLimit('maxCoreBytes', maxCoreBytes)
    this.#cores = cores
    this.#slices = slices
    this.#limits = { ...resolveLimits(codecLimits), maxCoreBytes }
    this.#now = now
    this.#collector = new Collector(cores, slices, onError)
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
    return this.#inFlight.run(() => this.#import(core, source, options))
  }

  async write(
    ref: CoreRef,
    messages: Iterable<CoreMessage> | AsyncIterable<CoreMessage>,
    options: ImportOptions = {},
  ): Promise<ImportSummary> {
    return this.import(ref, encodeMessages(messages), options)
  }

  async export(
    ref: CoreRef,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<CoreExport> {
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      signal?.throwIfAborted()
      const { core, release } = await this.#pinned(name)
      const [cores, slices, inFlight] = [this.#cores, this.#slices, this.#inFlight]
      return createCoreExport({ core, cores, slices, inFlight, signal, release })
    })
  }

  async *messages(
    ref: CoreRef,
    options: { readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<CoreMessage, void, undefined> {
    const decoder = new MessageDecoder()
    for await (const chunk of await this.export(ref, options)) yield* decoder.push(chunk)
    decoder.finish()
  }

  async stat(ref: CoreRef): Promise<CoreStat | undefined> {
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      const core = await this.#read(name)
      return core && toStat(core)
    })
  }

  async *list(query: {
    readonly user: string
    readonly after?: string
    readonly limit?: number
  }): AsyncGenerator<CoreStat, void, undefined> {
    const user = checkName('user', query.user)
    const { gt, lt } = coresOf(user)
    const { after } = query
    const from = after === undefined ? gt : coreKey({ user, id: checkName('id', after) })
    this.#inFlight.check()
    const range = { gt: from, lt, ...(query.limit !== undefined && { limit: query.limit }) }
    for await (const page of this.#cores.scan(range)) {
      for (const { value } of page) yield toStat(decodeRecord<CoreRecord>(value))
    }
  }

  async delete(ref: CoreRef): Promise<boolean> {
    const name = checkRef(ref)
    return this.#inFlight.run(async () => {
      const key = coreKey(name)
      for (;;) {
        const stored = await this.#cores.get(key)
        if (stored === undefined) return false
        const { generation } = decodeRecord<CoreRecord>(stored)
        const operations: Operation[] = [{ type: 'del', key }, markGarbage(generation)]
        const require: Precondition[] = [{ type: 'equals', key, value: stored }]
        if (!(await this.#attempt(operations, require))) continue
        this.#collector.retire(generation)
        return true
      }
    })
  }

  async close(timeoutMs: number): Promise<void> {
    await this.#inFlight.close(timeoutMs)
    await this.#collector.close()
  }

  async #import(name: CoreRef, source: ByteSource, options: ImportOptions): Promise<ImportSummary> {
    const mode = checkMode(options.mode)
    const id = createId(this.#now())
    const writer = new SegmentWriter(this.#slices, id)
    const scanner = new CoreScanner(writer, name, this.#limits)
    // What an error has to undo: a failed write may have happened, so each comes before its own.
    let staged = false
    let committing = false
    const writeFull = async () => {
      if (!staged) {
        staged = true
        await this.#stage(id)
      }
      await writer.writeFull()
    }
    const counts = (): CoreCounts => ({
      bytes: writer.bytes,
      messages: scanner.messages,
      triples: scanner.triples,
      entities: scanner.entities,
      vectors: scanner.vectors,
    })
    let summary: Omit<ImportSummary, 'duplicate'> | undefined
    this.#collector.retry()
    try {
      for await (const step of readSteps(source, stepBytes, [
        options.signal,
        this.#inFlight.signal,
      ])) {
        if (scanner.offset + step.length > this.#limits.maxCoreBytes) this.#failCoreSize()
        scanner.push(step)
        if (writer.hasFull) {
          await writeFull()
          options.onProgress?.(counts())
        }
      }
      scanner.finish()
      const digest = writer.digest()
      summary = { ...counts(), digest }
      // Known before the first slice of a small stream is written: a retry of it writes nothing.
      if (await this.#holds(name, mode, digest)) {
        if (staged) await this.#discard(id, writer)
        return { ...summary, duplicate: true }
      }
      if (writer.slices > 0) await writeFull()
      await writer.finish()
      options.onProgress?.(counts())
      const createdAt = new Date(this.#now()).toISOString()
      const segment: SegmentRecord = { id, slices: writer.slices, ...summary, createdAt }
      committing = true
      const duplicate = await this.#commit(name, mode, segment)
      if (duplicate && staged) await this.#discard(id, writer)
      return { ...summary, duplicate }
    } catch (error) {
      const discarded = !staged || (await this.#discard(id, writer))
      if (discarded || !committing || !summary) throw error
      // The storage failed after it had carried out the commit.
      return { ...summary, duplicate: false }
    }
  }

  /** From here on a crash leaves a record of the segment, so that its slices can be deleted. */
  async #stage(id: string): Promise<void> {
    const key = stagedKey(id)
    const value = encodeRecord({ state: 'importing' })
    await this.#cores.write([{ type: 'put', key, value }], {
      durable: true,
      require: [{ type: 'absent', key }],
    })
  }

  /** False where the segment turns out to have been committed. */
  async #discard(id: string, writer: SegmentWriter): Promise<boolean> {
    await writer.settle()
    try {
      return await this.#collector.discard(id)
    } catch {
      // The collector tries again, and reports it then; the import's own error is the one to tell.
      this.#collector.retry()
      return true
    }
  }

  /** Makes a written segment part of the core, in one step. True where its content was there already. */
  async #commit(
    name: CoreRef,
    mode: 'append' | 'replace',
    segment: SegmentRecord,
  ): Promise<boolean> {
    for (;;) {
      const stored = await this.#cores.get(coreKey(name))
      const core = stored && decodeRecord<CoreRecord>(stored)
      if (core && (await this.#contains(core, mode, segment.digest))) return true
      const replaced = mode === 'replace' ? core : undefined
      const base = (mode === 'append' && core) || emptyCore(name, createId(this.#now()), segment)
      const next = segment.slices > 0 ? extend(base, segment) : base
      const key = coreKey(name)
      const operations: Operation[] = [{ type: 'put', key, value: encodeRecord(next) }]
      const require: Precondition[] = [
        stored ? { type: 'equals', key, value: stored } : { type: 'absent', key },
      ]
      if (segment.slices > 0) {
        const { generation } = next
        const content = contentKey(generation, segment.digest)
        const at = segmentKey(generation, base.segments)
        operations.push({ type: 'put', key: at, value: encodeRecord(segment) })
        operations.push({ type: 'put', key: content, value: new Uint8Array(0) })
        operations.push({ type: 'del', key: stagedKey(segment.id) })
        const value = encodeRecord({ state: 'importing' })
        require.push({ type: 'equals', key: stagedKey(segment.id), value })
      }
      if (replaced) operations.push(markGarbage(replaced.generation))
      if (!(await this.#attempt(operations, require))) continue
      if (replaced) this.#collector.retire(replaced.generation)
      return false
    }
  }

  /**
   * A write that turns on a core record. False where another writer was first, and the step has
   * to be thought over.
   */
  async #attempt(
    operations: readonly Operation[],
    require: readonly Precondition[],
  ): Promise<boolean> {
    try {
      await this.#cores.write(operations, { durable: true, require })
      return true
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CONFLICT') && error.details['index'] === 0) return false
      this.#collector.lookForGarbage()
      throw error
    }
  }

  async #holds(name: CoreRef, mode: 'append' | 'replace', digest: string): Promise<boolean> {
    const core = await this.#read(name)
    return core !== undefined && (await this.#contains(core, mode, digest))
  }

  /** True where an import of this content would change nothing. */
  async #contains(core: CoreRecord, mode: 'append' | 'replace', digest: string): Promise<boolean> {
    if (mode === 'replace') return core.segments <= 1 && core.digest === digest
    if (digest === emptyDigest) return true
    return (await this.#cores.get(contentKey(core.generation, digest))) !== undefined
  }

  async #read(name: CoreRef): Promise<CoreRecord | undefined> {
    const stored = await this.#cores.get(coreKey(name))
    return stored && decodeRecord<CoreRecord>(stored)
  }

  /**
   * The core, its generation pinned. It is read again after the pin: had it been replaced before,
   * its slices might already be on their way out.
   */
  async #pinned(name: CoreRef): Promise<{ core: CoreRecord; release: () => void }> {
    for (;;) {
      const found = await this.#read(name)
      if (!found) {
        throw new LorekeepError('LK_CORE_NOT_FOUND', `user '${name.user}' has no '${name.id}'`)
      }
      const release = this.#collector.pin(found.generation)
      try {
        const core = await this.#read(name)
        if (core?.generation === found.generation) return { core, release }
      } catch (error) {
        release()
        throw error
      }
      release()
    }
  }

  #failCoreSize(): never {
    const most = this.#limits.maxCoreBytes
    throw new LorekeepError(
      'LK_CORE_TOO_LARGE',
      `at most ${most} bytes (maxCoreBytes) are accepted`,
      {
        details: { maxCoreBytes: most },
      },
    )
  }
}

function emptyCore(name: CoreRef, generation: string, { createdAt }: SegmentRecord): CoreRecord {
  const counts = { bytes: 0, messages: 0, triples: 0, entities: 0, vectors: 0 }
  const times = { createdAt, updatedAt: createdAt }
  return { ...name, generation, segments: 0, ...counts, digest: emptyDigest, ...times }
}

function extend(core: CoreRecord, segment: SegmentRecord): CoreRecord {
  return {
    ...core,
    segments: core.segments + 1,
    bytes: core.bytes + segment.bytes,
    messages: core.messages + segment.messages,
    triples: core.triples + segment.triples,
    entities: core.entities + segment.entities,
    vectors: core.vectors + segment.vectors,
    digest: core.segments === 0 ? segment.digest : chain(core.digest, segment.digest),
    updatedAt: segment.createdAt,
  }
}

/** A core's digest from that of its segments until now and of the one that is added. */
function chain(core: string, segment: string): string {
  return createHash('sha256')
    .update(Buffer.from(core + segment, 'hex'))
    .digest('hex')
}

function markGarbage(generation: string): Operation {
  return { type: 'put', key: garbageKey(generation), value: new Uint8Array(0) }
}

function toStat({ generation: _, ...stat }: CoreRecord): CoreStat {
  return stat
}

function checkMode(mode: unknown = 'append'): 'append' | 'replace' {
  if (mode === 'append' || mode === 'replace') return mode
  throw new TypeError(`mode must be 'append' or 'replace', not ${String(mode)}`)
}

async function* encodeMessages(
  messages: Iterable<CoreMessage> | AsyncIterable<CoreMessage>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let index = 0
  for await (const message of messages) yield encodeMessage(message, index++)
}
