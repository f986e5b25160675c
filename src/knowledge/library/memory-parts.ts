import type { BlockStorage } from '../../block-writer.js'
import { BlockCache } from '../../graph/index/block-cache.js'
import { Part } from '../../graph/index/part.js'
import { PartsBuilder } from '../../graph/index/parts-builder.js'
import type { PartOfVersion } from '../../graph/version.js'
import type { Operation } from '../../storage.js'
import { createId } from '../records.js'
import { nameOfWaiting, type Waiting } from './library.js'

/** Above either, segments are indexed in the storage before they are looked into. */
export const mostInMemory = { segments: 256, bytes: 4 * 1024 * 1024 }

/** More groups than this are made one: each is one more place to look into. */
const mostGroups = 6

/** Gives the bytes of a segment, whole. */
export type ReadSegment = (waiting: Waiting) => AsyncIterable<Uint8Array>

interface Group {
  readonly parts: readonly Part[]
  /** The generation of each of its segments, by name. */
  readonly segments: ReadonlyMap<string, string>
}

/** Parts in memory of small segments that wait: a question sees them as soon as they are imported. */
export class MemoryParts {
  readonly #read: ReadSegment
  readonly #pin: (generations: Iterable<string>) => () => void
  readonly #now: () => number
  #groups: readonly Group[] = []
  #last: Promise<unknown> = Promise.resolve()

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

  /**
   * The parts, with the generations that they are asked for: those of which something waits. What others
   * said is in the parts of the library by now, or was given up.
   */
  seen(waiting: ReadonlyMap<string, Waiting>): readonly (PartOfVersion & { only: string[] })[] {
    return this.#groups.flatMap(({ parts, segments }) => {
      const left = new Set<string>()
      for (const [name, generation] of segments) if (waiting.has(name)) left.add(generation)
      return parts.map((part) => ({ part, only: [...left] }))
    })
  }

  has(waiting: Waiting): boolean {
    const name = nameOfWaiting(waiting)
    return this.#groups.some(({ segments }) => segments.has(name))
  }

  /** True where it lets go of any: those of which nothing waits any more. */
  prune(waiting: ReadonlyMap<string, Waiting>): boolean {
    const left = this.#groups.filter(({ segments }) =>
      [...segments.keys()].some((name) => waiting.has(name)),
    )
    const isLess = left.length < this.#groups.length
    this.#groups = left
    return isLess
  }

  /** Takes segments in, where they are not there. `waiting` is asked for those that wait then. */
  async take(waiting: () => readonly Waiting[]): Promise<void> {
    const mine = this.#last.then(() => this.#take(waiting()))
    this.#last = mine.catch(() => undefined)
    await mine
  }

  async #take(all: readonly Waiting[]): Promise<void> {
    const missing = all.filter((waiting) => !this.has(waiting))
    if (missing.length === 0) return
    const isFull = this.#groups.length >= mostGroups
    const wanted = isFull ? all : missing
    const release = this.#pin(wanted.map(({ generation }) => generation))
    const made = await this.#build(wanted).finally(release)
    this.#groups = isFull ? [made] : [...this.#groups, made]
  }

  async #build(segments: readonly Waiting[]): Promise<Group> {
    const storage = new MemoryBlocks()
    const [first] = segments as readonly [Waiting, ...Waiting[]] // not empty
    const builder = new PartsBuilder(storage, createId(this.#now()), first)
    for (const waiting of segments) {
      builder.source(waiting)
      for await (const slice of this.#read(waiting)) builder.push(slice)
    }
    const records = await builder.finish()
    // All of it is there: nothing is ever left out for another.
    const cache = new BlockCache(storage, Infinity)
    return {
      parts: records.map((record) => new Part(cache, record)),
      segments: new Map(
        segments.map((waiting) => [nameOfWaiting(waiting), waiting.generation] as const),
      ),
    }
  }
}

export class MemoryBlocks implements BlockStorage {
  readonly #blocks = new Map<string, Uint8Array>()

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    return this.#blocks.get(nameOf(key))
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
