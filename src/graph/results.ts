import { setImmediate as turn } from 'node:timers/promises'
import { afterMiss, Miss } from './miss.js'

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

const dropped = new FinalizationRegistry<Held>((held) => held.end())

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
  readonly #held = new Held()

  constructor(ask: () => Answer<T> | Promise<Answer<T>>, closing: AbortSignal) {
    this.#ask = ask
    this.#closing = closing
  }

  // Closures of a method cost each of its calls room for what they hold: those are in others.
  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#working !== undefined) return this.#goBehind(this.#working)
    try {
      const result = this.#advance()
      return result instanceof Promise ? this.#waitFor(result) : Promise.resolve(result)
    } catch (error) {
      return this.throw(error)
    }
  }

  #waitFor(result: Promise<IteratorResult<T, undefined>>): Promise<IteratorResult<T, undefined>> {
    return this.#follow(this.#finish(() => result))
  }

  #goBehind(before: Promise<unknown>): Promise<IteratorResult<T, undefined>> {
    const then = () => this.#finish(() => this.#advance())
    return this.#follow(before.then(then, then))
  }

  #follow(step: Promise<IteratorResult<T, undefined>>): Promise<IteratorResult<T, undefined>> {
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
    while (this.#at === this.#batch.length) {
      if (this.#ended) return { done: true, value: undefined }
      const filled = this.#fill()
      if (filled !== undefined) return this.#advanceAfter(filled)
    }
    this.#answer?.check()
    return { done: false, value: this.#batch[this.#at++] as T }
  }

  async #advanceAfter(filled: Promise<void>): Promise<IteratorResult<T, undefined>> {
    await filled
    return this.#advance()
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
      if (asked instanceof Promise) return this.#beginWith(asked)
      this.#begin(asked)
    }
    const answer = this.#answer as Answer<T> | undefined
    if (answer === undefined) return undefined // left while it was being asked
    answer.check()
    let batch: T[]
    try {
      batch = answer.next(this.#size)
    } catch (error) {
      if (error instanceof Miss) return this.#fillAfter(error, answer)
      throw error
    }
    this.#take(batch, answer)
    if (this.#ended || ++this.#batches % batchesPerTurn !== 0) return undefined
    return turn()
  }

  async #beginWith(asked: Promise<Answer<T>>): Promise<void> {
    this.#begin(await asked)
  }

  async #fillAfter(miss: Miss, answer: Answer<T>): Promise<void> {
    const next = () => answer.next(this.#size)
    this.#take(await afterMiss(next, miss, () => answer.check()), answer)
  }

  #begin(answer: Answer<T>): void {
    if (this.#ended) return answer.end()
    this.#answer = answer
    this.#held.answer = answer
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
    if (held.answer === undefined) return
    if (closing.aborted) return held.end()
    const letGo = () => held.end()
    held.ended = () => {
      closing.removeEventListener('abort', letGo)
      dropped.unregister(held)
    }
    closing.addEventListener('abort', letGo, { once: true })
    dropped.register(this, held, held)
  }

  /** No more is made; what was made is still given, unless the reader has left. */
  #end(): void {
    this.#ended = true
    this.#held.end()
  }
}

/** The answer of a question, until it has let go of what it holds. */
class Held {
  answer: Pick<Answer<unknown>, 'end'> | undefined
  ended: (() => void) | undefined

  end(): void {
    const { answer, ended } = this
    if (answer === undefined) return
    this.answer = undefined
    ended?.()
    answer.end()
  }
}
