// Rows that synchronous work takes, which is called again after each block it missed.

import { ANY, NONE, UNION, type GraphView, type Rows } from './view.js'

export type Row = Readonly<Pick<Rows, 's' | 'p' | 'o'>>

interface TakeOptions {
  readonly most: number
  /** Which rows count. May throw a Miss. */
  readonly accepts: (row: Row) => boolean
  /** Predicates of which no row counts. */
  readonly unwanted?: ReadonlySet<number>
}

/** A hub may have millions of rows that do not count: the question goes on without the rest. */
const mostRead = 100_000

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

/**
 * Pieces of work that whoever called them calls again after each Miss: what they took is kept by their keys until
 * they are done.
 */
export class Takings {
  readonly #view: GraphView
  readonly #begun = new Map<string, Taking>()

  constructor(view: GraphView) {
    this.#view = view
  }

  /** As run() of a reader. May throw a Miss. */
  run<T>(key: string, work: (taking: Taking) => T): T {
    const taking = this.#begun.get(key) ?? new Taking(this.#view)
    this.#begun.set(key, taking)
    taking.begin()
    const done = work(taking)
    this.#begun.delete(key)
    return done
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
