// What a person types to search: words, phrases in quotes, what must not be there.

import { eachAskedWord, eachWord } from './words.js'
import { extend, ideograph, other, wordClass } from './word-classes.js'

/** Forms that follow each other, at positions that do. */
export interface WordSequence {
  readonly forms: readonly string[]
  /** Whether the last of the forms is only what a word begins with. */
  readonly isPrefix: boolean
  /** Where it stands in the text, in UTF-16 code units; quotes and a minus are not part of it. */
  readonly start: number
  readonly end: number
}

export interface SearchWord {
  readonly form: string
  readonly start: number
  readonly end: number
  /** Whether a word that begins so is meant: `lor*`, or a single character of Han or kana. */
  readonly isPrefix: boolean
}

export interface SearchText {
  /** As it was typed. */
  readonly text: string
  /** Words outside of phrases, but for those that are excluded. */
  readonly words: readonly SearchWord[]
  /** What stands in quotes. Its words are not among `words`. */
  readonly phrases: readonly WordSequence[]
  /** Runs of two or more words without white space, as `ISO-4217`. They are among `words` as well. */
  readonly joined: readonly WordSequence[]
  /** Words and phrases behind a minus. */
  readonly excluded: readonly WordSequence[]
}

/**
 * Reads what a person types. `"a phrase"` stands in quotes of any kind (“ ”, „ “, « », » «); `-word`
 * and `-"a phrase"` are excluded, where the minus begins the text or follows white space; `lor*` is
 * a prefix. Any text has a meaning: a quote that is not closed is none, nor is a minus on its own.
 */
export function parseSearch(text: string): SearchText {
  const words: SearchWord[] = []
  const phrases: WordSequence[] = []
  const joined: WordSequence[] = []
  const excluded: WordSequence[] = []
  const unclosed = new Set<string>()
  let at = 0
  while (at < text.length) {
    if (isSpace(text, at)) {
      at++
      continue
    }
    const isExcluded =
      text[at] === '-' && (at === 0 || isSpace(text, at - 1)) && /[^\s-]/.test(text[at + 1] ?? ' ')
    if (isExcluded) at++
    const close = closingQuote(text, at, unclosed)
    if (close !== undefined) {
      const phrase = sequence(text, at + 1, close)
      if (phrase) (isExcluded ? excluded : phrases).push(phrase)
      at = close + 1
      continue
    }
    // A quote may open behind a bracket, but not inside of a word.
    let end = at + 1
    while (end < text.length && !isSpace(text, end)) {
      if (closingQuote(text, end, unclosed) !== undefined) break
      end++
    }
    const run = sequence(text, at, end)
    if (run && isExcluded) excluded.push(run)
    else if (run) {
      // One by one: a run may have more words than a call may have arguments.
      for (const word of wordsIn(text, at, end)) words.push(word)
      if (run.forms.length > 1) joined.push(run)
    }
    at = end
  }
  return { text, words, phrases, joined, excluded }
}

const closers: Readonly<Record<string, string>> = {
  '"': '"',
  '“': '”“',
  '”': '”',
  '„': '“”',
  '«': '»',
  '»': '«',
}

/** Where the quote is closed that opens at a place, if one does. */
function closingQuote(text: string, at: number, unclosed: Set<string>): number | undefined {
  const open = text[at] ?? ''
  const close = closers[open]
  if (close === undefined || unclosed.has(open)) return undefined
  if (at > 0 && /[\p{L}\p{N}\p{M}]/u.test(text[at - 1] as string)) return undefined
  for (let end = at + 1; end < text.length; end++) {
    if (close.includes(text[end] as string)) return end
  }
  // Nor will any that stands behind this one be: the text is not searched again for each.
  unclosed.add(open)
  return undefined
}

function sequence(text: string, start: number, end: number): WordSequence | undefined {
  const forms: string[] = []
  let [from, to, isPrefix] = [end, end, false]
  eachAskedWord(text.slice(start, end), (form, first, last, isCharacter) => {
    if (forms.length === 0) from = start + first
    forms.push(form)
    to = start + last
    isPrefix = isCharacter || isStarred(text, to, end)
  })
  return forms.length === 0 ? undefined : { forms, isPrefix, start: from, end: to }
}

function wordsIn(text: string, start: number, end: number): SearchWord[] {
  const told: SearchWord[] = []
  for (const [from, to] of piecesOf(text, start, end)) {
    eachWord(text.slice(from, to), (form, first, last) => {
      const word = { form, start: from + first, end: from + last }
      // The last of a run of pairs alone: the pair before it says more.
      if (told.at(-1)?.end === word.end) return
      told.push({ ...word, isPrefix: isStarred(text, word.end, end) || isCharacter(text, word) })
    })
  }
  return told
}

/** Hiragana behind other Japanese writing, of so many characters, are an ending or a particle. */
const mostOfEnding = 4

/**
 * Japanese is cut where Hiragana begin and end: 京都の寺 asks for 京都 and 寺, in whatever way a text goes on behind
 * these, and 咲きます for 咲, whatever its ending.
 */
function* piecesOf(
  text: string,
  start: number,
  end: number,
): Generator<readonly [from: number, to: number]> {
  const run = text.slice(start, end)
  if (!/[^\0-\u3040]/.test(run)) {
    yield [start, end]
    return
  }
  let from = 0
  for (const { 0: kana, index } of run.matchAll(/\p{sc=Hira}[\p{sc=Hira}\p{M}ー]*/gu)) {
    if (index > from) yield [start + from, start + index]
    const isBehind = classBefore(run, index) === ideograph
    const to = index + kana.length
    const isAlone = kana.length === 1 && to < run.length
    if (!isAlone && !(isBehind && kana.length <= mostOfEnding)) yield [start + index, start + to]
    from = to
  }
  if (from < run.length) yield [start + from, end]
}

/** Of the character before a place, whatever marks and selectors it has; `other` at the beginning. */
function classBefore(text: string, place: number): number {
  for (let at = place; at > 0;) {
    const isPair = /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, at - 2), at))
    at -= isPair ? 2 : 1
    const found = wordClass(text.codePointAt(at) as number)
    if (found !== extend) return found
  }
  return other
}

/** Whether a word of Han or kana is a single character, and no pair. */
function isCharacter(text: string, { start, end }: { start: number; end: number }): boolean {
  const first = text.codePointAt(start) as number
  if (wordClass(first) !== ideograph) return false
  for (let at = start + (first > 0xffff ? 2 : 1); at < end; at++) {
    if (wordClass(text.codePointAt(at) as number) === ideograph) return false
  }
  return true
}

function isStarred(text: string, at: number, end: number): boolean {
  return at < end && text[at] === '*' && !/[\p{L}\p{N}]/u.test(text[at + 1] ?? ' ')
}

/** The narrow space that parts the digits of a number is part of it, and what is not seen of any word. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code < 128) return code === 32 || (code >= 9 && code <= 13)
  return code !== 0x202f && code !== 0xfeff && /\s/.test(text[at] as string)
}
