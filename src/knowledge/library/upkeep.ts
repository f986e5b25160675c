import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '../../errors.js'
import { layoutOf, partKind, type PartRecord } from '../../graph/index/layout.js'
import type { Part } from '../../graph/index/part.js'
import { eitherOf, untilAborted } from '../../in-flight.js'
import {
  candidateOf,
  forget,
  indexSegments,
  mergeInto,
  type AskedOptions,
  type IndexingOptions,
  type IndexingTools,
  type Joined,
} from './indexing.js'
import { Lane } from './lane.js'
import { nameOfWaiting, type Library, type Waiting } from './library.js'
import {
  atRest,
  groupsOf,
  merged,
  mostJoined,
  mostRows,
  pace,
  rowsOf,
  type Candidate,
} from './policy.js'

/** Above either, imports wait: a question looks into each part. */
const mostWaiting = 1000
const mostParts = 100

/** After a failure the work is tried again, each time after twice as long. */
const firstRetryMs = 1000
const mostRetryMs = 60_000

/** Does work on a library while no other process that shares the store does. */
export type InTurn = <T>(
  name: string,
  how: { readonly isWaitedFor: boolean; readonly signal: AbortSignal },
  work: () => Promise<T>,
) => Promise<T>

/** Where others bring something too, and nobody says so. */
const lookMs = 250

export interface UpkeepParts {
  readonly library: Library
  readonly tools: IndexingTools
  /** How many merges are under way at once, of all libraries. */
  readonly merges: Lane
  readonly inTurn: InTurn
  /** False: nothing is done that nobody waits for. */
  readonly isOn: boolean
  readonly bytesPerSecond: number
  readonly onError: (error: unknown) => void
}

interface PartCandidate extends Candidate {
  readonly part: Part
}

/** Sees to it that segments of a library become parts, and that the parts are few. */
export class Upkeep {
  readonly #library: Library
  readonly #tools: IndexingTools
  readonly #merges: Lane
  readonly #inTurn: InTurn
  readonly #isOn: boolean
  readonly #bytesPerSecond: number
  readonly #onError: (error: unknown) => void
  readonly #stopping = new AbortController()
  /** Segments are made parts one run after the other; parts are merged meanwhile. */
  readonly #indexing = new Lane(1)
  readonly #merging = new Lane(1)
  #isIndexing = false
  #isMerging = false
  #isJoining = false
  // Undefined once they have gone off.
  #quiet: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined
  #retry: NodeJS.Timeout | undefined
  /** Called when anything has changed. */
  readonly #waiters = new Set<() => void>()
  /** What could not be read: it is left to those who ask for it. */
  readonly #damaged = new Set<string>()
  #isFailing = false
  #retryMs = firstRetryMs
  /** How many were given up when it was last seen of which nothing is left. */
  #forgotten = 0

  constructor(parts: UpkeepParts) {
    const { library, tools, merges, inTurn, isOn, bytesPerSecond, onError } = parts
    this.#library = library
    this.#tools = tools
    this.#merges = merges
    this.#inTurn = inTurn
    this.#isOn = isOn
    this.#bytesPerSecond = bytesPerSecond
    this.#onError = onError
  }

