// The order of values, and the keys that a value has in an index: MongoDB's rules for what JSON
// can say. Numbers come before strings, those before objects, arrays and booleans.

import type { Path } from './path.js'
import { leadsTo, memberOf } from './path.js'
import type { JsonValue } from '../../types.js'

/** What an index has for keys. */
export type Scalar = null | number | string | boolean

/** Of null, numbers, strings, booleans. Tests of a range never look past the bracket of a value. */
export type Bracket = 0 | 1 | 2 | 3

/** Keys of one bracket. Bounds are of its type; without any it is the whole bracket. */
export interface KeyRange {
  readonly bracket: Bracket
  readonly gt?: Scalar
  readonly gte?: Scalar
  readonly lt?: Scalar
  readonly lte?: Scalar
}

export function bracketOf(value: Scalar): Bracket {
  switch (typeof value) {
    case 'number':
      return 1
    case 'string':
      return 2
    case 'boolean':
      return 3
    default:
      return 0
  }
}

/** Strings by their UTF-16 units; -0 equals 0. Below 0, 0 or above. */
export function compareScalars(a: Scalar, b: Scalar): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a === 'string' && typeof b === 'string') return a === b ? 0 : a < b ? -1 : 1
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b)
  return bracketOf(a) - bracketOf(b)
}

export function isScalar(value: unknown): value is Scalar {
  return value === null || (typeof value !== 'object' && value !== undefined)
}

/**
 * The one key of a row whose path leads to a scalar, or nowhere (null), past no array; `undefined`
 * where that is not so. Asked for every object and index at import: it allocates nothing.
 */
export function regularKey(field: unknown, path: Path, from = 0): Scalar | undefined {
  let value = field
  for (let n = from; n < path.length; n++) {
    if (typeof value !== 'object' || value === null) return null
    if (Array.isArray(value)) return undefined
    value = memberOf(value, path[n] as string)
  }
  if (value === undefined) return null
  return isScalar(value) ? value : undefined
}

/**
 * The keys of a row that is not regular: each scalar, once, that a test of equality or of a range
 * may find there. None where the path leads to objects and empty arrays alone.
 */
export function irregularKeys(field: unknown, rest: Path): readonly Scalar[] {
  const keys = new Set<Scalar>()
  const addOne = (value: unknown) => {
    if (isScalar(value)) keys.add(value)
    return false
  }
  const addAny = (value: unknown) => {
    if (value === undefined) keys.add(null)
    else if (Array.isArray(value)) for (const element of value) addOne(element)
    else addOne(value)
    return false
  }
  leadsTo(field, rest, addAny, addOne)
  return [...keys]
}

/**
 * A total order of all values. Arrays and objects by their parts, so that those are equal which hold the
 * same: an object also by the order of its fields, as MongoDB has it. What is compared with many values has
 * its names listed once.
 */
export function compareValues(a: JsonValue, b: JsonValue, listed?: ListedNames): number {
  if (isScalar(a) && isScalar(b)) return compareScalars(a, b)
  const rank = rankOf(a)
  if (rank !== rankOf(b)) return rank - rankOf(b)
  if (Array.isArray(a)) return compareArrays(a, b as readonly JsonValue[], listed)
  return compareObjects(a as JsonObject, b as JsonObject, listed)
}

/** The names of the fields of objects that have many: to list those took longer than to compare. */
export type ListedNames = ReadonlyMap<object, readonly string[]>

const manyFields = 16

/** Of all the objects in values; `undefined` where none has many fields. */
export function listNames(values: readonly JsonValue[]): ListedNames | undefined {
  const listed = new Map<object, readonly string[]>()
  const visit = (value: JsonValue) => {
    if (isScalar(value)) return
    if (!Array.isArray(value)) {
      const names = Object.keys(value)
      if (names.length >= manyFields) listed.set(value, names)
    }
    for (const part of Object.values(value)) visit(part as JsonValue)
  }
  for (const value of values) visit(value)
  return listed.size === 0 ? undefined : listed
}

type JsonObject = Readonly<Record<string, JsonValue>>

const objectRank = 2.25
const arrayRank = 2.75

/** Objects and arrays stand between the brackets of strings and of booleans. */
export function rankOf(value: JsonValue): number {
  if (isScalar(value)) return bracketOf(value)
  return Array.isArray(value) ? arrayRank : objectRank
}

function compareArrays(
  a: readonly JsonValue[],
  b: readonly JsonValue[],
  listed: ListedNames | undefined,
): number {
  const length = Math.min(a.length, b.length)
  for (let n = 0; n < length; n++) {
    const order = compareValues(a[n] as JsonValue, b[n] as JsonValue, listed)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Field by field: by the types of the values, then the names, then the values. */
function compareObjects(a: JsonObject, b: JsonObject, listed: ListedNames | undefined): number {
  const keys = listed?.get(a) ?? Object.keys(a)
  const others = listed?.get(b) ?? Object.keys(b)
  const length = Math.min(keys.length, others.length)
  for (let n = 0; n < length; n++) {
    const key = keys[n] as string
    const other = others[n] as string
    const mine = a[key] as JsonValue
    const theirs = b[other] as JsonValue
    const order =
      rankOf(mine) - rankOf(theirs) ||
      compareScalars(key, other) ||
      compareValues(mine, theirs, listed)
    if (order !== 0) return order
  }
  return keys.length - others.length
}
