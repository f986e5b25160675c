// Answers of queries as the suites write them, and whether two are the same.

import { asSet, isIsomorphic, type Tuple } from './isomorphism.js'
import { blank, byValue, iri, literal, valueOf } from './terms.js'
import { readRdfXml, readXml, type Element } from './xml.js'

/** By the names of its variables; an unbound one is left out. */
export type Row = ReadonlyMap<string, string>

export type Answer =
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'graph'; readonly quads: readonly Tuple[] }
  | {
      readonly type: 'rows'
      readonly variables: readonly string[]
      readonly rows: readonly Row[]
      /** Whether it says in which order the rows are. */
      readonly isOrdered?: boolean
    }

export type ReadTurtle = (text: string, base: string) => Promise<readonly Tuple[]>

/** By the extension of the file. */
export async function readAnswer(
  file: string,
  text: string,
  readTurtle: ReadTurtle,
): Promise<Answer> {
  const extension = file.slice(file.lastIndexOf('.') + 1)
  switch (extension) {
    case 'srx':
      return inXml(readXml(text))
    case 'srj':
      return inJson(text)
    case 'csv':
      return inTable(csvCells(text), (cell) => (cell.startsWith('_:') ? cell : literal(cell)))
    case 'tsv':
      return inTable(tsvCells(text), tsvTerm)
    case 'rdf':
      return inGraph(readRdfXml(text, file))
    default:
      return inGraph(await readTurtle(text, file))
  }
}

// https://www.w3.org/TR/rdf-sparql-XMLres/

function inXml(root: Element): Answer {
  const inside = (element: Element | undefined, name: string) =>
    (element?.children ?? []).filter((child) => child.name === results + name)
  const [value] = inside(root, 'boolean')
  if (value !== undefined) return { type: 'boolean', value: value.text.trim() === 'true' }
  const [head] = inside(root, 'head')
  const [list] = inside(root, 'results')
  const name = (element: Element) => element.attributes.get('name') as string
  const rows = inside(list, 'result').map(
    (row) => new Map(inside(row, 'binding').map((each) => [name(each), termInXml(each)])),
  )
  return { type: 'rows', variables: inside(head, 'variable').map(name), rows }
}

const results = 'http://www.w3.org/2005/sparql-results#'

function termInXml({ children: [element] }: Element): string {
  const { name, text, attributes } = element as Element
  if (name === `${results}uri`) return iri(text)
  if (name === `${results}bnode`) return blank(text)
  const language = attributes.get('http://www.w3.org/XML/1998/namespacelang')
  return literal(text, language, attributes.get('datatype'))
}

// https://www.w3.org/TR/sparql11-results-json/

interface Json {
  readonly boolean?: boolean
  readonly head: { readonly vars?: readonly string[] }
  readonly results?: { readonly bindings: readonly Readonly<Record<string, JsonTerm>>[] }
}

interface JsonTerm {
  readonly type: string
  readonly value: string
  readonly 'xml:lang'?: string
  readonly datatype?: string
}

function inJson(text: string): Answer {
  const { boolean, head, results } = JSON.parse(text) as Json
  if (boolean !== undefined) return { type: 'boolean', value: boolean }
  const rows = (results?.bindings ?? []).map(
    (row) => new Map(Object.entries(row).map(([name, term]) => [name, termInJson(term)])),
  )
  return { type: 'rows', variables: head.vars ?? [], rows }
}

function termInJson({ type, value, datatype, 'xml:lang': language }: JsonTerm): string {
  if (type === 'uri') return iri(value)
  return type === 'bnode' ? blank(value) : literal(value, language, datatype)
}

// https://www.w3.org/TR/sparql11-results-csv-tsv/

function inTable([head = [], ...lines]: string[][], term: (cell: string) => string): Answer {
  const variables = head.map((name) => name.replace(/^\?/, ''))
  const rows = lines.map((cells) => {
    const bound = cells.map((cell, at): [string, string] => [variables[at] as string, cell])
    return new Map(
      bound.filter(([, cell]) => cell !== '').map(([name, cell]) => [name, term(cell)]),
    )
  })
  return { type: 'rows', variables, rows }
}

function csvCells(text: string): string[][] {
  const lines: string[][] = []
  for (const [, quoted, plain, end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g,
  )) {
    const isStart = lines.length === 0 || lines.at(-1)?.at(-1) === '\n'
    if (isStart) {
      lines.at(-1)?.pop()
      lines.push([])
    }
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end !== ',') lines.at(-1)?.push('\n')
  }
  lines.at(-1)?.pop()
  // A text that ends with a line end has an empty line behind it.
  if (lines.at(-1)?.join('') === '') lines.pop()
  return lines
}

function tsvCells(text: string): string[][] {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines.map((line) => line.split('\t'))
}

