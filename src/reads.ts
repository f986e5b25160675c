// How new that has to be which a question sees, where others change it too. Where nobody else does, all that there
// is is known, and nothing is looked at.

import { oneOf } from './door/rules.js'

/**
 * `fresh`: all that was acknowledged to anybody before the call, which takes a look at the storage.
 * `recent`: a state at most a second old, without a look most of the time.
 */
export type Reads = 'fresh' | 'recent'

/** Among options, and members of requests. */
export const aReads = oneOf('fresh', 'recent')

const recentMs = 1000

/** When the last look was: what has been known since then is as old as that. */
export class LastLook {
  readonly #elapsed: () => number
  #at = -Infinity
  #outdated = 0

  /** @param elapsed milliseconds that never run backwards, of this process's own */
  constructor(elapsed: () => number) {
    this.#elapsed = elapsed
  }

  isDue(reads: Reads): boolean {
    return reads === 'fresh' || this.#elapsed() - this.#at >= recentMs
  }

  /** A look begins; what is returned says that it has seen the newest there was by then. */
  begin(): () => void {
    const at = this.#elapsed()
    const outdated = this.#outdated
    return () => {
      // What was told meanwhile may have been missed.
      if (outdated === this.#outdated) this.#at = Math.max(this.#at, at)
    }
  }

  /** Others have made changes. */
  outdate(): void {
    this.#outdated++
    this.#at = -Infinity
  }
}
