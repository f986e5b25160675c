// The order of the passages of every part: that of their terms, which is the same for all parts.

import { sortedPairs } from '../../radix-sort.js'
import { passageColumns } from '../words/columns.js'
import type { PassageColumns } from './passage-columns.js'

/** The passages in their order. */
export function passageOrder(columns: PassageColumns): Uint32Array {
  const { length } = columns.passage
  const pairs = sortedPairs(columns.passage, length)
  const order = new Uint32Array(length)
  for (let from = 0, to = 1; from < length; from = to++) {
    while (to < length && pairs[2 * to] === pairs[2 * from]) to++
    const same = Array.from({ length: to - from }, (_, n) => pairs[2 * (from + n) + 1] as number)
    if (same.length > 1) same.sort((a, b) => comparePassages(columns, a, b))
    order.set(same, from)
  }
  return order
}

function comparePassages(columns: PassageColumns, a: number, b: number): number {
  for (const name of passageColumns) {
    const difference = (columns[name][a] as number) - (columns[name][b] as number)
    if (difference !== 0) return difference
  }
  return 0
}
