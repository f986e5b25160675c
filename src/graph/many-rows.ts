// Rows of a graph whose terms are more than memory has room for.

import { sortedInTurns } from '../radix-sort.js'
import { Turns } from '../turns.js'
import type { Term, Triple } from '../types.js'
import { Miss, withBlocks } from './miss.js'
import type { OrderedTerms, Rows, TellingView } from './view.js'

/**
 * Of so many rows at most the terms are read in the order in which they lie. Of 10,000,000 triples, whose terms take
 * 195 MiB, each such batch reads all of these once. No more than so many terms, and characters, are held.
 */
export const vast = { fewest: 256, most: 3 << 19, terms: 1 << 19, characters: 1 << 25 }

/** Of that room, what the next batch should take: texts are not all of one length. */
const share = 0.75

const rowsAtOnce = 1 << 14

/** Of one term in so many, most blocks are still needed. */
const sparse = 1000

/** Terms between two looks at what lies behind them. */
const termsAtOnce = 256

/** What of a row a reader knows already. */
export type Told = readonly [s: Term | undefined, p: Term | undefined, o: Term | undefined]

/** As in triples. */
const [S, P, O] = [0, 1, 2]

/**
 * Rows that are told in the order in which the terms of one place lie: of subjects, or of objects, whichever are more.
 * Those are read while they are told, and the others before, in their order.
 */
export class ManyRows {
  readonly #view: TellingView
  readonly #told: Told
  readonly #check: () => void
  #count = 0
  #at = 0
  /** By row: s, p and o, or in the place of the terms that are held which of them it is. */
  #columns = new Uint32Array(0)
  /** By row, where any is in a named graph. */
  #graphs: Float64Array | undefined
  /** Pairs of an id and its row, in the order of these ids, where that is not the order of the rows. */
  #pairs: Uint32Array | undefined
  // Room for pairs.
  #buffers: [Uint32Array, Uint32Array] = [new Uint32Array(0), new Uint32Array(0)]
  /** The place whose terms are read while they are told. */
  #place: number = O
  #terms: OrderedTerms | undefined
  #isDense = false
  /** Ids of the terms that are held, and these. */
  #ids = new Uint32Array(0)
  #held: (Term | undefined)[] | undefined
  // The last one of the place.
  #lastId = -1
  #last: Term | undefined
  /** So many rows have room, as far as these tell. */
  fitting = Infinity
  /** What was read ahead: it would be optimised away if nothing became of it. */
  wasRead = 0

  /** `check` throws where it may not go on. */
  constructor(view: TellingView, told: Told, check: () => void) {
    this.#view = view
    this.#told = told
    this.#check = check
  }

  /** All that were taken. */
  get isTold(): boolean {
    return this.#at === this.#count
  }

  /** Takes up to `most` rows in place of those that were told; true where no more come. */
  async take(rows: Rows, most: number): Promise<boolean> {
    const turns = new Turns(undefined)
    this.#begin(most)
    /** Changes from row to row: as many terms are held. */
    let [subjects, objects] = [0, 0]
    let isLast = false
    let n = 0
    const some = (end: number) => {
      const columns = this.#columns
      const start = n
      try {
        for (; n < end; n++) {
          if (!rows.next()) {
            isLast = true
            break
          }
          const { s, o, g } = rows
          const at = 3 * n
          if (n === 0 || s !== columns[at - 3]) subjects++
          if (n === 0 || o !== columns[at - 1]) objects++
          columns[at] = s
          columns[at + 1] = rows.p
          columns[at + 2] = o
          if (g >= 0 || this.#graphs !== undefined) this.#setGraph(n, g)
        }
      } catch (error) {
        // What was taken needs its blocks no more.
        if (!(error instanceof Miss) || n === start) throw error
      }
    }
    while (n < most && !isLast && Math.min(subjects, objects) < vast.terms) {
      const end = Math.min(most, n + rowsAtOnce)
      await withBlocks(() => some(end), this.#check)
      await turns.pass()
      this.#check()
    }
    await this.#order(n, subjects, objects, turns)
    this.#count = n
    return isLast
  }

  #begin(most: number): void {
    if (3 * most > this.#columns.length) this.#columns = new Uint32Array(3 * most)
    this.#count = 0
    this.#at = 0
    this.#graphs = undefined
    this.#pairs = undefined
    this.#held = undefined
    this.#terms = undefined
    this.#lastId = -1
    this.fitting = Infinity
  }

  #setGraph(n: number, g: number): void {
    this.#graphs ??= new Float64Array(this.#columns.length / 3).fill(-1)
    this.#graphs[n] = g
  }

  async #order(count: number, subjects: number, objects: number, turns: Turns): Promise<void> {
    const [s, , o] = this.#told
    if (s !== undefined && o !== undefined) return
    const hasBoth = s === undefined && o === undefined
    this.#place = s !== undefined || (hasBoth && subjects <= objects) ? O : S
    if (hasBoth) await this.#hold(count, S + O - this.#place, Math.min(subjects, objects), turns)
    const from = this.#place
    const columns = this.#columns
    let isAscending = true
    for (let n = 1; isAscending && n < count; n++) {
      isAscending = (columns[3 * n - 3 + from] as number) <= (columns[3 * n + from] as number)
    }
    if (!isAscending)
      this.#pairs = await this.#sort(count, turns, (n) => columns[3 * n + from] as number)
    const idAt = (n: number) => columns[3 * this.#rowAt(n) + from] ?? 0
    this.#isDense = areDense(count, idAt(count - 1) - idAt(0))
  }

  /** Reads the terms of a place, and puts in place of each id which of them it is. */
  async #hold(count: number, place: number, changes: number, turns: Turns): Promise<void> {
    const columns = this.#columns
    const ids = new Uint32Array(changes)
    let length = 0
    let last = -1
    for (let at = place; at < 3 * count; at += 3) {
      const id = columns[at] as number
      if (id !== last) ids[length++] = last = id
      columns[at] = length - 1
    }
    await turns.pass()
    this.#ids = ids
    this.#held = await this.#read(ids, count, turns)
  }

