// REGEX and REPLACE of SPARQL 1.1 (sections 17.4.3.14 and 15) by an engine whose time grows with the
// text alone.

import type { Literal, Term } from '@rdfjs/types'
import { RE2JS } from 're2js'
import { whyTooLarge, whyTooLong } from '../door/patterns.js'
import { rdfFactory } from '../rdf/factory.js'
import { xsd, xsdString } from '../terms.js'
import type { EngineFunction } from './peer.js'

const regexName = 'urn:lorekeep:function:regex'
const replaceName = 'urn:lorekeep:function:replace'

/** What an operator of the algebra becomes a call of. */
export const functionNames: ReadonlyMap<unknown, string> = new Map([
  ['regex', regexName],
  ['replace', replaceName],
])

/** Of one expression, and not of the query (SPARQL 1.1, section 17.2). */
class ExpressionError extends Error {}

class PatternTooLarge extends ExpressionError {}

/**
 * The functions, for one query: it mostly has one pattern, compiled once. `fail` ends the query: for
 * what is no error of an expression, such as a text that grows too long.
 */
export function regexFunctions(
  fail: (error: unknown) => void,
): Readonly<Record<string, EngineFunction>> {
  let last: Compiled | undefined
  const compiled = (pattern: string, flags: string): Compiled => {
    if (last?.pattern !== pattern || last.flags !== flags) {
      const regex = compile(pattern, flags)
      last = { pattern, flags, regex, matchesEmpty: regex.test('') }
    }
    return last
  }
  const functionOf =
    (make: (...terms: (Term | undefined)[]) => Term): EngineFunction =>
    async (terms) => {
      try {
        return make(...terms)
      } catch (error) {
        if (!(error instanceof ExpressionError)) fail(error)
        throw error
      }
    }
  return {
    [regexName]: functionOf((text, pattern, flags) => {
      const { regex } = compiled(plain(pattern), flags ? plain(flags) : '')
      return rdfFactory.literal(String(regex.test(textual(text).value)), booleanType)
    }),
    [replaceName]: functionOf((text, pattern, replacement, flags) => {
      const options = flags ? plain(flags) : ''
      const { regex, matchesEmpty } = compiled(plain(pattern), options)
      // An error to XPath (FORX0003).
      if (matchesEmpty) throw new ExpressionError('a pattern that matches the empty text')
      const by = plain(replacement)
      const { value, language, datatype } = textual(text)
      const replaced = regex
        .matcher(value)
        .replaceAll(
          options.includes('q') ? RE2JS.quoteReplacement(by, true) : withGroups(by, regex),
          true,
        )
      return rdfFactory.literal(replaced, language || datatype)
    }),
  }
}

interface Compiled {
  readonly pattern: string
  readonly flags: string
  readonly regex: RE2JS
  readonly matchesEmpty: boolean
}

const booleanType = rdfFactory.namedNode(`${xsd}boolean`)

const flagBits: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  x: 0,
  q: 0,
}

/** The flags are those of XPath, to which SPARQL refers. @throws ExpressionError */
function compile(pattern: string, flags: string): RE2JS {
  const tooLong = whyTooLong(pattern)
  if (tooLong !== undefined) throw new PatternTooLarge(tooLong)
  let bits = 0
  for (const flag of flags) {
    const bit = flagBits[flag]
    if (bit === undefined) throw new ExpressionError(`the flag '${flag}'`)
    bits |= bit
  }
  if (flags.includes('q')) return RE2JS.compile(RE2JS.quote(pattern), bits & RE2JS.CASE_INSENSITIVE)
  const compiled = compileXPath(pattern, flags.includes('x'), bits)
  const tooLarge = whyTooLarge(compiled.programSize())
  if (tooLarge !== undefined) throw new PatternTooLarge(tooLarge)
  return compiled
}

/** @throws ExpressionError */
function compileXPath(pattern: string, skipsSpace: boolean, bits: number): RE2JS {
  try {
    return RE2JS.compile(translated(pattern, skipsSpace), bits)
  } catch (error) {
    // A stack or a memory that does not suffice.
    if (error instanceof RangeError) throw error
    throw new ExpressionError(reasonOf(error), { cause: error })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Of the reasons that the engine gives, those that are wrong by XPath's rules, too. */
const wrongAnywhere =
  /missing closing|unexpected \)|missing argument|nested repetition|trailing backslash/

/**
 * Why a pattern that the rules may allow cannot be run: it is too large, or has a back-reference or the like.
 * One that no engine would take is an error of its expression.
 */
export function whyUnsupported(pattern: string, flags: string): string | undefined {
  try {
    compile(pattern, flags)
    return undefined
  } catch (error) {
    if (error instanceof PatternTooLarge) return error.message
    if (!(error instanceof ExpressionError)) throw error
    const isWrong = error.cause === undefined || wrongAnywhere.test(error.message)
    return isWrong ? undefined : error.message
  }
}

/** What the engine takes for text, escapes, the ends of classes, and white space. */
const pieces = /\\Q.*?(?:\\E|$)|\\.|\[:\^?\w+:\]|-?\[\^?\]?|\]|[\t\n\r ]+/gs

