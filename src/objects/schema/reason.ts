// What ajv found wrong, and where, for people.

import type { ErrorObject } from 'ajv/dist/2020.js'
import type { JsonPath } from '../../door/json.js'
import { didYouMean } from '../../door/nearest.js'
import { brief, shown } from '../../door/wording.js'
import type { FieldDefinition, FieldType } from '../types.js'
import type { JsonObject } from '../../types.js'

/**
 * Where the error is, and what is there. Its JSON pointer does not tell `[2]` from `["2"]`, but the
 * object does; its data is the array's for an error in one of the elements.
 */
export function placeOf(
  { instancePath, keyword, params }: ErrorObject,
  root: JsonObject,
): { readonly path: JsonPath; readonly value: unknown } {
  const path: (string | number)[] = []
  let value: unknown = root
  for (const token of instancePath.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~')
    const part = Array.isArray(value) ? Number(name) : name
    path.push(part)
    // ajv walked here before: it is an own property.
    value = (value as Record<string | number, unknown>)[part]
  }
  if (keyword === 'required') path.push(String(params['missingProperty']))
  if (keyword === 'additionalProperties') path.push(String(params['additionalProperty']))
  return { path, value }
}

/** `field` is what the part of the JSON Schema was made from; undefined for the whole object. */
export function reasonOf(
  { keyword, params, parentSchema }: ErrorObject,
  path: JsonPath,
  value: unknown,
  field: FieldDefinition | undefined,
): string {
  const limit = String(params['limit'])
  switch (keyword) {
    case 'required':
      return 'is required and missing'
    case 'additionalProperties': {
      const declared = Object.keys((parentSchema?.['properties'] ?? {}) as object)
      return `is not declared${didYouMean(String(params['additionalProperty']), declared)}`
    }
    case 'minimum':
      return field?.min === undefined
        ? unsafe(value)
        : `must be at least ${limit}, not ${shown(value)}`
    case 'maximum':
      return field?.max === undefined
        ? unsafe(value)
        : `must be at most ${limit}, not ${shown(value)}`
    case 'minLength':
      return `must have at least ${limit} characters, not ${shown(value)}`
    case 'maxLength':
      return `must have at most ${limit} characters, not ${shown(value)}`
    case 'minItems':
      return `must have at least ${limit} elements, not ${(value as unknown[]).length}`
    case 'maxItems':
      return `must have at most ${limit} elements, not ${(value as unknown[]).length}`
    default: {
      // type, enum, format
      const optional = field?.required !== true && typeof path.at(-1) === 'string'
      const hint =
        value === null && optional ? ' (leave the field out, or define it as nullable)' : ''
      return `must be ${expected(field)}, not ${shown(value)}${hint}`
    }
  }
}

function unsafe(value: unknown): string {
  return `must be an integer of at most ${Number.MAX_SAFE_INTEGER}, positive or negative, not ${shown(value)}`
}

function expected(field: FieldDefinition | undefined): string {
  if (field === undefined) return 'an object'
  const orNull = field.nullable ? ' or null' : ''
  if (field.type !== 'enum') return words[field.type] + orNull
  const values = field.values ?? []
  const more = values.length > mostValues ? ` and ${values.length - mostValues} more` : ''
  return `one of ${values.slice(0, mostValues).map(brief).join(', ')}${more}${orNull}`
}

const mostValues = 10

const words: Readonly<Record<Exclude<FieldType, 'enum'>, string>> = {
  string: 'a string',
  text: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  date: "a date such as '2024-01-31'",
  timestamp: "a timestamp such as '2024-01-31T12:00:00Z'",
  uri: "a URI such as 'https://example.org/a'",
  email: 'an email address',
  uuid: 'a UUID',
  any: 'any value',
}
