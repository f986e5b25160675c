// JSON Schemas (2020-12), in few words.

import type { JsonObject } from '../../types.js'

export type Schema = JsonObject

export const text = { type: 'string' }
export const flag = { type: 'boolean' }
export const number = { type: 'number' }
export const count = { type: 'integer', minimum: 0 }
export const time = { type: 'string', format: 'date-time' }
export const anyObject = { type: 'object', additionalProperties: true }
export const bytes = { type: 'string', format: 'binary' }

export function list(items: Schema): Schema {
  return { type: 'array', items }
}

export function words(...values: readonly string[]): Schema {
  return { type: 'string', enum: values }
}

export function mapOf(values: Schema): Schema {
  return { type: 'object', additionalProperties: values }
}

/** Of members by their names; one whose name ends with `?` may be left out. */
export function object(members: Readonly<Record<string, Schema>>): Schema {
  const named = Object.entries(members).map(
    ([name, schema]) => [name.replace(/\?$/, ''), schema] as const,
  )
  const required = Object.keys(members).filter((name) => !name.endsWith('?'))
  return {
    type: 'object',
    properties: Object.fromEntries(named),
    ...(required.length > 0 && { required }),
  }
}

/** With a sentence for readers. */
export function described(description: string, schema: Schema): Schema {
  return { ...schema, description }
}

/** One that the document has under this name. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` }
}

/** What every page of a list has, beside what is listed. */
export const page = {
  limit: described('The limit that was applied.', count),
  'next?': described('Where more may follow: what to pass as `after`.', text),
}
