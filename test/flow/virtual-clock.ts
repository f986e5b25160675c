import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/clock.js'

interface Timer {
  readonly at: number
  readonly call: () => void
}

/** Time that stands still until a test moves it on. */
export class VirtualClock implements Clock {
  #now: number
  readonly #timers = new Set<Timer>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  /** How many calls are still to come. */
  get pending(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  after(delayMs: number, call: () => void): () => void {
    const timer = { at: this.#now + delayMs, call }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Lets time pass: each call at its time, and what follows from one before the next. */
  async advance(byMs: number): Promise<void> {
    const end = this.#now + byMs
    await settled()
    for (let calls = 0; ; calls++) {
      const next = this.#next()
      if (next === undefined || next.at > end) break
      if (calls === maxCalls) throw new Error(`${maxCalls} timers in ${byMs} ms`)
      this.#timers.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.call()
      await settled()
    }
    this.#now = Math.max(this.#now, end)
  }

  /** The first of those that come first. */
  #next(): Timer | undefined {
    let first: Timer | undefined
    for (const timer of this.#timers) if (first === undefined || timer.at < first.at) first = timer
    return first
  }
}

const maxCalls = 10_000

/** Everything has happened that waits for memory alone. */
export async function settled(): Promise<void> {
  for (let n = 0; n < 5; n++) await turn()
}
