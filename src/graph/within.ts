// Rows whose object has a value in a range.

import { patience, pause } from './miss.js'
import { ANY, NONE, type PartedView, type Rows, type Values } from './view.js'
import type { ValueRange } from './value/range.js'

/** What finding the rows of one object costs, in rows that are gone through and looked at. */
const rowsPerLookUp = 4

/** A graph's objects with a value in a range. */
export class Within {
  readonly #view: PartedView
  readonly #range: ValueRange
  /** How many there are in the parts that were asked. */
  #count = 0
  #counted = 0
  // The last one that was looked at: rows with one object often come together.
  #last: number = NONE
  #holds = false

  constructor(view: PartedView, range: ValueRange) {
    this.#view = view
    this.#range = range
  }

  /** About how many objects there are. May throw a Miss, and goes on where it was. */
  count(): number {
    for (; this.#counted < this.#view.parts; this.#counted++) {
      this.#count += this.#view.countBetween(this.#range, this.#counted)
    }
    return this.#count
  }

  holds(id: number): boolean {
    if (id !== this.#last) {
      this.#holds = this.#range.holds(this.#view.term(id))
      this.#last = id
    }
    return this.#holds
  }

  /** As view.estimate() has it, of rows with such an object. */
  estimate(s: number, p: number, g: number): number {
    return Math.min(this.#view.estimate(s, p, ANY, g), this.count())
  }

  /**
   * The rows with such an object, of those that `rowsOf` gives for one, and for any: by the values, or
   * by going through all, whichever is less. May throw a Miss, and goes on where it was.
   */
  rows(s: number, p: number, rowsOf: (o: number) => Rows): Rows {
    const all = this.#view.estimate(s, p, ANY)
    return this.count() * rowsPerLookUp < all
      ? new RowsByValue(this.#view.between(this.#range), rowsOf)
      : new RowsThatHold(this, rowsOf(ANY))
  }
}

class RowsByValue implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number = NONE
  readonly #values: Values
  readonly #rowsOf: (o: number) => Rows
  /** An object was taken, of which the rows are to be told. */
  #isTaken = false
  #rows: Rows | undefined
  /** Objects without rows. */
  #passed = 0

  constructor(values: Values, rowsOf: (o: number) => Rows) {
    this.#values = values
    this.#rowsOf = rowsOf
  }

  next(): boolean {
    while (this.#isTaken || this.#values.next()) {
      this.#isTaken = true
      const rows = (this.#rows ??= this.#rowsOf(this.#values.id))
      if (rows.next()) {
        this.s = rows.s
        this.p = rows.p
        this.o = rows.o
        this.g = rows.g
        return true
      }
      this.#rows = undefined
      this.#isTaken = false
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }
}

class RowsThatHold implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number = NONE
  readonly #within: Within
  readonly #rows: Rows
  /** A row was taken, and not looked at yet: a block was missing. */
  #pending = false
  #passed = 0

  constructor(within: Within, rows: Rows) {
    this.#within = within
    this.#rows = rows
  }

  next(): boolean {
    const rows = this.#rows
    for (;;) {
      if (!this.#pending && !rows.next()) return false
      this.#pending = true
      const holds = this.#within.holds(rows.o)
      this.#pending = false
      if (!holds) {
        if (++this.#passed % patience.rows === 0) throw pause()
        continue
      }
      this.s = rows.s
      this.p = rows.p
      this.o = rows.o
      this.g = rows.g
      return true
    }
  }
}
