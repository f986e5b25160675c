// Reading a view step by step: what waits for blocks waits together with others.

import { Turns } from '../../turns.js'
import type { Term } from '../../types.js'
import { withBlocks } from '../miss.js'
import { ANY, NONE, UNION, type GraphView, type Rows } from '../view.js'

export type Row = Readonly<Pick<Rows, 's' | 'p' | 'o'>>

interface TakeOptions {
  readonly most: number
  /** Which rows count. May throw a Miss. */
  readonly accepts: (row: Row) => boolean
  /** Predicates of which no row counts. */
  readonly unwanted?: ReadonlySet<number>
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

/** Rows that a piece of work takes. */
export class Taking {
  readonly #view: GraphView
  readonly #taken: Taken[] = []
  #next = 0

  constructor(view: GraphView) {
    this.#view = view
  }

  /** The work begins, for the first time or again. */
  begin(): void {
    this.#next = 0
  }

  /** The first rows of a pattern that are accepted. May throw a Miss. */
  rows(s: number, p: number, o: number, { most, accepts, unwanted }: TakeOptions): readonly Row[] {
    if (s === NONE || p === NONE || o === NONE) return noRows
    const n = this.#next++
    const taken = (this.#taken[n] ??= { rows: [], read: 0, isAt: false })
    const cursor = (taken.cursor ??= this.#view.rows(s, p, o, UNION, unwanted))
    const { rows } = taken
    while (rows.length < most && (taken.isAt || (taken.read < mostRead && cursor.next()))) {
      if (!taken.isAt) taken.read++
      taken.isAt = true
      if (accepts(cursor)) rows.push({ s: cursor.s, p: cursor.p, o: cursor.o })
      taken.isAt = false
    }
    return rows
  }

  /** What the first of these rows leads to; undefined where there is none. May throw a Miss. */
  object(s: number, p: number, accepts: TakeOptions['accepts']): number | undefined {
    return this.rows(s, p, ANY, { most: 1, accepts })[0]?.o
  }
}

interface Taken {
  readonly rows: Row[]
  cursor?: Rows
  read: number
  /** The cursor is at a row that is still to be looked at. */
  isAt: boolean
}

const noRows: readonly Row[] = []
