// How a text becomes words: what an index holds of a text, and what a question asks for.

import { fold } from './fold.js'
import { segmenterOf } from './segmenters.js'
import {
  digit,
  doubleQuote,
  extend,
  hangul,
  hebrew,
  ideograph,
  joiner,
  letter,
  midLetter,
  midNumber,
  other,
  quote,
  unspaced,
  wordClass,
} from './word-classes.js'

/** No word is longer, in UTF-16 code units: longer ones come in pieces. */
export const maxWordLength = 256

/**
 * Tells the words of a text in their order, each with its folded form and its place in the text in
 * UTF-16 code units. The position of a word is the number of words told before it.
 *
 * Words are those of UAX #29, so `can't`, `3.14`, `snake_case` and `example.org` are one word each,
 * and `state-of-the-art` is four. What has neither a letter nor a digit is no word. Beyond that:
 *
 * - One to three Latin letters with `++` or `#` behind them, and no letter behind those, are one
 *   word: `C++`, `C#`.
 * - Han, Hiragana and Katakana come as overlapping pairs: 知识库 is 知识, 识库, 库. Each character of
 *   such a run is told with the one that follows, the last of them alone. So every character
 *   begins one word, a question cut in whatever way finds what it asks for, and a phrase is
 *   words at positions that follow each other. Who asks leaves out the last (`eachAskedWord`).
 * - Hangul joins nothing but Hangul: `2024년` is two words. (Intl.Segmenter has it so, too.)
 * - Thai, Lao, Khmer, Myanmar and their kin are cut by the dictionaries of Intl.Segmenter.
 * - A word of more than 256 code units comes in pieces, none of which ends inside a surrogate pair.
 * - A word whose form has no letter and no digit, such as a lone tatweel, is not told.
 *
 * The place is that of the whole word, also where the form has less of it: that of `John's` covers
 * the `'s`. Text may be any string; a lone surrogate stands between words.
 */
export function eachWord(
  text: string,
  take: (form: string, start: number, end: number) => void,
): void {
  const length = text.length
  let at = 0
  while (at < length) {
    const code = text.charCodeAt(at)
    if (code > 127) {
      at = takeAny(text, at, take)
      continue
    }
    let kinds = asciiKinds[code] as number
    if (kinds === 0) {
      at++
      continue
    }
    // Most words end here: letters and digits of ASCII, and then something that joins nothing.
    let end = at + 1
    let after = 0
    let kind = 0
    for (; end < length; end++) {
      after = text.charCodeAt(end)
      kind = after < 128 ? (asciiKinds[after] as number) : 0
      if (kind === 0) break
      kinds |= kind
    }
    if (end < length && mayContinue(text, end, after)) {
      at = takeAny(text, at, take)
      continue
    }
    if (end - at > maxWordLength) {
      takePieces(text, at, end, take)
    } else if ((kinds & (lowerKind | upperKind | digitKind)) !== 0) {
      const word = text.slice(at, end)
      take((kinds & upperKind) === 0 ? word : word.toLowerCase(), at, end)
    }
    at = end
  }
}

/**
 * Tells the words by which a text is looked for: those of `eachWord`, but for the last character of
 * a run of Han, Hiragana or Katakana, which stands alone only where a run ends. Where a run is
 * nothing but that character, it is told as what words begin with (`isPrefix`). Inside a text, with
 * more words behind it, the last character is told as it is, because there the run has to end.
 */
export function eachAskedWord(
  text: string,
  take: (form: string, start: number, end: number, isPrefix: boolean) => void,
): void {
  let waiting: { form: string; start: number; end: number } | undefined
  let endBefore = -1
  eachWord(text, (form, start, end) => {
    if (waiting) {
      take(waiting.form, waiting.start, waiting.end, false)
      endBefore = waiting.end
    }
    waiting = { form, start, end }
  })
  if (!waiting) return
  const { form, start, end } = waiting
  if (wordClass(text.codePointAt(start) as number) !== ideograph) take(form, start, end, false)
  else if (endBefore !== end) take(form, start, end, true)
}

type Take = (form: string, start: number, end: number) => void

const [lowerKind, upperKind, digitKind, joinerKind] = [1, 2, 4, 8] as const

const asciiKinds = new Uint8Array(128)
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code)
  if (/[a-z]/.test(character)) asciiKinds[code] = lowerKind
  else if (/[A-Z]/.test(character)) asciiKinds[code] = upperKind
  else if (/[0-9]/.test(character)) asciiKinds[code] = digitKind
  else if (character === '_') asciiKinds[code] = joinerKind
}

/** Whether a word of ASCII may go on with what is neither a letter nor a digit of ASCII. */
function mayContinue(text: string, at: number, code: number): boolean {
  if (code > 127) return true
  if (code === 0x23 || code === 0x2b) return true // # and +
  // ' , . : ; join only what stands on both of their sides.
  if (code !== 0x27 && code !== 0x2c && code !== 0x2e && code !== 0x3a && code !== 0x3b)
    return false
  const next = text.charCodeAt(at + 1)
  return next > 127 || (asciiKinds[next] as number) > 0
}

