// Results of SPARQL as a table for people.

import { xsd } from '../../terms.js'
import { printable } from './figures.js'
import { Table } from './table.js'
import { formatTerm } from './term.js'

/** https://www.w3.org/TR/sparql11-results-json/ */
export type SparqlResults = { readonly boolean: boolean } | Solutions

interface Solutions {
  readonly head: { readonly vars: readonly string[] }
  readonly results: { readonly bindings: readonly Readonly<Record<string, ResultTerm>>[] }
}

type ResultTerm =
  | { readonly type: 'uri' | 'bnode'; readonly value: string }
  | {
      readonly type: 'literal'
      readonly value: string
      readonly datatype?: string
      readonly 'xml:lang'?: string
    }
  // Of SPARQL 1.2: TRIPLE() makes one.
  | {
      readonly type: 'triple'
      readonly value: Readonly<Record<'subject' | 'predicate' | 'object', ResultTerm>>
    }

/** Nothing where there are no solutions. */
export function resultsTable({ head, results }: Solutions, maxWidth: number): string {
  const { vars } = head
  const rows = results.bindings.map((row) =>
    vars.map((name) => (Object.hasOwn(row, name) ? cellOf(row[name]) : '')),
  )
  if (rows.length === 0) return ''
  const columns = vars.map((name) => ({ head: `?${name}`, isRight: false }))
  const table = new Table(columns, rows, maxWidth)
  return table.head() + table.rows(rows)
}

/** Turtle writes these without quotes, too. */
const plain = ['integer', 'decimal', 'double', 'boolean'].map((name) => `${xsd}${name}`)

function cellOf(term: ResultTerm | undefined): string {
  switch (term?.type) {
    case undefined:
      return ''
    case 'uri':
      return formatTerm({ v: term.value, e: true })
    case 'bnode':
      return printable(`_:${term.value}`)
    case 'literal':
      return literalCell(term)
    case 'triple': {
      const { subject, predicate, object } = term.value
      return `<<( ${[subject, predicate, object].map(cellOf).join(' ')} )>>`
    }
  }
}

function literalCell(term: Extract<ResultTerm, { type: 'literal' }>): string {
  const { value, datatype, 'xml:lang': language } = term
  if (datatype !== undefined && plain.includes(datatype)) return printable(value)
  const text = formatTerm({ v: value, e: false })
  if (language !== undefined) return printable(`${text}@${language}`)
  return datatype === undefined ? text : `${text}^^${formatTerm({ v: datatype, e: true })}`
}
