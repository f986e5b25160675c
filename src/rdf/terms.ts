// RDF/JS terms and the terms of a core. Each term of a core has one in RDF, from which it comes back
// as it was.

import type * as RDF from '@rdfjs/types'
import type { Term, Triple } from '../types.js'
import { rdfFactory } from './factory.js'
import type { TermFactory } from './factory.js'
import { aRule } from '../door/rules.js'

// What RDF has no place for is written as a URN: an entity that is no absolute IRI, `Ellen` for one,
// and a literal that is a subject or a predicate. Behind these comes the value, percent-encoded.
const entityUrn = 'urn:lorekeep:entity:'
const literalUrn = 'urn:lorekeep:literal:'

/** An absolute IRI that every syntax of RDF can carry between angle brackets. */
const absoluteIri = /^[a-z][a-z0-9+.-]*:[^\x00-\x20<>"{}|\\^`]*$/i

// BLANK_NODE_LABEL of https://www.w3.org/TR/n-triples/#sec-grammar
const labelStart =
  '0-9A-Z_a-z\\xc0-\\xd6\\xd8-\\xf6\\xf8-\\u02ff\\u0370-\\u037d\\u037f-\\u1fff\\u200c\\u200d' +
  '\\u2070-\\u218f\\u2c00-\\u2fef\\u3001-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\ufffd\\u{10000}-\\u{effff}'
const labelNext = `${labelStart}\\-\\xb7\\u0300-\\u036f\\u203f\\u2040`
const blankNode = new RegExp(`^_:[${labelStart}](?:[${labelNext}.]*[${labelNext}])?$`, 'u')

/**
 * The term of a core. A literal gives its text alone: datatype, language and direction are no part
 * of a core's terms.
 * @throws TypeError for a variable, a quoted triple or the default graph
 */
export function termOf(term: RDF.Term): Term {
  switch (term.termType) {
    case 'NamedNode':
      return decoded(term.value) ?? { v: term.value, e: true }
    case 'BlankNode':
      return { v: `_:${term.value}`, e: true }
    case 'Literal':
      return { v: term.value, e: false }
    default:
      throw new TypeError(`a ${term.termType} is no term of a core`)
  }
}

/** The term in RDF: a blank node where the entity begins with `_:`, or else a named node. */
export function rdfTermOf(
  term: Term,
  factory: TermFactory = rdfFactory,
): RDF.NamedNode | RDF.BlankNode | RDF.Literal {
  return term.e ? nodeOf(term, factory) : factory.literal(term.v)
}

/** rdfTermOf() for the subject of a statement, and for a graph: no literal stands there. */
export function nodeOf(
  term: Term,
  factory: TermFactory = rdfFactory,
): RDF.NamedNode | RDF.BlankNode {
  if (term.e && blankNode.test(term.v)) return factory.blankNode(term.v.slice(2))
  return namedNodeOf(term, factory)
}

/** rdfTermOf() for the predicate of a statement: neither literals nor blank nodes stand there. */
export function namedNodeOf({ v, e }: Term, factory: TermFactory = rdfFactory): RDF.NamedNode {
  if (!e) return factory.namedNode(literalUrn + encodeURIComponent(v))
  return factory.namedNode(isPlain(v) ? v : entityUrn + encodeURIComponent(v))
}

export function quadOf({ s, p, o }: Triple, factory: TermFactory = rdfFactory): RDF.Quad {
  return factory.quad(nodeOf(s, factory), namedNodeOf(p, factory), rdfTermOf(o, factory))
}

export const anAbsoluteIri = aRule<string>(
  'an absolute IRI',
  (iri) => typeof iri === 'string' && isAbsoluteIri(iri),
)

export function isAbsoluteIri(text: string): boolean {
  return absoluteIri.test(text)
}

/** True for an IRI that stands for itself, and is no URN that would be decoded. */
function isPlain(iri: string): boolean {
  return isAbsoluteIri(iri) && decoded(iri) === undefined
}

/** Undefined for all but what namedNodeOf() encodes: nobody else's URN becomes another term. */
function decoded(iri: string): Term | undefined {
  const e = iri.startsWith(entityUrn)
  const prefix = e ? entityUrn : literalUrn
  if (!iri.startsWith(prefix)) return undefined
  const encoded = iri.slice(prefix.length)
  let v: string
  try {
    v = decodeURIComponent(encoded)
  } catch {
    return undefined
  }
  if (encodeURIComponent(v) !== encoded || (e && isPlain(v))) return undefined
  return { v, e }
}
