// Which paths an index may have.

import { wrongFieldName } from './field-keys.js'
import { didYouMean } from '../../door/nearest.js'
import type { FieldDefinition } from '../types.js'

type Fields = Readonly<Record<string, FieldDefinition>>

/** As many as a filter's path may have. */
const mostParts = 32
const mostNumbers = 8

const systemPaths = ['_id', '_collection', '_user', '_created_at', '_updated_at']

export interface IndexPathOptions {
  readonly idField: string
  /** The path may lead to fields that are not declared. */
  readonly undeclared: boolean
}

/** The reason why there cannot be an index on the path. */
export function wrongIndexPath(
  path: string,
  fields: Fields,
  { idField, undeclared }: IndexPathOptions,
): string | undefined {
  const [first = '', ...rest] = path.split('.')
  if (rest.length >= mostParts) return `has more than ${mostParts} parts`
  const numbers = rest.filter((part) => /^\d+$/.test(part)).length
  if (numbers > mostNumbers) return `has more than ${mostNumbers} numbers`
  for (const part of [first, ...rest]) {
    const wrong = wrongFieldName(part)
    if (wrong !== undefined) return `has a part that ${wrong}`
  }
  if (first === '_metadata') {
    return rest.length > 0 ? undefined : 'needs a field of it, such as _metadata.source'
  }
  if (first.startsWith('_')) {
    if (systemPaths.includes(path)) return undefined
    return `'${path}' is no system field to index: there are ${systemPaths.join(', ')} and _metadata.…`
  }
  if (first === idField && !Object.hasOwn(fields, first)) {
    return rest.length > 0 ? `'${first}' is an id: it has no fields` : undefined
  }
  return wrongInside(fields, [first, ...rest], undeclared)
}

/** The reason why there is no text to index where the path leads. */
export function wrongTextPath(
  path: string,
  fields: Fields,
  options: IndexPathOptions,
): string | undefined {
  const wrong = wrongIndexPath(path, fields, options)
  if (wrong !== undefined) return wrong
  const parts = path.split('.')
  if (parts[0]?.startsWith('_') && parts[0] !== '_metadata') return 'holds no text to search'
  let at: FieldDefinition | undefined
  let inner: Fields | undefined = fields
  for (const part of parts) {
    at = inner !== undefined && Object.hasOwn(inner, part) ? inner[part] : undefined
    while (at?.type === 'array' && at.items !== undefined) at = at.items
    if (at === undefined) return undefined
    inner = at.properties
  }
  if (at === undefined || !textless.includes(at.type)) return undefined
  return `holds no text: its type is ${at.type}`
}

const textless: readonly string[] = ['number', 'integer', 'boolean', 'object']

const hint = " (with 'index_undeclared' it may be)"

function wrongInside(
  fields: Fields,
  parts: readonly string[],
  undeclared: boolean,
): string | undefined {
  let inner: Fields | undefined = fields
  let at: FieldDefinition | undefined
  for (const [i, part] of parts.entries()) {
    if (at !== undefined) {
      // A path goes through the elements of an array, not through arrays in arrays.
      if (at.type === 'array' && at.items === undefined) return undefined
      const container: FieldDefinition = at.type === 'array' ? (at.items ?? at) : at
      if (container.type === 'any') return undefined
      if (container.type !== 'object') {
        return `'${parts.slice(0, i).join('.')}' has no fields: its type is ${at.type}`
      }
      inner = container.properties
    }
    if (inner === undefined) return undefined
    if (!Object.hasOwn(inner, part)) {
      if (undeclared) return undefined
      const place = `'${parts.slice(0, i + 1).join('.')}'`
      return `${place} is not declared` + (didYouMean(part, Object.keys(inner)) || hint)
    }
    at = inner[part]
  }
  return undefined
}
