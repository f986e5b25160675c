// RDF/JS terms and the terms of a core. Each term of a core has one in RDF, from which it comes back
// as it was.

import type * as RDF from '@rdfjs/types'
import { annotationProblem, moreOf, xsdString } from '../terms.js'
import type { Term, Triple } from '../types.js'
import { rdfFactory } from './factory.js'
import type { TermFactory } from './factory.js'
import { aRule } from '../door/rules.js'

// What RDF has no place for is written as a URN: an entity that is no absolute IRI, `Ellen` for one,
// and a literal that is a subject or a predicate. Behind these comes the value, percent-encoded.
const entityUrn = 'urn:lorekeep:entity:'
const literalUrn = 'urn:lorekeep:literal:'
/** Of one with a datatype or a language: that is first, and then a colon. */
const annotatedUrn = 'urn:lorekeep:literal-of:'

/** An absolute IRI that every syntax of RDF can carry between angle brackets. */
const absoluteIri = /^[a-z][a-z0-9+.-]*:[^\x00-\x20<>"{}|\\^`]*$/i

// BLANK_NODE_LABEL of https://www.w3.org/TR/n-triples/#sec-grammar
const labelStart =
  '0-9A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d' +
  '\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const labelNext = `${labelStart}\\-\\xb7\\u0300-\\u036f\\u203f\\u2040`
const blankNode = new RegExp(`^_:[${labelStart}](?:[${labelNext}.]*[${labelNext}])?$`, 'u')

/**
 * The term of a core. A literal's base direction (RDF 1.2) is no part of it.
 * @throws TypeError for a variable, a quoted triple or the default graph
 */
export function termOf(term: RDF.Term): Term {
  switch (term.termType) {
    case 'NamedNode':
      return decoded(term.value) ?? { v: term.value, e: true }
    case 'BlankNode':
      return { v: `_:${term.value}`, e: true }
    case 'Literal':
      return literalOf(term)
    default:
      throw new TypeError(`a ${term.termType} is no term of a core`)
  }
}

function literalOf({ value: v, language, datatype }: RDF.Literal): Term {
  if (language !== '') return { v, e: false, ln: language }
  return datatype.value === xsdString ? { v, e: false } : { v, e: false, dt: datatype.value }
}

/** The triple of a core, with its graph. @throws TypeError where a place has a quoted triple */
export function tripleOf({ subject, predicate, object, graph }: RDF.BaseQuad): Triple {
  const triple = { s: termOf(subject), p: termOf(predicate), o: termOf(object) }
  if (graph.termType === 'DefaultGraph') return triple
  const { v, e } = termOf(graph)
  // No graph is a literal: what is the name of one elsewhere is a name as any other here.
  return { ...triple, g: e ? v : graph.value }
}

/** The term in RDF: a blank node where the entity begins with `_:`, or else a named node. */
export function rdfTermOf(
  term: Term,
  factory: TermFactory = rdfFactory,
): RDF.NamedNode | RDF.BlankNode | RDF.Literal {
  if (term.e) return nodeOf(term, factory)
  const { v, dt, ln } = term
  if (ln !== undefined) return factory.literal(v, ln)
  return dt === undefined ? factory.literal(v) : factory.literal(v, factory.namedNode(dt))
}

/** rdfTermOf() for the subject of a statement, and for a graph: no literal stands there. */
export function nodeOf(
  term: Term,
  factory: TermFactory = rdfFactory,
): RDF.NamedNode | RDF.BlankNode {
  if (term.e && isBlankNode(term.v)) return factory.blankNode(term.v.slice(2))
  return namedNodeOf(term, factory)
}

/** rdfTermOf() for the predicate of a statement: neither literals nor blank nodes stand there. */
export function namedNodeOf(term: Term, factory: TermFactory = rdfFactory): RDF.NamedNode {
  const { v, e } = term
  if (!e) {
    const more = moreOf(term)
    const urn = more === '' ? literalUrn : `${annotatedUrn}${encodeURIComponent(more)}:`
    return factory.namedNode(urn + encodeURIComponent(v))
  }
  return factory.namedNode(isPlain(v) ? v : entityUrn + encodeURIComponent(v))
}

export function quadOf({ s, p, o, g }: Triple, factory: TermFactory = rdfFactory): RDF.Quad {
  const [subject, predicate] = [nodeOf(s, factory), namedNodeOf(p, factory)]
  const graph = g === undefined ? factory.defaultGraph() : nodeOf({ v: g, e: true }, factory)
  return factory.quad(subject, predicate, rdfTermOf(o, factory), graph)
}

export const anAbsoluteIri = aRule<string>(
  'an absolute IRI',
  (iri) => typeof iri === 'string' && isAbsoluteIri(iri),
)

/** Whether a text that begins with `_:` has a label that every syntax can carry. */
export function isBlankNode(text: string): boolean {
  return blankNode.test(text)
}

/** LANGTAG of the grammars of N-Triples and SPARQL, without its `@`. */
export function isLanguageTag(text: string): boolean {
  return /^[a-z]+(?:-[a-z0-9]+)*$/i.test(text)
}

export function isAbsoluteIri(text: string): boolean {
  return absoluteIri.test(text)
}

/** True for an IRI that stands for itself, and is no URN that would be decoded. */
function isPlain(iri: string): boolean {
  return isAbsoluteIri(iri) && decoded(iri) === undefined
}

/** Undefined for all but what namedNodeOf() encodes: nobody else's URN becomes another term. */
function decoded(iri: string): Term | undefined {
  if (iri.startsWith(entityUrn)) {
    const v = unescaped(iri.slice(entityUrn.length))
    return v === undefined || isPlain(v) ? undefined : { v, e: true }
  }
  if (iri.startsWith(literalUrn)) {
    const v = unescaped(iri.slice(literalUrn.length))
    return v === undefined ? undefined : { v, e: false }
  }
  if (!iri.startsWith(annotatedUrn)) return undefined
  const [more, v, ...others] = iri.slice(annotatedUrn.length).split(':').map(unescaped)
  if (more === undefined || v === undefined || others.length > 0) return undefined
  const [ln, dt] = more.startsWith('@') ? [more.slice(1)] : [undefined, more]
  const term: Term = ln === undefined ? { v, e: false, dt } : { v, e: false, ln }
  return annotationProblem(term) === undefined && moreOf(term) === more ? term : undefined
}

/** Undefined for what encodeURIComponent() does not make of it. */
function unescaped(encoded: string): string | undefined {
  try {
    const text = decodeURIComponent(encoded)
    return encodeURIComponent(text) === encoded ? text : undefined
  } catch {
    return undefined
  }
}
