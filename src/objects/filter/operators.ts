// The operators that ask about one value, and what they take. Those that hold filters within them
// are filter.ts's.

import { own } from '../../door/members.js'
import type { Operators } from '../filter-types.js'
import type { TestOperator } from './condition.js'
import { inWords, readValue, readValues } from './operands.js'
import type { Problems } from '../../door/problems.js'
import { quoted, shown } from '../../door/wording.js'
import {
  equals,
  fits,
  hasRemainder,
  hasSize,
  isInRange,
  isOneOf,
  isThere,
  isType,
  type RangeOperator,
  type ValueTests,
} from './tests.js'
import { typeNameOf, typeNames } from './bson-types.js'
import type { JsonPath } from '../../door/json.js'
import { whyTooLarge, whyTooLong } from '../../door/patterns.js'
import { checkRegexOptions, compileRegex, type Regex } from './regex.js'

/** What an operator asks about a value; true or false where it does not depend on it. */
export type OperatorTest =
  | boolean
  | { readonly operator: TestOperator; readonly operand: unknown; readonly tests: ValueTests }

const maxTypes = 100

/** Gives `undefined` after at least one problem. */
type Reader = (value: unknown, at: JsonPath, problems: Problems) => OperatorTest | undefined

/** Those that filter.ts reads: they hold filters, or are about each other. */
const others = ['$not', '$all', '$elemMatch', '$regex', '$options'] as const

const readers: Readonly<Record<Exclude<keyof Operators, (typeof others)[number]>, Reader>> = {
  $eq: equality('$eq'),
  $ne: equality('$ne'),
  $gt: range('$gt'),
  $gte: range('$gte'),
  $lt: range('$lt'),
  $lte: range('$lte'),
  $in: membership('$in', '$eq'),
  $nin: membership('$nin', '$ne'),
  $exists: (value, at, problems) => {
    if (typeof value === 'boolean' || typeof value === 'number') {
      return { operator: '$exists', operand: Boolean(value), tests: isThere }
    }
    problems.fail(at, `takes true or false (or 1 or 0), not ${shown(value)}`)
    return undefined
  },
  $type: (value, at, problems) => {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (given.length === 0 || given.length > maxTypes) {
      problems.fail(at, `takes 1 to ${maxTypes} types, not ${given.length}`)
      return undefined
    }
    const names: string[] = []
    for (const [n, type] of given.entries()) {
      const name = typeNameOf(type)
      if (name !== undefined) names.push(name)
      else {
        const here = Array.isArray(value) ? [...at, n] : at
        problems.fail(here, `is ${shown(type)}, no type: there are ${typeNames.join(', ')}`)
      }
    }
    if (names.length < given.length) return undefined
    return { operator: '$type', operand: names, tests: isType(names) }
  },
  $mod: (value, at, problems) => {
    const isPair = Array.isArray(value) && value.length === 2 && value.every(isLongNumber)
    const [divisor, remainder] = isPair ? value.map(Math.trunc) : []
    if (divisor === undefined || remainder === undefined) {
      problems.fail(at, 'takes a divisor and a remainder: [4, 0], two numbers of at most 64 bits')
      return undefined
    }
    if (divisor === 0) {
      problems.fail([...at, 0], 'is a divisor of 0')
      return undefined
    }
    return {
      operator: '$mod',
      operand: [divisor, remainder],
      tests: hasRemainder(divisor, remainder),
    }
  },
  $size: (value, at, problems) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) {
      return { operator: '$size', operand: value, tests: hasSize(value) }
    }
    problems.fail(at, `takes a whole number, 0 or more, not ${shown(value)}`)
    return undefined
  },
}

/** Of `$eq` and the others that take a value; `undefined` where the name is none of them. */
export function readerOf(name: string): Reader | undefined {
  return own<Reader>(readers, name)
}

/** All that may stand inside a field. */
export const operators: readonly string[] = [...Object.keys(readers), ...others]

/** `$regex` and `$options`, of which `at` is the place of both. `count` is told how large the pattern is. */
export function readRegex(
  source: unknown,
  options: unknown,
  at: JsonPath,
  problems: Problems,
  count: (steps: number) => void,
): OperatorTest | undefined {
  const here = [...at, '$regex']
  if (source instanceof RegExp) {
    problems.fail(here, inWords(source))
    return undefined
  }
  if (typeof source !== 'string') {
    problems.fail(here, `takes a string, not ${shown(source)}`)
    return undefined
  }
  const tooLong = whyTooLong(source)
  if (tooLong !== undefined) {
    problems.fail(here, tooLong)
    return undefined
  }
  if (typeof options !== 'string') {
    problems.fail([...at, '$options'], `takes a string, not ${shown(options)}`)
    return undefined
  }
  const reason = checkRegexOptions(options)
  if (reason !== undefined) {
    problems.fail([...at, '$options'], `is ${quoted(options)}, which ${reason}`)
    return undefined
  }
  try {
    const regex: Regex = compileRegex(source, options)
    count(regex.steps)
    const tooLarge = whyTooLarge(regex.steps)
    if (tooLarge !== undefined) {
      problems.fail(here, tooLarge)
      return undefined
    }
    return { operator: '$regex', operand: regex, tests: fits(regex) }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    problems.fail(here, `is not a pattern in RE2's syntax: ${error.message}`)
    return undefined
  }
}

function equality(operator: '$eq' | '$ne'): Reader {
  return (value, at, problems) => {
    const operand = readValue(value, at, problems)
    return operand === undefined ? undefined : { operator, operand, tests: equals(operand) }
  }
}

function range(operator: RangeOperator): Reader {
  return (value, at, problems) => {
    const operand = readValue(value, at, problems)
    if (operand === undefined) return undefined
    return { operator, operand, tests: isInRange(operator, operand) }
  }
}

function isLongNumber(value: unknown): value is number {
  return typeof value === 'number' && value >= -(2 ** 63) && value < 2 ** 63
}

/** Of a single value it is what `single` asks. */
function membership(operator: '$in' | '$nin', single: '$eq' | '$ne'): Reader {
  return (values, at, problems) => {
    const operands = readValues(values, at, problems)
    if (operands === undefined) return undefined
    const [first, ...others] = operands
    if (first === undefined) return operator === '$nin'
    if (others.length === 0) return { operator: single, operand: first, tests: equals(first) }
    return { operator, operand: operands, tests: isOneOf(operands) }
  }
}
