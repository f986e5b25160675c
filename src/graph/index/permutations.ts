// The triples of a part in three orders, by counting sorts on the ids of their terms. Each order comes
// out of the one before in a single pass, which moves pairs alone: the third id is known from where a
// pair lies.
// Hot: benchmarks/graph-import.ts; change with numbers.

import type { Turns } from '../../turns.js'
import { IS_LIST } from './layout.js'

/** Triples in the order of one of their places, then of the others, in which the pairs have them. */
export interface Permutation {
  /** By id: the first pair of the triples that have it in the first place; one more for the end. */
  readonly starts: Uint32Array
  readonly pairs: Uint32Array
}

/** Each triple once, in the order of SPO, and where it is said. */
export interface SortedRows {
  readonly spo: Permutation
  /** As the sections of layout.ts; undefined where all are said in one place, and once they are written. */
  rowPlaces: Uint32Array | undefined
  readonly lists: Uint32Array
}

/** Makes room for so many numbers, all 0. */
export type Allocate = (length: number) => Uint32Array

export const inHeap: Allocate = (length) => new Uint32Array(length)

/** Ids that are gone through in one turn: they have some two triples each. */
const idsAtOnce = 1 << 15
const rowsAtOnce = 1 << 16

/** Triples by their subjects, those of each in any order and maybe several times. */
export interface CollectedRows {
  /** By subject: its first pair; one more for the end. */
  readonly starts: Uint32Array
  /** By subject: where its next pair goes, or has ended. */
  readonly next: Uint32Array
  readonly pairs: Uint32Array
  /** By pair: the number of its place, where there are several. */
  readonly places: Uint32Array | undefined
}

/** `counts`: for each subject how many of its triples come at most, by id + 1. It is taken over. */
export function roomForRows(
  counts: Uint32Array,
  isMixed: boolean,
  allocate = inHeap,
): CollectedRows {
  const starts = addUp(counts)
  const room = starts.at(-1) ?? 0
  const next = allocate(starts.length - 1)
  next.set(starts.subarray(0, -1))
  return { starts, next, pairs: allocate(2 * room), places: isMixed ? allocate(room) : undefined }
}

/** Puts them in order, where they lie. */
export class RowTable {
  #next: Uint32Array
  readonly #pairs: Uint32Array
  readonly #places: Uint32Array | undefined
  readonly #starts: Uint32Array
  #kept = 0
  #lists = new Uint32Array(0)
  #listed = 0

  /** What was collected is taken over. */
  constructor({ starts, next, pairs, places }: CollectedRows) {
    this.#starts = starts
    this.#next = next
    this.#pairs = pairs
    this.#places = places
  }

  async sorted(turns: Turns): Promise<SortedRows> {
    const terms = this.#next.length
    for (let id = 0; id < terms; id += idsAtOnce) {
      const end = Math.min(terms, id + idsAtOnce)
      if (this.#places === undefined) this.#sort(id, end)
      else this.#sortMixed(this.#places, id, end)
      await turns.pass()
    }
    const kept = this.#kept
    this.#starts[terms] = kept
    // Many, and not needed while the other orders are made.
    this.#next = new Uint32Array(0)
    return {
      spo: { starts: this.#starts, pairs: this.#pairs.subarray(0, 2 * kept) },
      rowPlaces: this.#places?.subarray(0, kept),
      lists: this.#lists.subarray(0, this.#listed),
    }
  }

  /** Sorts the pairs of each subject, and keeps one of each. In place. */
  #sort(firstId: number, endId: number): void {
    const pairs = this.#pairs
    const next = this.#next
    const starts = this.#starts
    let kept = this.#kept
    for (let id = firstId; id < endId; id++) {
      const from = starts[id] as number
      const to = next[id] as number
      if (to - from > mostInserted) sortLong(pairs, from, to)
      else insertInOrder(pairs, from, to)
      starts[id] = kept
      const first = kept
      for (let i = from; i < to; i++) {
        const b = pairs[2 * i] as number
        const c = pairs[2 * i + 1] as number
        if (kept > first && pairs[2 * kept - 2] === b && pairs[2 * kept - 1] === c) continue
        pairs[2 * kept] = b
        pairs[2 * kept + 1] = c
        kept++
      }
    }
    this.#kept = kept
  }

  #sortMixed(places: Uint32Array, firstId: number, endId: number): void {
    const pairs = this.#pairs
    const next = this.#next
    const starts = this.#starts
    let kept = this.#kept
    for (let id = firstId; id < endId; id++) {
      const from = starts[id] as number
      const to = next[id] as number
      if (to - from > mostInserted) sortLongMixed(pairs, places, from, to)
      else insertMixed(pairs, places, from, to)
      starts[id] = kept
      for (let i = from, end = from; i < to; i = end) {
        const b = pairs[2 * i] as number
        const c = pairs[2 * i + 1] as number
        for (end = i + 1; end < to && pairs[2 * end] === b && pairs[2 * end + 1] === c;) end++
        const place = end === i + 1 ? (places[i] as number) : this.#list(places, i, end)
        pairs[2 * kept] = b
        pairs[2 * kept + 1] = c
        places[kept] = place
        kept++
      }
    }
    this.#kept = kept
  }

