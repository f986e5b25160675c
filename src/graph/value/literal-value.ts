// What literals with a datatype stand for, where that has an order: numbers, and moments in time.
// XML Schema 1.1 Part 2: https://www.w3.org/TR/xmlschema11-2/

import { compareTexts, xsd, xsdString } from '../../terms.js'
import type { Term } from '../../types.js'

export const NUMBER = 0
export const MOMENT = 1
export const TEXT = 2
/** The first two have keys to sort by. */
export type Family = typeof NUMBER | typeof MOMENT | typeof TEXT

export interface Datatype {
  readonly family: typeof NUMBER | typeof MOMENT
  /** Of the UTF-8 [from, to). NaN for what is not a lexical form of the datatype, and for NaN. */
  readonly keyOf: (bytes: Buffer, from: number, to: number) => number
  /** True where the digits say more than the key. */
  readonly isExact: boolean
}

const integer = /^[+-]?\d+$/
const decimal = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)$/
const double = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** Rare enough to be made a text first. */
const ofText =
  (keyOf: (text: string) => number): Datatype['keyOf'] =>
  (bytes, from, to) =>
    keyOf(bytes.toString('latin1', from, to))

function keyOfDouble(text: string): number {
  if (double.test(text)) return Number(text)
  if (text === 'INF' || text === '+INF') return Infinity
  return text === '-INF' ? -Infinity : NaN
}

const digits = (keyOf: Datatype['keyOf']): Datatype => ({ family: NUMBER, keyOf, isExact: true })
const rounded = (keyOf: Datatype['keyOf']): Datatype => ({ family: NUMBER, keyOf, isExact: false })

// How much of a moment a datatype has.
const YEAR = 0
const MONTH = 1
const DAY = 2
const TIME = 3

function moments(precision: number, hasZone = false): Datatype {
  return {
    family: MOMENT,
    keyOf: (bytes, from, to) => keyOfMoment(bytes, from, to, precision, hasZone),
    isExact: false,
  }
}

/**
 * Milliseconds since 1970 of the moment at which it begins, in UTC where it has no time zone. By hand:
 * imports with index make one of each date, and a pattern takes five times as long.
 */
function keyOfMoment(
  bytes: Buffer,
  from: number,
  to: number,
  precision: number,
  hasZone: boolean,
): number {
  const isNegative = codeAt(bytes, from, to) === DASH
  let at = isNegative ? from + 1 : from
  const yearFrom = at
  let year = 0
  for (let code; isDigit((code = codeAt(bytes, at, to))); at++) year = 10 * year + code - ZERO
  const yearDigits = at - yearFrom
  if (yearDigits < 4 || (yearDigits > 4 && bytes[yearFrom] === ZERO)) return NaN
  if (isNegative) year = -year
  if (at + (lengths[precision] as number) > to) return NaN
  let month = 1
  if (precision >= MONTH) {
    month = bytes[at] === DASH ? twoDigits(bytes, at + 1) : NONE
    if (month < 1 || month > 12) return NaN
    at += 3
  }
  let day = 1
  if (precision >= DAY) {
    day = bytes[at] === DASH ? twoDigits(bytes, at + 1) : NONE
    if (day < 1 || day > daysIn(year, month)) return NaN
    at += 3
  }
  let inDay = 0
  let fraction = 0
  if (precision === TIME) {
    const minutes = bytes[at] === LETTER_T ? clock(bytes, at + 1) : NONE
    const seconds = bytes[at + 6] === COLON ? twoDigits(bytes, at + 7) : NONE
    if (minutes === NONE || seconds === NONE || seconds > 59) return NaN
    inDay = minutes + 1000 * seconds
    at += 9
    if (codeAt(bytes, at, to) === DOT) {
      const first = ++at
      let unit = 100
      for (let code; isDigit((code = codeAt(bytes, at, to))); at++, unit /= 10) {
        fraction += unit * (code - ZERO)
      }
      if (at === first) return NaN
    }
    // Midnight at the end of a day is that of the next.
    if (inDay + fraction > dayMs) return NaN
  }
  const offset = at === to && !hasZone ? 0 : offsetAt(bytes, at, to)
  if (offset === NO_OFFSET) return NaN
  const key = dayMs * daysBefore(year, month, day) + inDay - offset + fraction
  return Number.isFinite(key) ? key : NaN
}

