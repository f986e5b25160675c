// The order of the terms of every part: that of their hashes, and of their entries where these are equal.
// Rows of several parts have one order by it, and merging parts takes no look-up.

import { entryWords } from './encoded-term.js'
import { sortedPairs } from '../../radix-sort.js'

/** Below 0 where the first entry, [from, to) of `words`, comes before the other of the same hash. */
export function compareEntries(
  words: Int32Array | Uint32Array,
  from: number,
  to: number,
  others: Int32Array | Uint32Array,
  other: number,
  end: number,
): number {
  const common = Math.min(to - from, end - other)
  for (let i = 0; i < common; i++) {
    const a = (words[from + i] as number) >>> 0
    const b = (others[other + i] as number) >>> 0
    if (a !== b) return a < b ? -1 : 1
  }
  return to - from - (end - other)
}

/** Terms as they were numbered: behind an entry there may be how it is spelled. */
interface Terms {
  readonly count: number
  readonly words: Int32Array
  readonly starts: Uint32Array
  readonly hashes: Uint32Array
}

/** Pairs of hash and id, in the order of the terms. */
export function sortTerms(terms: Terms): Uint32Array<ArrayBuffer> {
  const { count } = terms
  const pairs = sortedPairs(terms.hashes, count)
  for (let from = 0, to = 1; from < count; from = to++) {
    const hash = pairs[2 * from]
    while (to < count && pairs[2 * to] === hash) to++
    // Few, but for literals of one text: those of each language and datatype have one hash.
    if (to - from > 1) sortEqual(terms, pairs, from, to)
  }
  return pairs
}

/** By id its number in the order that sortTerms() gave. */
export function ranksOf(order: Uint32Array, count: number): Uint32Array {
  const ranks = new Uint32Array(count)
  for (let n = 0; n < count; n++) ranks[order[2 * n + 1] as number] = n
  return ranks
}

function sortEqual({ words, starts }: Terms, pairs: Uint32Array, from: number, to: number): void {
  const ids = Array.from({ length: to - from }, (_, n) => pairs[2 * (from + n) + 1] as number)
  ids.sort((a, b) => {
    const start = starts[a] as number
    const other = starts[b] as number
    return compareEntries(words, start, endOf(words, start), words, other, endOf(words, other))
  })
  for (const [n, id] of ids.entries()) pairs[2 * (from + n) + 1] = id
}

/** Where the entry ends that begins at `start`, without how it is spelled. */
export function endOf(words: Int32Array, start: number): number {
  return start + entryWords(words[start] as number, (place) => words[start + place] as number)
}
