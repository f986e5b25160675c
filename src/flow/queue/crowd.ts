// Whether those who share the queue wait for each other, as one of them sees it.

import type { Posted } from './gate.js'

/** Who waits longer for his turn, and so many times as long as a look takes, is in a crowd. */
const longMs = 20
const longLooks = 3

/** So long it is one behind that, or behind posts of several. */
const lastsMs = 1000

export class Crowd {
  readonly #elapsed: () => number
  #waitedAt = -Infinity
  /** What was posted some time ago: inboxes that have more since are those of who loads now. */
  #since: { readonly at: number; readonly posted: Posted } | undefined

  /** @param elapsed as that of a clock */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  /** For a turn, and for the look that it began with. */
  waited(turnMs: number, lookMs: number): void {
    if (turnMs > Math.max(longMs, longLooks * lookMs)) this.#waitedAt = this.#elapsed()
  }

  /** `posted`: what there is, while loads are posted. */
  isThere(posted?: Posted): boolean {
    const now = this.#elapsed()
    const hasWaited = now - this.#waitedAt < lastsMs
    if (posted === undefined || this.#since?.posted.gate.token !== posted.gate.token) {
      if (posted !== undefined) this.#since = { at: now, posted }
      return hasWaited || posted !== undefined
    }
    if (now - this.#since.at < lastsMs) return true
    const before = this.#since.posted
    this.#since = { at: now, posted }
    const loading = posted.inboxes.filter((inbox, place) => {
      return (inbox?.posts ?? 0) > (before.inboxes[place]?.posts ?? 0)
    })
    return hasWaited || loading.length > 1
  }
}
