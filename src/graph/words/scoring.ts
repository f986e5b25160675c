// How good a passage is for a word: BM25F, which is BM25 of what its fields have together.

import { norm } from '../../text/bm25.js'
import type { ScannedColumn } from './columns.js'
import type { PassageColumn, PassageRun, PassageSet } from './types.js'
import type { Statistics } from './statistics.js'
import {
  entries,
  HAS_HEADING,
  HAS_OTHERS,
  HAS_TITLE,
  type SeenNumbers,
  type WordEntries,
} from './word-entries.js'

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

/** Passages of a set: [from, to). */
interface Passages {
  readonly set: PassageSet
  readonly from: number
  readonly to: number
}

/** What the lengths of a field's texts are worth. Methods throw a Miss before they change anything. */
class Norms {
  readonly #column: ScannedColumn
  readonly #average: number
  /** 0 where it was not asked for. */
  readonly #known = new Float64Array(mostLooked)
  #passages: Passages | undefined
  #lengths: PassageColumn | undefined

  constructor(column: ScannedColumn, average: number) {
    this.#column = column
    // Whatever a damaged index says of lengths, it is above 0.
    this.#average = average > 0 ? average : 1
  }

  begin(passages: Passages): void {
    this.#passages = passages
    this.#lengths = undefined
  }

  of(passage: number): number {
    return this.#ofLength(this.#all().at(passage))
  }

  /** Of titles and headings it is read where a word is in one: that of a million passages is 4 MB each. */
  #all(): PassageColumn {
    if (this.#lengths !== undefined) return this.#lengths
    const { set, from, to } = this.#passages as Passages
    return (this.#lengths = set.column(this.#column, from, to))
  }

  #ofLength(length: number): number {
    if (length >= mostLooked) return norm(length, this.#average)
    return (this.#known[length] ||= norm(length, this.#average))
  }

  /** Divides by it how often a word is in texts: in the entries that were read last. */
  divide(read: number): void {
    const lengths = this.#all()
    const { passages } = entries
    // A run at a time: to look up the block of each passage takes longer than all else.
    for (let n = 0; n < read;) n = this.#divideRun(lengths.run(passages[n] as number), n, read)
  }

  /** Gives where the next run begins. By itself, as it is twice as fast so: what is called often is compiled alone. */
  #divideRun({ words, start, end }: PassageRun, from: number, read: number): number {
    const { passages, counts, frequencies } = entries
    const known = this.#known
    let n = from
    for (; n < read; n++) {
      const passage = passages[n] as number
      if (passage >= end) break
      const length = words[passage - start] as number
      const by = length < mostLooked ? (known[length] as number) : 0
      frequencies[n] = ((counts[n] as number) >>> 2) / (by || this.#ofLength(length))
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
    this.#title = new Norms('titleWords', average.title)
    this.#heading = new Norms('headingWords', average.heading)
    this.#text = new Norms('textWords', average.text)
  }

  /** From here until the next await it is asked about passages of [from, to) of a set. */
  begin(set: PassageSet, from: number, to: number): void {
    const passages = { set, from, to }
    this.#title.begin(passages)
    this.#heading.begin(passages)
    this.#text.begin(passages)
  }

  /** As readSeen() of the cursor, with the frequencies of what was read. May throw a Miss: then nothing was. */
  read(cursor: WordEntries, weight: number, to: number, seen: SeenNumbers | undefined): number {
    const { place } = cursor
    const read = cursor.readSeen(to, seen)
    if (read <= 0) return read
    try {
      this.#ofEntries(read, weight)
    } catch (error) {
      cursor.backTo(place)
      throw error
    }
    return read
  }

  #ofEntries(read: number, weight: number): void {
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

  /** May throw a Miss. */
  frequency(passage: number, title: number, heading: number, text: number): number {
    let frequency = text === 0 ? 0 : text / this.#text.of(passage)
    if (title > 0) frequency += (weights.title * title) / this.#title.of(passage)
    if (heading > 0) frequency += (weights.heading * heading) / this.#heading.of(passage)
    return frequency
  }
}
