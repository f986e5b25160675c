import { WordList } from '../words/word-list.js'
import { passageColumns, type PassageColumn } from '../words/columns.js'
import type { Layout, PassagesRecord } from './layout.js'
import type { PartFile } from './part-file.js'

const columnPlaces = new Map(passageColumns.map((name, place) => [name, place]))

/** The passages of a part, and its words. Every method throws a Miss where a block is not in memory. */
export class PartPassages {
  readonly record: PassagesRecord
  readonly #file: PartFile
  readonly #layout: Layout

  constructor(file: PartFile, layout: Layout, record: PassagesRecord) {
    this.#file = file
    this.#layout = layout
    this.record = record
  }

  get count(): number {
    return this.record.count
  }

  /** What a passage has in a column. */
  at(column: PassageColumn, passage: number): number {
    const place = columnPlaces.get(column) as number
    return this.#file.word(this.#layout.passages + 4 * (place * this.record.count + passage))
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

  /** The passages that have a word. */
  list(n: number): WordList {
    const { listStarts, wordLists } = this.#layout
    const start = wordLists + this.#file.word(listStarts + 4 * n)
    const end = wordLists + this.#file.word(listStarts + 4 * n + 4)
    const { source, from } = this.#file.bytes(start, end)
    return new WordList(source, from)
  }

  #compare(n: number, bytes: Buffer): number {
    const start = this.#file.word(this.#layout.wordStarts + 4 * n)
    const end = this.#file.word(this.#layout.wordStarts + 4 * n + 4)
    const { words } = this.#layout
    const { source, from, to } = this.#file.bytes(words + start, words + end)
    return source.compare(bytes, 0, bytes.length, from, to)
  }
}
