import type { Part } from '../../graph/index/part.js'
import type { HeldParts, PartOfVersion } from '../../graph/version.js'
import type { Collector } from '../collector.js'
import { partName } from '../records.js'
import type { Library, LibraryState } from './library.js'
import type { MemoryParts, PartInMemory } from './memory-parts.js'

/** Choices of cores that are remembered, so that the next question about them begins where one ended. */
const maxChoices = 256

/**
 * The parts as they are between two changes. What they are read from stays in the storage while anybody
 * holds them; that they are the newest holds them too, so that a question pins nothing: it only counts.
 */
class Version {
  readonly #stored: readonly PartOfVersion[]
  readonly #inMemory: readonly PartInMemory[]
  readonly #all: readonly PartOfVersion[]
  readonly #ofCores = new Map<string, readonly PartOfVersion[]>()
  readonly #unpin: () => void
  #holders = 0

  /** `ended` is told of its parts when nobody holds it any more. */
  constructor(
    { parts, retired, waiting }: LibraryState,
    memory: MemoryParts,
    collector: Collector,
    ended: (parts: readonly PartOfVersion[]) => void,
  ) {
    const not = retired.size > 0 ? [...retired].sort() : undefined
    this.#stored = parts.map((part) => ({ part, not }))
    this.#inMemory = memory.seen(waiting)
    this.#all = [...this.#stored, ...partsInMemory(this.#inMemory, () => true)]
    const unpin = collector.pin(...parts.map(({ record }) => partName(record)))
    this.#unpin = () => {
      unpin()
      ended(this.#all)
    }
  }

  /** `generations` are those of the cores that were named. */
  held(generations: readonly string[] | undefined): HeldParts {
    return { parts: this.#partsOf(generations), release: this.hold() }
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

  #partsOf(generations: readonly string[] | undefined): readonly PartOfVersion[] {
    if (generations === undefined) return this.#all
    const only = [...generations].sort()
    const name = only.join()
    const known = this.#ofCores.get(name)
    if (known !== undefined) return known
    const wanted = new Set(only)
    const parts = [
      ...this.#stored.map(({ part }) => ({ part, only })),
      ...partsInMemory(this.#inMemory, (generation) => wanted.has(generation)),
    ]
    if (this.#ofCores.size >= maxChoices) this.#ofCores.clear()
    this.#ofCores.set(name, parts)
    return parts
  }
}

function partsInMemory(
  parts: readonly PartInMemory[],
  isWanted: (generation: string) => boolean,
): PartOfVersion[] {
  return parts.map(({ part, left }) => {
    const wanted = left.filter(({ generation }) => isWanted(generation))
    return { part, only: wanted.map(({ source }) => source) }
  })
}

/** What questions of a library see: the newest version. */
export class Versions {
  readonly #library: Library
  readonly #memory: MemoryParts
  readonly #collector: Collector
  readonly #gone: (part: Part) => void
  /** Parts that there were and that were not gone yet: an earlier library of the user may have read of them. */
  readonly #seen = new Set<Part>()
  #newest: { readonly version: Version; readonly forget: () => void } | undefined

  /** `gone` is told of parts that the next question does not see. An earlier one may still read them. */
  constructor(
    library: Library,
    memory: MemoryParts,
    collector: Collector,
    gone: (part: Part) => void,
  ) {
    this.#library = library
    this.#memory = memory
    this.#collector = collector
    this.#gone = gone
  }

  /** To be called when the library is ready, and memory has what waits of what is asked. */
  hold(generations: readonly string[] | undefined): HeldParts {
    this.#newest ??= this.#make()
    return this.#newest.version.held(generations)
  }

  /** As hold(), of what the library had: its parts are pinned, and memory has what waited of what is asked. */
  holdOf(state: LibraryState, generations: readonly string[] | undefined): HeldParts {
    return this.#version(state).held(generations)
  }

  /** The next question sees another one. */
  forget(): void {
    this.#newest?.forget()
    this.#newest = undefined
    this.#letGo(this.#seen)
    for (const part of this.#current()) this.#seen.add(part)
  }

  #make(): { readonly version: Version; readonly forget: () => void } {
    const version = this.#version(this.#library)
    return { version, forget: version.hold() }
  }

  #version(state: LibraryState): Version {
    // What it has read since the next question did not see it any more.
    const ended = (parts: readonly PartOfVersion[]) => this.#letGo(parts.map(({ part }) => part))
    return new Version(state, this.#memory, this.#collector, ended)
  }

  #letGo(parts: Iterable<Part>): void {
    const current = new Set(this.#current())
    for (const part of parts) {
      if (current.has(part)) continue
      this.#seen.delete(part)
      this.#gone(part)
    }
  }

  #current(): readonly Part[] {
    return [...this.#library.parts, ...this.#memory.parts]
  }
}
