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

/** The graph, or the graphs, that a question names. */
export class AskedGraphs {
  readonly #view: GraphView
  readonly #rowsOf: GraphView['rows']
  readonly #one: string | null | undefined
  readonly #names: readonly (string | null)[] | undefined
  /** The ids of those that were found. */
  readonly #ids: number[] = []
  #union: Union | undefined

  /** `rowsOf` gives those of a single graph. */
  constructor(
    view: GraphView,
    g: TriplePattern['g'],
    rowsOf: GraphView['rows'] = (...pattern) => view.rows(...pattern),
  ) {
    this.#view = view
    this.#rowsOf = rowsOf
    if (isList(g)) this.#names = [...new Set(g)]
    else this.#one = g
  }

  /**
   * The rows of a pattern in them, one of a single graph with the graph that it is in. May throw a Miss, and looks for
   * graphs from where it was: all names together may lie in more blocks than memory holds at once.
   */
  rows(s: number, p: number, o: number): Rows {
    const [view, names, ids] = [this.#view, this.#names, this.#ids]
    if (names === undefined) {
      if (ids.length === 0) ids.push(graphId(view, this.#one))
      return this.#rowsOf(s, p, o, ids[0])
    }
    while (ids.length < names.length) {
      const v = names[ids.length] as string | null
      // A list has names alone: also of one that looks like a variable.
      ids.push(v === null ? DEFAULT : view.find({ v, e: true }))
    }
    this.#union ??= { graphs: ids, places: new Map(ids.map((g, n) => [g, n])), passed: 0 }
    return new UnionRows(view, [s, p, o], this.#union)
  }
}

/** Some graphs. */
interface Union {
  readonly graphs: readonly number[]
  /** By id. */
  readonly places: ReadonlyMap<number, number>
  /** Graphs without rows, and rows that were told, of all patterns: each may have few. */
  passed: number
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
  readonly #union: Union
  #at = 0
  #rows: Rows | undefined
  /** A row was taken, and not told yet: a block was missing. */
  #pending = false
  /** The graphs of the row that was taken, where they are looked through. */
  #earlier: Rows | undefined

  constructor(view: GraphView, pattern: readonly [s: number, p: number, o: number], union: Union) {
    this.#view = view
    this.#pattern = pattern
    this.#union = union
  }

  next(): boolean {
    const { graphs } = this.#union
    while (this.#at < graphs.length) {
      const g = graphs[this.#at]
      const rows = (this.#rows ??= this.#view.rows(...this.#pattern, g))
      if (!this.#pending && !rows.next()) {
        this.#rows = undefined
        this.#at++
        this.#pass()
        continue
      }
      this.#pending = true
      const { s, p, o } = rows
      const isRepeat = this.#wasTold(s, p, o)
      this.#pending = false
      if (isRepeat) {
        this.#pass()
        continue
      }
      this.s = s
      this.p = p
      this.o = o
      return true
    }
    return false
  }

  #pass(): void {
    if (++this.#union.passed % patience.rows === 0) throw pause()
  }

  /** True where an earlier graph has it: those are asked one by one, or all that it is in. */
  #wasTold(s: number, p: number, o: number): boolean {
    const view = this.#view
    const { graphs, places } = this.#union
    const end = this.#at
    if (end <= fewGraphs) {
      for (let n = 0; n < end; n++) if (view.has(s, p, o, graphs[n])) return true
      return false
    }
    // Kept between calls: begun anew after each pause it would not end.
    const rows = (this.#earlier ??= view.rows(s, p, o, ANY))
    let isTold = false
    while (!isTold && rows.next()) isTold = (places.get(rows.g) ?? end) < end
    this.#earlier = undefined
    return isTold
  }
}

/** More than most triples are in. */
const fewGraphs = 8
