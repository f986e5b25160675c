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

/** Where a phrase may begin in a row, growing; nowhere any more where there is nothing. */
type Starts = number[]

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

// Nobody adds to these.
const nowhere: Starts = []
const somewhere: Starts = [0]

/** Of places: some hundred microseconds. */
const bytesAtOnce = 65_536

/** Of a row: as few places are read again for each word that one stands for, and of more a list is made. */
const fewBytes = 64

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
  /** Rows that have several of the words that one stands for: where they are is not in order. */
  readonly #mixed = new Set<number>()
  #bytesRead = 0
  readonly #one = new PlaceReader()
  readonly #other = new PlaceReader()

  /** @param has the rows that are there; undefined: all */
  constructor(words: readonly PhraseWord[], has: ((row: number) => boolean) | undefined) {
    this.#words = words
    this.#has = has
  }

  /** Adds the rows to `rows`, in parts that take about as long each: a window may have a long text in every row. */
  *find(rows: number[]): Generator<undefined, void> {
    const [first, ...others] = this.#words
    if (first === undefined) return
    for (;;) {
      const base = nextWindow([first.cursors])
      if (base === Infinity) return
      const window = spare.pop() ?? new Window()
      this.#count = 0
      for (const cursor of first.cursors) {
        this.#begin(cursor, first.offset, base, window, others.length === 0)
        if (this.#isEnough()) yield
      }
      yield* this.#sort(this.#starts)
      for (const word of others) {
        const isLast = word === others.at(-1)
        for (const cursor of word.cursors) {
          this.#narrow(cursor, word.offset, base, window, isLast)
          if (this.#isEnough()) yield
        }
        yield* this.#sort(this.#next)
        this.#keepNext()
      }
      this.#drain(base, window, rows)
      if (spare.length < mostSpare) spare.push(window)
      yield
    }
  }

  #isEnough(): boolean {
    if (this.#bytesRead < bytesAtOnce) return false
    this.#bytesRead = 0
    return true
  }

  #drain(base: number, { rows, taken, slots }: Window, found: number[]): void {
    const count = rows.drain(taken)
    for (let n = 0; n < count; n++) {
      const row = taken[n] as number
      const slot = (slots[row] as number) - 1
      slots[row] = 0
      if (this.#starts[slot] !== nowhere) found.push(base + row)
    }
  }

  #begin(
    cursor: WordCursor,
    offset: number,
    base: number,
    { rows, slots, taken }: Window,
    isLast: boolean,
  ): void {
    const { page } = cursor
    const found = cursor.take(base, base + windowRows, taken)
    for (let n = 0, entry = cursor.n - found; n < found; n++, entry++) {
      const row = taken[n] as number
      if (this.#has?.(base + row) === false) continue
      const known = (slots[row] as number) - 1
      if (known >= 0 && isLast) continue
      const from = cursor.placesAt(entry)
      const to = from + (page.placeBytes[entry] as number)
      if (known >= 0) {
        this.#bytesRead += to - from
        const starts = this.#startsOf(known, offset)
        for (const place of placesIn(page.bytes, from, to, offset)) starts.push(place)
        this.#mixed.add(known)
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

  /** Only rows that have one more word, in its place. */
  #narrow(
    cursor: WordCursor,
    offset: number,
    base: number,
    { slots, taken }: Window,
    isLast: boolean,
  ): void {
    const firstOffset = (this.#words[0] as PhraseWord).offset
    const { page } = cursor
    const found = cursor.take(base, base + windowRows, taken)
    for (let n = 0, entry = cursor.n - found; n < found; n++, entry++) {
      const slot = (slots[taken[n] as number] as number) - 1
      if (slot < 0 || this.#starts[slot] === nowhere) continue
      const known = this.#next[slot]
      // Where in the row nobody asks any more.
      if (known === somewhere) continue
      const from = cursor.placesAt(entry)
      const to = from + (page.placeBytes[entry] as number)
      this.#bytesRead += to - from
      if (isLast) {
        const meet = this.#isRead(slot)
          ? this.#meet(slot, page, from, to, offset - firstOffset)
          : this.#meetOne(this.#startsOf(slot, firstOffset), page, from, to, offset)
        this.#next[slot] = meet ? somewhere : nowhere
        continue
      }
      const both = common(this.#startsOf(slot, firstOffset), placesIn(page.bytes, from, to, offset))
      if (both.length === 0) continue
      if (known === undefined) {
        this.#next[slot] = both
        continue
      }
      for (const place of both) known.push(place)
      this.#mixed.add(slot)
    }
  }

  #keepNext(): void {
    for (let slot = 0; slot < this.#count; slot++) {
      this.#starts[slot] = this.#next[slot] ?? nowhere
      this.#next[slot] = undefined
    }
  }

  /** Once for all the words of a row: each time again would take a square of them. */
  *#sort(lists: readonly (Starts | undefined)[]): Generator<undefined, void> {
    for (const slot of this.#mixed) {
      const starts = lists[slot] as Starts
      starts.sort((a, b) => a - b)
      this.#bytesRead += starts.length
      if (this.#isEnough()) yield
    }
    this.#mixed.clear()
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

  /** Whether the places of the first word are read as they lie there: the first time, or where they are few. */
  #isRead(slot: number): boolean {
    if (this.#starts[slot] !== undefined) return false
    const size = (this.#placesTo[slot] as number) - (this.#placesFrom[slot] as number)
    this.#bytesRead += size
    return this.#next[slot] === undefined || size <= fewBytes
  }

  /** Whether some place is one of those. */
  #meetOne(starts: Starts, { bytes }: WordPage, from: number, to: number, offset: number): boolean {
    const other = this.#other
    other.begin(bytes, from, to)
    let at = 0
    do {
      const start = other.place - offset
      at = lowerFrom(starts, start, at)
      if (at === starts.length) return false
      if (starts[at] === start) return true
    } while (other.next())
    return false
  }

  /** What was decoded once is not decoded again. */
  #startsOf(slot: number, offset: number): Starts {
    const known = this.#starts[slot]
    if (known !== undefined) return known
    const { bytes } = this.#pages[slot] as WordPage
    const from = this.#placesFrom[slot] as number
    const starts = placesIn(bytes, from, this.#placesTo[slot] as number, offset)
    this.#starts[slot] = starts
    return starts
  }
}

keepShape(new PhraseSearch([], undefined))

function common(starts: Starts, others: Starts): Starts {
  const both: number[] = []
  let at = 0
  for (const place of others) {
    at = lowerFrom(starts, place, at)
    if (at === starts.length) break
    if (starts[at] === place) both.push(place)
  }
  return both
}

/**
 * The first that is no less, from `at` on, by steps that double: a row may have one word a hundred
 * thousand times, and as many others once.
 */
function lowerFrom(starts: Starts, place: number, at: number): number {
  let low = at
  let high = at
  for (let step = 1; high < starts.length && (starts[high] as number) < place; step *= 2) {
    low = high + 1
    high += step
  }
  if (high > starts.length) high = starts.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((starts[middle] as number) < place) low = middle + 1
    else high = middle
  }
  return low
}
