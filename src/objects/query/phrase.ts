// Which rows have words one behind the other, by the places of the words. The places are looked at in
// rows that have all of the words alone.

import { keepShape } from '../../kept-shapes.js'
import type { WordCursor, WordPage } from '../engine/word-page.js'
import { PlaceReader, placesIn } from '../engine/word-keys.js'
import { nextWindow, RowBits, windowRows } from './row-window.js'

/** A word of a phrase, or all that it may stand for. */
export interface PhraseWord {
  /** Which word of the phrase it is. */
  readonly offset: number
  readonly cursors: readonly WordCursor[]
}

/** Where a phrase may begin in a row; nowhere any more where there is nothing. */
type Starts = readonly number[]

/** What searches that are not under way have left: an array is filled with zeros when it is made. */
const spare: Window[] = []
const mostSpare = 4

class Window {
  readonly rows = new RowBits()
  /** By row: its place in the lists of the search, and 1. */
  readonly slots = new Uint16Array(windowRows)
  /** Of one cursor, or all. */
  readonly taken = new Uint16Array(windowRows)
}

const nowhere: Starts = []
const somewhere: Starts = [0]

/**
 * The numbers of the rows that have all of the words in their places, growing. Rows are taken where the
 * first of the words is, which is best the rarest.
 */
export class PhraseSearch {
  readonly #words: readonly PhraseWord[]
  readonly #has: ((row: number) => boolean) | undefined
  #count = 0
  /** Where the first word is in a row: an entry's, or, of one with several, what they say together. */
  readonly #pages: WordPage[] = []
  readonly #placesFrom: number[] = []
  readonly #placesTo: number[] = []
  readonly #starts: (Starts | undefined)[] = []
  /** The same with the word that is under way. */
  readonly #next: (Starts | undefined)[] = []
  readonly #one = new PlaceReader()
  readonly #other = new PlaceReader()

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
    const window = spare.pop() ?? new Window()
    const { taken, slots } = window
    this.#begin(first, base, window)
    for (const word of others) this.#narrow(word, base, window, word === others.at(-1))
    const count = window.rows.drain(taken)
    for (let n = 0; n < count; n++) {
      const row = taken[n] as number
      const slot = (slots[row] as number) - 1
      slots[row] = 0
      if (this.#starts[slot] !== nowhere) found.push(base + row)
    }
    if (spare.length < mostSpare) spare.push(window)
    return true
  }

  #begin({ offset, cursors }: PhraseWord, base: number, window: Window): void {
    const { rows, slots, taken } = window
    this.#count = 0
    for (const cursor of cursors) {
      const { page } = cursor
      const found = cursor.take(base, base + windowRows, taken)
      for (let n = 0, entry = cursor.n - found; n < found; n++, entry++) {
        const row = taken[n] as number
        if (this.#has?.(base + row) === false) continue
        const from = cursor.placesAt(entry)
        const to = from + (page.placeBytes[entry] as number)
        const known = (slots[row] as number) - 1
        if (known >= 0) {
          const starts = placesIn(page.bytes, from, to, offset)
          this.#starts[known] = joined(this.#startsOf(known, offset), starts)
          continue
        }
        const slot = this.#count++
        slots[row] = slot + 1
        rows.add(row)
        this.#pages[slot] = page
        this.#placesFrom[slot] = from
        this.#placesTo[slot] = to
        this.#starts[slot] = undefined
        this.#next[slot] = undefined
      }
    }
  }

  /** Only rows that have one more word, in its place. */
  #narrow({ offset, cursors }: PhraseWord, base: number, window: Window, isLast: boolean): void {
    const firstOffset = (this.#words[0] as PhraseWord).offset
    const { slots, taken } = window
    for (const cursor of cursors) {
      const { page } = cursor
      const found = cursor.take(base, base + windowRows, taken)
      for (let n = 0, entry = cursor.n - found; n < found; n++, entry++) {
        const slot = (slots[taken[n] as number] as number) - 1
        if (slot < 0) continue
        const from = cursor.placesAt(entry)
        const to = from + (page.placeBytes[entry] as number)
        const known = this.#next[slot]
        if (isLast && this.#starts[slot] === undefined) {
          // Where in the row nobody asks any more.
          const isNew = known === undefined
          if (isNew && this.#meet(slot, page, from, to, offset - firstOffset)) {
            this.#next[slot] = somewhere
          }
          continue
        }
        const starts = this.#startsOf(slot, firstOffset)
        if (starts === nowhere) continue
        // What was decoded once is not decoded again.
        this.#starts[slot] = starts
        const both = common(starts, placesIn(page.bytes, from, to, offset))
        if (both.length === 0) continue
        this.#next[slot] = known === undefined ? both : joined(known, both)
      }
    }
    for (let slot = 0; slot < this.#count; slot++) {
      this.#starts[slot] = this.#next[slot] ?? nowhere
      this.#next[slot] = undefined
    }
  }

  /** Whether some place is so far behind one of the first word's in the row. */
  #meet(slot: number, { bytes }: WordPage, from: number, to: number, distance: number): boolean {
    const one = this.#one
    const other = this.#other
    const { bytes: ownBytes } = this.#pages[slot] as WordPage
    one.begin(ownBytes, this.#placesFrom[slot] as number, this.#placesTo[slot] as number)
    other.begin(bytes, from, to)
    for (;;) {
      const behind = other.place - one.place - distance
      if (behind === 0) return true
      if (!(behind < 0 ? other : one).next()) return false
    }
  }

  #startsOf(slot: number, offset: number): Starts {
    const known = this.#starts[slot]
    if (known !== undefined) return known
    const { bytes } = this.#pages[slot] as WordPage
    return placesIn(bytes, this.#placesFrom[slot] as number, this.#placesTo[slot] as number, offset)
  }
}

keepShape(new PhraseSearch([], undefined))

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
