import { hasCode } from '../../errors.js'
import type { ObjectImport } from '../../objects/types.js'
import type { JsonObject } from '../../types.js'
import type { Step, StepContext } from '../types.js'
import { inBatches, type BatchBounds } from '../../batches.js'
import { checkKnowledge, type Knowledge } from './knowledge-input.js'
import { deleteObjects } from './knowledge-removal.js'
import { chunkSchema, ensureSchema, entitySchema, ObjectIds } from './object-schemas.js'
import type { ObjectSchema } from './object-schemas.js'
import { aBase, chunkUri, documentUri } from './vocabulary.js'
import { checkOptions } from '../../door/options.js'
import type { ChunkOutput, ExtractOutput } from './types.js'

export interface IndexOptions {
  /** As that of `store`: objects and core name chunks by the same URIs. */
  readonly base?: string
}

export interface IndexOutput {
  readonly chunks: number
  readonly entities: number
}

const indexOptions = { base: aBase }

/**
 * Keeps an object of each chunk and each entity in the document's collection, and deletes those
 * that an earlier version of the document left. Its input is that of `store`.
 */
export function index(options: IndexOptions = {}): Step<ChunkOutput | ExtractOutput, IndexOutput> {
  checkOptions('index()', options, indexOptions)
  return {
    name: 'index',
    async run(input, context): Promise<IndexOutput> {
      const { document, objects, signal } = context
      const { base = context.base } = options
      const knowledge = await checkKnowledge(input, 'index', context)
      const ids = new ObjectIds({ user: document.user, document: document.id })
      const kept = new Set<string>()
      const [chunks, entities] = [knowledge.chunks.length, knowledge.entities.length]
      let done = 0
      const keep = async (schema: ObjectSchema, values: Iterable<Identified>) => {
        for (const batch of inBatches(values, bounds)) {
          signal.throwIfAborted()
          await put(context, schema.name, batch)
          for (const { id } of batch) kept.add(id)
          context.progress((done += batch.length), chunks + entities)
        }
      }
      signal.throwIfAborted()
      for (const schema of [chunkSchema, entitySchema]) await ensureSchema(objects, schema)
      // Together: they share a durable write. Settled, not cut short: after a failure nothing of this
      // is still on its way.
      const results = await Promise.allSettled([
        keep(chunkSchema, chunkObjects(context, knowledge, ids, base)),
        keep(entitySchema, entityObjects(context, knowledge, ids)),
      ])
      for (const result of results) if (result.status === 'rejected') throw result.reason
      // Last, so that there is no moment without objects of the document.
      await deleteObjects({ user: document.user, document: document.id }, objects, {
        signal,
        keep: (collection, id) => collection === document.collection && kept.has(id),
      })
      return { chunks, entities }
    },
  }
}

type Identified = JsonObject & { readonly id: string }

const bounds: BatchBounds<Identified> = {
  most: 500,
  weigh: (object) => JSON.stringify(object).length,
  mostWeight: 1024 ** 2,
}

/** Stores a batch, in two where the store's limits are set below it. */
async function put(
  context: StepContext,
  schema_name: string,
  values: readonly Identified[],
): Promise<void> {
  const { document, flow, job, objects } = context
  const { user, collection } = document
  const metadata: ObjectImport['metadata'] = { id: job, user, collection, metadata: { flow, job } }
  try {
    await objects.import(
      { metadata, schema_name, values },
      { onDuplicate: 'replace', scope: { user } },
    )
  } catch (error) {
    if (!hasCode(error, 'LK_OBJECT_TOO_LARGE') || values.length === 1) throw error
    const half = Math.ceil(values.length / 2)
    await put(context, schema_name, values.slice(0, half))
    await put(context, schema_name, values.slice(half))
  }
}

function* chunkObjects(
  { document }: StepContext,
  { chunks, entities }: Knowledge,
  ids: ObjectIds,
  base: string,
): Generator<Identified, void, undefined> {
  const uri = documentUri(document.id, base)
  const found: string[][] = chunks.map(() => [])
  for (const entity of entities) {
    for (const index of entity.chunks) found[index]?.push(entity.uri)
  }
  for (const { index, start, end } of chunks) {
    yield {
      id: ids.chunk(index),
      uri: chunkUri(uri, index),
      document: document.id,
      index,
      start,
      end,
      // A step of one's own may have cut a surrogate pair; the core has it so, too.
      text: document.text.slice(start, end).toWellFormed(),
      entities: found[index] ?? [],
    }
  }
}

function* entityObjects(
  { document }: StepContext,
  { entities }: Knowledge,
  ids: ObjectIds,
): Generator<Identified, void, undefined> {
  for (const { uri, name, definition, chunks } of entities) {
    yield {
      id: ids.entity(uri),
      uri,
      name,
      ...(definition !== undefined && { definition }),
      document: document.id,
      chunks,
    }
  }
}