/** Takes the word or the run that begins at a place, if one does, and tells where to go on. */
function takeAny(text: string, at: number, take: Take): number {
  const kind = classAt(text, at)
  switch (kind) {
    case letter:
    case hebrew:
    case digit:
    case joiner: {
      const end = nameEnd(text, at) ?? wordEnd(text, at, kind)
      takePieces(text, at, end, take)
      return end
    }
    case hangul: {
      const end = runEnd(text, at, hangul)
      takePieces(text, at, end, take)
      return end
    }
    case ideograph:
      return takePairs(text, at, take)
    case unspaced:
      return takeSegments(text, at, take)
    default:
      return at + sizeAt(text, at)
  }
}

/** Where a name such as C++ or F# ends that begins here. */
function nameEnd(text: string, at: number): number | undefined {
  let end = at
  while (end < at + 4 && /[A-Za-z]/.test(text.charAt(end))) end++
  if (end === at || end > at + 3) return undefined
  if (text.startsWith('++', end)) end += 2
  else if (text.startsWith('#', end)) end += 1
  else return undefined
  const next = end < text.length ? classAt(text, end) : other
  return next === letter || next === hebrew ? undefined : end
}

/** Where the word ends that begins here with a letter, a digit or a joiner. */
function wordEnd(text: string, start: number, first: number): number {
  let before = first
  let at = start + sizeAt(text, start)
  while (at < text.length) {
    const kind = classAt(text, at)
    if (kind === letter || kind === hebrew || kind === digit || kind === joiner) {
      before = kind
      at += sizeAt(text, at)
    } else if (kind === extend) {
      at += sizeAt(text, at)
    } else if (kind >= midLetter) {
      const next = skipExtends(text, at + 1)
      const after = next < text.length ? classAt(text, next) : other
      if (!joins(before, kind, after)) {
        return before === hebrew && kind === quote ? next : at
      }
      before = after
      at = next + sizeAt(text, next)
    } else {
      break
    }
  }
  return at
}

/** The rules WB6, WB7, WB7b, WB7c, WB11 and WB12 of UAX #29. */
function joins(before: number, kind: number, after: number): boolean {
  if (kind === doubleQuote) return before === hebrew && after === hebrew
  if (before === digit) return after === digit && kind !== midLetter
  const areLetters =
    (before === letter || before === hebrew) && (after === letter || after === hebrew)
  return areLetters && kind !== midNumber
}

/** Takes a run of Han, Hiragana and Katakana as overlapping pairs. */
function takePairs(text: string, start: number, take: Take): number {
  let first = start
  let second = skipExtends(text, start + sizeAt(text, start))
  while (second < text.length && classAt(text, second) === ideograph) {
    const end = skipExtends(text, second + sizeAt(text, second))
    takePieces(text, first, end, take)
    first = second
    second = end
  }
  takePieces(text, first, second, take)
  return second
}

// Which language makes no difference: what matters are the scripts' dictionaries.
const segments = segmenterOf('word')
/** What Intl.Segmenter is given at once: its time grows with the square of a text's length. */
const segmentedLength = 1024

/** Takes a run of a script that has no spaces and needs a dictionary. */
function takeSegments(text: string, start: number, take: Take): number {
  const end = runEnd(text, start, unspaced)
  let from = start
  while (from < end) {
    const run = text.slice(from, Math.min(end, from + segmentedLength))
    const isLast = from + run.length === end
    let done = 0
    for (const { segment, index, isWordLike } of segments(run)) {
      // What the cut may have cut in two is left for the next piece.
      if (!isLast && index > 0 && index + segment.length === run.length) break
      done = index + segment.length
      if (isWordLike) takePieces(text, from + index, from + done, take)
    }
    from += done
  }
  return end
}

function takePieces(text: string, start: number, end: number, take: Take): void {
  let from = start
  while (end - from > maxWordLength) {
    let to = from + maxWordLength
    if (isLowSurrogate(text.charCodeAt(to)) && isHighSurrogate(text.charCodeAt(to - 1))) to--
    takeOne(text, from, to, take)
    from = to
  }
  takeOne(text, from, end, take)
}

function takeOne(text: string, start: number, end: number, take: Take): void {
  const form = fold(text.slice(start, end))
  if (/[a-z0-9]/.test(form) || /[\p{Alphabetic}\p{N}]/u.test(form)) take(form, start, end)
}

/** Where characters of one class end, with what is part of them. */
function runEnd(text: string, start: number, kind: number): number {
  let end = start
  while (end < text.length && classAt(text, end) === kind) {
    end = skipExtends(text, end + sizeAt(text, end))
  }
  return end
}

function skipExtends(text: string, start: number): number {
  let at = start
  while (at < text.length && classAt(text, at) === extend) at += sizeAt(text, at)
  return at
}

function classAt(text: string, at: number): number {
  return wordClass(text.codePointAt(at) as number)
}

function sizeAt(text: string, at: number): number {
  return isHighSurrogate(text.charCodeAt(at)) && isLowSurrogate(text.charCodeAt(at + 1)) ? 2 : 1
}

function isHighSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xd800
}

function isLowSurrogate(code: number): boolean {
  return (code & 0xfc00) === 0xdc00
}
