// A graph as a source of RDF/JS quads: https://rdf.js.org/stream-spec/#source-interface

import { Readable } from 'node:stream'
import type { Quad, Term as RdfTerm } from '@rdfjs/types'
import { namedNodeOf, nodeOf, quadOf, rdfTermOf, termOf } from '../rdf/terms.js'
import { annotationProblem, graphProblem } from '../terms.js'
import type { Term } from '../types.js'
import type { Graph, QuadSource, TriplePattern } from './types.js'

type Asked = RdfTerm | null | undefined

/** What query engines plan with, beside match(). */
interface CountingSource extends QuadSource {
  countQuads(subject?: Asked, predicate?: Asked, object?: Asked, graph?: Asked): Promise<number>
}

/** What a query sees of a graph's graphs: SPARQL 1.1 Query, section 13. */
export interface Dataset {
  /** Graphs whose union is the default graph of the query. That of the graph by default. */
  readonly defaultGraphs?: readonly string[] | undefined
  /** All of the graph's named graphs by default. */
  readonly namedGraphs?: readonly string[] | undefined
}

/**
 * Variables, null and undefined are anything, also in the place of the graph, where the default graph
 * is one of them. No term of a core is a quoted triple: what asks for one finds nothing. Nothing is
 * read before the stream is, and no more than the stream holds; destroy() ends it early.
 */
export function rdfSource(graph: Asker): CountingSource {
  return sourceOf(graph, anyGraph)
}

/** As a SPARQL engine asks: an open graph is each of the named ones. */
export function sparqlSource(
  graph: Asker,
  { defaultGraphs, namedGraphs }: Dataset = {},
): CountingSource {
  return sourceOf(graph, (asked) => {
    if (asked?.termType === 'DefaultGraph') return [{ g: defaultGraphs ?? null }]
    if (isOpen(asked)) {
      return namedGraphs === undefined ? [{ g: '?g' }] : [...new Set(namedGraphs)].map(ofName)
    }
    const graphs = anyGraph(asked)
    return namedGraphs === undefined
      ? graphs
      : graphs.filter(({ name }) => name !== undefined && namedGraphs.includes(name))
  })
}

type Asker = Pick<Graph, 'match' | 'count'>

interface AskedGraph {
  readonly g: TriplePattern['g']
  /** Of one alone. */
  readonly name?: string
}

type AskedGraphs = readonly AskedGraph[]

function sourceOf(graph: Asker, graphsOf: (asked: Asked) => AskedGraphs): CountingSource {
  return {
    match(subject, predicate, object, named) {
      const pattern = patternOf(subject, predicate, object)
      const found = pattern === undefined ? [] : quads(graph, pattern, graphsOf(named))
      return Readable.from(found, { objectMode: true })
    },
    async countQuads(subject, predicate, object, named) {
      const pattern = patternOf(subject, predicate, object)
      let count = 0
      if (pattern === undefined) return count
      for (const { g } of graphsOf(named)) count += await graph.count({ ...pattern, g })
      return count
    },
  }
}

async function* quads(
  graph: Asker,
  pattern: TriplePattern,
  graphs: AskedGraphs,
): AsyncGenerator<Quad, void> {
  for (const { g, name } of graphs) {
    for await (const triple of graph.match({ ...pattern, g })) {
      yield quadOf(name === undefined ? triple : { ...triple, g: name })
    }
  }
}

/** `undefined` where no triple of a core can match. */
function patternOf(subject: Asked, predicate: Asked, object: Asked): TriplePattern | undefined {
  const s = askedFor(subject, nodeOf)
  const p = askedFor(predicate, namedNodeOf)
  const o = askedFor(object, rdfTermOf)
  return s === 'nothing' || p === 'nothing' || o === 'nothing' ? undefined : { s, p, o }
}

function anyGraph(asked: Asked): AskedGraphs {
  if (asked?.termType === 'DefaultGraph') return [{ g: null }]
  const g = askedFor(asked, nodeOf)
  if (g === undefined) return [{ g: undefined }]
  if (g === 'nothing' || !g.e || graphProblem(g.v) !== undefined) return []
  return [ofName(g.v)]
}

/** In a list it is the name of a graph, whatever it looks like; of a list triples do not tell their graph. */
function ofName(name: string): AskedGraph {
  return { g: name.startsWith('?') ? [name] : name, name }
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
  // One that no core can have.
  if (!term.v.isWellFormed() || annotationProblem(term) !== undefined) return 'nothing'
  return shownAs(term).equals(asked) ? term : 'nothing'
}

function isOpen(
  asked: Asked,
): asked is null | undefined | Extract<RdfTerm, { termType: 'Variable' }> {
  return asked === null || asked === undefined || asked.termType === 'Variable'
}
