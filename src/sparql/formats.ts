// Answers as bytes: SPARQL 1.1 Query Results JSON, CSV and TSV, and N-Triples.

import type { Quad, Term } from '@rdfjs/types'
import type { LorekeepError } from '../errors.js'
import { isBlankNode, isLanguageTag } from '../rdf/terms.js'
import { xsdString } from '../terms.js'
import { queryError } from './query-error.js'
import type { SparqlBindings, SparqlResult } from './types.js'

interface Format {
  readonly mediaType: string
  readonly contentType: string
  readonly write: (result: SparqlResult) => AsyncIterable<string>
}

const json = { mediaType: 'application/sparql-results+json', write: writeJson }
const plainJson = { mediaType: 'application/json', write: writeJson }

/** The formats of an answer, best first. Turtle is N-Triples: every such line is Turtle, too. */
export function formatsOf(type: SparqlResult['type']): readonly Format[] {
  return formats[type].map((format) => ({
    ...format,
    contentType: format.mediaType.startsWith('text/')
      ? `${format.mediaType}; charset=utf-8`
      : format.mediaType,
  }))
}

const formats: Readonly<Record<SparqlResult['type'], readonly Omit<Format, 'contentType'>[]>> = {
  bindings: [
    json,
    plainJson,
    { mediaType: 'text/csv', write: (result) => writeTable(result, csv) },
    { mediaType: 'text/tab-separated-values', write: (result) => writeTable(result, tsv) },
  ],
  boolean: [json, plainJson],
  quads: [
    { mediaType: 'application/n-triples', write: writeTriples },
    { mediaType: 'text/turtle', write: writeTriples },
  ],
}

const chunkLength = 16_384

/** The text in chunks of about 16 KiB, in UTF-8. */
export async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array, void> {
  let chunk = ''
  for await (const text of texts) {
    chunk += text
    if (chunk.length < chunkLength) continue
    yield Buffer.from(chunk)
    chunk = ''
  }
  if (chunk !== '') yield Buffer.from(chunk)
}

// https://www.w3.org/TR/sparql11-results-json/

async function* writeJson(result: SparqlResult): AsyncGenerator<string, void> {
  if (result.type === 'boolean') yield JSON.stringify({ head: {}, boolean: result.value })
  if (result.type !== 'bindings') return
  yield `{"head":${JSON.stringify({ vars: result.variables })},"results":{"bindings":[`
  let separator = '\n'
  for await (const row of result.bindings) {
    const terms = Object.entries(row).map(
      ([name, term]) => `"${name}":${JSON.stringify(inJson(term))}`,
    )
    yield `${separator}{${terms.join()}}`
    separator = ',\n'
  }
  yield '\n]}}\n'
}

function inJson(term: Term): object {
  switch (term.termType) {
    case 'BlankNode':
      return { type: 'bnode', value: term.value }
    case 'Literal': {
      const { value, language, direction, datatype } = term
      if (language !== '') {
        const base = direction ? { 'its:dir': direction } : {}
        return { type: 'literal', value, 'xml:lang': language, ...base }
      }
      if (datatype.value === xsdString) return { type: 'literal', value }
      return { type: 'literal', value, datatype: datatype.value }
    }
    case 'Quad': {
      // SPARQL 1.2, which the engine knows: TRIPLE() makes one.
      const [subject, predicate, object] = [term.subject, term.predicate, term.object].map(inJson)
      return { type: 'triple', value: { subject, predicate, object } }
    }
    default:
      return { type: 'uri', value: term.value }
  }
}

// https://www.w3.org/TR/sparql11-results-csv-tsv/

interface Table {
  readonly separator: string
  readonly lineEnd: string
  readonly heading: (variable: string) => string
  readonly cell: (term: Term) => string
}

const csv: Table = {
  separator: ',',
  lineEnd: '\r\n',
  heading: (variable) => variable,
  cell: (term) => {
    const isPlain = term.termType === 'NamedNode' || term.termType === 'Literal'
    const text = isPlain ? term.value : inTriples(term)
    return /["\r\n,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  },
}

const tsv: Table = {
  separator: '\t',
  lineEnd: '\n',
  heading: (variable) => `?${variable}`,
  cell: inTriples,
}

async function* writeTable(
  result: SparqlResult,
  { separator, lineEnd, heading, cell }: Table,
): AsyncGenerator<string, void> {
  if (result.type !== 'bindings') return
  const { variables, bindings } = result
  yield variables.map(heading).join(separator) + lineEnd
  for await (const row of bindings) yield variables.map(cellOf(row)).join(separator) + lineEnd

  function cellOf(row: SparqlBindings) {
    return (variable: string) => (row[variable] === undefined ? '' : cell(row[variable]))
  }
}

// https://www.w3.org/TR/n-triples/

async function* writeTriples(result: SparqlResult): AsyncGenerator<string, void> {
  if (result.type !== 'quads') return
  for await (const quad of result.quads) yield `${statement(quad)} .\n`
}

function statement({ subject, predicate, object }: Quad): string {
  return `${inTriples(subject)} ${inTriples(predicate)} ${inTriples(object)}`
}

/** What no such line can carry is refused: it would end before its end, and say something else. */
function inTriples(term: Term): string {
  switch (term.termType) {
    case 'BlankNode': {
      const node = `_:${term.value}`
      if (!isBlankNode(node)) throw unwritable('the label of a blank node', term.value)
      return node
    }
    case 'Literal': {
      const text = `"${term.value.replace(/["\\\n\r\t]/g, escaped)}"`
      if (term.language !== '') {
        if (!isLanguageTag(term.language)) throw unwritable('a language tag', term.language)
        // As RDF 1.2 writes it.
        return `${text}@${term.language}${term.direction ? `--${term.direction}` : ''}`
      }
      return term.datatype.value === xsdString ? text : `${text}^^${inTriples(term.datatype)}`
    }
    case 'Quad':
      return `<<( ${statement(term as Quad)} )>>`
    default:
      return `<${term.value.replace(/[\x00-\x20<>"{}|^`\\]/g, codePoint)}>`
  }
}

function unwritable(what: string, text: string): LorekeepError {
  return queryError(`${JSON.stringify(text)} is not ${what}`)
}

const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const escaped = (character: string): string => escapes[character] ?? `\\${character}`

const codePoint = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`