  /** Undefined where there was no room for more. */
  async #read(wanted: Uint32Array, count: number, turns: Turns): Promise<(Term | undefined)[]> {
    const terms = new Array<Term | undefined>(wanted.length).fill(undefined)
    const pairs = await this.#sort(wanted.length, turns, (n) => wanted[n] as number)
    const distinct = new Uint32Array(wanted.length)
    let length = 0
    for (let n = 0; n < wanted.length; n++) {
      const id = pairs[2 * n] as number
      if (n === 0 || distinct[length - 1] !== id) distinct[length++] = id
    }
    await turns.pass()
    const ordered = this.#view.termsInOrder()
    const isDense = areDense(length, (distinct[length - 1] ?? 0) - (distinct[0] ?? 0))
    let characters = 0
    let read = 0
    let at = 0
    while (read < length && characters < vast.characters) {
      const end = Math.min(length, read + termsAtOnce)
      if (isDense) ordered.bringAfter(distinct[read] as number)
      const some = withBlocks(() => {
        for (; read < end && characters < vast.characters; read++) {
          const id = distinct[read] as number
          const term = ordered.term(id)
          for (; pairs[2 * at] === id && at < wanted.length; at++) {
            terms[pairs[2 * at + 1] as number] = term
          }
          characters += term.v.length
        }
      }, this.#check)
      if (some instanceof Promise) await some
      await turns.pass()
      this.#check()
    }
    this.#fit(count, (characters * length) / Math.max(1, read))
    return terms
  }

  /** No more rows than there is room for, where all of these take so much. */
  #fit(count: number, characters: number): void {
    const rows = (count * share * vast.characters) / Math.max(1, characters)
    this.fitting = Math.ceil(rows)
  }

  async #sort(count: number, turns: Turns, keyOf: (n: number) => number): Promise<Uint32Array> {
    const buffers = this.#buffers
    if (buffers[0].length < 2 * count) {
      for (const n of [0, 1] as const) buffers[n] = new Uint32Array(2 * count)
    }
    const [from, to] = buffers
    for (let n = 0; n < count; n++) {
      from[2 * n] = keyOf(n)
      from[2 * n + 1] = n
    }
    return sortedInTurns(from, to, count, () => turns.pass())
  }

  /** The triples of the next rows, up to `most`; fewer where a block is missing. May throw a Miss. */
  next(most: number): Triple[] {
    const triples: Triple[] = []
    const end = Math.min(this.#count, this.#at + most)
    this.#readAhead(end)
    try {
      for (; this.#at < end; this.#at++) triples.push(this.#triple(this.#at))
    } catch (error) {
      // What is there is told first; the block is missed again by the next call.
      if (!(error instanceof Miss) || triples.length === 0) throw error
    }
    return triples
  }

  /** The waits for memory of rows that lie anywhere are at the same time. */
  #readAhead(end: number): void {
    const pairs = this.#pairs
    const columns = this.#columns
    let read = 0
    if (pairs !== undefined) {
      for (let n = this.#at; n < end; n++)
        read ^= columns[3 * (pairs[2 * n + 1] as number)] as number
    }
    this.wasRead = read
    if (this.#isDense)
      this.#terms?.bringAfter(columns[3 * this.#rowAt(this.#at) + this.#place] as number)
  }

  #rowAt(n: number): number {
    return this.#pairs === undefined ? n : (this.#pairs[2 * n + 1] as number)
  }

  #triple(n: number): Triple {
    const row = this.#rowAt(n)
    const view = this.#view
    const at = 3 * row
    const columns = this.#columns
    const [s, p, o] = this.#told
    const triple = {
      s: s ?? this.#termAt(S, columns[at] as number),
      p: p ?? view.term(columns[at + P] as number),
      o: o ?? this.#termAt(O, columns[at + O] as number),
    }
    const g = this.#graphs?.[row] ?? -1
    return g >= 0 ? { ...triple, g: view.term(g).v } : triple
  }

  /** Of what the columns have of a row. */
  #termAt(place: number, value: number): Term {
    if (place !== this.#place)
      return this.#held?.[value] ?? this.#view.term(this.#ids[value] as number)
    if (value === this.#lastId) return this.#last as Term
    const term = (this.#terms ??= this.#view.termsInOrder()).term(value)
    this.#lastId = value
    this.#last = term
    return term
  }
}

/** Whether most blocks are needed, where of a span so many ids are asked for. */
function areDense(ids: number, span: number): boolean {
  return ids * sparse > span
}
