import type { Term } from '../../types.js'
import { ANY, NONE, type Rows, type TextView } from '../view.js'
import { OSP, SPO, type Part, type RowRange } from './part.js'
import { blockBytes } from './layout.js'
import { encodeTerm } from './encoded-term.js'

/** In the place of a collection: those of all. */
export const ALL = -1

/** A part as a graph, under the part's own ids; all of it, or what one collection says. */
export class PartView implements TextView {
  readonly part: Part
  readonly collection: number
  readonly isExact: boolean
  readonly parts = 1
  readonly #range: RowRange = { order: SPO, from: 0, to: 0 }

  /** `collection` is an id of the part, and `ALL` where the part has no other. */
  constructor(part: Part, collection: number) {
    this.part = part
    this.collection = collection
    this.isExact = collection === ALL
  }

  find(term: Term): number {
    return this.part.find(encodeTerm(term))
  }

  findText(text: string): number[] {
    return this.part.findText(text)
  }

  term(id: number): Term {
    return this.part.term(id)
  }

  rows(s: number, p: number, o: number): Rows {
    if (s === NONE || p === NONE || o === NONE) return noRows
    if (s !== ANY && p !== ANY && o !== ANY) {
      return this.has(s, p, o) ? new OneRow(s, p, o) : noRows
    }
    this.part.rangeOf(s, p, o, this.#range)
    const { order, from, to } = this.#range
    return from === to ? noRows : new PartRows(this, order, from, to, s, p, o)
  }

  has(s: number, p: number, o: number): boolean {
    if (s === NONE || p === NONE || o === NONE) return false
    const row = this.part.rowOf(s, p, o)
    return row >= 0 && this.accepts(row)
  }

  estimate(s: number, p: number, o: number): number {
    if (s === NONE || p === NONE || o === NONE) return 0
    if (s !== ANY && p !== ANY && o !== ANY) return this.has(s, p, o) ? 1 : 0
    this.part.rangeOf(s, p, o, this.#range)
    return this.#range.to - this.#range.from
  }

  /** Whether the view has the triple of a row in `SPO`. */
  accepts(row: number): boolean {
    return this.collection === ALL || this.part.isIn(row, this.collection)
  }
}

class PartRows implements Rows {
  s: number
  p: number
  o: number
  readonly #view: PartView
  readonly #order: number
  #row: number
  readonly #to: number
  /** In a scan of everything: the row at which the next subject begins. */
  #subjectEnd: number
  // The block of the row, and where its offsets begin.
  #words: Uint32Array = noWords
  #wordsFrom = -1

  constructor(
    view: PartView,
    order: number,
    from: number,
    to: number,
    s: number,
    p: number,
    o: number,
  ) {
    this.#view = view
    this.#order = order
    this.#row = from
    this.#to = to
    this.s = s
    this.p = p
    this.o = o
    this.#subjectEnd = s === ANY && p === ANY && o === ANY ? 0 : to
  }

  next(): boolean {
    const { part, collection } = this.#view
    for (; this.#row < this.#to; this.#row++) {
      const row = this.#row
      while (row >= this.#subjectEnd) {
        this.#subjectEnd = part.startOf(SPO, this.s + 2)
        this.s++
      }
      const place = part.pairPlace(this.#order, row)
      const at = place & (blockBytes - 1)
      if (place - at !== this.#wordsFrom) {
        this.#words = part.block(place).words
        this.#wordsFrom = place - at
      }
      const second = this.#words[at >>> 2] as number
      const third = this.#words[(at >>> 2) + 1] as number
      if (this.#order === SPO) {
        this.p = second
        this.o = third
      } else if (this.#order === OSP) {
        this.s = second
        this.p = third
      } else {
        this.o = second
        this.s = third
      }
      if (collection !== ALL) {
        const spoRow = this.#order === SPO ? row : part.rowOf(this.s, this.p, this.o)
        if (!this.#view.accepts(spoRow)) continue
      }
      this.#row = row + 1
      return true
    }
    return false
  }
}

class OneRow implements Rows {
  readonly s: number
  readonly p: number
  readonly o: number
  #given = false

  constructor(s: number, p: number, o: number) {
    this.s = s
    this.p = p
    this.o = o
  }

  next(): boolean {
    const isFirst = !this.#given
    this.#given = true
    return isFirst
  }
}

const noWords = new Uint32Array(0)

const noRows: Rows = { next: () => false, s: NONE, p: NONE, o: NONE }
