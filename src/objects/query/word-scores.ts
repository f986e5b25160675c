// How well each row fits several words, window by window.

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
}

interface Word {
  readonly idf: number
  /** Each row is there once. */
  readonly isOne: boolean
  readonly cursors: readonly Weighed[]
}

/** What searches that are not under way have left: an array is filled with zeros when it is made. */
const spare: Window[] = []
const mostSpare = 4

interface Window {
  readonly scores: Float64Array
  readonly frequencies: Float64Array
  readonly rows: RowBits
  readonly rowsOfWord: RowBits
}

function newWindow(): Window {
  return {
    scores: new Float64Array(windowRows),
    frequencies: new Float64Array(windowRows),
    rows: new RowBits(),
    rowsOfWord: new RowBits(),
  }
}

export class WordScores {
  readonly #among: Among
  readonly #norms: Norms
  readonly #words: readonly Word[]
  readonly #cursors: readonly (readonly WordCursor[])[]
  readonly #refs: Float64Array
  readonly #scores: Float64Array
  #count = 0
  #nextKept = 0
  readonly #nextDropped: number[]

  constructor(words: readonly ScoredWord[], among: Among) {
    const { sums, most, dropped } = among
    this.#among = among
    this.#norms = new Norms(sums)
    this.#words = words.map((word) => this.#wordOf(word))
    this.#cursors = this.#words.map(({ cursors }) => cursors.map(({ cursor }) => cursor))
    this.#refs = new Float64Array(most)
    this.#scores = new Float64Array(most)
    this.#nextDropped = dropped.map(() => 0)
  }

  #wordOf({ isPrefix, forms }: ScoredWord): Word {
    const { has, sums } = this.#among
    const isOne = forms.length === 1 && !isPrefix
    const isAll = has === undefined && forms.every(({ list }) => list.gone.size === 0)
    const open = () =>
      forms.flatMap(({ list: { postings, gone }, weight }) =>
        postings.map((posting) => ({
          cursor: cursorOf(posting),
          count: weight * posting.count,
          gone,
        })),
      )
    const having = isOne && isAll ? (forms[0]?.list.entries ?? 0) : this.#rowsIn(open())
    return { idf: idfOf(having, sums.rows), isOne, cursors: open() }
  }

  /** How many rows several entries are of. */
  #rowsIn(cursors: readonly Weighed[]): number {
    const lists = [cursors.map(({ cursor }) => cursor)]
    const rows = new RowBits()
    let count = 0
    for (let base = nextWindow(lists); base < Infinity; base = nextWindow(lists)) {
      for (const { cursor, gone } of cursors) {
        for (; cursor.row < base + windowRows; cursor.next()) {
          if (this.#isThere(cursor.row, gone)) rows.add(cursor.row - base)
        }
      }
      count += rows.clear()
    }
    return count
  }

  #isThere(row: number, gone: ReadonlySet<number>): boolean {
    const { has, table } = this.#among
    if (has === undefined && gone.size === 0) return true
    const ref = row * tableSpan + table
    return !gone.has(ref) && has?.(ref) !== false
  }

  /** The rows of the next window that has any; false at the end. */
  next(): boolean {
    const base = nextWindow(this.#cursors)
    if (base === Infinity) return false
    const window = spare.pop() ?? newWindow()
    for (const word of this.#words) {
      if (word.isOne) this.#addOne(word, base, window)
      else this.#addForms(word, base, window)
    }
    this.#take(base, window)
    if (spare.length < mostSpare) spare.push(window)
    return true
  }

  #addOne({ idf, cursors }: Word, base: number, { scores, rows }: Window): void {
    const end = base + windowRows
    const norms = this.#norms
    for (const { cursor, count, gone } of cursors) {
      for (; cursor.row < end; cursor.next()) {
        if (!this.#isThere(cursor.row, gone)) continue
        const row = cursor.row - base
        scores[row] = (scores[row] as number) + idf * saturated(count / norms.of(cursor.length))
        rows.add(row)
      }
    }
  }

  #addForms({ idf, cursors }: Word, base: number, window: Window): void {
    const { scores, frequencies, rows, rowsOfWord } = window
    const end = base + windowRows
    const norms = this.#norms
    for (const { cursor, count, gone } of cursors) {
      for (; cursor.row < end; cursor.next()) {
        if (!this.#isThere(cursor.row, gone)) continue
        const row = cursor.row - base
        frequencies[row] = (frequencies[row] as number) + count / norms.of(cursor.length)
        rowsOfWord.add(row)
      }
    }
    rowsOfWord.drain((row) => {
      scores[row] = (scores[row] as number) + idf * saturated(frequencies[row] as number)
      frequencies[row] = 0
      rows.add(row)
    })
  }

  #take(base: number, { scores, rows }: Window): void {
    const { kept, table } = this.#among
    rows.drain((row) => {
      const score = scores[row] as number
      scores[row] = 0
      const ref = (base + row) * tableSpan + table
      if (kept !== undefined) {
        while ((kept[this.#nextKept] ?? Infinity) < ref) this.#nextKept++
        if (kept[this.#nextKept] !== ref) return
      }
      if (this.#isDropped(ref)) return
      this.#refs[this.#count] = ref
      this.#scores[this.#count++] = score
    })
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
