import { hash } from 'node:crypto'
import type { BlockStorage } from '../../block-writer.js'
import { hasCode, LorekeepError } from '../../errors.js'
import { BlockCache } from '../../graph/index/block-cache.js'
import { Part } from '../../graph/index/part.js'
import { PartsBuilder } from '../../graph/index/parts-builder.js'
import type { Operation } from '../../storage.js'
import { Turns } from '../../turns.js'
import { createId } from '../records.js'
import { nameOfWaiting, type Waiting } from './library.js'
import { SegmentsAhead, type ReadSegment } from './read-waiting.js'

/** Above either, segments are indexed in the storage before they are looked into. */
export const mostInMemory = { segments: 256, bytes: 4 * 1024 * 1024 }

/** What is held for all questions to a library together. Tests make it small. */
export const mostHeld = { segments: 1536, bytes: 24 * 1024 * 1024 }

/** More groups than this become fewer: each is one more place to look into. */
const mostGroups = 6
/** More than this and a question waits for it. */
const farTooMany = 24

interface Group {
  readonly parts: readonly Part[]
  readonly segments: readonly Waiting[]
}

/** A part in memory, and what of it is asked for. */
export interface PartInMemory {
  readonly part: Part
  readonly left: readonly {
    /** What stands for the generation there: each segment is a source of its own. */
    readonly source: string
    readonly generation: string
  }[]
}

/**
 * In the place of a generation, as that may have segments of which one waits and another does not: a passage
 * that both a part of the library and one in memory told would count twice.
 */
function sourceOf(waiting: Waiting): string {
  return hash('sha256', nameOfWaiting(waiting)).slice(0, 32)
}

/** Parts in memory of small segments that wait: a question sees them as soon as they are imported. */
export class MemoryParts {
  /** Called as soon as a question finds anything in other parts. */
  onChange: () => void = () => undefined
  readonly #read: ReadSegment
  readonly #pin: (generations: Iterable<string>) => () => void
  readonly #now: () => number
  #groups: readonly Group[] = []
  /** The segments of all groups, by name. */
  #names: ReadonlySet<string> = new Set()
  /** Segments that could not be read. Where one was taken in before, its group stays as it is. */
  readonly #damaged = new WeakSet<Waiting>()
  #last: Promise<unknown> = Promise.resolve()
  #joining: Promise<void> | undefined
  /** What waited when questions under way were asked: they see it, whatever became of it since. */
  readonly #asked = new Set<ReadonlyMap<string, Waiting>>()
  #isStopped = false

  /** `pin` keeps the segments of generations until it is undone. */
  constructor(
    read: ReadSegment,
    pin: (generations: Iterable<string>) => () => void,
    now: () => number,
  ) {
    this.#read = read
    this.#pin = pin
    this.#now = now
  }

  /** Nothing is under way that no question waits for. */
  get isIdle(): boolean {
    return this.#joining === undefined
  }

  get parts(): readonly Part[] {
    return this.#groups.flatMap(({ parts }) => parts)
  }

