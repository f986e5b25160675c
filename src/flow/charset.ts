// The charsets that a text may come in: those of the WHATWG Encoding Standard, with bad bytes
// refused. Node's TextDecoder knows nearly all of them, but strays from the standard's indexes in
// many places (each was compared, byte pair by byte pair, on Node 20.20 with ICU 78). What it gets
// wrong is decoded by tables of our own where they are small, and refused where they are not.

import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'
import { createKoreanDecoder, createSingleByteDecoder, type Decode } from './charset-tables.js'

export interface Charset {
  /** The standard's, in lower case. */
  readonly name: string
  readonly decode: Decode
}

/** What programs write that do not know: `file --mime`, mailers, and those that print a variable without a value. */
export const noCharset =
  /^(?:binary|[78]bit|(?:x-)?unknown(?:-[78]bit)?|auto|default|none|null|undefined)$/i

/** The charset of a label; or, as a string, why there is none. */
export function charsetOf(label: string): Charset | string {
  if (label === 'utf-8') return utf8
  // A regular expression that trims is slow on a long run of white space inside.
  const name = label.length > longestLabel ? '' : label.replace(outerSpace, '').toLowerCase()
  if (replaced.includes(name)) return 'is not decoded by the standard: convert the text to utf-8'
  const canonical = canonicalName(name) ?? canonicalName(pythonLabel(name))
  if (canonical === undefined) {
    return "is no label of the WHATWG Encoding Standard, nor Python's name of one of its charsets"
  }
  const found = charsets.get(canonical) ?? { name: canonical, decode: createDecoder(canonical) }
  charsets.set(canonical, found)
  return found
}

const longestLabel = 64
const outerSpace = /^[\t\n\f\r ]+|[\t\n\f\r ]+$/g

/** Labels of the standard's `replacement`: they were used for attacks, and decode to one U+FFFD. */
const replaced = [
  'csiso2022kr',
  'hz-gb-2312',
  'iso-2022-cn',
  'iso-2022-cn-ext',
  'iso-2022-kr',
  'replacement',
]

const unknownToNode = ['iso-8859-16', 'x-user-defined']

const utf8: Charset = {
  name: 'utf-8',
  decode: (bytes) => (isUtf8(bytes) ? bytes : firstBadByte('utf-8', bytes)),
}

/** By name: a table takes up to 20 ms to make. */
const charsets = new Map<string, Charset>([[utf8.name, utf8]])

/**
 * What the standard calls a codec of Python's: clients of the reference system are written in it, and
 * send what `text.encode()` was given. Python takes hyphens, underscores and spaces for the same.
 */
function pythonLabel(name: string): string {
  const plain = name.replace(/[-_ ]+/g, '-')
  const part = /^(?:iso-?)?8859-(\d+)$/.exec(plain)?.[1]
  return part === undefined
    ? (Object.hasOwn(ofPython, plain) && ofPython[plain]) || plain
    : `iso-8859-${part}`
}

/** Those that differ by more than their hyphens. */
const ofPython: Readonly<Record<string, string>> = {
  u8: 'utf-8',
  utf: 'utf-8',
  cp65001: 'utf-8',
  // Its byte order mark stays, as that of UTF-8 does: it is the first character.
  'utf-8-sig': 'utf-8',
  u16: 'utf-16',
  utf16: 'utf-16',
  'utf-16-le': 'utf-16le',
  'utf-16-be': 'utf-16be',
  'latin-1': 'latin1',
  iso8859: 'latin1',
  8859: 'latin1',
  l1: 'latin1',
  646: 'ascii',
  cp874: 'windows-874',
  932: 'windows-31j',
  cp932: 'windows-31j',
  shiftjis: 'shift_jis',
  mskanji: 'shift_jis',
  'ms-kanji': 'shift_jis',
  'shift-jis': 'shift_jis',
  's-jis': 'shift_jis',
  936: 'gbk',
  cp936: 'gbk',
  ms936: 'gbk',
  'eucgb2312-cn': 'gb2312',
  'euc-cn': 'gb2312',
  euccn: 'gb2312',
  949: 'windows-949',
  cp949: 'windows-949',
  ms949: 'windows-949',
  uhc: 'windows-949',
  euckr: 'euc-kr',
  950: 'big5',
  cp950: 'big5',
  'big5-tw': 'big5',
  ms950: 'big5',
  big5hkscs: 'big5-hkscs',
  eucjp: 'euc-jp',
  ujis: 'euc-jp',
  iso2022jp: 'iso-2022-jp',
  'iso2022-jp': 'iso-2022-jp',
  'mac-roman': 'macintosh',
  macroman: 'macintosh',
  'mac-cyrillic': 'x-mac-cyrillic',
  maccyrillic: 'x-mac-cyrillic',
}

