import type { Fill } from '../../health.js'
import { hasCode, LorekeepError } from '../../errors.js'
import { BlockCache } from '../../graph/index/block-cache.js'
import type { PartRecord } from '../../graph/index/layout.js'
import { Part } from '../../graph/index/part.js'
import type { IndexState, LibraryIndexState } from '../../graph/types.js'
import type { HeldParts } from '../../graph/version.js'
import { decodeKey } from '../../keys.js'
import type { Presence } from '../../presence.js'
import type { Reads } from '../../reads.js'
import { damagedCore, type StoredCore } from '../core-table.js'
import { allWaiting, partName, waitingOf } from '../records.js'
import type { CoreRef } from '../types.js'
import { HeldContent } from './held-content.js'
import type { AskedOptions, IndexingTools } from './indexing.js'
import { Lane } from './lane.js'
import {
  Library,
  nameOfWaiting,
  type CoreChange,
  type LibraryState,
  type Waiting,
} from './library.js'
import { bytesOf, MemoryParts, mostInMemory } from './memory-parts.js'
import { stateOfCore, stateOfLibrary } from './state.js'
import { NamedBlocks } from './named-blocks.js'
import { Ticks } from './ticks.js'
import { Upkeep, type InTurn } from './upkeep.js'
import { Versions } from './versions.js'

/** Libraries of users that stay in memory where nothing is to be done for them, the last that were used. */
export const mostIdle = { libraries: 1000 }

/** Generations that are remembered by the names of their cores. */
const maxKnown = 20_000

interface LibrariesParts extends IndexingTools {
  readonly cacheBytes: number
  /** Is told of files of vectors that nobody is going to read any more. */
  readonly forgetVectors: (file: string) => void
  /** Merges that are under way at once; with 0 nothing is done in the background at all. */
  readonly threads: number
  readonly bytesPerSecond: number
  readonly onError: (error: unknown) => void
  /** Makes the record of a core anew where it is damaged; false where it is not. Nobody changes the core meanwhile. */
  readonly mend: (ref: CoreRef, member: string | undefined) => Promise<boolean>
  /** Of those who share the storages. */
  readonly presence: Presence | undefined
}

/** What is known of a core: its generation, as of one reading of its library. */
interface Known {
  readonly generation: string
  readonly reading: number
}

/** How often index() goes after a core that others replace meanwhile. */
const maxRounds = 3

/** So long a work on a library that is under way elsewhere is waited for: by somebody, and in the background. */
const mostWaitMs = { somebody: 2000, nobody: 60_000 }
/** Turns that are had or waited for in the background, of all users: an engine may have a connection for each. */
const turnsAtOnce = 2

/** A user's library, and what goes with it. */
interface Shelf {
  readonly library: Library
  readonly memory: MemoryParts
  readonly versions: Versions
  readonly upkeep: Upkeep
  /** How many calls are about it. */
  uses: number
}

/** The libraries of all users: what questions see of them, and what changes them. */
export class Libraries {
  readonly #tools: IndexingTools
  readonly #parts: LibrariesParts
  readonly #cache: BlockCache
  readonly #merges: Lane
  readonly #content = new HeldContent()
  /** The longest unused first, but for those that could not be let go of when they were. */
  readonly #shelves = new Map<string, Shelf>()
  /** The generation of a core, by its name; none while the core is being changed. */
  readonly #known = new Map<string, Known>()
  /** Those that read the record of a core, by its name: a change makes what they read stale. */
  readonly #readers = new Map<string, Set<{ isStale: boolean }>>()
  /** The last that was used. */
  #last: Shelf | undefined
  #resuming: Promise<void> | undefined
  #isStopped = false
  /** The last change under way of a core, by its name. */
  readonly #changing = new Map<string, Promise<void>>()
  readonly #ticks: Ticks | undefined
  readonly #turns = { index: new Lane(turnsAtOnce), merge: new Lane(turnsAtOnce) }

