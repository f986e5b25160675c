import { hasCode, LorekeepError } from '../errors.js'
import { BlockCache } from '../graph/index/block-cache.js'
import { IndexBuilder, linkParts } from '../graph/index/index-builder.js'
import { unlinked } from '../graph/index/links-writer.js'
import { layoutOf, type VectorRecord } from '../graph/index/layout.js'
import { Part, type IndexParts } from '../graph/index/part.js'
import type { IndexOptions, IndexState } from '../graph/types.js'
import { areFollowed } from '../graph/vectors/links.js'
import type { CoreVersion } from '../graph/version.js'
import { decodeKey } from '../keys.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Operation, Precondition, Storage } from '../storage.js'
import type { CoreTable, PinnedCore } from './core-table.js'
import {
  coreKey,
  createId,
  indexesOf,
  indexKey,
  segmentKey,
  stagedKey,
  type CoreRecord,
  type IndexRecord,
  type SegmentRecord,
} from './records.js'
import { segmentSlices } from './segment-bytes.js'
import type { CoreRef } from './types.js'

/**
 * Segments are indexed together up to so many bytes, which is about what a part holds. An index that
 * is there is made anew with what came after it where it is not much larger than that (so a core that
 * grows by small imports has few indexes, and each segment is read a few times in all).
 */
const maxMergedBytes = 128 * 1024 * 1024
const mostTimesLarger = 2
/** So many indexes a core may have before questions wait for them to be merged. */
const maxIndexes = 8

/** Versions of cores that are kept at hand. Small: their blocks are in the cache. */
const maxVersions = 20_000

interface StoredIndex {
  readonly from: number
  readonly stored: Uint8Array
  readonly record: IndexRecord
}

/**
 * A core's indexes as they were found, which are its own until its record is written. What they are
 * read from stays in the storage while anybody holds them.
 */
class Version {
  /** The one core, as a graph takes several. */
  readonly asCores: readonly CoreVersion[]
  readonly #unpin: () => void
  #holders = 0

  constructor(asCores: readonly CoreVersion[], unpin: () => void) {
    this.asCores = asCores
    this.#unpin = unpin
  }

  hold(): () => void {
    this.#holders++
    let held = true
    return () => {
      if (!held) return
      held = false
      if (--this.#holders === 0) this.#unpin()
    }
  }
}

/** One that is kept at hand is held for that, so that a question pins nothing: it only counts. */
interface KnownVersion {
  readonly version: Version
  readonly forget: () => void
}

interface HeldVersion {
  readonly asCores: readonly CoreVersion[]
  readonly release: () => void
}

interface CoreIndexesParts {
  readonly table: CoreTable
  readonly slices: Storage
  readonly cacheBytes: number
  readonly minLinked: number
  readonly now: () => number
}

/** Makes the indexes of cores, and opens them. */
export class CoreIndexes {
  readonly #table: CoreTable
  readonly #slices: Storage
  readonly #cache: BlockCache
  readonly #minLinked: number
  readonly #now: () => number
  readonly #known = new Map<string, KnownVersion>()
  /** By core: the last work on its indexes. Only one is under way at a time. */
  readonly #work = new Map<string, Promise<unknown>>()
  /** Of a core that is worked on: how often others wrote its record since it was read. */
  readonly #changes = new Map<string, { count: number }>()

  constructor({ table, slices, cacheBytes, minLinked, now }: CoreIndexesParts) {
    this.#table = table
    this.#slices = slices
    this.#cache = new BlockCache(slices, cacheBytes)
    this.#minLinked = minLinked
    this.#now = now
    table.onChange = (changed) => {
      const key = nameOf(changed)
      this.#forget(key)
      const changes = this.#changes.get(key)
      if (changes !== undefined) changes.count++
    }
  }

  /**
   * The newest version of a core, all of it indexed, held until release(); undefined where it has to
   * be read first. Every change of a core goes through this process, so what is known is the newest.
   */
  known(name: CoreRef): HeldVersion | undefined {
    const known = this.#known.get(nameOf(name))
    return known && { asCores: known.version.asCores, release: known.version.hold() }
  }

