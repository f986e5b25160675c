// Reading a definition: what is wrong is noted, and the reading goes on.

import { ErrorList } from '../../error-list.js'
import { formatPath, type JsonPath } from '../json.js'
import { shown } from './reason.js'
import type { JsonObject, JsonValue } from '../types.js'

export interface Problem {
  readonly path: string
  readonly message: string
}

/** What is wrong with a definition. */
export class Problems {
  readonly list = new ErrorList<Problem>()

  get count(): number {
    return this.list.count
  }

  /** `message` is made only where it is told. */
  add(path: JsonPath | string, message: string | (() => string)): void {
    if (this.list.isFull) return this.list.omit()
    this.list.add({
      path: typeof path === 'string' ? path : formatPath(path),
      message: typeof message === 'string' ? message : message(),
    })
  }
}

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
