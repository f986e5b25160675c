import type { Term } from '../../types.js'
import {
  ANY,
  DEFAULT,
  NAMED,
  NONE,
  UNION,
  type Names,
  type PartedView,
  type Rows,
  type Values,
} from '../view.js'
import { TEXT } from '../value/literal-value.js'
import type { ValueRange } from '../value/range.js'
import { patience, pause } from '../miss.js'
import { OSP, SPO, type Part, type RowRange } from './part.js'
import { blockBytes } from './layout.js'
import { encodeTerm } from './encoded-term.js'

/** In the place of a collection: those of all. */
export const ALL = -1

/** A part as a graph, under the part's own ids; all of it, or what one collection says. */
export class PartView implements PartedView {
  readonly part: Part
  readonly collection: number
  readonly isExact: boolean
  readonly parts = 1
  readonly #range: RowRange = { order: SPO, from: 0, to: 0 }

  /** `collection` is an id of the part, and `ALL` where the part has no other. */
  constructor(part: Part, collection: number) {
    this.part = part
    this.collection = collection
    this.isExact = collection === ALL && !part.hasGraphs
  }

  find(term: Term): number {
    return this.part.find(encodeTerm(term))
  }

  findText(text: string): number[] {
    return this.part.findText(text)
  }

  countBetween({ family, low, high }: ValueRange): number {
    if (family === TEXT) return Infinity
    const [from, to] = this.part.valueRange(family, low, high)
    return to - from
  }

  between(range: ValueRange): Values {
    return new PartValues(this.part, range)
  }

  graphNames(): Names {
    return new PartNames(this)
  }

  term(id: number): Term {
    return this.part.term(id)
  }

