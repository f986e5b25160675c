// Paths of filters: their text, and what they lead to in a value.

import type { Path } from './condition.js'

export const maxPathParts = 32

/** The reason why a text is no path, `undefined` where it is one. */
export function checkPath(text: string): string | undefined {
  const parts = text.split('.', maxPathParts + 1)
  if (parts.length > maxPathParts) return `has more than ${maxPathParts} parts`
  for (const part of parts) {
    if (part === '') return 'has an empty part: a path is names with single dots between them'
    if (part === '__proto__') return "has the part '__proto__', which no field is called"
    if (part.startsWith('$')) {
      return `has the part '${part}': an operator stands inside the field's object, { field: { $gt: 5 } }`
    }
  }
  if (!text.isWellFormed()) return 'has half of a surrogate pair'
  return undefined
}

export function parsePath(text: string): Path {
  return text.split('.')
}

/**
 * Whether `test` holds for any value that the path leads to. It leads through objects, to the
 * element of an array that a number names, and otherwise through each object in an array (not in
 * an array in it). Where it leads nowhere `test` is asked about `undefined`, except behind an
 * array: an object in it that has no such field is passed over.
 */
export function leadsTo(
  start: unknown,
  path: Path,
  test: (value: unknown) => boolean,
  from = 0,
  insideArray = false,
): boolean {
  let value = start
  for (let n = from; n < path.length; n++) {
    if (typeof value !== 'object' || value === null) {
      value = undefined
      break
    }
    const part = path[n] as string
    if (Array.isArray(value) && !isArrayIndex(part)) {
      for (const element of value as readonly unknown[]) {
        if (isObject(element) && leadsTo(element, path, test, n, true)) return true
      }
      return false
    }
    value = memberOf(value, part)
  }
  return value === undefined && insideArray ? false : test(value)
}

/** Of an array too: its elements are its own, and its length is not asked for. */
export function memberOf(container: object, name: string): unknown {
  return Object.hasOwn(container, name)
    ? (container as Readonly<Record<string, unknown>>)[name]
    : undefined
}

export function isArrayIndex(part: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(part)
}

/** Not an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
