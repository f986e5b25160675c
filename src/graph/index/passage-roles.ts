// Which predicates make something a passage, and say what belongs to it.

import { passagePredicates } from '../../vocabulary.js'
import type { TermTable } from './term-table.js'

/** What a triple says of a passage, or of its document. */
export const ROLE = {
  NONE: 1,
  TEXT: 2,
  TITLE: 3,
  HEADING: 4,
  PART_OF: 5,
  BEGIN: 6,
  END: 7,
  LABEL: 8,
  FROM: 9,
  PAGE: 10,
  MAIN_ENTITY: 11,
} as const

const predicates: readonly (readonly [role: number, names: readonly string[]])[] = [
  [ROLE.TEXT, passagePredicates.text],
  [ROLE.TITLE, passagePredicates.title],
  [ROLE.HEADING, passagePredicates.heading],
  [ROLE.PART_OF, passagePredicates.partOf],
  [ROLE.BEGIN, passagePredicates.begin],
  [ROLE.END, passagePredicates.end],
  [ROLE.PAGE, passagePredicates.page],
  [ROLE.LABEL, passagePredicates.label],
  [ROLE.MAIN_ENTITY, passagePredicates.mainEntity],
  [ROLE.FROM, passagePredicates.from],
]

const roles = new Map(predicates.flatMap(([role, names]) => names.map((name) => [name, role])))

/** Lengths of these predicates in bytes: hardly any other is decoded to be looked up. */
const lengths = new Set([...roles.keys()].map((name) => name.length))

/** Predicates that have their roles at hand. */
const mostKnown = 1 << 10

/** By number of a predicate its role. */
export class PredicateRoles {
  readonly #terms: TermTable
  readonly #known = new Uint8Array(mostKnown)
  readonly #others = new Map<number, number>()

  constructor(terms: TermTable) {
    this.#terms = terms
  }

  of(predicate: number): number {
    if (predicate < mostKnown) {
      const known = this.#known[predicate] as number
      return known > 0 ? known : (this.#known[predicate] = this.#find(predicate))
    }
    let role = this.#others.get(predicate)
    if (role === undefined) this.#others.set(predicate, (role = this.#find(predicate)))
    return role
  }

  clear(): void {
    this.#known.fill(0)
    this.#others.clear()
  }

  #find(predicate: number): number {
    const terms = this.#terms
    if (!lengths.has(terms.byteLengthOf(predicate))) return ROLE.NONE
    return roles.get(terms.textOf(predicate)) ?? ROLE.NONE
  }
}
