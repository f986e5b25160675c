// Random definitions that are right, and objects for them: right ones, and ones with a fault here
// and there.

import type { FieldDefinition, FieldType } from '../../../src/objects/types.js'
import type { JsonValue } from '../../../src/types.js'
import type { Random } from '../../fixtures/random.js'

type Fields = Readonly<Record<string, FieldDefinition>>

/** Names that hurt whoever builds code or objects of them. */
export const oddNames = [
  ...['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', 'length', 'then'],
  ...['a"b', "it's", 'new\nline', 'back\\slash', '`${x}`', '*/', '~1/~0', '😀', '\u2028', ' ', '0'],
]
const names = ['name', 'price', 'stock', 'tags', 'details', 'brand', 'state', ...oddNames]

/** What each type that is a string admits. */
export const goodStrings: { readonly [Type in FieldType]?: readonly string[] } = {
  date: ['2024-01-31', '2024-02-29'],
  timestamp: ['2024-01-31T12:00:00Z', '2024-01-31T12:00:00.123+01:00'],
  uri: ['https://example.org/a?b#c', 'urn:isbn:0451450523'],
  email: ['ada@example.org'],
  uuid: ['2f1b9c3e-7a5d-4c8b-9e0f-1a2b3c4d5e6f'],
}

export function randomDefinition(random: Random): Record<string, unknown> {
  const fields: Record<string, FieldDefinition> = randomFields(random, 3)
  if (random.chance(0.5)) fields['id'] = { type: random.pick(['string', 'integer']) }
  return {
    name: random.pick(['products', 'Ünïcode', '`${x}`']),
    ...(random.chance(0.2) && { description: 'of things' }),
    ...(random.chance(0.7) && { strict: random.chance(0.5) }),
    fields,
    ...(random.chance(0.5) && {
      indexes: random
        .shuffle([...Object.keys(fields), '_id', '_user', '_metadata.source'])
        .slice(0, random.below(5)),
    }),
  }
}

function randomFields(random: Random, depth: number): Record<string, FieldDefinition> {
  const chosen = random.shuffle(names).slice(0, 1 + random.below(5))
  return Object.fromEntries(chosen.map((name) => [name, randomField(random, depth, true)]))
}

function randomField(random: Random, depth: number, named: boolean): FieldDefinition {
  const flat = ['string', 'text', 'number', 'integer', 'boolean', 'enum', 'any'] as const
  const formatted = ['date', 'timestamp', 'uri', 'email', 'uuid'] as const
  const deep = depth > 0 ? (['array', 'object', 'object'] as const) : []
  const type: FieldType = random.pick([...flat, ...formatted, ...deep])
  const low = random.below(4)
  const high = low + random.below(4)
  const field: FieldDefinition = {
    type,
    ...(named && random.chance(0.3) && { required: true }),
    ...(type !== 'any' && random.chance(0.3) && { nullable: true }),
    ...(type === 'enum' && {
      values: random.shuffle(['new', 'used', 3, false, null]).slice(0, 1 + random.below(5)),
    }),
    ...(type === 'array' && random.chance(0.8) && { items: randomField(random, depth - 1, false) }),
    ...(type === 'object' && random.chance(0.8) && { properties: randomFields(random, depth - 1) }),
    ...((type === 'number' || type === 'integer') && {
      ...(random.chance(0.4) && { min: low }),
      ...(random.chance(0.4) && { max: high }),
    }),
    ...((type === 'string' || type === 'text' || type === 'array') && {
      ...(random.chance(0.3) && { min_length: low }),
      ...(random.chance(0.3) && { max_length: high }),
    }),
  }
  return named && random.chance(0.3) ? { ...field, default: goodValue(random, field) } : field
}

function goodValue(random: Random, field: FieldDefinition): JsonValue {
  const { type, min_length: shortest = 0, max_length: longest = shortest + 3 } = field
  if (field.nullable && random.chance(0.2)) return null
  const length = shortest + random.below(longest - shortest + 1)
  switch (type) {
    case 'string':
    case 'text':
      return random.pick(['a', '😀']).repeat(length)
    case 'number':
    case 'integer': {
      const min = field.min ?? (field.max ?? 0) - 5
      const value = min + random.next() * ((field.max ?? min + 10) - min)
      return type === 'number' ? value : Math.floor(value)
    }
    case 'any':
      return random.pick([null, 0, 'a', false, [], [[1], { a: null }], { constructor: 1 }])
    case 'boolean':
      return random.chance(0.5)
    case 'enum':
      return random.pick(field.values ?? [])
    case 'array':
      return Array.from({ length }, () => goodValue(random, field.items ?? { type: 'number' }))
    case 'object':
      return goodObject(random, field.properties ?? { any: { type: 'number' } })
    default:
      return random.pick(goodStrings[type] ?? [])
  }
}

export function goodObject(random: Random, fields: Fields): Record<string, JsonValue> {
  const present = Object.entries(fields).filter(
    ([, field]) => (field.required && field.default === undefined) || random.chance(0.7),
  )
  return Object.fromEntries(present.map(([name, field]) => [name, goodValue(random, field)]))
}

/** The value with something at random in it changed; it may still be right. */
export function disturbed(random: Random, value: JsonValue): JsonValue {
  if (typeof value === 'object' && value !== null && random.chance(0.8)) {
    if (Array.isArray(value)) {
      const elements = [...(value as readonly JsonValue[])]
      const at = random.below(elements.length + 1)
      elements.splice(at, 1, disturbed(random, elements[at] ?? 0))
      return elements
    }
    const name = random.pick([...Object.keys(value), random.pick(names), 'other'])
    const { [name]: before = null, ...rest } = value as Record<string, JsonValue>
    return random.chance(0.2) ? rest : { ...rest, [name]: disturbed(random, before) }
  }
  const strings = Object.values(goodStrings).flat()
  const odd = [
    null,
    true,
    0,
    -1,
    2,
    1.5,
    2 ** 53,
    '',
    'a',
    '😀😀',
    'new',
    '2024-02-30',
    [],
    {},
    [[0]],
  ]
  return random.pick<JsonValue>([...odd, random.pick(strings)])
}
