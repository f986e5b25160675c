// Triples as assistants read them: IRIs as they are, and literals in a member of their own, as `match` takes them.

import type { Term, Triple } from '../types.js'
import { jsonLine, onOneLine } from './passages.js'

export interface PlainTriple {
  readonly subject: string
  readonly predicate: string
  readonly object?: string
  readonly literal?: string
  readonly language?: string
  readonly datatype?: string
  readonly graph?: string
}

export function plainTriple({ s, p, o, g }: Triple): PlainTriple {
  return {
    subject: s.v,
    predicate: p.v,
    ...(o.e ? { object: o.v } : { literal: o.v }),
    ...(o.ln !== undefined && { language: o.ln }),
    ...(o.dt !== undefined && { datatype: o.dt }),
    ...(g !== undefined && { graph: g }),
  }
}

/** One line of it. */
export function textOfTriple(triple: PlainTriple): string {
  const { subject, predicate, object, literal = '' } = triple
  const end = object === undefined ? jsonLine(literal) : textOfIri(object)
  return `${textOfIri(subject)} ${textOfIri(predicate)} ${end}`
}

/** Some have line feeds in them, behind which could stand what passes for a line of ours. */
export function textOfIri(iri: string): string {
  return `<${onOneLine(iri)}>`
}

export function iri(v: string): Term {
  return { v, e: true }
}

export function isIri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:[^\s<>"]+$/i.test(text) || /^_:[a-z0-9][\w-]*$/i.test(text)
}

/** A schema of its members. */
export const tripleSchema = Object.fromEntries(
  ['subject', 'predicate', 'object', 'literal'].map((name) => [name, { type: 'string' }]),
)
