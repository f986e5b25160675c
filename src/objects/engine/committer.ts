// The state that is known, and how it comes to be the newest: by commits of this process, each in the lane of its
// collection, and by looks at what others have made.

import type { Fill } from '../../health.js'
import { setImmediate as turn } from 'node:timers/promises'
import { LorekeepError } from '../../errors.js'
import { PageCache } from '../../page-cache.js'
import type { Presence } from '../../presence.js'
import { LastLook, type Reads } from '../../reads.js'
import type { Storage } from '../../storage.js'
import { contextOfWrite } from '../../tracing.js'
import { Block } from './block.js'
import { ChangeNotices } from './change-notices.js'
import { EntryPage } from './entries.js'
import { IdHash } from './hash.js'
import { LaneQueue, type Change, type LaneHost, type Member, type Written } from './lane-queue.js'
import { applied, leftOfGone, lookBehind, type Look } from './loading.js'
import { IdFilters } from './id-filters.js'
import type { Memory } from './memory.js'
import { damaged, Pages, StalePage } from './pages.js'
import { readAhead } from './reading-ahead.js'
import { Readers, type Pin } from './readers.js'
import { RowShapes } from './row-shapes.js'
import { headOf, laneIn, type Head, type State } from './state.js'

const readsPerTurn = 128

// A read that commits overtake again and again pins what it reads, and where others go on replacing it, it gets its
// turn among them. They wait for a while, and may not know of turns: so many times, and it has failed.
const maxAttempts = 3
const maxTurns = 10

interface CommitterOptions {
  /** Memory for pages. */
  readonly cacheBytes: number
  readonly isShared: boolean
  /** Of those who share it. */
  readonly presence: Presence | undefined
  /** Of reads that do not say it. */
  readonly reads: Reads
  readonly now: () => number
  /** Milliseconds that never run backwards. */
  readonly elapsed: () => number
}

export class Committer {
  readonly memory: Memory
  /** Others write to the storage: what is known may be outdated. */
  readonly isShared: boolean
  readonly #storage: Storage
  readonly #cache: PageCache
  readonly #presence: Presence | undefined
  readonly #reads: Reads
  readonly #lastLook: LastLook
  readonly #notices: ChangeNotices
  readonly #readers = new Readers()
  readonly #host: LaneHost
  readonly #queues = new Map<number, LaneQueue>()
  /** The newest version of each lane that others have made, as far as it is known. */
  readonly #foreign = new Map<number, number>()
  /** The tables when it was opened, and by lane when what others had made there was read last. */
  readonly #opened: State['tables']
  readonly #readOf = new Map<number, State['tables']>()
  #state: State
  #asked = 0
  #readCount = 0
  #looking: Promise<State> | undefined

