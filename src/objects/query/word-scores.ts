// How well each row fits several words, window by window.

import { keepShape } from '../../kept-shapes.js'
import { idfOf, norm, saturated } from '../../text/bm25.js'
import { tableSpan } from '../engine/ref.js'
import { cursorOf, type TextSums, type WordList } from '../engine/word-lists.js'
import type { WordCursor } from '../engine/word-page.js'
import { nextWindow, RowBits, windowRows } from './row-window.js'

/** A word of the question, with all of the index that it stands for. */
export interface ScoredWord {
  readonly isPrefix: boolean
  readonly forms: readonly { readonly list: WordList; readonly weight: number }[]
}

interface Among {
  /** Of what whoever asks may see. */
  readonly sums: TextSums
  /** What that is; undefined: all. */
  readonly has: ((ref: number) => boolean) | undefined
  /** Rows that alone are matches, growing; undefined: all. */
  readonly kept: Float64Array | undefined
  /** Rows that are none, growing. */
  readonly dropped: readonly Float64Array[]
  /** How many matches there are at most. */
  readonly most: number
  readonly table: number
}

/** One that has entries to come. */
interface Weighed {
  readonly cursor: WordCursor
  /** How often the row has the word, times what it counts. */
  readonly count: number
  readonly gone: ReadonlySet<number>
  /** What a row gets, by how long it is, where many ask; 0 is not known yet. */
  readonly gains: Float64Array | undefined
}

interface Word {
  readonly idf: number
  /** Each row is there once. */
  readonly isOne: boolean
  /** Without those that are at their end. */
  cursors: readonly Weighed[]
}

/** What searches that are not under way have left: an array is filled with zeros when it is made. */
const spare: Window[] = []
const mostSpare = 4

interface Window {
  readonly scores: Float64Array
  readonly frequencies: Float64Array
  readonly rows: RowBits
  readonly rowsOfWord: RowBits
  /** Of kept rows 1. */
  readonly marks: Uint8Array
  /** Of one cursor, or all. */
  readonly taken: Uint16Array
}

function newWindow(): Window {
  return {
    scores: new Float64Array(windowRows),
    frequencies: new Float64Array(windowRows),
    rows: new RowBits(),
    rowsOfWord: new RowBits(),
    marks: new Uint8Array(windowRows),
    taken: new Uint16Array(windowRows),
  }
}

/** Of most rows. */
const mostLengths = 256

/** Beginning with the first of each. */
function opened(forms: ScoredWord['forms']): readonly Weighed[] {
  const cursors: Weighed[] = []
  for (const { list, weight } of forms) {
    /** Of all that count as much. */
    const gains = new Map<number, Float64Array>()
    const isLong = list.entries > 4 * mostLengths
    for (const posting of list.postings) {
      const count = weight * posting.count
      if (isLong && !gains.has(count)) gains.set(count, new Float64Array(mostLengths))
      cursors.push({
        cursor: cursorOf(posting),
        count,
        gone: list.gone,
        gains: gains.get(count),
      })
    }
  }
  return cursors
}

/** A beginning has one for each form, and most of them end soon. */
function isOpen({ cursor }: Weighed): boolean {
  return cursor.row < Infinity
}

function nextOf(lists: readonly (readonly Weighed[])[]): number {
  return nextWindow(lists.map((list) => list.map(({ cursor }) => cursor)))
}

export class WordScores {
  readonly #among: Among
  readonly #norms: Norms
  readonly #words: Word[] = []
  readonly #refs: Float64Array
  readonly #scores: Float64Array
  #count = 0
  #nextKept = 0
  readonly #nextDropped: number[]

  constructor(among: Among) {
    const { sums, most, dropped } = among
    this.#among = among
    this.#norms = new Norms(sums)
    this.#refs = new Float64Array(most)
    this.#scores = new Float64Array(most)
    this.#nextDropped = dropped.map(() => 0)
  }

  /** Adds words, and counts the rows of each, a window at a time. */
  *add(words: readonly ScoredWord[]): Generator<undefined, void> {
    const { has, sums } = this.#among
    for (const { isPrefix, forms } of words) {
      const isOne = forms.length === 1 && !isPrefix
      const isAll = has === undefined && forms.every(({ list }) => list.gone.size === 0)
      const isKnown = isOne && isAll
      const having = isKnown ? (forms[0]?.list.entries ?? 0) : yield* this.#rowsIn(opened(forms))
      this.#words.push({ idf: idfOf(having, sums.rows), isOne, cursors: opened(forms) })
    }
  }

  /** How many rows several entries are of. */
  *#rowsIn(cursors: readonly Weighed[]): Generator<undefined, number> {
    let left = cursors
    const rows = new RowBits()
    const taken = new Uint16Array(windowRows)
    let all = 0
    for (let base = nextOf([left]); base < Infinity; base = nextOf([left])) {
      for (const { cursor, gone } of left) {
        const count = cursor.take(base, base + windowRows, taken)
        const isAll = this.#isAll(gone)
        for (let n = 0; n < count; n++) {
          const row = taken[n] as number
          if (isAll || this.#isThere(base + row, gone)) rows.add(row)
        }
      }
      all += rows.clear()
      left = left.filter(isOpen)
      yield
    }
    return all
  }

