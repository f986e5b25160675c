import type { Term } from '../../types.js'
import type { Bindings, QueryPattern } from '../types.js'
import type { PartedView } from '../view.js'
import { Solver, type SolverOptions } from './solver.js'

/** The solutions of a basic graph pattern as terms. */
export class Solutions {
  readonly #view: PartedView
  readonly #solver: Solver
  #ids = new Float64Array(0)
  /** Solutions that the solver gave and that are not all terms yet. */
  #count = 0
  readonly #terms: Term[] = []

  /** @throws LorekeepError `LK_GRAPH_QUERY` where a selected variable is in no pattern */
  constructor(view: PartedView, patterns: readonly QueryPattern[], options?: SolverOptions) {
    this.#view = view
    this.#solver = new Solver(view, patterns, options)
  }

  /** True where none is left. */
  get isDone(): boolean {
    return this.#count === 0 && this.#solver.isDone
  }

  /**
   * Up to `most` of them. There may be more until `isDone`, also after none: it comes back after
   * some work, so that others get their turn. May throw a Miss, which loses nothing.
   */
  next(most: number): Bindings[] {
    const { names } = this.#solver
    const width = names.length
    if (this.#count === 0) {
      if (this.#ids.length < most * width) this.#ids = new Float64Array(most * width)
      this.#count = this.#solver.next(this.#ids, most)
    }
    const count = this.#count
    const terms = this.#terms
    while (terms.length < count * width)
      terms.push(this.#view.term(this.#ids[terms.length] as number))
    const solutions: Bindings[] = []
    for (let row = 0, at = 0; row < count; row++) {
      const bindings: Record<string, Term> = {}
      for (let i = 0; i < width; i++) bindings[names[i] as string] = terms[at++] as Term
      solutions.push(bindings)
    }
    terms.length = 0
    this.#count = 0
    return solutions
  }
}
