// Regular expressions of users, run by an engine whose time grows with the text alone: a pattern
// that would keep a backtracking engine busy for years is an ordinary one here.

import type { RE2JS } from 're2js'
import { quoted } from '../../door/wording.js'

type Engine = typeof RE2JS

/** Loaded behind the first pattern: it takes 7 to 9 ms of the processor and 2 to 5 MiB, and most processes have none. */
let engine: Engine | undefined

/** Thrown where a pattern was met, and the engine is not there yet. */
class EngineMissing extends Error {}

/** What `parse` gives. Where it meets the first pattern of this process, it is called once more when the engine is there. */
export async function withEngine<Parsed>(parse: () => Parsed): Promise<Parsed> {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof EngineMissing)) throw error
    engine = (await import('re2js')).RE2JS
    return parse()
  }
}

export interface Regex {
  readonly source: string
  readonly options: string
  /** What every text that matches begins with, where the pattern tells it. */
  readonly prefix: string | undefined
  /** How large its program is. */
  readonly steps: number
  readonly test: (text: string) => boolean
}

/** The options of MongoDB. */
const flags: Readonly<Record<string, 'CASE_INSENSITIVE' | 'MULTILINE' | 'DOTALL' | undefined>> = {
  i: 'CASE_INSENSITIVE',
  m: 'MULTILINE',
  s: 'DOTALL',
  // Spaces and comments are taken out before; and all is Unicode here.
  x: undefined,
  u: undefined,
}

/** The reason why a text names no options, `undefined` where it does. */
export function checkRegexOptions(options: string): string | undefined {
  const unknown = Array.from(options).find((option) => !Object.hasOwn(flags, option))
  return unknown && `has the option ${quoted(unknown)}: there are i, m, s, x and u`
}

/**
 * Called in withEngine().
 * @throws SyntaxError for a pattern that the engine does not understand
 */
export function compileRegex(source: string, options: string): Regex {
  const pattern = options.includes('x') ? withoutSpaces(source) : source
  const compiled = compilePattern(pattern, options)
  const { anchored, text, complete } = readLiteral(pattern)
  // In a line of its own the beginning may be anywhere; the other case has other letters.
  const literal = !options.includes('i') && !options.includes('m')
  return {
    source,
    options,
    prefix: literal && anchored && text !== '' ? text : undefined,
    steps: compiled.programSize(),
    test: literal && complete ? literalTest(text, anchored) : (value) => compiled.test(value),
  }
}

/** Most patterns are a piece of text, for which strings have something six times as fast. */
function literalTest(text: string, anchored: boolean): (value: string) => boolean {
  return anchored ? (value) => value.startsWith(text) : (value) => value.includes(text)
}

function compilePattern(source: string, options: string): RE2JS {
  if (engine === undefined) throw new EngineMissing()
  let flag = 0
  for (const option of options) {
    const name = flags[option]
    if (name !== undefined) flag |= engine[name]
  }
  try {
    return engine.compile(source, flag)
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
