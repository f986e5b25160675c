// What a delivery does while the storage of the queue is away: it holds on to its job, and asks again. That is not the
// document's fault.

import type { Clock } from '../clock.js'
import { hasCode } from '../errors.js'
import type { Hold } from './queue/held.js'
import type { JobQueue } from './queue/queue.js'

/** What a storage says that is away for a while, and how long it is waited for before it is asked again. */
const outageCodes = ['LK_STORAGE_UNAVAILABLE', 'LK_STORAGE_FAILED'] as const
const pausesMs = [100, 400, 1600, 6400]
const longestPauseMs = 6400

interface OutagesOptions {
  readonly queue: Pick<JobQueue, 'renew'>
  readonly clock: Clock
  readonly claimed: Hold
}

export class Outages {
  readonly #options: OutagesOptions
  #isInterrupted = false
  #endPause: () => void = () => {}

  constructor(options: OutagesOptions) {
    this.#options = options
  }

  /** From now on nothing is waited for. */
  interrupt(): void {
    this.#isInterrupted = true
    this.#endPause()
  }

  /** What the queue does, once its storage is there. What is refused beside a renewal is refused for what it is. */
  async asked<Result>(ask: () => Promise<Result>): Promise<Result> {
    for (const pauseMs of pausesMs) {
      try {
        return await ask()
      } catch (error) {
        if (this.#isInterrupted || !isOutage(error)) throw error
      }
      await this.#pause(pauseMs)
    }
    while (!this.#isInterrupted && !(await this.#canRenew())) await this.#pause(longestPauseMs)
    return ask()
  }

  /** @throws LorekeepError `LK_LEASE_LOST` */
  async #canRenew(): Promise<boolean> {
    const { queue, claimed } = this.#options
    try {
      await queue.renew(claimed)
      return true
    } catch (error) {
      if (!isOutage(error)) throw error
      return false
    }
  }

  async #pause(delayMs: number): Promise<void> {
    if (this.#isInterrupted) return
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(delayMs, resolve)
      this.#endPause = () => {
        cancel()
        resolve()
      }
    })
  }
}

function isOutage(error: unknown): boolean {
  return outageCodes.some((code) => hasCode(error, code))
}
