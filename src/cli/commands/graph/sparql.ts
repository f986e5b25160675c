// `lorekeep sparql`: a query and its answer, as a table or in the formats of SPARQL.

import { StringDecoder } from 'node:string_decoder'
import { parseJson } from '../../../json-text.js'
import { withGraph } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatCounted, printable } from '../../output/figures.js'
import type { SparqlAnswer } from '../../access/graph-access.js'
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
      const answer = await access.sparql(graphOf(options), text, { accept, signal })
      const isJson = answer.contentType.startsWith(json)
      if (isJson && !options.json) await printResults(await readResults(answer))
      else await printText(answer, isJson)
    }),
  )
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

/** As it comes, however long it is; on a terminal without what would move its cursor. */
async function printText({ body }: SparqlAnswer, isJson: boolean): Promise<void> {
  const decoder = new StringDecoder('utf8')
  let last: number | undefined
  for await (const chunk of body) {
    last = chunk.at(-1) ?? last
    if (!process.stdout.isTTY) {
      await writeOut(chunk)
      continue
    }
    const lines = decoder.write(Buffer.from(chunk)).split('\n')
    await writeOut(lines.map(printable).join('\n'))
  }
  // JSON may end without a line feed, and that of an ASK does.
  if (isJson && last !== newline) await writeOut('\n')
}

async function readResults({ body }: SparqlAnswer): Promise<SparqlResults> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return parseJson(Buffer.concat(chunks).toString()) as SparqlResults
}

async function printResults(results: SparqlResults): Promise<void> {
  if ('boolean' in results) return writeOut(`${results.boolean}\n`)
  await writeOut(resultsTable(results, process.stdout.columns || 80))
  note(formatCounted(results.results.bindings.length, 'solution'))
}