  constructor(storage: Storage, state: State, options: CommitterOptions) {
    const { cacheBytes, isShared, presence, reads, now, elapsed } = options
    this.#storage = storage
    this.#state = state
    this.#opened = state.tables
    this.isShared = isShared
    this.#presence = presence
    this.#reads = reads
    this.#lastLook = new LastLook(elapsed)
    this.#notices = new ChangeNotices(storage.sharing, () => this.#lastLook.outdate())
    this.#cache = new PageCache(cacheBytes)
    const shapes = new RowShapes()
    const hash = new IdHash(state.heads.main.record.hashKey)
    const entries = new Pages(storage, this.#cache, EntryPage.decode)
    this.memory = {
      blocks: new Pages(storage, this.#cache, (bytes) => new Block(bytes, shapes, hash)),
      entries,
      filters: new IdFilters(this.#cache, entries),
      hash,
    }
    this.#host = this.#hostOf(now)
  }

  /** Of the store: the same for all who have it open. */
  get secret(): string {
    return this.#state.heads.main.record.hashKey
  }

  /** What it keeps in memory. */
  get fill(): Fill {
    const { bytes, maxBytes } = this.#cache
    return { bytes, maxBytes }
  }

  /** Made and durable when it resolves, together with what others changed in the lane at the same time. */
  commit<Result>(change: Change<Result>, lane = 0, member = this.member): Promise<Result> {
    return this.#push(change, lane, false, member)
  }

  /** The same, made of the newest of all lanes: it may change what goes for all of them. */
  commitOfAll<Result>(change: Change<Result>, member = this.member): Promise<Result> {
    return this.#push(change, 0, true, member)
  }

  /**
   * What a change requires of this process from here on: that nobody takes it for dead. Whoever waits before he commits
   * asks for it when he is called.
   */
  get member(): Member {
    return this.#presence?.condition('objects')
  }

  #push<Result>(
    change: Change<Result>,
    lane: number,
    isOfAll: boolean,
    member: Member,
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const number = ++this.#asked
      this.#queueOf(lane).push({
        change,
        isOfAll,
        number,
        member,
        context: contextOfWrite(),
        resolve,
        reject,
      })
    })
  }

  /** Made together with whatever is committed next: for what a failure has left to do. */
  takeAlong(change: Change<void>): void {
    this.#host.along.push(change)
  }

  /**
   * Deletes what was kept for the readers of processes that are gone, until somebody closes; what readers of this one
   * have is kept for them.
   * @throws LorekeepError `LK_STORAGE_*`
   */
  async dropLeft(closing: AbortSignal): Promise<void> {
    if (this.#presence === undefined) return
    while (!closing.aborted) {
      // Whoever was taken for dead himself writes nothing until he has joined anew.
      await this.#presence.ready()
      if ((await leftOfGone(this.#storage, await this.look())).length === 0) return
      // Others may be at it: it is of the state that it is written behind.
      await this.commitOfAll(async (draft) => {
        draft.drop(await leftOfGone(this.#storage, draft.state))
      })
    }
  }

  /**
   * The newest state, for as long as it takes: its pages stay, whatever is committed meanwhile.
   * @throws LorekeepError `LK_STORAGE_*` where it cannot be told which state is the newest
   */
  async pin(reads = this.#reads): Promise<Pin> {
    const reading = this.#readers.begin(this.#state)
    try {
      // What is being written was made up before, and deletes pages of the state there is.
      for (const queue of this.#queues.values()) if (queue.isDeleting) await queue.writing
      const seen = this.#isLookDue(reads) ? await this.look() : undefined
      await this.#settled()
      const state = seen ?? this.#state
      reading.of(state)
      return { state, release: reading.end }
    } catch (error) {
      reading.end()
      throw error
    }
  }

  /**
   * What it means that a pinned state lacks a page: others write to the storage too
   * (`LK_STORAGE_CONFLICT`), or it is damaged (`LK_STORAGE_CORRUPT`).
   */
  async lost(error: StalePage, { heads }: State): Promise<LorekeepError> {
    await this.look()
    const isForeign = [...this.#foreign].some(([lane, made]) => made > laneIn(heads, lane).version)
    if (!isForeign) return damaged(error)
    const detail = 'another process has deleted the version that was read'
    return new LorekeepError('LK_STORAGE_CONFLICT', detail, { cause: error })
  }

  /**
   * Reads from one state. Where a page of it is gone, because the next commit has replaced it, the
   * work is done again on the newest one, and after a few times on one that is pinned.
   * @throws LorekeepError `LK_STORAGE_UNAVAILABLE` where others replace what is read, again and again
   */
  async read<Result>(
    work: (state: State) => Promise<Result>,
    reads = this.#reads,
  ): Promise<Result> {
    // Answers from memory settle without the event loop, and whoever awaits one after the other
    // would keep timers and sockets waiting.
    if (++this.#readCount % readsPerTurn === 0) await turn()
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const seen = this.#isLookDue(reads) ? await this.look() : undefined
      if (this.#isInDoubt) await this.#settled()
      const state = seen ?? this.#state
      try {
        return await work(state)
      } catch (error) {
        if (!(error instanceof StalePage)) throw error
        await this.#written()
        if (state === this.#state && !this.#isInDoubt) await this.#refresh(error)
      }
    }
    const { state, release } = await this.pin(reads)
    try {
      return await work(state)
    } catch (error) {
      if (!(error instanceof StalePage)) throw error
      const lost = await this.lost(error, state)
      if (lost.code !== 'LK_STORAGE_CONFLICT') throw lost
    } finally {
      release()
    }
    return this.#readInTurn(work)
  }

  /** What others have replaced they do not replace while they wait for their turns. */
  #readInTurn<Result>(work: (state: State) => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      let turns = 0
      let isSettled = false
      const settle = (give: () => void) => {
        isSettled = true
        give()
      }
      // It has been answered when nothing is committed: that the state was the newest then does not matter.
      const inTurn = this.commitOfAll(async ({ state }) => {
        if (isSettled) return
        try {
          const result = await work(state)
          settle(() => resolve(result))
        } catch (error) {
          const isStale = error instanceof StalePage
          if (isStale && ++turns < maxTurns) throw error
          const reason = isStale ? overtaken(await this.lost(error, state)) : error
          settle(() => reject(reason as Error))
        }
      })
      inTurn.catch(reject)
    })
  }

  /** What is known without a look. */
  get known(): State {
    return this.#state
  }

  /** The newest of all lanes, as of one moment: with all that was acknowledged to anybody before the call. */
  look(): Promise<State> {
    // One look is for all of a turn.
    this.#looking ??= this.#lookAtAll()
    return this.#looking
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    // What one has left to do another may begin.
    for (let before = -1; before !== this.#asked;) {
      before = this.#asked
      for (const queue of this.#queues.values()) await queue.drained()
    }
    this.#notices.close()
  }

  #hostOf(now: () => number): LaneHost {
    const stateNow = () => this.#state
    const hasLanesNow = () => this.#hasLanes
    const askedNow = () => this.#asked
    return {
      storage: this.#storage,
      memory: this.memory,
      readers: this.#readers,
      isShared: this.isShared,
      presence: this.#presence,
      now,
      along: [],
      get state() {
        return stateNow()
      },
      get hasLanes() {
        return hasLanesNow()
      },
      get asked() {
        return askedNow()
      },
      queues: () => {
        const lanes = new Set([0, ...this.#state.heads.others.keys(), ...this.#queues.keys()])
        return [...lanes].sort((a, b) => a - b).map((lane) => this.#queueOf(lane))
      },
      look: async (lane) => {
        if (lane === undefined) return this.look()
        await this.#lookAtLane(lane)
        return this.#readAhead(lane)
      },
      refresh: async (error) => this.#refresh(error),
      adopt: (commit) => this.#adopt(commit),
    }
  }

  #queueOf(lane: number): LaneQueue {
    let queue = this.#queues.get(lane)
    if (queue === undefined) this.#queues.set(lane, (queue = new LaneQueue(this.#host, lane)))
    return queue
  }

  get #hasLanes(): boolean {
    return this.isShared || this.#state.heads.others.size > 0
  }

  #isLookDue(reads: Reads): boolean {
    return this.isShared && this.#lastLook.isDue(reads)
  }

  get #isInDoubt(): boolean {
    for (const queue of this.#queues.values()) if (queue.isInDoubt) return true
    return false
  }

  /** Writes in doubt have happened, or not. @throws LorekeepError `LK_STORAGE_*` */
  async #settled(): Promise<void> {
    while (this.#isInDoubt) {
      for (const queue of this.#queues.values()) if (queue.isInDoubt) await queue.settle()
    }
  }

  /** Writes under way have ended. */
  async #written(): Promise<void> {
    for (const queue of this.#queues.values()) {
      // One in doubt has ended, and may wait for who asks.
      if (!queue.isInDoubt) await queue.writing
    }
  }

  async #lookAtAll(): Promise<State> {
    await undefined
    // Whoever comes from here on is not served by this look.
    this.#looking = undefined
    for (;;) {
      const asked = this.#asked
      const seen = this.#lastLook.begin()
      const state = this.#state
      const look = await lookBehind(this.#storage, state)
      if (look.isSame) {
        for (const queue of this.#queues.values()) queue.known = Math.max(queue.known, asked)
        seen()
        return state
      }
      const followed = await this.#follow(look, asked)
      if (followed === undefined) continue
      seen()
      return followed
    }
  }

  async #lookAtLane(lane: number): Promise<void> {
    const asked = this.#asked
    const look = await lookBehind(this.#storage, this.#state, lane)
    if (look.isSame) {
      const queue = this.#queueOf(lane)
      queue.known = Math.max(queue.known, asked)
      return
    }
    await this.#follow(look, asked, lane)
    // Other lanes may be older than what this one has followed.
    if (this.#state.heads.others.size > 0) this.#lastLook.outdate()
  }

  async #readAhead(lane: number): Promise<void> {
    const state = this.#state
    const before = this.#readOf.get(lane) ?? this.#opened
    this.#readOf.set(lane, state.tables)
    await readAhead(this.memory, before, state, lane)
  }

  /** @throws LorekeepError `LK_STORAGE_CORRUPT` where the state is the newest, and a page is gone */
  async #refresh(error: unknown): Promise<void> {
    const state = this.#state
    const asked = this.#asked
    const look = await lookBehind(this.#storage, state)
    if (!this.#hasLanes) await this.#written()
    if (this.#state !== state && !this.#hasLanes) return
    if (!look.isSame) await this.#follow(look, asked)
    else if (error instanceof StalePage) throw damaged(error)
  }

  /** The state that was seen; undefined where it cannot be told what came first, it or commits of ours. */
  async #follow(look: Look, asked: number, lane?: number): Promise<State | undefined> {
    const { state, onto, isOther } = await look.follow()
    // What was seen may be our own, and not yet known to be.
    await this.#written()
    const before = this.#state
    const after = onto(before)
    if (after === undefined) return undefined
    for (const of of [0, ...after.heads.others.keys()]) {
      const { version } = laneIn(after.heads, of)
      if (version > laneIn(before.heads, of).version) this.#foreign.set(of, version)
    }
    this.#state = after
    if (isOther) {
      this.#cache.clear()
      this.memory.filters.clear()
      this.#readers.forget()
    }
    for (const queue of this.#queues.values()) {
      if (lane === undefined || queue.lane === lane) queue.known = Math.max(queue.known, asked)
    }
    return state
  }

  #adopt(commit: Written): void {
    const { blocks } = this.memory
    const { base, next, retirement } = commit
    this.#readers.adopt(retirement)
    for (const page of retirement.deleted) this.#cache.forget(page)
    for (const { number, bytes } of commit.blockPages) blocks.add(number, bytes)
    for (const { number, page } of commit.entryPages) this.#cache.keep(number, page)
    if (this.#state === base) this.#state = next
    else this.#state = withCommit(this.#state, commit)
    if (next.heads.others.size > 0) this.#lastLook.outdate()
    this.#notices.tell()
    const isOfAll = next.heads.common !== base.heads.common
    // Where there are lanes it is made of all of them, by itself.
    if (this.#host.along.length > 0 && this.#hasLanes && !isOfAll) {
      this.commitOfAll(async () => undefined).catch(() => undefined)
    }
  }
}

/** The state, which others or commits of ours in other lanes have made meanwhile, with a commit. */
function withCommit(state: State, { next, lane, changes }: Written): State {
  // Who has seen it in the storage has followed it.
  if (laneIn(state.heads, lane).version >= laneIn(next.heads, lane).version) return state
  const { main, others, common } = state.heads
  const head = headOf(next.heads, lane) as Head
  const heads =
    lane === 0
      ? { main: next.heads.main, others, common: next.heads.common }
      : { main, others: new Map(others).set(lane, head), common }
  return applied(state, [{ lane, changes }], heads)
}

/** Of a question, that others were faster says no more than that it may be asked again: nothing is written. */
function overtaken(lost: LorekeepError): LorekeepError {
  if (lost.code !== 'LK_STORAGE_CONFLICT') return lost
  const detail = 'other processes replaced what was read, at each attempt'
  return new LorekeepError('LK_STORAGE_UNAVAILABLE', detail, { cause: lost })
}
