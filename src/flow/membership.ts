// This process as one of those who share the queue: what it is asked to do, and what it leaves for others to see.

import { once } from 'node:events'
import { waited, type Clock } from '../clock.js'
import type { Presence } from '../presence.js'
import type { JobQueue } from './queue/queue.js'
import type { Delivery } from './runner.js'

interface FlowMembershipOptions {
  readonly queue: JobQueue
  /** Those that take back what has lapsed. */
  readonly runners: { readonly size: number }
  /** What runs here, of all runners. */
  readonly running: ReadonlySet<Delivery>
  /** Of those who share the storage. */
  readonly presence?: Presence | undefined
  readonly leaseMs: number
  readonly clock: Clock
  /** Of close(), as soon as it is called. */
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

export class FlowMembership {
  readonly #options: FlowMembershipOptions
  /** Nothing is asked of this process any more. */
  readonly leave: () => void

  constructor(options: FlowMembershipOptions) {
    this.#options = options
    const { presence } = options
    this.leave = presence === undefined ? () => {} : this.#join(presence)
  }

  /** Takes away what others wait for, and is over. */
  async tidy(): Promise<void> {
    try {
      await this.#options.queue.tidy(({ number, token }) => {
        return [...this.#options.running].some(({ claimed }) => {
          return claimed.number === number && claimed.token === token
        })
      })
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** What a member is asked to do, and what is done about those who are none any more. */
  #join(presence: Presence): () => void {
    const { queue } = this.#options
    const leave = [
      presence.onExpelled(() => this.#endAll(presence)),
      presence.onGone((id) => queue.takeFrom(new Set([id]))),
      presence.onLook(() => void this.#lookAtOthers()),
    ]
    return () => leave.forEach((end) => end())
  }

  async #lookAtOthers(): Promise<void> {
    const { queue, runners } = this.#options
    try {
      await queue.refresh()
      // What a runner could not give back when it was stopped: others would take this process for dead.
      if (runners.size === 0) await queue.reap()
      await this.tidy()
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /**
   * Others have what runs here. A step that does not end writes nothing to the stores that it was lent; for whatever
   * else it may do when this process has joined anew, others are told of it then.
   */
  async #endAll(presence: Presence): Promise<void> {
    const { queue, clock, leaseMs, running, closing, onError } = this.#options
    for (const { execution } of running) execution.interrupt('lost')
    const ends = [...running].map(({ execution }) => execution.ended())
    // Whoever closes gives steps a time of their own.
    const over = new AbortController()
    const closed = closing.aborted ? undefined : once(closing, 'abort', { signal: over.signal })
    await Promise.race([Promise.all(ends), waited(clock, leaseMs), closed])
    // Or it would listen for close() until then, once for each time that others took this process for dead.
    over.abort()
    const steps = [...running].map(({ claimed: { number, token, record } }) => {
      return { number, token, user: record.user, document: record.document }
    })
    void presence
      .ready()
      .then(() => queue.leaveEndings(steps))
      .catch(onError)
  }
}
