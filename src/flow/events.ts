// Who watches, and what they have not read yet.

import { setMaxListeners } from 'node:events'
import { isOwn } from '../scope.js'
import type { JobEvent, WatchQuery } from './types.js'
import { Unread } from './unread.js'

// A watcher that stands still must not fill the memory.
const maxUnread = 10_000

export class EventHub {
  readonly #watchers = new Set<Watcher>()

  get isWatched(): boolean {
    return this.#watchers.size > 0
  }

  emit(event: JobEvent): void {
    for (const watcher of this.#watchers) watcher.offer(event)
  }

  /** Those who watch jobs, or documents. */
  get named(): readonly Watcher[] {
    return [...this.#watchers].filter(({ isNamed }) => isNamed)
  }

  /** Events from now on, after those that `known` gives. */
  watch(query: WatchQuery, known: () => Promise<readonly JobEvent[]>): AsyncIterable<JobEvent> {
    const watcher: Watcher = new Watcher(query, () => this.#watchers.delete(watcher))
    this.#watchers.add(watcher)
    watcher.begin(known)
    return watcher
  }

  /** Ends every iteration. */
  close(): void {
    for (const watcher of [...this.#watchers]) watcher.end()
  }
}

export class Watcher implements AsyncIterableIterator<JobEvent> {
  readonly query: WatchQuery
  /** The last that was told of each job, where jobs are named, or a document. */
  readonly told = new Map<string, JobEvent>()
  readonly #onEnd: () => void
  readonly #unread = new Unread(maxUnread)
  #waiting: ((result: IteratorResult<JobEvent>) => void)[] = []
  #failure: { readonly error: unknown } | undefined
  #ended = false
  /** What happens while the known is looked up comes after it. */
  #held: JobEvent[] | undefined = []

  constructor(query: WatchQuery, onEnd: () => void) {
    this.query = query
    this.#onEnd = onEnd
    const { signal } = query
    if (signal === undefined) return
    // One listener per watcher.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', this.#abort, { once: true })
  }

  readonly #abort = () => this.end()

  begin(known: () => Promise<readonly JobEvent[]>): void {
    if (this.query.signal?.aborted === true) {
      this.end()
      return
    }
    known().then(
      (events) => {
        const held = this.#held ?? []
        this.#held = undefined
        const states = new Map(events.map((event) => [event.job, event]))
        for (const event of events) this.#push(event)
        for (const event of held) if (isNews(event, states.get(event.job))) this.#push(event)
      },
      (error: unknown) => {
        this.#failure = { error }
        this.end()
      },
    )
  }

  get isNamed(): boolean {
    return this.query.job !== undefined || this.query.document !== undefined
  }

  offer(event: JobEvent): void {
    if (isBehind(event, this.told.get(event.job))) return
    const { job, flow, user, document, scope = {} } = this.query
    if (!isOwn(scope, event)) return
    if (job !== undefined && event.job !== job) return
    if (flow !== undefined && event.flow !== flow) return
    if (user !== undefined && event.user !== user) return
    if (document !== undefined && event.document !== document) return
    if (this.#held !== undefined) this.#held.push(event)
    else this.#push(event)
  }

  /** How jobs stand, as far as that was not told. False where it is not known yet how they stood at first. */
  look(found: readonly JobEvent[]): boolean {
    if (this.#held !== undefined) return false
    for (const event of found) {
      const told = this.told.get(event.job)
      const isTold = told?.state === event.state && told.attempts === event.attempts
      if (!isTold || (event.type === 'cancelled' && told.type !== 'cancelled')) this.offer(event)
    }
    return true
  }

  next(): Promise<IteratorResult<JobEvent>> {
    const event = this.#unread.shift()
    if (event !== undefined) return Promise.resolve({ done: false, value: event })
    if (this.#ended) return this.#finish()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  return(): Promise<IteratorResult<JobEvent>> {
    this.#unread.clear()
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.query.signal?.removeEventListener('abort', this.#abort)
    this.#onEnd()
    for (const resolve of this.#waiting.splice(0)) resolve(this.#finish() as never)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #push(event: JobEvent): void {
    if (this.#ended) return
    if (this.isNamed) this.told.set(event.job, event)
    const resolve = this.#waiting.shift()
    if (resolve !== undefined) resolve({ done: false, value: event })
    else this.#unread.push(event)
    if (this.query.job !== undefined && isLast(event)) this.end()
  }

  /** A failure is told once, and to nobody who does not listen any more. */
  #finish(): Promise<IteratorResult<JobEvent>> {
    const failure = this.#failure
    this.#failure = undefined
    const isAborted = this.query.signal?.aborted === true
    if (failure !== undefined && !isAborted) return Promise.reject(failure.error)
    return Promise.resolve({ done: true, value: undefined })
  }
}

/** Nothing comes after it, unless a dead letter is retried. */
function isLast({ type, state }: JobEvent): boolean {
  return type === 'cancelled' || state === 'done' || state === 'dead'
}

/** Whether somebody else's news of a job comes behind what was found out about it. */
function isBehind(event: JobEvent, told: JobEvent | undefined): boolean {
  if (told === undefined || event.type === 'queued') return false
  if (event.type === 'cancelled') return told.type === 'cancelled'
  if (isLast(told)) return event.attempts <= told.attempts
  return event.attempts < told.attempts && event.state !== 'queued'
}

/** Whether what happened while the state was looked up may not be part of it. */
function isNews(event: JobEvent, known: JobEvent | undefined): boolean {
  if (known === undefined || event.at > known.at) return true
  if (event.at < known.at) return false
  return event.state !== known.state || event.attempts !== known.attempts || event.type === 'step'
}
