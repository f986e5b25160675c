// What a search asks of the passages of a part.

import type { Term } from '../../types.js'
import type { ScannedColumn } from './columns.js'
import type { SeenNumbers } from './word-entries.js'
import type { FieldCounts, WordList } from './word-list.js'

/** What passages of a part have in a column, by their numbers. It may be kept until the next await. */
export interface PassageColumn {
  at(passage: number): number
  /** That of this passage, and of what lies behind it. */
  run(passage: number): PassageRun
}

/** What a column has of some passages: that of each is `words[passage - start]`, up to `end`. */
export interface PassageRun {
  readonly words: Uint32Array
  readonly start: number
  readonly end: number
}

/**
 * The passages of a part, as far as a question sees them. Methods are synchronous and throw a Miss where a
 * block is not in memory.
 */
export interface PassageSet {
  /** The same for all sets of passages of one part, which never changes. */
  readonly part: object
  /** Passages of the part, seen or not. Their numbers are below it. */
  readonly count: number
  /** Words of the part. Their numbers are below it, in the order of their UTF-8. */
  readonly words: number
  /** How many words all passages have in each field; of all of the part. */
  readonly lengths: FieldCounts
  /** Whether all of them are seen. */
  readonly isWhole: boolean
  /** Which of [from, to) are, or of all. Throws a Miss where a block is not in memory that says so. */
  seen(from?: number, to?: number): SeenNumbers
  /** What a passage has in a column: `columnOf`. */
  at(column: number, passage: number): number
  /** What [from, to) have in a column, or all passages. Throws a Miss where a block of that is not in memory. */
  column(name: ScannedColumn, from?: number, to?: number): PassageColumn
  /** The number of a word, its UTF-8; -1 where no passage has it. */
  find(word: Buffer): number
  /** The words that begin so: [from, to). */
  beginningWith(beginning: string): readonly [from: number, to: number]
  word(n: number): string
  /** The passages that have a word, seen or not, and where it stands. */
  list(n: number): WordList
  /** The same without positions. */
  counts(n: number): WordList
  /** The id of a term, below 0 where no passage has it. */
  idOf(term: Term): number
  /** The term of an id in a column. */
  term(id: number): Term
  /** The hash of a literal, as passages have it of their texts. Without a Miss. */
  hashOf(literal: Term): number
  /** The core that says a passage. */
  coreOf(passage: number): string
}
