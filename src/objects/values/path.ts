// Paths of filters: their text, and what they lead to in a value.

import { isRecord } from '../../door/wording.js'

/** A path as the parts between its dots; the first is a field of the object. */
export type Path = readonly string[]

const maxPathParts = 32

/**
 * A number leads on as a place and as a name, and so do all behind it: each can double the ways to
 * one value. Counted together in a path and in those of each `$elemMatch` that it stands in.
 */
const maxPathNumbers = 8

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

/** The reason why a path leads too many ways, `undefined` where it does not. */
export function checkNumbers(path: Path): string | undefined {
  const numbers = path.filter(isArrayIndex).length
  return numbers > maxPathNumbers ? `has more than ${maxPathNumbers} numbers` : undefined
}

export function parsePath(text: string): Path {
  return text.split('.')
}

/**
 * Whether a test holds for any value that the path leads to, as MongoDB has it to version 8. It
 * leads through objects and, in an array, through each object and to the element that a number
 * names: a number is a place and a key. `any` is asked about what a field holds, by which it may
 * mean the elements of an array too, and about `undefined` where an object has no such field;
 * `one` about the element that a number at the end names, which is taken as it is. Behind an
 * array, elements that are no objects are passed over.
 */
export function leadsTo(
  start: unknown,
  path: Path,
  any: (value: unknown) => boolean,
  one: (value: unknown) => boolean,
  from = 0,
): boolean {
  let value = start
  for (let n = from; n < path.length; n++) {
    if (typeof value !== 'object' || value === null) return any(undefined)
    if (Array.isArray(value)) return leadsThrough(value, path, any, one, n)
    value = memberOf(value, path[n] as string)
  }
  return any(value)
}

function leadsThrough(
  array: readonly unknown[],
  path: Path,
  any: (value: unknown) => boolean,
  one: (value: unknown) => boolean,
  from: number,
): boolean {
  for (let n = 0; n < array.length; n++) {
    const element = array[n]
    if (isRecord(element) && leadsTo(element, path, any, one, from)) return true
  }
  const part = path[from] as string
  if (!isArrayIndex(part)) return false
  const named = memberOf(array, part)
  if (named === undefined) return false
  if (from + 1 === path.length) return one(named)
  return typeof named === 'object' && named !== null && leadsTo(named, path, any, one, from + 1)
}

/** Of an array the element that a number names; its length is not asked for. */
export function memberOf(container: object, name: string): unknown {
  if (Array.isArray(container) && !isArrayIndex(name)) return undefined
  return Object.hasOwn(container, name)
    ? (container as Readonly<Record<string, unknown>>)[name]
    : undefined
}

export function isArrayIndex(part: string): boolean {
  const first = part.charCodeAt(0)
  return first >= zero && first <= nine && /^(?:0|[1-9]\d*)$/.test(part)
}

const zero = 0x30
const nine = 0x39
