import type { Term } from '../../types.js'
import {
  ANY,
  DEFAULT,
  NAMED,
  NONE,
  UNION,
  type Names,
  type OrderedTerms,
  type TellingView,
  type Rows,
  type Values,
} from '../view.js'
import { TEXT } from '../value/literal-value.js'
import type { ValueRange } from '../value/range.js'
import { patience, pause } from '../miss.js'
import type { Chosen } from './chosen.js'
import { encodeTerm } from './encoded-term.js'
import { onlyText } from './part-terms.js'
import { SPO, type Part, type PlaceRange, type RowRange } from './part.js'
import { noRows, OneRow, PlacesRows, RangeRows, RowsInPlaces, RowsOfGraph } from './part-rows.js'

/** Where terms would take more of the memory for blocks, those of many rows are never all there. */
export const mostShare = 0.5

/** A part as a graph, under the part's own ids: what is chosen of it. */
export class PartView implements TellingView {
  readonly part: Part
  readonly isExact: boolean
  readonly parts = 1
  readonly #chosen: Chosen
  readonly #range: RowRange = { order: SPO, from: 0, to: 0 }
  /** That of the pattern which was asked for last: rows are counted before they are told. */
  readonly #rows: RowRange = { order: SPO, from: 0, to: 0 }
  #s = NONE
  #p = NONE
  #o = NONE
  readonly #allPlaces: PlaceRange

  constructor(part: Part, chosen: Chosen) {
    this.part = part
    this.#chosen = chosen
    this.isExact = chosen.accepts === undefined && !part.hasGraphs
    this.#allPlaces = { from: 0, to: part.record.places, accepts: chosen.accepts }
  }

  /** By place: 1 where it is seen. Undefined: all are. */
  get accepts(): Uint8Array | undefined {
    return this.#chosen.accepts
  }

  find(term: Term): number {
    return this.part.terms.find(encodeTerm(term))
  }

  textOfHash(hash: number): string | undefined {
    return onlyText([this.part.terms], hash)
  }

