// Two stores over one backend: what one refuses, or finds nothing to do about, holds for what the
// other has written, not for what it remembers.

import t, { type Test } from 'tap'
import { LorekeepError } from '../../src/errors.js'
import { createLorekeep, type LorekeepOptions } from '../../src/lorekeep.js'
import type { ObjectImport, ObjectStore } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import type { Backend, PartitionName, Storage } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { backends } from '../fixtures/stores.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { objectProblems } from '../fixtures/problems.js'
import { KeptBackend } from './kept-backend.js'

const definition = {
  name: 'things',
  fields: { id: { type: 'integer' }, group: { type: 'integer' } },
  indexes: ['group'],
}

const batchOf = (values: readonly JsonObject[], collection = 'c'): ObjectImport => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 'things',
  values,
})

const one = batchOf([{ id: 1, group: 1 }])

interface Case {
  /** Both know of it. */
  readonly before: (objects: ObjectStore) => Promise<unknown>
  readonly meanwhile: (other: ObjectStore) => Promise<unknown>
  readonly then: (objects: ObjectStore) => Promise<unknown>
  readonly gives: unknown
  readonly options?: Partial<LorekeepOptions>
}

const nothing = async () => undefined
const defined = (objects: ObjectStore) => objects.defineSchema(definition)
const imported = async (objects: ObjectStore) => {
  await defined(objects)
  await objects.import(one)
}
const counted = async (objects: ObjectStore, batch: ObjectImport, onDuplicate?: 'skip') => {
  const result = await objects.import(batch, onDuplicate && { onDuplicate })
  return [result.imported, result.skipped]
}

const cases: Readonly<Record<string, Case>> = {
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

for (const [engine, createBackend] of backends) {
  for (const [name, { before, meanwhile, then, gives, options }] of Object.entries(cases)) {
    t.test(`${engine}: ${name}`, async (t) => {
      const backend = new KeptBackend(createBackend(t))
      t.teardown(() => backend.real.close())
      const first = await opened(t, backend)
      await before(first)
      const second = await opened(t, backend, options)
      await meanwhile(first)
      t.strictSame(await outcomeOf(then(second)), gives)
      t.strictSame(await objectProblems(backend), [])
    })
  }
}

t.test('a refusal costs one look at the head, a change none', async (t) => {
  const backend = new CountingBackend(new MemoryBackend())
  const objects = await opened(t, backend)
  await defined(objects)
  let start = backend.gets
  await objects.import(one)
  t.equal(backend.gets - start, 0)
  for (const work of [
    () => objects.import(one),
    () => objects.import(one, { onDuplicate: 'skip' }),
    () => objects.import(batchOf([{ id: 'x' }])),
    () => objects.delete('c', 2),
    () => objects.deleteCollection('d'),
    () => defined(objects),
  ]) {
    start = backend.gets
    const writes = backend.writes
    await outcomeOf(work())
    t.equal(backend.gets - start, 1)
    t.equal(backend.writes, writes)
  }
})

t.test('nothing is refused because of a change that was not made', async (t) => {
  const kept = new KeptBackend(new MemoryBackend())
  const backend = new FaultyBackend(kept)
  const objects = await opened(t, backend)
  await defined(objects)
  await objects.import(batchOf([{ id: 2 }]))
  // Both are in one group; the write of the first, which the second would meet, fails.
  Object.assign(backend, { failAt: backend.calls + 1 })
  const both = await Promise.all([objects.import(one), objects.import(one)].map(outcomeOf))
  t.strictSame(both, ['LK_STORAGE_FAILED', 'LK_STORAGE_FAILED'])
  t.strictSame(await outcomeOf(counted(objects, one)), [1, 0])
  t.strictSame(await objectProblems(kept), [])
})

async function opened(
  t: Test,
  backend: Backend,
  options: Partial<LorekeepOptions> = {},
): Promise<ObjectStore> {
  const keep = await createLorekeep({ backend, ...options })
  t.teardown(() => keep.close())
  return keep.objects
}

async function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return await work
  } catch (error) {
    if (error instanceof LorekeepError) return error.code
    throw error
  }
}

/** Counts what is asked of the partition of objects. */
class CountingBackend extends KeptBackend {
  gets = 0
  writes = 0

  override async open(partition: PartitionName): Promise<Storage> {
    const storage = await super.open(partition)
    if (partition !== 'objects') return storage
    return new Proxy(storage, {
      get: (target, name) => {
        if (name === 'get') this.gets++
        if (name === 'write') this.writes++
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
  }
}
