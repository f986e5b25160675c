// Reading a view step by step: what waits for blocks waits together with others.

import { Turns } from '../../turns.js'
import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import { Taking } from '../taking.js'
import type { GraphView } from '../view.js'

/** What waits for its blocks at the same time. */
const batch = 16

export class GraphReader {
  readonly view: GraphView
  readonly #turns: Turns
  readonly #terms = new Map<number, Term>()

  constructor(view: GraphView, signal: AbortSignal | undefined) {
    this.view = view
    this.#turns = new Turns(signal)
  }

  /** May throw a Miss. */
  term(id: number): Term {
    const known = this.#terms.get(id)
    if (known !== undefined) return known
    const term = this.view.term(id)
    this.#terms.set(id, term)
    return term
  }

  /**
   * What `work` returns, called again after each block it missed. It has to take the same rows in the same order
   * each time: those that were taken before are not read again.
   */
  run<T>(work: (taking: Taking) => T): T | Promise<T> {
    const taking = new Taking(this.view)
    return withBlocks(() => {
      taking.begin()
      return work(taking)
    })
  }

  /** What `work` makes of each item, in their order. */
  async each<T, R>(items: readonly T[], work: (item: T) => R | Promise<R>): Promise<R[]> {
    const results: R[] = []
    for await (const some of this.batches(items, work)) results.push(...some)
    return results
  }

  /** each(), some at a time. Rejects once the signal was aborted. */
  async *batches<T, R>(
    items: readonly T[],
    work: (item: T) => R | Promise<R>,
  ): AsyncGenerator<R[], void, undefined> {
    for (let from = 0; from < items.length; from += batch) {
      yield await together(items.slice(from, from + batch), work)
      // Where every block is in memory, nothing else lets go of the thread.
      await this.#turns.pass()
    }
  }
}

async function together<T, R>(
  items: readonly T[],
  work: (item: T) => R | Promise<R>,
): Promise<R[]> {
  const results: (R | Promise<R>)[] = []
  try {
    for (const item of items) results.push(work(item))
  } catch (error) {
    // What else is under way may fail as well, and somebody has to hear of it.
    await Promise.allSettled(results)
    throw error
  }
  // Most are there at once, and to wait for each of them takes longer than the work.
  const isWaiting = results.some((result) => result instanceof Promise)
  return isWaiting ? Promise.all(results) : (results as R[])
}
