// What each operator asks of a value: closures made once for a filter and run for every object.
// They get what the path leads to, `undefined` where that is nothing, and an array both as a whole
// and by its elements.

import { isEqual, compareValues, isScalar, rankOf } from './values.js'
import { leadsTo } from './path.js'
import type { Path, Test, TestOperator } from './condition.js'
import type { Regex } from './regex.js'
import type { JsonValue } from '../types.js'

export type ValueTest = (value: unknown) => boolean

export type RangeOperator = '$gt' | '$gte' | '$lt' | '$lte'

/**
 * A test of `path`. `rest` is the path from the value that `matches` gets: the path without its
 * first part, or all of it where the value is an element of an array.
 */
export function makeTest(
  path: Path,
  rest: Path,
  operator: TestOperator,
  operand: unknown,
  holds: ValueTest,
): Test {
  const anywhere = rest.length === 0 ? holds : (value: unknown) => leadsTo(value, rest, holds)
  // These two are the others turned round, also where the path leads to several values.
  const negated = operator === '$ne' || operator === '$nin' || (operator === '$exists' && !operand)
  const matches = negated ? (value: unknown) => !anywhere(value) : anywhere
  return { type: 'test', path, operator, operand, matches }
}

export function equals(operand: unknown): ValueTest {
  if (typeof operand === 'number') return equalsNumber(operand)
  if (typeof operand === 'string') return equalsString(operand)
  if (operand === null) return orElement((value) => value === undefined || value === null)
  if (isScalar(operand)) return orElement((value) => value === operand)
  return orElement((value) => isEqual(value, operand))
}

export function isOneOf(operands: readonly unknown[]): ValueTest {
  const scalars = new Set<unknown>(operands.filter(isScalar))
  if (scalars.has(null)) scalars.add(undefined)
  const others = operands.filter((operand) => !isScalar(operand))
  if (others.length === 0) return orElement((value) => scalars.has(value))
  return orElement(
    (value) => scalars.has(value) || others.some((operand) => isEqual(value, operand)),
  )
}

/** Compares with values of the operand's type only: no string is more than a number, or less. */
export function isInRange(operator: RangeOperator, operand: JsonValue): ValueTest {
  if (typeof operand === 'number') return numberRanges[operator](operand)
  if (typeof operand === 'string') return stringRanges[operator](operand)
  const includes = operator === '$gte' || operator === '$lte'
  const sign = operator === '$gt' || operator === '$gte' ? 1 : -1
  const rank = rankOf(operand)
  return orElement((value) => {
    if (value === undefined || rankOf(value as JsonValue) !== rank) return false
    const order = compareValues(value as JsonValue, operand) * sign
    return order > 0 || (includes && order === 0)
  })
}

export function fits(regex: Regex): ValueTest {
  return orElement((value) => typeof value === 'string' && regex.test(value))
}

export function isThere(value: unknown): boolean {
  return value !== undefined
}

export function hasSize(size: number): ValueTest {
  return (value) => Array.isArray(value) && value.length === size
}

export function hasElement(test: ValueTest): ValueTest {
  return (value) => hasSome(value, test)
}

// Numbers and strings are what is asked for most. Each test of them is a function of its own, which
// the engine compiles for that type alone: 6 to 9 ns a value, and 8 to 13 with orElement() for all.

function equalsNumber(operand: number): ValueTest {
  const one = (value: unknown) => value === operand
  return (value) => (typeof value === 'number' ? value === operand : hasSome(value, one))
}

function equalsString(operand: string): ValueTest {
  const one = (value: unknown) => value === operand
  return (value) => (typeof value === 'string' ? value === operand : hasSome(value, one))
}

const numberRanges: Readonly<Record<RangeOperator, (operand: number) => ValueTest>> = {
  $gt: (operand) => {
    const one = (value: unknown) => typeof value === 'number' && value > operand
    return (value) => (typeof value === 'number' ? value > operand : hasSome(value, one))
  },
  $gte: (operand) => {
    const one = (value: unknown) => typeof value === 'number' && value >= operand
    return (value) => (typeof value === 'number' ? value >= operand : hasSome(value, one))
  },
  $lt: (operand) => {
    const one = (value: unknown) => typeof value === 'number' && value < operand
    return (value) => (typeof value === 'number' ? value < operand : hasSome(value, one))
  },
  $lte: (operand) => {
    const one = (value: unknown) => typeof value === 'number' && value <= operand
    return (value) => (typeof value === 'number' ? value <= operand : hasSome(value, one))
  },
}

const stringRanges: Readonly<Record<RangeOperator, (operand: string) => ValueTest>> = {
  $gt: (operand) => {
    const one = (value: unknown) => typeof value === 'string' && value > operand
    return (value) => (typeof value === 'string' ? value > operand : hasSome(value, one))
  },
  $gte: (operand) => {
    const one = (value: unknown) => typeof value === 'string' && value >= operand
    return (value) => (typeof value === 'string' ? value >= operand : hasSome(value, one))
  },
  $lt: (operand) => {
    const one = (value: unknown) => typeof value === 'string' && value < operand
    return (value) => (typeof value === 'string' ? value < operand : hasSome(value, one))
  },
  $lte: (operand) => {
    const one = (value: unknown) => typeof value === 'string' && value <= operand
    return (value) => (typeof value === 'string' ? value <= operand : hasSome(value, one))
  },
}

function orElement(test: ValueTest): ValueTest {
  return (value) => test(value) || hasSome(value, test)
}

/** Not the elements of an array in it. */
function hasSome(value: unknown, test: ValueTest): boolean {
  return typeof value === 'object' && Array.isArray(value) && value.some(test)
}