  /** As known(), for any core. @throws LorekeepError `LK_CORE_NOT_FOUND` */
  async open(name: CoreRef, signal: AbortSignal | undefined): Promise<HeldVersion> {
    return this.#exclusive(name, signal, async ({ core }, isNewest) => {
      const records = await this.#bringUp(name, core, { signal }, false)
      const indexes = records.map(({ record }) => this.#parts(record))
      const names = [core.generation, ...indexes.map(({ id }) => id)]
      const unpin = this.#table.collector.pin(...names)
      const version = new Version([{ core: name.id, indexes }], unpin)
      const release = version.hold()
      if (isNewest()) this.#remember(nameOf(name), version)
      return { asCores: version.asCores, release }
    })
  }

  /** Indexes what is not, with approximate indexes, and merges what can be. */
  async index(name: CoreRef, options: IndexOptions): Promise<IndexState> {
    return this.#exclusive(name, options.signal, async ({ core }) =>
      stateOf(core, await this.#bringUp(name, core, options, true)),
    )
  }

  async state(name: CoreRef): Promise<IndexState> {
    const { core, release } = await this.#table.pinned(name)
    try {
      return stateOf(core, await this.#stored(core))
    } finally {
      release()
    }
  }

  /**
   * Works on the newest version of a core, which is held meanwhile, and on a newer one if that is
   * replaced. One at a time for each core: an index that two would make is made once.
   */
  async #exclusive<T>(
    name: CoreRef,
    signal: AbortSignal | undefined,
    work: (pinned: PinnedCore, isNewest: () => boolean) => Promise<T>,
  ): Promise<T> {
    const key = nameOf(name)
    const turn = this.#work.get(key)?.then(ignore, ignore)
    let hasLeft = false
    const mine = (async () => {
      await turn
      if (!hasLeft) return this.#onNewest(name, work)
      throw signal?.reason
    })()
    this.#work.set(key, mine)
    mine.then(ignore, ignore).then(() => {
      if (this.#work.get(key) === mine) this.#work.delete(key)
    }, ignore)
    try {
      await unlessAborted(turn, signal)
    } catch (error) {
      hasLeft = true
      throw error
    }
    return mine
  }

  async #onNewest<T>(
    name: CoreRef,
    work: (pinned: PinnedCore, isNewest: () => boolean) => Promise<T>,
  ): Promise<T> {
    const key = nameOf(name)
    for (;;) {
      const changes = { count: 0 }
      this.#changes.set(key, changes)
      let release: (() => void) | undefined
      try {
        const pinned = await this.#table.pinned(name)
        release = pinned.release
        return await work(pinned, () => changes.count === 0)
      } catch (error) {
        if (!(error instanceof Replaced)) throw error
      } finally {
        release?.()
        this.#changes.delete(key)
      }
    }
  }