const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** Numbers and booleans may be written as Turtle has them. */
function tsvTerm(cell: string): string {
  if (/^[<_]/.test(cell)) return cell
  const text = /^(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')(?:@([\w-]+)|\^\^<([^>]*)>)?$/s.exec(
    cell,
  )
  if (text !== null) {
    const [, double, single, language, datatype] = text
    const value = (double ?? single ?? '').replace(/\\(.)/gs, (_, character: string) => {
      return ({ t: '\t', n: '\n', r: '\r' } as Record<string, string>)[character] ?? character
    })
    return literal(value, language, datatype)
  }
  if (/^[+-]?\d+$/.test(cell)) return literal(cell, '', `${xsd}integer`)
  if (/^[+-]?\d*\.\d+$/.test(cell)) return literal(cell, '', `${xsd}decimal`)
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+$/.test(cell)) return literal(cell, '', `${xsd}double`)
  if (/^(?:true|false)$/.test(cell)) return literal(cell, '', `${xsd}boolean`)
  throw new Error(`no term: ${cell}`)
}

// Results as graphs: https://www.w3.org/2001/sw/DataAccess/tests/result-set

const rs = 'http://www.w3.org/2001/sw/DataAccess/tests/result-set#'

function inGraph(quads: readonly Tuple[]): Answer {
  const objects = (subject: string, name: string) =>
    quads.filter(([s, p]) => s === subject && p === iri(rs + name)).map(([, , o]) => o as string)
  const set = quads.find(([, , o]) => o === iri(`${rs}ResultSet`))?.[0]
  if (set === undefined) return { type: 'graph', quads: asSet(quads) }
  const [value] = objects(set, 'boolean')
  if (value !== undefined) return { type: 'boolean', value: valueOf(value) === 'true' }
  const found = objects(set, 'solution').map((solution) => ({
    index: objects(solution, 'index')[0],
    row: new Map(
      objects(solution, 'binding').map((binding) => [
        valueOf(objects(binding, 'variable')[0] as string),
        objects(binding, 'value')[0] as string,
      ]),
    ),
  }))
  const place = ({ index }: { index: string | undefined }) => Number(valueOf(index ?? ''))
  const isOrdered = found.some(({ index }) => index !== undefined)
  if (isOrdered) found.sort((a, b) => place(a) - place(b))
  const variables = objects(set, 'resultVariable').map(valueOf)
  return { type: 'rows', variables, rows: found.map(({ row }) => row), isOrdered }
}

interface Comparison {
  readonly expected: Answer
  readonly answer: Answer
  /** The query says in which order rows come. */
  readonly isOrdered: boolean
  /** Rows may come less often than expected (REDUCED), but for once. */
  readonly isLax: boolean
}

/** What is different, '' for nothing. Numbers are the same where their types and values are. */
export function difference(comparison: Comparison): string {
  const { expected, answer } = comparison
  const found = differenceOfTerms(comparison)
  if (found === '') return ''
  const values = { ...comparison, expected: withValues(expected), answer: withValues(answer) }
  return differenceOfTerms(values) === '' ? '' : found
}

function withValues(answer: Answer): Answer {
  switch (answer.type) {
    case 'boolean':
      return answer
    case 'graph':
      return { ...answer, quads: answer.quads.map((quad) => quad.map(byValue)) }
    case 'rows':
      return {
        ...answer,
        rows: answer.rows.map(
          (row) => new Map([...row].map(([name, term]) => [name, byValue(term)])),
        ),
      }
  }
}

function differenceOfTerms({ expected, answer, isOrdered, isLax }: Comparison): string {
  if (expected.type === 'boolean' && answer.type === 'boolean') {
    return expected.value === answer.value ? '' : `it is ${answer.value}`
  }
  if (expected.type === 'graph' && answer.type === 'graph') {
    return isIsomorphic(expected.quads, asSet(answer.quads))
      ? ''
      : apart(expected.quads, answer.quads)
  }
  if (expected.type !== 'rows' || answer.type !== 'rows')
    return `${answer.type}, not ${expected.type}`
  const names = [...new Set(expected.variables)].sort()
  const asked = [...new Set(answer.variables)].sort()
  if (names.join() !== asked.join()) return `variables ${asked.join()}, not ${names.join()}`
  const tuples = ({ rows }: { rows: readonly Row[] }) => {
    const all = rows.map((row) => names.map((name) => row.get(name) ?? ''))
    return isOrdered || expected.isOrdered ? all.map((row, at) => [String(at), ...row]) : all
  }
  const [wanted, given] = [tuples(expected), tuples(answer)]
  if (isLax) {
    const isWithin = given.length <= wanted.length && isIsomorphic(asSet(wanted), asSet(given))
    return isWithin ? '' : apart(wanted, given)
  }
  return isIsomorphic(wanted, given) ? '' : apart(wanted, given)
}

/** In words: those that are in one alone, blank nodes all as one. */
function apart(wanted: readonly Tuple[], given: readonly Tuple[]): string {
  const shown = (tuples: readonly Tuple[]) =>
    tuples.map((tuple) => tuple.map((term) => term.replace(/^_:.*/, '_:')).join(' ')).sort()
  const less = (from: readonly string[], others: readonly string[]) => {
    const left = [...others]
    return from.filter((text) => {
      const at = left.indexOf(text)
      if (at >= 0) left.splice(at, 1)
      return at < 0
    })
  }
  const [a, b] = [shown(wanted), shown(given)]
  const [missing, extra] = [less(a, b), less(b, a)]
  return `${given.length} of ${wanted.length}; missing ${JSON.stringify(missing.slice(0, 3))}, instead ${JSON.stringify(extra.slice(0, 3))}`
}
