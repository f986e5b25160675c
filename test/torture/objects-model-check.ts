// Comparisons of an ObjectStore with its model.

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import type {
  ObjectQuery,
  SortDirection,
  ObjectStore,
  ObjectPage,
  FoundFields,
} from '../../src/objects/types.js'
import type { JsonObject, JsonValue } from '../../src/types.js'
import { compareSorted, sortValues } from '../../src/objects/filter/sort-values.js'
import { fieldsOf, matching, type Model, type ModelObject } from './objects-model.js'

/** Collections of one lane come together, those of lower ones first. */
export type LaneOf = (collection: string) => number

/** Whether everything is there, and nothing else, in the order in which each lane has stored it. */
export async function isLike(objects: ObjectStore, model: Model, laneOf: LaneOf): Promise<boolean> {
  const schemas = [...model.schemas.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (!isDeepStrictEqual(await objects.schemas(), schemas)) return false
  const stats = await objects.collections()
  const counts = new Map<string, Map<string, number>>()
  for (const name of model.collections) counts.set(name, new Map())
  for (const { collection, schema } of model.objects.values()) {
    const count = counts.get(collection) as Map<string, number>
    count.set(schema, (count.get(schema) ?? 0) + 1)
  }
  const found = new Map(stats.map(({ name, schemas }) => [name, new Map(Object.entries(schemas))]))
  if (!isDeepStrictEqual(found, counts)) return false
  for (const { name } of schemas) {
    const expected = inLanes(matching(model, name, {}), laneOf)[Symbol.iterator]()
    for await (const object of objects.find({ schema_name: name })) {
      const next = expected.next()
      if (next.done === true || !isDeepStrictEqual(withoutTimes(object), fieldsOf(next.value))) {
        return false
      }
    }
    if (expected.next().done !== true) return false
  }
  return true
}

export async function checkQuery(
  objects: ObjectStore,
  model: Model,
  query: ObjectQuery,
  laneOf: LaneOf,
): Promise<void> {
  const where = JSON.stringify(query)
  const { schema_name: name, filters = {}, limit = 100, offset = 0, sort } = query
  const matched = inLanes(matching(model, name, filters as JsonObject), laneOf)
  const expected = isRefused(() => sorted(matched, sort)) ? undefined : sorted(matched, sort)
  if (expected === undefined) {
    // Two arrays beside each other; who only counts does not sort.
    const every = { ...query, limit: 1 + limit, offset: 0 }
    await assert.rejects(objects.query(every), { code: 'LK_QUERY' }, where)
    return
  }
  const page = await objects.query(query)
  assert.equal(page.total, expected.length, `total of ${where}`)
  assert.equal(page.limit, limit, where)
  assert.equal(page.objects.length, Math.min(limit, Math.max(0, expected.length - offset)), where)
  const plan = await objects.explain(query)
  assert.equal(plan.total, expected.length, `explained: ${where}`)
  assert.equal(plan.returned, page.objects.length, where)
  if (sort !== undefined) {
    const part = expected.slice(offset, offset + limit)
    assert.deepEqual(page.objects.map(placeOf), part.map(placeOf), `order of ${where}`)
  }
  // Pages by their cursors and by find(): all, each once, in one order.
  const paged: string[] = []
  let next: string | undefined
  do {
    const { offset: _, ...rest } = query
    const some: ObjectPage<FoundFields> = await objects.query({
      ...rest,
      limit: Math.max(7, Math.ceil(expected.length / 5)),
      ...(next !== undefined && { after: next }),
    })
    paged.push(...some.objects.map(placeOf))
    assert.equal(some.total, expected.length, `total of a page of ${where}`)
    assert.ok(paged.length <= expected.length, `pages of ${where} do not end`)
    next = some.next
  } while (next !== undefined)
  const all: string[] = []
  const { limit: _, offset: __, ...everything } = query
  for await (const object of objects.find(everything)) all.push(placeOf(object))
  const places = expected.map(placeOf)
  if (sort === undefined) {
    assert.deepEqual(paged.toSorted(), places.toSorted(), `pages of ${where}`)
    assert.deepEqual(all.toSorted(), places.toSorted(), `find ${where}`)
    const part = paged.slice(offset, offset + limit)
    assert.deepEqual(page.objects.map(placeOf), part, `pages and offset of ${where}`)
  } else {
    assert.deepEqual(paged, places, `pages of ${where}`)
    assert.deepEqual(all, places, `find ${where}`)
  }
}

function inLanes(all: readonly ModelObject[], laneOf: LaneOf): ModelObject[] {
  return all.toSorted((a, b) => laneOf(a.collection) - laneOf(b.collection))
}

function isRefused(action: () => unknown): boolean {
  try {
    action()
    return false
  } catch (error) {
    assert.equal((error as { code?: unknown }).code, 'LK_QUERY')
    return true
  }
}

function sorted(all: readonly ModelObject[], sort: ObjectQuery['sort'] = {}): ModelObject[] {
  const keys = Object.entries(sort).map(([path, direction]) => ({
    path: path.split('.'),
    direction: direction as SortDirection,
  }))
  const values = new Map<ModelObject, readonly JsonValue[]>()
  for (const one of all) {
    const fields = fieldsOf(one)
    const first = keys.map(({ path: [name = ''] }) =>
      Object.hasOwn(fields, name) ? fields[name] : undefined,
    )
    values.set(one, sortValues(keys, first, one.id))
  }
  return [...all].sort((a, b) =>
    compareSorted(keys, values.get(a) as JsonValue[], values.get(b) as JsonValue[]),
  )
}

function placeOf(object: object): string {
  const { _collection, _id, collection, id } = object as Record<string, unknown>
  return JSON.stringify([collection ?? _collection, String(_id ?? id)])
}

function withoutTimes(object: object): unknown {
  const { _created_at, _updated_at, _metadata, _version, ...rest } = object as Record<
    string,
    JsonObject
  >
  const { created_at, updated_at, ...metadata } = _metadata ?? {}
  const isTimed = created_at === (_created_at as unknown) && updated_at === (_updated_at as unknown)
  return { ...rest, _metadata: isTimed ? metadata : 'other times' }
}
