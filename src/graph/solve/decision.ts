// In which order patterns are looked up. It is decided while solving: the pattern that has the
// fewest rows for what is bound comes next. The first bindings to get there are looked at one by
// one; from then on the best on average is taken, with a look at one binding now and then.

import type { Within } from '../within.js'
import type { GraphView } from '../view.js'
import { anySlot, firstVariable, namedSlot, sinkSlot, type Pattern, type Plan } from './plan.js'

/** A pattern of which some places are bound. */
export class JoinStep {
  // Slots to look up with: that of ANY where the place is open.
  readonly s: number
  readonly p: number
  readonly o: number
  readonly g: number
  // Slots that take what a row has: the sink where the place was bound.
  readonly toS: number
  readonly toP: number
  readonly toO: number
  readonly toG: number
  /** True where no place is open. */
  readonly isCheck: boolean
  /** True where a variable is in two open places, which a row must have equal. */
  readonly isRepeating: boolean
  /** What an open object may be. */
  readonly within: Within | undefined
  /** What an object that is bound has to be. */
  readonly check: Within | undefined
  readonly #plan: Plan
  readonly #patterns: readonly Pattern[]
  readonly #pattern: Pattern
  readonly #bound: readonly number[]
  #next: Decision | undefined

  /** `pattern` is one of `patterns`, which are yet to be looked up; `bound` has slots of variables. */
  constructor(
    plan: Plan,
    patterns: readonly Pattern[],
    pattern: Pattern,
    bound: readonly number[],
  ) {
    const { s, p, o, g } = pattern
    const isOpen = (slot: number) =>
      slot >= firstVariable && slot < plan.firstConstant && !bound.includes(slot)
    const [openS, openP, openO, openG] = [isOpen(s), isOpen(p), isOpen(o), isOpen(g)]
    this.s = openS ? anySlot : s
    this.p = openP ? anySlot : p
    this.o = openO ? anySlot : o
    this.g = openG ? namedSlot : g
    this.toS = openS ? s : sinkSlot
    this.toP = openP ? p : sinkSlot
    this.toO = openO ? o : sinkSlot
    this.toG = openG ? g : sinkSlot
    this.isCheck = !openS && !openP && !openO && !openG
    this.isRepeating =
      (openS && (s === p || s === o)) || (openP && p === o) || (openG && [s, p, o].includes(g))
    this.within = openO ? pattern.within : undefined
    this.check = openO ? undefined : pattern.within
    this.#plan = plan
    this.#patterns = patterns
    this.#pattern = pattern
    this.#bound = bound
  }

  /** Of the patterns that are left. */
  get next(): Decision {
    if (this.#next === undefined) {
      const rest = this.#patterns.filter((pattern) => pattern !== this.#pattern)
      const { toS, toP, toO, toG } = this
      this.#next = new Decision(this.#plan, rest, [...this.#bound, toS, toP, toO, toG])
    }
    return this.#next
  }

  /** True where a variable that results have gets its value. */
  get isSelecting(): boolean {
    const { columns } = this.#plan
    return [this.toS, this.toP, this.toO, this.toG].some((slot) => columns.includes(slot))
  }

  /** False for a row with two values for one variable. */
  accepts(s: number, p: number, o: number, g: number): boolean {
    const { toS, toP, toO, toG } = this
    if (toG !== sinkSlot) {
      if ((toG === toS && g !== s) || (toG === toP && g !== p) || (toG === toO && g !== o)) {
        return false
      }
    }
    if (toS !== sinkSlot && ((toS === toP && s !== p) || (toS === toO && s !== o))) return false
    return toP === sinkSlot || toP !== toO || p === o
  }
}

const firstLooks = 32
/** After those, one binding in so many. */
const lookingEvery = 64

/** A point in solving where some patterns hold and one of the others is to come next. */
export class Decision {
  readonly #steps: readonly JoinStep[]
  readonly #dependsOnBindings: boolean
  /** Rows of each step for the binding at hand. A Miss may come after some of them. */
  readonly #estimates: number[] = []
  /** Rows of each step for all bindings that were looked at. */
  readonly #sums: number[]
  #visits = 0
  #settled: JoinStep | undefined

  constructor(plan: Plan, patterns: readonly Pattern[], bound: readonly number[]) {
    const steps = patterns.map((pattern) => new JoinStep(plan, patterns, pattern, bound))
    const check = steps.find((step) => step.isCheck)
    // What shares no variable with the others multiplies their solutions, so it comes last.
    const connected = steps.filter((_, n) => isConnected(patterns[n] as Pattern, bound))
    this.#dependsOnBindings = connected.length > 0
    if (check !== undefined) this.#steps = [check]
    else this.#steps = this.#dependsOnBindings ? connected : steps
    this.#sums = this.#steps.map(() => 0)
    if (this.#steps.length === 1) this.#settled = this.#steps[0]
  }

  /** What to look up for this binding. Goes on where it was after a Miss. */
  choose(view: GraphView, values: readonly number[]): JoinStep {
    const settled = this.#settled
    if (settled !== undefined && this.#estimates.length === 0) {
      const looks = this.#steps.length > 1 && this.#dependsOnBindings
      if (!looks || ++this.#visits % lookingEvery !== 0) return settled
    }
    return this.#look(view, values)
  }

  #look(view: GraphView, values: readonly number[]): JoinStep {
    const estimates = this.#estimates
    for (let n = estimates.length; n < this.#steps.length; n++) {
      const { s, p, o, g, within } = this.#steps[n] as JoinStep
      const value = (slot: number) => values[slot] as number
      estimates.push(
        within === undefined
          ? view.estimate(value(s), value(p), value(o), value(g))
          : within.estimate(value(s), value(p), value(g)),
      )
    }
    estimates.forEach((rows, n) => ((this.#sums[n] as number) += rows))
    const best = this.#steps[leastOf(estimates)] as JoinStep
    estimates.length = 0
    const isKnown = !this.#dependsOnBindings || ++this.#visits >= firstLooks
    if (isKnown) this.#settled = this.#steps[leastOf(this.#sums)] as JoinStep
    return best
  }
}

function isConnected({ s, p, o, g }: Pattern, bound: readonly number[]): boolean {
  return bound.includes(s) || bound.includes(p) || bound.includes(o) || bound.includes(g)
}

function leastOf(numbers: readonly number[]): number {
  return numbers.indexOf(Math.min(...numbers))
}
