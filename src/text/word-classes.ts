// What a character is for the boundaries of words: the property Word_Break of UAX #29, made of
// those properties of Unicode that regular expressions know. `test/text/word-classes.test.ts` asks
// Intl.Segmenter about every code point.

/** No part of a word. */
export const other = 0
/** ALetter. */
export const letter = 1
/** Hebrew_Letter: quotes may stand between these, and a single one behind. */
export const hebrew = 2
/** Numeric. */
export const digit = 3
/** ExtendNumLet: `_`, which joins what is beside it. */
export const joiner = 4
/** Extend, Format and ZWJ: part of whatever they follow. */
export const extend = 5
/** Han, Hiragana, Katakana: written without spaces, and cut into pairs. */
export const ideograph = 6
/** Thai, Lao, Khmer, Myanmar and their kin: written without spaces, and cut by a dictionary. */
export const unspaced = 7
/** Hangul: joins nothing but its like. ICU has it so, and `2024년` is a number and a word. */
export const hangul = 8
/** MidLetter: joins letters. */
export const midLetter = 9
/** MidNum: joins digits. */
export const midNumber = 10
/** MidNumLet: joins letters, and digits. */
export const midBoth = 11
/** Single_Quote: joins as MidNumLet does, and may end a Hebrew word. */
export const quote = 12
/** Double_Quote: joins Hebrew letters. */
export const doubleQuote = 13

/** The class of a code point. */
export function wordClass(codePoint: number): number {
  if (codePoint < latinEnd) return ofLatin[codePoint] as number
  // Lone surrogates are asked for as well, and are no part of a word.
  const page = (pages[codePoint >> 8] ??= new Uint8Array(256).fill(unknown))
  const known = page[codePoint & 255] as number
  return known === unknown ? (page[codePoint & 255] = findClass(codePoint)) : known
}

/** Each is found when it is first met: all of them would take half a second. */
const unknown = 255
const pages: (Uint8Array | undefined)[] = new Array<undefined>(0x1100)

const marked = new Map<number, number>()
for (const [kind, characters] of [
  [midLetter, '·\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a:'],
  [midNumber, ',;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe50\ufe54\uff0c\uff1b'],
  [midBoth, '.\u2018\u2019\u2024\ufe52\uff07\uff0e'],
  [quote, "'"],
  [doubleQuote, '"'],
  [joiner, '\u202f'],
  [digit, '\u066b'],
  [letter, '\u070f'],
  [other, '\u200b'],
] as const) {
  for (const character of characters) marked.set(character.codePointAt(0) as number, kind)
}

/** [from, to] of a class, in hexadecimal. */
type Classes = readonly (readonly [kind: number, ranges: string])[]

/** Of what is below this nothing is asked of the expressions below, which take milliseconds to make. */
const latinEnd = 0x250
const latinClasses: Classes = [
  [letter, '41-5a 61-7a aa-aa b5-b5 ba-ba c0-d6 d8-f6 f8-24f'],
  [digit, '30-39'],
  [joiner, '5f-5f'],
  [extend, 'ad-ad'],
]
const ofLatin = classesOf(0, latinEnd, latinClasses)

/** Nor of dashes, quotes and spaces, which are in texts of any script. */
const generalClasses: Classes = [
  [extend, '200c-200f 202a-202e 2060-2064 2066-206f'],
  [joiner, '203f-2040 2054-2054'],
]
pages[0x20] = new Uint8Array(256).fill(unknown)
pages[0x20].set(classesOf(0x2000, 0x2070, generalClasses))

/** Of [from, to). */
function classesOf(from: number, to: number, classes: Classes): Uint8Array {
  const found = new Uint8Array(to - from).fill(other)
  for (const [kind, ranges] of classes) {
    for (const range of ranges.split(' ')) {
      const [first = 0, last = 0] = range.split('-').map((code) => parseInt(code, 16))
      found.fill(kind, first - from, last + 1 - from)
    }
  }
  for (const [code, kind] of marked) if (code >= from && code < to) found[code - from] = kind
  return found
}

/** Modifiers and punctuation that UAX #29 counts among letters though they are not alphabetic. */
const alsoLetter =
  /[\u02c2-\u02c5\u02d2-\u02d7\u02de\u02df\u02e5-\u02eb\u02ed\u02ef-\u02ff\u055a-\u055c\u055e\u058a\u05f3\ua708-\ua716\ua720\ua721\ua789\ua78a\uab5b]/
/** Signs that stand before a number: Format by category alone. */
const prepended = /[\u0600-\u0605\u06dd\u0890\u0891\u08e2\u{110bd}\u{110cd}]/u
const extending = /[\p{Grapheme_Extend}\p{M}\p{Emoji_Modifier}\p{Cf}]/u
/** Syllables, and the letters that they fall into when they are decomposed. */
const ofHangul = /[\u1100-\u11ff\ua960-\ua97c\uac00-\ud7fb]/
const ofHan = /[\p{Ideographic}\p{sc=Hira}\p{sc=Kana}]/u
/** The long vowel mark and others belong to several scripts. */
const ofHanAndOthers = /[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}]/u
const ofThaiAndKin =
  /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Tale}\p{sc=Talu}\p{sc=Lana}\p{sc=Tavt}\p{sc=Ahom}]/u

function findClass(codePoint: number): number {
  const known = marked.get(codePoint)
  if (known !== undefined) return known
  const character = String.fromCodePoint(codePoint)
  if (prepended.test(character)) return digit
  if (extending.test(character)) return extend
  if (/\p{Nd}/u.test(character)) return digit
  if (/\p{Pc}/u.test(character)) return joiner
  const isLetter = /[\p{L}\p{Nl}]/u.test(character)
  if (ofHan.test(character)) return ideograph
  if (isLetter && ofHangul.test(character)) return hangul
  if (isLetter && ofHanAndOthers.test(character)) return ideograph
  if (isLetter && ofThaiAndKin.test(character)) return unspaced
  if (isLetter && /\p{sc=Hebr}/u.test(character)) return hebrew
  if (/\p{Alphabetic}/u.test(character) || alsoLetter.test(character)) return letter
  return other
}
