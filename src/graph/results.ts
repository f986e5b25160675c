import { setImmediate as turn } from 'node:timers/promises'
import { withBlocks } from './miss.js'

/** What answers a question piece by piece. */
export interface Answer<T> {
  readonly isDone: boolean
  /** Up to `most` results, perhaps none before it is done. May throw a Miss, and goes on when called again. */
  next(most: number): T[]
  /** Lets go of what the question holds. Called once. */
  end(): void
  /** Throws where the question may not go on. */
  check(): void
}

/** Results that are made at once: few at first, as many want no more than that. */
const firstBatch = 16
const mostBatch = 512

/** Batches after which others get their turn, where a reader takes all at once. */
const batchesPerTurn = 8

const dropped = new FinalizationRegistry<{ end?: () => void }>((held) => held.end?.())

/** The results of a question, which is asked when the first one is. */
export function results<T>(ask: () => Promise<Answer<T>>): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new Results(ask) }
}

class Results<T> implements AsyncIterator<T, undefined> {
  readonly #ask: () => Promise<Answer<T>>
  #answer: Answer<T> | undefined
  #batch: T[] = []
  #at = 0
  #size = firstBatch
  #batches = 0
  #ended = false
  /** The call of next() that is under way; others wait behind it. */
  #working: Promise<IteratorResult<T, undefined>> | undefined
  /** What a reader that goes away without a word leaves behind. */
  readonly #held: { end?: () => void } = {}

  constructor(ask: () => Promise<Answer<T>>) {
    this.#ask = ask
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#working !== undefined) {
      const again = () => this.next()
      return this.#working.then(again, again)
    }
    if (this.#at < this.#batch.length) {
      try {
        this.#answer?.check()
      } catch (error) {
        return this.throw(error)
      }
      return Promise.resolve({ done: false, value: this.#batch[this.#at++] as T })
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    this.#working = this.#next()
    return this.#working
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#leave()
    return { done: true, value: undefined }
  }

  async throw(error: unknown): Promise<never> {
    this.#leave()
    throw error
  }

  #leave(): void {
    this.#batch = []
    this.#at = 0
    this.#end()
  }

  async #next(): Promise<IteratorResult<T, undefined>> {
    try {
      while (this.#at === this.#batch.length) {
        if (this.#ended) return { done: true, value: undefined }
        await this.#fill()
      }
      return { done: false, value: this.#batch[this.#at++] as T }
    } catch (error) {
      this.#end()
      throw error
    } finally {
      this.#working = undefined
    }
  }

  async #fill(): Promise<void> {
    const answer = (this.#answer ??= await this.#start())
    answer.check()
    const size = this.#size
    const batch = withBlocks(() => answer.next(size))
    this.#batch = batch instanceof Promise ? await batch : batch
    this.#at = 0
    // At once where that was all: most questions have few results.
    if (answer.isDone) return this.#end()
    this.#size = Math.min(mostBatch, 4 * size)
    if (++this.#batches % batchesPerTurn === 0) await turn()
  }

  async #start(): Promise<Answer<T>> {
    const answer = await this.#ask()
    this.#held.end = () => answer.end()
    if (this.#ended)
      this.#release() // left while it was being asked
    else dropped.register(this, this.#held, this.#held)
    return answer
  }

  /** No more is made; what was made is still given, unless the reader has left. */
  #end(): void {
    this.#ended = true
    this.#release()
  }

  #release(): void {
    const { end } = this.#held
    if (end === undefined) return
    delete this.#held.end
    dropped.unregister(this.#held)
    end()
  }
}
