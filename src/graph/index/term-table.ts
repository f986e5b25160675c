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
export const numbersAhead = 12

/** For readAhead(); as many terms as it is ever asked for. */
const places = new Uint32Array(maxAhead)

/** Of a table with room for so many terms, a power of two. */
export interface TermArrays {
  /** Where each entry begins; one more for where the last one ends. Behind a term there may be how it is spelled. */
  readonly starts: Uint32Array
  readonly hashes: Uint32Array
  /** Pairs of hash and id, ids from 1, twice as many as there is room for terms; 0 where a slot is free. */
  readonly slots: Uint32Array
  /** Entries without gaps. */
  readonly words: Int32Array
}

/** Where the arrays of a table lie. */
export interface TermMemory {
  /** With what `kept` has, `used` of its words; slots are free where there is more room than before. */
  allocate(room: number, wordRoom: number, kept: TermArrays | undefined, used: number): TermArrays
  /** Enters the first of `count` terms into the slots, and returns how many. */
  enter(count: number): number
}

const heap: TermMemory = {
  allocate(room, wordRoom, kept, used) {
    const words =
      kept?.words.length === wordRoom
        ? kept.words
        : larger(kept?.words, new Int32Array(wordRoom), used)
    if (kept?.starts.length === room) return { ...kept, words }
    return {
      starts: larger(kept?.starts, new Uint32Array(room)),
      hashes: larger(kept?.hashes, new Uint32Array(room)),
      slots: new Uint32Array(4 * room),
      words,
    }
  },
  enter: () => 0,
}

function larger<Numbers extends Int32Array | Uint32Array>(
  kept: Numbers | undefined,
  into: Numbers,
  used = kept?.length,
): Numbers {
  if (kept !== undefined) into.set(kept.subarray(0, used))
  return into
}

export class TermTable {
  count = 0
  wordLength = 0
  // As TermArrays.
  words!: TermArrays['words']
  starts!: TermArrays['starts']
  hashes!: TermArrays['hashes']
  #slots!: TermArrays['slots']

  /** What readAhead() came to: it would be optimised away if nothing became of it. */
  wasRead = 0

  readonly #memory: TermMemory
  readonly #crowded = new Map<string, number>()

  /** `room`: terms that fit before it grows, a power of two. */
  constructor(room = 1 << 14, memory = heap) {
    this.#memory = memory
    this.#place(memory.allocate(room, 16 * room, undefined, 0))
    this.starts[0] = 0
  }

  #place({ words, starts, hashes, slots }: TermArrays): void {
    this.words = words
    this.starts = starts
    this.hashes = hashes
    this.#slots = slots
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
    const bytes = new Uint8Array(this.words.buffer, this.words.byteOffset)
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
    const { buffer, byteOffset } = this.words
    const start = byteOffset + 4 * (this.starts[id] as number)
    return Buffer.from(buffer, start + 4, this.byteLengthOf(id)).toString()
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
    const mine = this.words
    for (let i = from, at = start; i < to; i++, at++) mine[at] = words[i] as number
    this.wordLength = end
    this.starts[id] = start
    this.starts[id + 1] = end
    this.hashes[id] = hash
    if (this.count + 2 > this.starts.length) this.makeRoom(2, 0)
    return id
  }

  #addCrowded(words: Int32Array, from: number, to: number, hash: number): number {
    const key = crowdedKey(words, from, to)
    const found = this.#crowded.get(key)
    if (found !== undefined) return found
    this.#crowded.set(key, this.count)
    return this.#append(words, from, to, hash)
  }

  #needWords(length: number): void {
    if (length + numbersAhead > this.words.length) this.makeRoom(0, length)
  }

  /** Room for so many terms more, and for so many numbers in all with what readAhead() reads behind the last. */
  makeRoom(terms: number, numbers: number): void {
    const { words, starts, hashes } = this
    const slots = this.#slots
    const roomBefore = starts.length
    let room = roomBefore
    while (this.count + terms > room) room *= 2
    const wordRoom =
      numbers + numbersAhead > words.length ? 2 * (numbers + numbersAhead) : words.length
    const kept = { words, starts, hashes, slots }
    this.#place(this.#memory.allocate(room, wordRoom, kept, this.wordLength))
    if (room === roomBefore) return
    this.#crowded.clear()
    for (let id = this.#memory.enter(this.count); id < this.count; id++) this.#enter(id)
  }

  #enter(id: number): void {
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
