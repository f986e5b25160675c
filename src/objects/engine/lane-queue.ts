// The changes of one lane, one after another, many to a write. Changes that wait at the same time are made on one
// draft, in their order, and share one durable write; one that fails its checks leaves the draft as it was. The write
// is made on condition that the head of the lane is still the one that the draft began with, so several processes
// over one storage cannot both succeed on the same state. What concerns all lanes waits in lane 0, for all of them.

import { setImmediate as turn } from 'node:timers/promises'
import { readable } from '../../damage.js'
import { hasCode, LorekeepError } from '../../errors.js'
import type { Presence } from '../../presence.js'
import { decodeRecord, encodeRecord } from '../../record.js'
import type { Operation, Precondition, Storage } from '../../storage.js'
import { runIn, type Context } from '../../tracing.js'
import { TurnTaking } from '../../turn-taking.js'
import { Draft, type Commit } from './draft.js'
import { laneBase, laneCount } from './lanes.js'
import { isSame } from './loading.js'
import type { Memory } from './memory.js'
import { StalePage } from './pages.js'
import type { Readers, Retirement } from './readers.js'
import {
  changeKey,
  collectionKey,
  commonKey,
  headKey,
  keptChanges,
  type ChangeRecord,
} from './records.js'
import { headOf, laneIn, type State } from './state.js'

/** With what it does about the pages that are gone. */
export interface Written extends Commit {
  /** What it was made of. */
  readonly base: State
  readonly retirement: Retirement
}

/** Checks first, with whatever it has to wait for, then changes the draft as a whole. */
export type Change<Result> = (draft: Draft) => Promise<Result>

/** A write that failed, of which it is not known whether it happened. */
interface Doubt {
  readonly commit: Written
  hasHappened: boolean
}

/** Thrown by a change that cannot follow what the draft has already: it begins the next one. */
export class NotInThisDraft extends Error {}

/** What a write requires of this process: that nobody took it for dead since the call. */
export type Member = Precondition | undefined

interface Waiting {
  readonly change: Change<unknown>
  /** Of all lanes. */
  readonly isOfAll: boolean
  /** They are numbered as they come. */
  readonly number: number
  readonly member: Member
  readonly context: Context | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

// A draft is held in memory, and everybody in it waits for the whole of it.
const maxDraftRows = 20_000
const maxDraftBytes = 32 * 1024 ** 2

/** What the lanes of a store have together. */
export interface LaneHost {
  readonly storage: Storage
  readonly memory: Memory
  readonly readers: Readers
  /** Others write to the storage: what is known may be outdated. */
  readonly isShared: boolean
  readonly presence: Presence | undefined
  readonly now: () => number
  readonly state: State
  /** There may be more lanes than one. */
  readonly hasLanes: boolean
  /** Changes that were asked for until now. */
  readonly asked: number
  /** What a commit that succeeds takes along. */
  along: Change<void>[]
  /** Of all lanes there are, in their order. */
  queues(): readonly LaneQueue[]
  /** What others have made in the lane, or in all. */
  look(lane?: number): Promise<unknown>
  /** @throws LorekeepError `LK_STORAGE_CORRUPT` where the state is the newest, and a page is gone */
  refresh(error: unknown): Promise<void>
  adopt(commit: Written): void
}

export class LaneQueue {
  readonly lane: number
  readonly turn: TurnTaking
  /** Changes up to this number came before the storage was seen to have the state that there is. */
  known = 0
  /** The write under way; fulfilled when it has ended, however that is. */
  writing: Promise<void> | undefined
  /** Whether it deletes pages of the state there is. */
  isDeleting = false
  readonly #host: LaneHost
  #waiting: Waiting[] = []
  #running: Promise<void> | undefined
  #lock: Promise<void> = Promise.resolve()
  #doubt: Doubt | undefined
  #settling: Promise<void> | undefined

  constructor(host: LaneHost, lane: number) {
    this.#host = host
    this.lane = lane
    this.turn = new TurnTaking(host.storage.sharing, lane === 0 ? 'head' : `head ${lane}`)
  }

  push(waiting: Waiting): void {
    this.#waiting.push(waiting)
    this.#running ??= this.#run()
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#running
  }

  get isInDoubt(): boolean {
    return this.#doubt !== undefined
  }

  /** Finds out whether the write in doubt happened. @throws LorekeepError `LK_STORAGE_*` */
  settle(): Promise<void> {
    this.#settling ??= this.#lookAtHead().finally(() => (this.#settling = undefined))
    return this.#settling
  }

  async #run(): Promise<void> {
    // Changes made in one turn of the caller share a draft.
    await undefined
    while (this.#waiting.length > 0) {
      if (this.turn.isOver) this.turn.end()
      const isOfAll = this.#waiting[0]?.isOfAll === true && this.#host.hasLanes
      await this.#locked(isOfAll ? this.#host.queues() : [this], async (queues) => {
        if (await this.#takeTurns(queues, isOfAll)) await this.#commitGroup(queues, isOfAll)
      })
      // Whoever was answered may go on at once: the turn, and what was read for it, is for that, too.
      if (this.turn.isShared && this.#waiting.length === 0) await turn()
    }
    this.turn.rest()
    this.#running = undefined
  }

