// Reading a view step by step: what waits for blocks waits together with others.

import { Turns } from '../../turns.js'
import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import type { GraphView, Rows } from '../view.js'

export type Row = Readonly<Pick<Rows, 's' | 'p' | 'o'>>

interface TakeOptions {
  readonly most: number
  /** Which rows count. May throw a Miss. */
  readonly accepts: (row: Row) => boolean
}

/** What waits for its blocks at the same time. */
const batch = 16
/** A hub may have millions of rows that do not count: the question goes on without the rest. */
const mostRead = 100_000

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

  /** The first rows of a pattern that are accepted. */
  take(s: number, p: number, o: number, { most, accepts }: TakeOptions): Row[] | Promise<Row[]> {
    // Kept between the calls of withBlocks(): what was read is not read again.
    const taken: Row[] = []
    let rows: Rows | undefined
    let read = 0
    let isAt = false
    return withBlocks(() => {
      rows ??= this.view.rows(s, p, o)
      while (taken.length < most && (isAt || (read < mostRead && rows.next()))) {
        if (!isAt) read++
        isAt = true
        if (accepts(rows)) taken.push({ s: rows.s, p: rows.p, o: rows.o })
        isAt = false
      }
      return taken
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
      yield await Promise.all(items.slice(from, from + batch).map(work))
      // Where every block is in memory, nothing else lets go of the thread.
      await this.#turns.pass()
    }
  }
}
