// REGEX and REPLACE of SPARQL 1.1 (sections 17.4.3.14 and 15) by an engine whose time grows with the
// text alone.

import type { Literal, Term } from '@rdfjs/types'
import { RE2JS } from 're2js'
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

/**
 * The functions, for one query: it mostly has one pattern, compiled once. `fail` ends the query: for
 * what is no error of an expression, such as a text that grows too long.
 */
export function regexFunctions(
  fail: (error: unknown) => void,
): Readonly<Record<string, EngineFunction>> {
  let last: { pattern: string; flags: string; regex: RE2JS } | undefined
  const compiled = (pattern: string, flags: string): RE2JS => {
    if (last?.pattern !== pattern || last.flags !== flags) {
      last = { pattern, flags, regex: compile(pattern, flags) }
    }
    return last.regex
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
      const regex = compiled(plain(pattern), flags ? plain(flags) : '')
      return rdfFactory.literal(String(regex.test(textual(text).value)), booleanType)
    }),
    [replaceName]: functionOf((text, pattern, replacement, flags) => {
      const options = flags ? plain(flags) : ''
      const regex = compiled(plain(pattern), options)
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
  let bits = 0
  for (const flag of flags) {
    const bit = flagBits[flag]
    if (bit === undefined) throw new ExpressionError(`the flag '${flag}'`)
    bits |= bit
  }
  if (flags.includes('q')) return RE2JS.compile(RE2JS.quote(pattern), bits & RE2JS.CASE_INSENSITIVE)
  try {
    for (const [, difference] of pattern.matchAll(/\\.|(\[(?:\\.|[^\]\\[])*-\[)/gs)) {
      // That would be taken for another class.
      if (difference !== undefined) throw new SyntaxError('a class less another class')
    }
    return RE2JS.compile(flags.includes('x') ? withoutSpace(pattern) : pattern, bits)
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
 * Why a pattern that the rules may allow cannot be run: it has a back-reference or the like. One that
 * no engine would take is an error of its expression.
 */
export function whyUnsupported(pattern: string, flags: string): string | undefined {
  try {
    compile(pattern, flags)
    return undefined
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    const isWrong = error.cause === undefined || wrongAnywhere.test(error.message)
    return isWrong ? undefined : error.message
  }
}

/** Less the white space outside of classes. */
function withoutSpace(pattern: string): string {
  return pattern.replace(/(\[(?:\\.|[^\]\\])*\]|\\.)|[\t\n\r ]+/gs, '$1')
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
