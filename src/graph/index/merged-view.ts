import { keyOf } from '../../terms.js'
import type { Term } from '../../types.js'
import type { ValueRange } from '../value/range.js'
import {
  NONE,
  UNION,
  type Names,
  type OrderedTerms,
  type Rows,
  type TellingView,
  type Values,
} from '../view.js'
import { encodeTerm } from './encoded-term.js'
import { MergedRows, PartStream } from './merged-rows.js'
import { orderOf, SPO } from './part.js'
import { onlyText } from './part-terms.js'
import { mostShare, type PartView } from './part-view.js'
import { noRows } from './part-rows.js'

/** A pattern as one part is asked for it. */
interface PartAsked {
  readonly n: number
  readonly view: PartView
  readonly s: number
  readonly p: number
  readonly o: number
  readonly g: number
}

type Pattern = readonly [s: number, p: number, o: number, g: number]

interface RowsOptions {
  readonly isTold?: boolean
  readonly unwanted?: ReadonlySet<number> | undefined
}

/** In the place of a part's own id: it was not looked for yet. */
const UNASKED = -9

/** As many rows as are told at once, of two terms that were not met a moment ago. */
const mostAhead = 1024
const owners = new Uint32Array(mostAhead)
const starts = new Uint32Array(mostAhead)

/** Translations of ids that are remembered, for each part to those of the graph, and terms. */
const maxRemembered = 1 << 18

/** Of the texts of terms that were looked for, in UTF-16 code units. */
const maxSearchedLength = 1 << 22

/**
 * Several parts as one graph. An id is the first part's that has the term, counted on from the terms
 * of the parts before. Rows of all parts come in one order, so that those of several are merged as
 * they come, and a triple that several have is told once.
 */
export class MergedView implements TellingView {
  readonly isExact: boolean
  readonly isVast: boolean
  /** How many have triples: these are the first ones. Others have terms of their vectors alone. */
  readonly parts: number
  readonly #views: readonly PartView[]
  /** By part: what its ids are counted on from. */
  readonly #bases: readonly number[]
  /** By part: its own ids to those of the graph. */
  readonly #graphIds: Map<number, number>[]
  /** By id of the graph, the own one of each part. */
  readonly #partIds = new Map<number, number[]>()
  readonly #unasked: readonly number[]
  /** By sets of predicates, the own ids of each part. */
  readonly #unwanted = new WeakMap<ReadonlySet<number>, (ReadonlySet<number> | undefined)[]>()
  /**
   * How far each term was looked for. All parts together may have more blocks than memory holds at
   * once: a search that began anew after each Miss would not end.
   */
  readonly #searched = new Map<string, number>()
  #searchedLength = 0
  /** What readAhead() came to: it would be optimised away if nothing became of it. */
  wasRead = 0

