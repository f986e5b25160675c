import { setImmediate as turn } from 'node:timers/promises'

/** Long work lets others run after so many milliseconds. In tests below 0: whenever it may. */
export const longest = { ms: 8 }

/** Divides long work into turns of the event loop, and ends it where its signal says so. */
export class Turns {
  readonly #signal: AbortSignal | undefined
  #began = performance.now()

  constructor(signal: AbortSignal | undefined) {
    this.#signal = signal
  }

  /** Waits where this turn was long. Rejects with the signal's reason. */
  async pass(): Promise<void> {
    this.#signal?.throwIfAborted()
    if (!this.isLong) return
    await turn()
    this.#began = performance.now()
    this.#signal?.throwIfAborted()
  }

  get isLong(): boolean {
    return performance.now() - this.#began > longest.ms
  }
}
