// A graph in an array, as a GraphView, for what a real one cannot be made to do.

import { Miss } from '../../../src/graph/miss.js'
import { ANY, DEFAULT, NONE, type GraphView, type Rows } from '../../../src/graph/view.js'
import type { Term, Triple } from '../../../src/types.js'

type Row = readonly [number, number, number]

export class ArrayView implements GraphView {
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

  find(term: Term): number {
    return this.#ids.get(`${term.e} ${term.v}`) ?? NONE
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

  #matches(s: number, p: number, o: number): Row[] {
    const fits = (asked: number, found: number) => asked === ANY || asked === found
    const rows = s === ANY ? this.#rows : (this.#bySubject.get(s) ?? [])
    return rows.filter((row) => fits(s, row[0]) && fits(p, row[1]) && fits(o, row[2]))
  }

  #add(term: Term): number {
    const known = this.find(term)
    if (known !== NONE) return known
    const id = (this.#terms.push(term) - 1) * spread
    this.#ids.set(`${term.e} ${term.v}`, id)
    return id
  }
}

/** Throws a Miss at every other call, so that each call is missed once. */
export class MissingView implements GraphView {
  readonly isExact = true
  readonly #view: GraphView
  #misses = 0

  constructor(view: GraphView) {
    this.#view = view
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
