// The triples of a core to RDF text.

import type * as RDF from '@rdfjs/types'
import type { CoreMessage, Triple } from '../types.js'
import { rdfFactory } from './factory.js'
import { checkArgument, checkOptions } from '../door/options.js'
import { anIterable, aRule } from '../door/rules.js'
import { isRecord } from '../door/wording.js'
import { weightOf } from '../message-weight.js'
import { Turns } from '../turns.js'
import { annotationProblem } from '../terms.js'
import { aFormat, formatNamed, syntaxes } from './format.js'
import { loadN3 } from './n3.js'
import { reify, type Extras } from './extras.js'
import { Restorer } from './restorer.js'
import type { Statement } from './restorer.js'
import { namedNodeOf, nodeOf, quadOf } from './terms.js'
import { RdfWriter } from './writer.js'

export interface RdfWriteOptions {
  /** As for parseRdf(). */
  readonly format: string
}

/** Iterate it once. */
export interface RdfText extends AsyncIterable<Uint8Array> {
  /** As far as was written. */
  readonly counts: RdfWriteCounts
}

export interface RdfWriteCounts {
  readonly statements: number
  /** Terms that RDF has no place for, and which were written as `urn:lorekeep:…`. */
  readonly encoded: number
  /** Entity embeddings, for which RDF has no place either. They were left out. */
  readonly embeddings: number
}

const statementsPerBatch = 500
const bytesPerChunk = 64 * 1024

const writeOptions = { format: aFormat }

/**
 * RDF text in UTF-8, of the messages of a core or of triples. Where the reified statement that
 * parseRdf() made is directly behind its triple, both are written as the statement that it was made
 * of. Where the format has no graphs, one in a named graph is reified, or stays so.
 * While iterating: @throws LorekeepError `LK_PEER_MISSING`
 */
export function writeRdf(
  source: Iterable<CoreMessage | Triple> | AsyncIterable<CoreMessage | Triple>,
  options: RdfWriteOptions,
): RdfText {
  checkArgument('the source of writeRdf()', source, anIterable)
  checkOptions('writeRdf()', options, writeOptions, 'format')
  const format = formatNamed(options.format)
  const counts = { statements: 0, encoded: 0, embeddings: 0 }
  return { counts, [Symbol.asyncIterator]: write }

  async function* write(): AsyncGenerator<Uint8Array, void, undefined> {
    const writer = new RdfWriter(await loadN3(), format)
    const restorer = new Restorer(syntaxes[format].hasGraphs)
    let batch: RDF.Quad[] = []
    let weight = 0
    const turns = new Turns(undefined)
    for await (const item of source) {
      // Many messages may hold no triple, and none becomes much of a text.
      if (turns.isLong) await turns.pass()
      for (const triple of triplesOf(item)) {
        for (const statement of restorer.push(triple)) {
          batch.push(...quadsOf(statement))
          weight += weightOf(statement.triple)
        }
        if (batch.length < statementsPerBatch && weight < bytesPerChunk) continue
        writer.add(batch)
        batch = []
        weight = 0
        if (writer.length >= bytesPerChunk) yield writer.take()
      }
    }
    for (const statement of restorer.end()) batch.push(...quadsOf(statement))
    writer.add(batch)
    writer.end()
    if (writer.length > 0) yield writer.take()
  }

  function triplesOf(item: CoreMessage | Triple): readonly Triple[] {
    checkArgument('an item of the source of writeRdf()', item, anItem)
    if (!isMessage(item)) return [item]
    const [type, data] = item
    if (type === 't') return data.t
    counts.embeddings += data.e.length
    return []
  }

  /** A format without graphs gets the graph of a triple as a reified statement behind it. */
  function quadsOf({ triple, extras }: Statement): readonly RDF.Quad[] {
    const { g, ...plain } = triple
    if (g === undefined || syntaxes[format].hasGraphs) return [quadOfStatement(triple, extras)]
    const reified = reify(plain, { graph: { v: g, e: true } })
    return [quadOfStatement(plain, extras), ...reified.map((said) => quadOfStatement(said))]
  }

  function quadOfStatement(triple: Triple, extras?: Extras): RDF.Quad {
    counts.statements++
    const quad = quadOf(triple)
    if (isEncoded(quad.subject, triple.s.v)) counts.encoded++
    if (isEncoded(quad.predicate, triple.p.v)) counts.encoded++
    if (isEncoded(quad.object, triple.o.v)) counts.encoded++
    if (!extras) return quad
    const { datatype, direction, graph } = extras
    const { v, ln: language = extras.language } = triple.o
    const object = datatype
      ? rdfFactory.literal(v, namedNodeOf(datatype))
      : language !== undefined
        ? rdfFactory.literal(v, { language, ...(direction && { direction }) })
        : quad.object
    const inGraph = graph === undefined ? quad.graph : nodeOf(graph)
    return rdfFactory.quad(quad.subject, quad.predicate, object, inGraph)
  }
}

const anItem = aRule<CoreMessage | Triple>(
  'a triple { s, p, o, g? } of terms { v, e, dt?, ln? }, or a message of a core',
  (item) => {
    if (!Array.isArray(item)) return isTriple(item)
    const [type, data] = item as readonly unknown[]
    if (!isRecord(data)) return false
    return type === 't' ? Array.isArray(data.t) && data.t.every(isTriple) : Array.isArray(data.e)
  },
)

function isTriple(value: unknown): boolean {
  if (!isRecord(value) || ![value.s, value.p, value.o].every(isTerm)) return false
  return value.g === undefined || typeof value.g === 'string'
}

function isTerm(value: unknown): boolean {
  if (!isRecord(value) || typeof value.v !== 'string' || typeof value.e !== 'boolean') return false
  return annotationProblem({ e: value.e, dt: value.dt, ln: value.ln }) === undefined
}

function isMessage(item: CoreMessage | Triple): item is CoreMessage {
  return Array.isArray(item)
}

function isEncoded(term: RDF.Term, value: string): boolean {
  return term.termType === 'NamedNode' && term.value !== value
}
