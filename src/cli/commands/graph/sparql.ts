// `lorekeep sparql`: a query and its answer, as a table or in the formats of SPARQL.

import { StringDecoder } from 'node:string_decoder'
import type { SparqlAnswer } from '../../../client/index.js'
import type { GraphQuery, TriplePattern } from '../../../graph/types.js'
import { parseJson } from '../../../json-text.js'
import { withGraph } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatCounted, printable } from '../../output/figures.js'
import type { GraphAccess } from '../../access/graph-access.js'
import { readTextInput } from '../../input/input.js'
import { graphOf } from './match.js'
import type { GraphFlags } from './match.js'
import { writeOut } from '../../output/output.js'
import { resultsTable } from '../../output/sparql-table.js'
import type { SparqlResults } from '../../output/sparql-table.js'

interface SparqlCommandOptions extends GraphFlags {
  readonly file?: string
}

const json = 'application/sparql-results+json'
const tsv = 'text/tab-separated-values'
const triples = 'application/n-triples'
const newline = 0x0a

export async function askSparql(
  query: string | undefined,
  options: SparqlCommandOptions,
): Promise<void> {
  const text = await textOf(query, options)
  // The answer to an ASK is JSON alone.
  const asTable = options.json || process.stdout.isTTY
  const accept = asTable ? `${json}, ${triples}` : `${tsv}, ${triples}, ${json};q=0.5`
  await withGraph(options, (access) =>
    interruptible(async (signal) => {
      const graph = graphOf(options)
      const answer = await access.sparql(graph, text, { accept, signal })
      const isTable = answer.contentType.startsWith(json) && !options.json
      const isEmpty = isTable
        ? await printResults(await readResults(answer))
        : await printText(answer)
      const isOfDefault = !/\b(?:GRAPH|FROM)\b/i.test(text)
      if (isEmpty && isOfDefault && (await hasOnlyNamed(access, graph, signal))) {
        note(
          'the default graph is empty: all triples are in named graphs, which GRAPH ?g { … } asks',
        )
      }
    }),
  )
}

async function hasOnlyNamed(
  access: GraphAccess,
  graph: GraphQuery,
  signal: AbortSignal,
): Promise<boolean> {
  const has = async (pattern: TriplePattern) => {
    for await (const _triple of access.match(graph, pattern, { limit: 1, signal })) return true
    return false
  }
  return !(await has({ g: null })) && (await has({}))
}

async function textOf(query: string | undefined, { file }: SparqlCommandOptions): Promise<string> {
  if (query !== undefined && file === undefined) return query
  if (query === undefined && file !== undefined) return readTextInput(file, 'a query')
  throw new UsageError(
    query === undefined
      ? 'a query is missing: give it, or a file with --file'
      : 'there are two queries: give one, or a file with --file, and not both',
  )
}

/**
 * As it comes, however long it is; on a terminal without what would move its cursor. Returns whether
 * it has found nothing.
 */
async function printText({ contentType, body }: SparqlAnswer): Promise<boolean> {
  const isJson = contentType.startsWith(json)
  const decoder = new StringDecoder('utf8')
  let last: number | undefined
  // Two are enough: that of the names, and one of a row.
  let ends = 0
  for await (const chunk of body) {
    last = chunk.at(-1) ?? last
    for (let at = -1; ends < 2 && (at = chunk.indexOf(newline, at + 1)) >= 0;) ends++
    if (!process.stdout.isTTY) {
      await writeOut(chunk)
      continue
    }
    const lines = decoder.write(Buffer.from(chunk)).split('\n')
    await writeOut(lines.map(printable).join('\n'))
  }
  // JSON may end without a line feed, and that of an ASK does.
  if (isJson && last !== newline) await writeOut('\n')
  return !isJson && ends <= (contentType.startsWith(tsv) ? 1 : 0)
}

async function readResults({ body }: SparqlAnswer): Promise<SparqlResults> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return parseJson(Buffer.concat(chunks).toString()) as SparqlResults
}

/** Returns whether it has found nothing. */
async function printResults(results: SparqlResults): Promise<boolean> {
  if ('boolean' in results) {
    await writeOut(`${results.boolean}\n`)
    return !results.boolean
  }
  const { length } = results.results.bindings
  await writeOut(resultsTable(results, process.stdout.columns || 80))
  note(formatCounted(length, 'solution'))
  return length === 0
}
