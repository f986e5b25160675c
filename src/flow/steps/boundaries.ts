// Where a text may be cut. A segmenter copies the text that it is given, with every answer again, so that it is only asked
// about small windows: what is found here costs what lies between its bounds and the white space or
// the grapheme at them, however long the text is.

import { segmenterOf } from '../../text/segmenters.js'

const graphemes = segmenterOf('grapheme')
const sentences = segmenterOf('sentence')
const words = segmenterOf('word')

/** What a segmenter sees around the place that it is asked about. */
const context = 64
/** Where the end of a sentence is looked for first. */
const sentenceWindow = 256
/** A run of letters longer than that is no word. */
const wordWindow = 256
/** How many signs in a row a search for a word looks at. */
const signs = 16

const LF = 0x0a
const CR = 0x0d

/** White space of `\s` and `trim()`, U+FEFF among it. */
function isWhite(unit: number): boolean {
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)
  if (unit < 0xa0) return false
  return (
    unit === 0xa0 ||
    unit === 0xfeff ||
    unit === 0x3000 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x1680
  )
}

// ── graphemes ────────────────────────────────────────────────────────────────

/** The last boundary at or before `at`; `known` is one that is not after it. */
export function graphemeFloor(text: string, at: number, known: number): number {
  if (at <= known || at >= text.length || isApart(text, at)) return at
  for (let reach = context; ; reach *= 4) {
    const start = windowStart(text, at - reach, known)
    const segments = graphemes(text.slice(start, at + 2))
    const { index } = segments.containing(at - start) as Intl.SegmentData
    if (start === known) return start + index
    // What precedes the window may move its first boundary, but none after that one.
    if (index > 0 && (segments.containing(index - 1) as Intl.SegmentData).index > 0) {
      return start + index
    }
  }
}

/** The end of the grapheme that starts at `from`. */
export function graphemeEnd(text: string, from: number): number {
  for (let reach = context; ; reach *= 4) {
    const window = text.slice(from, from + reach)
    const end = (graphemes(window).containing(0) as Intl.SegmentData).segment.length
    // The last unit of a window may be half of a code point.
    if (end < window.length - 1 || from + window.length === text.length) return from + end
  }
}

/**
 * True between units that surely are of two graphemes: below U+0300 there is none that joins
 * another, but for CR LF. All that most texts of the West need.
 */
function isApart(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  const after = text.charCodeAt(at)
  return before < 0x300 && after < 0x300 && !(before === CR && after === LF)
}

/** Not inside a surrogate pair, and not among regional indicators, whose parity counts. */
function windowStart(text: string, at: number, known: number): number {
  let start = at
  if (start > known && (text.charCodeAt(start) & 0xfc00) === 0xdc00) start--
  while (start > known && isRegional(text, start - 2)) start -= 2
  return Math.max(start, known)
}

function isRegional(text: string, at: number): boolean {
  const low = text.charCodeAt(at + 1)
  return text.charCodeAt(at) === 0xd83c && low >= 0xdde6 && low <= 0xddff
}

// ── white space ──────────────────────────────────────────────────────────────

/** Behind the white space at `at`, a boundary of graphemes; a space with a mark on it is none. */
export function skipSpace(text: string, at: number): number {
  let end = at
  while (end < text.length && isWhite(text.charCodeAt(end))) end++
  return graphemeFloor(text, end, at)
}

/** Before the white space that ends at `at`. */
export function trimSpace(text: string, at: number): number {
  let end = at
  while (end > 0 && isWhite(text.charCodeAt(end - 1))) end--
  return end
}

/** The first place of `low` to `high` that follows white space, or -1. */
export function afterSpace(text: string, low: number, high: number): number {
  for (let at = low; at < high; at++) {
    if (!isWhite(text.charCodeAt(at)) && isWhite(text.charCodeAt(at - 1))) return at
  }
  return -1
}