  findText(text: string): number[] {
    return this.part.terms.findText(text)
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

  readAhead(ids: Float64Array, count: number): void {
    this.part.terms.readAhead(ids, count)
  }

  get isVast(): boolean {
    return this.part.termsShare > mostShare
  }

  termsInOrder(): OrderedTerms {
    const terms = this.part.termsInOrder()
    return { term: (id) => terms.read(id), bringAfter: (id) => terms.bringAfter(id) }
  }

  term(id: number): Term {
    return this.part.terms.term(id)
  }

  rows(s: number, p: number, o: number, g: number = UNION, unwanted?: ReadonlySet<number>): Rows {
    if (this.#isNothing(s, p, o, g)) return noRows
    const isByPlaces = !this.#seesAll(g) && this.placeRows(g) < this.rangeRows(s, p, o)
    return this.rowsBy(isByPlaces, s, p, o, g, unwanted)
  }

  rowsToTell(s: number, p: number, o: number, g: number): Rows {
    return this.rows(s, p, o, g)
  }

  /** How many rows there are in the range of a pattern. */
  rangeRows(s: number, p: number, o: number): number {
    if (s !== ANY && p !== ANY && o !== ANY) return 1
    const { from, to } = this.#rangeOf(s, p, o)
    return to - from
  }

  #rangeOf(s: number, p: number, o: number): RowRange {
    const range = this.#rows
    if (s === this.#s && p === this.#p && o === this.#o) return range
    this.#s = NONE
    this.part.rangeOf(s, p, o, range)
    this.#s = s
    this.#p = p
    this.#o = o
    return range
  }

  /** How many rows the places of a graph have together, at most, as far as they are seen. */
  placeRows(g: number): number {
    const { part } = this
    const { rows } = this.#chosen
    if (!part.hasGraphs) return g >= 0 || g === NAMED ? 0 : rows
    if (g === UNION || g === ANY) return rows
    part.placesOfGraph(g, this.#range)
    const { from, to } = this.#range
    if (from === to) return 0
    return part.record.places <= 1 ? rows : Math.min(rows, part.rowsOfPlaces(from, to))
  }

  /**
   * The rows of a pattern: by going through those of the places, in the order of `SPO`, or through the
   * range of the pattern, in the order that this has. There unwanted predicates of a subject are passed over.
   */
  rowsBy(
    isByPlaces: boolean,
    s: number,
    p: number,
    o: number,
    g: number,
    unwanted?: ReadonlySet<number>,
  ): Rows {
    if (this.#isNothing(s, p, o, g)) return noRows
    const { part } = this
    const places = this.#placesOf(g)
    const isOfAll = isWhole(part, places)
    const inGraphs = part.hasGraphs && g !== UNION
    const eachGraph = inGraphs && (g === ANY || g === NAMED)
    if (s !== ANY && p !== ANY && o !== ANY) {
      const row = part.rowOf(s, p, o)
      if (row === NONE) return noRows
      const one = new OneRow(s, p, o, row)
      return isOfAll && !inGraphs
        ? one
        : new RowsInPlaces(part, one, places, eachGraph, inGraphs ? g : DEFAULT)
    }
    if (isByPlaces) {
      const rows = new PlacesRows(part, isOfAll ? undefined : places, s, p, o)
      if (eachGraph) return new RowsInPlaces(part, rows, places, true, g)
      return inGraphs ? new RowsOfGraph(rows, g) : rows
    }
    const range = this.#rangeOf(s, p, o)
    if (range.from === range.to || places.from === places.to) return noRows
    const rows = new RangeRows(part, range, [s, p, o], unwanted)
    if (eachGraph) return new RowsInPlaces(part, rows, places, true, g)
    if (!isOfAll) return new RowsInPlaces(part, rows, places, false, inGraphs ? g : DEFAULT)
    return inGraphs ? new RowsOfGraph(rows, g) : rows
  }

  has(s: number, p: number, o: number, g: number = UNION): boolean {
    if (!this.#seesAll(g)) return this.firstPlace(s, p, o, g) !== NONE
    return !this.#isNothing(s, p, o, g) && this.part.rowOf(s, p, o) !== NONE
  }

  /** The first place that is seen of those of a triple, `NONE` where there is none. */
  firstPlace(s: number, p: number, o: number, g: number = UNION): number {
    if (this.#isNothing(s, p, o, g)) return NONE
    const row = this.part.rowOf(s, p, o)
    return row === NONE ? NONE : this.part.placeOf(row, this.#placesOf(g))
  }

  estimate(s: number, p: number, o: number, g: number = UNION): number {
    if (this.#isNothing(s, p, o, g)) return 0
    if (s !== ANY && p !== ANY && o !== ANY && (g === UNION || !this.part.hasGraphs)) {
      return this.has(s, p, o) ? 1 : 0
    }
    return Math.min(this.rangeRows(s, p, o), this.placeRows(g))
  }

  #isNothing(s: number, p: number, o: number, g: number): boolean {
    if (s === NONE || p === NONE || o === NONE || g === NONE) return true
    if (this.part.record.triples === 0) return true
    return (g >= 0 || g === NAMED) && !this.part.hasGraphs
  }

  /** True where a row counts whatever its places are. */
  #seesAll(g: number): boolean {
    return this.#chosen.accepts === undefined && (g === UNION || !this.part.hasGraphs)
  }

  /** The places that count where rows of a graph are asked for. */
  #placesOf(g: number): PlaceRange {
    if (g === UNION || g === ANY) return this.#allPlaces
    const range = { from: 0, to: 0, accepts: this.#chosen.accepts }
    this.part.placesOfGraph(g, range)
    return range
  }
}

function isWhole({ record }: Part, { from, to, accepts }: PlaceRange): boolean {
  return accepts === undefined && from === 0 && to === record.places
}

class PartNames implements Names {
  name = ''
  readonly #view: PartView
  #place = 0
  #passed = 0

  constructor(view: PartView) {
    this.#view = view
  }

  next(): boolean {
    const { part, accepts } = this.#view
    while (part.hasGraphs && this.#place < part.record.places) {
      const place = this.#place
      const g = part.graphOf(place)
      const end = part.afterGraph(place)
      const isSeen = accepts === undefined || accepts.subarray(place, end).includes(1)
      if (g !== DEFAULT && isSeen) this.name = part.terms.term(g).v
      this.#place = end
      if (g !== DEFAULT && isSeen) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
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
      const isIn = !isAtEnd || this.#range.holds(part.terms.term(this.id))
      this.#at++
      if (isIn) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }
}
