// Reading a definition: what is wrong is noted, and the reading goes on.

import { formatPath, type JsonPath } from '../json.js'
import { shown } from './reason.js'
import type { JsonObject, JsonValue } from '../types.js'

/** What is wrong with a definition: everything, told up to a hundred. */
export class Problems {
  readonly errors: { readonly path: string; readonly message: string }[] = []
  count = 0

  add(path: JsonPath | string, message: string): void {
    if (this.count++ >= mostProblems) return
    this.errors.push({ path: typeof path === 'string' ? path : formatPath(path), message })
  }
}

const mostProblems = 100
/** The value of an own property: a definition is as untrusted as any input. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Gives the value of a key, or undefined where there is none and, after a problem, a wrong one. */
export function taker(input: JsonObject, path: JsonPath, problems: Problems) {
  return <T extends JsonValue>(
    key: string,
    isRight: (value: JsonValue) => value is T,
    expected: string,
  ): T | undefined => {
    const value = own(input, key)
    if (value === undefined || isRight(value)) return value
    problems.add([...path, key], `must be ${expected}, not ${shown(value)}`)
    return undefined
  }
}

export const isString = (value: JsonValue) => typeof value === 'string'
export const isBoolean = (value: JsonValue) => typeof value === 'boolean'
export const isNumber = (value: JsonValue) => typeof value === 'number'
export const isSafe = (value: JsonValue): value is number =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER
export const isLength = (value: JsonValue): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0
