// Terms as they are typed and printed: in the syntax of N-Triples.

import { InvalidArgumentError } from 'commander'
import { isBlankNode } from '../../rdf/terms.js'
import { annotationProblem, termOf, xsd } from '../../terms.js'
import type { Term, Triple } from '../../types.js'
import { printable } from './figures.js'

export const termSyntax = `
A TERM is <iri>, or an IRI as it is, for an entity, and "text", "text"@en or "9"^^<iri> for
a literal, with the escapes of N-Triples (\\n \\t \\" \\\\ \\u00e9). Shells take < > and quotes for their own:
'<urn:a>', '"London"'.`

const entity = /^<([^<>"]*)>$/
const literal = /^"((?:[^"\\]|\\.)*)"(?:@([^@^]*)|\^\^<([^<>"]*)>)?$/s
/** With a scheme: a word alone is more likely a literal that lost its quotes to the shell. */
const bareIri = /^[a-z][a-z0-9+.-]*:[^\s<>"]*$/i

/** Takes what formatTerm() gives, and an IRI as it is. */
export function parseTerm(text: string): Term {
  const iri = entity.exec(text)?.[1]
  if (iri !== undefined) return { v: unescape(iri), e: true }
  const [, value, ln, dt] = literal.exec(text) ?? []
  if (value !== undefined) return parseLiteral(unescape(value), ln, dt && unescape(dt))
  if (bareIri.test(text) || isBlankNode(text)) return { v: text, e: true }
  throw new InvalidArgumentError(
    `It is <iri>, an IRI, or "text", "text"@en or "text"^^<iri of a datatype>, with the quotes.`,
  )
}

/** The name of a graph. */
export function parseGraph(text: string): string {
  return parsedAs(text, ({ v, e }) => (e ? v : undefined), 'It is <iri>, or an IRI as it is.')
}

const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i

const date = /^-?\d{4,}-\d\d-\d\d(T.*)?$/

/** What values are compared with: a number or a date as it is, or a literal. */
export function parseValue(text: string): Term | number {
  if (number.test(text)) return Number(text)
  const [isDate, time] = date.exec(text) ?? []
  if (isDate !== undefined) {
    const type = time === undefined ? 'date' : 'dateTime'
    return { v: text, e: false, dt: xsd + type }
  }
  const expected = 'It is a number, a date such as 2000-01-31, or "text" with its quotes.'
  return parsedAs(text, (term) => (term.e ? undefined : term), expected)
}

function parsedAs<T>(text: string, take: (term: Term) => T | undefined, expected: string): T {
  let found: T | undefined
  try {
    found = take(parseTerm(text))
  } catch {
    // It says what a term is.
  }
  if (found === undefined) throw new InvalidArgumentError(expected)
  return found
}

function parseLiteral(v: string, ln: string | undefined, dt: string | undefined): Term {
  const term = termOf({ v, e: false, ln, dt })
  const [member, message] = annotationProblem(term) ?? []
  if (message === undefined) return term
  throw new InvalidArgumentError(`Its ${member === 'ln' ? 'language' : 'datatype'} ${message}.`)
}

const shortEscapes = new Map([
  ['\\t', '\t'],
  ['\\b', '\b'],
  ['\\n', '\n'],
  ['\\r', '\r'],
  ['\\f', '\f'],
  ['\\"', '"'],
  ["\\'", "'"],
  ['\\\\', '\\'],
])

function unescape(text: string): string {
  return text.replace(/\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.|$)/gs, (escape) => {
    const code = escape.length > 2 ? parseInt(escape.slice(2), 16) : NaN
    const isCharacter = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
    const character = isCharacter ? String.fromCodePoint(code) : shortEscapes.get(escape)
    if (character !== undefined) return character
    throw new InvalidArgumentError(`${escape} is no escape; a backslash itself is written twice.`)
  })
}

/** Nothing of it moves a cursor. */
export function formatTerm({ v, e, dt, ln }: Term): string {
  if (e && isBlankNode(v)) return v
  if (e) return formatIri(v)
  const escaped = v
    .replace(/["\\]/g, '\\$&')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
  const text = `"${printable(escaped)}"`
  if (ln !== undefined) return `${text}@${ln}`
  return dt === undefined ? text : `${text}^^${formatIri(dt)}`
}

function formatIri(iri: string): string {
  return `<${printable(iri.replace(/[\u0000-\u0020<>"{}|^`\\]/g, asCode))}>`
}

/** A line of N-Triples, or of N-Quads, but that there a literal is never a subject or a predicate. */
export function formatTriple({ s, p, o, g }: Triple): string {
  const graph = g === undefined ? '' : ` ${formatTerm({ v: g, e: true })}`
  return `${formatTerm(s)} ${formatTerm(p)} ${formatTerm(o)}${graph} .`
}

function asCode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
