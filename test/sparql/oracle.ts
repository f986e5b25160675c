// Answers of ours and of oxigraph, an engine in Rust, in words that can be compared.

import type { Quad, Term as RdfTerm } from '@rdfjs/types'
import * as oxigraph from 'oxigraph'
import { createSparql } from '../../src/sparql/index.js'
import type { SparqlGraph, SparqlResult } from '../../src/sparql/index.js'
import type { Term, Triple } from '../../src/types.js'
import { arrayGraph, versioned } from '../graph/array-graph.js'

const sparql = createSparql()

type Row = Readonly<Record<string, RdfTerm>>

export async function written(result: SparqlResult): Promise<string[]> {
  if (result.type === 'boolean') return [String(result.value)]
  if (result.type === 'bindings') return (await all(result.bindings)).map(row)
  return [...new Set((await all(result.quads)).map(statement))]
}

export function writtenByOracle(answer: unknown): string[] {
  if (typeof answer === 'boolean') return [String(answer)]
  return (answer as (Map<string, RdfTerm> | Quad)[]).map((each) =>
    each instanceof Map ? row(Object.fromEntries(each)) : statement(each),
  )
}

const row = (bindings: Row) =>
  Object.keys(bindings)
    .sort()
    .map((name) => `${name}=${shown(bindings[name] as RdfTerm)}`)
    .join(' ')

export const statement = ({ subject, predicate, object }: Quad) =>
  [subject, predicate, object].map(shown).join(' ')

const numeric = new Set(['decimal', 'integer', 'double', 'float'])

/** Numbers by their value: 30 and 30.0 are one. Blank nodes have no name that lasts. */
function shown(term: RdfTerm): string {
  if (term.termType === 'BlankNode') return '_:'
  if (term.termType !== 'Literal') return `<${term.value}>`
  const type = term.datatype.value.split('#')[1]
  const number = numeric.has(String(type)) ? Number(term.value) : term.value
  // The engine keeps floats as doubles.
  const value = type === 'float' ? Math.fround(Number(number)) : number
  return JSON.stringify([value, type, term.language])
}

export function quadIn({ s, p, o }: Triple): Quad {
  const node = ({ v, e, dt, ln }: typeof s) =>
    !e
      ? oxigraph.literal(v, ln ?? (dt === undefined ? undefined : oxigraph.namedNode(dt)))
      : v.startsWith('_:')
        ? oxigraph.blankNode(v.slice(2))
        : oxigraph.namedNode(v)
  return oxigraph.quad(node(s) as never, node(p) as never, node(o) as never)
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

export const iri = (name: string): Term => ({ v: `urn:${name}`, e: true })
export const blank = (name: string): Term => ({ v: `_:${name}`, e: true })
export const text = (v: string): Term => ({ v, e: false })

export const short = 'PREFIX : <urn:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>'

export interface Asked {
  readonly graph: SparqlGraph
  readonly store: oxigraph.Store
}

/** The same triples for both. */
export function ready(triples: readonly Triple[]): Asked {
  const graph = arrayGraph([...triples])
  return {
    graph: versioned(graph),
    store: new oxigraph.Store(triples.map(quadIn) as never),
  }
}

export const ours = async ({ graph }: Asked, query: string) =>
  (await written(await sparql.query(graph, `${short} ${query}`))).sort()
export const theirs = ({ store }: Asked, query: string) =>
  writtenByOracle(store.query(`${short} ${query}`)).sort()
