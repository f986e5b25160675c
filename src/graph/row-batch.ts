// Rows that were read, and are told one after the other.

import type { Term, Triple } from '../types.js'
import { Miss } from './miss.js'
import { ManyRows, vast, type Told } from './many-rows.js'
import type { Rows, TellingView } from './view.js'

/** Of fewer rows the terms are read one by one. */
const fewestAhead = 3

/** So many rows are taken at once, where they are not many. */
const mostTaken = 512

/**
 * s, p, o and g of the rows that are being told, one after the other: of whichever question that is, as it takes
 * them and tells them in one go. To make room for each question took a tenth of it.
 */
const taken = new Float64Array(4 * mostTaken)
const ahead = new Float64Array(2 * mostTaken)

export class RowBatch {
  readonly #view: TellingView
  readonly #told: Told
  readonly #check: () => void
  /** Rows that were taken and could not be told yet, as in `taken`. */
  #kept: Float64Array | undefined
  #many: ManyRows | undefined
  /** Of a vast graph up to so many rows are next. */
  #next = 0
  /** No row comes after those that were taken. */
  #isLast = false
  /** The last subject, which most rows of a scan have again. */
  #subject: Term | undefined
  #subjectId = -1

  /** `check` throws where it may not go on. */
  constructor(view: TellingView, told: Told, check: () => void) {
    this.#view = view
    this.#told = told
    this.#check = check
  }

  /** No row is left that was not told. */
  get isDone(): boolean {
    return this.#isLast && this.#kept === undefined && this.#many?.isTold !== false
  }

  /**
   * The triples of the next rows, up to `wanted`; fewer where a block is missing. Of a vast graph more rows are
   * taken each time, but no more than `most`. May throw a Miss.
   */
  next(rows: Rows, wanted: number, most: number): Triple[] {
    if (this.#many?.isTold === false) return this.#many.next(wanted)
    const kept = this.#kept
    if (kept !== undefined) return this.#tell(kept, kept.length / 4, wanted)
    if (this.#isLast) return []
    const size = Math.min(this.#view.isVast ? this.#sizeOf(rows, wanted, most) : wanted, most)
    const count = this.#take(rows, Math.min(size, mostTaken))
    // Not before they came: after a Miss this is called again.
    this.#next = grownFrom(size)
    return this.#tell(taken, count, wanted)
  }

  /** How many rows of a vast graph to take. A Miss where they are many: that takes them. */
  #sizeOf(rows: Rows, wanted: number, most: number): number {
    const size = Math.min(Math.max(wanted, Math.min(this.#next, vast.most)), most)
    if (size < vast.fewest) return size
    throw new Miss(async () => {
      const many = (this.#many ??= new ManyRows(this.#view, this.#told, this.#check))
      this.#isLast = await many.take(rows, size)
      this.#next = Math.min(grownFrom(size), many.fitting)
    })
  }

  /** How many were taken. What was read is told before a block that is missing is waited for. */
  #take(rows: Rows, most: number): number {
    let at = 0
    try {
      for (; at < 4 * most; at += 4) {
        if (!rows.next()) {
          this.#isLast = true
          break
        }
        taken[at] = rows.s
        taken[at + 1] = rows.p
        taken[at + 2] = rows.o
        taken[at + 3] = rows.g
      }
    } catch (error) {
      if (!(error instanceof Miss) || at === 0) throw error
    }
    return at / 4
  }

  #tell(ids: Float64Array, count: number, wanted: number): Triple[] {
    const end = Math.min(count, wanted)
    if (end >= fewestAhead) this.#readAhead(ids, end)
    const triples: Triple[] = []
    let n = 0
    try {
      for (; n < end; n++) triples.push(this.#triple(ids, 4 * n))
    } catch (error) {
      // What is there is told first; the block is missed again by the next call.
      this.#keep(ids, n, count)
      if (!(error instanceof Miss) || n === 0) throw error
      return triples
    }
    this.#keep(ids, n, count)
    return triples
  }

  #keep(ids: Float64Array, from: number, to: number): void {
    this.#kept = from === to ? undefined : ids.slice(4 * from, 4 * to)
  }

  #triple(ids: Float64Array, at: number): Triple {
    const view = this.#view
    const [s, p, o] = this.#told
    const triple = {
      s: s ?? this.#subjectOf(ids[at] as number),
      p: p ?? view.term(ids[at + 1] as number),
      o: o ?? view.term(ids[at + 2] as number),
    }
    // Of a union it is not said which.
    const g = ids[at + 3] as number
    return g >= 0 ? { ...triple, g: view.term(g).v } : triple
  }

  #subjectOf(id: number): Term {
    if (id === this.#subjectId) return this.#subject as Term
    const term = this.#view.term(id)
    this.#subject = term
    this.#subjectId = id
    return term
  }

  /** Predicates, and subjects that come again, are at hand. */
  #readAhead(ids: Float64Array, count: number): void {
    const [s, , o] = this.#told
    let length = 0
    for (let at = 0; at < 4 * count; at += 4) {
      if (s === undefined && ids[at] !== ids[at - 4]) ahead[length++] = ids[at] as number
      if (o === undefined) ahead[length++] = ids[at + 2] as number
    }
    this.#view.readAhead(ahead, length)
  }
}

/**
 * Each batch that is read in the order in which its terms lie reads all of these, and what is read one by one
 * a block for most terms: few batches are to come. Of 1,000,000 triples in three times the cache growing by
 * four from 4,096 rows on took 8,200 reads of blocks in four scans, and this takes 2,500.
 */
function grownFrom(rows: number): number {
  return (rows < vast.fewest ? 4 : 16) * rows
}
