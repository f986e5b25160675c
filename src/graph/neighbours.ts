// What stands next to a term in a graph.

import type { Term, Triple } from '../types.js'
import { checkLimit, checkTerm } from './question.js'
import type { MatchOptions, Neighbour, TriplePattern } from './types.js'

/** The triples of a pattern in one version of a graph, each once. Checks its options. */
export type Match = (pattern: TriplePattern, options: MatchOptions) => AsyncIterable<Triple>

/** First those with the term as subject. One that has it on both sides comes once, as `out`. */
export async function* neighbours(
  match: Match,
  value: Term,
  options: MatchOptions = {},
): AsyncGenerator<Neighbour, void, undefined> {
  const term = checkTerm(value, 'term')
  let left = checkLimit(options.limit, 'limit')
  for await (const triple of match({ s: term }, options)) {
    yield { term: triple.o, triple, direction: 'out' }
    left--
  }
  if (left === 0) return
  // No limit for match(): how many of these are loops is not known.
  for await (const triple of match({ o: term }, { signal: options.signal })) {
    if (isSame(triple.s, term)) continue
    yield { term: triple.s, triple, direction: 'in' }
    if (--left === 0) return
  }
}

export async function* describe(
  match: Match,
  value: Term,
  options: MatchOptions = {},
): AsyncGenerator<Triple, void, undefined> {
  yield* match({ s: checkTerm(value, 'term') }, options)
}

function isSame(a: Term, b: Term): boolean {
  return a.v === b.v && a.e === b.e
}