  constructor(parts: LibrariesParts) {
    const { table, slices, read, minLinked, now } = parts
    this.#tools = { table, slices, read, minLinked, now }
    this.#parts = parts
    const { presence } = parts
    const blocks = presence === undefined ? slices : new NamedBlocks(table.cores, slices)
    this.#cache = new BlockCache(blocks, parts.cacheBytes)
    this.#merges = new Lane(Math.max(1, parts.threads))
    if (presence === undefined) return
    this.#ticks = new Ticks(table, presence)
    this.#ticks.onNewSlot = () => {
      for (const { library } of this.#shelves.values()) library.outdate()
    }
    table.collector.onGarbage = (names) => this.#letGoOf(names)
    presence.onGone(async () => {
      // What waits of those who were there before is indexed by others.
      if (!this.#isStopped) await this.resume()
    })
  }

  /** Takes part in what those do who share the storages. */
  async begin(): Promise<void> {
    await this.#ticks?.begin()
  }

  /** Nobody may hold what others gave up for no other reason than that nothing was asked since. */
  #letGoOf(garbage: ReadonlySet<string>): void {
    for (const { library, upkeep } of this.#shelves.values()) {
      if (library.parts.some(({ record }) => garbage.has(partName(record)))) library.outdate()
      // Nobody tells when what was given up can be forgotten.
      else if (library.retired.size > 0) upkeep.notice()
    }
  }

  /** Of those that were used lately. */
  get pressure(): { parts: number; waiting: number; isBehind: boolean } {
    const pressure = { parts: 0, waiting: 0, isBehind: false }
    for (const { library, upkeep } of this.#shelves.values()) {
      if (!library.isReady) continue
      pressure.parts = Math.max(pressure.parts, library.parts.length)
      pressure.waiting += library.waiting.size
      pressure.isBehind ||= upkeep.isBehind
    }
    return pressure
  }

  get cache(): Fill {
    const { bytes, maxBytes } = this.#cache
    return { bytes, maxBytes }
  }

  // Changes

  /**
   * As Library.commit(). Every change of a core goes through here, one after the other: each has to know
   * of the one before what waits, which the storage may show before that one knows itself.
   */
  async commit(change: CoreChange): Promise<boolean> {
    return this.#inTurnOfCore(change.name, (library) => library.commit(change))
  }

  /**
   * A core that is about to be changed, or deleted, as this `member` was asked for. Where its record is damaged that is
   * made anew, and told.
   * @throws LorekeepError `LK_STORAGE_*`
   */
  async toBeChanged(ref: CoreRef, member: string | undefined): Promise<StoredCore | undefined> {
    const { table } = this.#tools
    try {
      return await table.stored(ref)
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      if (await this.#inTurnOfCore(ref, () => this.#parts.mend(ref, member))) {
        this.#parts.onError(damagedCore(ref, 'it was damaged, and is made anew', error))
      }
    }
    return table.stored(ref)
  }

