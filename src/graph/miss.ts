// Blocks of an index are read from the storage when they are needed and kept in memory for a while.
// What works on them is written as plain synchronous code over those in memory: 10 to 50 times as
// fast as awaiting each. Where one is missing it throws a Miss, and is called again once the block
// is there. So such code keeps its own state unchanged until the last block it needs was found.

import { setImmediate as turn } from 'node:timers/promises'

/** Thrown by synchronous code that needs a block which is not in memory. */
export class Miss {
  /** Brings the block, which stays until `release()`; rejects where it cannot be read. */
  readonly load: () => Promise<void>
  /** Called once for each load(), also where that rejected. */
  readonly release: () => void

  constructor(load: () => Promise<void>, release: () => void = () => undefined) {
    this.load = load
    this.release = release
  }
}

/**
 * Thrown by what has looked at so many rows and found none of use: others get their turn, and it goes
 * on where it was.
 */
export function pause(): Miss {
  return new Miss(() => turn())
}

/**
 * Rows of no use after which there is one; passages that are looked at before others may have their turn,
 * and of a word, how many numbers of passages are gone through. In tests it is after each.
 */
export const patience = { rows: 10_000, passages: 1000, span: 2 ** 16 }

/** What `work` returns, called again after each block it missed. `check` throws where it may not be. */
export function withBlocks<T>(work: () => T, check?: () => void): T | Promise<T> {
  try {
    return work()
  } catch (error) {
    if (error instanceof Miss) return afterMiss(work, error, check)
    throw error
  }
}

/**
 * More than any step needs at once: to look a term up, all blocks of a part's terms if it was made
 * for that. Work that has missed more has come further meanwhile.
 */
const maxHeld = 512

/**
 * What `work` returns, which has thrown a Miss. Holds what was missed until it is done: in a memory too small for it,
 * it would never be.
 */
export async function afterMiss<T>(work: () => T, first: Miss, check?: () => void): Promise<T> {
  const held: Miss[] = []
  try {
    for (let miss = first; ;) {
      if (held.push(miss) > maxHeld) held.shift()?.release()
      await miss.load()
      check?.()
      try {
        return work()
      } catch (error) {
        if (!(error instanceof Miss)) throw error
        miss = error
      }
    }
  } finally {
    for (const miss of held) miss.release()
  }
}
