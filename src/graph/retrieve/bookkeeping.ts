// What of a graph is knowledge, and what only keeps the books: names, and where things were said.

import { passagePredicates, vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { NONE, type GraphView } from '../view.js'
import type { Row } from '../taking.js'

type Ids = Readonly<Record<keyof typeof vocabulary, number>>
/** Of each role the predicates that the graph has, in their order. */
type Roles = Readonly<Record<keyof typeof passagePredicates, readonly number[]>>

/** The methods may throw a Miss. */
export class Bookkeeping {
  readonly ids: Ids
  readonly roles: Roles
  readonly #view: GraphView
  /** Predicates of which no triple is knowledge. */
  readonly alone: ReadonlySet<number>
  readonly #ofPassage: ReadonlySet<number>
  readonly #passages = new Map<number, boolean>()

  constructor(view: GraphView, ids: Ids, roles: Roles) {
    this.#view = view
    this.ids = ids
    this.roles = roles
    const { label, sameAs, differentFrom, specializationOf, position, pageEnd } = ids
    const { from, begin, end, partOf, text, heading, page } = roles
    const sources = [...from, ...begin, ...end]
    this.alone = new Set([label, sameAs, differentFrom, specializationOf, ...sources])
    this.#ofPassage = new Set([...partOf, position, ...text, ...heading, ...page, pageEnd])
  }

  static async of(view: GraphView): Promise<Bookkeeping> {
    const names = new Set([vocabulary, passagePredicates].flatMap((of) => Object.values(of)).flat())
    const found = [...names].map(
      async (v) => [v, await withBlocks(() => view.find({ v, e: true }))] as const,
    )
    const known = new Map(await Promise.all(found))
    const idOf = (v: string) => known.get(v) ?? NONE
    const ids = Object.entries(vocabulary).map(([name, v]) => [name, idOf(v)])
    const roles = Object.entries(passagePredicates).map(([role, names]) => [
      role,
      names.map(idOf).filter((id) => id !== NONE),
    ])
    return new Bookkeeping(view, Object.fromEntries(ids) as Ids, Object.fromEntries(roles) as Roles)
  }

  /**
   * False for labels, for what things are one and which are not, for where a thing was derived from, and for what makes a passage: that it is
   * one, its document, its order, its bounds, its text, its heading and its pages. Such predicates are
   * knowledge about anything else: a town may be part of a country.
   */
  isKnowledge({ s, p, o }: Row): boolean {
    const { type, hasPart } = this.ids
    if (this.alone.has(p)) return false
    if (p === type) return o !== this.ids.String
    if (p === hasPart) return !this.isPassage(o)
    if (this.#ofPassage.has(p)) return !this.isPassage(s)
    return true
  }

  /** True for a piece of a text, as flows make of documents. */
  isPassage(id: number): boolean {
    const known = this.#passages.get(id)
    if (known !== undefined) return known
    const is = id !== NONE && this.#view.has(id, this.ids.type, this.ids.String)
    this.#passages.set(id, is)
    return is
  }
}
