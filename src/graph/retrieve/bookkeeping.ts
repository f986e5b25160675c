// What of a graph is knowledge, and what only keeps the books: names, and where things were said.

import { vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { NONE, type GraphView } from '../view.js'
import type { Row } from '../taking.js'

type Ids = Readonly<Record<keyof typeof vocabulary, number>>

/** The methods may throw a Miss. */
export class Bookkeeping {
  readonly ids: Ids
  readonly #view: GraphView
  /** Predicates of which no triple is knowledge. */
  readonly alone: ReadonlySet<number>
  readonly #ofPassage: ReadonlySet<number>
  readonly #passages = new Map<number, boolean>()

  constructor(view: GraphView, ids: Ids) {
    this.#view = view
    this.ids = ids
    const { label, wasDerivedFrom, subjectOf, beginIndex, endIndex } = ids
    const { sameAs, differentFrom, specializationOf } = ids
    const sources = [wasDerivedFrom, subjectOf, beginIndex, endIndex]
    this.alone = new Set([label, sameAs, differentFrom, specializationOf, ...sources])
    const { isPartOf, position, text, articleSection, pageStart, pageEnd } = ids
    this.#ofPassage = new Set([isPartOf, position, text, articleSection, pageStart, pageEnd])
  }

  static async of(view: GraphView): Promise<Bookkeeping> {
    const found = Object.entries(vocabulary).map(
      async ([name, v]) => [name, await withBlocks(() => view.find({ v, e: true }))] as const,
    )
    const ids = Object.fromEntries(await Promise.all(found)) as Ids
    return new Bookkeeping(view, ids)
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
