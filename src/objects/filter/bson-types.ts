// The types of BSON, as far as JSON has them. A number is of the type that it gets where Extended
// JSON is read: an integer of 32 bits, one of 64, or else a double.

import { isRecord } from '../../door/wording.js'

/** Types by their names and codes; those without a test are of values that JSON has not. */
const types: readonly (readonly [string, number | undefined, ((value: unknown) => boolean)?])[] = [
  ['double', 1, (value) => typeof value === 'number' && !isInt(value) && !isLong(value)],
  ['string', 2, (value) => typeof value === 'string'],
  ['object', 3, isRecord],
  ['array', 4, (value) => Array.isArray(value)],
  ['binData', 5],
  ['undefined', 6],
  ['objectId', 7],
  ['bool', 8, (value) => typeof value === 'boolean'],
  ['date', 9],
  ['null', 10, (value) => value === null],
  ['regex', 11],
  ['dbPointer', 12],
  ['javascript', 13],
  ['symbol', 14],
  ['javascriptWithScope', 15],
  ['int', 16, (value) => typeof value === 'number' && isInt(value)],
  ['timestamp', 17],
  ['long', 18, (value) => typeof value === 'number' && isLong(value)],
  ['decimal', 19],
  ['minKey', -1],
  ['maxKey', 127],
  ['number', undefined, (value) => typeof value === 'number'],
]

export const typeNames: readonly string[] = types.map(([name]) => name)

/** The name of a type that is given by its name or its code, `undefined` where there is none. */
export function typeNameOf(given: unknown): string | undefined {
  return types.find(([name, code]) => given === name || (given === code && code !== undefined))?.[0]
}

/** Whether a value is of one of the types. */
export function isOfTypes(names: readonly string[]): (value: unknown) => boolean {
  const tests = types.flatMap(([name, , test]) => (test && names.includes(name) ? [test] : []))
  const [only, ...others] = tests
  if (only !== undefined && others.length === 0) return only
  return (value) => tests.some((test) => test(value))
}

function isInt(value: number): boolean {
  return Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31
}

function isLong(value: number): boolean {
  return Number.isInteger(value) && !isInt(value) && value >= -(2 ** 63) && value < 2 ** 63
}
