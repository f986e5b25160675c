// What things have next to them that says something of them.

import { passagePredicates, vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { ANY, type GraphView } from '../view.js'

/** What is next to a thing, as far as it is looked at. */
const mostNeighbours = 64

export class Neighbourhood {
  readonly #view: GraphView
  /** Predicates that say what a thing is called, or where it was found. */
  readonly #passed: ReadonlySet<number>

  private constructor(view: GraphView, passed: ReadonlySet<number>) {
    this.#view = view
    this.#passed = passed
  }

  static async of(view: GraphView): Promise<Neighbourhood> {
    const { type, sameAs, differentFrom, specializationOf, definition } = vocabulary
    const names = [
      ...passagePredicates.label,
      ...passagePredicates.from,
      ...[type, sameAs, differentFrom, specializationOf, definition],
    ]
    const ids = await Promise.all(names.map((v) => withBlocks(() => view.find({ v, e: true }))))
    return new Neighbourhood(view, new Set(ids))
  }

  /** How many of the neighbours of the one with fewer are those of the other. May throw a Miss. */
  shared(a: number, b: number): number {
    const [one, other] = [this.#of(a), this.#of(b)]
    one.delete(b)
    other.delete(a)
    const fewer = Math.min(one.size, other.size)
    if (fewer === 0) return 0
    let both = 0
    for (const id of one) if (other.has(id)) both++
    // One neighbour of one says little.
    return both / Math.max(3, fewer)
  }

  #of(id: number): Set<number> {
    const found = new Set<number>()
    for (const isSubject of [true, false]) {
      const rows = isSubject ? this.#view.rows(id, ANY, ANY) : this.#view.rows(ANY, ANY, id)
      for (let n = 0; n < mostNeighbours && rows.next(); n++) {
        if (!this.#passed.has(rows.p)) found.add(isSubject ? rows.o : rows.s)
      }
    }
    return found
  }
}
