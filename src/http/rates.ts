// How many bytes of one user go in and out in a second: one user's load is not everyone's. What is too much is paid for
// by waiting, and is never cut.

import { systemClock } from '../clock.js'
import type { Clock } from '../clock.js'
import { aCount } from '../door/rules.js'
import { LorekeepError } from '../errors.js'
import type { Principal } from './auth.js'

/** Less, and one slice of an export would keep its user waiting for longer than a request waits. */
export const aByteRate = aCount(128 * 1024)

/** A request that would wait longer before it begins is refused. */
const longestWaitMs = 10_000

/** How many users there are before those who owe nothing are forgotten. */
const fewUsers = 1024

export class Rates {
  readonly clock: Clock
  readonly #perSecond: number
  readonly #buckets = new Map<string, Bucket>()
  #sweepAt = fewUsers

  constructor(perSecond: number, clock: Clock = systemClock) {
    this.#perSecond = perSecond
    this.clock = clock
  }

  /**
   * How long a request of this user waits before it begins.
   * @throws LorekeepError `LK_HTTP_RATE` where that is too long
   */
  waitOf(principal: Principal): number {
    const waitMs = this.take(principal, 0)
    if (waitMs <= longestWaitMs) return waitMs
    const retryAfterSeconds = Math.ceil(waitMs / 1000)
    const details = { maxUserBytesPerSecond: this.#perSecond, retryAfterSeconds }
    const found = `what it sent and was sent lasts for ${retryAfterSeconds} s more`
    throw new LorekeepError('LK_HTTP_RATE', found, { details })
  }

  /** How long whoever has sent or was sent so many bytes waits before the next ones. */
  take({ user }: Principal, bytes: number): number {
    const now = this.clock.elapsed()
    let bucket = this.#buckets.get(user)
    if (bucket === undefined) {
      if (bytes === 0) return 0
      this.#sweep(now)
      bucket = new Bucket(this.#perSecond, now)
      this.#buckets.set(user, bucket)
    }
    return bucket.take(bytes, now)
  }

  /** In steps that grow with the users, so that each costs no more for it. */
  #sweep(now: number): void {
    if (this.#buckets.size < this.#sweepAt) return
    for (const [user, bucket] of this.#buckets) if (bucket.isFull(now)) this.#buckets.delete(user)
    this.#sweepAt = Math.max(fewUsers, 2 * this.#buckets.size)
  }
}

/** Holds what may go at once, a second's worth; below nothing it is what was gone too early. */
class Bucket {
  readonly #perMs: number
  readonly #most: number
  #bytes: number
  #at: number

  constructor(perSecond: number, now: number) {
    this.#perMs = perSecond / 1000
    this.#most = perSecond
    this.#bytes = perSecond
    this.#at = now
  }

  take(bytes: number, now: number): number {
    this.#fill(now)
    this.#bytes -= bytes
    return Math.ceil(Math.max(0, -this.#bytes / this.#perMs))
  }

  isFull(now: number): boolean {
    this.#fill(now)
    return this.#bytes >= this.#most
  }

  #fill(now: number): void {
    this.#bytes = Math.min(this.#most, this.#bytes + (now - this.#at) * this.#perMs)
    this.#at = now
  }
}
