// Passages of several sets in one order, which is the same whatever parts an index has.

import type { Turns } from '../../turns.js'
import { withBlocks } from '../miss.js'
import { columnOf, type PassageColumnName } from './columns.js'
import type { PassageSet } from './types.js'

export interface PassageOfSet {
  /** The number of the set. */
  readonly set: number
  readonly passage: number
}

/** In which the passages of a part are in the order of their terms, which is that of the hashes. */
const ordering = ['title', 'heading', 'begin', 'end', 'page', 'text', 'document'] as const

/**
 * The first of some passages, at most so many. Those of a set are each in the order of `compare`, and where that
 * gives 0 of their numbers. Rejects with the signal's reason.
 */
export async function firstInOrder<P extends PassageOfSet>(
  sets: readonly PassageSet[],
  bySet: readonly (readonly P[])[],
  most: number,
  turns: Turns,
  compare: (a: P, b: P) => number = () => 0,
): Promise<P[]> {
  const lists = bySet.filter(({ length }) => length > 0)
  if (lists.length < 2) return lists.flatMap((list) => list.slice(0, most))
  const places = lists.map(() => 0)
  /** By list: the hash of the passage that it is at, once it was asked for. */
  const hashes: (number | undefined)[] = []
  const headOf = (list: number) => lists[list]?.[places[list] as number]
  const isBefore = (a: number, b: number): boolean => {
    const [one, other] = [headOf(a) as P, headOf(b) as P]
    const order = compare(one, other)
    if (order !== 0) return order < 0
    const hash = (hashes[a] ??= hashOf(sets, one))
    const difference = hash - (hashes[b] ??= hashOf(sets, other))
    return (difference === 0 ? comparePassages(sets, one, other) : difference) < 0
  }
  const next = () => {
    let first: number | undefined
    for (const list of lists.keys()) {
      if (headOf(list) === undefined) continue
      if (first === undefined || isBefore(list, first)) first = list
    }
    return first
  }
  const found: P[] = []
  while (found.length < most) {
    const first = withBlocks(next)
    const list = first instanceof Promise ? await first : first
    if (list === undefined) break
    found.push(headOf(list) as P)
    places[list] = (places[list] as number) + 1
    hashes[list] = undefined
    if (turns.isLong) await turns.pass()
  }
  return found
}

/** May throw a Miss. */
function hashOf(sets: readonly PassageSet[], { set, passage }: PassageOfSet): number {
  const of = sets[set] as PassageSet
  return of.hashOf(of.term(of.at(columnOf.passage, passage)))
}

/** Of two with one hash. May throw a Miss. */
function comparePassages(sets: readonly PassageSet[], a: PassageOfSet, b: PassageOfSet): number {
  const [chunk, other] = [a, b].map(({ set, passage }) => {
    const of = sets[set] as PassageSet
    return of.term(of.at(columnOf.passage, passage)).v
  }) as [string, string]
  if (chunk !== other) return chunk < other ? -1 : 1
  for (const name of ordering) {
    const difference = valueOf(sets, a, name) - valueOf(sets, b, name)
    if (difference !== 0) return difference
  }
  return 0
}

/** What a passage has in a column, as a number that all sets have. May throw a Miss. */
function valueOf(
  sets: readonly PassageSet[],
  { set, passage }: PassageOfSet,
  name: PassageColumnName,
): number {
  const of = sets[set] as PassageSet
  const value = of.at(columnOf[name], passage)
  const isTerm = name === 'title' || name === 'heading' || name === 'document'
  return isTerm && value > 0 ? 1 + of.hashOf(of.term(value - 1)) : value
}