  /** The rows of the next window that has any; false at the end. */
  next(): boolean {
    const { kept, table } = this.#among
    const base =
      kept === undefined
        ? nextOf(this.#words.map(({ cursors }) => cursors))
        : ((kept[this.#nextKept] ?? Infinity) - table) / tableSpan
    if (base === Infinity) return false
    const window = spare.pop() ?? newWindow()
    const { rows, taken } = window
    if (kept !== undefined) this.#mark(kept, base, window)
    for (const word of this.#words) {
      if (word.isOne) this.#addOne(word, base, window)
      else this.#addForms(word, base, window)
      word.cursors = word.cursors.filter(isOpen)
    }
    const count = rows.drain(taken)
    for (let n = 0; n < count; n++) this.#give(base, taken[n] as number, window)
    if (spare.length < mostSpare) spare.push(window)
    return true
  }

  /** What is kept has all words of some phrase: each of these rows is there, and no other. */
  #mark(kept: Float64Array, base: number, { rows, marks }: Window): void {
    const { table } = this.#among
    for (; this.#nextKept < kept.length; this.#nextKept++) {
      const row = ((kept[this.#nextKept] as number) - table) / tableSpan - base
      if (row >= windowRows) break
      marks[row] = 1
      rows.add(row)
    }
  }

  #addOne({ idf, cursors }: Word, base: number, window: Window): void {
    const { scores, rows, taken } = window
    const marks = this.#among.kept && window.marks
    for (const { cursor, count, gone, gains } of cursors) {
      const found = cursor.take(base, base + windowRows, taken)
      const { lengths } = cursor.page
      const isAll = this.#isAll(gone)
      for (let n = 0, entry = cursor.n - found; n < found; n++, entry++) {
        const row = taken[n] as number
        if (marks !== undefined) {
          if (marks[row] === 0) continue
        } else {
          if (!isAll && !this.#isThere(base + row, gone)) continue
          rows.add(row)
        }
        const length = lengths[entry] as number
        let gain = gains?.[length] ?? 0
        if (gain === 0) {
          gain = idf * saturated(count / this.#norms.of(length))
          if (gains !== undefined && length < mostLengths) gains[length] = gain
        }
        scores[row] = (scores[row] as number) + gain
      }
    }
  }

  #addForms({ idf, cursors }: Word, base: number, window: Window): void {
    const { scores, frequencies, rows, rowsOfWord, taken } = window
    const marks = this.#among.kept && window.marks
    for (const { cursor, count, gone } of cursors) {
      const found = cursor.take(base, base + windowRows, taken)
      const { lengths } = cursor.page
      const isAll = this.#isAll(gone)
      for (let n = 0, entry = cursor.n - found; n < found; n++, entry++) {
        const row = taken[n] as number
        if (marks !== undefined) {
          if (marks[row] === 0) continue
        } else if (!isAll && !this.#isThere(base + row, gone)) continue
        const frequency = count / this.#norms.of(lengths[entry] as number)
        frequencies[row] = (frequencies[row] as number) + frequency
        rowsOfWord.add(row)
      }
    }
    const found = rowsOfWord.drain(taken)
    for (let n = 0; n < found; n++) {
      const row = taken[n] as number
      scores[row] = (scores[row] as number) + idf * saturated(frequencies[row] as number)
      frequencies[row] = 0
      rows.add(row)
    }
  }

  #isAll(gone: ReadonlySet<number>): boolean {
    return this.#among.has === undefined && gone.size === 0
  }

  #isThere(row: number, gone: ReadonlySet<number>): boolean {
    const { has, table } = this.#among
    const ref = row * tableSpan + table
    return !gone.has(ref) && has?.(ref) !== false
  }

  #give(base: number, row: number, { scores, marks }: Window): void {
    const score = scores[row] as number
    scores[row] = 0
    marks[row] = 0
    const ref = (base + row) * tableSpan + this.#among.table
    if (this.#isDropped(ref)) return
    this.#refs[this.#count] = ref
    this.#scores[this.#count++] = score
  }

  #isDropped(ref: number): boolean {
    for (const [n, dropped] of this.#among.dropped.entries()) {
      let next = this.#nextDropped[n] as number
      while ((dropped[next] ?? Infinity) < ref) next++
      this.#nextDropped[n] = next
      if (dropped[next] === ref) return true
    }
    return false
  }

  finish() {
    const refs = this.#refs.subarray(0, this.#count)
    const scores = this.#scores.subarray(0, this.#count)
    return { refs, scores, scoreOf: (ref: number) => scores[placeOf(refs, ref)] ?? 0 }
  }
}

/** Of references that grow; -1 where it is not there. */
function placeOf(refs: Float64Array, ref: number): number {
  let low = 0
  let high = refs.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((refs[middle] as number) < ref) low = middle + 1
    else high = middle
  }
  return refs[low] === ref ? low : -1
}

/** What counts are divided by, by how long rows are. */
class Norms {
  readonly #average: number
  /** Of most rows. */
  readonly #known = new Float64Array(256)

  constructor({ rows, length }: TextSums) {
    this.#average = length / rows
  }

  of(length: number): number {
    const known = this.#known[length]
    // None is 0.
    if (known !== undefined && known > 0) return known
    const found = norm(length, this.#average)
    if (known !== undefined) this.#known[length] = found
    return found
  }
}

keepShape(
  new WordScores({
    sums: { rows: 1, length: 1 },
    has: undefined,
    kept: undefined,
    dropped: [],
    most: 0,
    table: 0,
  }),
)
