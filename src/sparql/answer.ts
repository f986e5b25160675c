// SPARQL 1.1 Query over a graph, by an engine that is an optional peer, in the thread that asks.

import type { Quad, Term } from '@rdfjs/types'
import { negotiate } from '../accept.js'
import { encoded, formatsOf } from './formats.js'
import { mostNames, resolveGraphs, type NamedGraphs } from './graphs.js'
import { parseQuery } from './parse.js'
import { mendPaths } from './paths.js'
import { AnswerTerms } from './answer-terms.js'
import { loadPeer } from './peer.js'
import type { EngineBindings, Peer } from './peer.js'
import { rdfFactory } from '../rdf/factory.js'
import { nodeOf, termOf } from '../rdf/terms.js'
import { SparqlQuestion } from './question.js'
import { regexFunctions } from './regex.js'
import { sparqlSource, type Dataset } from '../graph/rdf-source.js'
import type {
  SparqlAnswer,
  SparqlBindings,
  SparqlGraph,
  SparqlOptions,
  SparqlRequest,
  SparqlResult,
  SparqlSnapshot,
} from './types.js'
import { markUnbound } from './unbound.js'

export async function query(
  graph: SparqlGraph,
  text: string,
  options: SparqlOptions = {},
): Promise<SparqlResult> {
  return (await ask(graph, text, options)).result
}

export async function execute(
  graph: SparqlGraph,
  text: string,
  { accept, ...options }: SparqlRequest = {},
): Promise<SparqlAnswer> {
  const { question, result } = await ask(graph, text, options)
  const formats = formatsOf(result.type)
  const format = negotiate(accept, formats)
  if (format === undefined) {
    question.end()
    return { type: 'not-acceptable', offered: formats.map(({ mediaType }) => mediaType) }
  }
  const chunks = encoded(format.write(result))
  // Most errors come before much was answered: then there is no answer that breaks off.
  const first = await chunks.next()
  const body = question.endedBy(joined(first, chunks))
  return { type: 'answer', contentType: format.contentType, body }
}

async function ask(
  graph: SparqlGraph,
  text: string,
  { signal, baseIRI, defaultGraphs, namedGraphs }: SparqlOptions,
): Promise<{ question: SparqlQuestion; result: SparqlResult }> {
  const peer = await loadPeer()
  signal?.throwIfAborted()
  const parsed = parseQuery(peer, text, baseIRI)
  const isGiven = defaultGraphs !== undefined || namedGraphs !== undefined
  const given = { defaultGraphs: defaultGraphs ?? [], namedGraphs: namedGraphs ?? [] }
  const dataset = isGiven ? ofCore(given) : parsed.dataset && ofCore(parsed.dataset)
  const snapshot = await graph.snapshot({ signal })
  const question = new SparqlQuestion(signal, () => snapshot.close())
  try {
    mendPaths(parsed.operation)
    await resolveGraphs(parsed.operation, graphsOf(snapshot, dataset, signal, peer))
    markUnbound(parsed.operation)
  } catch (error) {
    question.end()
    throw error
  }
  const answer = await question.answer(() =>
    peer.engine.query(parsed.operation, {
      sources: [question.guard(sparqlSource(snapshot, dataset))],
      extensionFunctions: regexFunctions((error) => question.fail(error)),
      ...(parsed.baseIRI !== undefined && { baseIRI: parsed.baseIRI }),
    }),
  )
  const terms = new AnswerTerms()
  switch (answer.resultType) {
    case 'bindings': {
      const rows = await question.answer(answer.execute)
      const bindings = question.items(rows, (row) => named(row, terms))
      return { question, result: { type: 'bindings', variables: parsed.variables, bindings } }
    }
    case 'quads': {
      const made = await question.answer(answer.execute)
      const quads = question.items(made, (quad) =>
        isLegal(quad) ? terms.shownQuad(quad) : undefined,
      )
      return { question, result: { type: 'quads', quads } }
    }
    case 'boolean': {
      const value = await question.answer(answer.execute)
      question.end()
      return { question, result: { type: 'boolean', value } }
    }
  }
}

/** Graphs by their names in the core, which may be no IRIs, and URNs in a query. */
function ofCore({ defaultGraphs, namedGraphs }: Dataset): Dataset {
  const names = (iris: readonly string[] | undefined) =>
    iris?.map((iri) => {
      const { v, e } = termOf(rdfFactory.namedNode(iri))
      return e ? v : iri
    })
  return { defaultGraphs: names(defaultGraphs), namedGraphs: names(namedGraphs) }
}

function graphsOf(
  graph: SparqlSnapshot,
  dataset: Dataset | undefined,
  signal: AbortSignal | undefined,
  { ofSource }: Peer,
): NamedGraphs {
  const named = dataset?.namedGraphs
  return {
    async names() {
      const names = new Set(named)
      if (named === undefined) {
        for await (const name of graph.graphs({ signal }))
          if (names.add(name).size > mostNames) break
      }
      return [...names].map((v) => ofSource(nodeOf({ v, e: true })))
    },
    async has(name) {
      const { v, e } = termOf(name)
      // As a pattern in it: no graph is a literal.
      if (!e) return false
      if (named !== undefined) return named.includes(v)
      // In a list a name is no variable, whatever it looks like.
      const triples = graph.match({ g: [v] }, { limit: 1, signal })[Symbol.asyncIterator]()
      const { done } = await triples.next()
      await triples.return?.()
      return done !== true
    },
  }
}

/** A template may put a literal where no triple has one: there is none then (section 16.2). */
function isLegal({ subject, predicate }: Quad): boolean {
  const isNode = subject.termType === 'NamedNode' || subject.termType === 'BlankNode'
  return isNode && predicate.termType === 'NamedNode'
}

function named(row: EngineBindings, terms: AnswerTerms): SparqlBindings {
  // Without a prototype: a variable may have the name of any property.
  const bindings = Object.create(null) as Record<string, Term>
  for (const [variable, term] of row) bindings[variable.value] = terms.shown(term)
  return bindings
}

async function* joined(
  first: IteratorResult<Uint8Array, void>,
  rest: AsyncGenerator<Uint8Array, void>,
): AsyncGenerator<Uint8Array, void> {
  if (!first.done) yield first.value
  yield* rest
}
