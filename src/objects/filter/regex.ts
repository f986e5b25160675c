// Regular expressions of users, run by an engine whose time grows with the text alone: a pattern
// that would keep a backtracking engine busy for years is an ordinary one here.

import { RE2JS } from 're2js'
import { quoted } from '../../door/wording.js'

export interface Regex {
  readonly source: string
  readonly options: string
  /** What every text that matches begins with, where the pattern tells it. */
  readonly prefix: string | undefined
  readonly test: (text: string) => boolean
}

export const maxPatternLength = 1000

/** The options of MongoDB. */
const flags: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  // Spaces and comments are taken out before; and all is Unicode here.
  x: 0,
  u: 0,
}

/** The reason why a text names no options, `undefined` where it does. */
export function checkRegexOptions(options: string): string | undefined {
  const unknown = Array.from(options).find((option) => !Object.hasOwn(flags, option))
  return unknown && `has the option ${quoted(unknown)}: there are i, m, s, x and u`
}

/** @throws SyntaxError for a pattern that the engine does not understand */
export function compileRegex(source: string, options: string): Regex {
  let flag = 0
  for (const option of options) flag |= flags[option] ?? 0
  const pattern = options.includes('x') ? withoutSpaces(source) : source
  const engine = compilePattern(pattern, flag)
  const { anchored, text, complete } = readLiteral(pattern)
  // In a line of its own the beginning may be anywhere; the other case has other letters.
  const literal = !options.includes('i') && !options.includes('m')
  return {
    source,
    options,
    prefix: literal && anchored && text !== '' ? text : undefined,
    test: literal && complete ? literalTest(text, anchored) : (value) => engine.test(value),
  }
}

/** Most patterns are a piece of text, for which strings have something six times as fast. */
function literalTest(text: string, anchored: boolean): (value: string) => boolean {
  return anchored ? (value) => value.startsWith(text) : (value) => value.includes(text)
}

function compilePattern(source: string, flag: number): RE2JS {
  try {
    return RE2JS.compile(source, flag)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new SyntaxError(reason.replace(/^error parsing regexp: /, ''), { cause: error })
  }
}

/** What the option x leaves: no white space, no comments, but for escaped ones and those in classes. */
function withoutSpaces(source: string): string {
  const kept = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]/.source
  const dropped = /[ \t\n\f\r]|#[^\n]*(?:\n|$)/.source
  return source.replace(new RegExp(`(${kept})|${dropped}`, 'gs'), '$1')
}

interface Literal {
  readonly anchored: boolean
  /** What stands as it is at the beginning of the pattern. */
  readonly text: string
  /** Nothing comes behind it. */
  readonly complete: boolean
}

function readLiteral(source: string): Literal {
  const anchored = source.startsWith('^')
  const none = { anchored, text: '', complete: false }
  // One of several: what one begins with is not what all do.
  if (source.includes('|')) return none
  const characters = Array.from(anchored ? source.slice(1) : source)
  let text = ''
  for (let n = 0; n < characters.length; n++) {
    let character = characters[n] as string
    if (character === '\\') {
      character = characters[++n] ?? ''
      // Of letters and digits, `\d` and `\n`, the engine knows more.
      if (!/^[!-/:-@[-`{-~]$/.test(character)) return { anchored, text, complete: false }
    } else if (/^[.*+?()[\]{}^$]$/.test(character)) {
      return { anchored, text, complete: false }
    }
    // It may come not at all.
    if (/^[*?{]$/.test(characters[n + 1] ?? '')) return { anchored, text, complete: false }
    text += character
  }
  return { anchored, text, complete: true }
}
