// What the built-in steps hand to each other, and the functions that they can be given.

import type { Term, Triple, Vector } from '../../types.js'
import type { FlowDocument } from '../types.js'

/** A piece of the document's text, in UTF-16 code units: `text.slice(start, end)`. */
export interface Chunk {
  /** From 0, in the order of the text. */
  readonly index: number
  readonly start: number
  readonly end: number
}

/** What `chunk` returns. */
export interface ChunkOutput {
  readonly chunks: readonly Chunk[]
}

/** What `embed` returns: as many vectors as chunks, in their order. */
export interface EmbedOutput extends ChunkOutput {
  readonly vectors: readonly Vector[]
}

/** Something that a document speaks of. */
export interface Entity {
  readonly uri: string
  /** As the text has it, first seen first. */
  readonly name: string
  readonly definition?: string
  /** What else the document calls it, and the URI that this name has by itself; at least one. */
  readonly aliases?: readonly { readonly uri: string; readonly name: string }[]
  /** The chunks that it was found in, ascending; at least one. */
  readonly chunks: readonly number[]
  /** Of its name and definition; there where the flow embeds. */
  readonly vector?: Vector
}

/** What `extract` returns. `vectors` is there where the flow has an `embed` before it. */
export interface ExtractOutput extends ChunkOutput {
  readonly vectors?: readonly Vector[]
  /** Each once. */
  readonly entities: readonly Entity[]
  /** What the chunks say of entities; each once. */
  readonly triples: readonly Triple[]
}

/** What `store` returns: what it got, for `index`. */
export type StoreOutput = ChunkOutput | ExtractOutput

export type { Embedder } from '../../types.js'

export interface ChunkText extends Chunk {
  readonly text: string
}

/** What one chunk speaks of and says. */
export interface Extraction {
  /** Names are as they stand in the chunk, but for white space. */
  readonly entities: readonly { readonly name: string; readonly definition?: string }[]
  readonly triples: readonly Triple[]
}

export interface ExtractorTools {
  readonly signal: AbortSignal
  readonly document: FlowDocument
  /** The term for the document. */
  readonly source: Term
  /** The term for something of that name, in the form that the flow is set to. */
  readonly entity: (name: string) => Term
  /** The term for a relation of that name. */
  readonly relation: (name: string) => Term
}

export type Extractor = (
  chunk: ChunkText,
  tools: ExtractorTools,
) => Promise<Extraction> | Extraction

/** An object of the schema `lorekeep_chunk`, which `index` keeps of each chunk. */
export interface ChunkObject {
  readonly id: string
  readonly uri: string
  /** The document's id. */
  readonly document: string
  readonly index: number
  readonly start: number
  readonly end: number
  readonly text: string
  /** URIs of what it speaks of. */
  readonly entities: readonly string[]
}

/** An object of the schema `lorekeep_entity`, which `index` keeps of each entity of a document. */
export interface EntityObject {
  readonly id: string
  readonly uri: string
  readonly name: string
  readonly definition?: string
  readonly document: string
  /** The indexes of the chunks that it was found in. */
  readonly chunks: readonly number[]
}
