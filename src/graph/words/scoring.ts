// How good a passage is for a word: BM25F. Robertson & Zaragoza, "The Probabilistic Relevance Framework:
// BM25 and Beyond" (2009), section 3.6, with the idf that is never below 0 (as Lucene has it).

import { columnOf } from './columns.js'
import type { PassageSet } from './types.js'
import type { FieldCounts } from './word-list.js'
import type { Statistics } from './statistics.js'

export const bm25 = {
  /** Where a word that is more frequent adds little more. */
  k1: 1.2,
  /** What a word in a field counts. */
  title: 3,
  heading: 1.2,
  /** How much the length of a field counts. */
  b: 0.75,
  /** What a word counts in another form than the question has. */
  otherForm: 0.9,
  /** What words count that are written as one, where they stand so, beside each of them. */
  joined: 0.5,
}

/** `passages`: those that have the word, of all. */
export function idfOf(passages: number, all: number): number {
  return Math.log(1 + (all - passages + 0.5) / (passages + 0.5))
}

export function saturated(frequency: number): number {
  return frequency / (bm25.k1 + frequency)
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
      frequency += (bm25.title * title) / norm(set.at(columnOf.titleWords, passage), average.title)
    }
    if (heading > 0) {
      frequency +=
        (bm25.heading * heading) / norm(set.at(columnOf.headingWords, passage), average.heading)
    }
    return frequency
  }
}

function norm(length: number, average: number): number {
  return 1 - bm25.b + (bm25.b * length) / average
}
