// Core messages as the reference system's put-kg-core and get-kg-core have them in JSON.

import { isRecord } from '../../door/wording.js'
import type { CoreMessage, EntityEmbedding, JsonObject, Triple, Vector } from '../../types.js'
import { LorekeepError } from '../../errors.js'
import { plainTerm, plainTriples, termOf, tripleOf } from '../reference/terms.js'
import type { Era } from '../reference/terms.js'
import { requestError } from '../target.js'

/** How a client wants to have messages. */
export interface Shape {
  readonly era: Era
  /**
   * As from 2.5 on: `metadata` has the id of a document as `root` in place of triples and user, and
   * an entity one flat `vector` in place of `vectors`.
   */
  readonly isFlat: boolean
}

/** Newer cores have parts of a library in them, for which there is no place here. */
const skippedParts = ['library-metadata', 'library-blob']

/**
 * The messages in the body of a put, of whatever era, and the names of what has no place here. What
 * is wrong inside of a message is for the store to refuse.
 * @throws LorekeepError `LK_HTTP_REQUEST` where there is nothing to put
 */
export function messagesOf(
  body: JsonObject,
  id: string,
): { readonly messages: readonly CoreMessage[]; readonly skipped: readonly string[] } {
  const { triples, 'graph-embeddings': embeddings } = body
  const messages: unknown[] = []
  if (triples !== undefined) {
    const { metadata, triples: list } = partOf(triples, 'triples')
    messages.push(['t', { m: metadataOf(metadata, id), t: plainTriples(list) }])
  }
  if (embeddings !== undefined) {
    const { metadata, entities } = partOf(embeddings, 'graph-embeddings')
    const e = Array.isArray(entities) ? entities.map(embeddingOf) : entities
    messages.push(['ge', { m: metadataOf(metadata, id), e }])
  }
  const skipped = skippedParts.filter((name) => body[name] !== undefined)
  if (messages.length + skipped.length === 0) {
    throw requestError('', "puts nothing: there is neither 'triples' nor 'graph-embeddings'")
  }
  return { messages: messages as CoreMessage[], skipped }
}

type Fields = Readonly<Record<string, unknown>>

function partOf(value: unknown, name: string): Fields {
  if (isRecord(value)) return value
  throw requestError(name, 'must be an object')
}

function metadataOf(value: unknown, id: string): object {
  const { metadata, root, collection } = isRecord(value) ? value : ({} as Fields)
  // A newer client puts there what an older core has in that place.
  const triples = metadata ?? (Array.isArray(root) ? (root as unknown) : undefined) ?? []
  return { i: id, m: plainTriples(triples), u: '', c: collection ?? 'default' }
}

function embeddingOf(value: unknown): unknown {
  if (!isRecord(value)) return value
  const { entity, vector, vectors = vector } = value
  return { e: plainTerm(entity), v: nested(vectors) }
}

/** Several vectors, also where there is one alone. */
function nested(vectors: unknown): unknown {
  const isOne = Array.isArray(vectors) && typeof vectors[0] === 'number'
  return isOne ? [vectors] : vectors
}

/**
 * The longest JSON of one answer, but for a single triple or entity that is longer. Clients in Python
 * take frames of 1 MiB by default, and end the connection at a longer one.
 */
const maxLength = 1_000_000

/** A message as one answer, or as several where it is long, of which the first ones have its metadata. */
export function* answersOf(message: CoreMessage, shape: Shape): Generator<string, void, undefined> {
  const [type, data] = message
  const { i, m, u, c } = data.m
  const [name, list] = type === 't' ? ['triples', 'triples'] : ['graph-embeddings', 'entities']
  const texts = type === 't' ? tripleTexts(data.t, shape) : embeddingTexts(data.e, shape)
  const answer = (metadata: readonly string[], part: readonly string[]) => {
    const triples = `[${metadata.join()}]`
    const id = JSON.stringify(i)
    const collection = JSON.stringify(c)
    const about = shape.isFlat
      ? `{"id":${id},"root":${metadata.length === 0 ? '""' : triples},"collection":${collection}}`
      : `{"id":${id},"metadata":${triples},"user":${JSON.stringify(u)},"collection":${collection}}`
    return `{"${name}":{"metadata":${about},"${list}":[${part.join()}]}}`
  }
  const empty = Buffer.byteLength(answer([], []))
  let metadata: string[] = []
  let part: string[] = []
  let bytes = empty
  let isFirst = true
  for (const [into, each] of [
    ['metadata', tripleTexts(m, shape)],
    ['part', texts],
  ] as const) {
    for (const text of each) {
      const more = Buffer.byteLength(text) + 1
      if (bytes > empty && bytes + more > maxLength) {
        yield answer(metadata, part)
        metadata = []
        part = []
        bytes = empty
        isFirst = false
      }
      if (into === 'metadata') metadata.push(text)
      else part.push(text)
      bytes += more
    }
  }
  if (bytes > empty || isFirst) yield answer(metadata, part)
}

function* tripleTexts(triples: readonly Triple[], shape: Shape): Generator<string> {
  for (const triple of triples) yield JSON.stringify(tripleOf(triple, shape.era))
}

function* embeddingTexts(
  embeddings: readonly EntityEmbedding[],
  { era, isFlat }: Shape,
): Generator<string> {
  for (const { e, v } of embeddings) {
    const entity = JSON.stringify(termOf(e, era))
    if (!isFlat) yield `{"entity":${entity},"vectors":[${v.map(vectorText).join()}]}`
    else if (v.length === 0) yield `{"entity":${entity},"vector":[]}`
    else for (const vector of v) yield `{"entity":${entity},"vector":${vectorText(vector)}}`
  }
}

function vectorText(vector: Vector): string {
  return `[${Array.from(vector, numberText).join()}]`
}

/**
 * With a point, also where there is nothing behind it: to a client in Python 1 is a whole number, and
 * would be one in the file that it writes.
 */
function numberText(value: number): string {
  if (!Number.isFinite(value)) {
    const detail = `a vector has the component ${value}, which JSON cannot say; export-core has all of the core`
    throw new LorekeepError('LK_HTTP_REQUEST', detail)
  }
  if (!Number.isInteger(value) || Math.abs(value) >= 1e21) return String(value)
  return Object.is(value, -0) ? '-0.0' : `${value}.0`
}
