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

/**
 * Questions with more to come, whose readers may yet take all of it at once: most do. Each that was
 * registered with `dropped` in a stream of questions, and taken back, made the collector of garbage
 * copy all of them, as the cells of a registry name each other: a quarter of the time of a lookup.
 */
const begun: Results<unknown>[] = []
const mostBegun = 64

function holdBegun(): void {
  for (const question of begun.splice(0)) question.holdOn()
}

/**
 * The results of a question, which is asked when the first one is. When `closing` aborts, a question
 * that was begun lets go of what it holds.
 */
export function results<T>(
  ask: () => Answer<T> | Promise<Answer<T>>,
  closing: AbortSignal,
): AsyncIterable<T> {
  return { [Symbol.asyncIterator]: () => new Results(ask, closing) }
}

class Results<T> implements AsyncIterator<T, undefined> {
  readonly #ask: () => Answer<T> | Promise<Answer<T>>
  readonly #closing: AbortSignal
  #answer: Answer<T> | undefined
  #batch: T[] = []
  #at = 0
  #size = firstBatch
  #batches = 0
  #ended = false
  #isLeft = false
  /** The last call of next() that is under way; others wait behind it. */
  #working: Promise<IteratorResult<T, undefined>> | undefined
  /** What a reader that goes away without a word leaves behind. */
  readonly #held: { end?: () => void } = {}

  constructor(ask: () => Answer<T> | Promise<Answer<T>>, closing: AbortSignal) {
    this.#ask = ask
    this.#closing = closing
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const before = this.#working
    let step: Promise<IteratorResult<T, undefined>>
    if (before === undefined) {
      try {
        const result = this.#advance()
        if (!(result instanceof Promise)) return Promise.resolve(result)
        step = this.#finish(() => result)
      } catch (error) {
        return this.throw(error)
      }
    } else {
      const then = () => this.#finish(() => this.#advance())
      step = before.then(then, then)
    }
    this.#working = step
    const settled = () => {
      if (this.#working === step) this.#working = undefined
    }
    step.then(settled, settled)
    return step
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
    this.#isLeft = true
    this.#batch = []
    this.#at = 0
    this.#end()
  }

  /** At once where nothing has to be waited for: most questions are answered from memory. */
  #advance(): IteratorResult<T, undefined> | Promise<IteratorResult<T, undefined>> {
    for (;;) {
      if (this.#at < this.#batch.length) {
        this.#answer?.check()
        return { done: false, value: this.#batch[this.#at++] as T }
      }
      if (this.#ended) return { done: true, value: undefined }
      const filled = this.#fill()
      if (filled !== undefined) return filled.then(() => this.#advance())
    }
  }

  async #finish(
    advance: () => IteratorResult<T, undefined> | Promise<IteratorResult<T, undefined>>,
  ): Promise<IteratorResult<T, undefined>> {
    try {
      return await advance()
    } catch (error) {
      // What it read may be gone since the reader has left.
      if (this.#isLeft) return { done: true, value: undefined }
      return this.throw(error)
    }
  }

  #fill(): undefined | Promise<void> {
    if (this.#answer === undefined) {
      const asked = this.#ask()
      if (asked instanceof Promise) return asked.then((answer) => this.#begin(answer))
      this.#begin(asked)
    }
    const answer = this.#answer as Answer<T> | undefined
    if (answer === undefined) return undefined // left while it was being asked
    answer.check()
    const size = this.#size
    const batch = withBlocks(
      () => answer.next(size),
      () => answer.check(),
    )
    if (batch instanceof Promise) return batch.then((made) => this.#take(made, answer))
    this.#take(batch, answer)
    if (this.#ended || ++this.#batches % batchesPerTurn !== 0) return undefined
    return turn()
  }

  #begin(answer: Answer<T>): void {
    if (this.#ended) return answer.end()
    this.#answer = answer
    this.#held.end = () => answer.end()
  }

  #take(batch: T[], answer: Answer<T>): void {
    if (this.#ended) return
    this.#batch = batch
    this.#at = 0
    // At once where that was all: most questions have few results.
    if (answer.isDone) return this.#end()
    if (this.#size === firstBatch) this.#willHoldOn()
    this.#size = Math.min(mostBatch, 4 * this.#size)
  }

  #willHoldOn(): void {
    const count = begun.push(this)
    if (count === 1) setImmediate(holdBegun)
    else if (count === mostBegun) holdBegun()
  }

  /** There is more to come: a reader may pause, or be forgotten, and a store is to be closed then. */
  holdOn(): void {
    const held = this.#held
    const closing = this.#closing
    const { end } = held
    if (end === undefined) return
    const letGo = () => {
      delete held.end
      end()
    }
    if (closing.aborted) return letGo()
    held.end = () => {
      closing.removeEventListener('abort', letGo)
      dropped.unregister(held)
      letGo()
    }
    closing.addEventListener('abort', letGo, { once: true })
    dropped.register(this, held, held)
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
    end()
  }
}
