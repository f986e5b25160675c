// Parts of passages as one: their words come in one order, and the passages of each word, too.

import type { Turns } from '../../turns.js'
import { WordList, WordListWriter } from '../words/word-list.js'
import { passageColumns } from '../words/columns.js'
import type { PassagesRecord } from './layout.js'
import { columnsOf, readColumns, type PassageColumns } from './passage-columns.js'
import { passageOrder } from './passage-order.js'
import type { WordTaker } from './part-writer.js'
import { ByteReader, damaged, type MainFile } from './section-reader.js'
import { GONE } from './term-merge.js'

/** Columns that have terms, and those in which 0 is none and any other one more than its number. */
const always = ['passage'] as const
const maybe = ['document', 'title', 'heading'] as const

export interface PassageInput {
  readonly file: MainFile
  readonly record: PassagesRecord
  readonly columns: PassageColumns
  /** By place: 1 where it stays. Undefined: all do. */
  readonly stays: Uint8Array | undefined
}

/** Reads the columns of a part. */
export async function readPassages(
  file: MainFile,
  record: PassagesRecord,
  stays: Uint8Array | undefined,
): Promise<PassageInput> {
  const { count } = record
  const all = await file.words(file.layout.passages, passageColumns.length * count)
  return { file, record, columns: readColumns(all, count), stays }
}

/** Marks the terms of passages that stay. */
export function markPassages({ columns, stays }: PassageInput, used: Uint8Array): void {
  for (const [n, place] of columns.place.entries()) {
    if (stays?.[place] === 0) continue
    for (const name of always) used[columns[name][n] as number] = 1
    for (const name of maybe) {
      const id = columns[name][n] as number
      if (id > 0) used[id - 1] = 1
    }
  }
}

/** Numbers of terms and places by those of an input. */
export interface Renumbered {
  readonly input: PassageInput
  readonly ids: Uint32Array
  readonly places: Uint32Array
}

export interface MergedPassages {
  readonly columns: PassageColumns
  /** By input and its passages: their numbers in the part that is made, or `GONE`. Ascending. */
  readonly numbers: readonly Uint32Array[]
}

/** The passages of all inputs that stay, in their order. */
export function mergeColumns(inputs: readonly Renumbered[]): MergedPassages {
  const kept = inputs.map(({ input: { columns, stays } }) => {
    const all = columns.place.map((_, n) => n)
    return stays === undefined ? all : all.filter((n) => stays[columns.place[n] as number] === 1)
  })
  const count = kept.reduce((sum, { length }) => sum + length, 0)
  const together = columnsOf((name) => {
    const column = new Uint32Array(count)
    let to = 0
    for (const [i, { input, ids, places }] of inputs.entries()) {
      const numbers = numbersOf(name, ids, places)
      for (const n of kept[i] as Uint32Array)
        column[to++] = numbers(input.columns[name][n] as number)
    }
    return column
  })
  const order = passageOrder(together)
  const numberOf = new Uint32Array(count).fill(GONE)
  for (const [number, n] of order.entries()) numberOf[n] = number
  let from = 0
  const numbers = inputs.map(({ input }, i) => {
    const those = new Uint32Array(input.record.count).fill(GONE)
    for (const n of kept[i] as Uint32Array) those[n] = numberOf[from++] as number
    return those
  })
  return { columns: columnsOf((name) => order.map((n) => together[name][n] as number)), numbers }
}

function numbersOf(
  name: string,
  ids: Uint32Array,
  places: Uint32Array,
): (number: number) => number {
  if (name === 'place') return (place) => places[place] as number
  if (name === 'passage') return (id) => ids[id] as number
  if ((maybe as readonly string[]).includes(name)) {
    return (id) => (id === 0 ? 0 : (ids[id - 1] as number) + 1)
  }
  return (number) => number
}

