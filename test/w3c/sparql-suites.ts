// SPARQL 1.0 and 1.1: what a query answers, in the thread that asks and in one of its own, and which
// texts are queries.

import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { parseRdf } from '../../src/rdf/index.js'
import type { Graph } from '../../src/graph/types.js'
import type { SparqlEngine } from '../../src/sparql/index.js'
import type { CoreMessage } from '../../src/types.js'
import { difference, readAnswer, type Answer } from './answers.js'
import { readTurtle, type Suites, type SuiteTest } from './manifest.js'
import { readNQuads } from './n-quads.js'
import { asNTriples, ofRdf } from './terms.js'
import { readRdfXml } from './xml.js'

/** Less federation, entailment, updates and protocols, which are no part of lorekeep. */
export const sparqlManifests = [
  'sparql/sparql10/manifest.ttl',
  'sparql/sparql11/manifest-sparql11-query.ttl',
  'sparql/sparql11/manifest-sparql11-results.ttl',
]

/** Rejects with what is wrong. */
export async function sparqlTest(
  suites: Suites,
  engine: SparqlEngine,
  test: SuiteTest,
): Promise<void> {
  const { type, action } = test
  const text = (await suites.read(action)).toString()
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const graph = keep.knowledge.graph({ user: 'w3c' })
  if (type.startsWith('NegativeSyntax')) return await refuse(engine, graph, text, action)
  if (type.startsWith('PositiveSyntax')) {
    await inProcess(engine, graph, text, action)
    return
  }
  const named = [...test.graphData, ...datasetOf(text, action)]
  for (const file of test.data) await load(suites, keep, file)
  for (const file of new Set(named)) await load(suites, keep, file, file)
  const result = test.result as string
  const expected = await readAnswer(result, (await suites.read(result)).toString(), readTurtle)
  const isOrdered = /\border\s+by\b/i.test(text.replace(/#.*/g, ''))
  const accept = accepts[result.slice(result.lastIndexOf('.') + 1)] ?? ''
  const ways = {
    'in a thread': () => inThread(engine, graph, text, action, accept),
    // Terms, which are not what CSV has.
    'in process': () => inProcess(engine, graph, text, action),
  }
  for (const [way, ask] of Object.entries(ways)) {
    if (way === 'in process' && accept === 'text/csv') continue
    const found = difference({ expected, answer: await ask(), isOrdered, isLax: test.isLax })
    if (found !== '') throw new Error(`${way}: ${found}`)
  }
}

const accepts: Readonly<Record<string, string>> = {
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
}

async function refuse(engine: SparqlEngine, graph: Graph, text: string, baseIRI: string) {
  const error = await inProcess(engine, graph, text, baseIRI).then(
    () => new Error('it was taken'),
    (reason: unknown) => reason,
  )
  const { code, message } = error as { code?: string; message: string }
  if (code !== 'LK_GRAPH_QUERY') throw error
  if (!message.includes('cannot be read')) throw error
}

/** The graphs that FROM and FROM NAMED speak of. */
function datasetOf(text: string, base: string): readonly string[] {
  const found = text.matchAll(/^\s*from\s+(?:named\s+)?<([^>]*)>/gim)
  return [...found].map(([, file = '']) => new URL(file, base).href)
}

async function load(suites: Suites, keep: Lorekeep, file: string, g?: string): Promise<void> {
  const bytes = await suites.read(file)
  const text = file.endsWith('.rdf') ? asNTriples(readRdfXml(bytes.toString(), file)) : bytes
  const messages = parseRdf(Buffer.from(text), { format: 'turtle', base: file })
  await keep.knowledge.write({ user: 'w3c', id: `${g ? 'named' : 'default'} ${file}` }, inGraph())

  async function* inGraph(): AsyncGenerator<CoreMessage> {
    for await (const message of messages) {
      const [type, data] = message
      if (g === undefined || type !== 't') yield message
      else yield [type, { ...data, t: data.t.map((triple) => ({ ...triple, g })) }]
    }
  }
}

async function inProcess(
  engine: SparqlEngine,
  graph: Graph,
  text: string,
  baseIRI: string,
): Promise<Answer> {
  const result = await engine.query(graph, text, { baseIRI })
  switch (result.type) {
    case 'boolean':
      return result
    case 'quads': {
      const quads = []
      for await (const { subject, predicate, object } of result.quads) {
        quads.push([...[subject, predicate, object].map(ofRdf), ''])
      }
      return { type: 'graph', quads }
    }
    case 'bindings': {
      const rows = []
      for await (const row of result.bindings) {
        rows.push(new Map(Object.entries(row).map(([name, term]) => [name, ofRdf(term)])))
      }
      return { type: 'rows', variables: result.variables, rows }
    }
  }
}

async function inThread(
  engine: SparqlEngine,
  graph: Graph,
  text: string,
  baseIRI: string,
  accept: string,
): Promise<Answer> {
  const answer = await engine.execute(graph, text, { baseIRI, accept })
  if (answer.type !== 'answer') throw new Error(`there are ${answer.offered.join()}`)
  const chunks: Uint8Array[] = []
  for await (const chunk of answer.body) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString()
  const { contentType } = answer
  if (contentType === 'application/n-triples') return { type: 'graph', quads: readNQuads(body) }
  const extension = contentType.startsWith('text/csv')
    ? 'csv'
    : contentType.startsWith('text/tab')
      ? 'tsv'
      : 'srj'
  return readAnswer(`answer.${extension}`, body, readTurtle)
}