  async #inTurnOfCore<T>(ref: CoreRef, change: (library: Library) => Promise<T>): Promise<T> {
    const name = nameOf(ref)
    this.#forget(name)
    const before = this.#changing.get(name)
    const work = this.#using(ref.user, async ({ library }) => {
      await before
      return change(library)
    })
    const settled = work.then(ignore, ignore)
    this.#changing.set(name, settled)
    try {
      return await work
    } finally {
      this.#forget(name)
      if (this.#changing.get(name) === settled) this.#changing.delete(name)
    }
  }

  /** Waits while more came into a library than could be indexed. */
  async room(user: string, signal: AbortSignal | undefined): Promise<void> {
    await this.#using(user, async ({ library, upkeep }) => {
      await library.refresh('recent')
      await upkeep.room(signal)
    })
  }

  // Questions

  /**
   * What there is of some cores, or of all of a user's, at this moment; all of it indexed.
   * @throws LorekeepError `LK_CORE_NOT_FOUND`, `LK_STORAGE_*`
   */
  open(
    user: string,
    cores: readonly string[] | undefined,
    signal: AbortSignal | undefined,
    reads: Reads = 'fresh',
  ): HeldParts | Promise<HeldParts> {
    const shelf = this.#shelf(user)
    const held = shelf.library.isDue(reads) ? undefined : this.#atOnce(shelf, user, cores)
    return held ?? this.#using(user, (shelf) => this.#later(shelf, user, cores, signal, reads))
  }

  #atOnce(shelf: Shelf, user: string, cores: readonly string[] | undefined): HeldParts | undefined {
    if (!shelf.library.isReady) return undefined
    const generations = cores && this.#generations(shelf, user, cores)
    if (cores !== undefined && generations === undefined) return undefined
    return isCovered(shelf, generations) ? shelf.versions.hold(generations) : undefined
  }

  async #later(
    shelf: Shelf,
    user: string,
    cores: readonly string[] | undefined,
    signal: AbortSignal | undefined,
    reads: Reads,
  ): Promise<HeldParts> {
    const { library, versions } = shelf
    await library.refresh(reads)
    for (;;) {
      signal?.throwIfAborted()
      await library.ready()
      if (this.#known.size > maxKnown) this.#known.clear()
      if (cores !== undefined) await this.#learnAll(shelf, user, cores)
      const held = this.#atOnce(shelf, user, cores)
      if (held !== undefined) return held
      const generations = cores && this.#generations(shelf, user, cores)
      // What is outdated may have parts that are deleted soon.
      if (!library.isReady || (cores !== undefined && generations === undefined)) continue
      const covered = await this.#covered(shelf, generations, signal, (state) => {
        return this.#atOnce(shelf, user, cores) ?? versions.holdOf(state, generations)
      })
      if (covered !== undefined) return covered
    }
  }

  /**
   * Brings what waits where a question sees it: into memory where it is little, and `hold` gets what there was when that
   * began, which is all there as long as it runs, whatever came meanwhile. Of more parts are made, and what there is
   * then has to be looked at anew.
   */
  async #covered(
    { library, memory, upkeep }: Shelf,
    generations: readonly string[] | undefined,
    signal: AbortSignal | undefined,
    hold: (state: LibraryState) => HeldParts,
  ): Promise<HeldParts | undefined> {
    const state = library.state()
    const asked = segmentsOf(state, generations)
    const names = new Set(asked.map(({ generation }) => generation))
    for (const { record } of state.parts) names.add(partName(record))
    const unpin = this.#tools.table.collector.pin(...names)
    const forget = memory.keep(state.waiting)
    try {
      // As they are now: the library may have been read anew.
      const left = () => asked.flatMap((each) => library.waiting.get(nameOfWaiting(each)) ?? [])
      if (asked.length > mostInMemory.segments || bytesOf(asked) > mostInMemory.bytes) {
        await upkeep.bring(left, { signal })
      } else if (await memory.take(() => asked, library.waiting)) {
        return hold(state)
      } else await this.#makeRoom({ library, memory, upkeep }, left, signal)
      return undefined
    } finally {
      forget()
      unpin()
      memory.prune(library.waiting)
    }
  }

  /**
   * Indexes all that memory has, and what is wanted beside it: by itself that would become a part for
   * each question, of which nothing may be merged in the background.
   */
  async #makeRoom(
    { library, memory, upkeep }: Pick<Shelf, 'library' | 'memory' | 'upkeep'>,
    wanted: () => readonly Waiting[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // Others may have made it before it is this one's turn.
    const all = () => {
      const those = wanted()
      return memory.hasRoom(those) ? [] : [...new Set([...those, ...memory.held(library.waiting)])]
    }
    let damaged: Waiting | undefined
    const onDamage = (waiting: Waiting) => {
      memory.noteDamage(waiting)
      damaged = waiting
    }
    try {
      await upkeep.bring(all, { signal, onDamage })
    } catch (error) {
      // Of another core: the next time it is left out.
      if (damaged === undefined || wanted().includes(damaged)) throw error
    }
  }

  #generations({ library }: Shelf, user: string, cores: readonly string[]): string[] | undefined {
    const generations: string[] = []
    for (const id of cores) {
      const generation = this.#generation(library, nameOf({ user, id }))
      if (generation === undefined) return undefined
      generations.push(generation)
    }
    return generations
  }

  /** As far as it is known: what others change is known with the library. */
  #generation(library: Library, name: string): string | undefined {
    const known = this.#known.get(name)
    if (known === undefined || (library.isShared && known.reading !== library.reading)) {
      return undefined
    }
    return known.generation
  }

  /** What is learnt belongs to the library that there is: where others changed that, it is learnt anew. */
  async #learnAll({ library }: Shelf, user: string, cores: readonly string[]): Promise<void> {
    const unknown = cores.filter(
      (id) => this.#generation(library, nameOf({ user, id })) === undefined,
    )
    for (const id of unknown) await this.#learn(library, { user, id })
    if (library.isShared && unknown.length > 0) await library.refresh()
  }

  async #learn(library: Library, ref: CoreRef): Promise<string> {
    const name = nameOf(ref)
    for (;;) {
      const known = this.#generation(library, name)
      if (known !== undefined) return known
      await this.#changing.get(name)
      const reader = { isStale: false }
      const readers = this.#readers.get(name) ?? new Set()
      this.#readers.set(name, readers.add(reader))
      try {
        const { reading } = library
        const core = await this.#tools.table.read(ref)
        if (reader.isStale || this.#changing.has(name)) continue
        if (core === undefined) throw noCore(ref)
        // Of an earlier reading it is of no use.
        this.#known.set(name, { generation: core.generation, reading })
        if (reading !== library.reading) return core.generation
      } finally {
        readers.delete(reader)
        if (readers.size === 0) this.#readers.delete(name)
      }
    }
  }

  #forget(name: string): void {
    this.#known.delete(name)
    for (const reader of this.#readers.get(name) ?? []) reader.isStale = true
  }

  // Indexing

  /** Indexes what is not of a core, with approximate indexes. @throws LorekeepError `LK_CORE_NOT_FOUND` */
  async index(ref: CoreRef, options: AskedOptions): Promise<IndexState> {
    await this.#using(ref.user, async ({ library, upkeep }) => {
      await library.refresh()
      let learnt = await this.#learn(library, ref)
      for (let round = 0; round < maxRounds; round++) {
        const indexed = learnt
        await upkeep.index(() => segmentsOf(library, [indexed]), { ...options, isThorough: true })
        await upkeep.link(options)
        // Meanwhile others may have replaced it, and may do so each time: then its state says what waits.
        learnt = await this.#learn(library, ref)
        if (learnt === indexed) break
      }
    })
    return this.state(ref)
  }

  /** Indexes and merges all that a user has. */
  async indexAll(user: string, options: AskedOptions): Promise<LibraryIndexState> {
    await this.#using(user, async ({ library, upkeep }) => {
      await library.refresh()
      await upkeep.index(() => segmentsOf(library, undefined), { ...options, isThorough: true })
      await upkeep.mergeAll(options)
    })
    return this.stateOfAll(user)
  }

  /** @throws LorekeepError `LK_CORE_NOT_FOUND` */
  state(ref: CoreRef): Promise<IndexState> {
    return this.#using(ref.user, async (shelf) => {
      const { library } = shelf
      for (;;) {
        await library.refresh()
        await this.#learnAll(shelf, ref.user, [ref.id])
        const core = await this.#tools.table.read(ref)
        if (library.isShared) await library.refresh()
        const generation = this.#generation(library, nameOf(ref))
        // What was read and what is in memory are of one moment, or it is read again.
        if (!library.isReady || generation === undefined) continue
        if (core?.generation !== generation) continue
        const waiting = segmentsOf(library, [generation])
        const { segments } = core
        return this.#held(shelf, (parts) => stateOfCore(parts, generation, waiting, segments))
      }
    })
  }

  stateOfAll(user: string): Promise<LibraryIndexState> {
    return this.#using(user, async (shelf) => {
      const { library } = shelf
      await library.refresh()
      const waiting = segmentsOf(library, undefined)
      const retired = new Set(library.retired)
      return this.#held(shelf, (parts) => stateOfLibrary(parts, retired, waiting))
    })
  }

  /** What is read of the parts stays until it is. */
  async #held<T>({ library, versions }: Shelf, read: (parts: readonly Part[]) => Promise<T>) {
    const { parts } = library
    const { release } = versions.hold(undefined)
    try {
      return await read(parts)
    } finally {
      release()
    }
  }

  /**
   * Looks after those of whom something waits since an earlier process. Resolves when it is known whether
   * there are any.
   */
  async resume(): Promise<void> {
    if (this.#parts.threads === 0) return
    const first = await this.#nextWaiting(undefined)
    if (first === undefined) return
    this.#resuming = this.#resume(first).catch((error: unknown) => {
      if (!this.#isStopped) this.#parts.onError(error)
    })
  }

  async #resume(first: string): Promise<void> {
    let user: string | undefined = first
    while (user !== undefined && !this.#isStopped) {
      await this.#using(user, ({ library }) => library.ready())
      user = await this.#nextWaiting(user)
    }
  }

  async #nextWaiting(after: string | undefined): Promise<string | undefined> {
    const { gt, lt } = allWaiting()
    const range = { gt: after === undefined ? gt : waitingOf(after).lt, lt }
    const { cores } = this.#tools.table
    for await (const page of cores.scan({ ...range, keysOnly: true, limit: 1 })) {
      for (const { key } of page) return decodeKey(key)[1] as string
    }
    return undefined
  }

  /** Ends what is under way in the background. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#resuming
    await Promise.all([...this.#shelves.values()].map(stop))
  }

  /** What `work` comes to; the library stays until then. */
  async #using<T>(user: string, work: (shelf: Shelf) => Promise<T>): Promise<T> {
    const shelf = this.#shelf(user)
    shelf.uses++
    try {
      return await work(shelf)
    } finally {
      shelf.uses--
    }
  }

  #shelf(user: string): Shelf {
    const shelf = this.#shelves.get(user) ?? this.#open(user)
    if (shelf === this.#last) return shelf
    this.#last = shelf
    this.#shelves.delete(user)
    this.#shelves.set(user, shelf)
    this.#content.use(shelf.library)
    if (this.#shelves.size > mostIdle.libraries) this.#clear()
    return shelf
  }

  /** Lets go of the longest unused, where nobody has anything to do with them. */
  #clear(): void {
    let looks = 8
    for (const [user, shelf] of this.#shelves) {
      if (this.#shelves.size <= mostIdle.libraries || looks-- === 0) return
      this.#shelves.delete(user)
      if (!isIdle(shelf) || shelf === this.#last) {
        // The others are looked at before it is again.
        this.#shelves.set(user, shelf)
        continue
      }
      shelf.versions.forget()
      for (const part of shelf.library.parts) part.forget()
      this.#content.letGoOfAll(shelf.library)
      // Nothing of it is under way.
      void stop(shelf)
    }
  }

  /** Several processes would make the same parts, and all but one in vain. */
  #inTurnOf(user: string): InTurn {
    const { sharing } = this.#tools.table.cores
    if (sharing === undefined) return goOn
    return async (name, { isWaitedFor, signal }, work) => {
      const inTurn = async () => {
        const most = isWaitedFor ? mostWaitMs.somebody : mostWaitMs.nobody
        const until = AbortSignal.any([signal, AbortSignal.timeout(most)])
        const end = await sharing.turn(`${name} ${user}`, until).catch((error: unknown) => {
          signal.throwIfAborted()
          if (hasCode(error, 'LK_CLOSED')) throw error
          // It is for order alone: what is written has its conditions.
          return () => undefined
        })
        try {
          return await work()
        } finally {
          end()
        }
      }
      const lane = name === 'index' ? this.#turns.index : this.#turns.merge
      return isWaitedFor ? inTurn() : lane.run(signal, inTurn)
    }
  }

  #open(user: string): Shelf {
    const { table, read, now } = this.#tools
    const { collector } = table
    const open = (record: PartRecord) => new Part(this.#cache, record)
    const library = new Library(user, table, open, this.#content, this.#ticks)
    const memory = new MemoryParts(read, (generations) => collector.pin(...generations), now)
    const { threads, bytesPerSecond, onError, forgetVectors } = this.#parts
    const versions = new Versions(library, memory, collector, (part) => {
      part.forget()
      forgetVectors(part.vectorFileId)
    })
    const upkeep = new Upkeep({
      library,
      tools: this.#tools,
      merges: this.#merges,
      inTurn: this.#inTurnOf(user),
      isOn: threads > 0,
      bytesPerSecond,
      onError,
    })
    library.onChange = () => {
      memory.prune(library.waiting)
      versions.forget()
      upkeep.notice()
    }
    library.onDamage = onError
    memory.onChange = () => versions.forget()
    return { library, memory, versions, upkeep, uses: 0 }
  }
}

