// How good a passage is for a word: BM25F, which is BM25 of what its fields have together.

import { norm } from '../../text/bm25.js'
import type { PassageColumn, PassageSet } from './types.js'
import type { FieldCounts } from './word-list.js'
import type { Statistics } from './statistics.js'

/** What a word counts. */
export const weights = {
  title: 3,
  heading: 1.2,
  /** Words that are written as one, where they stand so, beside each of them. */
  joined: 0.5,
  /** Words that are beside each other in the question, where they stand so: of how much rarer that is than the rarer. */
  pair: 0.75,
  /** What it is worth more that a word stands there as it was asked, of how much rarer that is. */
  exact: 0.5,
}

/** Lengths up to this are looked up. */
const mostLooked = 2 ** 11

/** What the lengths of a field's texts are worth. */
class Norms {
  readonly #average: number
  readonly #known: Float64Array
  #lengths: PassageColumn | undefined

  constructor(average: number) {
    this.#average = average
    this.#known = new Float64Array(mostLooked)
  }

  begin(lengths: PassageColumn): void {
    this.#lengths = lengths
  }

  of(passage: number): number {
    const length = (this.#lengths as PassageColumn).at(passage)
    if (length >= mostLooked) return norm(length, this.#average)
    // It is never 0.
    return this.#known[length] || (this.#known[length] = norm(length, this.#average))
  }
}

/** How often words are in a passage: weighted by field, and by how long each field is. */
export class FieldWeights {
  readonly #title: Norms
  readonly #heading: Norms
  readonly #text: Norms

  constructor({ average }: Statistics) {
    this.#title = new Norms(average.title)
    this.#heading = new Norms(average.heading)
    this.#text = new Norms(average.text)
  }

  /** From here until the next await it is asked about passages of a set. May throw a Miss. */
  begin(set: PassageSet): void {
    this.#title.begin(set.column('titleWords'))
    this.#heading.begin(set.column('headingWords'))
    this.#text.begin(set.column('textWords'))
  }

  frequency(passage: number, { title, heading, text }: FieldCounts): number {
    let frequency = text === 0 ? 0 : text / this.#text.of(passage)
    if (title > 0) frequency += (weights.title * title) / this.#title.of(passage)
    if (heading > 0) frequency += (weights.heading * heading) / this.#heading.of(passage)
    return frequency
  }
}