  rows(s: number, p: number, o: number, g: number = UNION): Rows {
    if (this.#isNothing(s, p, o, g)) return noRows
    const { part } = this
    if (part.hasGraphs && g !== UNION) return this.#quads(s, p, o, g)
    if (s !== ANY && p !== ANY && o !== ANY) {
      return this.has(s, p, o) ? new OneRow(s, p, o) : noRows
    }
    part.rangeOf(s, p, o, this.#range)
    const { order, from, to } = this.#range
    return from === to ? noRows : new PartRows(this, order, from, to, s, p, o)
  }

  has(s: number, p: number, o: number, g: number = UNION): boolean {
    if (this.#isNothing(s, p, o, g)) return false
    const row = this.part.rowOf(s, p, o)
    return row >= 0 && this.accepts(row, g)
  }

  estimate(s: number, p: number, o: number, g: number = UNION): number {
    if (this.#isNothing(s, p, o, g)) return 0
    if (s !== ANY && p !== ANY && o !== ANY && (g === UNION || !this.part.hasGraphs)) {
      return this.has(s, p, o) ? 1 : 0
    }
    this.part.rangeOf(s, p, o, this.#range)
    const rows = this.#range.to - this.#range.from
    return Math.min(rows, this.#graphRows(g))
  }

  /** Whether the view has the triple of a row in `SPO`, in a graph that `g` may be. */
  accepts(row: number, g: number = UNION): boolean {
    if (!this.part.hasGraphs)
      return this.collection === ALL || this.part.isIn(row, this.collection, g)
    if (g === UNION && this.collection === ALL) return true
    return this.part.isIn(row, this.collection, g)
  }

  #isNothing(s: number, p: number, o: number, g: number): boolean {
    if (s === NONE || p === NONE || o === NONE || g === NONE) return true
    return (g >= 0 || g === NAMED) && !this.part.hasGraphs
  }

  /** Rows of one graph; of several there are as many as there are. */
  #graphRows(g: number): number {
    if (!this.part.hasGraphs || (g < 0 && g !== DEFAULT)) return Infinity
    this.part.graphRange(g, this.#range)
    return this.#range.to - this.#range.from
  }

  /** By the triples of the graph, or by those of the pattern, whichever are fewer. */
  #quads(s: number, p: number, o: number, g: number): Rows {
    const { part } = this
    const range = this.#range
    if (s !== ANY && p !== ANY && o !== ANY) {
      const row = part.rowOf(s, p, o)
      return row === NONE ? noRows : new QuadRows(this, new OneRow(s, p, o), g)
    }
    const inGraph = this.#graphRows(g)
    const { from, to } = range
    part.rangeOf(s, p, o, range)
    const { order, from: first, to: end } = range
    if (first === end || inGraph === 0) return noRows
    if (inGraph < end - first) return new GraphRows(this, from, to, s, p, o, g)
    const rows = new PartRows(new PartView(part, ALL), order, first, end, s, p, o)
    return new QuadRows(this, rows, g)
  }
}

class PartRows implements Rows {
  s: number
  p: number
  o: number
  /** Where there are named graphs, this is of a union. */
  readonly g = DEFAULT
  readonly #view: PartView
  readonly #order: number
  #row: number
  #passed = 0
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
    while (this.#row < this.#to) {
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
      let isAccepted = true
      if (collection !== ALL) {
        const spoRow = this.#order === SPO ? row : part.rowOf(this.s, this.p, this.o)
        isAccepted = this.#view.accepts(spoRow)
      }
      this.#row = row + 1
      if (isAccepted) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }
}

/** Rows of a pattern, each as often as it is in a graph that is asked for. */
class QuadRows implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number = UNION
  readonly #view: PartView
  readonly #rows: Rows
  readonly #asked: number
  /** Memberships of the row that are left. */
  #at = 0
  #to = 0
  #passed = 0
  /** A row was taken, and not looked up yet. */
  #pending = false

  constructor(view: PartView, rows: Rows, g: number) {
    this.#view = view
    this.#rows = rows
    this.#asked = g
  }

  next(): boolean {
    const { part, collection } = this.#view
    const rows = this.#rows
    for (;;) {
      if (this.#at === this.#to) {
        if (!this.#pending && !rows.next()) return false
        this.#pending = true
        const row = part.rowOf(rows.s, rows.p, rows.o)
        const to = part.membershipsOf(row + 1)
        this.#at = part.membershipsOf(row)
        this.#to = to
        this.#pending = false
      }
      const at = part.nextMembership(this.#at, this.#to, collection, this.#asked)
      if (at === this.#to) {
        this.#at = at
        if (++this.#passed % patience.rows === 0) throw pause()
        continue
      }
      const g = part.graphAt(at)
      this.#at = part.afterGraph(at, this.#to)
      this.s = rows.s
      this.p = rows.p
      this.o = rows.o
      this.g = g
      return true
    }
  }
}

/** The rows of one graph that fit a pattern. */
class GraphRows implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  readonly g: number
  readonly #view: PartView
  readonly #pattern: readonly [s: number, p: number, o: number]
  #passed = 0
  #at: number
  readonly #to: number

  constructor(
    view: PartView,
    from: number,
    to: number,
    s: number,
    p: number,
    o: number,
    g: number,
  ) {
    this.#view = view
    this.#pattern = [s, p, o]
    this.#at = from
    this.#to = to
    this.g = g
  }

  next(): boolean {
    const { part, collection } = this.#view
    const [s, p, o] = this.#pattern
    while (this.#at < this.#to) {
      const row = part.graphRow(this.#at)
      const place = part.pairPlace(SPO, row)
      const { words } = part.block(place)
      const at = (place & (blockBytes - 1)) >>> 2
      const [second, third] = [words[at] as number, words[at + 1] as number]
      let fits = (p === ANY || second === p) && (o === ANY || third === o)
      if (fits) {
        this.s = part.subjectOf(row)
        this.p = second
        this.o = third
        fits = s === ANY || this.s === s
      }
      if (fits && collection !== ALL) fits = part.isIn(row, collection, this.g)
      this.#at++
      if (fits) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }
}

class PartNames implements Names {
  name = ''
  readonly #view: PartView
  #at = 0
  /** Of the graph that is looked at, where it may have nothing of the collection. */
  #rows: Rows | undefined

  constructor(view: PartView) {
    this.#view = view
  }

  next(): boolean {
    const { part, collection } = this.#view
    for (;;) {
      const g = part.graph(this.#at)
      if (g === NONE) return false
      let isThere = g !== DEFAULT
      if (isThere) this.name = part.term(g).v
      if (isThere && collection !== ALL) {
        this.#rows ??= this.#view.rows(ANY, ANY, ANY, g)
        isThere = this.#rows.next()
      }
      this.#at++
      this.#rows = undefined
      if (isThere) return true
    }
  }
}

class PartValues implements Values {
  id: number = NONE
  readonly #part: Part
  readonly #range: ValueRange
  #at = -1
  #to = 0
  #passed = 0

  constructor(part: Part, range: ValueRange) {
    this.#part = part
    this.#range = range
  }

  next(): boolean {
    const part = this.#part
    const { family, low, high } = this.#range
    if (this.#at < 0) [this.#at, this.#to] = part.valueRange(family, low, high)
    while (this.#at < this.#to) {
      const key = part.valueKey(family, this.#at)
      this.id = part.valueId(family, this.#at)
      const isAtEnd = key === low || key === high
      const isIn = !isAtEnd || this.#range.holds(part.term(this.id))
      this.#at++
      if (isIn) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }
}

class OneRow implements Rows {
  readonly s: number
  readonly p: number
  readonly o: number
  readonly g = DEFAULT
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

const noRows: Rows = { next: () => false, s: NONE, p: NONE, o: NONE, g: NONE }
