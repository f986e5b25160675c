// Cursors over the rows of a part, in one of its orders.

import { patience, pause } from '../miss.js'
import { ANY, DEFAULT, NONE, UNION, type Rows } from '../view.js'
import { pieceBytes } from './layout.js'
import { OSP, SPO, type Part, type PlaceRange, type RowRange } from './part.js'

/** Rows, and which of `SPO` they are. */
export interface PartRows extends Rows {
  /** May throw a Miss. */
  spoRow(): number
}

/** The rows of a pattern: a range of one of the orders. */
export class RangeRows implements PartRows {
  s: number
  p: number
  o: number
  /** Where there are named graphs, this is of a union. */
  readonly g = DEFAULT
  readonly #part: Part
  readonly #order: number
  #row: number
  readonly #to: number
  /** In a scan of everything: the row at which the next subject begins. */
  #subjectEnd: number
  // The piece of the row, and where its offsets begin.
  #words: Uint32Array = noWords
  #wordsFrom = -1
  /** Predicates of a subject that are passed over. */
  readonly #unwanted: ReadonlySet<number> | undefined

  constructor(
    part: Part,
    { order, from, to }: RowRange,
    [s, p, o]: readonly [s: number, p: number, o: number],
    unwanted?: ReadonlySet<number>,
  ) {
    this.#part = part
    this.#unwanted = s !== ANY && p === ANY ? unwanted : undefined
    this.#order = order
    this.#row = from
    this.#to = to
    this.s = s
    this.p = p
    this.o = o
    this.#subjectEnd = s === ANY && p === ANY && o === ANY ? 0 : to
  }

