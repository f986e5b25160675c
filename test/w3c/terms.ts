// Terms as N-Triples writes them, from whatever an answer or a core has: in one way each, so that two
// are the same where their texts are.

import type { Term as RdfTerm } from '@rdfjs/types'
import { xsdString } from '../../src/terms.js'
import type { Term, Triple } from '../../src/types.js'
import type { Tuple } from './isomorphism.js'

export const iri = (value: string) => `<${value}>`
export const blank = (label: string) => `_:${label}`

export function literal(value: string, language = '', datatype = xsdString): string {
  if (language !== '') return `${JSON.stringify(value)}@${language.toLowerCase()}`
  return datatype === xsdString
    ? JSON.stringify(value)
    : `${JSON.stringify(value)}^^${iri(datatype)}`
}

/** The text of a literal, or the IRI. */
export function valueOf(term: string): string {
  if (term.startsWith('<')) return term.slice(1, -1)
  return JSON.parse(/^"(?:[^"\\]|\\.)*"/.exec(term)?.[0] ?? '""') as string
}

function ofCore({ v, e, dt, ln }: Term): string {
  if (e) return v.startsWith('_:') ? v : iri(v)
  return literal(v, ln, dt)
}

/** The graph is '' for the default one. */
export function ofTriple({ s, p, o, g }: Triple): Tuple {
  return [ofCore(s), ofCore(p), ofCore(o), g === undefined ? '' : ofCore({ v: g, e: true })]
}

export function asNTriples(tuples: readonly Tuple[]): string {
  return tuples.map(([s, p, o]) => `${s} ${p} ${o} .\n`).join('')
}

/** A number in one way each: 1.0 and 1.00, which are two terms of one value. */
export function byValue(term: string): string {
  const [, text, datatype] =
    /^"([-+.\dEe]+)"\^\^<http:\/\/www\.w3\.org\/2001\/XMLSchema#(\w+)>$/.exec(term) ?? []
  if (text === undefined) return term
  if (datatype === 'double' || datatype === 'float') return `${Number(text)} ${datatype}`
  const [, sign, whole, fraction] = /^([-+]?)0*(\d*?)(?:\.(\d*?)0*)?$/.exec(text) ?? []
  if (whole === undefined) return term
  const digits = `${whole || '0'}${fraction ? `.${fraction}` : ''}`
  return `${sign === '-' && digits !== '0' ? '-' : ''}${digits} ${datatype}`
}

export function ofRdf(term: RdfTerm): string {
  switch (term.termType) {
    case 'NamedNode':
      return iri(term.value)
    case 'BlankNode':
      return blank(term.value)
    case 'Literal':
      return literal(term.value, term.language, term.datatype.value)
    default:
      throw new TypeError(`a ${term.termType} in an answer`)
  }
}
