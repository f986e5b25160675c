// How good a passage is for a word: BM25F, which is BM25 of what its fields have together.

import { norm } from '../../text/bm25.js'
import { columnOf } from './columns.js'
import type { PassageSet } from './types.js'
import type { FieldCounts } from './word-list.js'
import type { Statistics } from './statistics.js'

/** What a word counts. */
export const weights = {
  title: 3,
  heading: 1.2,
  /** Words that are written as one, where they stand so, beside each of them. */
  joined: 0.5,
  /** Words that are beside each other in the question, where they stand so. */
  pair: 0.2,
  /** What it is worth more that a word stands there as it was asked, of how much rarer that is. */
  exact: 0.5,
}

/** How often words are in a passage: weighted by field, and by how long each field is. May throw a Miss. */
export class FieldWeights {
  readonly #set: PassageSet
  readonly #average: FieldCounts

  constructor(set: PassageSet, { average }: Statistics) {
    this.#set = set
    this.#average = average
  }

  frequency(passage: number, { title, heading, text }: FieldCounts): number {
    const set = this.#set
    const average = this.#average
    // Most words stand in texts alone: the other columns are not read for them.
    let frequency = text === 0 ? 0 : text / norm(set.at(columnOf.textWords, passage), average.text)
    if (title > 0) {
      frequency +=
        (weights.title * title) / norm(set.at(columnOf.titleWords, passage), average.title)
    }
    if (heading > 0) {
      frequency +=
        (weights.heading * heading) / norm(set.at(columnOf.headingWords, passage), average.heading)
    }
    return frequency
  }
}
