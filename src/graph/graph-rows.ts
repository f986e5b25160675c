// Rows in the graphs that a question names.

import { patience, pause } from './miss.js'
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
  #passed = 0
  /** The graphs of the row that was taken, where they are looked through. */
  #earlier: Rows | undefined
  /** By id. */
  readonly #places: ReadonlyMap<number, number>

  constructor(
    view: GraphView,
    pattern: readonly [s: number, p: number, o: number],
    graphs: readonly number[],
  ) {
    this.#view = view
    this.#pattern = pattern
    this.#graphs = graphs
    this.#places = new Map(graphs.map((g, n) => [g, n]))
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
      const isRepeat = this.#wasTold(s, p, o)
      this.#pending = false
      if (isRepeat) {
        if (++this.#passed % patience.rows === 0) throw pause()
        continue
      }
      this.s = s
      this.p = p
      this.o = o
      return true
    }
    return false
  }

  /** True where an earlier graph has it: those are asked one by one, or all that it is in. */
  #wasTold(s: number, p: number, o: number): boolean {
    const view = this.#view
    const end = this.#at
    if (end <= fewGraphs) {
      for (let n = 0; n < end; n++) if (view.has(s, p, o, this.#graphs[n])) return true
      return false
    }
    // Kept between calls: begun anew after each pause it would not end.
    const rows = (this.#earlier ??= view.rows(s, p, o, ANY))
    let isTold = false
    while (!isTold && rows.next()) isTold = (this.#places.get(rows.g) ?? end) < end
    this.#earlier = undefined
    return isTold
  }
}

/** More than most triples are in. */
const fewGraphs = 8
