// What things have next to them that says something of them.

import { passagePredicates, vocabulary } from '../../vocabulary.js'
import { withBlocks } from '../miss.js'
import { Takings, type Taking } from '../taking.js'
import { ANY, type GraphView } from '../view.js'

/** What is next to a thing, as far as it is looked at. */
const first = { most: 64, accepts: () => true }

export class Neighbourhood {
  readonly #takings: Takings
  /** Predicates that say what a thing is called, or where it was found. */
  readonly #passed: ReadonlySet<number>

  private constructor(view: GraphView, passed: ReadonlySet<number>) {
    this.#takings = new Takings(view)
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
    const both = this.#takings.run(`${a} ${b}`, (taking) =>
      [a, b].map((id) => this.#of(id, taking)),
    )
    const [one, other] = both as [Set<number>, Set<number>]
    one.delete(b)
    other.delete(a)
    const fewer = Math.min(one.size, other.size)
    if (fewer === 0) return 0
    let common = 0
    for (const id of one) if (other.has(id)) common++
    // One neighbour of one says little.
    return common / Math.max(3, fewer)
  }

  #of(id: number, taking: Taking): Set<number> {
    const found = new Set<number>()
    for (const { p, o } of taking.rows(id, ANY, ANY, first)) if (!this.#passed.has(p)) found.add(o)
    for (const { s, p } of taking.rows(ANY, ANY, id, first)) if (!this.#passed.has(p)) found.add(s)
    return found
  }
}
