// What a query is answered with, read line by line: a table of terms, statements, or yes and no.

import type { RemoteGraph } from '../../../client/index.js'
import { endOfQuoted, parseJson } from '../../../json-text.js'
import type { Term, Triple } from '../../../types.js'

export type Answer =
  | Table
  | { readonly type: 'graph'; readonly triples: readonly Triple[]; readonly isCut: boolean }
  | { readonly type: 'boolean'; readonly value: boolean }

interface Table {
  readonly type: 'table'
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (Term | undefined)[])[]
  /** Whether there are more. */
  readonly isCut: boolean
}

/** So many rows or statements are read to be shown. */
export const mostRows = 5000

const accept =
  'text/tab-separated-values, application/n-triples, application/sparql-results+json;q=0.5'

export async function ask(graph: RemoteGraph, query: string, signal: AbortSignal): Promise<Answer> {
  const { contentType, body } = await graph.sparql(query, { accept, signal })
  if (contentType.startsWith('application/sparql-results+json')) {
    const { boolean } = parseJson(await textOf(body)) as { readonly boolean: boolean }
    return { type: 'boolean', value: boolean }
  }
  const isTable = contentType.startsWith('text/tab-separated-values')
  const lines: string[] = []
  let isCut = false
  for await (const line of linesOf(body)) {
    // A table has a head besides.
    if (lines.length >= mostRows + Number(isTable)) {
      isCut = true
      break
    }
    lines.push(line)
  }
  if (!isTable) {
    const triples = lines.slice(0, mostRows).flatMap((line) => {
      const [s, p, o] = termsIn(line)
      return s === undefined || p === undefined || o === undefined ? [] : [{ s, p, o }]
    })
    return { type: 'graph', triples, isCut }
  }
  const [head = '', ...rows] = lines
  return {
    type: 'table',
    columns: head === '' ? [] : head.split('\t').map((name) => name.slice(1)),
    rows: rows.map((row) => row.split('\t').map((cell) => termsIn(cell)[0])),
    isCut,
  }
}

/** The statements that a table has, where it is one of things, relations and what these lead to. */
export function triplesIn(answer: Answer): readonly Triple[] {
  if (answer.type === 'graph') return answer.triples
  if (answer.type === 'boolean' || answer.columns.length !== 3) return []
  const { columns, rows } = answer
  // As they are called, or as they come.
  const order = ['s', 'p', 'o'].map((name, at) =>
    columns.includes('s') ? columns.indexOf(name) : at,
  )
  return rows.flatMap((row) => {
    const [s, p, o] = order.map((at) => row[at])
    return s?.e === true && p?.e === true && o !== undefined ? [{ s, p, o }] : []
  })
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const lines: string[] = []
  for await (const line of linesOf(body)) lines.push(line)
  return lines.join('\n')
}

const beginning = /"|<([^>]*)>|(_:[^\s.]+(?:\.[^\s.]+)*)/gu
const ending = /@([\w-]+)|\^\^<([^>]*)>/uy

/** As N-Triples and tables separated by tabs have them: https://www.w3.org/TR/sparql11-results-csv-tsv/ */
function termsIn(line: string): readonly Term[] {
  const terms: Term[] = []
  beginning.lastIndex = 0
  for (let found = beginning.exec(line); found !== null; found = beginning.exec(line)) {
    const [, iri, blank] = found
    if (iri !== undefined) terms.push({ v: plain(iri), e: true })
    else if (blank !== undefined) terms.push({ v: blank, e: true })
    else {
      const end = endOfQuoted(line, found.index)
      ending.lastIndex = end
      const [behind = '', ln, dt] = ending.exec(line) ?? []
      const text = { v: plain(line.slice(found.index + 1, end - 1)), e: false }
      if (ln !== undefined) terms.push({ ...text, ln })
      else terms.push(dt === undefined ? text : { ...text, dt: plain(dt) })
      beginning.lastIndex = end + behind.length
    }
  }
  return terms
}

const escapes: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f' }

function plain(text: string): string {
  if (!text.includes('\\')) return text
  return text.replace(/\\(?:u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8})|(.))/gsu, (_, short, long, letter) =>
    letter === undefined
      ? String.fromCodePoint(parseInt(short ?? long, 16))
      : (escapes[letter] ?? letter),
  )
}
