// One change after another, many to a write. Changes that wait at the same time share one durable
// write, and while one is being written the next is being made: it stands on the first one, which
// its own condition makes sure of. Every write is on condition of the head that its draft began
// with, so several processes over one storage cannot both succeed on the same state.

import { setImmediate as turn } from 'node:timers/promises'
import { hasCode, LorekeepError } from '../../errors.js'
import { decodeRecord } from '../../record.js'
import type { Operation, Precondition, Storage } from '../../storage.js'
import { contextOfWrite, runIn, type Context } from '../../tracing.js'
import { waited, type Chance, type Clock } from '../../clock.js'
import type { JobEvent } from '../types.js'
import { LastLook } from '../../reads.js'
import { refused } from '../../presence.js'
import { TurnTaking } from '../../turn-taking.js'
import { Blocks } from './blocks.js'
import { Draft, isSame, NeedsCleanDraft, OutdatedState } from './draft.js'
import type { Membership } from './members.js'
import {
  changesBehind,
  followTo,
  isOfHistory,
  lookAhead,
  lookAtHead,
  lookBack,
  type Ahead,
} from './following.js'
import { isUntaken } from './gate.js'
import { headKey, type HeadRecord } from './records.js'
import { isPutOff, SeenPosts, type Asking } from './seen-posts.js'
import { loadState } from './state.js'
import type { State } from './state.js'

/**
 * Checks first, with whatever it has to wait for, and then changes the draft as a whole. A change
 * that fails half way costs the others of its draft a second run, nothing else.
 */
type Change<Result> = (draft: Draft) => Result | Promise<Result>

/** Blocks of documents that a change will want to read, where it is made of this state: the first ones first. */
type BlocksOf = (state: State) => Iterable<number>

interface CommitOptions {
  readonly blocksOf?: BlocksOf
  /** It is made of all that was posted before it was asked for, and not only before the turn began. */
  readonly isOfAll?: boolean
  /** Who this process was when it was first asked for, by default who it is. */
  readonly member?: string | undefined
}

/** What a commit that succeeded has brought. */
export interface Committed {
  readonly events: readonly JobEvent[]
  readonly queued: ReadonlySet<string>
  readonly cancelled: readonly number[]
}

interface CommitterOptions {
  readonly storage: Storage
  readonly state: State
  readonly clock: Clock
  readonly chance: Chance
  readonly createId: () => string
  /** Of this process among those who share the storage. */
  readonly presence?: Membership | undefined
  /** Whether events are wanted at the moment. */
  readonly isWatched: () => boolean
  /** May not throw. */
  readonly onCommit: (committed: Committed) => void
}

/** How a read goes about what others write. */
interface Look<Result> {
  /** What is known is not new enough for it. */
  readonly isDue?: boolean
  /** Whether it is right, although others may have written while it was read. */
  readonly isSure?: (result: Result) => boolean
}

interface Waiting extends Asking {
  readonly change: Change<unknown>
  /** Of what changes nothing. */
  readonly look: Look<unknown> | undefined
  readonly blocksOf: BlocksOf | undefined
  /**
   * Who this process was when a change was asked for. Once others have taken that one for dead, and have done again
   * what it did not answer, it is not made under another name.
   */
  readonly member: string | undefined
  readonly context: Context | undefined
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
  /** It has asked to begin a draft. */
  alone: boolean
  /** How often others have written while it read. */
  outdated: number
}

interface Made {
  readonly waiting: Waiting
  readonly result?: unknown
  /** Of the state that its draft is made of: where others have written, it is made again. */
  readonly refusal?: unknown
}

/** A draft that is being written. */
interface Flight {
  readonly draft: Draft
  readonly made: readonly Made[]
  /** The head that it stands on, and its own. */
  readonly before: Uint8Array
  readonly headBytes: Uint8Array
  readonly require: readonly Precondition[]
  landing: Promise<void>
  error?: unknown
}

// Of 2 kB documents, 200 in flight: one draft with all of them costs two thirds of the CPU of four
// with a part each (benchmarks/flows-load). More than this are written while the next is made.
const maxDraftBytes = 512 * 1024
const maxDraftJobs = 1024
const maxFlights = 2
/** A read that others have written into so often takes a turn, so that it ends. */
const mostOutdated = 2
/** How often whoever waits for his turn looks what others have written. */
const keepUpMs = 50