  next(): boolean {
    if (this.#unwanted !== undefined) this.#passOver(this.#unwanted)
    const row = this.#row
    if (row >= this.#to) return false
    const part = this.#part
    while (row >= this.#subjectEnd) {
      this.#subjectEnd = part.startOf(SPO, this.s + 2)
      this.s++
    }
    const place = part.pairPlace(this.#order, row)
    const at = place & (pieceBytes - 1)
    if (place - at !== this.#wordsFrom) {
      this.#words = part.piece(place)
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
    this.#row = row + 1
    return true
  }

  #passOver(unwanted: ReadonlySet<number>): void {
    while (this.#row < this.#to) {
      const predicate = this.#part.predicateOf(this.#row)
      if (!unwanted.has(predicate)) return
      this.#row = this.#part.behind(predicate, this.#row, this.#to)
    }
  }

  spoRow(): number {
    return this.#order === SPO ? this.#row - 1 : this.#part.rowOf(this.s, this.p, this.o)
  }
}

/** Rows of `SPO` that ascend: [at, to) themselves, or the rows that a place has there. */
interface Run {
  at: number
  readonly to: number
  row: number
}

/**
 * The rows of some places that fit a pattern, each once, in the order of `SPO`. All rows of the part
 * where no places are given.
 */
export class PlacesRows implements PartRows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  readonly g = DEFAULT
  readonly #part: Part
  readonly #places: PlaceRange | undefined
  readonly #pattern: readonly [s: number, p: number, o: number]
  /** The next place that is still to be taken up. */
  #place: number
  /** A heap: the run with the first row is on top. */
  readonly #runs: Run[] = []
  #row = -1
  /** Of the last row that was told: those behind it have this one, or one behind it. */
  #subject = 0
  #passed = 0

  constructor(part: Part, places: PlaceRange | undefined, s: number, p: number, o: number) {
    this.#part = part
    this.#places = places
    this.#pattern = [s, p, o]
    this.#place = places?.from ?? 0
    if (places === undefined && part.record.triples > 0)
      this.#runs.push({ at: 0, to: part.record.triples, row: 0 })
  }

  next(): boolean {
    const part = this.#part
    const runs = this.#runs
    this.#takeUp()
    const [s, p, o] = this.#pattern
    for (let run = runs[0]; run !== undefined; run = runs[0]) {
      const { row } = run
      let fits = row !== this.#row
      if (fits) {
        const place = part.pairPlace(SPO, row)
        const words = part.piece(place)
        const at = (place & (pieceBytes - 1)) >>> 2
        const [second, third] = [words[at] as number, words[at + 1] as number]
        fits = (p === ANY || second === p) && (o === ANY || third === o)
        if (fits) {
          const subject = part.subjectOf(row, this.#subject)
          this.#subject = subject
          this.s = subject
          this.p = second
          this.o = third
          fits = s === ANY || subject === s
        }
      }
      this.#advance(run)
      this.#row = row
      if (fits) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }

  spoRow(): number {
    return this.#row
  }

  #takeUp(): void {
    if (this.#places === undefined) return
    const { to, accepts } = this.#places
    const part = this.#part
    for (; this.#place < to; this.#place++) {
      if (accepts !== undefined && accepts[this.#place] !== 1) continue
      const at = part.placeStart(this.#place)
      const end = part.placeStart(this.#place + 1)
      if (at === end) continue
      this.#rise({ at, to: end, row: part.placeRow(at) })
    }
  }

  #advance(run: Run): void {
    const runs = this.#runs
    const at = run.at + 1
    if (at < run.to) {
      run.row = this.#places === undefined ? at : this.#part.placeRow(at)
      run.at = at
      if (runs.length > 1) this.#sink(run)
      return
    }
    const last = runs.pop() as Run
    if (last !== run) this.#sink(last)
  }

  /** A new one, from below. */
  #rise(run: Run): void {
    const runs = this.#runs
    let at = runs.length
    while (at > 0) {
      const above = (at - 1) >>> 1
      const other = runs[above] as Run
      if (other.row <= run.row) break
      runs[at] = other
      at = above
    }
    runs[at] = run
  }

  /** One in place of the first. */
  #sink(run: Run): void {
    const runs = this.#runs
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= runs.length) break
      const right = runs[below + 1]
      if (right !== undefined && right.row < (runs[below] as Run).row) below++
      const other = runs[below] as Run
      if (other.row >= run.row) break
      runs[at] = other
      at = below
    }
    runs[at] = run
  }
}

/** One row, which is known. */
export class OneRow implements PartRows {
  readonly s: number
  readonly p: number
  readonly o: number
  readonly g = DEFAULT
  readonly #row: number
  #given = false

  constructor(s: number, p: number, o: number, row: number) {
    this.s = s
    this.p = p
    this.o = o
    this.#row = row
  }

  next(): boolean {
    const isFirst = !this.#given
    this.#given = true
    return isFirst
  }

  spoRow(): number {
    return this.#row
  }
}

/** Those of some rows that are in places that count: once, or once in each of their graphs. */
export class RowsInPlaces implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number
  readonly #part: Part
  readonly #rows: PartRows
  readonly #places: PlaceRange
  readonly #eachGraph: boolean
  /** A row was taken, and not looked up yet. */
  #pending = false
  /** The row that was told last, which may be in other graphs as well, and the first of their places. */
  #row: number = NONE
  #least = 0
  #passed = 0

  /** `g` is what rows say where they are not told of each graph. */
  constructor(part: Part, rows: PartRows, places: PlaceRange, eachGraph: boolean, g: number) {
    this.#part = part
    this.#rows = rows
    this.#places = places
    this.#eachGraph = eachGraph
    this.g = g
  }

  next(): boolean {
    const part = this.#part
    const rows = this.#rows
    for (;;) {
      if (this.#row === NONE) {
        if (!this.#pending && !rows.next()) return false
        this.#pending = true
        this.#row = rows.spoRow()
        this.#pending = false
        this.#least = this.#places.from
      }
      const place = part.placeOf(this.#row, this.#places, this.#least)
      if (place === NONE) {
        this.#row = NONE
        if (++this.#passed % patience.rows === 0) throw pause()
        continue
      }
      if (this.#eachGraph) {
        const g = part.graphOf(place)
        this.#least = part.afterGraph(place)
        this.g = g
      } else this.#row = NONE
      this.s = rows.s
      this.p = rows.p
      this.o = rows.o
      return true
    }
  }
}

/** Rows that are all of one graph. */
export class RowsOfGraph implements Rows {
  readonly g: number
  readonly #rows: Rows

  constructor(rows: Rows, g: number) {
    this.#rows = rows
    this.g = g
  }

  get s(): number {
    return this.#rows.s
  }

  get p(): number {
    return this.#rows.p
  }

  get o(): number {
    return this.#rows.o
  }

  next(): boolean {
    return this.#rows.next()
  }
}

const noWords = new Uint32Array(0)

export const noRows: Rows = { next: () => false, s: NONE, p: NONE, o: NONE, g: UNION }
