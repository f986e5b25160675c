// Where a word stands: the list of its passages, as bytes. docs/format.md describes it.

import { damagedList, HAS_HEADING, HAS_OTHERS, HAS_TITLE, WordEntries } from './word-entries.js'

/** How often a word is in each field of a passage. */
export interface FieldCounts {
  title: number
  heading: number
  text: number
}

/**
 * The list of a word: passages ascending, each with how often the word is in which field, and then all
 * positions. The counts of all passages lie together, as most questions need no positions.
 */
export class WordListWriter {
  count = 0
  readonly #entries = new Bytes()
  readonly #positions = new Bytes()
  #last = 0

  /** The next passage, behind those before. Its positions follow, field by field in this order. */
  passage(passage: number, { title, heading, text }: FieldCounts): void {
    const entries = this.#entries
    entries.number(passage - this.#last)
    this.#last = passage
    const flags = (title > 0 ? HAS_TITLE : 0) | (heading > 0 ? HAS_HEADING : 0)
    entries.number(text * 4 + flags)
    if (title > 0) entries.number(title)
    if (heading > 0) entries.number(heading)
    this.count++
  }

  /** How many words lie between a position and the one before it in its field, or its beginning. */
  gap(gap: number): void {
    this.#positions.number(gap)
  }

  /** The list as bytes, until the next one is begun; that is empty. */
  take(): readonly Uint8Array[] {
    const head = new Bytes()
    head.number(this.count)
    head.number(this.#entries.length)
    const pieces = [head.take(), this.#entries.take(), this.#positions.take()]
    this.count = 0
    this.#last = 0
    return pieces
  }
}

/** What a list begins with has no more bytes. */
export const mostHeadBytes = 10

/** Where the positions of the list begin that begins at `at`: from there, in bytes. */
export function countsEnd(bytes: Uint8Array, at: number): number {
  let next = at
  let length = 0
  for (let number = 0; number < 2; number++) {
    length = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[next++] as number
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) break
    }
  }
  return next - at + (length >>> 0)
}

/** A cursor over the list of a word, in which no passage is `most` or above. */
export class WordList implements FieldCounts {
  readonly count: number
  passage = 0
  title = 0
  heading = 0
  text = 0
  readonly #bytes: Uint8Array
  readonly #most: number
  readonly #entriesAt: number
  #at = 0
  #left: number
  #positionsAt: number
  /** Positions of passages that were passed, and of the one it is at. */
  #unread = 0

  constructor(bytes: Uint8Array, most: number) {
    this.#bytes = bytes
    this.#most = most
    this.count = this.#number()
    const length = this.#number()
    this.#left = this.count
    this.#entriesAt = this.#at
    this.#positionsAt = this.#at + length
  }

  /** The counts of all its passages, many at once. */
  entries(): WordEntries {
    return new WordEntries(this.#bytes, this.#entriesAt, this.count, this.#most)
  }

  /** False before the first passage. */
  get isBegun(): boolean {
    return this.#left < this.count
  }

  next(): boolean {
    if (this.#left === 0) return false
    this.#left--
    this.#unread += this.title + this.heading + this.text
    const step = this.#number()
    if (step === 0 && this.#left + 1 < this.count) throw damagedList('has a passage twice')
    this.passage += step
    if (this.passage >= this.#most) throw damagedList('is in a passage that is not there')
    const word = this.#number()
    this.text = word >>> 2
    this.title = (word & HAS_TITLE) !== 0 ? this.#number() : 0
    this.heading = (word & HAS_HEADING) !== 0 ? this.#number() : 0
    if (this.title + this.heading + this.text === 0)
      throw damagedList('has a passage without the word')
    return true
  }

  /** Goes to the first passage that is not before this one, where it is not there. False where there is none. */
  advance(to: number): boolean {
    while (!this.isBegun || this.passage < to) {
      if (this.isBegun) this.#pass(to)
      if (!this.next()) return false
    }
    return true
  }

  /** Passes entries before a passage, as far as each is two bytes: most are. */
  #pass(to: number): void {
    const bytes = this.#bytes
    let at = this.#at
    let left = this.#left
    let { passage } = this
    let before = 0
    let text = -1
    for (; left > 0; left--) {
      const step = bytes[at] as number
      const word = bytes[at + 1] as number
      const isShort = step > 0 && step < 0x80 && word > 0 && word < 0x80
      if (!isShort || (word & HAS_OTHERS) !== 0 || passage + step >= to) break
      passage += step
      at += 2
      if (text >= 0) before += text
      text = word >>> 2
    }
    if (text < 0) return
    if (passage >= this.#most) throw damagedList('is in a passage that is not there')
    this.#unread += this.title + this.heading + this.text + before
    this.title = this.heading = 0
    this.text = text
    this.passage = passage
    this.#at = at
    this.#left = left
  }

  /** Goes to the positions of the passage. They are read with gap(), as many as it has counts. */
  positions(): void {
    const bytes = this.#bytes
    let at = this.#positionsAt
    for (let left = this.#unread; left > 0; at++) {
      if (at >= bytes.length) throw damagedList('does not end where it should')
      if ((bytes[at] as number) < 0x80) left--
    }
    this.#positionsAt = at
    this.#unread = -(this.title + this.heading + this.text)
  }

  /** The next position of the passage: how many words lie between it and the one before in its field. */
  gap(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#positionsAt++] as number
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let shift = 7; shift < 35; shift += 7) {
      byte = bytes[this.#positionsAt++] as number
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw damagedList('does not end where it should')
  }

  /** What is behind the end of the bytes ends no number. */
  #number(): number {
    const bytes = this.#bytes
    let byte = bytes[this.#at++] as number
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    for (let shift = 7; shift < 35; shift += 7) {
      byte = bytes[this.#at++] as number
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value >>> 0
    }
    throw damagedList('does not end where it should')
  }
}

/** Bytes that grow: whole numbers below 2^32, seven bits a byte, the lowest first (LEB128). */
class Bytes {
  length = 0
  #bytes = new Uint8Array(64)

  number(value: number): void {
    if (this.length + 5 > this.#bytes.length) this.#grow()
    const bytes = this.#bytes
    while (value >= 0x80) {
      bytes[this.length++] = (value & 0x7f) | 0x80
      value >>>= 7
    }
    bytes[this.length++] = value
  }

  /** All of it, until more comes; it is empty then. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(0, this.length)
    this.length = 0
    return taken
  }

  #grow(): void {
    const larger = new Uint8Array(2 * this.#bytes.length)
    larger.set(this.#bytes)
    this.#bytes = larger
  }
}