export class Committer {
  readonly #options: CommitterOptions
  readonly #blocks: Blocks
  #token: string
  readonly #turn: TurnTaking
  #state: State
  #waiting: Waiting[] = []
  #flights: Flight[] = []
  #failed = false
  /**
   * The state is not to be made anything of: others have written since (`behind`), which may be applied to it, or it is
   * half changed, or of two moments (`broken`), and is read anew.
   */
  #stale: 'behind' | 'broken' | undefined
  /** What the look at the beginning of the turn has found, and nothing was read since. */
  #seen: Ahead | undefined
  #running: Promise<void> | undefined
  /** Looks in line are numbered as they are asked for; those up to the second number are known to have been answered. */
  #looks = 0
  #looked = 0
  /** That has not begun. */
  #look: Promise<void> | undefined
  readonly lastLook: LastLook
  readonly #posts: SeenPosts
  /** Wakes the loop, which waits for a write to land or for something to do meanwhile. */
  #arrived: (() => void) | undefined

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#blocks = new Blocks(options.storage)
    this.#state = options.state
    this.#token = options.chance.token()
    this.lastLook = new LastLook(() => options.clock.elapsed())
    this.#turn = new TurnTaking(options.storage.sharing, 'head')
    this.#posts = new SeenPosts(() => options.clock.elapsed())
  }

  /** For what only has to be about right: it may be ahead of what is durable. */
  get state(): State {
    return this.#state
  }

  /** Made and durable when it resolves, together with what others changed at the same time. */
  commit<Result>(change: Change<Result>, options: CommitOptions = {}): Promise<Result> {
    return this.#ask(change, undefined, options)
  }

  /** As commit(), of what changes nothing. All of it is of one moment. */
  read<Result>(change: Change<Result>, look: Look<Result> = {}): Promise<Result> {
    return this.#ask(change, look as Look<unknown>)
  }

  /** Notices what other processes have written. Who asks before the look begins has the same. */
  refresh(): Promise<void> {
    if (this.#look !== undefined) return this.#look
    const forget = () => {
      if (this.#look === look) this.#look = undefined
    }
    const look = this.#hasOwnTurn ? this.#glance(forget) : this.#lookInLine(forget)
    this.#look = look
    look.then(forget, forget)
    return look
  }

  /** What others have written is known, unless one of them has written without a turn. */
  get #hasOwnTurn(): boolean {
    const isHad = this.#turn.isShared && this.#turn.isHad
    return isHad && this.#stale === undefined && !this.#failed
  }

  /** Beside what is being made, which others wait for: each look in line would cost them a round trip. */
  async #glance(begun: () => void): Promise<void> {
    // Who asks in the same turn has the same.
    await undefined
    begun()
    const heads = this.#heads
    const seen = this.lastLook.begin()
    const none = { head: undefined, posted: undefined }
    const { head, posted } = await lookAtHead(this.#options.storage, this.#state).catch(() => none)
    const isKnown = heads.some((known) => isSame(head, known)) || this.#isOwn(head)
    if (this.#hasOwnTurn && isKnown && !isUntaken(this.#state.head.gate, posted)) seen()
    else await this.#lookInLine(() => undefined)
  }

  /** That of the state, and those that what is being written stands on. */
  get #heads(): readonly Uint8Array[] {
    return [this.#state.headBytes, ...this.#flights.map(({ before }) => before)]
  }

  /** What this one has written stands on all that was before it. */
  #isOwn(head: Uint8Array | undefined): boolean {
    if (head === undefined) return false
    return decodeRecord<HeadRecord>(head).token.startsWith(`${this.#token}.`)
  }

  #lookInLine(begun: () => void): Promise<void> {
    const number = ++this.#looks
    let hasSeenPosts = false
    const change = async (draft: Draft) => {
      // The turn began with a look, after it was asked for this one.
      if (number <= this.#looked || hasSeenPosts) return
      draft.assertClean()
      begun()
      const seen = this.lastLook.begin()
      const { head, posted } = await lookAtHead(this.#options.storage, draft.state)
      if (!isSame(head, draft.state.headBytes)) throw new OutdatedState()
      if (isUntaken(draft.gate, posted)) {
        // Of those that come while these are taken in nothing was known when it was asked.
        hasSeenPosts = true
        this.#posts.see(posted)
        throw new NeedsCleanDraft()
      }
      seen()
    }
    // It looks for posts itself.
    return this.#ask(change, itself as Look<unknown>, { isOfAll: false })
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    await this.#running
  }

  #ask<Result>(
    change: Change<Result>,
    look: Look<unknown> | undefined,
    {
      blocksOf,
      isOfAll = look !== undefined,
      member = this.#options.presence?.id,
    }: CommitOptions = {},
  ): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      // Written out: to spread an object here took 3 us of the 18 that a load takes.
      this.#waiting.push({
        change,
        look,
        blocksOf,
        mustSeePosts: isOfAll && this.#turn.isShared,
        mustTakeIn: false,
        member: look === undefined ? member : undefined,
        context: contextOfWrite(),
        resolve,
        reject,
        alone: false,
        outdated: 0,
      })
      this.#running ??= this.#run()
      this.#arrived?.()
    })
  }

  async #run(): Promise<void> {
    // Changes made in one turn of the caller share a draft.
    await undefined
    this.#turn.resume()
    while (!this.#isDone) {
      if (this.#failed) await this.#recover()
      else if (!this.#mayBegin()) await this.#wait()
      else if (this.#mayWrite() || (await this.#takeTurn())) await this.#commitGroup()
      // Whoever was answered may go on at once, in the same turn, although others wait for theirs.
      if (this.#turn.isShared && this.#isDone) await turn()
    }
    this.#turn.rest()
    this.#running = undefined
  }

  get #isDone(): boolean {
    return this.#waiting.length === 0 && this.#flights.length === 0
  }

  #mayBegin(): boolean {
    const [next] = this.#waiting
    if (next === undefined) return false
    if (this.#turn.isOver) {
      // What is being written is to be there before others begin.
      if (this.#flights.length > 0) return false
      this.#turn.end()
    }
    return this.#flights.length < (next.alone ? 1 : maxFlights)
  }

  #mayWrite(): boolean {
    const [next] = this.#waiting
    if (this.#turn.isHad) return true
    return next?.look !== undefined && next.outdated < mostOutdated && !this.#hasPosts
  }

  /** Something was posted, and is to be taken in. */
  get #hasPosts(): boolean {
    return this.#posts.areUntaken(this.#state.head.gate)
  }

  /** False where nobody waits any more. */
  async #takeTurn(): Promise<boolean> {
    const { clock } = this.#options
    const wait = { isOver: false }
    void this.#keepUp(wait)
    const asked = clock.elapsed()
    try {
      await this.#turn.take()
    } catch (error) {
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
      return false
    } finally {
      wait.isOver = true
    }
    if (this.#flights.length > 0) return true
    // Others had theirs: what would be made of the state that is known would be refused.
    const looks = this.#looks
    // Whoever asks from here on is not served by this look.
    this.#look = undefined
    const isLooked = this.lastLook.begin()
    const waiting = [...this.#waiting]
    const had = clock.elapsed()
    try {
      const seen = await lookAhead(this.#options.storage, this.#state)
      this.#posts.waited(had - asked, clock.elapsed() - had)
      this.#looked = looks
      this.#posts.see(seen.posted, waiting)
      isLooked()
      if (!isSame(seen.head, this.#state.headBytes)) this.#stale ??= 'behind'
      if (this.#stale !== undefined) this.#seen = seen
    } catch {
      // Reading anew will say what is wrong.
      this.#stale = 'broken'
    }
    return true
  }

  /** While others have their turns: what they have written by now need not be read in this one's. */
  async #keepUp(wait: { readonly isOver: boolean }): Promise<void> {
    const { storage, clock } = this.#options
    for (;;) {
      await waited(clock, keepUpMs)
      if (wait.isOver || this.#flights.length > 0 || this.#stale === 'broken') return
      try {
        const ahead = await changesBehind(storage, this.#state, undefined)
        // Behind its end the state is the turn's.
        if (wait.isOver || ahead.changes === undefined) return
        if (!followTo(this.#state, ahead.head, ahead.changes, clock.elapsed())) {
          this.#stale = 'broken'
          return
        }
        this.#stale = undefined
      } catch {
        // Whoever has the turn finds out what is wrong.
        return
      }
      for (const { blocksOf } of this.#waiting) {
        if (blocksOf !== undefined) this.#blocks.readAhead(blocksOf(this.#state))
      }
    }
  }

  async #wait(): Promise<void> {
    const landings = this.#flights.map(({ landing }) => landing)
    const arrival = new Promise<void>((resolve) => {
      if (this.#waiting.length === 0) this.#arrived = resolve
    })
    await Promise.race([...landings, arrival])
    this.#arrived = undefined
    // What came in the same turn shares the next draft.
    await undefined
  }

  async #commitGroup(): Promise<void> {
    if (this.#stale !== undefined && !(await this.#renew())) return
    if (this.#turn.isShared && this.#turn.isHad && !(await this.#takeIn())) return
    this.#turn.begun()
    const before = this.#state.headBytes
    const heads = this.#heads
    // Whose the leases are that it makes: the write is refused once others took that one for dead.
    const member = this.#options.presence?.condition('flows')
    const draft = this.#begin()
    const made: Made[] = []
    while (this.#mayWrite() && draft.bytes < maxDraftBytes && made.length < maxDraftJobs) {
      const waiting = this.#waiting.shift()
      if (waiting === undefined) break
      if (waiting.mustSeePosts && this.#turn.isHad && draft.gate !== undefined) {
        // It came meanwhile.
        this.#waiting.unshift(waiting)
        break
      }
      if (waiting.member !== undefined && waiting.member !== draft.member) {
        waiting.reject(refused())
        continue
      }
      const { changes } = draft
      try {
        const result = waiting.change(draft)
        made.push({ waiting, result: result instanceof Promise ? await result : result })
      } catch (error) {
        if (error instanceof NeedsCleanDraft || error instanceof OutdatedState) {
          this.#waiting.unshift(waiting)
          waiting.alone = true
          if (error instanceof OutdatedState) {
            this.#waiting.unshift(...made.map(({ waiting }) => waiting))
            this.#outdate(draft)
            return
          }
          break
        }
        if (draft.changes !== changes || !isRefusal(error)) {
          // It may have stopped half way: what the others wanted is made again, without it.
          waiting.reject(error)
          this.#waiting.unshift(...made.map(({ waiting }) => waiting))
          this.#stale = 'broken'
          return
        }
        // Where each looked by itself whether others have written, 400 of them took 2.5 s of a turn, 5 ms from the storage.
        made.push({ waiting, refusal: error })
      }
    }
    if (draft.changes > 0) this.#write(draft, made, before, member)
    else if (this.#flights.length > 0 && made.some(({ refusal }) => refusal !== undefined)) {
      // Whether it is refused for good is known once all before it is written.
      for (const { waiting } of made) waiting.alone = true
      this.#waiting.unshift(...made.map(({ waiting }) => waiting))
    } else if (this.#needsLook(draft, made) && (await this.#isOutdated(heads, made))) {
      for (const { waiting } of made) waiting.outdated++
      this.#waiting.unshift(...made.map(({ waiting }) => waiting))
      this.#outdate(draft)
    } else if (made.some(({ waiting }) => waiting.mustTakeIn)) {
      for (const { waiting } of made) waiting.mustTakeIn = false
      this.#waiting.unshift(...made.map(({ waiting }) => waiting))
    } else for (const one of made) settle(one)
  }

  /** Others have written. What a draft has read may be newer than the state, and in it by now. */
  #outdate({ changes, hasRead }: Draft): void {
    this.#stale = changes > 0 || hasRead ? 'broken' : (this.#stale ?? 'behind')
  }

  /**
   * What is known may be of one moment, and what was read of another: of a job that others have claimed in between
   * there is neither the one record nor the other.
   */
  #needsLook({ hasRead }: Draft, made: readonly Made[]): boolean {
    const mayDiffer = hasRead && this.#turn.isShared
    return made.some(({ waiting: { look = {} }, result, refusal }) => {
      if (refusal !== undefined || look.isDue === true) return true
      return mayDiffer && look.isSure?.(result) !== true
    })
  }

  /** Somebody else has written: the head is none of these. What was posted concerns those that were made. */
  async #isOutdated(heads: readonly Uint8Array[], made: readonly Made[]): Promise<boolean> {
    const seen = this.lastLook.begin()
    try {
      const { head, posted } = await lookAtHead(this.#options.storage, this.#state)
      const isKnown = heads.some((known) => isSame(head, known))
      if (!isKnown) return true
      const answered = made.map(({ waiting }) => waiting)
      this.#posts.seeAfter(posted, this.#state.head.gate, answered)
      seen()
      return false
    } catch {
      // Reading anew will say what is wrong.
      return true
    }
  }

  /**
   * What was posted comes before what is made now: all that was when the turn began, and where somebody asks for it, all
   * there is. False where others have written.
   */
  async #takeIn(): Promise<boolean> {
    if (this.#state.head.gate === undefined) return true
    // Whoever comes meanwhile waits for the next draft: else one that needs a clean one would never have it.
    const isAlone = this.#waiting[0]?.alone === true
    const asked = isAlone ? this.#waiting.slice(0, 1) : this.#waiting
    const asking = asked.filter(({ mustSeePosts }) => mustSeePosts)
    if (asking.length > 0 && !(await this.#seePosts(asking))) return false
    if (!this.#hasPosts) return true
    this.#waiting.unshift({
      change: (draft) => this.#takeInto(draft),
      look: undefined,
      blocksOf: undefined,
      mustSeePosts: false,
      mustTakeIn: false,
      member: undefined,
      context: undefined,
      resolve: () => undefined,
      // It is made again with what comes next.
      reject: () => undefined,
      alone: false,
      outdated: 0,
    })
    return true
  }

  /** False where others have written. */
  async #seePosts(asking: readonly Waiting[]): Promise<boolean> {
    const heads = this.#heads
    try {
      const { head, posted } = await lookAtHead(this.#options.storage, this.#state)
      if (heads.some((known) => isSame(head, known)) || this.#isOwn(head)) {
        this.#posts.see(posted, asking)
        return true
      }
      this.#stale ??= 'behind'
    } catch {
      // Reading anew will say what is wrong.
      this.#stale = 'broken'
    }
    return false
  }

  async #takeInto(draft: Draft): Promise<void> {
    try {
      await this.#posts.takeInto(draft)
    } catch (error) {
      // Without it nothing may be made.
      if (!isPutOff(error)) for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
      throw error
    }
  }

  #begin(): Draft {
    const { storage, clock, createId, isWatched, presence } = this.#options
    const version = this.#state.head.version + 1
    return new Draft({
      storage,
      state: this.#state,
      under: this.#flights.map(({ draft }) => draft.overlay).reverse(),
      now: clock.now(),
      elapsed: clock.elapsed(),
      member: presence?.id,
      createId,
      token: `${this.#token}.${version.toString(36)}`,
      blocks: this.#blocks,
      watched: isWatched(),
      isCrowded: this.#posts.isCrowded,
    })
  }

  #write(
    draft: Draft,
    made: readonly Made[],
    before: Uint8Array,
    member: Precondition | undefined,
  ): void {
    let operations: readonly Operation[]
    try {
      operations = draft.finish()
    } catch (error) {
      // Nothing of it was written; the state may be half changed.
      for (const { waiting } of made) waiting.reject(error)
      this.#stale = 'broken'
      return
    }
    const head: Precondition = { type: 'equals', key: headKey(), value: before }
    const require = [head, ...(member === undefined ? [] : [member]), ...draft.require]
    const { headBytes } = this.#state
    const flight: Flight = { draft, made, before, headBytes, require, landing: Promise.resolve() }
    this.#flights.push(flight)
    const asked = made.find(({ refusal }) => refusal === undefined)
    const write = () => this.#options.storage.write(operations, { durable: true, require })
    flight.landing = runIn(asked?.waiting.context, write).then(
      () => {
        if (!this.#failed) this.#landed(flight)
      },
      (error: unknown) => {
        flight.error = error
        this.#failed = true
      },
    )
  }

  #landed(flight: Flight): void {
    this.#flights = this.#flights.filter((other) => other !== flight)
    for (const one of flight.made) settle(one)
    this.#options.onCommit(flight.draft)
  }

  async #land(): Promise<void> {
    await Promise.all(this.#flights.map(({ landing }) => landing))
  }

  /** Finds out which of the writes happened, and begins anew with what is in storage. */
  async #recover(): Promise<void> {
    await this.#land()
    const flights = this.#flights
    this.#flights = []
    this.#failed = false
    this.#stale = 'broken'
    let wereThere: readonly boolean[] = []
    try {
      const heads = flights.map(({ headBytes }) => headBytes)
      wereThere = await lookBack(this.#options.storage, heads)
    } catch {
      // Then nothing can be told of those that failed for another reason than a conflict.
    }
    const last = flights.findLastIndex(
      ({ error }, place) => error === undefined || wereThere[place] === true,
    )
    const first = flights[last + 1]
    if (first !== undefined) this.#fallBack(first.before)
    const again: Waiting[] = []
    for (const [place, flight] of flights.entries()) {
      // A write that happened stands on those before it.
      if (place <= last) {
        this.#landed(flight)
        continue
      }
      if (this.#refuse(flight)) continue
      if (hasCode(flight.error, 'LK_STORAGE_CONFLICT')) {
        again.push(...flight.made.map(({ waiting }) => waiting))
      } else for (const { waiting } of flight.made) waiting.reject(flight.error)
    }
    this.#waiting.unshift(...again)
  }

  /** To the head that was there: with it is compared what is there by now, and not with one that nobody has. */
  #fallBack(headBytes: Uint8Array): void {
    this.#state.head = decodeRecord(headBytes)
    this.#state.headBytes = headBytes
    // What has failed may be there nevertheless, or come yet: its head is not to be taken for a later one's.
    this.#token = this.#options.chance.token()
  }

  /** Where others took this process for dead, nobody's change is made again without his knowing. */
  #refuse({ error, require, made }: Flight): boolean {
    const refusal = this.#options.presence?.refusal(error, require)
    for (const { waiting } of made) if (refusal !== undefined) waiting.reject(refusal)
    return refusal !== undefined
  }

  /** Brings the state up to what is in storage. False where that failed, and nobody waits any more. */
  async #renew(): Promise<boolean> {
    await this.#land()
    if (this.#failed) return false
    const { storage, clock } = this.#options
    const known = this.#seen
    this.#seen = undefined
    try {
      const seen = this.#turn.isShared ? (known ?? (await lookAhead(storage, this.#state))) : known
      // After a fail-over that lost the end of a history, what was seen before may be gone.
      this.#posts.see(seen?.posted)
      if (seen !== undefined && !isOfHistory(this.#state, seen)) this.#forget()
      const isFollowed = this.#stale === 'behind' && (await this.#follow(seen))
      if (!isFollowed) {
        // What is half followed is of no use.
        this.#stale = 'broken'
        // Of drafts that were given up, what they made and what was posted: no head that is there has taken it in.
        this.#blocks.forgetFrom(this.#state.head.nextBlock)
        this.#state = await loadState(storage, clock, { before: this.#state, head: seen?.head })
      }
      this.#stale = undefined
      return true
    } catch (error) {
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error)
      return false
    }
  }

  /** The state may be of a lost history: numbers of its blocks, and names of its heads, are given a second time. */
  #forget(): void {
    this.#blocks.clear()
    this.#token = this.#options.chance.token()
  }

  /** False where others have written what cannot be applied to the state. */
  async #follow(seen: Ahead | undefined): Promise<boolean> {
    const { storage, clock } = this.#options
    if (!this.#turn.isShared) return false
    const { head, changes } = await changesBehind(storage, this.#state, seen)
    return changes !== undefined && followTo(this.#state, head, changes, clock.elapsed())
  }
}

function settle({ waiting, result, refusal }: Made): void {
  if (refusal === undefined) waiting.resolve(result as never)
  else waiting.reject(refusal)
}

/** Of what is a look. */
const itself: Look<void> = { isSure: () => true }

/** What a change says of its arguments, and not of the storage. */
function isRefusal(error: unknown): boolean {
  return error instanceof LorekeepError && !error.code.startsWith('LK_STORAGE_')
}
