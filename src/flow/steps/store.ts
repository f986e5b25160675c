import type { CoreMessage, CoreMetadata, EntityEmbedding, Triple } from '../../types.js'
import type { FlowDocument, Step } from '../types.js'
import { inBatches, type BatchBounds } from '../../batches.js'
import { entityTerm, givenTriples, graphTriples } from './graph.js'
import { findHeadings } from './headings.js'
import { checkKnowledge, type Knowledge } from './knowledge-input.js'
import { maxMessageWeight, weightOf } from '../../message-weight.js'
import { checkOptions } from '../../door/options.js'
import { aFlag } from '../../door/rules.js'
import { Turns } from '../../turns.js'
import { aBase, chunkUri, documentUri } from './vocabulary.js'
import type { ChunkOutput, ExtractOutput, StoreOutput } from './types.js'

export interface StoreOptions {
  /** What the URIs of documents begin with whose ids are none. That of the store by default. */
  readonly base?: string
  /** Whether the core has the vectors of chunks beside those of entities. True by default. */
  readonly chunkEmbeddings?: boolean
}

const storeOptions = { base: aBase, chunkEmbeddings: aFlag }

/**
 * Puts what the steps before found in the place of the document's core, all of it or nothing. Its
 * input is that of `chunk`, `embed` or `extract`, and its output the same.
 */
export function store(options: StoreOptions = {}): Step<ChunkOutput | ExtractOutput, StoreOutput> {
  checkOptions('store()', options, storeOptions)
  const { chunkEmbeddings = true } = options
  return {
    name: 'store',
    // It is what the step before returned.
    record: false,
    async run(input, context) {
      const { document, knowledge, signal } = context
      const { base = context.base } = options
      const found = await checkKnowledge(input, 'store', context)
      const given = chunkEmbeddings ? found : { ...found, vectors: [] }
      const { user, id } = document
      await findHeadings(document, signal)
      await knowledge.write({ user, id }, coreMessages(document, given, { base, signal }), {
        mode: 'replace',
        signal,
      })
      return input
    },
  }
}

// Small enough for a reader that holds one message at a time, large enough that headers are
// nothing. Vectors weigh their components: a message has a megabyte, more or less.
const triplesOfMessage: BatchBounds<Triple> = {
  most: 200,
  weigh: weightOf,
  mostWeight: maxMessageWeight,
}
const embeddingsOfMessage: BatchBounds<EntityEmbedding> = {
  most: 32,
  weigh: ({ v }) => v.reduce((sum, { length }) => sum + length, 0),
  mostWeight: 128 * 1024,
}

/** What a core has of a document and what was found in it. */
export async function* coreMessages(
  document: FlowDocument,
  knowledge: Knowledge,
  { base, signal }: { readonly base: string; readonly signal?: AbortSignal },
): AsyncGenerator<CoreMessage, void, undefined> {
  const { id, user, collection, metadata } = document
  // The document's metadata is among the triples, where every reader finds it. In each message's
  // own metadata a thousand triples would make the core some ten times larger: the first has it.
  let m: CoreMetadata = { i: id, m: metadata, u: user, c: collection }
  const given = await givenTriples(document, knowledge, new Turns(signal))
  const triples = graphTriples(document, knowledge, { base, given })
  for (const t of inBatches(triples, triplesOfMessage)) {
    yield ['t', { m, t }]
    m = { ...m, m: [] }
  }
  const embeddings = embeddingsOf(documentUri(id, base), knowledge)
  for (const e of inBatches(embeddings, embeddingsOfMessage)) yield ['ge', { m, e }]
}

function* embeddingsOf(
  document: string,
  { vectors, entities }: Knowledge,
): Generator<EntityEmbedding, void, undefined> {
  for (const { uri, vector } of entities) {
    if (vector !== undefined) yield { e: entityTerm(uri), v: [vector] }
  }
  for (const [index, vector] of vectors.entries()) {
    yield { e: entityTerm(chunkUri(document, index)), v: [vector] }
  }
}