  /** Nothing is under way or to come, unless the library changes. */
  get isIdle(): boolean {
    const isTimed = [this.#quiet, this.#idle, this.#retry].some((timer) => timer !== undefined)
    const isWorking = this.#isJoining || !this.#indexing.isIdle || !this.#merging.isIdle
    return !isTimed && !isWorking && this.#waiters.size === 0
  }

  /** The library has changed. */
  notice(): void {
    for (const wake of this.#waiters) wake()
    this.#waiters.clear()
    if (this.#isOn && this.#library.isReady && !this.#isFailing) this.#schedule()
  }

  /** More came in than could be indexed and merged: imports wait. */
  get isBehind(): boolean {
    const { soon, parts } = this.#library
    if (soon.segments > mostWaiting) return true
    if (parts.length <= mostParts) return false
    // What is full, or the only one of its kind, stays as it is: nothing is to be waited for.
    const counts = new Map<string, number>()
    for (const { record } of parts) {
      if (rowsOf(record) >= mostRows(record) / 2) continue
      const kind = partKind(record)
      const count = (counts.get(kind) ?? 0) + 1
      if (count > mostParts) return true
      counts.set(kind, count)
    }
    return false
  }

  /** Waits while more came in than could be indexed. */
  async room(signal: AbortSignal | undefined): Promise<void> {
    const library = this.#library
    while (this.#isOn && !this.#isFailing && !this.#stopping.signal.aborted && this.isBehind) {
      this.#schedule()
      await this.#change(signal)
      await library.refresh('recent')
    }
  }

  /** Makes parts of those of the segments that wait when it is its turn. */
  async index(wanted: () => readonly Waiting[], options: IndexingOptions): Promise<void> {
    const signal = this.#until(options.signal)
    await this.#index(wanted, { ...options, signal }, signal)
  }

  /** The same for a question: where that gives up, what was begun goes on, for the next one. */
  async bring(
    wanted: () => readonly Waiting[],
    options: Omit<IndexingOptions, 'isThorough'>,
  ): Promise<void> {
    const asked = this.#until(options.signal)
    const { signal } = this.#stopping
    const work = () => this.#index(wanted, { ...options, signal, isThorough: false }, asked)
    await untilAborted(work, asked)
  }

  /** With `asked` it is not waited for any more, and with the signal of the options it ends. */
  async #index(
    wanted: () => readonly Waiting[],
    options: IndexingOptions,
    asked: AbortSignal,
  ): Promise<void> {
    const how = { isWaitedFor: true, signal: asked }
    await this.#indexing.run(asked, () =>
      this.#inTurn('index', how, async () => {
        // Others may have made it before it is this one's turn.
        await this.#library.refresh()
        for (let left = wanted(); left.length > 0; left = wanted()) {
          await indexSegments(this.#library, left, this.#tools, options)
          await this.#library.refresh()
        }
      }),
    )
  }