  /** Indexes of all segments of the version that is held, made where they are missing. */
  async #bringUp(
    name: CoreRef,
    core: CoreRecord,
    options: IndexOptions,
    isThorough: boolean,
  ): Promise<readonly StoredIndex[]> {
    for (;;) {
      const indexes = await this.#stored(core)
      const from = await this.#toBeIndexed(core, indexes, isThorough)
      // Each step is looked at anew: other processes may have made it first.
      if (from < core.segments) await this.#make(name, core, indexes, from, options)
      else if (!isThorough || !(await this.#link(name, core, indexes, options))) return indexes
    }
  }

  /** Those of the version: segments that came later, and their indexes, are not part of it. */
  async #stored(core: CoreRecord): Promise<StoredIndex[]> {
    const indexes: StoredIndex[] = []
    for await (const page of this.#table.cores.scan(indexesOf(core.generation))) {
      for (const { key, value } of page) {
        const record = decodeRecord<IndexRecord>(value)
        const from = decodeKey(key)[2] as number
        if (record.to <= core.segments) indexes.push({ from, stored: value, record })
      }
    }
    return indexes
  }

  /** The first segment that an index is to be made from; behind the last where all is well. */
  async #toBeIndexed(
    core: CoreRecord,
    indexes: readonly StoredIndex[],
    isThorough: boolean,
  ): Promise<number> {
    // Imports index their own segment, so that there may be gaps before the last index.
    const kept: StoredIndex[] = []
    let covered = 0
    for (const index of indexes) {
      if (index.from !== covered) break
      kept.push(index)
      covered = index.record.to
    }
    const isComplete = covered === core.segments
    if (isComplete && !isThorough && kept.length <= maxIndexes) return covered
    let behind = 0
    for (let n = covered; n < core.segments; n++) behind += (await this.#segment(core, n)).bytes
    let from = covered
    for (const { from: start, record } of kept.reverse()) {
      const isSmall = record.sourceBytes <= mostTimesLarger * behind
      if (!isSmall && !(isComplete && from === covered)) break
      if (record.sourceBytes + behind > maxMergedBytes) break
      behind += record.sourceBytes
      from = start
    }
    // The last one alone is as it should be.
    const last = indexes.at(-1)
    return isComplete && from === last?.from ? covered : from
  }

  /** Indexes the segments from `from` on as one. */
  async #make(
    name: CoreRef,
    core: CoreRecord,
    indexes: readonly StoredIndex[],
    from: number,
    { signal, onProgress }: IndexOptions,
  ): Promise<void> {
    const id = createId(this.#now())
    const key = indexKey(core.generation, from)
    const builder = new IndexBuilder(this.#slices, id, signal)
    try {
      await this.#table.stage(id)
      let total = 0
      const segments: SegmentRecord[] = []
      for (let n = from; n < core.segments; n++) {
        const segment = await this.#segment(core, n)
        segments.push(segment)
        total += segment.bytes
      }
      let done = 0
      for (const [at, segment] of segments.entries()) {
        for await (const slice of this.#slicesOf(core, from + at, segment)) {
          signal?.throwIfAborted()
          builder.push(slice)
          await builder.ready()
          done += slice.length
          onProgress?.({ stage: 'triples', done, total })
        }
      }
      const parts = await builder.finish()
      await builder.end()
      const record: IndexRecord = { id, to: core.segments, sourceBytes: total, parts }
      const replaced = indexes.filter((index) => index.from >= from)
      const { operation, precondition } = this.#table.unstage(id)
      const require: Precondition[] = [precondition]
      if (!replaced.some((index) => index.from === from)) require.push({ type: 'absent', key })
      const operations: Operation[] = [operation, ...this.#retire(core, replaced, require)]
      operations.push({ type: 'put', key, value: encodeRecord(record) })
      await this.#commit(name, core, operations, require)
      for (const { record: old } of replaced) this.#table.collector.retireIndex(old.id)
    } catch (error) {
      await builder.end()
      // Unless the storage failed after it had carried out the commit.
      const isDiscarded = await this.#table.discard(id, key)
      if (isDiscarded && !hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
    }
  }

  /** Takes indexes away, and marks what they stored to be deleted. */
  #retire(core: CoreRecord, indexes: readonly StoredIndex[], require: Precondition[]): Operation[] {
    return indexes.flatMap(({ from, stored, record }): Operation[] => {
      const key = indexKey(core.generation, from)
      require.push({ type: 'equals', key, value: stored })
      const value = encodeRecord({ state: 'discarded' })
      return [
        { type: 'del', key },
        { type: 'put', key: stagedKey(record.id), value },
      ]
    })
  }

  /** Makes the approximate indexes that are missing. False where there are none. */
  async #link(
    name: CoreRef,
    core: CoreRecord,
    indexes: readonly StoredIndex[],
    { signal, onProgress }: IndexOptions,
  ): Promise<boolean> {
    const minLinked = this.#minLinked
    const total = indexes.reduce((sum, { record }) => sum + unlinked(record.parts, minLinked), 0)
    let before = 0
    for (const { from, stored, record } of indexes) {
      const count = unlinked(record.parts, minLinked)
      if (count === 0) continue
      const parts = await linkParts(this.#slices, record.id, record.parts, {
        minLinked,
        signal,
        onProgress: (done) => onProgress?.({ stage: 'vectors', done: before + done, total }),
      })
      const key = indexKey(core.generation, from)
      const value = encodeRecord({ ...record, parts })
      const isSame: Precondition = { type: 'equals', key, value: stored }
      try {
        await this.#commit(name, core, [{ type: 'put', key, value }], [isSame])
      } catch (error) {
        if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
        // Others have linked it, or made it anew: then the links have no index any more.
        await this.#table.discard(record.id, key)
        return true
      }
      before += count
    }
    return total > 0
  }

  /**
   * A write that needs the core's generation to be the newest.
   * @throws Replaced where it is not any more, LorekeepError `LK_STORAGE_CONFLICT` where its indexes
   *   are others
   */
  async #commit(
    name: CoreRef,
    core: CoreRecord,
    operations: readonly Operation[],
    require: readonly Precondition[],
  ): Promise<void> {
    const key = coreKey(name)
    for (;;) {
      const stored = await this.#table.cores.get(key)
      const current = stored && decodeRecord<CoreRecord>(stored)
      if (!stored || current?.generation !== core.generation) throw new Replaced()
      const isSame: Precondition = { type: 'equals', key, value: stored }
      const isWritten = await this.#table.attempt(name, operations, [isSame, ...require])
      // That one was ours.
      const changes = this.#changes.get(nameOf(name))
      if (changes !== undefined) changes.count--
      if (isWritten) return
    }
  }

  #parts({ id, parts }: IndexRecord): IndexParts {
    return { id, parts: parts.map((part, n) => new Part(this.#cache, id, n, part)) }
  }

  #remember(key: string, version: Version): void {
    this.#forget(key)
    if (this.#known.size >= maxVersions) {
      const [oldest] = this.#known.keys()
      if (oldest !== undefined) this.#forget(oldest)
    }
    this.#known.set(key, { version, forget: version.hold() })
  }

  #forget(key: string): void {
    this.#known.get(key)?.forget()
    this.#known.delete(key)
  }

  async #segment(core: CoreRecord, n: number): Promise<SegmentRecord> {
    const stored = await this.#table.cores.get(segmentKey(core.generation, n))
    if (stored === undefined) throw damaged(core)
    return decodeRecord<SegmentRecord>(stored)
  }

  async *#slicesOf(core: CoreRecord, n: number, segment: SegmentRecord) {
    const places = { cores: this.#table.cores, slices: this.#slices }
    try {
      yield* segmentSlices(places, { generation: core.generation, n, segment })
    } catch (error) {
      throw hasCode(error, 'LK_STORAGE_CORRUPT') ? damaged(core, error) : error
    }
  }
}

