// Basic graph patterns by nested loops over the index, depth first: each pattern is looked up with
// what the ones before it bound. Ids alone, and nothing is made per row but cursors: measured, see
// benchmarks; change with numbers.

import { LorekeepError } from '../../errors.js'
import { Miss } from '../miss.js'
import type { QueryPattern, Variable } from '../types.js'
import type { Within } from '../within.js'
import { NONE, type PartedView, type Rows } from '../view.js'
import { Decision, type JoinStep } from './decision.js'
import { makePlan, type Plan } from './plan.js'
import { RowSet } from '../row-set.js'

export interface SolverOptions {
  /** All variables by default. */
  readonly select?: readonly Variable[] | undefined
  readonly distinct?: boolean | undefined
  readonly limit?: number | undefined
  /** Of what `distinct` remembers. */
  readonly maxDistinctBytes?: number | undefined
}

/** What is to be done at the depth where the solver is. */
type Phase = typeof choosing | typeof opening | typeof pulling
const choosing = 0
const opening = 1
const pulling = 2

/** Rows that one call goes through. Some milliseconds. */
const maxWork = 20_000

export class Solver {
  /** Names of the columns that solutions have, without the `?`. */
  readonly names: readonly string[]
  readonly #view: PartedView
  readonly #plan: Plan
  /** Undefined where no two solutions can be the same, or may. */
  readonly #seen: RowSet | undefined
  readonly #maxDistinctBytes: number
  #left: number
  /** How many of the constants are in their slots. */
  #found = 0
  // How far it came: after a Miss it goes on from here. At depth -1 all is done; at a depth of as
  // many as there are patterns, all of them hold.
  #depth = 0
  #phase: Phase = choosing
  // By depth.
  readonly #decisions: Decision[]
  readonly #steps: JoinStep[] = []
  readonly #cursors: Rows[] = []

  /** @throws LorekeepError `LK_GRAPH_QUERY` where a selected variable is in no pattern */
  constructor(view: PartedView, patterns: readonly QueryPattern[], options: SolverOptions = {}) {
    const { select, distinct = false, limit = Infinity, maxDistinctBytes = Infinity } = options
    this.#maxDistinctBytes = maxDistinctBytes
    this.#view = view
    this.#plan = makePlan(view, patterns, select)
    this.names = this.#plan.names
    this.#seen = distinct && this.#plan.canRepeat ? new RowSet(this.names.length) : undefined
    this.#left = limit
    this.#decisions = [new Decision(this.#plan, this.#plan.patterns, [])]
  }

  /** True where no solution is left. */
  get isDone(): boolean {
    return this.#depth < 0 || this.#left === 0
  }

  /**
   * Fills `out` with the ids of up to `most` solutions, `names.length` each, and returns how many.
   * There may be more until `isDone`, also after none: it comes back after some work, so that
   * others get their turn. Throws a Miss only where it has none to return; that loses nothing.
   */
  next(out: Float64Array, most: number): number {
    if (this.#found < this.#plan.constants.length && !this.#findConstants()) this.#depth = -1
    const view = this.#view
    const seen = this.#seen
    if (seen !== undefined && seen.bytes > this.#maxDistinctBytes) {
      const detail = `its distinct solutions take more than ${this.#maxDistinctBytes} bytes`
      throw new LorekeepError('LK_QUERY_BUDGET', detail)
    }
    const { patterns, values, columns } = this.#plan
    const value = (slot: number) => values[slot] as number
    const end = Math.min(most, this.#left)
    let depth = this.#depth
    let phase = this.#phase
    let count = 0
    try {
      for (let work = 0; depth >= 0 && count < end && work < maxWork; work++) {
        if (depth === patterns.length) {
          const at = count * columns.length
          for (let i = 0; i < columns.length; i++) out[at + i] = value(columns[i] as number)
          if (seen === undefined || seen.add(out, at)) count++
          depth = seen === undefined ? depth - 1 : this.#lastSelecting()
          phase = pulling
          continue
        }
        if (phase === choosing) {
          this.#steps[depth] = (this.#decisions[depth] as Decision).choose(view, values)
          phase = opening
        }
        const step = this.#steps[depth] as JoinStep
        if (step.isCheck) {
          // Pulled once: what is to be checked holds or does not.
          const holds =
            phase === opening &&
            view.has(value(step.s), value(step.p), value(step.o), value(step.g)) &&
            (step.check === undefined || step.check.holds(value(step.o)))
          phase = holds ? choosing : pulling
          if (!holds) depth--
          else if (++depth < patterns.length) this.#decisions[depth] = step.next
          continue
        }
        if (phase === opening) {
          const { s, p, o, g, within, check } = step
          if (check !== undefined && !check.holds(value(o))) {
            phase = pulling
            depth--
            continue
          }
          this.#cursors[depth] =
            within === undefined
              ? view.rows(value(s), value(p), value(o), value(g))
              : this.#rowsWithin(within, value(s), value(p), value(g))
          phase = pulling
        }
        const rows = this.#cursors[depth] as Rows
        if (!rows.next()) {
          depth--
          continue
        }
        if (step.isRepeating && !step.accepts(rows.s, rows.p, rows.o, rows.g)) continue
        values[step.toS] = rows.s
        values[step.toP] = rows.p
        values[step.toO] = rows.o
        values[step.toG] = rows.g
        phase = choosing
        if (++depth < patterns.length) this.#decisions[depth] = step.next
      }
    } catch (error) {
      // What was found goes out; the next call comes to the same place.
      if (count === 0 || !(error instanceof Miss)) throw error
    } finally {
      this.#depth = depth
      this.#phase = phase
      this.#left -= count
    }
    return count
  }

  #rowsWithin(within: Within, s: number, p: number, g: number): Rows {
    return within.rows(s, p, (o) => this.#view.rows(s, p, o, g))
  }

  /** False where the graph does not have one of them. */
  #findConstants(): boolean {
    const { constants, values } = this.#plan
    for (; this.#found < constants.length; this.#found++) {
      const { slot, term } = constants[this.#found] as (typeof constants)[number]
      const id = this.#view.find(term)
      if (id === NONE) return false
      values[slot] = id
    }
    return true
  }

  /** The deepest step that can still lead to another solution: those below bind nothing of it. */
  #lastSelecting(): number {
    let depth = this.#plan.patterns.length - 1
    while (depth >= 0 && !(this.#steps[depth] as JoinStep).isSelecting) depth--
    return depth
  }
}
