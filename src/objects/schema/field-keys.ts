// What may stand in the definition of a field, by its place and its type.

import type { JsonPath } from '../../door/json.js'
import { didYouMean } from '../../door/nearest.js'
import { brief, shown } from '../../door/wording.js'
import type { FieldDefinition, FieldType } from '../types.js'
import type { JsonObject, JsonValue } from '../../types.js'
import { own } from '../../door/members.js'
import { aFlag, aNumber, aString } from '../../door/rules.js'
import type { Problems } from '../../door/problems.js'

/** `top` is a field of the schema, `inner` one of an object in it, `element` that of an array. */
export type FieldPlace = 'top' | 'inner' | 'element'

const mostEnumValues = 1000
const longestNameBytes = 256

/** The reason why it cannot name a field, or be a part of a path. */
export function wrongFieldName(name: string): string | undefined {
  if (name === '') return 'is empty'
  if (name.includes('.')) return "has a '.', which stands between the parts of a path"
  if (name.startsWith('$')) return "begins with '$', as operators do"
  if (name === '__proto__') return 'is a name that no field can have'
  if (Buffer.byteLength(name) > longestNameBytes) return `has more than ${longestNameBytes} bytes`
  return undefined
}

const strings: readonly FieldType[] = [
  'string',
  'text',
  'date',
  'timestamp',
  'uri',
  'email',
  'uuid',
]
const types: readonly FieldType[] = [
  ...strings,
  'number',
  'integer',
  'boolean',
  'enum',
  'array',
  'object',
  'any',
]

/** Names that other systems have for a type. */
const otherNames = new Map<string, FieldType>([
  ['float', 'number'],
  ['double', 'number'],
  ['datetime', 'timestamp'],
])

/** The keys that only some types have. */
export const fittingTypes: Readonly<Record<string, readonly FieldType[]>> = {
  min: ['number', 'integer'],
  max: ['number', 'integer'],
  min_length: [...strings, 'array'],
  max_length: [...strings, 'array'],
  values: ['enum'],
  items: ['array'],
  properties: ['object'],
  // Any value may be null anyhow.
  nullable: types.filter((type) => type !== 'any'),
}

const ofEvery = ['type', 'description', 'enum', ...Object.keys(fittingTypes)]
const ofNamed = [...ofEvery, 'required', 'default']
const ofTop = [...ofNamed, 'primary_key', 'indexed']
const keysOf = { top: ofTop, inner: ofNamed, element: ofEvery }

/** The array form's own: `id` numbers the fields there, and `size` is 0 where there is no limit. */
const ofArrayForm = ['name', 'id', 'size']

export function checkKeys(
  input: JsonObject,
  path: JsonPath,
  place: FieldPlace,
  inArray: boolean,
  problems: Problems,
): void {
  for (const key of Object.keys(input)) {
    if (keysOf[place].includes(key)) continue
    const at = [...path, key]
    if (inArray && ofArrayForm.includes(key)) {
      if (key === 'size' && input[key] !== 0) problems.fail(at, "is not kept to: use 'max_length'")
    } else if (key === 'pattern' || key === 'format') {
      const instead = 'the types date, timestamp, uri, email and uuid have their own'
      problems.fail(at, `is refused: patterns of users are not run; ${instead}`)
    } else if (ofNamed.includes(key)) {
      problems.fail(at, 'has no meaning for the elements of an array')
    } else if (ofTop.includes(key)) {
      problems.fail(at, "is for the fields of the schema itself; 'indexes' takes paths to others")
    } else problems.fail(at, `is no key of a field${didYouMean(key, keysOf[place])}`)
  }
}

/** A string or number with an `enum` is an enum. An empty one says nothing. */
export function typeOf(
  input: JsonObject,
  path: JsonPath,
  problems: Problems,
): FieldType | undefined {
  const given = own(input, 'type')
  const found = types.find((type) => type === given) ?? otherNames.get(String(given))
  if (found === undefined) {
    const wrong =
      given === undefined
        ? 'is missing'
        : `is no type: ${brief(given)}${typeof given === 'string' ? didYouMean(given, types) : ''}`
    problems.fail([...path, 'type'], `${wrong}; there are ${types.join(', ')}`)
    return undefined
  }
  const values = own(input, 'enum')
  if (values === undefined || (Array.isArray(values) && values.length === 0)) return found
  if (found === 'array' || found === 'object') {
    problems.fail([...path, 'enum'], `does not fit the type ${found}`)
    return found
  }
  return 'enum'
}

export function valuesOf(
  input: JsonObject,
  path: JsonPath,
  problems: Problems,
): FieldDefinition['values'] {
  const [key, other] = Object.hasOwn(input, 'values') ? ['values', 'enum'] : ['enum', 'values']
  const given = own(input, key)
  const at = [...path, key]
  if (Object.hasOwn(input, other)) problems.fail([...path, other], `says '${key}' a second time`)
  if (!Array.isArray(given) || given.length === 0) {
    problems.fail([...path, 'values'], 'must be an array of at least one value')
    return undefined
  }
  if (given.length > mostEnumValues) {
    problems.fail(at, `has ${given.length} values: ${mostEnumValues} are the most`)
    return undefined
  }
  const values = given as readonly JsonValue[]
  const fits = enumCheck(String(own(input, 'type')))
  const seen = new Set<JsonValue>()
  for (const [i, value] of values.entries()) {
    if (typeof value === 'object' && value !== null) {
      problems.fail(
        [...at, i],
        `must be a string, number, true, false or null, not ${shown(value)}`,
      )
    } else if (seen.has(value)) problems.fail([...at, i], `comes twice: ${brief(value)}`)
    else if (!fits(value)) problems.fail([...at, i], `is not of the type: ${brief(value)}`)
    seen.add(value)
  }
  return values as FieldDefinition['values']
}

/** Of `{ "type": "integer", "enum": [1, 2] }`: the values have to be of the type too. */
function enumCheck(type: string): (value: JsonValue) => boolean {
  if (type === 'enum' || type === 'any') return () => true
  if (type === 'integer') return (value) => Number.isSafeInteger(value)
  if (type === 'boolean') return aFlag.holds
  return (type === 'number' || otherNames.get(type) === 'number' ? aNumber : aString).holds
}