  /** Of views of parts with triples, and behind them of others. */
  constructor(views: readonly PartView[]) {
    this.#views = views
    this.parts = views.filter(({ part }) => part.record.triples > 0).length
    this.isExact = this.parts === 1 && this.view(0).isExact
    let base = 0
    this.#bases = views.map(({ part }) => {
      const start = base
      base += part.terms.count
      return start
    })
    // Parts in memory take no share of it.
    const share = views.reduce((sum, { part }) => sum + part.termsShare, 0)
    this.isVast = base < 2 ** 32 && share > mostShare
    this.#graphIds = views.map(() => new Map())
    this.#unasked = views.map(() => UNASKED)
  }

  find(term: Term): number {
    const key = keyOf(term)
    const searched = this.#searched.get(key)
    if (searched === undefined) this.#makeRoom(key.length)
    const encoded = encodeTerm(term)
    for (let n = searched ?? 0; n < this.#views.length; n++) {
      this.#searched.set(key, n)
      const id = this.view(n).part.terms.find(encoded)
      if (id !== NONE) return this.baseOf(n) + id
    }
    this.#searched.set(key, this.#views.length)
    return NONE
  }

  /** For the text of a term that was not looked for yet. */
  #makeRoom(length: number): void {
    const isLong = this.#searchedLength + length > maxSearchedLength
    if (isLong || this.#searched.size >= maxRemembered) {
      this.#searched.clear()
      this.#searchedLength = 0
    }
    this.#searchedLength += length
  }

  textOfHash(hash: number): string | undefined {
    return onlyText(
      this.#views.map((_, n) => this.view(n).part.terms),
      hash,
    )
  }

  findText(text: string, n: number): number[] {
    return this.view(n)
      .findText(text)
      .map((id) => this.graphId(n, id))
  }

  term(id: number): Term {
    const n = this.#partOf(id)
    return this.view(n).term(id - this.baseOf(n))
  }

  readAhead(ids: Float64Array, count: number): void {
    const most = Math.min(count, mostAhead)
    for (let i = 0; i < most; i++) {
      const id = ids[i] as number
      const n = this.#partOf(id)
      owners[i] = n
      starts[i] = this.view(n).part.terms.peekStart(id - this.baseOf(n))
    }
    let read = 0
    for (let i = 0; i < most; i++) {
      read ^= this.view(owners[i] as number).part.terms.peekHeader(starts[i] as number)
    }
    this.wasRead = read
  }

  termsInOrder(): OrderedTerms {
    let part = NONE
    let base = 0
    let terms: OrderedTerms | undefined
    const termsOf = (id: number) => {
      const isThere = terms !== undefined && id >= base && (this.#bases[part + 1] ?? Infinity) > id
      if (isThere) return terms as OrderedTerms
      part = this.#partOf(id)
      base = this.baseOf(part)
      return (terms = this.view(part).termsInOrder())
    }
    return {
      term: (id) => termsOf(id).term(id - base),
      bringAfter: (id) => termsOf(id).bringAfter(id - base),
    }
  }

  countBetween(range: ValueRange, n: number): number {
    return this.view(n).countBetween(range)
  }

  between(range: ValueRange): Values {
    return new MergedValues(this, range)
  }

  graphNames(n: number): Names {
    return this.view(n).graphNames()
  }

  rows(s: number, p: number, o: number, g: number = UNION, unwanted?: ReadonlySet<number>): Rows {
    return this.#rows([s, p, o, g], { unwanted })
  }

  rowsToTell(s: number, p: number, o: number, g: number): Rows {
    return this.#rows([s, p, o, g], { isTold: true })
  }

  #rows([s, p, o, g]: Pattern, { isTold = false, unwanted }: RowsOptions): Rows {
    const asked: PartAsked[] = []
    let inRange = 0
    let inPlaces = 0
    for (const part of this.#partsWith(s, p, o, g)) {
      const range = part.view.rangeRows(part.s, part.p, part.o)
      const places = range === 0 ? 0 : part.view.placeRows(part.g)
      if (places === 0) continue
      asked.push(part)
      inRange += range
      inPlaces += places
    }
    const [first] = asked
    if (first === undefined) return noRows
    // All in one way: that gives them one order.
    const isByPlaces = inPlaces < inRange
    const rowsOf = ({ n, view, s, p, o, g }: PartAsked) =>
      view.rowsBy(isByPlaces, s, p, o, g, unwanted && this.#unwantedIn(n, unwanted))
    // Its ids are those of the graph.
    if (first.n === 0 && asked.length === 1) return rowsOf(first)
    const streams = asked.map((part) => {
      const { n, view } = part
      return new PartStream(n, view.part.terms, this.baseOf(n), rowsOf(part))
    })
    const order = isByPlaces ? SPO : orderOf(s, p, o)
    return new MergedRows(streams, order, [s, p, o, g], isTold ? undefined : this)
  }

  #unwantedIn(n: number, unwanted: ReadonlySet<number>): ReadonlySet<number> {
    const ofParts = this.#unwanted.get(unwanted) ?? []
    this.#unwanted.set(unwanted, ofParts)
    return (ofParts[n] ??= new Set([...unwanted].map((id) => this.partId(n, id))))
  }

  has(s: number, p: number, o: number, g: number = UNION): boolean {
    return this.#firstWith(s, p, o, g) !== NONE
  }

  /** Of the first part that has a triple, its view, and the first place there that is seen; undefined where none has it. */
  firstPlace(s: number, p: number, o: number): { view: PartView; place: number } | undefined {
    const n = this.#firstWith(s, p, o, UNION)
    if (n === NONE) return undefined
    const view = this.view(n)
    return {
      view,
      place: view.firstPlace(this.partId(n, s), this.partId(n, p), this.partId(n, o)),
    }
  }

  #firstWith(s: number, p: number, o: number, g: number): number {
    if (s === NONE || p === NONE || o === NONE || g === NONE) return NONE
    for (let n = 0; n < this.parts; n++) {
      const ownS = this.partId(n, s)
      if (ownS === NONE) continue
      const ownO = this.partId(n, o)
      if (ownO === NONE) continue
      const ownP = this.partId(n, p)
      if (ownP === NONE) continue
      const ownG = this.partId(n, g)
      if (ownG !== NONE && this.view(n).has(ownS, ownP, ownO, ownG)) return n
    }
    return NONE
  }

  estimate(s: number, p: number, o: number, g: number = UNION): number {
    let sum = 0
    for (const part of this.#partsWith(s, p, o, g)) {
      sum += part.view.estimate(part.s, part.p, part.o, part.g)
    }
    return sum
  }

  view(n: number): PartView {
    return this.#views[n] as PartView // one of its own
  }

  /** What the ids of a part are counted on from. */
  baseOf(n: number): number {
    return this.#bases[n] as number
  }

  /** The graph's id for one of a part. */
  graphId(n: number, id: number): number {
    if (n === 0 || id < 0) return id
    const known = this.#graphIds[n]?.get(id)
    if (known !== undefined) return known
    const term = this.view(n).part.terms.encoded(id)
    let found = this.baseOf(n) + id
    for (let before = 0; before < n; before++) {
      const there = this.view(before).part.terms.find(term)
      if (there === NONE) continue
      found = this.baseOf(before) + there
      break
    }
    remember(this.#graphIds[n], id, found)
    return found
  }

  /** True where no part before the n-th, which has it, has the term of an id. */
  isFirst(n: number, id: number): boolean {
    return this.#partOf(id) === n
  }

  /** A part's own id for one of the graph: `NONE` where it does not have the term. */
  partId(n: number, id: number): number {
    return id < 0 ? id : this.#ownId(this.#idsOf(id), n, id)
  }

  /** What the parts call a term, as far as it was looked for. */
  #idsOf(id: number): number[] {
    const known = this.#partIds.get(id)
    if (known !== undefined) return known
    const owner = this.#partOf(id)
    const ids = this.#unasked.slice()
    // The first that has a term gives it its id.
    ids.fill(NONE, 0, owner)
    ids[owner] = id - this.baseOf(owner)
    remember(this.#partIds, id, ids)
    return ids
  }

  #ownId(ids: number[], n: number, id: number): number {
    const known = ids[n] as number
    if (known !== UNASKED) return known
    const owner = this.#partOf(id)
    const own = id - this.baseOf(owner)
    return (ids[n] = this.view(n).part.terms.find(this.view(owner).part.terms.encoded(own)))
  }

  /** The parts that have the terms of a pattern, and what each is asked for. */
  #partsWith(s: number, p: number, o: number, g: number): PartAsked[] {
    const parts: PartAsked[] = []
    const [ofS, ofO] = [s < 0 ? undefined : this.#idsOf(s), o < 0 ? undefined : this.#idsOf(o)]
    const [ofP, ofG] = [p < 0 ? undefined : this.#idsOf(p), g < 0 ? undefined : this.#idsOf(g)]
    for (let n = 0; n < this.parts; n++) {
      const ownS = ofS === undefined ? s : this.#ownId(ofS, n, s)
      if (ownS === NONE) continue
      const ownO = ofO === undefined ? o : this.#ownId(ofO, n, o)
      if (ownO === NONE) continue
      const ownP = ofP === undefined ? p : this.#ownId(ofP, n, p)
      if (ownP === NONE) continue
      const ownG = ofG === undefined ? g : this.#ownId(ofG, n, g)
      if (ownG === NONE) continue
      parts.push({ n, view: this.view(n), s: ownS, p: ownP, o: ownO, g: ownG })
    }
    return parts
  }

  #partOf(id: number): number {
    let low = 0
    let high = this.#bases.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#bases[middle] as number) <= id) low = middle
      else high = middle - 1
    }
    return low
  }
}

function remember<T>(map: Map<number, T> | undefined, from: number, to: T): void {
  if (map === undefined) return
  if (map.size === maxRemembered) map.clear()
  map.set(from, to)
}

class MergedValues implements Values {
  id: number = NONE
  readonly #graph: MergedView
  readonly #range: ValueRange
  #part = 0
  #values: Values | undefined
  /** One was taken, and not told yet: a block was missing. */
  #pending = false

  constructor(graph: MergedView, range: ValueRange) {
    this.#graph = graph
    this.#range = range
  }

  next(): boolean {
    const graph = this.#graph
    for (; this.#part < graph.parts; this.#part++) {
      const values = (this.#values ??= graph.view(this.#part).between(this.#range))
      while (this.#pending || values.next()) {
        this.#pending = true
        const id = graph.graphId(this.#part, values.id)
        const isFirst = graph.isFirst(this.#part, id)
        this.#pending = false
        if (!isFirst) continue
        this.id = id
        return true
      }
      this.#values = undefined
    }
    return false
  }
}
