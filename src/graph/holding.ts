import { LorekeepError } from '../errors.js'
import type { HeldParts } from './version.js'

/** Those that nobody closed, and nobody can any more. */
const dropped = new FinalizationRegistry<Holding>((holding) => holding.close())

/** What a question sees, for all questions until close(). */
export class Holding {
  readonly #held: HeldParts
  readonly #closing: AbortSignal
  /** Questions under way, and whoever may ask more. */
  #holders = 1
  #isClosed = false

  /** `closing` closes it. */
  constructor(held: HeldParts, closing: AbortSignal) {
    this.#held = held
    this.#closing = closing
    // It may have come while this was being opened, and comes once.
    if (closing.aborted) this.close()
    else closing.addEventListener('abort', this.close, { once: true })
  }

  /** Once the owner is garbage: what holds it may not be held by this. */
  closeAfter(owner: object): void {
    dropped.register(owner, this, this)
  }

  /** @throws LorekeepError `LK_GRAPH_QUERY`, or `LK_CLOSED` where the store is */
  readonly open = (): HeldParts => {
    if (this.#closing.aborted) throw new LorekeepError('LK_CLOSED')
    if (this.#isClosed) throw new LorekeepError('LK_GRAPH_QUERY', 'the snapshot was closed')
    this.#holders++
    let isHeld = true
    const release = () => {
      if (isHeld) this.#leave()
      isHeld = false
    }
    return { parts: this.#held.parts, release }
  }

  readonly close = (): void => {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#closing.removeEventListener('abort', this.close)
    dropped.unregister(this)
    this.#leave()
  }

  #leave(): void {
    if (--this.#holders === 0) this.#held.release()
  }
}
