import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../src/clock.js'

interface Timer {
  readonly at: number
  readonly call: () => void
}

/** Time that stands still until a test moves it on. */
export class VirtualClock implements Clock {
  /** What the wall clock is ahead of the time that has passed. */
  #ahead: number
  #elapsed = 0
  readonly #timers = new Set<Timer>()

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#ahead = now
  }

  /** How many calls are still to come. */
  get pending(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#ahead + this.#elapsed
  }

  elapsed(): number {
    return this.#elapsed
  }

  /** Somebody sets the wall clock. */
  jump(byMs: number): void {
    this.#ahead += byMs
  }

  /** The clock of another machine, whose wall clock is so much ahead of this one's. */
  shifted(byMs: number): Clock {
    return {
      now: () => this.now() + byMs,
      // Where each begins to count is its own affair.
      elapsed: () => this.#elapsed + 1_000_000 + byMs,
      after: (delayMs, call) => this.after(delayMs, call),
    }
  }

  after(delayMs: number, call: () => void): () => void {
    const timer = { at: this.#elapsed + delayMs, call }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Lets time pass: each call at its time, and what follows from one before the next. */
  async advance(byMs: number): Promise<void> {
    const end = this.#elapsed + byMs
    await settled()
    for (let calls = 0; ; calls++) {
      const next = this.#next()
      if (next === undefined || next.at > end) break
      if (calls === maxCalls) throw new Error(`${maxCalls} timers in ${byMs} ms`)
      this.#timers.delete(next)
      this.#elapsed = Math.max(this.#elapsed, next.at)
      next.call()
      await settled()
    }
    this.#elapsed = Math.max(this.#elapsed, end)
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
