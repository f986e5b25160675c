import { countsEnd, mostHeadBytes, WordList } from '../words/word-list.js'
import type { Layout, PassagesRecord } from './layout.js'
import type { PartFile } from './part-file.js'

/** The passages of a part, and its words. Every method throws a Miss where a block is not in memory. */
export class PartPassages {
  readonly record: PassagesRecord
  readonly #file: PartFile
  readonly #layout: Layout
  readonly #columns: number
  readonly #count: number

  constructor(file: PartFile, layout: Layout, record: PassagesRecord) {
    this.#file = file
    this.#layout = layout
    this.record = record
    this.#columns = layout.passages
    this.#count = record.count
  }

  get count(): number {
    return this.record.count
  }

  /** What a passage has in a column, of which this is the place among all. */
  at(column: number, passage: number): number {
    return this.#file.word(this.#columns + 4 * (column * this.#count + passage))
  }

  /** Throws a Miss where a block of a column is not in memory. */
  need(column: number): void {
    const from = this.#columns + 4 * column * this.#count
    this.#file.need(from, from + 4 * this.#count)
  }

  /** The number of a word, its UTF-8; -1 where no passage has it. */
  find(word: Buffer): number {
    const n = this.#firstFrom(word)
    return n < this.record.words && this.#compare(n, word) === 0 ? n : -1
  }

  /** The words that begin with these bytes: [from, to). */
  beginningWith(bytes: Buffer): readonly [from: number, to: number] {
    // No UTF-8 has such a byte.
    const behind = Buffer.concat([bytes, Buffer.of(0xff)])
    return [this.#firstFrom(bytes), this.#firstFrom(behind)]
  }

  /** The first word that is not before these bytes. */
  #firstFrom(bytes: Buffer): number {
    return this.#file.first(0, this.record.words, (n) => this.#compare(n, bytes) >= 0)
  }

  word(n: number): string {
    const start = this.#file.word(this.#layout.wordStarts + 4 * n)
    const end = this.#file.word(this.#layout.wordStarts + 4 * n + 4)
    return this.#file.text(this.#layout.words + start, end - start)
  }

  /** The passages that have a word, and where it stands in them. */
  list(n: number): WordList {
    const [start, end] = this.#listRange(n)
    const { source, from } = this.#file.bytes(start, end)
    return new WordList(source, from)
  }

  /** The passages that have a word, without positions: they are most of a list. */
  counts(n: number): WordList {
    const [start, end] = this.#listRange(n)
    const head = this.#file.bytes(start, Math.min(end, start + mostHeadBytes))
    const { source, from } = this.#file.bytes(start, start + countsEnd(head.source, head.from))
    return new WordList(source, from)
  }

  #listRange(n: number): readonly [start: number, end: number] {
    const { listStarts, wordLists } = this.#layout
    const start = wordLists + this.#file.word(listStarts + 4 * n)
    return [start, wordLists + this.#file.word(listStarts + 4 * n + 4)]
  }

  #compare(n: number, bytes: Buffer): number {
    const start = this.#file.word(this.#layout.wordStarts + 4 * n)
    const end = this.#file.word(this.#layout.wordStarts + 4 * n + 4)
    const { words } = this.#layout
    const { source, from, to } = this.#file.bytes(words + start, words + end)
    return source.compare(bytes, 0, bytes.length, from, to)
  }
}
