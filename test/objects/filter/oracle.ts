// Random objects and filters, and mingo as the oracle of which match which.

import { Query } from 'mingo'
import type { ParsedCondition } from '../../../src/objects/filter/condition.js'
import type { JsonObject, JsonValue } from '../../../src/types.js'
import type { Random } from '../../fixtures/random.js'

export type Filter = { readonly [key: string]: JsonValue }

/** The fields of random objects. What they hold is of any type, mostly of the one they suggest. */
const oracleFields = ['a', 'b', 's', 'list', 'items', 'n'] as const

const numbers = [0, 0, 1, 1, 2, 2, 3, -1, 1.5]
const strings = ['a', 'a', 'b', 'b', 'ab', 'ab', '', 'B', '1', 'é', '\u{1f600}', '\uffff']
const scalars: readonly JsonValue[] = [...numbers, ...strings, true, false, null, null]

const commonPaths = ['a', 'b', 's', 'list', 'items', 'n.a', 'n.b', 'n.s', 'items.a', 'items.b']

const textPaths = ['s', 'n.s']

const oddPaths = [
  ...['n', 'missing', 'n.n.a', 'n.list', 'n.list.0', 'n.items.a', 'a.b', 'b.a', 'list.a'],
  ...['list.0', 'list.1', 'list.0.a', 'list.0.0', 'n.0', 'missing.0'],
  ...['items.n.a', 'items.list', 'items.0', 'items.0.a', 'items.1.b', 'items.list.0'],
  ...['items.items.a', 's.length', 'list.length'],
  ...['constructor', 'toString.name', 'n.constructor', 'items.hasOwnProperty'],
]

/** Where random filters look. */
export const oraclePaths: readonly string[] = [...commonPaths, ...oddPaths]

const patterns = [
  'a',
  '^a',
  '^ab',
  'b$',
  '^$',
  '.',
  '[ab]+',
  '^a|b',
  '^ab*$',
  '^a\\.?b',
  'B',
  'é',
  '',
]

/** An object of some of `oracleFields`; small domains, so that filters match. */
export function randomObject(random: Random): JsonObject {
  const object: Record<string, JsonValue> = {}
  for (const field of oracleFields)
    if (random.chance(0.75)) object[field] = fieldValue(random, field, 2)
  return object
}

/** A filter of any of the operators; never one that is refused. */
export function randomFilter(random: Random, depth = 2): Filter {
  const filter: Record<string, JsonValue> = {}
  const size = random.pick([1, 1, 1, 2])
  for (let n = 0; n < size; n++) {
    if (depth > 0 && random.chance(0.25)) {
      filter[random.pick(['$and', '$or', '$or', '$nor'])] = several(random, 1, 3, () =>
        randomFilter(random, depth - 1),
      )
    } else {
      const path = random.pick(random.chance(0.75) ? commonPaths : oddPaths)
      filter[path] = random.chance(0.15)
        ? operandOf(random, path)
        : randomTests(random, path, depth)
    }
  }
  return filter
}

/**
 * Whether mingo answers wrongly, by MongoDB's manual, about this object. Pairs for which it does
 * are left out of the comparison, and no others; filter.test.ts has an example of each.
 */
export function mingoErrs(filter: Filter, object: unknown): boolean {
  return Object.entries(filter).some(([key, value]) =>
    key === '$and' || key === '$or' || key === '$nor'
      ? (value as readonly Filter[]).some((part) => mingoErrs(part, object))
      : testsErr(object, key.split('.'), value),
  )
}

/** Whether a condition holds for an object. */
export function matches(condition: ParsedCondition, object: JsonObject): boolean {
  switch (condition.type) {
    case 'test': {
      const [field = ''] = condition.path
      return condition.matches(Object.hasOwn(object, field) ? object[field] : undefined)
    }
    case 'and':
      return condition.conditions.every((part) => matches(part, object))
    case 'or':
      return condition.conditions.some((part) => matches(part, object))
    case 'not':
      return !matches(condition.condition, object)
  }
}

/** Whether it matches, as mingo has it. */
export function mingoQuery(filter: Filter): (object: unknown) => boolean {
  const query = new Query(filter)
  return (object) => query.test(object as JsonObject)
}

function fieldValue(random: Random, field: string, depth: number): JsonValue {
  if (random.chance(0.15)) return anyValue(random, depth)
  switch (field) {
    case 's':
      return random.pick(strings)
    case 'list':
      return several(random, 0, 3, () =>
        random.chance(0.8) ? random.pick(scalars) : anyValue(random, depth - 1),
      )
    case 'items':
      return several(random, 0, 3, () =>
        random.chance(0.85) ? nestedObject(random, depth - 1) : anyValue(random, depth - 1),
      )
    case 'n':
      return nestedObject(random, depth - 1)
    default:
      return random.pick(random.chance(0.7) ? numbers : scalars)
  }
}

