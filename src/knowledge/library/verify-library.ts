// What has to hold of the index of all that a user has: its parts lie there whole, have nothing but what
// the user's cores say or said, and say what those say. Held are the generations of one user at a time,
// and where content is read what the parts of one core take in memory (of a core of 256 MiB at most) beside the
// hashes of terms (128 MiB), or a merge of one part (200 MiB).

import { BlockCache } from '../../graph/index/block-cache.js'
import { linksKey, mainKey, vectorKey } from '../../graph/index/keys.js'
import { blockBytes, layoutOf, type PartRecord } from '../../graph/index/layout.js'
import { Part } from '../../graph/index/part.js'
import { withBlocks } from '../../graph/miss.js'
import { linkBlocksOf } from '../../graph/vectors/links.js'
import { blocksOf } from '../../graph/vectors/types.js'
import type { Entry } from '../../storage.js'
import { tupleOf, type Reading } from '../../verify/reading.js'
import { keyText, tupleText, type Report } from '../../verify/report.js'
import { fieldOf, isLibraryRecord, isWaitingRecord } from '../record-shapes.js'
import {
  blocksOfPart,
  coresOf,
  libraryKey,
  partName,
  retiredOf,
  waitingOf,
  type CoreRecord,
  type LibraryRecord,
  type SegmentRecord,
  type WaitingRecord,
} from '../records.js'
import { addVectors, differenceOf, type VectorSums } from './verify-content.js'
import { addPassages, type PassageDigests } from './verify-passages.js'
import { damageOf, reasonOf } from './verify-part.js'
import { TermHashes } from './verify-triples.js'

/** Of the index: kept small, as what is verified is read once. */
const cacheBytes = 16 * 1024 * 1024

/** A core, and what is known of its segments. */
export interface CheckedCore {
  readonly core: CoreRecord
  /** In words. */
  readonly whose: string
  /** By number; undefined where the record is not there, or is none. */
  readonly segments: readonly (Pick<SegmentRecord, 'bytes' | 'triples' | 'vectors'> | undefined)[]
  /** Those that are not there, or not whole. */
  readonly lost: ReadonlySet<number>
  readonly read: (segment: number) => AsyncIterable<Uint8Array>
}

/** Those of a user, and the names of their cores where that is sure. */
type Generations = ReadonlyMap<string, string | undefined>

/** What is known of a user's index while the user's cores are looked at. */
interface Opened {
  readonly user: string
  readonly generations: Generations
  /** By generation: the parts that have something of it, of those that can be read. */
  readonly parts: ReadonlyMap<string, readonly Part[]>
  readonly vectors: VectorSums
  readonly passages: PassageDigests
  readonly hashes: TermHashes
  /** Whether all of it can be read. */
  readonly isWhole: boolean
  /** By generation and number: the segments that wait. Undefined: what is said of one is none. */
  readonly waiting: ReadonlyMap<string, ReadonlyMap<number, WaitingRecord | undefined>>
}

export class LibraryCheck {
  readonly #cores: Reading
  readonly #slices: Reading
  readonly #report: Report
  readonly #cache: BlockCache
  /** The names of parts that cannot be read, or are not what they should be. */
  readonly #damaged = new Set<string>()
  #opened: Opened | undefined

  constructor(cores: Reading, slices: Reading, report: Report) {
    this.#cores = cores
    this.#slices = slices
    this.#report = report
    this.#cache = new BlockCache(slices, cacheBytes)
  }

