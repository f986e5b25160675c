// Random operations and queries: small domains, so that they meet.

import type { ObjectQuery, SortDirection } from '../../src/objects/types.js'
import type { JsonObject } from '../../src/types.js'
import type { Random } from '../fixtures/random.js'
import { randomFilter, randomObject } from '../objects/filter/oracle.js'
import type { Model, Operation } from './objects-model.js'

const schemas = ['plain', 'other']
const collections = ['red', 'blue', '__proto__']

const fields = {
  k: { type: 'integer' },
  s: { type: 'string' },
  list: { type: 'array' },
  items: { type: 'array' },
  n: { type: 'object' },
} as const

/** Each of them refuses some objects that the others admit. */
const tighter: readonly JsonObject[] = [
  { k: { type: 'integer', max: 15 } },
  { k: { type: 'integer', required: true } },
  { k: { type: 'integer', required: true, default: 3 } },
  { a: { type: 'number' } },
  { b: { type: 'enum', values: [0, 1, 'a', 'b', null, true] } },
  { list: { type: 'array', max_length: 2 } },
  { b: { type: 'integer', nullable: true } },
]

const indexPaths = [
  ...['k', 's', 'list', 'items', 'items.a', 'n.a', 'n.b', 'n.s', 'n.list', 'n.n.a'],
  ...['_collection', '_created_at', '_updated_at', '_id', '_user', '_metadata.source'],
]
const undeclaredPaths = ['a', 'b', 'list.0', 'items.0.a', 'items.0.0', 'missing.a']
const queryPaths = [
  'k',
  's',
  'list',
  'n.a',
  'n.b',
  'items.a',
  'list.0',
  'a',
  '_id',
  '_collection',
  '_metadata.source',
]

export function chooseOperation(random: Random, model: Model, size?: 'small'): Operation {
  const type = random.pick(
    size === 'small'
      ? (['import', 'import', 'import', 'patch', 'replace', 'delete'] as const)
      : ([
          ...([
            'import',
            'import',
            'import',
            'import',
            'import',
            'import',
            'define',
            'define',
          ] as const),
          ...(['define', 'replace', 'patch', 'delete'] as const),
          random.chance(0.5) ? 'import' : random.pick(['drop', 'deleteCollection'] as const),
        ] as const),
  )
  const known = model.schemas.size > 0 ? [...model.schemas.keys()] : schemas
  const there = [...model.objects.values()]
  const one = there.length > 0 && random.chance(0.9) ? random.pick(there) : undefined
  const { collection, id } = one ?? { collection: random.pick(collections), id: idOf(random, 40) }
  switch (type) {
    case 'import': {
      const many = size === 'small' ? 1 : random.pick([1, 2, 5, 20, 150, 300])
      const values = Array.from({ length: many }, () => objectOf(random, many === 1 ? 150 : 3000))
      const isBad = random.chance(0.1)
      if (isBad)
        values.push(random.pick<JsonObject>([{ id: 'bad', k: 'no' }, { k: 1 }, { id: 1.5 }]))
      // Mostly the ids of a batch differ; those that are there already are left to chance.
      const unique = random.chance(0.9)
        ? [...new Map(values.map((v) => [String(v['id']), v])).values()]
        : values
      return {
        type,
        schema: random.chance(0.9) ? random.pick(known) : random.pick(schemas),
        collection: random.pick(collections),
        values: unique,
        source: random.pick(['web', 'disk']),
        onDuplicate: random.pick(['reject', 'replace', 'skip'] as const),
      }
    }
    case 'replace': {
      const { id: _, ...object } = objectOf(random, 10)
      return { type, collection, id, object: random.chance(0.1) ? { ...object, k: 'no' } : object }
    }
    case 'patch': {
      const changes: JsonObject[] = [
        { k: random.below(20) },
        { k: null },
        { list: [random.below(3), 'a'] },
        { list: null, s: 'b' },
        { n: { a: random.below(3), b: null } },
        { k: 'no' },
      ]
      return { type, collection, id, object: random.pick(changes) }
    }
    case 'delete':
      return { type, collection, id }
    case 'define': {
      const own = random.chance(0.3) ? random.pick(tighter) : { a: { type: 'any' } as const }
      const undeclared = random.chance(0.5)
      const paths = undeclared ? [...indexPaths, ...undeclaredPaths] : indexPaths
      const indexes = random.shuffle(paths).slice(0, random.below(6))
      return {
        type,
        definition: Object.assign(
          { name: random.pick(schemas) },
          { fields: { ...fields, ...own }, indexes },
          undeclared && { index_undeclared: true },
        ),
      }
    }
    case 'drop':
      return { type, schema: random.pick(schemas) }
    case 'deleteCollection':
      return { type, collection: random.pick(collections) }
  }
}

export function chooseQuery(random: Random, model: Model): ObjectQuery {
  const filters: JsonObject[] = [
    {},
    randomFilter(random),
    randomFilter(random),
    { k: random.below(20) },
    { k: { $gte: random.below(20) } },
    { _collection: random.pick(collections), k: { $lt: random.below(20) } },
    { $or: [{ k: random.below(20) }, { s: 'ab' }] },
    { '_metadata.source': 'web', k: { $in: [1, 2, 3] } },
    { _id: { $gt: 1000 } },
  ]
  const sort: Record<string, SortDirection> = {}
  for (let n = random.pick([0, 0, 1, 1, 2]); n > 0; n--) {
    sort[random.pick(queryPaths)] = random.pick(['asc', 'desc'] as const)
  }
  const scattered = random.chance(0.5)
  return {
    schema_name: random.pick([...model.schemas.keys()]),
    filters: random.pick(filters),
    limit: scattered ? random.pick([0, 1, 7, 100]) : 1000,
    ...(scattered && { offset: random.pick([0, 0, 1, 5, 50, 1000]) }),
    ...(Object.keys(sort).length > 0 && { sort }),
  }
}

function objectOf(random: Random, ids: number): JsonObject {
  const object: Record<string, unknown> = { ...randomObject(random) }
  const { s, list, items, n } = object
  if (typeof s !== 'string') delete object['s']
  if (!Array.isArray(list)) delete object['list']
  if (!Array.isArray(items)) delete object['items']
  if (typeof n !== 'object' || n === null || Array.isArray(n)) delete object['n']
  if (random.chance(0.8)) object['k'] = random.below(random.chance(0.9) ? 16 : 20)
  return { id: idOf(random, ids), ...object } as JsonObject
}

function idOf(random: Random, ids: number): string | number {
  const id = random.below(ids)
  return random.chance(0.7) ? id : random.chance(0.5) ? `id ${id}` : String(id)
}
