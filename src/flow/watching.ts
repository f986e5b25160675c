// Watchers of jobs and documents: what they are told at first, and what is found out for them where others process
// what they watch.

import type { Clock } from '../clock.js'
import type { Scope } from '../scope.js'
import type { EventHub, Watcher } from './events.js'
import type { Neighbours } from './neighbours.js'
import { eventOf, newsOf } from './queue/job-view.js'
import { noFlow, noJob } from './queue/jobs.js'
import type { JobQueue } from './queue/queue.js'
import type { DocumentRef, DocumentStatus, Job, JobEvent, WatchQuery } from './types.js'

interface WatchingOptions {
  readonly hub: EventHub
  readonly neighbours: Neighbours
  readonly queue: JobQueue
  readonly clock: Clock
  readonly isShared: boolean
  /** A call of the store, which close() waits for. */
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly jobOf: (id: string, scope: Scope) => Promise<Job | undefined>
  readonly documentOf: (
    ref: Required<DocumentRef>,
    scope: Scope,
  ) => Promise<DocumentStatus | undefined>
  readonly onError: (error: unknown) => void
}

/** How soon, and then how often, what others may have done to what is watched is looked for. */
const firstLookMs = 100
const lookMs = 1000

export class Watching {
  readonly #options: WatchingOptions
  #cancelLook: (() => void) | undefined
  /** When the next look is due, of the clock's elapsed(). */
  #lookAt = 0
  /** The version of the queue that watchers know. */
  #seen = 0

  constructor(options: WatchingOptions) {
    this.#options = options
  }

  watch(query: WatchQuery): AsyncIterable<JobEvent> {
    const { hub, neighbours, run } = this.#options
    const events = hub.watch(query, () => run(() => this.#known(query)))
    neighbours.announce()
    this.#seen = 0
    this.#lookAfter(firstLookMs)
    return events
  }

  /** Ends every iteration. */
  close(): void {
    this.#options.hub.close()
    this.#cancelLook?.()
    this.#options.neighbours.close()
  }

  /** Where others process what is watched, what they tell may be lost on the way: it is looked for, too. */
  #lookAfter(delayMs: number): void {
    const { clock, hub, isShared } = this.#options
    if (!isShared || hub.named.length === 0) return
    const at = clock.elapsed() + delayMs
    // Whoever watches one after the other puts nothing off.
    if (this.#cancelLook !== undefined && this.#lookAt <= at) return
    this.#cancelLook?.()
    this.#lookAt = at
    this.#cancelLook = clock.after(delayMs, () => {
      this.#cancelLook = undefined
      void this.#lookForWatchers().finally(() => this.#lookAfter(lookMs))
    })
  }

  async #lookForWatchers(): Promise<void> {
    const { hub, queue } = this.#options
    try {
      await queue.refresh()
      if (queue.version === this.#seen) return
      const { version } = queue
      let areAllTold = true
      for (const watcher of hub.named) {
        areAllTold = watcher.look(await this.#newsFor(watcher)) && areAllTold
      }
      if (areAllTold) this.#seen = version
    } catch (error) {
      this.#options.onError(error)
    }
  }

  async #newsFor({ query, told }: Watcher): Promise<readonly JobEvent[]> {
    const { queue } = this.#options
    const { job: id, user, document } = query
    const jobs: Job[] = []
    if (id !== undefined) {
      const job = await queue.job(id)
      if (job !== undefined) jobs.push(job)
    } else if (user !== undefined && document !== undefined) {
      jobs.push(...(await queue.jobsOf(user, document)).jobs)
    }
    const news = jobs.map(newsOf)
    for (const last of told.values()) {
      if (last.state === 'done' || jobs.some((job) => job.id === last.job)) continue
      // It is gone: with the records of those that are done, or because somebody took it away.
      const { latest } = await queue.jobsOf(last.user, last.document)
      const at = this.#options.clock.now()
      const fields = { ...last, id: last.job }
      const isDone = latest?.job === last.job
      news.push(
        eventOf(isDone ? 'done' : 'cancelled', isDone ? { ...fields, state: 'done' } : fields, at),
      )
    }
    return news
  }

  /** The state of a watched job, or of the jobs of a watched document. */
  async #known({
    job: id,
    flow,
    user,
    document,
    scope = {},
  }: WatchQuery): Promise<readonly JobEvent[]> {
    const { queue } = this.#options
    if (flow !== undefined && queue.flow(flow) === undefined) {
      await queue.refresh()
      if (queue.flow(flow) === undefined) throw noFlow(flow)
    }
    if (id !== undefined) {
      const job = await this.#options.jobOf(id, scope)
      if (job === undefined) throw noJob(id)
      return [stateEventOf(job)]
    }
    if (user === undefined || document === undefined) return []
    const status = await this.#options.documentOf({ user, document }, scope)
    return (status?.jobs ?? [])
      .filter((job) => flow === undefined || job.flow === flow)
      .reverse()
      .map(stateEventOf)
  }
}

/** Of the time that it is the state since. */
function stateEventOf(job: Job): JobEvent {
  return eventOf('state', job, Date.parse(job.updatedAt))
}
