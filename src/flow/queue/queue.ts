// The durable queues of all flows: documents in, leases out. It knows documents as bytes and steps
// by their names; what steps do is the runner's business.

import { LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import type { Chance, Clock } from '../../clock.js'
import type { AcceptedDocument } from '../document.js'
import type { Flow, FlowStats, Job, JobFailure, JobQuery } from '../types.js'
import { claim, hasten, reap, takeOver } from './claiming.js'
import type { Claims } from './claiming.js'
import { Committer } from './committer.js'
import type { Committed } from './committer.js'
import type { Ticket } from './block.js'
import type { Draft } from './draft.js'
import { cancel, completedPage, firstPosition, forgetDone, jobById, jobsOf } from './jobs.js'
import { jobPage, noFlow, prune, retry, type DocumentJobs } from './jobs.js'
import { Lanes } from './lanes.js'
import { openState } from './opening.js'
import { countsKey, flowKey, latestKey, outputKey } from './records.js'
import type { LatestRecord } from './records.js'
import { complete, fail, recordStep, release, renew } from './settling.js'
import type { FailOptions, Hold } from './settling.js'
import { documentName, hashOf, lapsesAt, noCounts } from './state.js'

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
  /** Whether events are wanted at the moment. */
  readonly isWatched: () => boolean
  /** May not throw. */
  readonly onCommit: (committed: Committed) => void
}

/** What is read at once of a list of documents. */
const completedPerPage = 256

export class JobQueue {
  readonly #committer: Committer
  readonly #chance: Chance
  readonly #leaseMs: number
  /**
   * Documents whose knowledge is being removed, by documentName(), and how often: none of their
   * jobs is claimed.
   */
  readonly #removing = new Map<string, number>()

  private constructor(committer: Committer, { chance, leaseMs }: JobQueueOptions) {
    this.#committer = committer
    this.#chance = chance
    this.#leaseMs = leaseMs
  }

  /** @throws LorekeepError `LK_STORAGE_*` */
  static async open(options: JobQueueOptions): Promise<JobQueue> {
    const { storage, firstFlow, chance } = options
    const state = await openState(storage, firstFlow, chance.token(), options.clock)
    const queue = new JobQueue(new Committer({ ...options, state }), options)
    if (options.isAlone) await queue.#takeOver()
    return queue
  }

