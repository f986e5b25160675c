import { setImmediate as turn } from 'node:timers/promises'
import type { Term, Triple } from '../types.js'
import { Miss, withBlocks } from './miss.js'
import type { Answer } from './results.js'
import type { TriplePattern } from './types.js'
import { AskedGraphs, graphId, isList } from './graph-rows.js'
import { RowBatch } from './row-batch.js'
import { rangeOf } from './value/range.js'
import { Within } from './within.js'
import { ANY, type GraphView, type Rows, type TellingView } from './view.js'

/** A view of a version that is held. */
export interface OpenView {
  readonly view: TellingView
  /** Throws where the question may not go on. */
  readonly check: () => void
  readonly release: () => void
}

/** How many triples of a pattern there are, where the view can tell without counting. */
export function exactCount(view: GraphView, pattern: TriplePattern): number | undefined {
  if (!view.isExact || isList(pattern.g) || pattern.filter !== undefined) return undefined
  return view.estimate(...idsOf(view, pattern), graphId(view, pattern.g))
}

function idsOf(view: GraphView, { s, p, o }: TriplePattern): [s: number, p: number, o: number] {
  const id = (term: Term | undefined) => (term === undefined ? ANY : view.find(term))
  return [id(s), id(p), id(o)]
}

/** Rows that are looked at before others get their turn. */
const rowsAtOnce = 10_000

/** The triples of a pattern. */
export class Matches implements Answer<Triple> {
  isDone = false
  readonly #open: OpenView
  readonly #pattern: TriplePattern
  readonly #graphs: AskedGraphs
  readonly #within: Within | undefined
  #left: number
  #rows: Rows | undefined
  readonly #batch: RowBatch

  /** With `rows` it is these that are told. */
  constructor(open: OpenView, pattern: TriplePattern, limit: number, rows?: Rows) {
    this.#open = open
    this.#pattern = pattern
    const { s, p, o, filter } = pattern
    // Languages are spelled in several ways, and xsd:string is left out in a core.
    const known = (term: Term | undefined) =>
      (term?.dt ?? term?.ln) === undefined ? term : undefined
    const told = [known(s), known(p), known(o)] as const
    this.#graphs = new AskedGraphs(open.view, pattern.g, (s, p, o, g = ANY) =>
      open.view.rowsToTell(s, p, o, g),
    )
    this.#within = filter && new Within(open.view, rangeOf(filter))
    this.#rows = rows
    this.#batch = new RowBatch(open.view, told, open.check)
    this.#left = limit
    this.isDone = limit === 0
  }

  next(most: number): Triple[] {
    const batch = this.#batch
    const rows = (this.#rows ??= this.#rowsOf(this.#open.view))
    const triples = batch.next(rows, Math.min(most, this.#left), this.#left)
    this.#left -= triples.length
    this.isDone = this.#left === 0 || batch.isDone
    return triples
  }

  #rowsOf(view: TellingView): Rows {
    const [s, p, o] = idsOf(view, this.#pattern)
    const rowsOf = (object: number) => this.#graphs.rows(s, p, object)
    return this.#within === undefined ? rowsOf(o) : this.#within.rows(s, p, rowsOf)
  }

  /** How many there are, from the cursor on. */
  async count(): Promise<number> {
    const { view } = this.#open
    const rows = await withBlocks(() => this.#rowsOf(view))
    let count = 0
    let until = rowsAtOnce
    for (let isMore = true; isMore;) {
      this.check()
      isMore = await withBlocks(() => {
        const before = count
        try {
          for (; count < until; count++) if (!rows.next()) return false
        } catch (error) {
          // What was counted needs its blocks no more.
          if (!(error instanceof Miss) || count === before) throw error
        }
        return true
      }, this.#open.check)
      if (count < until) continue
      await turn()
      until += rowsAtOnce
    }
    return count
  }

  end(): void {
    this.#open.release()
  }

  check(): void {
    this.#open.check()
  }
}
