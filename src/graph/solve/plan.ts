// The patterns of a question, with numbered slots in place of variables and terms.

import { isSame } from '../../terms.js'
import type { Term } from '../../types.js'
import { Problems } from '../../door/problems.js'
import { quoted } from '../../door/wording.js'
import type { QueryPattern, Variable } from '../types.js'
import { rangeOf } from '../value/range.js'
import { Within } from '../within.js'
import { ANY, DEFAULT, NAMED, UNION, type PartedView } from '../view.js'

/** Holds ANY, to look up open places with. */
export const anySlot = 0
/** Takes values that nobody needs. */
export const sinkSlot = 1
// Hold what graphs are looked up with.
const unionSlot = 2
const defaultSlot = 3
export const namedSlot = 4
export const firstVariable = 5

/** The slot of each place. Those of variables come first, then those of constants. */
export interface Pattern {
  readonly s: number
  readonly p: number
  readonly o: number
  readonly g: number
  /** What the object may be. */
  readonly within: Within | undefined
}

interface Constant {
  readonly slot: number
  readonly term: Term
}

export interface Plan {
  readonly patterns: readonly Pattern[]
  /** By slot. Those of constants are still to be filled. */
  readonly values: number[]
  readonly constants: readonly Constant[]
  readonly firstConstant: number
  /** What results have: names without the `?`, and their slots. */
  readonly names: readonly string[]
  readonly columns: readonly number[]
  /** True where results leave out a variable, so that two of them can be the same. */
  readonly canRepeat: boolean
}

/**
 * Small questions are asked by the thousand, so this takes care to make little.
 * @throws LorekeepError `LK_GRAPH_QUERY` where a selected variable is in no pattern
 */
export function makePlan(
  view: PartedView,
  queried: readonly QueryPattern[],
  select: readonly Variable[] | undefined,
): Plan {
  const variables: Variable[] = []
  for (const { s, p, o, g } of queried) {
    for (const place of [s, p, o, isVariable(g) ? g : undefined]) {
      if (typeof place === 'string' && !variables.includes(place)) variables.push(place)
    }
  }
  const firstConstant = firstVariable + variables.length
  const constants: Constant[] = []
  const slot = (place: Term | Variable): number => {
    if (typeof place === 'string') return firstVariable + variables.indexOf(place)
    for (const { slot, term } of constants) {
      if (isSame(term, place)) return slot
    }
    return (
      constants.push({ slot: firstConstant + constants.length, term: place }) - 1 + firstConstant
    )
  }
  const graph = (g: string | null | undefined): number => {
    if (g === undefined) return unionSlot
    if (g === null) return defaultSlot
    return slot(isVariable(g) ? g : { v: g, e: true })
  }
  const patterns = queried.map(({ s, p, o, g, filter }): Pattern => ({
    s: slot(s),
    p: slot(p),
    o: slot(o),
    g: graph(g),
    within: filter && new Within(view, rangeOf(filter)),
  }))
  // A plain array: small numbers out of a Float64Array are boxed on their way into the view.
  const values = new Array<number>(firstConstant + constants.length).fill(0)
  values[anySlot] = ANY
  values[unionSlot] = UNION
  values[defaultSlot] = DEFAULT
  values[namedSlot] = NAMED
  const selected = select ?? variables
  if (!selected.every((variable) => variables.includes(variable))) refuse(selected, variables)
  return {
    patterns,
    values,
    constants,
    firstConstant,
    names: selected.map((variable) => variable.slice(1)),
    columns: selected.map(slot),
    canRepeat: !variables.every((variable) => selected.includes(variable)),
  }
}

function isVariable(g: string | null | undefined): g is Variable {
  return g?.startsWith('?') === true
}

function refuse(selected: readonly Variable[], variables: readonly Variable[]): never {
  const problems = new Problems()
  for (const [n, variable] of selected.entries()) {
    if (variables.includes(variable)) continue
    problems.fail(`select[${n}]`, () => `is ${quoted(variable)}, which is in none of the patterns`)
  }
  throw problems.error('LK_GRAPH_QUERY')
}