  /** The record of a user's index, and its parts. Call for all of them before checkCore(). */
  async checkRecord(entry: Entry): Promise<void> {
    const [user] = tupleOf<[string]>(entry.key, 's') ?? []
    const records = user === undefined ? undefined : this.#partsIn(entry)
    if (user === undefined || records === undefined) return
    const whose = `of the index of '${user}'`
    const owned = await this.#generationsOf(user)
    for (const record of records) {
      const isWhole =
        (await this.#checkBlocks(record, whose)) &&
        (await this.#checkPart(record, user)) &&
        (await this.#checkSources(record, user, owned))
      if (!isWhole) this.#damaged.add(partName(record))
    }
  }

  /** Each part once; that one is named twice is told elsewhere. */
  #partsIn(entry: Entry): readonly PartRecord[] | undefined {
    const record = this.#cores.record<LibraryRecord>(entry)
    if (record === undefined) return undefined
    if (isLibraryRecord(record)) {
      return [...new Map(record.parts.map((part) => [partName(part), part])).values()]
    }
    this.#cores.damaged(entry.key, 'it is not the record of an index')
    return undefined
  }

  /** Of all cores of a user, with their names; those that were given up, or are of two, have none. */
  async #generationsOf(user: string): Promise<Generations> {
    const owned = new Map<string, string | undefined>()
    for await (const { key } of this.#cores.entries({ ...retiredOf(user), keysOnly: true })) {
      const [, generation] = tupleOf<[string, string]>(key, 'ss') ?? []
      if (generation !== undefined) owned.set(generation, undefined)
    }
    for await (const { key, value } of this.#cores.entries(coresOf(user))) {
      const [, id] = tupleOf<[string, string]>(key, 'ss') ?? []
      const generation = fieldOf(value, 'generation')
      if (id === undefined || generation === undefined) continue
      owned.set(generation, owned.has(generation) ? undefined : id)
    }
    return owned
  }

  /** Where content is read: whether a part is in itself what it should be. */
  async #checkPart(record: PartRecord, user: string): Promise<boolean> {
    if (!this.#report.deep) return true
    const damages = await damageOf(record, this.#slices)
    for (const { block, message } of damages ?? []) {
      if (block === undefined) this.#cores.damaged(libraryKey(user), message)
      else {
        const place = `of the index of '${user}'`
        this.#report.error('slices', 'different', keyText(block), `${place}: ${message}`)
      }
    }
    return damages === undefined
  }

  /** What is of no core would be found by questions about all of them. */
  async #checkSources(record: PartRecord, user: string, owned: Generations): Promise<boolean> {
    const part = new Part(this.#cache, record)
    const what = tupleText('library', user)
    let isWhole = true
    const wrong = (message: string) => {
      isWhole = false
      this.#error('different', what, message)
    }
    try {
      for (let source = 0; source < record.sources; source++) {
        const generation = await withBlocks(() => part.generationOf(source))
        const named = await withBlocks(() => part.coreOf(source))
        const core = owned.get(generation)
        if (!owned.has(generation)) {
          const message = `it has something of core '${named}' of '${user}' in generation '${generation}', which that user neither has nor gave up`
          wrong(message)
        } else if (core !== undefined && core !== named) {
          wrong(`of core '${core}' of '${user}': it calls it '${named}'`)
        }
      }
      return isWhole
    } catch (error) {
      const reason = reasonOf(error, this.#report.signal)
      this.#cores.damaged(libraryKey(user), `part '${partName(record)}': ${reason}`)
      return false
    }
  }

  /** Call for the cores of one user after the other, in the order of their keys. */
  async checkCore({ core, whose, segments, lost, read }: CheckedCore): Promise<void> {
    if (this.#opened?.user !== core.user) this.#opened = await this.#open(core.user)
    const { generations, parts, vectors, passages, hashes, isWhole, waiting } = this.#opened
    const name = generations.get(core.generation)
    const those = waiting.get(core.generation) ?? new Map<number, WaitingRecord | undefined>()
    for (const [n, record] of those) {
      const what = tupleText('waiting', core.user, core.generation, n)
      if (n >= core.segments) {
        this.#error('unreferenced', what, `${whose}, which has ${core.segments} segments`)
        continue
      }
      if (record === undefined) continue
      const bytes = segments[n]?.bytes ?? record.bytes
      if (name !== undefined && record.core !== name)
        this.#error('different', what, `${whose}: says '${record.core}'`)
      if (record.bytes !== bytes) {
        this.#error('different', what, `${whose}: says ${record.bytes} bytes; there are ${bytes}`)
      }
    }
    if (!isWhole) return
    const indexed = segments.map((_, n) => n).filter((n) => !those.has(n))
    // What the record of a segment says is not known where there is none.
    if (indexed.some((n) => segments[n] === undefined)) return
    const having = parts.get(core.generation) ?? []
    const what = tupleText('library', core.user)
    // A segment without triples and vectors has no part.
    const said = indexed.reduce((sum, n) => sum + saidIn(segments[n]), 0)
    if (said > 0 && having.length === 0) {
      const message = `${whose}: it has nothing of ${indexed.length} segments that do not wait`
      this.#error('different', what, message)
      return
    }
    if (said === 0) {
      if (having.length === 0) return
      this.#error('different', what, `${whose}: it has something of segments that wait`)
      return
    }
    if (!this.#report.deep || indexed.some((n) => lost.has(n))) return
    const { signal } = this.#report
    const found = { parts: having, vectors, passages, hashes }
    const difference = await differenceOf({ core, ...found, segments: indexed, read, signal })
    if (difference !== undefined) this.#error('different', what, `${whose}: ${difference}`)
  }

  async #open(user: string): Promise<Opened> {
    const key = libraryKey(user)
    const value = await this.#cores.get(key)
    // What is wrong with it was told: this finds the same again, and it is not told twice.
    const records = value === undefined ? [] : this.#partsIn({ key, value })
    const whole = records?.filter((record) => !this.#damaged.has(partName(record))) ?? []
    const parts = new Map<string, Part[]>()
    const vectors: VectorSums = new Map()
    const passages: PassageDigests = new Map()
    for (const record of whole) {
      const part = new Part(this.#cache, record)
      for (let source = 0; source < record.sources; source++) {
        const generation = await withBlocks(() => part.generationOf(source))
        const having = parts.get(generation)
        if (having === undefined) parts.set(generation, [part])
        else having.push(part)
      }
      if (!this.#report.deep) continue
      await addVectors(part, vectors)
      await addPassages(part, passages)
    }
    const isWhole = records !== undefined && whole.length === records.length
    const generations = await this.#generationsOf(user)
    const waiting = await this.#waitingOf(user)
    const hashes = new TermHashes()
    return { user, generations, parts, vectors, passages, hashes, isWhole, waiting }
  }

  async #waitingOf(user: string): Promise<Opened['waiting']> {
    const waiting = new Map<string, Map<number, WaitingRecord | undefined>>()
    for await (const entry of this.#cores.entries(waitingOf(user))) {
      const [, generation, n] = tupleOf<[string, string, number]>(entry.key, 'ssn') ?? []
      if (generation === undefined || n === undefined) continue
      let record = this.#cores.record<WaitingRecord>(entry)
      if (record !== undefined && !isWaitingRecord(record)) {
        this.#cores.damaged(entry.key, 'it does not say what waits')
        record = undefined
      }
      const those = waiting.get(generation) ?? new Map<number, WaitingRecord | undefined>()
      waiting.set(generation, those.set(n, record))
    }
    return waiting
  }

  /** Whether exactly the blocks of a part lie there. */
  async #checkBlocks(part: PartRecord, whose: string): Promise<boolean> {
    const awaited = blockKeys(part)[Symbol.iterator]()
    let next = awaited.next()
    let isWhole = true
    const pass = (key: Uint8Array | undefined) => {
      while (next.done !== true && (key === undefined || Buffer.compare(next.value, key) < 0)) {
        isWhole = false
        this.#report.error('slices', 'missing', keyText(next.value), whose)
        next = awaited.next()
      }
    }
    for await (const page of this.#slices.pages({ ...blocksOfPart(part), keysOnly: true })) {
      for (const { key } of page) {
        pass(key)
        if (next.done !== true && Buffer.compare(next.value, key) === 0) next = awaited.next()
        else {
          const message = `${whose}, which does not have it`
          this.#report.error('slices', 'unreferenced', keyText(key), message)
        }
      }
    }
    pass(undefined)
    return isWhole
  }

  #error(code: 'different' | 'unreferenced', what: string, message: string): void {
    this.#report.error('cores', code, what, message)
  }
}

function saidIn(segment: CheckedCore['segments'][number]): number {
  return segment === undefined ? 0 : segment.triples + segment.vectors
}

/** The keys of all blocks of a part, in their order. */
function* blockKeys(part: PartRecord): Generator<Uint8Array> {
  for (let at = 0; at * blockBytes < layoutOf(part).end; at++) yield mainKey(part, at)
  if (part.vectors === undefined) return
  const { dimensions, count, links } = part.vectors
  for (let at = 0; at < blocksOf(dimensions, count); at++) yield vectorKey(part, at)
  for (let at = 0; at < linkBlocksOf(dimensions, count, links); at++) yield linksKey(part, at)
}
