// What one process refuses, or finds nothing to do about, while another has changed what that rests on.

import { LorekeepError } from '../../src/errors.js'
import type { ObjectImport, ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'

const definition = {
  name: 'things',
  fields: { id: { type: 'integer' }, group: { type: 'integer' } },
  indexes: ['group'],
}

export const batchOf = (values: readonly JsonObject[], collection = 'c'): ObjectImport => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 'things',
  values,
})

export const one = batchOf([{ id: 1, group: 1 }])

export interface Case {
  /** Both know of it. */
  readonly before: (objects: ObjectStore) => Promise<unknown>
  readonly meanwhile: (other: ObjectStore) => Promise<unknown>
  readonly then: (objects: ObjectStore) => Promise<unknown>
  readonly gives: unknown
  readonly options?: { readonly collections: 'declared' }
}

const nothing = async () => undefined
export const defined = (objects: ObjectStore) => objects.defineSchema(definition)
const imported = async (objects: ObjectStore) => {
  await defined(objects)
  await objects.import(one)
}
export const counted = async (objects: ObjectStore, batch: ObjectImport, onDuplicate?: 'skip') => {
  const result = await objects.import(batch, onDuplicate && { onDuplicate })
  return [result.imported, result.skipped]
}

export const cases: Readonly<Record<string, Case>> = {
  'a schema that was defined takes imports': {
    before: nothing,
    meanwhile: defined,
    then: (objects) => counted(objects, one),
    gives: [1, 0],
  },
  'a schema that was dropped takes none': {
    before: defined,
    meanwhile: (other) => other.dropSchema('things'),
    then: (objects) => objects.import(batchOf([{ id: 'not an integer' }])),
    gives: 'LK_SCHEMA_NOT_FOUND',
  },
  'objects are checked by the schema there is': {
    before: defined,
    meanwhile: (other) =>
      other.defineSchema({ ...definition, fields: { id: { type: 'string' } }, indexes: [] }),
    then: (objects) => counted(objects, batchOf([{ id: 'a', group: 'b' }])),
    gives: [1, 0],
  },
  'and refused by it': {
    before: defined,
    meanwhile: (other) => other.defineSchema({ ...definition, strict: true }),
    then: (objects) => objects.import(batchOf([{ id: 1, more: 1 }])),
    gives: 'LK_OBJECT_INVALID',
  },
  'an id that was deleted is free': {
    before: imported,
    meanwhile: (other) => other.delete('c', 1),
    then: (objects) => counted(objects, one),
    gives: [1, 0],
  },
  'and not skipped': {
    before: imported,
    meanwhile: (other) => other.delete('c', 1),
    then: (objects) => counted(objects, one, 'skip'),
    gives: [1, 0],
  },
  'an object that came is deleted': {
    before: defined,
    meanwhile: (other) => other.import(one),
    then: (objects) => objects.delete('c', 1),
    gives: true,
  },
  'one that came is patched': {
    before: defined,
    meanwhile: (other) => other.import(one),
    then: async (objects) => (await objects.patch('c', 1, { group: 2 }))?.['group'],
    gives: 2,
  },
  'one that came is replaced': {
    before: defined,
    meanwhile: (other) => other.import(one),
    then: async (objects) => (await objects.replace('c', 1, { group: 3 }))?.['group'],
    gives: 3,
  },
  'an object is whose it is': {
    before: imported,
    meanwhile: async (other) => {
      await other.delete('c', 1)
      await other.import({ ...one, metadata: { ...one.metadata, user: 'bob' } })
    },
    then: (objects) => objects.delete('c', 1, { scope: { user: 'bob', shared: ['c'] } }),
    gives: true,
  },
  'a collection that came is deleted': {
    before: nothing,
    meanwhile: imported,
    then: (objects) => objects.deleteCollection('c'),
    gives: 1,
  },
  'a collection that was deleted is made again': {
    before: (objects) => objects.createCollection('c'),
    meanwhile: (other) => other.deleteCollection('c'),
    then: (objects) => objects.createCollection('c'),
    gives: true,
  },
  'a collection that was declared takes imports': {
    before: defined,
    meanwhile: (other) => other.createCollection('c'),
    then: (objects) => counted(objects, one),
    gives: [1, 0],
    options: { collections: 'declared' },
  },
  'a schema whose objects have gone is dropped': {
    before: imported,
    meanwhile: (other) => other.delete('c', 1),
    then: (objects) => objects.dropSchema('things'),
    gives: true,
  },
  'a schema that came is dropped': {
    before: nothing,
    meanwhile: defined,
    then: (objects) => objects.dropSchema('things'),
    gives: true,
  },
  'a schema that was changed is changed back': {
    before: defined,
    meanwhile: (other) => other.defineSchema({ ...definition, indexes: [] }),
    then: async (objects) => (await defined(objects)) && (await objects.schema('things'))?.indexes,
    gives: ['group'],
  },
}

export async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LorekeepError) return error.code
    throw error
  }
}
