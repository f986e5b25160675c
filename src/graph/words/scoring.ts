// How good a passage is for a word: BM25F, which is BM25 of what its fields have together.

import { norm } from '../../text/bm25.js'
import type { PassageColumn, PassageRun, PassageSet } from './types.js'
import type { Statistics } from './statistics.js'
import { entries, HAS_HEADING, HAS_OTHERS, HAS_TITLE } from './word-entries.js'

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
  readonly #known = new Float64Array(mostLooked)
  #lengths: PassageColumn | undefined

  constructor(average: number) {
    // Whatever a damaged index says of lengths, it is above 0.
    this.#average = average > 0 ? average : 1
    for (let n = 0; n < mostLooked; n++) this.#known[n] = norm(n, this.#average)
  }

  begin(lengths: PassageColumn): void {
    this.#lengths = lengths
  }

  of(passage: number): number {
    const length = (this.#lengths as PassageColumn).at(passage)
    return length < mostLooked ? (this.#known[length] as number) : norm(length, this.#average)
  }

  /** Divides by it how often a word is in texts: in the entries that were read last. */
  divide(read: number): void {
    const lengths = this.#lengths as PassageColumn
    const { passages } = entries
    // A run at a time: to look up the block of each passage takes longer than all else.
    for (let n = 0; n < read;) n = this.#divideRun(lengths.run(passages[n] as number), n, read)
  }

  /** Gives where the next run begins. By itself, as it is twice as fast so: what is called often is compiled alone. */
  #divideRun({ words, start, end }: PassageRun, from: number, read: number): number {
    const { passages, counts, frequencies } = entries
    const known = this.#known
    const average = this.#average
    let n = from
    for (; n < read; n++) {
      const passage = passages[n] as number
      if (passage >= end) break
      const length = words[passage - start] as number
      const by = length < mostLooked ? (known[length] as number) : norm(length, average)
      frequencies[n] = ((counts[n] as number) >>> 2) / by
    }
    return n
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

  /** From here until the next await it is asked about passages of [from, to) of a set. May throw a Miss. */
  begin(set: PassageSet, from: number, to: number): void {
    this.#title.begin(set.column('titleWords', from, to))
    this.#heading.begin(set.column('headingWords', from, to))
    this.#text.begin(set.column('textWords', from, to))
  }

  /** Of the entries that were read last. */
  ofEntries(read: number, weight: number): void {
    const { frequencies } = entries
    this.#text.divide(read)
    if (entries.hasOthers) this.#addOthers(read)
    if (weight !== 1)
      for (let n = 0; n < read; n++) frequencies[n] = weight * (frequencies[n] as number)
  }

  #addOthers(read: number): void {
    const { passages, counts, titles, headings, frequencies } = entries
    for (let n = 0; n < read; n++) {
      const count = counts[n] as number
      if ((count & HAS_OTHERS) === 0) continue
      const title = (count & HAS_TITLE) === 0 ? 0 : (titles[n] as number)
      const heading = (count & HAS_HEADING) === 0 ? 0 : (headings[n] as number)
      frequencies[n] = this.frequency(passages[n] as number, title, heading, count >>> 2)
    }
  }

  frequency(passage: number, title: number, heading: number, text: number): number {
    let frequency = text === 0 ? 0 : text / this.#text.of(passage)
    if (title > 0) frequency += (weights.title * title) / this.#title.of(passage)
    if (heading > 0) frequency += (weights.heading * heading) / this.#heading.of(passage)
    return frequency
  }
}