function canonicalName(label: string): string | undefined {
  if (unknownToNode.includes(label)) return label
  try {
    return new TextDecoder(label).encoding
  } catch {
    return undefined
  }
}

const isSingleByte = /^(iso-8859-|windows-|koi8-|ibm866|macintosh|x-)/

function createDecoder(name: string): Decode {
  if (isSingleByte.test(name)) return createSingleByteDecoder(name)
  if (name === 'euc-kr') return createKoreanDecoder()
  // The standard's decoder of both; Node's of gbk lacks most of it.
  if (name === 'gbk') return (bytes) => decodeByNode('gb18030', bytes)
  if (name === 'shift_jis') return decodeShiftJis
  const swapped = swappedMarks[name]
  if (swapped === undefined) return (bytes) => decodeByNode(name, bytes)
  return (bytes) => {
    const isSwapped = bytes[0] === swapped[0] && bytes[1] === swapped[1]
    return isSwapped ? 0 : decodeByNode(name, bytes)
  }
}

/** The byte order mark of the other order. Nearly everything after it would decode, to nonsense. */
const swappedMarks: Readonly<Record<string, readonly [number, number]>> = {
  'utf-16le': [0xfe, 0xff],
  'utf-16be': [0xff, 0xfe],
}

/**
 * Characters that Node gives for bytes that the standard refuses or decodes otherwise, and for no
 * others. With Big5 these are the characters of Hong Kong (HKSCS).
 */
const wrongCharacters: Readonly<Record<string, RegExp>> = {
  big5: /[\x80-\x9f\u2593\ue000-\uf8ff]/,
  'euc-jp': /[\x80-\x9f\xa2\xa3\xac\ue000-\uf8ff]/,
}

function decodeByNode(name: string, bytes: Uint8Array): Uint8Array | number {
  const text = decodePart(createDecoderOfNode(name), bytes, false)
  if (text === undefined || wrongCharacters[name]?.test(text) === true) {
    return firstBadByte(name, bytes)
  }
  return Buffer.from(text, 'utf8')
}

/** ICU decodes three control characters in a circle, as IBM did. */
function decodeShiftJis(bytes: Uint8Array): Uint8Array | number {
  const decoder = createDecoderOfNode('shift_jis')
  const text = decodePart(decoder, bytes, false)
  if (text === undefined) return firstBadByte('shift_jis', bytes)
  const given = createDecoderOfNode('shift_jis').decode(Buffer.from(circle, 'latin1'))
  const right = text.replace(/[\x1a\x1c\x7f]/g, (control) => circle[given.indexOf(control)] ?? '')
  return Buffer.from(right, 'utf8')
}

const circle = '\x1a\x1c\x7f'

/** A byte order mark stays in the text, so that offsets are those of the text as it was sent. */
function createDecoderOfNode(name: string): TextDecoder {
  return new TextDecoder(name, { fatal: true, ignoreBOM: true })
}

/** Undefined for bytes that it refuses. */
function decodePart(decoder: TextDecoder, bytes: Uint8Array, stream: boolean): string | undefined {
  try {
    return decoder.decode(bytes, { stream })
  } catch {
    return undefined
  }
}

/**
 * By decoding piece by piece, and the piece that fails byte by byte. That reads the bytes twice at
 * most, whatever they are: a client chooses them.
 */
function firstBadByte(name: string, bytes: Uint8Array): number {
  const decodeRight = (decoder: TextDecoder, from: number, to: number) => {
    const text = decodePart(decoder, bytes.subarray(from, to), true)
    return text === undefined || wrongCharacters[name]?.test(text) === true ? undefined : text
  }
  let decoder = createDecoderOfNode(name)
  let good = 0
  while (good < bytes.length && decodeRight(decoder, good, good + pieceBytes) !== undefined) {
    good += pieceBytes
  }
  decoder = createDecoderOfNode(name)
  // From before the piece, whose first character may have begun there.
  let at = Math.max(0, Math.min(good, bytes.length) - longestCharacter)
  decodeRight(decoder, 0, at)
  for (let start = at; ; at++) {
    const text = at < bytes.length ? decodeRight(decoder, at, at + 1) : undefined
    if (text === undefined) return start
    if (text !== '') start = at + 1
  }
}

const pieceBytes = 4096
/** In bytes, and more: with the escape sequences before it. */
const longestCharacter = 16