/** What is behind the year, by precision, before fractions of a second and a time zone. */
const lengths = [0, '-MM'.length, '-MM-DD'.length, '-MM-DDThh:mm:ss'.length]

const dayMs = 86_400_000

/** Numbers below are whole ones of 32 bits, which NaN is not: that would take three times as long. */
const NONE = -1
const NO_OFFSET = dayMs

/** `hh:mm`, in milliseconds; `NONE` where there is none. */
function clock(bytes: Buffer, at: number): number {
  const hours = twoDigits(bytes, at)
  const minutes = twoDigits(bytes, at + 3)
  const isIn = hours !== NONE && hours <= 24 && minutes !== NONE && minutes <= 59
  return isIn && bytes[at + 2] === COLON ? 3_600_000 * hours + 60_000 * minutes : NONE
}

/** What a time zone at the end is ahead of UTC, in milliseconds; `NO_OFFSET` where there is none. */
function offsetAt(bytes: Buffer, at: number, to: number): number {
  const sign = codeAt(bytes, at, to)
  if (sign === LETTER_Z) return at + 1 === to ? 0 : NO_OFFSET
  if ((sign !== PLUS && sign !== DASH) || at + 6 !== to) return NO_OFFSET
  const offset = clock(bytes, at + 1)
  if (offset === NONE || offset > 14 * 3_600_000) return NO_OFFSET
  return sign === PLUS ? offset : -offset
}

const ZERO = 0x30
const DASH = 0x2d
const PLUS = 0x2b
const COLON = 0x3a
const DOT = 0x2e
const LETTER_T = 0x54
const LETTER_Z = 0x5a

const isDigit = (code: number) => code >= ZERO && code <= 0x39

/** `NONE` behind the end. */
function codeAt(bytes: Buffer, at: number, to: number): number {
  return at < to ? (bytes[at] as number) : NONE
}

function twoDigits(bytes: Buffer, at: number): number {
  const tens = bytes[at] as number
  const ones = bytes[at + 1] as number
  return isDigit(tens) && isDigit(ones) ? 10 * (tens - ZERO) + ones - ZERO : NONE
}

export function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (month === 2) return isLeap ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/**
 * Days since 1970 in the Gregorian calendar, for any year: Date ends at 275760. Years are counted
 * from March, so that a leap day is the last: 153 days are five months from there.
 */
function daysBefore(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  const inYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  return 365 * y + leapDays + inYear - 719_468
}

/** Of up to 15 digits and nothing else; most integers are, and this is quick. */
function fewDigits(bytes: Buffer, from: number, to: number): number {
  if (from === to || to - from > 15) return NaN
  let value = 0
  for (let at = from; at < to; at++) {
    const code = bytes[at] as number
    if (!isDigit(code)) return NaN
    value = 10 * value + code - ZERO
  }
  return value
}

function integers(least?: string, most?: string): Datatype {
  const [low, high] = [Number(least ?? -Infinity), Number(most ?? Infinity)]
  return digits((bytes, from, to) => {
    const few = fewDigits(bytes, from, to)
    if (!Number.isNaN(few)) return few >= low && few <= high ? few : NaN
    const text = bytes.toString('latin1', from, to)
    if (!integer.test(text)) return NaN
    const value = Number(text)
    if (Number.isSafeInteger(value)) return value >= low && value <= high ? value : NaN
    const isIn =
      (least === undefined || compareDigits(text, least) >= 0) &&
      (most === undefined || compareDigits(text, most) <= 0)
    return isIn ? value : NaN
  })
}

