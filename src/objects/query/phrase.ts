// Which rows have words one behind the other, by the places of the words. The places are looked at in
// rows that have all of the words alone.

import type { WordCursor } from '../engine/word-page.js'
import { placesIn } from '../engine/word-keys.js'
import { nextWindow, RowBits, windowRows } from './row-window.js'

/** A word of a phrase, or all that it may stand for. */
export interface PhraseWord {
  /** Which word of the phrase it is. */
  readonly offset: number
  readonly cursors: readonly WordCursor[]
}

/** Where a phrase may begin in a row; nowhere any more where there is nothing. */
type Starts = readonly number[]

const nowhere: Starts = []

/**
 * The numbers of the rows that have all of the words in their places, growing. Rows are taken where the
 * first of the words is, which is best the rarest.
 */
export class PhraseSearch {
  readonly #words: readonly PhraseWord[]
  readonly #has: ((row: number) => boolean) | undefined
  readonly #bits = new RowBits()
  /** By row of the window: its place in the lists below, and 1. */
  readonly #slots = new Uint16Array(windowRows)
  #count = 0
  /** Where the first word is in a row: an entry's, or, of one with several, what they say together. */
  readonly #pages: WordCursor['page'][] = []
  readonly #placesFrom: number[] = []
  readonly #placesTo: number[] = []
  readonly #starts: (Starts | undefined)[] = []
  /** The same with the word that is under way. */
  readonly #next: (Starts | undefined)[] = []

  /** @param has the rows that are there; undefined: all */
  constructor(words: readonly PhraseWord[], has: ((row: number) => boolean) | undefined) {
    this.#words = words
    this.#has = has
  }

  /** The rows of the next window that has any; nothing at the end. */
  rows(found: number[]): boolean {
    const [first, ...others] = this.#words
    const base = first === undefined ? Infinity : nextWindow([first.cursors])
    if (first === undefined || base === Infinity) return false
    const end = base + windowRows
    this.#begin(first, base, end)
    for (const word of others) this.#narrow(word, base, end)
    this.#bits.drain((row) => {
      const slot = (this.#slots[row] as number) - 1
      this.#slots[row] = 0
      if (this.#starts[slot] !== nowhere) found.push(base + row)
    })
    return true
  }

  #begin({ offset, cursors }: PhraseWord, base: number, end: number): void {
    this.#count = 0
    for (const cursor of cursors) {
      for (; cursor.row < end; cursor.next()) {
        if (this.#has?.(cursor.row) === false) continue
        const row = cursor.row - base
        const known = (this.#slots[row] as number) - 1
        if (known >= 0) {
          this.#starts[known] = joined(this.#startsOf(known, offset), placesAt(cursor, offset))
          continue
        }
        const slot = this.#count++
        this.#slots[row] = slot + 1
        this.#bits.add(row)
        this.#pages[slot] = cursor.page
        this.#placesFrom[slot] = cursor.placeAt
        this.#placesTo[slot] = cursor.placeEnd
        this.#starts[slot] = undefined
        this.#next[slot] = undefined
      }
    }
  }

  /** Only rows that have one more word, in its place. */
  #narrow({ offset, cursors }: PhraseWord, base: number, end: number): void {
    const firstOffset = (this.#words[0] as PhraseWord).offset
    for (const cursor of cursors) {
      for (; cursor.row < end; cursor.next()) {
        if (cursor.row < base) continue
        const slot = (this.#slots[cursor.row - base] as number) - 1
        if (slot < 0) continue
        const starts = this.#startsOf(slot, firstOffset)
        if (starts === nowhere) continue
        // What was decoded once is not decoded again.
        this.#starts[slot] = starts
        const both = common(starts, placesAt(cursor, offset))
        if (both.length === 0) continue
        const known = this.#next[slot]
        this.#next[slot] = known === undefined ? both : joined(known, both)
      }
    }
    for (let slot = 0; slot < this.#count; slot++) {
      this.#starts[slot] = this.#next[slot] ?? nowhere
      this.#next[slot] = undefined
    }
  }

  #startsOf(slot: number, offset: number): Starts {
    const known = this.#starts[slot]
    if (known !== undefined) return known
    const { bytes } = this.#pages[slot] as WordCursor['page']
    return placesIn(bytes, this.#placesFrom[slot] as number, this.#placesTo[slot] as number, offset)
  }
}

function placesAt({ page, placeAt, placeEnd }: WordCursor, offset: number): Starts {
  return placesIn(page.bytes, placeAt, placeEnd, offset)
}

/** Of a word that stands for several each comes with its own. */
function joined(one: Starts, other: Starts): Starts {
  return [...one, ...other].sort((a, b) => a - b)
}

/** Side by side: a row may have a word a hundred thousand times. */
function common(one: Starts, other: Starts): Starts {
  const both: number[] = []
  for (let i = 0, j = 0; i < one.length && j < other.length;) {
    const [a, b] = [one[i] as number, other[j] as number]
    if (a === b) both.push(a)
    if (a <= b) i++
    if (b <= a) j++
  }
  return both
}
