// The dictionary of a part while it is built: terms, as encoded-term.ts has them, to whole numbers,
// counted from 0 in the order in which they come.
// Hot: benchmarks/graph-import.ts; change with numbers.

import { byteLengthOf, ENTITY, entryWords, hashWords, kindOf } from './encoded-term.js'

/**
 * Terms that would need more steps than this in the table go into a Map. There are none in practice;
 * they are those of somebody who makes thousands of terms of one hash.
 */
const maxSteps = 64

export const maxAhead = 384

/** Most terms have 40 bytes or so, and end in another line of the processor's cache than they begin in. */
const numbersAhead = 12

/** For readAhead(); as many terms as it is ever asked for. */
const places = new Uint32Array(maxAhead)

export class TermTable {
  count = 0
  /** Entries without gaps. */
  words: Int32Array<ArrayBuffer>
  wordLength = 0
  /** Where each entry begins; one more for where the last one ends. Behind a term there may be how it is spelled. */
  starts: Uint32Array<ArrayBuffer>
  hashes: Uint32Array<ArrayBuffer>

  /** What readAhead() came to: it would be optimised away if nothing became of it. */
  wasRead = 0

  /** Pairs of hash and id, ids from 1; 0 where a slot is free. */
  #slots: Uint32Array<ArrayBuffer>
  readonly #crowded = new Map<string, number>()

  /** `room`: terms that fit before it grows, a power of two. */
  constructor(room = 1 << 14) {
    this.words = new Int32Array(16 * room)
    this.starts = new Uint32Array(room)
    this.hashes = new Uint32Array(room)
    this.#slots = new Uint32Array(4 * room)
  }

  /** The id of the term that is [from, to) of `words`. */
  add(words: Int32Array, from: number, to: number): number {
    return this.addHashed(words, from, to, hashWords(words, from, to))
  }

  addHashed(words: Int32Array, from: number, to: number, hash: number): number {
    const slots = this.#slots
    const mask = slots.length - 2
    let slot = (hash << 1) & mask
    for (let steps = 0; steps < maxSteps; steps++) {
      const id = (slots[slot + 1] as number) - 1
      if (id < 0) {
        slots[slot] = hash
        slots[slot + 1] = this.count + 1
        return this.#append(words, from, to, hash)
      }
      if (slots[slot] === hash && this.#equals(id, words, from, to)) return id
      slot = (slot + 2) & mask
    }
    return this.#addCrowded(words, from, to, hash)
  }

  /**
   * How the language of the last term is spelled: behind its entry, where no comparison comes to.
   * Called once for a term, when it was added.
   */
  spell(tag: Uint8Array): void {
    const end = this.wordLength
    const to = end + ((tag.length + 3) >>> 2)
    this.#needWords(to)
    const bytes = new Uint8Array(this.words.buffer)
    bytes.fill(0, 4 * end, 4 * to)
    bytes.set(tag, 4 * end)
    this.wordLength = to
    this.starts[this.count] = to
  }

  /**
   * Reads what look-ups of these hashes will read. Each look-up waits for memory three times; here
   * the waits of all are at the same time (walking and looking up 3,000,000 terms, 500,000 of them
   * distinct: 570 ms in place of 680).
   */
  readAhead(hashes: Uint32Array, count: number): void {
    const slots = this.#slots
    const mask = slots.length - 2
    const { starts, words } = this
    for (let i = 0; i < count; i++) {
      places[i] = slots[(((hashes[i] as number) << 1) & mask) + 1] as number
    }
    for (let i = 0; i < count; i++) {
      const id = places[i] as number
      places[i] = id === 0 ? 0 : (starts[id - 1] as number)
    }
    let read = 0
    for (let i = 0; i < count; i++) {
      const start = places[i] as number
      read ^= (words[start] as number) ^ (words[start + numbersAhead] as number)
    }
    this.wasRead = read
  }

  /** The text of a term, in bytes of its UTF-8. */
  byteLengthOf(id: number): number {
    return byteLengthOf(this.words[this.starts[id] as number] as number)
  }

  /** The text of a term, without what it has more. */
  textOf(id: number): string {
    const { buffer } = this.words
    return Buffer.from(
      buffer,
      4 * (this.starts[id] as number) + 4,
      this.byteLengthOf(id),
    ).toString()
  }

  isEntity(id: number): boolean {
    return kindOf(this.words[this.starts[id] as number] as number) === ENTITY
  }

  clear(): void {
    this.count = 0
    this.wordLength = 0
    this.#slots.fill(0)
    this.#crowded.clear()
  }

  #equals(id: number, words: Int32Array, from: number, to: number): boolean {
    const ours = this.words
    let mine = this.starts[id] as number
    // The first number has the length, so another term's end is not passed.
    for (let i = from; i < to; i++, mine++) if (words[i] !== ours[mine]) return false
    return true
  }

  #append(words: Int32Array, from: number, to: number, hash: number): number {
    const id = this.count++
    const start = this.wordLength
    const end = start + to - from
    this.#needWords(end)
    if (id + 2 > this.starts.length) this.#growTerms()
    const mine = this.words
    for (let i = from, at = start; i < to; i++, at++) mine[at] = words[i] as number
    this.wordLength = end
    this.starts[id] = start
    this.starts[id + 1] = end
    this.hashes[id] = hash
    if (4 * this.count > this.#slots.length) this.#growSlots()
    return id
  }

  #addCrowded(words: Int32Array, from: number, to: number, hash: number): number {
    const key = crowdedKey(words, from, to)
    const found = this.#crowded.get(key)
    if (found !== undefined) return found
    this.#crowded.set(key, this.count)
    return this.#append(words, from, to, hash)
  }

  /** Room for so many, and for what readAhead() reads behind the last. */
  #needWords(length: number): void {
    if (length + numbersAhead > this.words.length) this.#growWords(length + numbersAhead)
  }

  #growWords(length: number): void {
    const larger = new Int32Array(2 * length)
    larger.set(this.words.subarray(0, this.wordLength))
    this.words = larger
  }

  #growTerms(): void {
    const starts = new Uint32Array(2 * this.starts.length)
    starts.set(this.starts)
    this.starts = starts
    const hashes = new Uint32Array(2 * this.hashes.length)
    hashes.set(this.hashes)
    this.hashes = hashes
  }

  #growSlots(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length)
    this.#crowded.clear()
    for (let id = 0; id < this.count; id++) this.#place(id)
  }

  #place(id: number): void {
    const slots = this.#slots
    const mask = slots.length - 2
    const hash = this.hashes[id] as number
    let slot = (hash << 1) & mask
    for (let steps = 0; steps < maxSteps; steps++) {
      if (slots[slot + 1] === 0) {
        slots[slot] = hash
        slots[slot + 1] = id + 1
        return
      }
      slot = (slot + 2) & mask
    }
    const { words } = this
    const start = this.starts[id] as number
    const length = entryWords(words[start] as number, (place) => words[start + place] as number)
    const key = crowdedKey(words, start, start + length)
    this.#crowded.set(key, id)
  }
}

function crowdedKey(words: Int32Array, from: number, to: number): string {
  return Buffer.from(words.buffer, words.byteOffset + 4 * from, 4 * (to - from)).toString('latin1')
}