  /** Of several in order, [from, to): the only place, or where they are listed. */
  #list(places: Uint32Array, from: number, to: number): number {
    const start = this.#listed
    if (start + 1 + to - from > this.#lists.length) {
      const larger = new Uint32Array(2 * (start + 1 + to - from))
      larger.set(this.#lists.subarray(0, start))
      this.#lists = larger
    }
    const lists = this.#lists
    let end = start + 1
    for (let i = from; i < to; i++) {
      const place = places[i] as number
      if (i === from || place !== lists[end - 1]) lists[end++] = place
    }
    if (end === start + 2) return lists[end - 1] as number
    lists[start] = end - start - 1
    this.#listed = end
    return IS_LIST + start
  }
}

/** From counts by id + 1 where each one's begin; in place. */
function addUp(counts: Uint32Array): Uint32Array {
  for (let id = 1; id < counts.length; id++) {
    counts[id] = (counts[id] as number) + (counts[id - 1] as number)
  }
  return counts
}

/** From triples (a, b, c) sorted by a, b and c those sorted by c, a and b. */
export async function byLast(
  { starts: from, pairs }: Permutation,
  turns: Turns,
  allocate: Allocate,
): Promise<Permutation> {
  const counts = allocate(from.length)
  countLast(pairs, counts)
  await turns.pass()
  const starts = addUp(counts)
  const next = new Uint32Array(starts)
  const sorted = allocate(pairs.length)
  const terms = from.length - 1
  for (let id = 0; id < terms; id += idsAtOnce) {
    scatter(from, pairs, id, Math.min(terms, id + idsAtOnce), next, sorted)
    await turns.pass()
  }
  return { starts, pairs: sorted }
}

function countLast(pairs: Uint32Array, counts: Uint32Array): void {
  for (let i = 1; i < pairs.length; i += 2) {
    const next = (pairs[i] as number) + 1
    counts[next] = (counts[next] as number) + 1
  }
}

function scatter(
  from: Uint32Array,
  pairs: Uint32Array,
  firstId: number,
  endId: number,
  next: Uint32Array,
  sorted: Uint32Array,
): void {
  for (let a = firstId; a < endId; a++) {
    const end = from[a + 1] as number
    for (let i = from[a] as number; i < end; i++) {
      const c = pairs[2 * i + 1] as number
      const at = next[c] as number
      next[c] = at + 1
      sorted[2 * at] = a
      sorted[2 * at + 1] = pairs[2 * i] as number
    }
  }
}

/** The rows of each place, ascending. */
export async function rowsByPlace(
  rowPlaces: Uint32Array,
  lists: Uint32Array,
  places: number,
  turns: Turns,
): Promise<{ readonly starts: Uint32Array; readonly rows: Uint32Array }> {
  const counts = new Uint32Array(places + 1)
  await eachPlace(rowPlaces, lists, turns, (place) => {
    counts[place + 1] = (counts[place + 1] as number) + 1
  })
  const starts = addUp(counts)
  const next = starts.slice()
  const rows = new Uint32Array(starts[places] as number)
  await eachPlace(rowPlaces, lists, turns, (place, row) => {
    const at = next[place] as number
    next[place] = at + 1
    rows[at] = row
  })
  return { starts, rows }
}

async function eachPlace(
  rowPlaces: Uint32Array,
  lists: Uint32Array,
  turns: Turns,
  tell: (place: number, row: number) => void,
): Promise<void> {
  for (let row = 0; row < rowPlaces.length; row += rowsAtOnce) {
    const end = Math.min(rowPlaces.length, row + rowsAtOnce)
    eachPlaceOf(rowPlaces, lists, row, end, tell)
    await turns.pass()
  }
}

