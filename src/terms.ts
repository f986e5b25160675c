// Terms: when two are the same, how texts are ordered, and what datatypes and languages may be, also as
// bytes that are cut anywhere between two chunks.

import { aRule } from './door/rules.js'
import { shown } from './door/wording.js'
import type { Term, Triple } from './types.js'

/** What the names of its datatypes begin with. */
export const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** What the names of RDF itself begin with. */
export const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'

/** The datatype of literals without one (RDF 1.1 Concepts, 3.3). */
export const xsdString = `${xsd}string`

/** Whether two terms are one: languages without case, and xsd:string as no datatype. */
export function isSame(a: Term, b: Term): boolean {
  if (a.v !== b.v || a.e !== b.e) return false
  if (a.dt === b.dt && a.ln === b.ln) return true
  return moreOf(a) === moreOf(b)
}

/** A text that two terms have in common where they are the same, and else not. */
export function keyOf(term: Term): string {
  const { v, e, dt, ln } = term
  if (dt === undefined && ln === undefined) return (e ? 'e' : 'l') + v
  const more = moreOf(term)
  return more === '' ? `l${v}` : `${more.length} ${more}${v}`
}

/** As keyOf(), of a triple with its graph. */
export function keyOfTriple({ s, p, o, g = '' }: Triple): string {
  const [subject, predicate, object] = [keyOf(s), keyOf(p), keyOf(o)]
  // Lengths in front part them; JSON, which has to look for what to escape, takes three times as long.
  const lengths = `${subject.length} ${predicate.length} ${object.length} `
  return lengths + subject + predicate + object + g
}

/** What a literal has beside its text: '' for nothing, a datatype, or a language behind an `@`. */
export function moreOf({ dt, ln }: Term): string {
  if (ln !== undefined) return `@${ln.toLowerCase()}`
  return dt === undefined || dt === xsdString ? '' : dt
}

// What a byte may be in a name.
const OTHER = 0
const LETTER = 1
/** Digits, and the signs that only a scheme has besides. */
const DIGIT = 2
const SIGN = 3
const HYPHEN = 4
const COLON = 5
/** In no IRI. */
const FORBIDDEN = 6

const kindOf = new Uint8Array(256)
kindOf.fill(FORBIDDEN, 0, 0x21)
for (const letter of 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ') {
  kindOf[letter.charCodeAt(0)] = LETTER
}
for (const digit of '0123456789') kindOf[digit.charCodeAt(0)] = DIGIT
for (const sign of '+.') kindOf[sign.charCodeAt(0)] = SIGN
for (const forbidden of '<>"{}|^`\\') kindOf[forbidden.charCodeAt(0)] = FORBIDDEN
kindOf['-'.charCodeAt(0)] = HYPHEN
kindOf[':'.charCodeAt(0)] = COLON

/** A rule that a name is checked by, a byte at a time. */
export interface NameRule {
  /** What it has to be, in words. */
  readonly expected: string
  /** The state after a byte, `REFUSED` where it cannot stand there. The first state is 0. */
  next(state: number, byte: number): number
  /** Whether a name may end in this state. */
  isWhole(state: number): boolean
}

export const REFUSED = -1

/**
 * Datatypes of what has a language, and of nothing else (RDF 1.1 Concepts, 3.3): no syntax of RDF says
 * them. As a tree of their bytes: by node, what may follow; ends are `languageTypes`.
 */
const following: Map<number, number>[] = [new Map()]
const languageTypes = ['langString', 'dirLangString'].map((name) => {
  let node = 0
  for (const byte of Buffer.from(rdf + name)) {
    const next = following[node]?.get(byte) ?? following.push(new Map()) - 1
    following[node]?.set(byte, next)
    node = next
  }
  return node
})

/**
 * An IRI with a scheme (RFC 3987), as N-Triples writes one: what its grammar excludes is excluded,
 * and no more (https://www.w3.org/TR/n-triples/#grammar-production-IRIREF). Not one of a language.
 */
export const aDatatype: NameRule = {
  expected:
    'an IRI with a scheme, without spaces and any of <>"{}|^`\\, and neither rdf:langString nor rdf:dirLangString, which have a language (ln)',
  // A state is that of the IRI, 1 before its colon and 2 behind, and four times the node in the tree.
  next(state, byte) {
    const kind = kindOf[byte] as number
    if (kind === FORBIDDEN) return REFUSED
    let next = 2
    if ((state & 3) !== 2) {
      if (kind !== LETTER && (state === 0 || kind === OTHER)) return REFUSED
      if (kind !== COLON) next = 1
    }
    const node = state >>> 2
    if (state !== 0 && node === 0) return next
    return next + 4 * (following[node]?.get(byte) ?? 0)
  },
  isWhole: (state) => (state & 3) === 2 && !languageTypes.includes(state >>> 2),
}