/** The generation that was worked on is not the core's any more. */
class Replaced extends Error {}

const ignore = () => undefined

/** Waits for a turn, and rejects with the signal's reason as soon as that aborts. */
async function unlessAborted(
  turn: Promise<unknown> | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted()
  if (turn === undefined) return
  await new Promise<void>((resolve, reject) => {
    const abort = () => reject(signal?.reason as Error)
    signal?.addEventListener('abort', abort, { once: true })
    void turn.then(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
  })
}

function nameOf({ user, id }: CoreRef): string {
  return `${user.length} ${user}${id}`
}

function damaged({ user, id }: CoreRecord, cause?: LorekeepError): LorekeepError {
  const detail = `core '${id}' of '${user}' lacks a segment or a slice of one, or one is damaged`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail, {
    details: { ...cause?.details, user, id },
    ...(cause && { cause }),
  })
}

function stateOf(core: CoreRecord, indexes: readonly StoredIndex[]): IndexState {
  const records = indexes.map(({ record }) => record)
  const parts = records.flatMap((record) => record.parts)
  const vectors = parts.flatMap((part) => part.vectors)
  const indexedSegments = indexes.reduce((sum, { from, record }) => sum + record.to - from, 0)
  const total = (numbers: readonly number[]) => numbers.reduce((sum, n) => sum + n, 0)
  const vectorBytes = ({ dimensions, count, links }: VectorRecord) => 4 * dimensions * count + links
  return {
    state: indexedSegments === core.segments ? 'complete' : indexes.length > 0 ? 'partial' : 'none',
    segments: core.segments,
    indexedSegments,
    triples: total(parts.map(({ triples }) => triples)),
    terms: total(parts.map(({ terms }) => terms)),
    vectors: total(vectors.map(({ count }) => count)),
    approximate: total(vectors.map(({ count, links }) => (areFollowed(links) ? count : 0))),
    parts: parts.length,
    bytes: total(parts.map((part) => layoutOf(part).end)) + total(vectors.map(vectorBytes)),
  }
}
