// Rows that were read, and are told one after the other.

import { sortedPairs } from '../radix-sort.js'
import { Turns } from '../turns.js'
import type { Term } from '../types.js'
import { Miss, withBlocks } from './miss.js'
import type { Rows, TellingView } from './view.js'

/** Of fewer rows the terms are read one by one. */
const fewestAhead = 64

/**
 * Where the terms are more than memory holds, those of so many rows at most are read in the order in which
 * they lie. Of 10,000,000 triples, whose terms take 195 MiB, each such batch reads all of these once. No
 * more than so many characters of subjects are held, and of objects.
 */
export const vast = { fewest: 256, most: 1 << 19, characters: 1 << 25 }

/** Of that room, what the next batch should take: texts are not all of one length. */
const share = 0.75

const rowsAtOnce = 1 << 14

/** What of a row a reader knows already. */
type Told = readonly [s: Term | undefined, p: Term | undefined, o: Term | undefined]

/** By row; undefined where there was no room for more. */
type ReadTerms = readonly (Term | undefined)[]

export class RowBatch {
  readonly #view: TellingView
  readonly #told: Told
  readonly #check: () => void
  /** s, p, o and g of one row after the other. */
  #ids = new Float64Array(4 * 16)
  #count = 0
  #at = 0
  /** By row, where they were read: those of s and of o. */
  #subjects: ReadTerms | undefined
  #objects: ReadTerms | undefined
  /** Of a vast graph up to so many rows are next. */
  #next = 0
  /** No row comes after these. */
  isLast = false

  /** `check` throws where it may not go on. */
  constructor(view: TellingView, told: Told, check: () => void) {
    this.#view = view
    this.#told = told
    this.#check = check
  }

  /** No row is left that was not told. */
  get isEmpty(): boolean {
    return this.#at === this.#count
  }

  /** The triple of the row that is next. May throw a Miss. */
  next(): { s: Term; p: Term; o: Term; g?: string } {
    const view = this.#view
    const [s, p, o] = this.#told
    const n = this.#at
    const ids = this.#ids
    const triple = {
      s: s ?? this.#subjects?.[n] ?? view.term(ids[4 * n] as number),
      p: p ?? view.term(ids[4 * n + 1] as number),
      o: o ?? this.#objects?.[n] ?? view.term(ids[4 * n + 2] as number),
    }
    // Of a union it is not said which.
    const g = ids[4 * n + 3] as number
    const named = g >= 0 ? { ...triple, g: view.term(g).v } : triple
    this.#at++
    return named
  }

  /**
   * Takes rows in place of those that were told: so many as are wanted now, or of a vast graph more each
   * time, but no more than `most`. May throw a Miss.
   */
  take(rows: Rows, wanted: number, most: number): void {
    this.#begin()
    const { isVast } = this.#view
    const grown = isVast ? Math.min(this.#next, vast.most) : 0
    const size = Math.min(Math.max(wanted, grown), most)
    if (isVast && size >= vast.fewest) throw new Miss(() => this.#takeMany(rows, size))
    this.#takeSome(rows, size)
    // Not before they came: after a Miss this is called again.
    this.#next = grownFrom(size)
    if (this.#count >= fewestAhead) this.#readAhead()
  }

  #begin(): void {
    this.#count = 0
    this.#at = 0
    this.#subjects = undefined
    this.#objects = undefined
  }

  /** Until there are so many. What was read is told before a block that is missing is waited for. */
  #takeSome(rows: Rows, most: number): void {
    if (4 * most > this.#ids.length) this.#grow(most)
    const ids = this.#ids
    let at = 4 * this.#count
    try {
      for (; at < 4 * most; at += 4) {
        if (!rows.next()) {
          this.isLast = true
          break
        }
        ids[at] = rows.s
        ids[at + 1] = rows.p
        ids[at + 2] = rows.o
        ids[at + 3] = rows.g
      }
    } catch (error) {
      if (!(error instanceof Miss) || at === 4 * this.#count) throw error
    } finally {
      this.#count = at / 4
    }
  }

  #grow(rows: number): void {
    const larger = new Float64Array(4 * rows)
    larger.set(this.#ids.subarray(0, 4 * this.#count))
    this.#ids = larger
  }

  /** Predicates, and subjects that come again, are at hand. */
  #readAhead(): void {
    const ids = this.#ids
    const [s, , o] = this.#told
    const ahead: number[] = []
    for (let at = 0; at < 4 * this.#count; at += 4) {
      const subject = ids[at] as number
      if (s === undefined && subject !== ids[at - 4]) ahead.push(subject)
      if (o === undefined) ahead.push(ids[at + 2] as number)
    }
    this.#view.readAhead(ahead)
  }

  async #takeMany(rows: Rows, most: number): Promise<void> {
    const turns = new Turns(undefined)
    if (4 * most > this.#ids.length) this.#ids = new Float64Array(4 * most)
    while (this.#count < most && !this.isLast) {
      const end = Math.min(most, this.#count + rowsAtOnce)
      await withBlocks(() => this.#takeSome(rows, end), this.#check)
      await turns.pass()
      this.#check()
    }
    this.#next = grownFrom(most)
    const [s, , o] = this.#told
    if (s === undefined) this.#subjects = await this.#read(0, turns)
    if (o === undefined) this.#objects = await this.#read(2, turns)
  }

  /** The terms at a place of the rows; undefined where they come in the order in which they lie. */
  async #read(place: number, turns: Turns): Promise<ReadTerms | undefined> {
    const count = this.#count
    const wanted = new Uint32Array(count)
    for (let n = 0; n < count; n++) wanted[n] = this.#ids[4 * n + place] as number
    if (isAscending(wanted)) return undefined
    /** Pairs of an id and its row. */
    const pairs = sortedPairs(wanted, count)
    await turns.pass()
    let distinct = 0
    /** By id that is another than the one before, where its pairs begin. */
    const starts = new Uint32Array(count + 1)
    for (let n = 0; n < count; n++) {
      const id = pairs[2 * n] as number
      if (n > 0 && wanted[distinct - 1] === id) continue
      starts[distinct] = n
      wanted[distinct++] = id
    }
    starts[distinct] = count
    await turns.pass()
    const terms = new Array<Term | undefined>(count)
    let characters = 0
    let read = 0
    const take = (n: number, term: Term) => {
      const end = starts[n + 1] as number
      for (let at = starts[n] as number; at < end; at++) terms[pairs[2 * at + 1] as number] = term
      read = n + 1
      characters += term.v.length
      return characters < vast.characters
    }
    await this.#view.eachTerm(wanted.subarray(0, distinct), take, this.#check)
    this.#fit((characters * distinct) / read)
    return terms
  }

  /** No more rows than there is room for, where all of these take so much. */
  #fit(characters: number): void {
    const rows = (this.#count * share * vast.characters) / Math.max(1, characters)
    this.#next = Math.min(this.#next, Math.ceil(rows))
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

function isAscending(numbers: Uint32Array): boolean {
  for (let n = 1; n < numbers.length; n++) {
    if ((numbers[n] as number) < (numbers[n - 1] as number)) return false
  }
  return true
}