const longestSubtag = 8

/**
 * A well-formed language tag, without the `@`: subtags of up to eight characters, the first one of
 * letters (RFC 5646, section 2.1.1; https://www.w3.org/TR/turtle/#grammar-production-LANGTAG).
 */
export const aLanguage: NameRule = {
  expected: "a language tag such as 'en' or 'en-GB'",
  // A state is the length of the first subtag, or 9 and that of a later one.
  next(state, byte) {
    const kind = kindOf[byte] as number
    const laterFrom = longestSubtag + 1
    if (kind === HYPHEN) return aLanguage.isWhole(state) ? laterFrom : REFUSED
    if (kind !== LETTER && (kind !== DIGIT || state < laterFrom)) return REFUSED
    return state === longestSubtag || state === laterFrom + longestSubtag ? REFUSED : state + 1
  },
  isWhole: (state) => state !== 0 && state !== longestSubtag + 1,
}

/** The state after the bytes [from, to), and `REFUSED` where one of them cannot stand there. */
export function stateAfter(
  rule: NameRule,
  state: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): number {
  for (let at = from; at < to && state !== REFUSED; at++) {
    state = rule.next(state, bytes[at] as number)
  }
  return state
}

/** Whether a text is a name by a rule: what stateAfter() says of its UTF-8. */
function isName(rule: NameRule, text: string): boolean {
  let state = 0
  for (let at = 0; at < text.length && state !== REFUSED; at++) {
    state = rule.next(state, Math.min(text.charCodeAt(at), 0xff))
  }
  return state !== REFUSED && rule.isWhole(state)
}

/** A datatype and a language as somebody gives them, of a term whose `e` is this. */
interface GivenAnnotation {
  readonly e: unknown
  readonly dt?: unknown
  readonly ln?: unknown
}

/** What is wrong with the datatype or language of a term, and in which member, '' for all of it. */
export function annotationProblem({
  e,
  dt,
  ln,
}: GivenAnnotation): readonly [member: string, message: string] | undefined {
  if (dt === undefined && ln === undefined) return undefined
  if (dt !== undefined && ln !== undefined) {
    return ['', "has both 'dt' and 'ln'; a literal has a datatype or a language"]
  }
  const [member, given, rule] = ln === undefined ? ['dt', dt, aDatatype] : ['ln', ln, aLanguage]
  if (e === true) return [member, 'is of an entity (e is true), and only literals have it']
  if (typeof given === 'string' && given.isWellFormed() && isName(rule, given)) return undefined
  return [member, `must be ${rule.expected}, not ${shown(given)}`]
}

/** What is wrong with the name of a graph; undefined for nothing, and for the default graph. */
export function graphProblem(g: unknown): string | undefined {
  if (g === undefined) return undefined
  if (g === '') return 'is empty; leave it out for the default graph'
  return typeof g === 'string' && g.isWellFormed() ? undefined : `must be a string, not ${shown(g)}`
}

/** A term of these members and no others. */
export function termOf({ v, e, dt, ln }: Term): Term {
  if (dt !== undefined) return { v, e, dt }
  return ln === undefined ? { v, e } : { v, e, ln }
}

/** Below 0, 0 or above: by code points (XPath functions, 5.3.1), as their bytes in UTF-8 are. */
export function compareTexts(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  for (let i = 0; i < end; i++) {
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)]
    if (x === y) continue
    // Surrogates stand for code points above all others.
    const [isHighX, isHighY] = [isSurrogate(x), isSurrogate(y)]
    return isHighX === isHighY ? x - y : isHighX ? 1 : -1
  }
  return a.length - b.length
}

const isSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdfff

/** A language range (RFC 4647, section 2.1). */
export const aLanguageRange = aRule<string>(
  "a language such as 'de' or 'en-GB', or '*' for any",
  (range) => range === '*' || (typeof range === 'string' && isName(aLanguage, range)),
)

/**
 * How far down a literal is for somebody who prefers these languages, the best one first, 0 for the
 * best: by the first range that matches it (RFC 4647, section 3.3.1), behind which are others of the
 * same language, as German is for somebody who would have it Swiss; then those without a language, then
 * all others.
 */
export function languageRank({ ln }: Term, ranges: readonly string[]): number {
  if (ln === undefined) return ranges.length
  const tag = `${ln.toLowerCase()}-`
  const wanted = ranges.map((range) => `${range.toLowerCase()}-`)
  const at = wanted.findIndex((range) => range === '*-' || tag.startsWith(range))
  if (at >= 0) return at
  const [language = ''] = tag.split('-')
  // `i` and `x` are no languages.
  const near =
    language.length < 2 ? -1 : wanted.findIndex((range) => range.startsWith(`${language}-`))
  return near < 0 ? ranges.length + 1 : near + 0.5
}