interface Ends {
  /** Before white space with a blank line in it; -1 for none, as the others. */
  readonly paragraph: number
  /** Before a line's end. */
  readonly line: number
  /** Before any white space. */
  readonly word: number
}

/** The last places after `low` and up to `high` that white space follows. */
export function lastEnds(text: string, low: number, high: number): Ends {
  let line = -1
  let word = -1
  let lines = 0
  let wasWhite = false
  // White space need not fit.
  let at = high
  while (at < text.length && isWhite(text.charCodeAt(at))) at++
  for (; at > low; at--) {
    const unit = text.charCodeAt(at - 1)
    if (isWhite(unit)) {
      if (unit === LF || (unit === CR && text.charCodeAt(at) !== LF)) lines++
      // A paragraph separator (U+2029) is a blank line of its own.
      else if (unit === 0x2029) lines += 2
      wasWhite = true
    } else if (wasWhite) {
      if (lines > 1) return { paragraph: at, line, word }
      if (lines > 0 && line < 0) line = at
      if (word < 0) word = at
      lines = 0
      wasWhite = false
    }
  }
  return { paragraph: -1, line, word }
}

// ── sentences and words ──────────────────────────────────────────────────────

/** The last end of a sentence after `low` and up to `high`, but for white space; or -1. */
export function lastSentenceEnd(text: string, low: number, high: number): number {
  const fit = trimSpace(text, high)
  const next = skipSpace(text, high)
  // The white space between need not fit, and as one space it does not lengthen the window.
  const gap = next > fit ? ' ' : ''
  const after = gap + text.slice(next, next + context)
  // Most sentences are short, and what a segmenter costs goes by its window: without this, text
  // without paragraphs is cut at two thirds of the speed (benchmarks/chunk-text).
  for (let floor = Math.max(low, fit - sentenceWindow); fit > low; floor = low) {
    const start = Math.max(0, floor - context)
    const segments = sentences(unwrap(text.slice(start, fit)) + after)
    const index = segments.containing(fit - start + gap.length)?.index ?? 0
    const end = trimSpace(text, start + index)
    if (end > floor) return end
    if (floor === low) break
  }
  return -1
}

/** The first start of a sentence from `low` on and before `high`, or -1. */
export function firstSentence(text: string, low: number, high: number): number {
  const start = Math.max(0, low - context)
  const window = unwrap(text.slice(start, high + context))
  const segment = sentences(window).containing(low - 1 - start)
  if (segment === undefined) return -1
  const first = skipSpace(text, start + segment.index + segment.segment.length)
  return first < high ? first : -1
}

/** The last start of a word after `low` and up to `high`, close to it; or -1. */
export function lastWord(text: string, low: number, high: number): number {
  const start = Math.max(low, high - wordWindow)
  const segments = words(text.slice(start, high + context))
  let segment = segments.containing(high - start)
  for (let n = 0; n < signs && segment !== undefined && segment.index > 0; n++) {
    if (segment.isWordLike) return start + segment.index
    segment = segments.containing(segment.index - 1)
  }
  return -1
}

/** The first start of a word from `low` on and before `high`, close to `low`; or -1. */
export function firstWord(text: string, low: number, high: number): number {
  const start = Math.max(0, low - context)
  const segments = words(text.slice(start, low + wordWindow))
  let segment = segments.containing(low - 1 - start)
  for (let n = 0; n < signs && segment !== undefined; n++) {
    const next = segment.index + segment.segment.length
    if (start + next >= high) return -1
    segment = segments.containing(next)
    if (segment?.isWordLike) return start + next
  }
  return -1
}

/**
 * The window with the line ends inside a paragraph as spaces, as long as it was: to a segmenter
 * every line end is the end of a sentence, but most plain texts are wrapped.
 */
function unwrap(window: string): string {
  return window.replace(/\r(?=\n)/g, ' ').replace(/\n(?![^\S\n]*\n)/g, ' ')
}
