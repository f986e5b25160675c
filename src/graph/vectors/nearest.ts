// The entities whose vectors point where a vector points.

import type { Term, Vector } from '../../types.js'
import type { NearEntity } from '../types.js'
import { searchLinks } from './approximate.js'
import { Candidates } from './candidates.js'
import { searchExactly } from './exact.js'
import type { VectorMemory } from './memory.js'
import { normalizeInto } from './normalized.js'
import { Turns } from '../../turns.js'
import type { VectorSet } from './types.js'
import { VectorQuestion } from './vector-question.js'

interface NearestSearch {
  /** How many entities. 10 by default. */
  readonly k?: number | undefined
  /** True follows no links. */
  readonly exact?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  readonly memory: VectorMemory
  /** The term of an id that a set gives. May throw a Miss. */
  readonly term: (id: number) => Term
}

const defaultK = 10

/**
 * The best vector of each entity over all sets, best first; equal scores in the order of the bytes
 * of the entities, literals first. Sets of other dimensions are not looked at. The vector was checked.
 */
export async function nearest(
  sets: readonly VectorSet[],
  query: Vector,
  { k = defaultK, exact = false, signal, memory, term }: NearestSearch,
): Promise<NearEntity[]> {
  const vector = unitVector(query)
  signal?.throwIfAborted()
  if (k === 0) return []

  const turns = new Turns(signal)
  // One of zeros points nowhere: no link leads nearer to it, and all are ties.
  const isLooked = exact || vector.every((component) => component === 0)
  const question = new VectorQuestion(vector, memory)
  const candidates = new Candidates(sets, k, term, turns)
  for (const [place, set] of sets.entries()) {
    if (set.dimensions !== vector.length || set.count === 0) continue
    const isFound = !isLooked && (await searchLinks(question, set, place, k, candidates, turns))
    if (!isFound) await searchExactly(question, set, place, candidates, turns)
  }
  return candidates.result()
}

/** At length 1. */
function unitVector(query: Vector): Float32Array {
  const { length } = query
  const vector = new Float32Array(length)
  normalizeInto(query instanceof Float64Array ? query : Float64Array.from(query), length, vector, 0)
  return vector
}
