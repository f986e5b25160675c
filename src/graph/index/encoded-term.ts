// A term as an index has it: whole numbers of 32 bits. The first is the length of its UTF-8 in bytes,
// times four, and its kind; the UTF-8 follows, four bytes to a number (the first one lowest), the last
// one filled up with zeros. Numbers are compared and hashed several times as fast as bytes.
//
// A literal with a datatype or a language is of a kind of its own. Behind its text comes what it has
// more in the same manner: the length of that, times four, and which of the two it is; then that, a
// language in small letters. A well-known datatype is a number alone, its place in their list, times
// four, and a 2. Its hash is that of its text, so that who knows a text alone finds it.

import { moreOf, rdf, xsd } from '../../terms.js'
import type { Term } from '../../types.js'

export const LITERAL = 0
export const ENTITY = 1
/** Not a term: the name of a collection. */
export const COLLECTION = 2
/** A literal with a datatype or a language. */
export const ANNOTATED = 3

// What it has more.
export const DATATYPE = 0
export const LANGUAGE = 1
/** A datatype by its place in `knownDatatypes`. */
export const KNOWN = 2

const xsdNames = `boolean integer decimal double float date dateTime dateTimeStamp time gYear gYearMonth
  gMonth gMonthDay gDay duration dayTimeDuration yearMonthDuration anyURI language token
  normalizedString Name NCName NMTOKEN hexBinary base64Binary long int short byte nonNegativeInteger
  positiveInteger nonPositiveInteger negativeInteger unsignedLong unsignedInt unsignedShort unsignedByte`

/**
 * Datatypes that take a number in the index, and not their IRI again in each literal: an integer of five
 * digits is 4 numbers in place of 14. New ones go to the end: indexes have their places.
 */
export const knownDatatypes: readonly string[] = [
  ...xsdNames.split(/\s+/).map((name) => xsd + name),
  ...['HTML', 'JSON', 'XMLLiteral'].map((name) => rdf + name),
  'http://www.opengis.net/ont/geosparql#wktLiteral',
]

const numbersOfKnown = new Map(knownDatatypes.map((datatype, number) => [datatype, number]))

/** Of a datatype: its place in `knownDatatypes`, or -1. */
export function knownNumber(datatype: string): number {
  return numbersOfKnown.get(datatype) ?? -1
}

export function wordsOf(byteLength: number): number {
  return 1 + ((byteLength + 3) >>> 2)
}

/** Holds terms that are looked for: making an array for each costs more than all else of a look-up. */
const scratch = new Int32Array(1024)

/** To be used before the next one is encoded: it may lie where that will. */
export function encodeTerm(term: Term): Int32Array {
  const { v, e } = term
  if (term.dt !== undefined || term.ln !== undefined) return encodeAnnotated(term)
  const kind = e ? ENTITY : LITERAL
  const { length } = v
  if (length > 4 * (scratch.length - 1)) return encodeText(v, kind)
  scratch[0] = length * 4 + kind
  let word = 0
  let at = 1
  for (let i = 0; i < length; i++) {
    const code = v.charCodeAt(i)
    if (code > 0x7f) return encodeText(v, kind)
    word |= code << (8 * (i & 3))
    if ((i & 3) === 3) {
      scratch[at++] = word
      word = 0
    }
  }
  if ((length & 3) !== 0) scratch[at++] = word
  return scratch.subarray(0, at)
}

function encodeAnnotated(term: Term): Int32Array {
  const { v, e, ln } = term
  const more = moreOf(term)
  if (more === '') return encodeTerm({ v, e })
  const text = encodeText(v, ANNOTATED)
  const rest = ln === undefined ? encodeDatatype(more) : encodeText(more.slice(1), LANGUAGE)
  const words = new Int32Array(text.length + rest.length)
  words.set(text)
  words.set(rest, text.length)
  return words
}

function encodeDatatype(datatype: string): Int32Array {
  const known = knownNumber(datatype)
  return known < 0 ? encodeText(datatype, DATATYPE) : Int32Array.of(known * 4 + KNOWN)
}

export function encodeText(text: string, kind: number): Int32Array {
  return encodeBytes(Buffer.from(text, 'utf8'), kind)
}

export function encodeBytes(bytes: Uint8Array, kind: number): Int32Array {
  const words = new Int32Array(wordsOf(bytes.length))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  encodeInto(words, 0, view, 0, bytes.length, kind)
  return words
}

/** Encodes the UTF-8 [from, to) of `view` at `at`; returns where it ends. */
export function encodeInto(
  words: Int32Array,
  at: number,
  view: DataView,
  from: number,
  to: number,
  kind: number,
): number {
  encodeHashed(words, at, view, from, to, kind)
  return at + wordsOf(to - from)
}

/**
 * As encodeInto(), of a text that stands alone or begins an entry; returns its hash, as hashWords() has it:
 * the numbers are at hand.
 */
export function encodeHashed(
  words: Int32Array,
  at: number,
  view: DataView,
  from: number,
  to: number,
  kind: number,
): number {
  const header = (to - from) * 4 + kind
  words[at++] = header
  let hash = firstHash(header)
  let i = from
  for (const last = to - 4; i <= last; i += 4) {
    const word = view.getInt32(i, true)
    words[at++] = word
    hash = nextHash(hash, word)
  }
  if (i < to) {
    const word = lastWord(view, i, to)
    words[at] = word
    hash = nextHash(hash, word)
  }
  return lastHash(hash)
}

/** Whether what begins at `at` is encodeInto() of the same. */
export function isEncoded(
  words: Int32Array,
  at: number,
  view: DataView,
  from: number,
  to: number,
  kind: number,
): boolean {
  if (words[at++] !== (to - from) * 4 + kind) return false
  let i = from
  for (const last = to - 4; i <= last; i += 4) {
    if (words[at++] !== view.getInt32(i, true)) return false
  }
  return i === to || words[at] === lastWord(view, i, to)
}

/** Up to three bytes. */
function lastWord(view: DataView, from: number, to: number): number {
  let word = view.getUint8(from)
  if (from + 1 < to) word |= view.getUint8(from + 1) << 8
  if (from + 2 < to) word |= view.getUint8(from + 2) << 16
  return word
}

export function kindOf(header: number): number {
  return header & 3
}

export function byteLengthOf(header: number): number {
  return header >>> 2
}

/** How many numbers an entry has that begins with these; what lies behind one by `wordAt`. */
export function entryWords(header: number, wordAt: (place: number) => number): number {
  const text = wordsOf(byteLengthOf(header))
  if (kindOf(header) !== ANNOTATED) return text
  const more = wordAt(text)
  return text + (kindOf(more) === KNOWN ? 1 : wordsOf(byteLengthOf(more)))
}

/**
 * The hash that the index keeps: a multiplication and a shift for each number, and the end of
 * MurmurHash3 (Appleby, public domain), so that each bit of it depends on all of the term.
 */
export function hashWords(words: Int32Array, from: number, to: number): number {
  let header = words[from] as number
  if (kindOf(header) === ANNOTATED) {
    to = from + wordsOf(byteLengthOf(header))
    header += LITERAL - ANNOTATED
  }
  let hash = firstHash(header)
  for (let i = from + 1; i < to; i++) hash = nextHash(hash, words[i] as number)
  return lastHash(hash)
}

function firstHash(header: number): number {
  return nextHash(0x9e3779b1, header)
}

function nextHash(hash: number, word: number): number {
  const next = Math.imul(hash ^ word, 0x85ebca6b)
  return next ^ (next >>> 15)
}

function lastHash(hash: number): number {
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