/** By their IRIs. */
export const orderedDatatypes: ReadonlyMap<string, Datatype> = new Map(
  Object.entries({
    integer: integers(),
    nonPositiveInteger: integers(undefined, '0'),
    negativeInteger: integers(undefined, '-1'),
    nonNegativeInteger: integers('0'),
    positiveInteger: integers('1'),
    long: integers('-9223372036854775808', '9223372036854775807'),
    int: integers('-2147483648', '2147483647'),
    short: integers('-32768', '32767'),
    byte: integers('-128', '127'),
    unsignedLong: integers('0', '18446744073709551615'),
    unsignedInt: integers('0', '4294967295'),
    unsignedShort: integers('0', '65535'),
    unsignedByte: integers('0', '255'),
    decimal: digits(ofText((text) => (decimal.test(text) ? Number(text) : NaN))),
    double: rounded(ofText(keyOfDouble)),
    float: rounded(ofText((text) => Math.fround(keyOfDouble(text)))),
    dateTime: moments(TIME),
    dateTimeStamp: moments(TIME, true),
    date: moments(DAY),
    gYearMonth: moments(MONTH),
    gYear: moments(YEAR),
  }).map(([name, datatype]) => [xsd + name, datatype]),
)

/** What a literal is compared by. */
export interface Value {
  readonly family: Family
  /** NaN of a text. */
  readonly key: number
  /** Of a text, and of a number that its digits say more of. */
  readonly text: string | undefined
}

/** Undefined where the term has no order, as "x"^^xsd:integer. A text may be in any language. */
export function valueOf({ v, e, dt }: Term): Value | undefined {
  if (e) return undefined
  if (dt === undefined || dt === xsdString) return { family: TEXT, key: NaN, text: v }
  const datatype = orderedDatatypes.get(dt)
  if (datatype === undefined) return undefined
  const key = keyOf(datatype, v)
  if (Number.isNaN(key)) return undefined
  return { family: datatype.family, key, text: datatype.isExact ? v : undefined }
}

/** False of a text that is no lexical form of the datatype, where that is known. */
export function isLexical(text: string, dt: string): boolean {
  const datatype = orderedDatatypes.get(dt)
  if (datatype === undefined || !Number.isNaN(keyOf(datatype, text))) return true
  return text === 'NaN' && datatype.family === NUMBER && !datatype.isExact
}

function keyOf(datatype: Datatype, text: string): number {
  const bytes = Buffer.from(text, 'utf8')
  return datatype.keyOf(bytes, 0, bytes.length)
}

/** Below 0, 0 or above, of two of one family. A decimal and a double are compared as doubles. */
export function compareValues(a: Value, b: Value): number {
  if (a.family === TEXT) return compareTexts(a.text ?? '', b.text ?? '')
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  return a.text === undefined || b.text === undefined ? 0 : compareDigits(a.text, b.text)
}

/** Two numbers in digits, of any length. */
function compareDigits(a: string, b: string): number {
  const [x, y] = [partsOf(a), partsOf(b)]
  if (x.isNegative !== y.isNegative) return x.isNegative ? -1 : 1
  const byLength = x.whole.length - y.whole.length
  const order = byLength || compareTexts(x.whole, y.whole) || compareTexts(x.fraction, y.fraction)
  return x.isNegative ? -order : order
}

function partsOf(text: string): { isNegative: boolean; whole: string; fraction: string } {
  const [whole = '', fraction = ''] = text.replace(/^[+-]/, '').split('.')
  const parts = { whole: whole.replace(/^0+/, ''), fraction: withoutLastZeros(fraction) }
  const isZero = parts.whole === '' && parts.fraction === ''
  return { ...parts, isNegative: text.startsWith('-') && !isZero }
}

/** A pattern for it would take the square of their number. */
function withoutLastZeros(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === '0') end--
  return text.slice(0, end)
}
