// What a statement of RDF has beyond three texts, and how a core may keep it for readers that know
// nothing else: as a reified statement (RDF 1.1 Semantics, appendix D.1), directly behind the triple.

import { createHash } from 'node:crypto'
import type * as RDF from '@rdfjs/types'
import { isSame, moreOf, rdf, xsdString } from '../terms.js'
import type { Term, Triple } from '../types.js'
import { isLanguageTag, termOf } from './terms.js'

export interface Extras {
  /** Of a literal, other than xsd:string and what a language or direction implies. */
  readonly datatype?: Term
  readonly language?: string
  readonly direction?: 'ltr' | 'rtl'
  /** A named graph. */
  readonly graph?: Term
}

/** How many statements had what. */
export interface RdfExtras {
  readonly statements: number
  readonly datatypes: number
  readonly languages: number
  readonly directions: number
  readonly graphs: number
}

const statementUrn = 'urn:lorekeep:statement:'
const terms = {
  type: entity(`${rdf}type`),
  Statement: entity(`${rdf}Statement`),
  subject: entity(`${rdf}subject`),
  predicate: entity(`${rdf}predicate`),
  object: entity(`${rdf}object`),
  language: entity(`${rdf}language`),
  direction: entity(`${rdf}direction`),
  // RDF has no properties that say these two of a statement.
  datatype: entity('urn:lorekeep:rdf:datatype'),
  graph: entity('urn:lorekeep:rdf:graph'),
} as const

/** Undefined for a statement that is all of it in its triple. */
export function extrasOf({ object, graph }: RDF.Quad): Extras | undefined {
  const inLiteral = object.termType === 'Literal' ? extrasOfLiteral(object) : undefined
  if (graph.termType === 'DefaultGraph') return inLiteral
  return { ...inLiteral, graph: termOf(graph) }
}

function extrasOfLiteral({ language, direction, datatype }: RDF.Literal): Extras | undefined {
  if (language !== '') return { language, ...(direction && { direction }) }
  return datatype.value === xsdString ? undefined : { datatype: termOf(datatype) }
}

/**
 * The triples that keep it, in the graph of the triple. Their subject is named after all they say:
 * the same come out again.
 */
export function reify(triple: Triple, extras: Extras): Triple[] {
  const { s, p, o, g } = triple
  const { datatype, language, direction, graph } = extras
  const said: [Term, Term][] = [
    [terms.type, terms.Statement],
    [terms.subject, s],
    [terms.predicate, p],
    [terms.object, o],
  ]
  if (datatype) said.push([terms.datatype, datatype])
  if (language !== undefined) said.push([terms.language, { v: language, e: false }])
  if (direction !== undefined) said.push([terms.direction, { v: direction, e: false }])
  if (graph) said.push([terms.graph, graph])
  const content = JSON.stringify(said.map(([p, o]) => [p.v, o.e, o.v, ...annotationOf(o)]))
  const digest = createHash('sha256').update(content).digest('hex')
  const statement = entity(statementUrn + digest.slice(0, 32))
  return said.map(([p, o]) => ({ s: statement, p, o, ...(g !== undefined && { g }) }))
}

function annotationOf(term: Term): string[] {
  const more = moreOf(term)
  return more === '' ? [] : [more]
}

/** True for the first triple of reify(). */
export function startsReification({ s, p, o }: Triple): boolean {
  return s.e && s.v.startsWith(statementUrn) && isSame(p, terms.type) && isSame(o, terms.Statement)
}

/** The inverse of reify(): undefined for all that it does not make of this triple. */
export function unreify(triple: Triple, statement: readonly Triple[]): Extras | undefined {
  const object = (p: Term) => statement.find((said) => isSame(said.p, p))?.o
  const [datatype, graph] = [object(terms.datatype), object(terms.graph)]
  const [language, direction] = [object(terms.language)?.v, object(terms.direction)?.v]
  if (language !== undefined && !isLanguageTag(language)) return undefined
  if (direction !== undefined && direction !== 'ltr' && direction !== 'rtl') return undefined
  const extras: Extras = {
    ...(datatype && { datatype }),
    ...(language !== undefined && { language }),
    ...(direction !== undefined && { direction }),
    ...(graph && { graph }),
  }
  const made = reify(triple, extras)
  const name = statement[0]?.s
  if (made.length !== statement.length || name === undefined) return undefined
  // Blank nodes have other names in each text, and with them the statement would have another.
  const hasOwnName = made.some(({ o }) => o.e && o.v.startsWith('_:'))
  const isMade = made.every((said, at) =>
    isSameTriple(hasOwnName ? { ...said, s: name } : said, statement[at]),
  )
  return isMade ? extras : undefined
}

/** The most triples that reify() makes. */
export const maxReification = 8

function isSameTriple(a: Triple, b: Triple | undefined): boolean {
  if (b === undefined || a.g !== b.g) return false
  return isSame(a.s, b.s) && isSame(a.p, b.p) && isSame(a.o, b.o)
}

function entity(v: string): Term {
  return { v, e: true }
}
