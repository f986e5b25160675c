// Rows in the graphs that a question names.

import type { TriplePattern } from './types.js'
import { ANY, DEFAULT, NAMED, NONE, UNION, type GraphView, type Rows } from './view.js'

/** As a row has it, or as it is asked for. */
export function graphId(view: GraphView, g: string | null | undefined): number {
  if (g === undefined) return ANY
  if (g === null) return DEFAULT
  return g.startsWith('?') ? NAMED : view.find({ v: g, e: true })
}

export function rowsIn(
  view: GraphView,
  s: number,
  p: number,
  o: number,
  g: TriplePattern['g'],
): Rows {
  if (!isList(g)) return view.rows(s, p, o, graphId(view, g))
  // A list has names alone: also of one that looks like a variable.
  const graphs = [...new Set(g)].map((v) => (v === null ? DEFAULT : view.find({ v, e: true })))
  return new UnionRows(view, [s, p, o], graphs)
}

export const isList = (g: TriplePattern['g']): g is readonly (string | null)[] => Array.isArray(g)

/** The rows of some of the graphs, each told by the first of them that has it. */
class UnionRows implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  readonly g = UNION
  readonly #view: GraphView
  readonly #pattern: readonly [s: number, p: number, o: number]
  readonly #graphs: readonly number[]
  #at = 0
  #rows: Rows | undefined
  /** A row was taken, and not told yet: a block was missing. */
  #pending = false

  constructor(
    view: GraphView,
    pattern: readonly [s: number, p: number, o: number],
    graphs: readonly number[],
  ) {
    this.#view = view
    this.#pattern = pattern
    this.#graphs = graphs
  }

  next(): boolean {
    while (this.#at < this.#graphs.length) {
      const g = this.#graphs[this.#at]
      const rows = (this.#rows ??= this.#view.rows(...this.#pattern, g))
      if (!this.#pending && !rows.next()) {
        this.#rows = undefined
        this.#at++
        continue
      }
      this.#pending = true
      const { s, p, o } = rows
      let isRepeat = false
      for (let n = 0; n < this.#at && !isRepeat; n++) {
        isRepeat = this.#view.has(s, p, o, this.#graphs[n])
      }
      this.#pending = false
      if (isRepeat) continue
      this.s = s
      this.p = p
      this.o = o
      return true
    }
    return false
  }
}