  /** Nothing else of this process is committed to the lanes meanwhile. */
  async #locked(
    queues: readonly LaneQueue[],
    work: (queues: readonly LaneQueue[]) => Promise<void>,
  ): Promise<void> {
    const unlocks: (() => void)[] = []
    // In their order, so that two do not wait for each other.
    for (const queue of queues) {
      const before = queue.#lock
      queue.#lock = new Promise((resolve) => unlocks.push(resolve))
      await before
    }
    try {
      await work(queues)
    } finally {
      for (const unlock of unlocks) unlock()
    }
  }

  /** False where nobody waits any more. */
  async #takeTurns(queues: readonly LaneQueue[], isOfAll: boolean): Promise<boolean> {
    try {
      let isNew = isOfAll
      for (const queue of queues) if (await queue.turn.take()) isNew = true
      // Others had theirs: what would be made of the state that is known would be refused.
      if (isNew && this.#host.isShared) await this.#host.look(isOfAll ? undefined : this.lane)
      return true
    } catch (error) {
      for (const queue of queues) if (queue !== this) queue.turn.end()
      for (const { reject } of this.#waiting.splice(0)) reject(error)
      return false
    }
  }

  async #commitGroup(queues: readonly LaneQueue[], isOfAll: boolean): Promise<void> {
    const host = this.#host
    const { lane } = this
    const answers: (() => void)[] = []
    let taken: Waiting[] = []
    let base = host.state
    try {
      for (const queue of queues) if (queue.isInDoubt) await queue.settle()
      base = host.state
      const { known } = this
      const draft = new Draft(base, host.memory, host.now(), { lane, isOfAll })
      const along = isOfAll || !host.hasLanes ? [...host.along] : []
      for (const change of along) await change(draft)
      const member = this.#waiting[0]?.member ?? host.presence?.condition('objects')
      while (this.#waiting.length > 0 && !isLarge(draft)) {
        const waiting = this.#waiting[0] as Waiting
        if (waiting.member !== member) break
        if (waiting.isOfAll !== isOfAll && host.hasLanes) break
        this.#waiting.shift()
        taken.push(waiting)
        try {
          const result = await waiting.change(draft)
          answers.push(() => waiting.resolve(result as never))
        } catch (error) {
          if (error instanceof StalePage) throw error
          if (error instanceof NotInThisDraft) {
            // What was made until now is written without it, whatever comes.
            taken.pop()
            this.#waiting.unshift(waiting)
            break
          }
          answers.push(() => waiting.reject(error))
        }
      }
      // Refusals too are of the newest state only where it was written to, or looked at.
      if (!draft.isEmpty) {
        const commit = await draft.finish()
        const write = () => this.#write(commit, draft.state, member, isOfAll)
        await runIn(taken[0]?.context, write)
      } else if (isOfAll || taken.some(({ number }) => number > known)) {
        await this.#confirm(draft.state, isOfAll)
      }
      host.along = host.along.filter((change) => !along.includes(change))
      for (const answer of answers) answer()
    } catch (error) {
      if (hasCode(error, 'LK_STORAGE_CONFLICT') || error instanceof StalePage) {
        // Somebody else has written: everything again, on what is there now.
        try {
          // Where more is known by now than the draft began with, a page that is gone may be of that.
          if (!(error instanceof StalePage) || host.state === base) await host.refresh(error)
          this.#waiting.unshift(...taken)
          taken = []
        } catch (refreshError) {
          for (const waiting of taken) waiting.reject(refreshError)
        }
        return
      }
      if (taken.length === 0 && this.#waiting.length > 0) {
        // The doubt could not be settled: nobody can be served.
        taken = this.#waiting
        this.#waiting = []
      }
      for (const waiting of taken) waiting.reject(error)
    } finally {
      for (const queue of queues) if (queue !== this) queue.turn.end()
    }
  }

  async #write(
    commit: Commit,
    base: State,
    member: Precondition | undefined,
    isOfAll: boolean,
  ): Promise<void> {
    const { next, lane, operations, gone } = commit
    // From here to the call of write() nothing waits: a reader comes before, and its pages stay,
    // or it comes after, and waits for the write.
    const { readers, presence } = this.#host
    const retirement = readers.plan(laneIn(next.heads, lane).version, gone, presence?.id)
    for (const operation of retirement.operations) operations.push(operation)
    this.isDeleting = retirement.deleted.length > 0
    let ended = (): void => undefined
    this.writing = new Promise((resolve) => (ended = resolve))
    try {
      await this.#carryOut({ ...commit, base, retirement }, member, isOfAll)
    } finally {
      this.writing = undefined
      this.isDeleting = false
      ended()
    }
  }

  async #carryOut(
    commit: Written,
    member: Precondition | undefined,
    isOfAll: boolean,
  ): Promise<void> {
    const { base } = commit
    const doubt: Doubt = { commit, hasHappened: false }
    const { storage, isShared, presence, hasLanes, asked } = this.#host
    // Where several do not hold, the first one is told of.
    const require = member === undefined ? [] : [member]
    require.push(...conditionsOf(base, this.lane, isOfAll))
    if (hasLanes) {
      for (const name of commit.created) require.push({ type: 'absent', key: collectionKey(name) })
    }
    if (isShared) commit.operations.push(...told(commit, base, isOfAll))
    try {
      await storage.write(commit.operations, { durable: true, require })
    } catch (error) {
      const refusal = presence?.refusal(error, require)
      if (refusal !== undefined) throw refusal
      if (hasCode(error, 'LK_STORAGE_CONFLICT')) throw error
      // It may have happened, and what it says then is: it has.
      this.#doubt = doubt
      try {
        await this.settle()
      } catch {
        // That it happened may be known where what others have made since could not be read.
      }
      if (!doubt.hasHappened) throw error
      return
    }
    this.turn.begun()
    this.known = asked
    this.#host.adopt(commit)
  }

  /** @throws LorekeepError `LK_STORAGE_CONFLICT` where the state is not the newest any more */
  async #confirm(state: State, isOfAll: boolean): Promise<void> {
    const conditions = conditionsOf(state, this.lane, isOfAll)
    const keys = conditions.map(({ key }) => key)
    const { storage } = this.#host
    const [first] = keys as [Uint8Array]
    const values = keys.length === 1 ? [await storage.get(first)] : await storage.getMany(keys)
    const isNewest = conditions.every((condition, n) =>
      isSame(values[n], condition.type === 'equals' ? condition.value : undefined),
    )
    if (!isNewest) throw new LorekeepError('LK_STORAGE_CONFLICT')
  }

  async #lookAtHead(): Promise<void> {
    const doubt = this.#doubt
    if (doubt === undefined) return
    const { commit } = doubt
    const host = this.#host
    const bytes = await host.storage.get(headKey(this.lane))
    if (!doubt.hasHappened) {
      const isAsBefore = isSame(bytes, this.#bytesIn(commit.base))
      const hasHappened =
        isSame(bytes, this.#bytesIn(commit.next)) || (!isAsBefore && (await this.#isToldOf(commit)))
      if (this.#doubt !== doubt) return
      if (hasHappened) host.adopt(commit)
      doubt.hasHappened = hasHappened
    }
    if (!isSame(bytes, this.#bytesIn(host.state))) await host.look()
    this.#doubt = undefined
  }

  /** Others may have gone on from it: it is written down as long as they can follow, and tells nothing if damaged. */
  async #isToldOf({ next }: Commit): Promise<boolean> {
    const { version, token } = laneIn(next.heads, this.lane)
    const change = await readable(async () => {
      const bytes = await this.#host.storage.get(changeKey(version))
      return bytes && decodeRecord<ChangeRecord>(bytes)
    })
    return change?.token === token
  }

  #bytesIn({ heads }: State): Uint8Array | undefined {
    return headOf(heads, this.lane)?.bytes
  }
}

/** What waits is for the next one. */
function isLarge({ rows, bytes }: Draft): boolean {
  return rows >= maxDraftRows || bytes >= maxDraftBytes
}

/** What a commit requires: that what it was made of is the newest yet. */
function conditionsOf({ heads }: State, lane: number, isOfAll: boolean): Precondition[] {
  const isStill = (key: Uint8Array, value: Uint8Array | undefined): Precondition =>
    value === undefined ? { type: 'absent', key } : { type: 'equals', key, value }
  const conditions = [isStill(headKey(lane), headOf(heads, lane)?.bytes)]
  // What concerns all lanes is a commit of lane 0.
  if (lane !== 0) conditions.push(isStill(commonKey(), heads.common))
  if (isOfAll) {
    for (let other = 1; other < laneCount; other++) {
      conditions.push(isStill(headKey(other), heads.others.get(other)?.bytes))
    }
  }
  return conditions
}

/** What others need to follow a commit, instead of what they do not need any more. */
function told({ lane, next, changes }: Commit, { heads }: State, isOfAll: boolean): Operation[] {
  const { version, token } = laneIn(next.heads, lane)
  const after = isOfAll && [...heads.others.values()].map(({ record }) => record.version)
  const record: ChangeRecord = {
    before: laneIn(heads, lane).token,
    token,
    changes,
    ...(after && { after }),
  }
  const operations: Operation[] = [
    { type: 'put', key: changeKey(version), value: encodeRecord(record) },
  ]
  const last = version - keptChanges
  if (last > laneBase(lane)) operations.push({ type: 'del', key: changeKey(last) })
  return operations
}
