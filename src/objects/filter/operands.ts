// The operands of a filter: what is wrong with them, told all at once.

import { LorekeepError } from '../../errors.js'
import { checkJson, formatPath, type JsonPath } from '../json.js'
import { isObject } from './path.js'
import type { JsonValue } from '../types.js'

/** Levels of arrays and objects within each other, in a whole filter. */
export const maxFilterDepth = 100
export const maxInOperands = 10_000

const maxProblems = 100

/** What is wrong with a filter, and where. */
export class FilterProblems {
  readonly #errors: { readonly path: string; readonly message: string }[] = []
  #count = 0

  add(at: JsonPath, message: string, inside = ''): void {
    this.#count++
    if (this.#errors.length === maxProblems) return
    const separator = inside === '' || inside.startsWith('[') ? '' : '.'
    this.#errors.push({ path: formatPath(at) + separator + inside, message })
  }

  /** Nobody reads more, and a filter that holds itself has no end of them. */
  get enough(): boolean {
    return this.#count >= maxProblems
  }

  throwIfAny(): void {
    const [first, ...others] = this.#errors
    if (first === undefined) return
    const more = others.length > 0 ? `, and ${this.#count - 1} more` : ''
    throw new LorekeepError('LK_QUERY', `${first.path} ${first.message}${more}`, {
      details: { errors: this.#errors, count: this.#count },
    })
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