/** With its fields in one order: mingo does not mind the order, and MongoDB does. */
function nestedObject(random: Random, depth: number): JsonObject {
  const object: Record<string, JsonValue> = {}
  for (const field of oracleFields) {
    const deeper = field === 'list' || field === 'items' || field === 'n'
    if (deeper ? depth >= 0 && random.chance(0.25) : random.chance(0.4)) {
      object[field] = fieldValue(random, field, depth - 1)
    }
  }
  return object
}

function anyValue(random: Random, depth: number): JsonValue {
  if (depth < 0 || random.chance(0.6)) return random.pick(scalars)
  return random.chance(0.5)
    ? several(random, 0, 3, () => anyValue(random, depth - 1))
    : nestedObject(random, depth)
}

function randomTests(random: Random, path: string, depth: number): JsonValue {
  const tests: Record<string, JsonValue> = {}
  const size = random.pick([1, 1, 1, 2])
  for (let n = 0; n < size; n++) {
    const ofArrays = random.chance(/(?:list|items)$/.test(path) ? 0.5 : 0.1)
    const operator = random.pick(ofArrays ? arrayOperators : operators)
    if (operator === '$not') tests[operator] = randomTests(random, path, depth)
    else Object.assign(tests, { [operator]: operandFor(random, operator, path, depth) })
    if (operator === '$regex' && random.chance(0.3))
      tests['$options'] = random.pick(['i', 's', 'm', 'im'])
  }
  return tests
}

const operators = [
  ...['$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$gt', '$lt', '$in', '$nin', '$exists', '$not'],
  '$regex',
  ...['$type', '$mod'],
]

const types = ['number', 'string', 'bool', 'null', 'object', 'array']

const arrayOperators = ['$all', '$size', '$elemMatch', '$elemMatch']

function operandFor(random: Random, operator: string, path: string, depth: number): JsonValue {
  switch (operator) {
    case '$in':
    case '$nin':
      return several(random, 0, 4, () => operandOf(random, path))
    case '$exists':
      return random.chance(0.5)
    case '$size':
      return random.below(4)
    case '$type':
      return random.chance(0.5)
        ? random.pick(types)
        : several(random, 1, 3, () => random.pick(types))
    case '$mod':
      return [random.pick([1, 2, 3, -2]), random.pick([0, 0, 1, -1])]
    case '$all':
      if (random.chance(0.2)) return [{ $elemMatch: elementFilter(random, path, depth) }]
      return several(random, 0, 2, () => operandOf(random, path))
    case '$elemMatch':
      return elementFilter(random, path, depth)
    case '$regex':
      return random.pick(patterns)
    case '$eq':
    case '$ne':
      return operandOf(random, path)
    default:
      return random.pick(
        textPaths.includes(path) ? strings : random.chance(0.6) ? numbers : scalars,
      )
  }
}

function elementFilter(random: Random, path: string, depth: number): JsonValue {
  const ofFields = path.startsWith('items') ? 0.8 : 0.2
  if (depth === 0 || !random.chance(ofFields)) return randomTests(random, 'list', 0)
  return random.chance(0.05) ? {} : randomFilter(random, depth - 1)
}

function operandOf(random: Random, path: string): JsonValue {
  if (random.chance(0.1)) return anyValue(random, 1)
  return random.pick(textPaths.includes(path) ? strings : random.chance(0.5) ? numbers : scalars)
}

function several<T>(random: Random, least: number, most: number, make: () => T): T[] {
  return Array.from({ length: least + random.below(most - least + 1) }, make)
}

function testsErr(root: unknown, path: readonly string[], tests: JsonValue): boolean {
  if (!isObject(tests) || !Object.keys(tests).some((key) => key.startsWith('$'))) {
    return testErrs(root, path, '$eq', tests)
  }
  return Object.entries(tests).some(([operator, operand]) =>
    operator === '$not' ? testsErr(root, path, operand) : testErrs(root, path, operator, operand),
  )
}