function eachPlaceOf(
  rowPlaces: Uint32Array,
  lists: Uint32Array,
  firstRow: number,
  endRow: number,
  tell: (place: number, row: number) => void,
): void {
  for (let row = firstRow; row < endRow; row++) {
    const place = rowPlaces[row] as number
    if (place < IS_LIST) {
      tell(place, row)
      continue
    }
    const from = place - IS_LIST + 1
    const to = from + (lists[from - 1] as number)
    for (let at = from; at < to; at++) tell(lists[at] as number, row)
  }
}

/** Longer lists of pairs are sorted by the engine. */
const mostInserted = 24

function insertInOrder(pairs: Uint32Array, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const b = pairs[2 * i] as number
    const c = pairs[2 * i + 1] as number
    let at = i
    for (; at > from; at--) {
      const before = pairs[2 * at - 2] as number
      if (before < b || (before === b && (pairs[2 * at - 1] as number) <= c)) break
      pairs[2 * at] = before
      pairs[2 * at + 1] = pairs[2 * at - 1] as number
    }
    pairs[2 * at] = b
    pairs[2 * at + 1] = c
  }
}

/** By their places, too. */
function insertMixed(pairs: Uint32Array, places: Uint32Array, from: number, to: number): void {
  for (let i = from + 1; i < to; i++) {
    const b = pairs[2 * i] as number
    const c = pairs[2 * i + 1] as number
    const place = places[i] as number
    let at = i
    for (; at > from; at--) {
      const before = pairs[2 * at - 2] as number
      if (before < b) break
      if (before === b) {
        const last = pairs[2 * at - 1] as number
        if (last < c || (last === c && (places[at - 1] as number) <= place)) break
      }
      pairs[2 * at] = before
      pairs[2 * at + 1] = pairs[2 * at - 1] as number
      places[at] = places[at - 1] as number
    }
    pairs[2 * at] = b
    pairs[2 * at + 1] = c
    places[at] = place
  }
}

/** Two ids as one number: a part has fewer than 2^26 terms. */
const shift = 2 ** 26

function sortLong(pairs: Uint32Array, from: number, to: number): void {
  const keys = keysOf(pairs, from, to)
  if (isAscending(keys)) return
  keys.sort()
  writeKeys(keys, pairs, from)
}

function sortLongMixed(pairs: Uint32Array, places: Uint32Array, from: number, to: number): void {
  const count = to - from
  let keys = keysOf(pairs, from, to)
  let marks = places.slice(from, to)
  let otherKeys = new Float64Array(count)
  let otherMarks = new Uint32Array(count)
  // Merges runs, twice as long each time: parts that are merged, and subjects that come in the order
  // of their places, have few.
  for (let width = 1; width < count; width *= 2) {
    for (let low = 0; low < count; low += 2 * width) {
      const middle = Math.min(count, low + width)
      const high = Math.min(count, middle + width)
      let a = low
      let b = middle
      for (let at = low; at < high; at++) {
        const isFirst =
          b === high ||
          (a < middle &&
            ((keys[a] as number) < (keys[b] as number) ||
              (keys[a] === keys[b] && (marks[a] as number) <= (marks[b] as number))))
        const taken = isFirst ? a++ : b++
        otherKeys[at] = keys[taken] as number
        otherMarks[at] = marks[taken] as number
      }
    }
    ;[keys, otherKeys] = [otherKeys, keys]
    ;[marks, otherMarks] = [otherMarks, marks]
  }
  writeKeys(keys, pairs, from)
  places.set(marks, from)
}

function keysOf(pairs: Uint32Array, from: number, to: number): Float64Array<ArrayBuffer> {
  const keys = new Float64Array(to - from)
  for (let i = from; i < to; i++) {
    keys[i - from] = (pairs[2 * i] as number) * shift + (pairs[2 * i + 1] as number)
  }
  return keys
}

function isAscending(keys: Float64Array): boolean {
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i - 1] as number) > (keys[i] as number)) return false
  }
  return true
}

function writeKeys(keys: Float64Array, pairs: Uint32Array, from: number): void {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as number
    pairs[2 * (from + i)] = Math.floor(key / shift)
    pairs[2 * (from + i) + 1] = key % shift
  }
}
