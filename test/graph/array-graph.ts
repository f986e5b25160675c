// A graph over an array, that tells how it was read.

import type { Graph, TriplePattern } from '../../src/graph/types.js'
import type { SparqlGraph } from '../../src/sparql/index.js'
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
      ({ s, p, o, g }) =>
        isSame(pattern.s, s) &&
        isSame(pattern.p, p) &&
        isSame(pattern.o, o) &&
        (pattern.g === '?g' ? g !== undefined : isIn(pattern.g, g)),
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

/** As a SPARQL engine asks it; `held` are the versions that are not closed. */
export function versioned(
  graph: Pick<Graph, 'match' | 'count'> & { readonly triples?: readonly Triple[] },
): SparqlGraph & { held: number } {
  const { match, count, triples = [] } = graph
  const versions = {
    held: 0,
    async snapshot() {
      versions.held++
      return { match, count, graphs, close: () => void versions.held-- }
    },
  }
  return versions

  async function* graphs() {
    yield* new Set(triples.flatMap(({ g }) => g ?? []))
  }
}

function isSame(asked: Term | undefined, term: Term): boolean {
  if (asked === undefined) return true
  return asked.v === term.v && asked.e === term.e && asked.dt === term.dt && asked.ln === term.ln
}

function isIn(asked: TriplePattern['g'], g: string | undefined): boolean {
  return asked === undefined || [asked].flat().some((name) => (name ?? undefined) === g)
}
