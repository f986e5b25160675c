import { keyOf } from '../../terms.js'
import type { Term } from '../../types.js'
import { NONE, UNION, type Rows, type PartedView } from '../view.js'
import { patience, pause } from '../miss.js'
import type { PartView } from './part-view.js'
import { PartsView } from './parts-view.js'

/** Translations of ids that are remembered for each part. */
const maxRemembered = 1 << 18

/** Parts that are asked for an estimate; the others are taken to be like them. */
const maxAsked = 16

/**
 * Several parts as one graph. An id is the first part's that has the term, counted on from the terms
 * of the parts before. A triple is told by the first part that has it.
 */
export class MergedView extends PartsView implements PartedView {
  readonly isExact = false
  /** By part: what its ids are counted on from. */
  readonly #bases: readonly number[]
  /** By part: its own ids to those of the graph, and back. */
  readonly #graphIds: Map<number, number>[]
  readonly #partIds: Map<number, number>[]
  /**
   * How far each term was looked for. All parts together may have more blocks than memory holds at
   * once: a search that began anew after each Miss would not end.
   */
  readonly #searched = new Map<string, number>()

  constructor(views: readonly PartView[]) {
    super(views)
    let base = 0
    this.#bases = views.map(({ part }) => {
      const start = base
      base += part.record.terms
      return start
    })
    this.#graphIds = views.map(() => new Map())
    this.#partIds = views.map(() => new Map())
  }

  find(term: Term): number {
    const key = keyOf(term)
    if (this.#searched.size >= maxRemembered) this.#searched.clear()
    for (let n = this.#searched.get(key) ?? 0; n < this.views.length; n++) {
      this.#searched.set(key, n)
      const id = this.view(n).find(term)
      if (id !== NONE) return (this.#bases[n] as number) + id
    }
    this.#searched.set(key, this.views.length)
    return NONE
  }

  term(id: number): Term {
    const n = this.#partOf(id)
    return this.view(n).term(id - (this.#bases[n] as number))
  }

  rows(s: number, p: number, o: number, g: number = UNION): Rows {
    const isNone = s === NONE || p === NONE || o === NONE || g === NONE
    return new MergedRows(this, isNone ? [] : this.#partsWith(s, p, o, g), s, p, o, g)
  }

  has(s: number, p: number, o: number, g: number = UNION): boolean {
    if (s === NONE || p === NONE || o === NONE || g === NONE) return false
    return this.hasBefore(this.views.length, s, p, o, g)
  }

  estimate(s: number, p: number, o: number, g: number = UNION): number {
    if (s === NONE || p === NONE || o === NONE || g === NONE) return 0
    const parts = this.#partsWith(s, p, o, g)
    let sum = 0
    let asked = 0
    for (const n of parts.slice(0, maxAsked)) {
      sum += this.view(n).estimate(
        this.partId(n, s),
        this.partId(n, p),
        this.partId(n, o),
        this.partId(n, g),
      )
      asked++
    }
    return asked === 0 ? 0 : Math.ceil((sum * parts.length) / asked)
  }

  /** True where one of the first `end` parts has the triple. */
  hasBefore(end: number, s: number, p: number, o: number, g: number): boolean {
    // A term that none of them has, which a later part's usually is, tells it at once.
    const base = end < this.#bases.length ? (this.#bases[end] as number) : Infinity
    if (s >= base || p >= base || o >= base || g >= base) return false
    for (let n = 0; n < end; n++) {
      const partS = this.partId(n, s)
      if (partS === NONE) continue
      const partO = this.partId(n, o)
      if (partO === NONE) continue
      const partP = this.partId(n, p)
      if (partP === NONE) continue
      const partG = this.partId(n, g)
      if (partG !== NONE && this.view(n).has(partS, partP, partO, partG)) return true
    }
    return false
  }

  partRows(n: number, s: number, p: number, o: number, g: number): Rows {
    return this.view(n).rows(
      this.partId(n, s),
      this.partId(n, p),
      this.partId(n, o),
      this.partId(n, g),
    )
  }

  /** The graph's id for one of a part. */
  graphId(n: number, id: number): number {
    if (n === 0 || id < 0) return id
    const known = this.#graphIds[n]?.get(id)
    if (known !== undefined) return known
    const term = this.view(n).part.encoded(id)
    let found = (this.#bases[n] as number) + id
    for (let before = 0; before < n; before++) {
      const there = this.view(before).part.find(term)
      if (there === NONE) continue
      found = (this.#bases[before] as number) + there
      break
    }
    remember(this.#graphIds[n], id, found)
    return found
  }

  isFirst(n: number, id: number): boolean {
    return this.#partOf(id) === n
  }

  /** A part's own id for one of the graph: `NONE` where it does not have the term. */
  partId(n: number, id: number): number {
    if (id < 0) return id
    const owner = this.#partOf(id)
    const own = id - (this.#bases[owner] as number)
    if (owner === n) return own
    // The first that has a term gives it its id.
    if (owner > n) return NONE
    const known = this.#partIds[n]?.get(id)
    if (known !== undefined) return known
    const found = this.view(n).part.find(this.view(owner).part.encoded(own))
    remember(this.#partIds[n], id, found)
    return found
  }

  /** The parts that have the terms of a pattern. */
  #partsWith(s: number, p: number, o: number, g: number): number[] {
    const parts: number[] = []
    for (let n = 0; n < this.views.length; n++) {
      const has = (id: number) => this.partId(n, id) !== NONE
      if (has(s) && has(p) && has(o) && has(g)) parts.push(n)
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

function remember(map: Map<number, number> | undefined, from: number, to: number): void {
  if (map === undefined) return
  if (map.size === maxRemembered) map.clear()
  map.set(from, to)
}

class MergedRows implements Rows {
  s: number = NONE
  p: number = NONE
  o: number = NONE
  g: number = NONE
  readonly #graph: MergedView
  readonly #parts: readonly number[]
  readonly #pattern: readonly [s: number, p: number, o: number, g: number]
  #at = 0
  #rows: Rows | undefined
  /** A row of the part was taken, and not told yet: a block was missing. */
  #pending = false
  #passed = 0

  constructor(
    graph: MergedView,
    parts: readonly number[],
    s: number,
    p: number,
    o: number,
    g: number,
  ) {
    this.#graph = graph
    this.#parts = parts
    this.#pattern = [s, p, o, g]
  }

  next(): boolean {
    const graph = this.#graph
    while (this.#at < this.#parts.length) {
      const n = this.#parts[this.#at] as number
      const rows = (this.#rows ??= graph.partRows(n, ...this.#pattern))
      if (!this.#pending) {
        if (!rows.next()) {
          this.#rows = undefined
          this.#at++
          continue
        }
        this.#pending = true
      }
      const s = graph.graphId(n, rows.s)
      const p = graph.graphId(n, rows.p)
      const o = graph.graphId(n, rows.o)
      const isUnion = this.#pattern[3] === UNION
      const g = isUnion ? UNION : graph.graphId(n, rows.g)
      const isRepeat = graph.hasBefore(n, s, p, o, g)
      this.#pending = false
      if (isRepeat) {
        if (++this.#passed % patience.rows === 0) throw pause()
        continue
      }
      this.s = s
      this.p = p
      this.o = o
      this.g = g
      return true
    }
    return false
  }
}
