// The operands of a filter: what is wrong with them, told all at once.

import { ErrorList } from '../../error-list.js'
import { LorekeepError } from '../../errors.js'
import { checkJson, formatPath, type JsonPath } from '../json.js'
import { isObject } from './path.js'
import type { JsonValue } from '../types.js'

/** Levels of arrays and objects within each other, in a whole filter. */
export const maxFilterDepth = 100
export const maxInOperands = 10_000

/** What is wrong with a filter, and where. */
export class FilterProblems {
  readonly #list = new ErrorList<{ readonly path: string; readonly message: string }>()

  add(at: JsonPath, message: string, inside = ''): void {
    if (this.#list.isFull) return this.#list.omit()
    const separator = inside === '' || inside.startsWith('[') ? '' : '.'
    this.#list.add({ path: formatPath(at) + separator + inside, message })
  }

  /** Nobody reads more, and a filter that holds itself has no end of them. */
  get enough(): boolean {
    return this.#list.isFull
  }

  throwIfAny(): void {
    const { count, details } = this.#list
    if (count === 0) return
    const sentence = this.#list.sentence(({ path, message }) => `${path} ${message}`)
    throw new LorekeepError('LK_QUERY', sentence, { details: { ...details, count } })
  }
}

/** A copy of an operand: the caller may change its own while the query runs. */
export function readValue(
  value: unknown,
  at: JsonPath,
  problems: FilterProblems,
): JsonValue | undefined {
  const report = (path: string, reason: string) => problems.add(at, reason, path)
  if (!checkJson(value, report, { maxDepth: Math.max(maxFilterDepth - at.length, 0) })) {
    return undefined
  }
  const operator = findOperator(value)
  if (operator !== undefined) {
    problems.add(at, `has the key ${quote(operator)}: no operator can stand inside a value`)
    return undefined
  }
  return structuredClone(value) as JsonValue
}

export function readValues(
  values: unknown,
  at: JsonPath,
  problems: FilterProblems,
): readonly JsonValue[] | undefined {
  if (!Array.isArray(values)) {
    problems.add(at, `takes an array of values, not ${describe(values)}`)
    return undefined
  }
  if (values.length > maxInOperands) {
    problems.add(at, `has ${values.length} values; there may be ${maxInOperands}`)
    return undefined
  }
  return readValue(values, at, problems) as readonly JsonValue[] | undefined
}

export function describe(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  switch (typeof value) {
    case 'object':
      return 'an object'
    case 'string':
      return quote(value)
    case 'number':
    case 'boolean':
    case 'undefined':
      return String(value)
    default:
      return `a ${typeof value}`
  }
}

export function quote(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text)
}

/** A plain object: what JSON.parse gives, or one without a prototype. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function findOperator(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const found = key.startsWith('$') ? key : findOperator(member)
    if (found !== undefined) return found
  }
  return undefined
}
