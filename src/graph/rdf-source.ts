// A graph as a source of RDF/JS quads: https://rdf.js.org/stream-spec/#source-interface

import { Readable } from 'node:stream'
import type { Quad, Term as RdfTerm } from '@rdfjs/types'
import { namedNodeOf, nodeOf, quadOf, rdfTermOf, termOf } from '../rdf/terms.js'
import type { Term } from '../types.js'
import type { Graph, QuadSource, TriplePattern } from './types.js'

type Asked = RdfTerm | null | undefined

/** What query engines plan with, beside match(). */
interface CountingSource extends QuadSource {
  countQuads(subject?: Asked, predicate?: Asked, object?: Asked, graph?: Asked): Promise<number>
}

/**
 * Variables, null and undefined are anything. All quads are in the default graph, and no term of a
 * core has a datatype, a language or is a quoted triple: what asks for one finds nothing. Nothing is
 * read before the stream is, and no more than the stream holds; destroy() ends it early.
 */
export function rdfSource(graph: Pick<Graph, 'match' | 'count'>): CountingSource {
  return {
    match(...terms) {
      const pattern = patternOf(terms)
      return Readable.from(pattern === undefined ? [] : quads(graph, pattern), { objectMode: true })
    },
    async countQuads(...terms) {
      const pattern = patternOf(terms)
      return pattern === undefined ? 0 : graph.count(pattern)
    },
  }
}

async function* quads(
  graph: Pick<Graph, 'match'>,
  pattern: TriplePattern,
): AsyncGenerator<Quad, void> {
  for await (const triple of graph.match(pattern)) yield quadOf(triple)
}

/** `undefined` where no triple of a core can match. */
function patternOf([subject, predicate, object, graph]: readonly Asked[]):
  TriplePattern | undefined {
  const s = askedFor(subject, nodeOf)
  const p = askedFor(predicate, namedNodeOf)
  const o = askedFor(object, rdfTermOf)
  const isDefaultGraph = isOpen(graph) || graph.termType === 'DefaultGraph'
  if (s === 'nothing' || p === 'nothing' || o === 'nothing' || !isDefaultGraph) return undefined
  return { s, p, o }
}

/**
 * Only a term that a triple shows in this place is looked for: a literal of a core is its text
 * alone, and the URN of a literal stands for it where it is a subject but not where it is an object.
 */
function askedFor(asked: Asked, shownAs: (term: Term) => RdfTerm): Term | 'nothing' | undefined {
  if (isOpen(asked)) return undefined
  const { termType } = asked
  const isNode = termType === 'NamedNode' || termType === 'BlankNode' || termType === 'Literal'
  if (!isNode) return 'nothing'
  const term = termOf(asked)
  return shownAs(term).equals(asked) ? term : 'nothing'
}

function isOpen(
  asked: Asked,
): asked is null | undefined | Extract<RdfTerm, { termType: 'Variable' }> {
  return asked === null || asked === undefined || asked.termType === 'Variable'
}