const goOn = async <T>(_: string, __: unknown, work: () => Promise<T>): Promise<T> => work()

function isIdle({ library, memory, upkeep, uses }: Shelf): boolean {
  return uses === 0 && library.isIdle && memory.isIdle && upkeep.isIdle
}

async function stop({ memory, upkeep }: Shelf): Promise<void> {
  await Promise.all([memory.stop(), upkeep.stop()])
}

/** True where a question about these generations finds all of their segments. */
function isCovered(
  { library, memory }: Shelf,
  generations: readonly string[] | undefined,
): boolean {
  if (library.waiting.size === 0) return true
  return segmentsOf(library, generations).every((waiting) => memory.has(waiting))
}

function segmentsOf(
  library: Pick<LibraryState, 'waiting'>,
  generations: readonly string[] | undefined,
): Waiting[] {
  const waiting = [...library.waiting.values()]
  if (generations === undefined) return waiting
  const wanted = new Set(generations)
  return waiting.filter(({ generation }) => wanted.has(generation))
}

const ignore = () => undefined

function nameOf({ user, id }: CoreRef): string {
  return `${user.length} ${user}${id}`
}

function noCore({ user, id }: CoreRef): LorekeepError {
  return new LorekeepError('LK_CORE_NOT_FOUND', `user '${user}' has no '${id}'`)
}
