// The operands of a filter: what is wrong with them, told all at once.

import { checkJson, formatPath, type JsonPath } from '../../door/json.js'
import type { Problems } from '../../door/problems.js'
import { joined, quoted, shown } from '../../door/wording.js'
import type { JsonValue } from '../../types.js'

/** Levels of arrays and objects within each other, in a whole filter. */
export const maxFilterDepth = 100
const maxInOperands = 10_000

/** A copy of an operand: the caller may change its own while the query runs. */
export function readValue(value: unknown, at: JsonPath, problems: Problems): JsonValue | undefined {
  if (value instanceof RegExp) {
    problems.fail(at, inWords(value))
    return undefined
  }
  const report = (path: string, reason: string) =>
    problems.fail(joined(formatPath(at), path), reason)
  if (!checkJson(value, report, { maxDepth: Math.max(maxFilterDepth - at.length, 0) })) {
    return undefined
  }
  const operator = findOperator(value)
  if (operator !== undefined) {
    problems.fail(at, `has the key ${quoted(operator)}: no operator can stand inside a value`)
    return undefined
  }
  return structuredClone(value) as JsonValue
}

export function readValues(
  values: unknown,
  at: JsonPath,
  problems: Problems,
): readonly JsonValue[] | undefined {
  if (!Array.isArray(values)) {
    problems.fail(at, `takes an array of values, not ${shown(values)}`)
    return undefined
  }
  if (values.length > maxInOperands) {
    problems.fail(at, `has ${values.length} values; there may be ${maxInOperands}`)
    return undefined
  }
  return readValue(values, at, problems) as readonly JsonValue[] | undefined
}

/** What to write in place of a RegExp, which clients of MongoDB in JavaScript may pass. */
export function inWords({ source, flags }: RegExp): string {
  const options = Array.from(flags).filter((flag) => 'imsu'.includes(flag))
  const asked = options.length === 0 ? '' : `, $options: '${options.join('')}'`
  return `is a RegExp, which JSON does not have: write { $regex: ${quoted(source)}${asked} }`
}

function findOperator(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = key.startsWith('$') ? key : findOperator(member)
    if (found !== undefined) return found
  }
  return undefined
}
