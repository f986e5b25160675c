import { LorekeepError } from '../../errors.js'
import { columnOf, recordFields, type ScannedColumn } from '../words/columns.js'
import { countsEnd, mostHeadBytes, WordList } from '../words/word-list.js'
import {
  beginningCount,
  beginningOf,
  beginningStep,
  beginningWords,
  type Layout,
  type PassagesRecord,
} from './layout.js'
import type { FileWords, PartFile } from './part-file.js'

const recordWords = recordFields.length

type Range = readonly [start: number, end: number]

/** The passages of a part, and its words. Every method throws a Miss where a block is not in memory. */
export class PartPassages {
  readonly record: PassagesRecord
  readonly #file: PartFile
  readonly #layout: Layout
  readonly #records: number
  readonly #count: number

  constructor(file: PartFile, layout: Layout, record: PassagesRecord) {
    this.#file = file
    this.#layout = layout
    this.record = record
    this.#records = layout.passages
    this.#count = record.count
  }

  get count(): number {
    return this.record.count
  }

  /** What a passage has in a column, of which this is the place among all. */
  at(column: number, passage: number): number {
    return this.#file.word(
      column < recordWords
        ? this.#records + 4 * (passage * recordWords + column)
        : this.#records + 4 * (column * this.#count + passage),
    )
  }

  /** A column, as far as it is of the passages [from, to). Whoever holds it holds its blocks. */
  column(name: ScannedColumn, from: number, to: number): FileWords {
    const column = this.#records + 4 * columnOf[name] * this.#count
    return this.#file.words(column, column + 4 * from, column + 4 * to)
  }

  /** The number of a word, its UTF-8; -1 where no passage has it. */
  find(word: Buffer): number {
    const n = this.#firstFrom(word)
    return n < this.record.words && this.#compare(n, word) === 0 ? n : -1
  }

  /** The words that begin with these bytes: [from, to). */
  beginningWith(bytes: Buffer): readonly [from: number, to: number] {
    const { words } = this.record
    // No UTF-8 has such a byte.
    const behind = Buffer.concat([bytes, Buffer.of(0xff)])
    const isBehind = (n: number) => this.#compare(n, behind) >= 0
    const from = this.#firstFrom(bytes)
    // There are few, as a rule.
    let [to, step] = [from, 1]
    while (to + step <= words && !isBehind(to + step - 1)) {
      to += step
      step *= 2
    }
    return [from, this.#file.first(to, Math.min(words, to + step - 1), isBehind)]
  }

  /** The first word that is not before these bytes. */
  #firstFrom(bytes: Buffer): number {
    const { words } = this.record
    const step = beginningStep(words)
    const count = beginningCount(words)
    const sought = beginningOf(bytes)
    // The n-th of them is that of the word (n + 1) * step: those before `low` are before the word, those from `high` on
    // behind it, and what is between begins as it does.
    const low = this.#file.first(0, count, (n) => this.#compareBeginning(n, sought) >= 0)
    const isAlike = (n: number) => n < count && this.#compareBeginning(n, sought) === 0
    const high = isAlike(low) ? this.#file.first(low + 1, count, (n) => !isAlike(n)) : low
    const from = low === 0 ? 0 : low * step + 1
    const to = Math.min(words, (high + 1) * step)
    return this.#file.first(from, to, (n) => this.#compare(n, bytes) >= 0)
  }

  #compareBeginning(n: number, sought: Uint32Array): number {
    const start = this.#layout.beginnings + 4 * beginningWords * n
    for (let at = 0; at < beginningWords; at++) {
      const difference = this.#file.word(start + 4 * at) - (sought[at] as number)
      if (difference !== 0) return difference
    }
    return 0
  }

  word(n: number): string {
    const [start, end] = this.#wordRange(n)
    return this.#file.text(start, end - start)
  }

  /** The passages that have a word, and where it stands in them. */
  list(n: number): WordList {
    const [start, end] = this.#listRange(n)
    return this.#listOf(start, end)
  }

  /** The passages that have a word, without positions: they are most of a list. */
  counts(n: number): WordList {
    const [start, end] = this.#listRange(n)
    const head = this.#file.bytes(start, Math.min(end, start + mostHeadBytes))
    const countsLength = countsEnd(head.source, head.from)
    if (countsLength > end - start) throw overlapping()
    return this.#listOf(start, start + countsLength)
  }

  #listOf(start: number, end: number): WordList {
    const { source, from, to } = this.#file.bytes(start, end)
    return new WordList(source.subarray(from, to), this.#count)
  }

  #listRange(n: number): Range {
    const { listStarts, wordLists } = this.#layout
    return this.#range(listStarts + 4 * n, wordLists, this.record.listBytes)
  }

  #wordRange(n: number): Range {
    const { wordStarts, words } = this.#layout
    return this.#range(wordStarts + 4 * n, words, this.record.wordBytes)
  }

  /** What lies between two offsets into a section, which are at `at`. */
  #range(at: number, section: number, length: number): Range {
    const start = this.#file.word(at)
    const end = this.#file.word(at + 4)
    if (start >= end || end > length) throw overlapping()
    return [section + start, section + end]
  }

  #compare(n: number, bytes: Buffer): number {
    const [start, end] = this.#wordRange(n)
    const { source, from, to } = this.#file.bytes(start, end)
    // Not compare() of Buffer, which checks each bound in a call of its own: most words differ in their first bytes.
    const shared = Math.min(to - from, bytes.length)
    for (let at = 0; at < shared; at++) {
      const difference = (source[from + at] as number) - (bytes[at] as number)
      if (difference !== 0) return difference
    }
    return to - from - bytes.length
  }
}

function overlapping(): LorekeepError {
  return new LorekeepError('LK_STORAGE_CORRUPT', 'the words of an index overlap')
}