/**
 * XPath's pattern in the engine's syntax, whose `\w`, `\d` and `\s` are ASCII alone.
 * @throws SyntaxError
 */
function translated(pattern: string, skipsSpace: boolean): string {
  let inClass = false
  return pattern.replace(pieces, (piece) => {
    const set = piece.startsWith('\\') ? sets.get(piece) : undefined
    // What matches nothing keeps a dash beside the set from making a range with its first or last.
    if (set !== undefined) return inClass ? `\\P{Any}${set}\\P{Any}` : `(?-i:[${set}])`
    if (piece === ']') inClass = false
    // To the engine, a bracket that closes is text where a class begins.
    else if (/^-?\[(?!:)/.test(piece)) {
      // That would be taken for another class.
      if (inClass && piece.startsWith('-')) throw new SyntaxError('a class less another class')
      inClass = !inClass || !piece.endsWith(']')
    } else if (skipsSpace && !inClass && piece.trim() === '') return ''
    return piece
  })
}

const maxCodePoint = 0x10ffff

/** Where ranges of code points begin and, in turn, are over. */
const spaces = [0x09, 0x0b, 0x0d, 0x0e, 0x20, 0x21]
const nameStarts = [
  ...[0x3a, 0x3b, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b, 0xc0, 0xd7, 0xd8, 0xf7, 0xf8, 0x300],
  ...[0x370, 0x37e, 0x37f, 0x2000, 0x200c, 0x200e, 0x2070, 0x2190, 0x2c00, 0x2ff0, 0x3001],
  ...[0xd800, 0xf900, 0xfdd0, 0xfdf0, 0xfffe, 0x10000, 0xf0000],
]
const names = [
  ...[0x2d, 0x2f, 0x30, 0x3b, 0x41, 0x5b, 0x5f, 0x60, 0x61, 0x7b, 0xb7, 0xb8, 0xc0, 0xd7, 0xd8],
  ...[0xf7, 0xf8, 0x37e, 0x37f, 0x2000, 0x200c, 0x200e, 0x203f, 0x2041, 0x2070, 0x2190, 0x2c00],
  ...[0x2ff0, 0x3001, 0xd800, 0xf900, 0xfdd0, 0xfdf0, 0xfffe, 0x10000, 0xf0000],
]

/** What stands for many characters (XML Schema 2, appendix F.1.1), as it is written inside of a class. */
const sets: ReadonlyMap<string, string> = new Map([
  ['\\d', '\\p{Nd}'],
  ['\\D', '\\P{Nd}'],
  // A class cannot be negated within another: these are the categories that there are.
  ['\\w', '\\p{L}\\p{M}\\p{N}\\p{S}'],
  ['\\W', '\\p{P}\\p{Z}\\p{C}'],
  ['\\s', rangesOf(spaces)],
  ['\\S', rangesOf(allBut(spaces))],
  ['\\i', rangesOf(nameStarts)],
  ['\\I', rangesOf(allBut(nameStarts))],
  ['\\c', rangesOf(names)],
  ['\\C', rangesOf(allBut(names))],
])

function allBut(bounds: readonly number[]): readonly number[] {
  return [0, ...bounds, maxCodePoint + 1]
}

function rangesOf(bounds: readonly number[]): string {
  const written = bounds.map((at, i) =>
    i % 2 === 0 ? `\\x{${at.toString(16)}}-` : `\\x{${(at - 1).toString(16)}}`,
  )
  return written.join('')
}

/** XPath's rules: a group that the pattern does not have is an empty text. @throws ExpressionError */
function withGroups(replacement: string, regex: RE2JS): string {
  return replacement.replace(/[\\$](.?)/gs, (part: string, next: string) => {
    if (part === '\\\\' || part === '\\$') return part
    if (!/^\$\d$/.test(part)) throw new ExpressionError(`'${part}' in the replacement`)
    return Number(next) > regex.groupCount() ? '' : part
  })
}

function textual(term: Term | undefined): Literal {
  const isText =
    term?.termType === 'Literal' && (term.language !== '' || term.datatype.value === xsdString)
  if (!isText) throw new ExpressionError('no text')
  return term
}

function plain(term: Term | undefined): string {
  const { value, language } = textual(term)
  if (language !== '') throw new ExpressionError('a text with a language')
  return value
}