  /**
   * The parts, with the segments that they are asked for: those that wait. What others said is in the parts
   * of the library by now, or was given up.
   */
  seen(waiting: ReadonlyMap<string, Waiting>): readonly PartInMemory[] {
    return this.#groups.flatMap(({ parts, segments }) => {
      const left = segments.filter(isIn(waiting)).map((segment) => {
        return { source: sourceOf(segment), generation: segment.generation }
      })
      return parts.map((part) => ({ part, left }))
    })
  }

  /** Lets go of none of these until what is returned is called. */
  keep(waiting: ReadonlyMap<string, Waiting>): () => void {
    this.#asked.add(waiting)
    return () => void this.#asked.delete(waiting)
  }

  has(waiting: Waiting): boolean {
    return this.#names.has(nameOfWaiting(waiting))
  }

  /** Lets go of those of which nothing waits any more. */
  prune(waiting: ReadonlyMap<string, Waiting>): void {
    const left = this.#groups.filter(this.#hasAny(waiting))
    if (left.length < this.#groups.length) this.#set(left)
  }

  /** False where what of these is not there is more than may be held beside the others. */
  hasRoom(wanted: readonly Waiting[]): boolean {
    // Those that do not wait any more count: they are in the same parts.
    const held = this.#groups.flatMap(({ segments }) => segments)
    const all = [...held, ...wanted.filter((segment) => !this.has(segment))]
    return all.length <= mostHeld.segments && bytesOf(all) <= mostHeld.bytes
  }

  /** Those that wait and can be read: indexed, they make room. */
  held(waiting: ReadonlyMap<string, Waiting>): readonly Waiting[] {
    // As they are now: of a library that was read anew, groups have what there was before.
    return [...waiting.values()].filter((each) => this.has(each) && !this.#damaged.has(each))
  }

  /** A segment that could not be read. */
  noteDamage(segment: Waiting): void {
    this.#damaged.add(segment)
  }

  /**
   * Takes segments in, where they are not there. `waiting` is asked for those that wait then. False where
   * there is no room for them.
   */
  async take(
    waiting: () => readonly Waiting[],
    all: ReadonlyMap<string, Waiting>,
  ): Promise<boolean> {
    // Others may have taken theirs in meanwhile.
    const mine = this.#last.then(async () => {
      const wanted = waiting()
      if (!this.hasRoom(wanted)) return false
      await this.#take(wanted, all)
      return true
    })
    this.#last = mine.catch(() => undefined)
    return mine
  }

  /** Ends what is under way beside questions, and waits for it. No question comes any more. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#joining
  }

  async #take(wanted: readonly Waiting[], waiting: ReadonlyMap<string, Waiting>): Promise<void> {
    const missing = wanted.filter((segment) => !this.has(segment))
    if (missing.length === 0) return
    const made = await this.#build(missing)
    // What has become of the others meanwhile stays so, and of these nothing may wait any more.
    if (this.#hasAny(waiting)(made)) this.#set([...this.#groups, made])
    const few = this.#joinable(waiting).length
    if (few <= mostGroups) return
    this.#joining ??= this.#join(waiting).finally(() => (this.#joining = undefined))
    if (few > farTooMany) await this.#joining
  }

  /** Groups of which all that waits can be read: a question has nothing else of the others any more. */
  #joinable(waiting: ReadonlyMap<string, Waiting>): readonly Group[] {
    const isSeen = this.#isSeen(waiting)
    const isDamaged = (segment: Waiting) => this.#damaged.has(segment) && isSeen(segment)
    return this.#groups.filter(({ segments }) => !segments.some(isDamaged))
  }

  /**
   * Makes one of the smallest groups, none of them much larger than the smaller ones together: so a segment
   * is built anew only as often as what it lies with doubles. Questions go on with those meanwhile, and
   * where it fails: the next one that brings anything tries it again.
   */
  async #join(waiting: ReadonlyMap<string, Waiting>): Promise<void> {
    const joined: Group[] = []
    const segments: Waiting[] = []
    const bySize = [...this.#joinable(waiting)].sort(
      (a, b) => a.segments.length - b.segments.length,
    )
    for (const group of bySize) {
      if (joined.length > 1 && group.segments.length > 2 * segments.length) break
      joined.push(group)
      segments.push(...group.segments.filter(this.#isSeen(waiting)))
    }
    if (joined.length < 2) return
    const made = await this.#build(segments).catch(() => undefined)
    if (made !== undefined) {
      const groups = [...this.#groups.filter((group) => !joined.includes(group)), made]
      this.#set(groups.filter(this.#hasAny(waiting)))
    } else if (segments.some((segment) => this.#damaged.has(segment))) await this.#join(waiting)
  }

  /** By those who ask now, or asked before. */
  #isSeen(waiting: ReadonlyMap<string, Waiting>): (segment: Waiting) => boolean {
    const all = [waiting, ...this.#asked].map(isIn)
    return (segment) => all.some((is) => is(segment))
  }

  #hasAny(waiting: ReadonlyMap<string, Waiting>): (group: Group) => boolean {
    const isSeen = this.#isSeen(waiting)
    return ({ segments }) => segments.some(isSeen)
  }

  #set(groups: readonly Group[]): void {
    this.#groups = groups
    this.#names = new Set(groups.flatMap(({ segments }) => segments.map(nameOfWaiting)))
    this.onChange()
  }

  async #build(segments: readonly Waiting[]): Promise<Group> {
    const release = this.#pin(segments.map(({ generation }) => generation))
    try {
      const storage = new MemoryBlocks()
      const parts = await this.#partsOf(segments, storage)
      return { parts, segments }
    } finally {
      release()
    }
  }

  async #partsOf(segments: readonly Waiting[], storage: MemoryBlocks): Promise<Part[]> {
    const [first] = segments
    if (first === undefined) return []
    const bytes = bytesOf(segments)
    const named = (waiting: Waiting) => ({ generation: sourceOf(waiting), core: waiting.core })
    const builder = new PartsBuilder(storage, createId(this.#now()), named(first), { bytes })
    const turns = new Turns(undefined)
    const ahead = new SegmentsAhead(segments, this.#read)
    try {
      for (const waiting of segments) {
        if (this.#isStopped) throw new LorekeepError('LK_CLOSED')
        builder.source(named(waiting))
        for await (const slice of this.#readOrNote(waiting, ahead)) builder.push(slice)
        await turns.pass()
      }
    } finally {
      await ahead.end()
    }
    // All of it is there: nothing is ever left out for another.
    const cache = new BlockCache(storage, Infinity)
    return (await builder.finish()).map((record) => new Part(cache, record))
  }

  async *#readOrNote(waiting: Waiting, ahead: SegmentsAhead): AsyncGenerator<Uint8Array> {
    try {
      yield* ahead.read(waiting)
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CORRUPT')) this.#damaged.add(waiting)
      throw error
    }
  }
}

export function bytesOf(segments: readonly Waiting[]): number {
  return segments.reduce((sum, { bytes }) => sum + bytes, 0)
}

function isIn(waiting: ReadonlyMap<string, Waiting>): (segment: Waiting) => boolean {
  return (segment) => waiting.has(nameOfWaiting(segment))
}

export class MemoryBlocks implements BlockStorage {
  readonly #blocks = new Map<string, Uint8Array>()

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#blocks.get(nameOf(key))
  }

  async getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    return this.#blocks.get(nameOf(key))?.subarray(from, to)
  }

  async write(operations: readonly Operation[]): Promise<void> {
    for (const operation of operations) {
      // The writer's buffer is its own again.
      if (operation.type === 'put')
        this.#blocks.set(nameOf(operation.key), new Uint8Array(operation.value))
    }
  }
}

function nameOf(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1')
}