  /** What a former owner left is waited for no longer, whatever its clock and this one say. */
  async #takeOver(): Promise<void> {
    const fraction = () => this.#chance.fraction()
    if (this.#committer.state.active.size > 0) {
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
    return flows.sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)))
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

  /** When the first lease of all may run out, on the clock's elapsed(). */
  nextLapse(): number {
    let first = Infinity
    for (const active of this.#committer.state.active.values()) {
      first = Math.min(first, lapsesAt(active))
    }
    return first
  }

  /** Makes a flow, or gives it another definition. */
  define(flow: Flow): Promise<void> {
    return this.#committer.commit((draft) => putFlow(draft, flow))
  }

  /** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
  setActive(id: string, active: boolean): Promise<Flow> {
    return this.#committer.commit((draft) => {
      const flow = { ...flowOf(draft, id).flow, active }
      putFlow(draft, flow)
      return flow
    })
  }

  /** False where there is no such flow. @throws LorekeepError `LK_FLOW_IN_USE` */
  async remove(id: string): Promise<boolean> {
    do {
      const found = await this.#committer.commit((draft) => assertUnused(draft, id))
      if (!found) return false
    } while ((await this.#committer.commit((draft) => prune(draft, id, 0))) > 0)
    return this.#committer.commit((draft) => {
      if (!assertUnused(draft, id)) return false
      draft.state.flows.delete(id)
      draft.delete(flowKey(id))
      draft.delete(countsKey(id))
      return true
    })
  }

  // documents in

  /** @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_FLOW_INACTIVE`, `LK_FLOW_FULL`, `LK_STORAGE_*` */
  /** `check` may refuse it for what is known of the document at that moment. */
  async load(
    id: string,
    document: AcceptedDocument,
    check?: (known: DocumentJobs) => void,
  ): Promise<string> {
    const ticket = await (check === undefined
      ? this.#committer.commit((draft) => enqueue(draft, id, document))
      : this.#committer.commit(async (draft) => {
          check(await jobsOf(draft, document.user, document.id))
          return enqueue(draft, id, document)
        }))
    return ticket.id
  }

  // documents out

  claim(id: string, turns: number): Promise<Claims> {
    const createToken = () => this.#chance.token()
    const options = { turns, leaseMs: this.#leaseMs, createToken, withheld: this.#removing }
    return this.#committer.commit((draft) => claim(draft, id, options))
  }

  /** Takes back what was claimed by somebody who does not renew it. Returns how many there were. */
  reap(): Promise<number> {
    return this.#committer.commit((draft) => reap(draft, () => this.#chance.fraction()))
  }

  /** Whether the job is still in the hands of whoever has this token, as far as is known here. */
  holds({ number, token }: Hold): boolean {
    return this.#committer.state.active.get(number)?.token === token
  }

  /** Another one with every commit. */
  get version(): number {
    return this.#committer.state.head.version
  }

  /** Notices what other processes have written. */
  refresh(): Promise<void> {
    return this.#committer.refresh()
  }

  /** @throws LorekeepError `LK_LEASE_LOST`, as the following */
  renew(hold: Hold): Promise<void> {
    return this.#committer.commit((draft) => renew(draft, hold, this.#leaseMs))
  }

  /** `steps`: those whose output is recorded then, the last one being that of `output`. */
  record(hold: Hold, steps: readonly string[], output: Uint8Array): Promise<void> {
    return this.#committer.commit((draft) => recordStep(draft, hold, steps, output, this.#leaseMs))
  }

  /** What a step returned; `undefined` where it is not there. */
  output(number: number, step: number): Promise<Uint8Array | undefined> {
    return this.#committer.read((draft) => draft.get(outputKey(number, step)))
  }

  /** `steps`: all that have run. */
  complete(hold: Hold, steps: readonly string[]): Promise<void> {
    return this.#committer.commit((draft) => complete(draft, hold, steps))
  }

  fail(
    hold: Hold,
    failure: JobFailure,
    options: Omit<FailOptions, 'fraction'> = {},
  ): Promise<void> {
    const fraction = () => this.#chance.fraction()
    return this.#committer.commit((draft) => fail(draft, hold, failure, { ...options, fraction }))
  }

  release(hold: Hold, failure: JobFailure): Promise<void> {
    return this.#committer.commit((draft) => release(draft, hold, failure))
  }

  // jobs

  job(id: string): Promise<Job | undefined> {
    return this.#committer.read((draft) => jobById(draft, id))
  }

  /** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
  async *jobs(query: JobQuery): AsyncGenerator<Job> {
    let left = query.limit ?? Infinity
    let position = firstPosition(query)
    for (;;) {
      const page = await this.#committer.read((draft) => jobPage(draft, query, position))
      for (const job of page.jobs) {
        if (left-- <= 0) return
        yield job
      }
      if (page.next === undefined || left <= 0) return
      position = page.next
    }
  }

  /** What there is of a document, but for older jobs of it that are done. */
  jobsOf(user: string, document: string): Promise<DocumentJobs> {
    return this.#committer.read((draft) => jobsOf(draft, user, document))
  }

  /** A user's completed documents, in pages: other commits come in between. */
  async *completed(
    user: string,
    after: string | undefined,
  ): AsyncGenerator<readonly [document: string, latest: LatestRecord]> {
    let position = after
    for (;;) {
      const from = position
      const page = await this.#committer.read((draft) =>
        completedPage(draft, user, from, completedPerPage),
      )
      yield* page
      if (page.length < completedPerPage) return
      position = page.at(-1)?.[0]
    }
  }

  retry(id: string): Promise<Job> {
    return this.#committer.commit((draft) => retry(draft, id))
  }

  cancel(id: string): Promise<void> {
    return this.#committer.commit((draft) => cancel(draft, id))
  }

  /** Claims no job of this document until what it returns is called. */
  withhold(user: string, document: string): () => void {
    const name = documentName(user, hashOf(document))
    this.#removing.set(name, (this.#removing.get(name) ?? 0) + 1)
    return () => {
      const left = (this.#removing.get(name) ?? 1) - 1
      if (left > 0) this.#removing.set(name, left)
      else this.#removing.delete(name)
    }
  }

  /** Forgets that a document was ever completed. */
  forget(user: string, document: string, done: readonly string[]): Promise<void> {
    return this.#committer.commit(async (draft) => {
      draft.delete(latestKey(user, document))
      for (const id of done) await forgetDone(draft, id)
    })
  }

  /** Removes records of done jobs past what the flow keeps, some at a time. */
  async prune(id: string): Promise<void> {
    const flow = this.#committer.state.flows.get(id)
    if (flow === undefined) return
    const { done, pruned } = flow.counts
    const { keepDone } = flow.flow
    // Not each by itself: a read of many costs little more than one of one.
    if (done - pruned < keepDone + Math.max(100, keepDone / 10)) return
    await this.#committer.commit((draft) => prune(draft, id, keepDone))
  }

  /** Resolves when nothing is being written any more. */
  drained(): Promise<void> {
    return this.#committer.drained()
  }
}

function flowOf(draft: Draft, id: string) {
  const flow = draft.state.flows.get(id)
  if (flow === undefined) throw noFlow(id)
  return flow
}

function putFlow(draft: Draft, flow: Flow): void {
  draft.putRecord(flowKey(flow.id), flow)
  const known = draft.state.flows.get(flow.id)
  if (known !== undefined) known.flow = flow
  else {
    const lanes = new Lanes(flow.id)
    draft.state.flows.set(flow.id, { flow, counts: noCounts(), nextDue: Infinity, lanes })
  }
  draft.queued.add(flow.id)
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

function enqueue(draft: Draft, id: string, document: AcceptedDocument): Ticket {
  const flow = flowOf(draft, id)
  const { active, maxQueued } = flow.flow
  if (!active) {
    const detail = `'${id}' takes no documents until it is started`
    throw new LorekeepError('LK_FLOW_INACTIVE', detail, { details: { flow: id } })
  }
  if (flow.counts.queued + flow.counts.delayed >= maxQueued) {
    const detail = `${maxQueued} documents wait in '${id}'; try again later`
    throw new LorekeepError('LK_FLOW_FULL', detail, { details: { flow: id, maxQueued } })
  }
  return draft.enqueue(flow, document)
}
