// REGEX and REPLACE of SPARQL 1.1 (sections 17.4.3.14 and 15) by an engine whose time grows with the
// text alone.

import type { Literal, Term } from '@rdfjs/types'
import { RE2JS } from 're2js'
import { rdfFactory, xsdString } from '../rdf/factory.js'
import type { EngineFunction } from './peer.js'

const regexName = 'urn:lorekeep:function:regex'
const replaceName = 'urn:lorekeep:function:replace'

/** What an operator of the algebra becomes a call of. */
export const functionNames: ReadonlyMap<unknown, string> = new Map([
  ['regex', regexName],
  ['replace', replaceName],
])

/** The functions, for one query: it mostly has one pattern, compiled once. */
export function regexFunctions(): Readonly<Record<string, EngineFunction>> {
  let last: { pattern: string; flags: string; regex: RE2JS } | undefined
  const compiled = (pattern: string, flags: string): RE2JS => {
    if (last?.pattern !== pattern || last.flags !== flags) {
      last = { pattern, flags, regex: compile(pattern, flags) }
    }
    return last.regex
  }
  return {
    [regexName]: async ([text, pattern, flags]) => {
      const regex = compiled(plain(pattern), flags ? plain(flags) : '')
      return rdfFactory.literal(String(regex.test(textual(text).value)), booleanType)
    },
    [replaceName]: async ([text, pattern, replacement, flags]) => {
      const options = flags ? plain(flags) : ''
      const regex = compiled(plain(pattern), options)
      const by = plain(replacement)
      const { value, language, datatype } = textual(text)
      const replaced = regex
        .matcher(value)
        .replaceAll(options.includes('q') ? RE2JS.quoteReplacement(by, true) : by, true)
      return rdfFactory.literal(replaced, language || datatype)
    },
  }
}

const booleanType = rdfFactory.namedNode('http://www.w3.org/2001/XMLSchema#boolean')

const flagBits: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  m: RE2JS.MULTILINE,
  s: RE2JS.DOTALL,
  x: 0,
  q: 0,
}

/** The flags are those of XPath, to which SPARQL refers. @throws SyntaxError */
export function compile(pattern: string, flags: string): RE2JS {
  let bits = 0
  for (const flag of flags) {
    const bit = flagBits[flag]
    if (bit === undefined) throw new SyntaxError(`the flag '${flag}': there are i, m, q, s and x`)
    bits |= bit
  }
  if (flags.includes('q')) return RE2JS.compile(RE2JS.quote(pattern), bits & RE2JS.CASE_INSENSITIVE)
  try {
    return RE2JS.compile(flags.includes('x') ? withoutSpace(pattern) : pattern, bits)
  } catch (error) {
    throw new SyntaxError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

/** Less the white space outside of classes. */
function withoutSpace(pattern: string): string {
  return pattern.replace(/(\[(?:\\.|[^\]\\])*\]|\\.)|[\t\n\r ]+/gs, '$1')
}

function textual(term: Term | undefined): Literal {
  const isText =
    term?.termType === 'Literal' && (term.language !== '' || term.datatype.value === xsdString)
  if (!isText) throw new TypeError('no text')
  return term
}

function plain(term: Term | undefined): string {
  const { value, language } = textual(term)
  if (language !== '') throw new TypeError('a text with a language')
  return value
}
