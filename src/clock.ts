// Time, chance and ids, as the queue takes them: tests bring their own.

import { randomBytes, randomUUID } from 'node:crypto'
import hyperid from 'hyperid'

export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Milliseconds since some moment. Nobody sets it: it never jumps, and never goes back. */
  elapsed(): number
  /**
   * Calls once, in so many milliseconds; what it returns takes that back. The process may end before where
   * `isHeld` is false.
   */
  after(delayMs: number, call: () => void, isHeld?: boolean): () => void
}

export interface Chance {
  /** From 0 up to 1, 1 excluded. */
  fraction(): number
  /** Not to be guessed. */
  token(): string
}

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after(delayMs, call, isHeld = true) {
    // Timers past 2^31 - 1 ms fire at once. They hold the process, as work under way should.
    const timer = setTimeout(call, Math.min(delayMs, 2 ** 31 - 1))
    if (!isHeld) timer.unref()
    return () => clearTimeout(timer)
  },
}

export const systemChance: Chance = {
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  token: () => randomUUID(),
}

/** Makes ids that occur once: opaque, URL-safe, in no order. None begins as an option of a command does. */
export function createIds(): () => string {
  const createId = hyperid({ urlSafe: true })
  return () => createId().replace(/^-/, '_')
}

/** Resolves in so many milliseconds of a clock, unless the process ends before. */
export function waited(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve, false))
}