  /** Makes the approximate indexes that are missing. */
  async link(options: AskedOptions): Promise<void> {
    await this.#mergeEach(options, (kinds) =>
      kinds.flatMap(({ candidates }) =>
        candidates.filter(({ isUnlinked }) => isUnlinked).map((candidate) => [candidate]),
      ),
    )
  }

  /** Leaves as few parts as there can be, without anything that nobody says any more. */
  async mergeAll(options: AskedOptions): Promise<void> {
    await this.#mergeEach(options, (kinds) =>
      kinds.flatMap(({ candidates, most }) => groupsOf(candidates, most)),
    )
    await this.#forget(this.#until(options.signal), options.member)
  }

  /** Ends what is under way in the background, and waits for it. */
  async stop(): Promise<void> {
    for (const timer of [this.#quiet, this.#idle, this.#retry]) clearTimeout(timer)
    this.#quiet = this.#idle = this.#retry = undefined
    this.#stopping.abort()
    this.notice()
    await Promise.all([this.#indexing.idle(), this.#merging.idle()])
  }

  async #mergeEach(
    options: AskedOptions,
    choose: (kinds: readonly Kind[]) => readonly (readonly PartCandidate[])[],
  ): Promise<void> {
    const signal = this.#until(options.signal)
    const how = { isWaitedFor: true, signal }
    await this.#merging.run(signal, () =>
      this.#inTurn('merge', how, async () => {
        for (;;) {
          await this.#library.refresh()
          const [group] = choose(await this.#kinds())
          if (group === undefined) return
          await mergeInto(this.#library, partsOf(group), this.#tools, { ...options, signal })
        }
      }),
    )
  }

  #until(signal: AbortSignal | undefined): AbortSignal {
    return eitherOf(this.#stopping.signal, signal)
  }

  async #change(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const abort = () => {
        this.#waiters.delete(wake)
        reject(signal?.reason as Error)
      }
      const wake = () => {
        this.#waiters.delete(wake)
        signal?.removeEventListener('abort', abort)
        resolve()
      }
      signal?.addEventListener('abort', abort, { once: true })
      this.#waiters.add(wake)
      if (this.#library.isShared) setTimeout(wake, lookMs).unref()
    })
  }

  // In the background

  #schedule(): void {
    if (this.#stopping.signal.aborted) return
    const { segments, bytes } = this.#library.soon
    clearTimeout(this.#quiet)
    clearTimeout(this.#idle)
    this.#quiet = undefined
    if (segments >= pace.manySegments || bytes >= pace.manyBytes) this.#startIndexing()
    else if (segments > 0) {
      this.#quiet = setTimeout(() => {
        this.#quiet = undefined
        this.#startJoining()
      }, pace.quietMs).unref()
    }
    this.#startMerging(false)
    this.#idle = setTimeout(() => {
      this.#idle = undefined
      this.#startMerging(true)
    }, pace.idleMs).unref()
  }

  #startIndexing(): void {
    if (this.#isIndexing) return
    this.#isIndexing = true
    void this.#inBackground(this.#indexSoon(undefined), () => (this.#isIndexing = false))
  }

  async #indexSoon(join: IndexingOptions['join']): Promise<void> {
    const soon = () =>
      [...this.#library.waiting.values()].filter(
        (waiting) => waiting.isSoon && !this.#damaged.has(nameOfWaiting(waiting)),
      )
    const onDamage = (waiting: Waiting) => this.#damaged.add(nameOfWaiting(waiting))
    const { signal } = this.#stopping
    const how = { isWaitedFor: false, signal }
    await this.#indexing.run(signal, () =>
      this.#inTurn('index', how, async () => {
        const options = { signal, isThorough: false, onDamage, join }
        let known: number
        do {
          known = this.#damaged.size
          await this.#library.refresh()
          try {
            await indexSegments(this.#library, soon(), this.#tools, options)
          } catch (error) {
            // The others do not wait for one that cannot be read.
            if (this.#damaged.size === known) throw error
            this.#onError(error)
          }
        } while (this.#damaged.size > known)
      }),
    )
  }

  /**
   * What waits becomes one with the small parts, in one write: once nothing waits behind a load, parts are few. Nothing
   * else is indexed meanwhile, so it is bounded, and what takes longer is left to merges. Where others share the
   * storage they may merge the same parts, as a turn can be lost: there it is indexed alone.
   */
  #startJoining(): void {
    if (this.#isJoining) return
    this.#isJoining = true
    void this.#inBackground(this.#join(), () => (this.#isJoining = false))
  }

  async #join(): Promise<void> {
    const { signal } = this.#stopping
    const how = { isWaitedFor: false, signal }
    const join = this.#library.isShared
      ? undefined
      : (made: readonly PartRecord[]) => this.#joined(made)
    for (let isDone = false; !isDone;) {
      // Without any turn, which others wait for: somebody may ask for one index after the other.
      await this.#indexing.idle()
      await this.#merging.run(signal, () =>
        this.#inTurn('merge', how, () =>
          this.#merges.run(signal, async () => {
            isDone = this.#indexing.isIdle
            if (isDone) await this.#indexSoon(join)
          }),
        ),
      )
    }
  }

  async #joined(made: readonly PartRecord[]): Promise<readonly Joined[]> {
    const groups: Joined[] = []
    for (const { name, candidates, most, isVectors } of await this.#kinds()) {
      // So many would be linked.
      const bound = isVectors ? Math.min(mostJoined, this.#tools.minLinked - 1) : mostJoined
      const those = made.filter((record) => partKind(record) === name)
      const all = [
        ...candidates,
        ...those.map((record) => ({ rows: rowsOf(record), dead: 0, isUnlinked: false, record })),
      ]
      const chosen = atRest(all, Math.min(most, bound)) ?? []
      const parts = chosen.flatMap((each) => ('part' in each ? [each.part] : []))
      const own = chosen.flatMap((each) => ('record' in each ? [each.record] : []))
      if (own.length > 0) groups.push({ made: own, parts })
    }
    return groups
  }

  #startMerging(isIdle: boolean): void {
    if (this.#isMerging) return
    this.#isMerging = true
    const { signal } = this.#stopping
    const how = { isWaitedFor: false, signal }
    const work = this.#merging.run(signal, async () => {
      if (this.#library.isShared && !(await this.#hasToMerge(isIdle))) return false
      return this.#inTurn('merge', how, () => this.#mergeWhatShould(isIdle))
    })
    void this.#inBackground(work, () => (this.#isMerging = false))
  }

  async #inBackground(work: Promise<boolean | void>, ended: () => void): Promise<void> {
    try {
      const hasChanged = await work
      this.#isFailing = false
      this.#retryMs = firstRetryMs
      ended()
      if (hasChanged !== false) this.notice()
    } catch (error) {
      ended()
      if (this.#stopping.signal.aborted) return
      this.#isFailing = true
      clearTimeout(this.#retry)
      this.#retry = setTimeout(() => {
        this.#retry = undefined
        this.#isFailing = false
        this.notice()
      }, this.#retryMs).unref()
      this.#retryMs = Math.min(mostRetryMs, 2 * this.#retryMs)
      for (const wake of this.#waiters) wake()
      this.#waiters.clear()
      this.#onError(error)
    }
  }

  /** Whether it is worth a turn. */
  async #hasToMerge(isIdle: boolean): Promise<boolean> {
    return (await this.#chosen(isIdle)) !== undefined || this.#hasToForget(isIdle)
  }

  #hasToForget(isIdle: boolean): boolean {
    const { retired, isShared } = this.#library
    // Of what others may hold it is not known when they do not any more.
    return retired.size > 0 && isIdle && (isShared || retired.size !== this.#forgotten)
  }

  /** False where nothing was to be done. */
  async #mergeWhatShould(isIdle: boolean): Promise<boolean> {
    const { signal } = this.#stopping
    let hasMerged = false
    for (;;) {
      if (this.#library.isShared) await this.#library.refresh()
      const chosen = await this.#chosen(isIdle)
      if (chosen === undefined) break
      const parts = partsOf(chosen)
      const start = performance.now()
      await this.#merges.run(signal, () => mergeInto(this.#library, parts, this.#tools, { signal }))
      hasMerged = true
      const bytes = parts.reduce((sum, { record }) => sum + layoutOf(record).end, 0)
      const ms = (1000 * bytes) / this.#bytesPerSecond - (performance.now() - start)
      if (ms > 1) await sleep(ms, undefined, { signal, ref: false })
    }
    const { retired } = this.#library
    if ((hasMerged && retired.size > 0) || this.#hasToForget(isIdle)) {
      await this.#forget(signal)
      this.#forgotten = retired.size
    }
    return hasMerged
  }

  async #chosen(isIdle: boolean): Promise<readonly PartCandidate[] | undefined> {
    for (const { candidates, most } of await this.#kinds()) {
      const chosen = merged(candidates, most, isIdle)
      if (chosen !== undefined) return chosen
    }
    return undefined
  }

  /** The parts by what they have: triples, vectors of one length, or passages. */
  async #kinds(): Promise<Kind[]> {
    const { parts, retired } = this.#library
    const kinds = new Map<string, Kind & { candidates: PartCandidate[] }>()
    for (const part of parts) {
      const name = partKind(part.record)
      let kind = kinds.get(name)
      if (kind === undefined) {
        kinds.set(
          name,
          (kind = {
            name,
            candidates: [],
            most: mostRows(part.record),
            isVectors: part.record.vectors !== undefined,
          }),
        )
      }
      kind.candidates.push(await candidateOf(part, retired, this.#tools.minLinked))
    }
    return [...kinds.values()]
  }

  /** While no part is made: it may have something of what is given up meanwhile. */
  async #forget(signal: AbortSignal, member?: string): Promise<void> {
    await this.#indexing.run(signal, async () => {
      // Where it was read anew meanwhile, the next time will do.
      await forget(this.#library, this.#tools.table, member).catch((error: unknown) => {
        if (!hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
      })
    })
  }
}

interface Kind {
  readonly name: string
  readonly candidates: readonly PartCandidate[]
  readonly most: number
  readonly isVectors: boolean
}

function partsOf(candidates: readonly PartCandidate[]): Part[] {
  return candidates.map(({ part }) => part)
}
