import type { Term } from '../../types.js'
import { NONE, UNION, type Rows, type PartedView } from '../view.js'
import { ANNOTATED, byteLengthOf, encodeTerm, ENTITY, entryWords, kindOf } from './encoded-term.js'
import { patience, pause } from '../miss.js'
import type { PartView } from './part-view.js'
import { PartsView } from './parts-view.js'
import { TermTable } from './term-table.js'
import { RowSet } from '../row-set.js'

/** Parts that are asked for an estimate; the others are taken to be like them. */
const maxAsked = 16

/** Terms and places that are remembered before the view is worn. */
const maxRemembered = 1 << 19

/**
 * Many parts as one graph, such as a core for each of a thousand documents. A term gets an id when it
 * is met, and what was told is remembered: looking each term up in each part before it (as MergedView
 * does, which needs no memory for that) would take the square of their number.
 */
export class WideView extends PartsView implements PartedView {
  readonly isExact = false
  readonly #terms = new TermTable()
  /** By part: its own ids to those of the graph. */
  readonly #graphIds: Map<number, number>[]
  /** By id of the graph: the parts that have the term, and its own id in each. Found once. */
  readonly #places: Places[] = []
  #remembered = 0

  constructor(views: readonly PartView[]) {
    super(views)
    this.#graphIds = views.map(() => new Map())
  }

  /** True where it remembers so much that a new one should be made. */
  get isWorn(): boolean {
    return this.#remembered > maxRemembered || this.#terms.count > maxRemembered
  }

  find(term: Term): number {
    const words = encodeTerm(term)
    const id = this.#terms.add(words, 0, words.length)
    return this.placesOf(id).parts.length === 0 ? NONE : id
  }

  term(id: number): Term {
    const { words, starts } = this.#terms
    const start = starts[id] as number
    const header = words[start] as number
    if (kindOf(header) === ANNOTATED) return this.#annotated(id)
    const v = Buffer.from(words.buffer, 4 * start + 4, byteLengthOf(header)).toString('utf8')
    return { v, e: kindOf(header) === ENTITY }
  }

  /** As the first part that has it spells it. */
  #annotated(id: number): Term {
    const { parts, ids } = this.placesOf(id)
    const n = parts[0] as number
    return this.view(n).term(ids.get(n) as number)
  }

  rows(s: number, p: number, o: number, g: number = UNION): Rows {
    return new WideRows(this, this.#partsWith(s, p, o, g), s, p, o, g)
  }

  has(s: number, p: number, o: number, g: number = UNION): boolean {
    return this.#partsWith(s, p, o, g).some((n) =>
      this.view(n).has(
        this.#partId(n, s),
        this.#partId(n, p),
        this.#partId(n, o),
        this.#partId(n, g),
      ),
    )
  }

  estimate(s: number, p: number, o: number, g: number = UNION): number {
    const parts = this.#partsWith(s, p, o, g)
    const asked = parts.slice(0, maxAsked)
    let sum = 0
    for (const n of asked) {
      sum += this.view(n).estimate(
        this.#partId(n, s),
        this.#partId(n, p),
        this.#partId(n, o),
        this.#partId(n, g),
      )
    }
    return asked.length === 0 ? 0 : Math.ceil((sum * parts.length) / asked.length)
  }

  partRows(n: number, s: number, p: number, o: number, g: number): Rows {
    return this.view(n).rows(
      this.#partId(n, s),
      this.#partId(n, p),
      this.#partId(n, o),
      this.#partId(n, g),
    )
  }

  /** The graph's id for one of a part. */
  graphId(n: number, id: number): number {
    if (id < 0) return id
    const ids = this.#graphIds[n] as Map<number, number> // one of its own
    const known = ids.get(id)
    if (known !== undefined) return known
    const words = this.view(n).part.encoded(id)
    const found = this.#terms.add(words, 0, words.length)
    ids.set(id, found)
    this.#remembered++
    return found
  }

  isFirst(n: number, id: number): boolean {
    return this.placesOf(id).parts[0] === n
  }

  /** A part's own id for one of the graph: `NONE` where it does not have the term. */
  partId(n: number, id: number): number {
    this.placesOf(id)
    return this.#partId(n, id)
  }

  /** May throw a Miss, and goes on where it was: all parts together may not fit the memory. */
  placesOf(id: number): Places {
    const places = (this.#places[id] ??= { searched: 0, parts: [], ids: new Map() })
    if (places.searched === this.views.length) return places
    const { words, starts } = this.#terms
    const start = starts[id] as number
    const length = entryWords(words[start] as number, (place) => words[start + place] as number)
    const term = words.subarray(start, start + length)
    for (; places.searched < this.views.length; places.searched++) {
      const n = places.searched
      const own = this.view(n).part.find(term)
      if (own === NONE) continue
      places.parts.push(n)
      places.ids.set(n, own)
      this.#remembered++
    }
    return places
  }

  /** The parts that have the terms of a pattern. */
  #partsWith(s: number, p: number, o: number, g: number): readonly number[] {
    if (s === NONE || p === NONE || o === NONE || g === NONE) return []
    let parts: readonly number[] | undefined
    for (const id of [s, o, p, g]) {
      if (id < 0) continue
      const { parts: having, ids } = this.placesOf(id)
      parts = parts === undefined ? having : parts.filter((n) => ids.has(n))
    }
    return parts ?? this.views.map((_, n) => n)
  }

  #partId(n: number, id: number): number {
    if (id < 0) return id
    return this.#places[id]?.ids.get(n) ?? NONE
  }
}

interface Places {
  searched: number
  readonly parts: number[]
  readonly ids: Map<number, number>
}

class WideRows implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number = NONE
  readonly #graph: WideView
  readonly #parts: readonly number[]
  readonly #pattern: readonly [s: number, p: number, o: number, g: number]
  /** What was told, where several parts may say it. */
  readonly #told: RowSet | undefined
  readonly #row: Float64Array
  #at = 0
  #rows: Rows | undefined
  /** A row of the part was taken, and not told yet: a block was missing. */
  #pending = false
  #passed = 0

  constructor(
    graph: WideView,
    parts: readonly number[],
    s: number,
    p: number,
    o: number,
    g: number,
  ) {
    this.#graph = graph
    this.#parts = parts
    this.#pattern = [s, p, o, g]
    const width = g === UNION ? 3 : 4
    this.#row = new Float64Array(width)
    this.#told = parts.length > 1 ? new RowSet(width) : undefined
  }

  next(): boolean {
    while (this.#at < this.#parts.length) {
      const n = this.#parts[this.#at] as number
      const rows = (this.#rows ??= this.#graph.partRows(n, ...this.#pattern))
      if (!this.#pending && !rows.next()) {
        this.#rows = undefined
        this.#at++
        continue
      }
      this.#pending = true
      this.s = this.#graph.graphId(n, rows.s)
      this.p = this.#graph.graphId(n, rows.p)
      this.o = this.#graph.graphId(n, rows.o)
      this.g = this.#graph.graphId(n, rows.g)
      this.#pending = false
      if (this.#told === undefined) return true
      this.#row[0] = this.s
      this.#row[1] = this.p
      this.#row[2] = this.o
      if (this.#row.length > 3) this.#row[3] = this.g
      if (this.#told.add(this.#row, 0)) return true
      if (++this.#passed % patience.rows === 0) throw pause()
    }
    return false
  }
}
