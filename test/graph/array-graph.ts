// A graph over an array, that tells how it was read.

import type { Graph, TriplePattern } from '../../src/graph/types.js'
import type { Term, Triple } from '../../src/types.js'

export interface ArrayGraph extends Pick<Graph, 'match' | 'count'> {
  readonly triples: Triple[]
  /** How many cursors were opened, how many of them are open, and what they gave. */
  readonly reads: { opened: number; open: number; given: number }
  /** Where set, a cursor throws it after `afterTriples`. */
  failure: { readonly error: Error; readonly afterTriples: number } | undefined
}

export function arrayGraph(triples: Triple[]): ArrayGraph {
  const reads = { opened: 0, open: 0, given: 0 }
  const matching = (pattern: TriplePattern = {}) =>
    triples.filter(
      ({ s, p, o }) => isSame(pattern.s, s) && isSame(pattern.p, p) && isSame(pattern.o, o),
    )
  const graph: ArrayGraph = {
    triples,
    reads,
    failure: undefined,
    async *match(pattern) {
      reads.opened++
      reads.open++
      try {
        let given = 0
        for (const triple of matching(pattern)) {
          if (given++ === graph.failure?.afterTriples) throw graph.failure.error
          reads.given++
          yield triple
          await new Promise(setImmediate)
        }
      } finally {
        reads.open--
      }
    },
    count: async (pattern) => matching(pattern).length,
  }
  return graph
}

function isSame(asked: Term | undefined, term: Term): boolean {
  if (asked === undefined) return true
  return asked.v === term.v && asked.e === term.e && asked.dt === term.dt && asked.ln === term.ln
}
