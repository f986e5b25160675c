// A graph in an array, as a GraphView, for what a real one cannot be made to do.

import { Miss } from '../../../src/graph/miss.js'
import {
  ANY,
  DEFAULT,
  NONE,
  type Names,
  type PartedView,
  type Rows,
  type Values,
} from '../../../src/graph/view.js'
import { TEXT } from '../../../src/graph/value/literal-value.js'
import type { ValueRange } from '../../../src/graph/value/range.js'
import { keyOf } from '../../../src/terms.js'
import type { Term, Triple } from '../../../src/types.js'

type Row = readonly [number, number, number]

export class ArrayView implements PartedView {
  readonly isExact = true
  readonly #terms: Term[] = []
  readonly #ids = new Map<string, number>()
  readonly #rows: Row[]
  readonly #bySubject = new Map<number, Row[]>()

  constructor(triples: readonly Triple[]) {
    const rows = triples.map(({ s, p, o }): Row => [this.#add(s), this.#add(p), this.#add(o)])
    this.#rows = [...new Map(rows.map((row) => [row.join(), row])).values()]
    for (const row of this.#rows) {
      const others = this.#bySubject.get(row[0])
      if (others === undefined) this.#bySubject.set(row[0], [row])
      else others.push(row)
    }
  }

  textOfHash(): undefined {
    return undefined
  }

  find(term: Term): number {
    return this.#ids.get(keyOf(term)) ?? NONE
  }

  term(id: number): Term {
    const term = this.#terms[id / spread]
    if (term === undefined) throw new RangeError(`no term has the id ${id}`)
    return term
  }

  rows(s: number, p: number, o: number): Rows {
    return new ArrayRows(this.#matches(s, p, o))
  }

  has(s: number, p: number, o: number): boolean {
    if ([s, p, o].includes(ANY)) throw new RangeError('has() with an open place')
    return this.estimate(s, p, o) > 0
  }

  estimate(s: number, p: number, o: number): number {
    return this.#matches(s, p, o).length
  }

  readonly parts = 1

  findText(text: string): number[] {
    return this.#idsOf(({ v, e }) => !e && v === text)
  }

  countBetween(range: ValueRange): number {
    return range.family === TEXT ? Infinity : this.#idsOf((term) => range.holds(term)).length
  }

  between(range: ValueRange): Values {
    const ids = this.#idsOf((term) => range.holds(term))
    const values = { id: NONE, next: () => (values.id = ids.shift() ?? NONE) !== NONE }
    return values
  }

  graphNames(): Names {
    return { next: () => false, name: '' }
  }

  #idsOf(fits: (term: Term) => boolean): number[] {
    return this.#terms.flatMap((term, n) => (fits(term) ? n * spread : []))
  }

  #matches(s: number, p: number, o: number): Row[] {
    const fits = (asked: number, found: number) => asked === ANY || asked === found
    const rows = s === ANY ? this.#rows : (this.#bySubject.get(s) ?? [])
    return rows.filter((row) => fits(s, row[0]) && fits(p, row[1]) && fits(o, row[2]))
  }

  #add(term: Term): number {
    const known = this.find(term)
    if (known !== NONE) return known
    const id = (this.#terms.push(term) - 1) * spread
    this.#ids.set(keyOf(term), id)
    return id
  }
}

/** Throws a Miss at every other call, so that each call is missed once. */
export class MissingView implements PartedView {
  readonly isExact = true
  readonly #view: PartedView
  #misses = 0

  constructor(view: PartedView) {
    this.#view = view
  }

  textOfHash(): undefined {
    return undefined
  }

  find(term: Term): number {
    this.#miss()
    return this.#view.find(term)
  }

  term(id: number): Term {
    this.#miss()
    return this.#view.term(id)
  }

  rows(s: number, p: number, o: number): Rows {
    this.#miss()
    const rows = this.#view.rows(s, p, o)
    const next = rows.next.bind(rows)
    rows.next = () => {
      this.#miss()
      return next()
    }
    return rows
  }

  has(s: number, p: number, o: number): boolean {
    this.#miss()
    return this.#view.has(s, p, o)
  }

  estimate(s: number, p: number, o: number): number {
    this.#miss()
    return this.#view.estimate(s, p, o)
  }

  readonly parts = 1

  findText(text: string): number[] {
    this.#miss()
    return this.#view.findText(text, 0)
  }

  countBetween(range: ValueRange): number {
    this.#miss()
    return this.#view.countBetween(range, 0)
  }

  between(range: ValueRange): Values {
    this.#miss()
    return this.#view.between(range)
  }

  graphNames(): Names {
    return this.#view.graphNames(0)
  }

  #miss(): void {
    if (++this.#misses % 2 === 1) throw new Miss(async () => undefined)
  }
}

/** Ids do not fit 32 bits, and their low bits differ too. */
const spread = 2 ** 33 + 1

class ArrayRows implements Rows {
  s = NONE
  p = NONE
  o = NONE
  readonly g = DEFAULT
  readonly #rows: readonly Row[]
  #at = 0

  constructor(rows: readonly Row[]) {
    this.#rows = rows
  }

  next(): boolean {
    const row = this.#rows[this.#at++]
    if (row === undefined) return false
    ;[this.s, this.p, this.o] = row
    return true
  }
}
