// The durable queues of all flows: documents in, leases out. It knows documents as bytes and steps
// by their names; what steps do is the runner's business.

import { checkConditions, versionOf, type ChangeConditions } from '../../conditions.js'
import { brief } from '../../door/wording.js'
import { LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import type { Chance, Clock } from '../../clock.js'
import type { Reads } from '../../reads.js'
import type { AcceptedDocument } from '../document.js'
import type { DocumentRef, Flow, FlowStats, Job, JobFailure } from '../types.js'
import { claim, hasten, reap, takeOver, timesAhead } from './claiming.js'
import type { Claims } from './claiming.js'
import { Committer } from './committer.js'
import type { Committed } from './committer.js'
import { Ticket } from './block.js'
import type { Draft } from './draft.js'
import { cancel, changeJobs, retry } from './job-changes.js'
import type { ChangePlace, JobChange, JobsChanged } from './job-changes.js'
import { completedPage, forgetDone, jobById, jobsOf, type CompletedLook } from './jobs.js'
import { closeGate, openGate, takeInAlone } from './gate.js'
import { countOf, lookForJobs, type JobLook } from './job-list.js'
import { lookSizes, type JobSearch, type LookSizes } from './job-search.js'
import { dropHeld, dropLeft, goneOf, hasLeft, leaveEnding, withhold } from './members.js'
import { release as releaseWithheld, type Membership } from './members.js'
import { noFlow, oldestDone, prune, type DocumentJobs } from './jobs.js'
import type { Ending, Hold } from './held.js'
import { Lanes } from './lanes.js'
import { dropChanges, openState } from './opening.js'
import { flowFull, hasRoom, isFull, Posting } from './posting.js'
import { countsKey, flowKey, latestKey, outputKey } from './records.js'
import { complete, fail, recordStep, release, renew } from './settling.js'
import type { FailOptions } from './settling.js'
import { documentName, hashOf, lapsesAt, leasesOf, noCounts } from './state.js'
import type { FlowState, State } from './state.js'
import { learnOf } from './under-way.js'
import { endWaits, Waits } from './waits.js'

export type { Claimed } from './claiming.js'
export type { Committed } from './committer.js'

export interface JobQueueOptions {
  readonly storage: Storage
  /** Defined where the storage is empty. */
  readonly firstFlow: Flow
  readonly clock: Clock
  readonly chance: Chance
  readonly createId: () => string
  /** How long a claim or a renewal is good for, of the time of whoever watches. */
  readonly leaseMs: number
  /** Nobody else has the storage open: what is under way in it was left by a former owner. */
  readonly isAlone: boolean
  /** Of this process among those who share the storage. */
  readonly presence?: Membership | undefined
  /** Whether events are wanted at the moment. */
  readonly isWatched: () => boolean
  /** May not throw. */
  readonly onCommit: (committed: Committed) => void
  /** Documents were accepted that are in no flow's counts yet. May not throw. */
  readonly onPosted?: (posted: Omit<Committed, 'cancelled'>) => void
  /** How much of a list of jobs is read in one go. */
  readonly lookSizes?: LookSizes
}

/** A document that is kept from being claimed. */
export interface WithheldDocument {
  /** False once others have taken for dead who withheld it, and claim it. */
  isOwn(): boolean
  release(): Promise<void>
}

interface LoadTerms {
  readonly check?: ((known: DocumentJobs) => void) | undefined
  readonly member?: string | undefined
}

export class JobQueue {
  readonly #committer: Committer
  /** Where there are others. */
  readonly #posting: Posting | undefined
  /** Loads on their way to the head. */
  #entering = 0
  readonly #chance: Chance
  readonly #leaseMs: number
  /** On the clock's elapsed(): when reap() looked last, and since when it has looked without a long break. */
  #reapedAt = -Infinity
  #watchedSince = -Infinity
  readonly #storage: Storage
  readonly #clock: Clock
  readonly #presence: Membership | undefined
  readonly #lookSizes: LookSizes
  /**
   * Documents whose knowledge is being removed here, by documentName(), and how often: none of their
   * jobs is claimed.
   */
  readonly #removing = new Map<string, number>()
  readonly #waits = new Waits()
  /** By flow. */
  readonly #pruning = new Map<string, Promise<void>>()

  private constructor(committer: Committer, options: JobQueueOptions) {
    this.#committer = committer
    if (options.storage.sharing !== undefined)
      this.#posting = new Posting({ ...options, committer })
    this.#chance = options.chance
    this.#leaseMs = options.leaseMs
    this.#storage = options.storage
    this.#clock = options.clock
    this.#presence = options.presence
    this.#lookSizes = options.lookSizes ?? lookSizes
  }

  /** @throws LorekeepError `LK_STORAGE_*` */
  static async open(options: JobQueueOptions): Promise<JobQueue> {
    const { storage, firstFlow, chance } = options
    const state = await openState(storage, firstFlow, chance.token(), options.clock)
    const queue = new JobQueue(new Committer({ ...options, state }), options)
    if (options.isAlone) {
      if (state.head.gate !== undefined) await queue.#committer.commit(takeInAlone)
      await queue.#takeOver()
      await dropChanges(storage)
    }
    return queue
  }

  /** What a former owner left is waited for no longer, whatever its clock and this one say. */
  async #takeOver(): Promise<void> {
    const fraction = () => this.#chance.fraction()
    const { active, lost } = this.#committer.state
    if (active.size + lost.size > 0) {
      await this.#committer.commit((draft) => takeOver(draft, fraction))
    }
    for (const { id } of this.flows()) {
      while ((await this.#committer.commit((draft) => hasten(draft, id, fraction))) > 0);
    }
  }

  // flows

  flow(id: string): Flow | undefined {
    return this.#committer.state.flows.get(id)?.flow
  }

  flows(): Flow[] {
    const flows = [...this.#committer.state.flows.values()].map(({ flow }) => flow)
    return flows.sort((a, b) => compareIds(a.id, b.id))
  }

  stats(id: string): FlowStats | undefined {
    const counts = this.#committer.state.flows.get(id)?.counts
    if (counts === undefined) return undefined
    const { queued, active, delayed, done, dead } = counts
    return { queued, active, delayed, done, dead }
  }

  /** When the next delayed job of a flow may be due. */
  nextDue(id: string): number {
    return this.#committer.state.flows.get(id)?.nextDue ?? Infinity
  }

  /** Makes a flow, or gives it another definition. */
  define(flow: Flow, conditions?: ChangeConditions): Promise<void> {
    return this.#committer.commit((draft) => {
      checkFlow(conditions, flow.id, draft.state.flows.get(flow.id)?.flow)
      putFlow(draft, flow)
    })
  }

  /** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
  setActive(id: string, active: boolean, conditions?: ChangeConditions): Promise<Flow> {
    return this.#committer.commit((draft) => {
      const before = flowOf(draft, id).flow
      checkFlow(conditions, id, before)
      const flow = { ...before, active }
      putFlow(draft, flow)
      return flow
    })
  }

  /** False where there is no such flow. @throws LorekeepError `LK_FLOW_IN_USE` */
  async remove(id: string, conditions?: ChangeConditions): Promise<boolean> {
    const check = (draft: Draft) => {
      const found = assertUnused(draft, id)
      if (found) checkFlow(conditions, id, draft.state.flows.get(id)?.flow)
      return found
    }
    const pruneAll = async (draft: Draft) => {
      return check(draft) ? prune(draft, id, await oldestDone(draft, id), 0) : 0
    }
    // As of load().
    const { member } = this
    do {
      const found = await this.#committer.commit(check, { isOfAll: true, member })
      if (!found) return false
    } while ((await this.#committer.commit(pruneAll, { member })) > 0)
    return this.#exactly((draft) => {
      if (!check(draft)) return false
      draft.state.flows.delete(id)
      draft.tellMore()
      draft.delete(flowKey(id))
      draft.delete(countsKey(id))
      return true
    }, member)
  }

  // documents in

  /**
   * `check` may refuse it for what is known of the document at that moment. `member`: who this process was when it was
   * asked for this, by default who it is: whoever takes that one for dead may have the document by another, and it is
   * not loaded under a new name.
   * @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_FLOW_INACTIVE`, `LK_FLOW_FULL`, `LK_STORAGE_*`
   */
  async load(
    id: string,
    document: AcceptedDocument,
    { check, member = this.member }: LoadTerms = {},
  ): Promise<string> {
    const posting = this.#posting
    if (check !== undefined) {
      const ticket = await this.#exactly(async (draft) => {
        check(await jobsOf(draft, document.user, document.id))
        return enqueue(draft, id, document)
      }, member)
      return ticket.id
    }
    if (posting === undefined) {
      return (await this.#committer.commit((draft) => enqueue(draft, id, document))).id
    }
    return this.#enter(posting, id, document, member)
  }

  /** By the head, or beside it while its gate is open. */
  async #enter(
    posting: Posting,
    id: string,
    document: AcceptedDocument,
    member: string | undefined,
  ): Promise<string> {
    const { gate } = this.#committer.state.head
    let mayPost = posting.isBusy || (this.#entering === 0 && gate !== undefined && !gate.isClosed)
    // Then the gate that is known here may be one that others have closed.
    let isOfAll = false
    for (;;) {
      if (mayPost) {
        const posted = await posting.load(id, document, member)
        if (posted.id !== undefined) return posted.id
        if (posted.isFull) {
          const ticket = await this.#exactly((draft) => enqueue(draft, id, document), member)
          return ticket.id
        }
        isOfAll = true
      }
      this.#entering++
      const entered = await this.#committer
        .commit(
          (draft) => {
            if (draft.gate === undefined) return enqueue(draft, id, document)
            takingFlowOf(draft, id)
            // Until that is written, whoever looks finds another.
            draft.assertClean()
            return draft.gate
          },
          { isOfAll, member },
        )
        .finally(() => this.#entering--)
      if (entered instanceof Ticket) return entered.id
      // One that is closed is ended by whoever has seen it.
      mayPost = entered.isClosed !== true
      isOfAll = true
    }
  }

  /** Nothing is posted before it is made and behind what it is made of. `member`: who asked for it. */
  async #exactly<Result>(
    change: (draft: Draft) => Result | Promise<Result>,
    member = this.#presence?.id,
  ): Promise<Result> {
    for (let closed: string | undefined = undefined; ;) {
      const made: { readonly result: Result } | { readonly closed: string } =
        await this.#committer.commit(
          async (draft) => {
            if (draft.gate === undefined) return { result: await change(draft) }
            const { token, isClosed } = draft.gate
            if (isClosed === true) {
              // Whoever has seen a closed gate ends it first.
              if (token === closed) throw new Error(`the gate '${token}' was closed, and is there`)
              // Until that is written, whoever looks finds it open.
              draft.assertClean()
            } else closeGate(draft)
            return { closed: token }
          },
          { isOfAll: true, member },
        )
      if ('result' in made) return made.result
      closed = made.closed
    }
  }

  // documents out

  /** `turns`: at most so many jobs, as it is when they are given. */
  claim(id: string, turns: number | (() => number)): Promise<Claims> {
    const createToken = () => this.#chance.token()
    const options = { leaseMs: this.#leaseMs, createToken, withheld: this.#removing }
    const most = typeof turns === 'number' ? () => turns : turns
    const blocksOf = ({ flows }: State) => {
      return flows.get(id)?.lanes.blocksAhead(timesAhead * most()) ?? []
    }
    const commit = () => {
      return this.#committer.commit(
        (draft) => {
          return claim(draft, id, { ...options, turns: most() })
        },
        { blocksOf },
      )
    }
    // What this process claims while it is no member would be refused.
    return this.#presence === undefined ? commit() : this.#presence.ready().then(commit)
  }

  /**
   * Takes back what was claimed by somebody who does not renew it, of what is known. Returns how many jobs there were.
   * Nobody is robbed of a job whose step could still write: who does not renew his, and is there, is taken for dead first.
   */
  async reap(): Promise<number> {
    const { state } = this.#committer
    const now = this.#clock.elapsed()
    const self = this.#presence?.id
    const gone = new Set(self === undefined ? [] : await goneOf(this.#storage, state, self))
    // What happened while nobody looked is not known, as in presence.ts: who could not look could not renew either.
    if (now - this.#reapedAt > this.#leaseMs / 2) this.#watchedSince = now
    this.#reapedAt = now
    let hasLapsed = false
    for (const lease of leasesOf(state)) {
      const { member } = lease
      const isOwn = member === undefined || self === undefined || member === self
      if (isOwn) hasLapsed ||= lapsesAt(lease) <= now
      // It is for himself to take it back, as long as he is there.
      else if (Math.max(lease.seenAt, this.#watchedSince) + 2 * lease.leaseMs <= now)
        gone.add(member)
    }
    if (!hasLapsed && gone.size === 0) return 0
    return this.takeFrom(gone).catch((error: unknown) => {
      // Nor could others write, perhaps: who did not renew his is given his time anew.
      this.#reapedAt = -Infinity
      throw error
    })
  }

  /** Takes back what these members hold, and what of one's own has lapsed. Returns how many jobs there were. */
  async takeFrom(gone: ReadonlySet<string>): Promise<number> {
    for (const id of gone) await this.#presence?.expel(id)
    return this.#committer.commit((draft) => {
      dropHeld(draft, gone)
      return reap(draft, () => this.#chance.fraction(), gone)
    })
  }

  /**
   * Puts jobs back into their lanes that were delayed by clocks which are ahead of this one, as this one was before it
   * was set back, and have waited enough.
   */
  async endWaits(): Promise<void> {
    const { flows, head } = this.#committer.state
    const waiting = [...flows.values()].filter(({ counts }) => counts.delayed > 0)
    const ids = waiting.map(({ flow }) => flow.id)
    await this.#waits.look(this.#storage, ids, head.version, () => this.#clock.elapsed())
    const over = this.#waits.over(this.#clock.now(), this.#clock.elapsed())
    if (over.length > 0) await this.#committer.commit((draft) => endWaits(draft, over))
  }

  /** Takes away what this process holds for others to see, and needs no more. */
  async tidy(isRunning: (hold: Hold) => boolean): Promise<void> {
    const self = this.#presence?.id
    if (self === undefined) return
    const isNeeded = { isRunning, isRemoved: (name: string) => this.#removing.has(name) }
    if (!hasLeft(this.#committer.state, self, isNeeded)) return
    await this.#committer.commit((draft) => dropLeft(draft, isNeeded))
  }

  /** Steps that still run of jobs that were this process's under another name. */
  async leaveEndings(steps: readonly Omit<Ending, 'member'>[]): Promise<void> {
    if (steps.length === 0) return
    await this.#presence?.ready()
    await this.#committer.commit((draft) => {
      for (const step of steps) leaveEnding(draft, { ...step, member: draft.member })
    })
  }

  /** Whether a step of a document that nobody has a job of may still run somewhere. */
  isEnding({ user, document }: Required<DocumentRef>): boolean {
    const { endings } = this.#committer.state.held
    return [...endings.values()].some((held) => held.user === user && held.document === document)
  }

  /** Whether the job is still in the hands of whoever has this token, as far as is known here. */
  holds({ number, token }: Hold): boolean {
    const { active, others } = this.#committer.state
    return (active.get(number) ?? others.get(number))?.token === token
  }

  /** Another one with every commit. */
  get version(): number {
    return this.#committer.state.head.version
  }

  /** Something may have been posted that is not known here. */
  get mayHavePosts(): boolean {
    const { state, lastLook } = this.#committer
    return state.head.gate !== undefined && lastLook.isDue('recent')
  }

  /** Who this process is among those who share the backend; another one once others took it for dead. */
  get member(): string | undefined {
    return this.#presence?.id
  }

  get isShared(): boolean {
    return this.#storage.sharing !== undefined
  }

  /** Notices what other processes have written. */
  refresh(): Promise<void> {
    return this.#committer.refresh()
  }

  /** As refresh(), unless what is known is as new as it has to be. */
  async look(reads: Reads): Promise<void> {
    if (this.#isDue(reads)) await this.refresh()
  }

  #lookFor(reads: Reads | undefined): { readonly isDue?: boolean } {
    return { isDue: reads !== undefined && this.#isDue(reads) }
  }

  /** Where nobody shares the backend, two stores of one process may have it. */
  #isDue(reads: Reads): boolean {
    return !this.isShared || this.#committer.lastLook.isDue(reads)
  }

  /** Others say that there are changes. */
  outdate(): void {
    this.#committer.lastLook.outdate()
  }

  /** @throws LorekeepError `LK_LEASE_LOST`, as the following */
  renew(hold: Hold): Promise<void> {
    return this.#settle(hold, (draft) => renew(draft, hold, this.#leaseMs))
  }

  /** `steps`: those whose output is recorded then, the last one being that of `output`. */
  record(hold: Hold, steps: readonly string[], output: Uint8Array): Promise<void> {
    return this.#settle(hold, (draft) => recordStep(draft, hold, steps, output, this.#leaseMs))
  }

  /** What a step returned; `undefined` where it is not there. */
  output(number: number, step: number): Promise<Uint8Array | undefined> {
    return this.#committer.read((draft) => draft.get(outputKey(number, step)))
  }

  /** `steps`: all that have run. */
  complete(hold: Hold, steps: readonly string[]): Promise<void> {
    return this.#settle(hold, (draft) => complete(draft, hold, steps))
  }

  fail(
    hold: Hold,
    failure: JobFailure,
    options: Omit<FailOptions, 'fraction'> = {},
  ): Promise<'delayed' | 'dead'> {
    const fraction = () => this.#chance.fraction()
    return this.#settle(hold, (draft) => fail(draft, hold, failure, { ...options, fraction }))
  }

  /** `isWorking`: a step of it still runs. */
  release(hold: Hold, failure: JobFailure | undefined, isWorking = false): Promise<void> {
    return this.#settle(hold, (draft) => release(draft, hold, failure, isWorking))
  }

  /** Whoever was given the token may have got it from another queue. */
  #settle<Result>(
    { number }: Hold,
    change: (draft: Draft) => Result | Promise<Result>,
  ): Promise<Result> {
    return this.#committer.commit((draft) => {
      if (!draft.state.others.has(number)) return change(draft)
      return learnOf(draft, [number]).then(() => change(draft))
    })
  }

  // jobs

  /** `reads`: how new what is known has to be; by default it is as new as it is. */
  job(id: string, reads?: Reads): Promise<Job | undefined> {
    const isSure = (job: Job | undefined) => job !== undefined
    return this.#committer.read((draft) => jobById(draft, id), { ...this.#lookFor(reads), isSure })
  }

  /**
   * Some of the jobs behind a number, `most` at most; there may be none, and others behind them. `reads` as of job().
   * @throws LorekeepError `LK_FLOW_NOT_FOUND`
   */
  lookForJobs(
    search: JobSearch,
    after: number | undefined,
    most: number,
    reads?: Reads,
  ): Promise<JobLook> {
    const look = this.#lookFor(reads)
    return this.#committer.read(
      (draft) => lookForJobs(draft, search, after, most, this.#lookSizes),
      look,
    )
  }

  /** How many there are, where that is known without looking. */
  countJobs(search: JobSearch): Promise<number | undefined> {
    return this.#committer.read((draft) => countOf(draft, search))
  }

  /** What there is of a document, but for older jobs of it that are done. */
  jobsOf(user: string, document: string, reads?: Reads): Promise<DocumentJobs> {
    return this.#committer.read((draft) => jobsOf(draft, user, document), this.#lookFor(reads))
  }

  /** Some of a user's completed documents, behind an id, and the last one that was looked at. */
  completed(
    user: string,
    range: { readonly prefix: string; readonly after: string | undefined; readonly size: number },
  ): Promise<CompletedLook> {
    return this.#committer.read((draft) => completedPage(draft, user, range))
  }

  /** `member` as of load(), here and in what follows. */
  retry(id: string, member = this.member): Promise<Job> {
    return this.#committer.commit((draft) => retry(draft, id), { isOfAll: true, member })
  }

  cancel(id: string, member = this.member): Promise<void> {
    return this.#committer.commit((draft) => cancel(draft, id), { isOfAll: true, member })
  }

  /**
   * Changes some of the jobs behind a place, `most` at most; there may be none, and others behind them.
   * @throws LorekeepError `LK_FLOW_NOT_FOUND`
   */
  change(
    change: JobChange,
    search: JobSearch,
    place: ChangePlace | undefined,
    most: number,
    member = this.member,
  ): Promise<JobsChanged> {
    return this.#committer.commit(
      (draft) => changeJobs(draft, change, search, place, most, this.#lookSizes),
      { isOfAll: true, member },
    )
  }

  /** Nobody claims a job of this document, here or elsewhere, until it is released. */
  async withhold(ref: Required<DocumentRef>): Promise<WithheldDocument> {
    const name = documentName(ref.user, hashOf(ref.document))
    this.#removing.set(name, (this.#removing.get(name) ?? 0) + 1)
    const letGo = () => {
      const left = (this.#removing.get(name) ?? 1) - 1
      if (left > 0) this.#removing.set(name, left)
      else this.#removing.delete(name)
      return left === 0
    }
    try {
      // At once: where it waited to be a member again, it might be another one by then than who was asked.
      const member = await this.#committer.commit((draft) => withhold(draft, ref))
      return {
        isOwn: () => member === undefined || member === this.#presence?.id,
        // Where that fails, tidy() takes it away.
        release: async () => {
          if (!letGo() || member === undefined) return
          await this.#committer.commit((draft) => releaseWithheld(draft, { ...ref, member }))
        },
      }
    } catch (error) {
      letGo()
      throw error
    }
  }

  /** Forgets that a document was ever completed. */
  forget(user: string, document: string, done: readonly string[]): Promise<void> {
    return this.#committer.commit(async (draft) => {
      draft.delete(latestKey(user, document))
      for (const id of done) await forgetDone(draft, id)
    })
  }

  /** Removes records of done jobs past what the flow keeps, some at a time. Whoever asks meanwhile has the same. */
  prune(id: string): Promise<void> {
    const pruning = this.#pruning.get(id)
    if (pruning !== undefined) return pruning
    const begun = this.#prune(id).finally(() => this.#pruning.delete(id))
    this.#pruning.set(id, begun)
    return begun
  }

  async #prune(id: string): Promise<void> {
    // Of many jobs that end at once, the first asks for all.
    await undefined
    const flow = this.#committer.state.flows.get(id)
    if (flow === undefined) return
    const { done, pruned } = flow.counts
    const { keepDone } = flow.flow
    // Not each by itself: a read of many costs little more than one of one.
    if (done - pruned < keepDone + Math.max(100, keepDone / 10)) return
    // Before the commit: others that wait for theirs would wait for this, too.
    const oldest = await oldestDone(this.#storage, id)
    await this.#committer.commit((draft) => prune(draft, id, oldest))
  }

  /** Resolves when nothing is being written any more. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#pruning.values())
    await this.#posting?.drained()
    await this.#committer.drained()
  }
}

/** By their bytes. */
export function compareIds(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

function flowOf(draft: Draft, id: string) {
  const flow = draft.state.flows.get(id)
  if (flow === undefined) throw noFlow(id)
  return flow
}

function putFlow(draft: Draft, flow: Flow): void {
  draft.putRecord(flowKey(flow.id), flow)
  draft.tellMore()
  const known = draft.state.flows.get(flow.id)
  if (known !== undefined) known.flow = flow
  else {
    const lanes = new Lanes(flow.id)
    draft.state.flows.set(flow.id, { flow, counts: noCounts(), nextDue: Infinity, lanes })
  }
  draft.queued.add(flow.id)
}

/** @throws LorekeepError `LK_PRECONDITION` */
function checkFlow(
  conditions: ChangeConditions | undefined,
  id: string,
  flow: Flow | undefined,
): void {
  if (conditions === undefined) return
  checkConditions(conditions, flow && { version: versionOf(flow) }, `the flow ${brief(id)}`)
}

/** False where there is no such flow. */
function assertUnused(draft: Draft, id: string): boolean {
  const flow = draft.state.flows.get(id)
  if (flow === undefined) return false
  const { queued, delayed, active, dead } = flow.counts
  if (queued + delayed + active + dead === 0) return true
  const detail = `'${id}' has documents: ${queued} queued, ${delayed} delayed, ${active} active, ${dead} dead; process or cancel them first`
  throw new LorekeepError('LK_FLOW_IN_USE', detail, { details: { queued, delayed, active, dead } })
}

/** @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_FLOW_INACTIVE` */
function takingFlowOf(draft: Draft, id: string): FlowState {
  const flow = flowOf(draft, id)
  if (flow.flow.active) return flow
  const detail = `'${id}' takes no documents until it is started`
  throw new LorekeepError('LK_FLOW_INACTIVE', detail, { details: { flow: id } })
}

function enqueue(draft: Draft, id: string, document: AcceptedDocument): Ticket {
  const flow = takingFlowOf(draft, id)
  if (isFull(flow)) throw flowFull(flow)
  const ticket = draft.enqueue(flow, document)
  // Who has no turn has documents that wait, too.
  if (draft.isCrowded && hasRoom(flow, 0)) openGate(draft)
  return ticket
}
