// A document of a vector store as a core of its own: one passage with its metadata and its vector. So it is replaced
// and deleted in one step, and found by words as every passage is.

import { Document, type DocumentInterface } from '@langchain/core/documents'
import { MessageDecoder } from '../codec/decoder.js'
import { encodeMessage } from '../codec/encoder.js'
import { Problems } from '../door/problems.js'
import { aName } from '../door/rules.js'
import { shown } from '../door/wording.js'
import { parseJson } from '../json-text.js'
import type { CoreMessage, Term, Triple, Vector } from '../types.js'
import { vocabulary } from '../vocabulary.js'
import { metadataOf } from './metadata.js'

/** All of what JSON can say of it. */
const asJson = iri('urn:lorekeep:langchain#document')

/** The name of the core, and of the passage in it. */
export function nameOf(collection: string, id: string): string {
  return `${prefixOf(collection)}${encodeURIComponent(id)}`
}

/** Cores can have it: what is encoded of the id is longer than that. */
export function isNamed(collection: string, id: string): boolean {
  return aName(mostNameBytes).holds(nameOf(collection, id))
}

const mostNameBytes = 1024

export function prefixOf(collection: string): string {
  return `urn:lorekeep:langchain:${encodeURIComponent(collection)}:`
}

export interface NamedDocument {
  readonly id: string
  readonly document: DocumentInterface
}

/** @throws LorekeepError `LK_DOCUMENT_INVALID` with all that is wrong in all of them */
export function checkDocuments(documents: readonly NamedDocument[], collection: string): void {
  const problems = new Problems()
  for (const [at, { id, document }] of documents.entries()) {
    const { pageContent, metadata = {} } = Object(document) as Partial<DocumentInterface>
    const path = `documents[${at}]`
    if (!isNamed(collection, id)) {
      const { length } = nameOf(collection, id)
      problems.fail(
        `${path}.id`,
        `makes a name of ${length} bytes; at most ${mostNameBytes} can be`,
      )
    }
    if (typeof pageContent !== 'string') {
      problems.fail(`${path}.pageContent`, `must be a string, not ${shown(pageContent)}`)
    }
    metadataOf(asJson, metadata, `${path}.metadata`, problems)
  }
  problems.throwIfAny('LK_DOCUMENT_INVALID')
}

/** Of what was checked, as bytes of a core. @throws LorekeepError `LK_CORE_MESSAGE` */
export function encodeDocument(
  { id, document }: NamedDocument,
  { name, collection, vector }: { name: string; collection: string; vector: Vector },
): Uint8Array {
  const s = iri(name)
  const { pageContent } = document
  const text = pageContent.toWellFormed()
  const { plain, triples } = metadataOf(s, document.metadata ?? {}, '', new Problems())
  // A splitter may have cut a surrogate pair: of a core each text is whole.
  const whole = { id, metadata: plain, ...(text !== pageContent && { pageContent }) }
  const { title, source } = plain
  const part = typeof source === 'string' && source !== '' ? iri(sourceIri(source)) : undefined
  const said: Triple[] = [
    { s, p: iri(vocabulary.text), o: literal(text) },
    { s, p: asJson, o: literal(JSON.stringify(whole)) },
    ...(part === undefined ? [] : [{ s, p: iri(vocabulary.isPartOf), o: part }]),
    // The title of a passage is that of its document.
    ...(typeof title === 'string'
      ? [{ s: part ?? s, p: iri(vocabulary.name), o: literal(title.toWellFormed()) }]
      : []),
    ...triples,
  ]
  const m = { i: name, u: '', m: [], c: collection }
  const messages: CoreMessage[] = [
    ['t', { m, t: said }],
    ['ge', { m, e: [{ e: s, v: [vector] }] }],
  ]
  return Buffer.concat(messages.map((message, at) => encodeMessage(message, at)))
}

/** Undefined where the triples are not those of a document. */
export function documentOf(triples: readonly Triple[]): Document | undefined {
  const said = (predicate: string) => triples.find(({ p }) => p.v === predicate)?.o.v
  const [text, whole] = [said(vocabulary.text), said(asJson.v)]
  if (text === undefined || whole === undefined) return undefined
  const read = parseJson(whole) as { id: string; metadata: object; pageContent?: string }
  return new Document({ pageContent: text, ...read })
}

export interface DecodedDocument {
  readonly document: Document | undefined
  readonly vector: number[]
}

/** @throws LorekeepError as exports do */
export async function decodeDocument(chunks: AsyncIterable<Uint8Array>): Promise<DecodedDocument> {
  const decoder = new MessageDecoder()
  const triples: Triple[] = []
  let vector: number[] = []
  for await (const chunk of chunks) {
    for (const [type, data] of decoder.push(chunk)) {
      if (type === 't') triples.push(...data.t)
      else vector = [...(data.e[0]?.v[0] ?? [])]
    }
  }
  return { document: documentOf(triples), vector }
}

/** Sources are paths and titles, too. */
function sourceIri(source: string): string {
  const isIri = /^[a-z][a-z0-9+.-]+:[^\s<>"{}|\\^`]+$/i.test(source)
  return isIri
    ? source.toWellFormed()
    : `urn:lorekeep:source:${encodeURIComponent(source.toWellFormed())}`
}

export function iri(v: string): Term {
  return { v, e: true }
}

function literal(v: string): Term {
  return { v, e: false }
}
