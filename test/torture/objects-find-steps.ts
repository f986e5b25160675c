// Objects in versions, finds of every kind, and each compared with what was there when it began.

import assert from 'node:assert/strict'
import type {
  ObjectImport,
  ObjectQuery,
  ObjectStore,
  StoredObject,
} from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'

export const definition = {
  name: 'things',
  fields: {
    group: { type: 'integer' },
    place: { type: 'integer' },
    version: { type: 'integer' },
    text: { type: 'string' },
    deep: { type: 'object' },
  },
  indexes: ['group', 'place', 'version', 'deep.x'],
}

export const batchOf = (values: readonly JsonObject[], collection = 'c'): ObjectImport => ({
  metadata: { id: 'batch', user: 'alice', collection },
  schema_name: 'things',
  values,
})

/** An object is made of its id and version alone. */
const thing = (id: number, version: number): JsonObject => ({
  id,
  group: (id + version) % 7,
  place: (id * 7919) % 5003,
  version,
  text: `${id} of ${version}`,
  deep: { x: id + version },
})

export const things = (from: number, to: number, version: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, n) => thing(from + n, version))

export const queries: Readonly<Record<string, Omit<ObjectQuery, 'schema_name'>>> = {
  everything: {},
  'a filter without an index': { filters: { text: { $regex: '[02468] of' } } },
  'one index': { filters: { version: { $gte: 0 } } },
  'an index and a filter': { filters: { version: { $gte: 0 }, text: { $ne: '7 of 0' } } },
  'the order of an index': { sort: { place: 'asc' } },
  'the order of an index, backwards': { sort: { place: 'desc' } },
  'the order of a deep index': { sort: { 'deep.x': 'asc' } },
  'an order in memory': { sort: { text: 'asc' } },
  'an order in memory and a filter': { sort: { text: 'desc' }, filters: { group: { $lt: 6 } } },
  union: { filters: { $or: [{ group: { $in: [1, 3, 5] } }, { place: { $gt: 1000 } }] } },
  intersection: { filters: { group: { $gte: 1 }, place: { $lt: 4500 } } },
  'a window': { offset: 300, limit: 4000, sort: { place: 'asc' } },
  'a window without an order': { offset: 300, limit: 4000 },
}

/** A find under way. */
export class BegunFind {
  readonly name: string
  readonly found: unknown[] = []
  readonly #expected: readonly unknown[]
  readonly #objects: AsyncIterator<unknown>

  constructor(name: string, expected: readonly unknown[], objects: AsyncIterator<unknown>) {
    this.name = name
    this.#expected = expected
    this.#objects = objects
  }

  async readTo(count: number): Promise<void> {
    while (this.found.length < count) {
      const { value, done } = await this.#objects.next()
      if (done === true) break
      assert.deepEqual(value, this.#expected[this.found.length], this.name)
      this.found.push(value)
    }
    if (this.found.length < count) assert.equal(this.found.length, this.#expected.length, this.name)
  }

  async leave(): Promise<void> {
    await this.#objects.return?.()
  }
}

/** One of each query, or of each n-th, of the version there is. */
export async function begunFinds(objects: ObjectStore, each = 1): Promise<BegunFind[]> {
  const finds: BegunFind[] = []
  for (const [n, [name, query]] of Object.entries(queries).entries()) {
    if (n % each !== 0) continue
    const expected = await allOf(objects, query)
    const found = objects.find({ schema_name: 'things', ...query })[Symbol.asyncIterator]()
    const find = new BegunFind(name, expected, found)
    await find.readTo(1)
    finds.push(find)
  }
  return finds
}

export async function allOf(
  objects: ObjectStore,
  query: Omit<ObjectQuery, 'schema_name'>,
): Promise<Partial<StoredObject>[]> {
  const found: Partial<StoredObject>[] = []
  for await (const object of objects.find({ schema_name: 'things', ...query })) found.push(object)
  return found
}

export async function replaceAll(
  objects: ObjectStore,
  version: number,
  count = 5000,
): Promise<void> {
  await objects.import(batchOf(things(0, count, version)), { onDuplicate: 'replace' })
}
