// What an index can tell of a test: the ranges in which the keys of its matches lie.

import {
  bracketOf,
  compareScalars,
  isScalar,
  type Bracket,
  type KeyRange,
  type Scalar,
} from '../values/values.js'
import type { Test } from './condition.js'
import type { Regex } from './regex.js'

interface KeyRanges {
  /** In their order, none over another; none at all where nothing can match. */
  readonly ranges: readonly KeyRange[]
  /** A row matches if, and not only if, one of its keys lies in a range. */
  readonly exact: boolean
}

/**
 * Every row that matches the test, regular or not, has a key in one of these ranges. `undefined`
 * where no index tells anything: operators such as `$ne`, and operands that are no scalars.
 * A row that is not regular may match two tests of a path by a key each: ranges of two tests say
 * nothing together.
 */
export function rangesOf({ operator, operand }: Test): KeyRanges | undefined {
  switch (operator) {
    case '$eq':
      return isScalar(operand) ? { ranges: [pointOf(operand)], exact: true } : undefined
    case '$in':
      return Array.isArray(operand) && operand.every(isScalar)
        ? { ranges: distinct(operand).map(pointOf), exact: true }
        : undefined
    case '$gt':
      return boundedBy(operand, (gt) => ({ gt }))
    case '$gte':
      return boundedBy(operand, (gte) => ({ gte }))
    case '$lt':
      return boundedBy(operand, (lt) => ({ lt }))
    case '$lte':
      return boundedBy(operand, (lte) => ({ lte }))
    case '$regex':
      return prefixRange((operand as Regex).prefix)
    case '$type':
      return typeRanges(operand as readonly string[])
    case '$mod':
      return { ranges: [{ bracket: 1 }], exact: false }
    default:
      return undefined
  }
}

/** `undefined` where a type has no keys in an index. */
function typeRanges(names: readonly string[]): KeyRanges | undefined {
  if (names.includes('object') || names.includes('array')) return undefined
  const brackets = new Set<Bracket>()
  let exact = true
  for (const name of names) {
    const found = bracketsOfTypes[name]
    if (found === undefined) continue
    brackets.add(found)
    // What is missing has the key of null, and whole numbers have those of others.
    if (name !== 'number' && name !== 'string' && name !== 'bool') exact = false
  }
  return { ranges: [...brackets].sort((a, b) => a - b).map((bracket) => ({ bracket })), exact }
}

const bracketsOfTypes: Readonly<Record<string, Bracket>> = {
  null: 0,
  number: 1,
  int: 1,
  long: 1,
  double: 1,
  string: 2,
  bool: 3,
}

function boundedBy(
  operand: unknown,
  bound: (value: Scalar) => Omit<KeyRange, 'bracket'>,
): KeyRanges | undefined {
  if (!isScalar(operand)) return undefined
  const bracket = bracketOf(operand)
  if (operand !== null) return { ranges: [{ bracket, ...bound(operand) }], exact: true }
  // Nothing is more or less than null.
  const { gte, lte } = bound(operand)
  const includes = gte !== undefined || lte !== undefined
  return { ranges: includes ? [{ bracket }] : [], exact: true }
}

function pointOf(value: Scalar): KeyRange {
  const bracket = bracketOf(value)
  return value === null ? { bracket } : { bracket, gte: value, lte: value }
}

function distinct(values: readonly Scalar[]): readonly Scalar[] {
  return [...new Set(values)].sort(compareScalars)
}

function prefixRange(prefix: string | undefined): KeyRanges | undefined {
  if (prefix === undefined) return undefined
  return { ranges: [{ bracket: 2, gte: prefix, ...endOf(prefix) }], exact: false }
}

/** The first string behind all that begin so; none where the prefix is the highest of all units. */
function endOf(prefix: string): { readonly lt?: string } {
  for (let n = prefix.length - 1; n >= 0; n--) {
    const unit = prefix.charCodeAt(n)
    if (unit < 0xffff) return { lt: prefix.slice(0, n) + String.fromCharCode(unit + 1) }
  }
  return {}
}
