import { hasCode } from '../../errors.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import type { ObjectStore } from '../../objects/types.js'
import type { DocumentRef } from '../types.js'
import { inBatches, type BatchBounds } from '../../batches.js'
import { chunkSchema, entitySchema, isThere, ObjectIds } from './object-schemas.js'

interface RemovalOptions {
  /** Ends the removal between two of its steps; calling it again goes on. */
  readonly signal?: AbortSignal
}

/**
 * Deletes what a document became: its objects in every collection, then its core, so that after a
 * failure the core still shows that there is something to delete. False where there was nothing.
 */
export async function removeKnowledge(
  ref: Required<DocumentRef>,
  stores: { readonly knowledge: KnowledgeStore; readonly objects: ObjectStore },
  { signal }: RemovalOptions = {},
): Promise<boolean> {
  const deleted = await deleteObjects(ref, stores.objects, signal === undefined ? {} : { signal })
  signal?.throwIfAborted()
  const hadCore = await stores.knowledge.delete({ user: ref.user, id: ref.document })
  return hadCore || deleted > 0
}

/** Whether there is knowledge of a document in other collections than these. */
export async function liesElsewhere(
  ref: Required<DocumentRef>,
  { knowledge, objects }: { readonly knowledge: KnowledgeStore; readonly objects: ObjectStore },
  collections: readonly string[],
): Promise<boolean> {
  for (const schema of [chunkSchema, entitySchema]) {
    if (!(await isThere(objects, schema))) continue
    const found = objectsOf(ref, objects, schema.name, (name) => collections.includes(name))
    for await (const _ of found) return true
  }
  try {
    for await (const [, { m }] of knowledge.messages({ user: ref.user, id: ref.document })) {
      if (!collections.includes(m.c)) return true
    }
  } catch (error) {
    if (!hasCode(error, 'LK_CORE_NOT_FOUND')) throw error
  }
  return false
}

/** Deletes a document's objects but for those to keep. Gives their number. */
export async function deleteObjects(
  ref: Required<DocumentRef>,
  objects: ObjectStore,
  options: RemovalOptions & { readonly keep?: (collection: string, id: string) => boolean },
): Promise<number> {
  const { signal, keep = () => false } = options
  let deleted = 0
  for (const schema of [chunkSchema, entitySchema]) {
    if (!(await isThere(objects, schema))) continue
    const found: ObjectName[] = []
    for await (const name of objectsOf(ref, objects, schema.name, keep)) found.push(name)
    for (const batch of inBatches(found, together)) {
      signal?.throwIfAborted()
      // Settled, not cut short: after a failure nothing of this is still on its way.
      const results = await Promise.allSettled(
        batch.map(({ collection, id }) =>
          objects.delete(collection, id, { scope: { user: ref.user } }),
        ),
      )
      for (const result of results) {
        if (result.status === 'rejected') throw result.reason
        if (result.value) deleted++
      }
    }
  }
  return deleted
}

interface ObjectName {
  readonly collection: string
  readonly id: string
}

/** Deletes that wait at the same time share a durable write. */
const together: BatchBounds<ObjectName> = { most: 500, weigh: () => 1, mostWeight: Infinity }

async function* objectsOf(
  { user, document }: Required<DocumentRef>,
  objects: ObjectStore,
  schema_name: string,
  keep: (collection: string, id: string) => boolean,
): AsyncGenerator<ObjectName, void, undefined> {
  const ids = new ObjectIds({ user, document })
  const filters = { document, _user: user }
  for await (const object of objects.find({ schema_name, filters, fields: ['_collection'] })) {
    const { _id: id, _collection: collection } = object
    if (collection === undefined || !ids.isOurs(id) || keep(collection, id)) continue
    yield { collection, id }
  }
}