/** Tells the words of all inputs in their order, each with the passages that stay. */
export async function mergeWords(
  inputs: readonly PassageInput[],
  numbers: readonly Uint32Array[],
  turns: Turns,
  take: WordTaker,
): Promise<void> {
  const streams: WordStream[] = []
  for (const [n, input] of inputs.entries()) {
    const stream = new WordStream(input, numbers[n] as Uint32Array)
    if (await stream.next()) streams.push(stream)
  }
  const list = new WordListWriter()
  while (streams.length > 0) {
    const word = leastOf(streams)
    const those = streams.filter((stream) => stream.word.equals(word))
    mergeLists(those, list)
    // Once its passages are gone, a word is.
    const written = list.count > 0 ? take(word, list.take()) : undefined
    if (written !== undefined) await written
    for (const stream of those) {
      const isMore = stream.isReady ? stream.advance() : await stream.next()
      if (!isMore) streams.splice(streams.indexOf(stream), 1)
    }
    if (turns.isLong) await turns.pass()
  }
}

function leastOf(streams: readonly WordStream[]): Buffer {
  let least = (streams[0] as WordStream).word
  for (const { word } of streams) if (word.compare(least) < 0) least = word
  return least
}

function mergeLists(streams: readonly WordStream[], to: WordListWriter): void {
  const cursors = streams.map((stream) => new PassageCursor(stream))
  for (;;) {
    let least = GONE
    let first: PassageCursor | undefined
    for (const cursor of cursors) {
      if (cursor.passage >= least) continue
      least = cursor.passage
      first = cursor
    }
    if (first === undefined) return
    const { list } = first
    to.passage(least, list)
    list.positions()
    for (let left = list.title + list.heading + list.text; left > 0; left--) to.gap(list.gap())
    first.next()
  }
}

/** The passages of a word that stay, by their numbers in the part that is made. */
class PassageCursor {
  /** `GONE` behind the last. */
  passage = GONE
  readonly list: WordList
  readonly #numbers: Uint32Array

  constructor({ list, numbers }: WordStream) {
    this.list = new WordList(list, numbers.length)
    this.#numbers = numbers
    this.next()
  }

  next(): void {
    this.passage = GONE
    while (this.passage === GONE && this.list.next()) {
      this.passage = this.#numbers[this.list.passage] as number
    }
  }
}

/** The words of a part, one after the other. */
class WordStream {
  word: Buffer = Buffer.alloc(0)
  list: Uint8Array = this.word
  readonly numbers: Uint32Array
  readonly #words: ByteReader
  readonly #lists: ByteReader
  readonly #wordEnds: ByteReader
  readonly #listEnds: ByteReader
  #left: number
  #wordStart = 0
  #listStart = 0

  constructor({ file, record }: PassageInput, numbers: Uint32Array) {
    this.numbers = numbers
    const { words, wordLists, wordStarts, listStarts } = file.layout
    this.#words = new ByteReader(file, words, record.wordBytes)
    this.#lists = new ByteReader(file, wordLists, record.listBytes)
    this.#wordEnds = new ByteReader(file, wordStarts + 4, 4 * record.words)
    this.#listEnds = new ByteReader(file, listStarts + 4, 4 * record.words)
    this.#left = record.words
  }

  /** Whether the next word is in memory, or there is none. */
  get isReady(): boolean {
    if (this.#left === 0) return true
    if (!this.#wordEnds.has(4) || !this.#listEnds.has(4)) return false
    return this.#words.has(this.#wordLength) && this.#lists.has(this.#listLength)
  }

  get #wordLength(): number {
    return lengthOf(this.#wordEnds.peek() - this.#wordStart)
  }

  get #listLength(): number {
    return lengthOf(this.#listEnds.peek() - this.#listStart)
  }

  /** Goes to the next word, which is ready. False where there is none. Takes the one before away. */
  advance(): boolean {
    if (this.#left === 0) return false
    this.#left--
    const [word, list] = [this.#wordLength, this.#listLength]
    this.#wordStart += word
    this.#listStart += list
    this.#wordEnds.take(4)
    this.#listEnds.take(4)
    this.word = Buffer.from(this.#words.take(word))
    this.list = this.#lists.take(list)
    return true
  }

  /** advance(), once what it needs was read. */
  async next(): Promise<boolean> {
    if (this.#left > 0) {
      await this.#wordEnds.need(4)
      await this.#listEnds.need(4)
      await this.#words.need(this.#wordLength)
      await this.#lists.need(this.#listLength)
    }
    return this.advance()
  }
}

function lengthOf(length: number): number {
  if (length < 1) throw damaged('the words of an index overlap')
  return length
}