function testErrs(
  root: unknown,
  path: readonly string[],
  operator: string,
  operand: JsonValue,
): boolean {
  const found = walk(root, path)
  const { values, crossed } = found
  const arrays = values.filter((value) => Array.isArray(value))
  const nested = arrays.some((array) => array.some((element) => Array.isArray(element)))
  if (operator === '$options') return false
  // It gives a whole array that lies in an array for the field of that name of its elements; and a
  // number names a place alone.
  if (found.nestedArrays || found.places) return true
  // Behind an array it passes over objects that lack the field.
  if (found.lacks && takesNull(operator, operand)) return true
  switch (operator) {
    case '$eq':
    case '$ne':
      // It takes the values behind an array for an array of its own, and looks into the elements
      // of elements at the end of a dotted path.
      return (crossed > 0 && Array.isArray(operand)) || (path.length > 1 && nested)
    case '$gt':
    case '$gte':
    case '$lt':
    case '$lte':
      // What is missing is not at least null.
      if (operand === null && values.includes(undefined)) return true
      // It finds no elements of arrays that lie behind an array, nor what lies behind two.
      return crossed > 1 || (crossed > 0 && arrays.length > 0)
    case '$in':
    case '$nin':
      // As for the ranges; and of an array it finds the elements alone.
      return (
        crossed > 1 ||
        (crossed > 0 && arrays.length > 0) ||
        ((operand as readonly JsonValue[]).some((value) => Array.isArray(value)) &&
          (crossed > 0 || arrays.length > 0))
      )
    case '$regex':
      // It looks into the elements of elements.
      return nested
    case '$type':
      // It asks no elements, nor values behind an array.
      return (
        crossed > 0 ||
        arrays.length > 0 ||
        (takesType(operand, 'null') && values.includes(undefined))
      )
    case '$mod':
      // It takes anything for a number, and fractions for more than whole numbers.
      return (
        crossed > 1 ||
        (crossed > 0 && arrays.length > 0) ||
        !values.flat().every((value) => value === undefined || Number.isInteger(value))
      )
    case '$size':
      // It counts the values behind an array.
      return crossed > 0
    case '$all':
      return allErrs(root, path, operand as readonly JsonValue[], found)
    case '$elemMatch':
      // The values behind an array again; and an element that is a scalar has any field with it.
      return crossed > 0 || arrays.flat().some((element) => elementErrs(element, operand as Filter))
    case '$exists':
      // Behind two arrays, or for an element of an array behind one, an empty array is enough.
      return (
        crossed > 1 || (crossed > 0 && (Array.isArray(root) || /^\d+$/.test(path.at(-1) ?? '')))
      )
    default:
      return false
  }
}

/** A value that is no array never has all values; and of an array it compares the elements alone. */
function allErrs(
  root: unknown,
  path: readonly string[],
  operands: readonly JsonValue[],
  { values, crossed }: Found,
): boolean {
  const [value] = values
  if (crossed === 0 && !Array.isArray(value)) {
    return operands.length > 0 && operands.every((operand) => isSame(operand, value))
  }
  if (crossed > 1 || (crossed > 0 && values.some((found) => Array.isArray(found)))) return true
  return operands.some(
    (operand) =>
      Array.isArray(operand) ||
      (isObject(operand) &&
        operand['$elemMatch'] !== undefined &&
        testErrs(root, path, '$elemMatch', operand['$elemMatch'])),
  )
}

function takesType(operand: JsonValue, type: string): boolean {
  return Array.isArray(operand) ? operand.includes(type) : operand === type
}

function takesNull(operator: string, operand: JsonValue): boolean {
  return Array.isArray(operand)
    ? /^\$(?:in|nin|all)$/.test(operator) && operand.includes(null)
    : /^\$(?:eq|ne|gte|lte)$/.test(operator) && operand === null
}

function elementErrs(element: unknown, filter: Filter): boolean {
  // It looks into an array in an array, whose elements are not asked, and which has no fields.
  if (Array.isArray(element)) return true
  const keys = Object.keys(filter)
  if (keys.length === 0) return false
  const groups = ['$and', '$or', '$nor']
  if (keys.every((key) => key.startsWith('$') && !groups.includes(key))) {
    return testsErr({ element }, ['element'], filter)
  }
  const isScalar = typeof element !== 'object' || element === null
  return isScalar ? mingoQuery(filter)(element) : mingoErrs(filter, element)
}

function isSame(operand: JsonValue, value: unknown): boolean {
  return JSON.stringify(operand) === JSON.stringify(value ?? null)
}

interface Found {
  /** `undefined` where it leads to nothing, but for objects in arrays. */
  readonly values: readonly unknown[]
  /** The most arrays on the way that were not entered by a number. */
  readonly crossed: number
  /** One of those has an array for an element. */
  readonly nestedArrays: boolean
  /** An object in an array has no such field. */
  readonly lacks: boolean
  /** A number met an array in which it is not the place of a value that the path leads on from. */
  readonly places: boolean
}

function walk(value: unknown, path: readonly string[]): Found {
  const [part, ...rest] = path
  const none = { crossed: 0, nestedArrays: false, lacks: false, places: false }
  if (part === undefined) return { ...none, values: [value] }
  if (Array.isArray(value) && !/^\d+$/.test(part)) {
    const parts = value.filter(isObject).map((element) => walk(element, path))
    const values = parts.flatMap((found) => found.values)
    return {
      values: values.filter((found) => found !== undefined),
      crossed: 1 + Math.max(0, ...parts.map(({ crossed }) => crossed)),
      nestedArrays:
        value.some((element) => Array.isArray(element)) ||
        parts.some(({ nestedArrays }) => nestedArrays),
      lacks: values.includes(undefined) || parts.some(({ lacks }) => lacks),
      places: parts.some(({ places }) => places),
    }
  }
  const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, part)
  const found = walk(inside ? (value as JsonObject)[part] : undefined, rest)
  if (!Array.isArray(value)) return found
  const named = (value as readonly unknown[])[Number(part)]
  const isPlain = rest.length === 0 ? !Array.isArray(named) : isObject(named)
  const places = !inside || !isPlain || value.some(isObject) || found.places
  return { ...found, places }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
