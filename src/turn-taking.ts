// Who changes what others change too takes turns with them: without, whoever is ahead stays ahead, and the others
// make again and again what was refused. Four processes that import objects got 8, 8, 8 and 1,752 through in the
// time in which they got 573, 556, 517 and 462 with turns. Whoever waits says so: a turn that nobody waits for is
// kept, because to give it up and to take it again costs three round trips.

import { randomBytes } from 'node:crypto'
import { hasCode } from './errors.js'
import type { Sharing } from './storage.js'

/** So long a turn lasts where there is more to do, and others wait. */
const turnMs = 100

/** And so many times as long as its beginning took, where the storage is far away. */
const timesBeginning = 10

/** So long all turns of those who wait last together where they are longer than `turnMs`: nobody waits for a second. */
const roundMs = 500

/** So long it is kept where there is nothing to do, and nobody waits. */
const keptMs = 50

/** Whoever has the turn may stand still, or be gone: after so long it is done without one. */
const mostWaitMs = 2000

/** How often whoever waits says so: a message may be lost. */
const tellMs = 200

export class TurnTaking {
  readonly #sharing: Sharing | undefined
  readonly #name: string
  /** What is told to others by who waits: of one name all begin with the same, and end with who it is. */
  readonly #message: Uint8Array
  #release: (() => void) | undefined
  /** Nobody has given it: to go on without is for a moment, not to be kept. */
  #isBorrowed = false
  #since = 0
  #beginningMs = 0
  /** Who has said that he waits, as messages end. */
  readonly #waiting = new Set<string>()
  #keeping: NodeJS.Timeout | undefined

  constructor(sharing: Sharing | undefined, name: string) {
    this.#sharing = sharing
    this.#name = name
    const own = Buffer.from(
      JSON.stringify({ type: 'turn', name, from: randomBytes(6).toString('hex') }),
    )
    this.#message = own
    const beginning = own.lastIndexOf(':')
    // Until the storage is closed.
    sharing?.subscribe((message) => {
      if (message.length !== own.length) return
      if (own.compare(message, 0, beginning, 0, beginning) !== 0) return
      this.#give(Buffer.from(message.subarray(beginning)).toString('latin1'))
    })
  }

  /** There are others. */
  get isShared(): boolean {
    return this.#sharing !== undefined
  }

  /** Nobody has to be waited for. */
  get isHad(): boolean {
    return this.#sharing === undefined || this.#release !== undefined
  }

  /**
   * Waits for a turn where there are others, unless it is this one's already. True where others may have had theirs
   * since.
   * @throws LorekeepError `LK_CLOSED`
   */
  async take(): Promise<boolean> {
    this.resume()
    if (this.isHad) return false
    // There is one.
    const sharing = this.#sharing!
    const tell = () => sharing.publish(this.#message)
    tell()
    const telling = setInterval(tell, tellMs).unref()
    try {
      this.#release = await sharing.turn(this.#name, AbortSignal.timeout(mostWaitMs))
      this.#isBorrowed = false
    } catch (error) {
      if (hasCode(error, 'LK_CLOSED')) throw error
      // It is for order alone: what is written has its conditions.
      this.#release = () => undefined
      this.#isBorrowed = true
    } finally {
      clearInterval(telling)
    }
    this.#since = performance.now()
    this.#beginningMs = 0
    return true
  }

  /** Called at least once: until the first time the turn was spent on what others had changed. */
  begun(): void {
    this.#beginningMs ||= performance.now() - this.#since
  }

  /** It has lasted as long as it may. */
  get isOver(): boolean {
    if (this.#release === undefined || !this.#isWanted) return false
    const shareMs = roundMs / Math.max(1, this.#waiting.size)
    const mostMs = Math.min(timesBeginning * this.#beginningMs, shareMs)
    return performance.now() - this.#since > Math.max(turnMs, mostMs)
  }

  /** There is nothing to do. What comes soon has the same turn, unless others want theirs. */
  rest(): void {
    if (this.#release === undefined) return
    if (this.#isWanted) this.end()
    else this.#keeping ??= setTimeout(() => this.end(), keptMs)
  }

  /** There is something to do again. */
  resume(): void {
    clearTimeout(this.#keeping)
    this.#keeping = undefined
  }

  end(): void {
    this.resume()
    this.#release?.()
    this.#release = undefined
    this.#waiting.clear()
  }

  get #isWanted(): boolean {
    return this.#waiting.size > 0 || this.#isBorrowed
  }

  #give(who: string): void {
    if (this.#keeping === undefined) this.#waiting.add(who)
    else this.end()
  }
}
