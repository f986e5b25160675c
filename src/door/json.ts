// Whether a value is plain JSON. Callers in the same process pass anything: what is not JSON would
// be changed, or lost, or fail, when it is stored.

import { article, isPlainObject, kindOf } from './wording.js'

/** Field names and array indexes, from the root on. */
export type JsonPath = readonly (string | number)[]

export interface JsonCheckOptions {
  /** Arrays and objects within each other. 64 by default. */
  readonly maxDepth?: number
  /** The walk stops after so many reports. 20 by default, so that a cycle ends soon. */
  readonly maxReports?: number
  /** A value that is surely longer than this as JSON is refused, and not walked to its end. */
  readonly maxBytes?: number
}

/**
 * True for null, booleans, finite numbers, well-formed strings, and arrays and plain objects of
 * these; otherwise false after at least one report. Runs over every imported object: 0.4 µs for a flat
 * one of 8 fields, half of it for the descriptors and the symbols. Without those a getter could give
 * one value now and another when it is stored.
 */
export function checkJson(
  value: unknown,
  report: (path: string, reason: string) => void,
  { maxDepth = 64, maxReports = 20, maxBytes = Infinity }: JsonCheckOptions = {},
): boolean {
  return new JsonWalk(report, maxDepth, maxReports, maxBytes).visit(value, undefined)
}

/** `details.brand`, `tags[2]`, `["odd key"].x`; '' is the root. Long names are cut. */
export function formatPath(path: JsonPath): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (part.length > longestName) text += `["${quotable(part)}…"]`
    else if (!identifier.test(part)) text += `["${quotable(part)}"]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}

const longestName = 64
const identifier = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u

/** JSON escapes lone surrogates too, also one that the cut made. */
function quotable(name: string): string {
  return JSON.stringify(name.slice(0, longestName)).slice(1, -1)
}

class JsonWalk {
  readonly #report: (path: string, reason: string) => void
  readonly #maxDepth: number
  #reportsLeft: number
  readonly #maxBytes: number
  /** After the least that what was seen takes: no character is shorter than a byte. */
  #bytesLeft: number
  /** Of the container that is open. Becomes text only when something is wrong. */
  readonly #path: (string | number)[] = []

  constructor(
    report: (path: string, reason: string) => void,
    maxDepth: number,
    maxReports: number,
    maxBytes: number,
  ) {
    this.#report = report
    this.#maxDepth = maxDepth
    this.#reportsLeft = maxReports
    this.#maxBytes = maxBytes
    this.#bytesLeft = maxBytes
  }

  /** `key` is where the value stands in the container that is open; undefined for the root. */
  visit(value: unknown, key: string | number | undefined): boolean {
    switch (typeof value) {
      case 'string':
        this.#bytesLeft -= value.length + 1
        return value.isWellFormed() || this.#refuse(key, loneSurrogate)
      case 'number':
        return Number.isFinite(value) || this.#refuse(key, `is ${value}, which JSON does not have`)
      case 'boolean':
        return true
      case 'object':
        return value === null || this.#container(value, key)
      default:
        return this.#refuse(
          key,
          typeof value === 'undefined' ? 'is undefined' : `is ${article(typeof value)}`,
        )
    }
  }

  #container(container: object, key: string | number | undefined): boolean {
    // A cycle ends here too.
    const depth = this.#path.length + (key === undefined ? 1 : 2)
    if (depth > this.#maxDepth) {
      return this.#refuse(key, `is nested deeper than ${this.#maxDepth} levels, or holds itself`)
    }
    if (key !== undefined) this.#path.push(key)
    const ok = Array.isArray(container) ? this.#array(container) : this.#object(container)
    if (key !== undefined) this.#path.pop()
    return ok
  }

  #array(array: readonly unknown[]): boolean {
    // JSON.stringify would call it, and store what it gives.
    if ('toJSON' in array) return this.#refuse(undefined, 'is an array with a toJSON method')
    let ok = true
    for (let i = 0; i < array.length && this.#reportsLeft > 0; i++) {
      // A digit and a comma; the last has none, but there are brackets.
      this.#bytesLeft -= 2
      if (this.#bytesLeft < 0) return this.#refuseLength()
      const element = array[i]
      if (element === undefined && !Object.hasOwn(array, i)) ok = this.#refuse(i, 'is a hole')
      else if (!this.visit(element, i)) ok = false
    }
    return ok
  }

  #object(object: object): boolean {
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== Object.prototype && prototype !== null && !isPlainObject(object)) {
      return this.#refuse(undefined, `is ${kindOf(object)}, not a plain object${adviceOn(object)}`)
    }
    let ok = true
    if (Object.getOwnPropertySymbols(object).length > 0) {
      ok = this.#refuse(undefined, 'has symbols for keys')
    }
    for (const key in object) {
      if (this.#reportsLeft === 0) return false
      // Two quotes, a colon, a digit and a comma.
      this.#bytesLeft -= key.length + 5
      if (this.#bytesLeft < 0) return this.#refuseLength()
      const property = Object.getOwnPropertyDescriptor(object, key)
      // Inherited: somebody extended Object.prototype. It is not of this object.
      if (property === undefined) continue
      if (key === '__proto__') ok = this.#refuse(key, 'is a name that no field can have')
      else if (!key.isWellFormed()) ok = this.#refuse(key, `${loneSurrogate} in its name`)
      else if (!('value' in property)) ok = this.#refuse(key, 'is an accessor')
      else if (!this.visit(property.value, key)) ok = false
    }
    return ok
  }

  #refuseLength(): false {
    this.#reportsLeft = 0
    this.#report('', `has over ${this.#maxBytes} bytes as JSON; at most so many are accepted`)
    return false
  }

  #refuse(key: string | number | undefined, reason: string): false {
    this.#reportsLeft--
    this.#report(formatPath(key === undefined ? this.#path : [...this.#path, key]), reason)
    return false
  }
}

const loneSurrogate = 'has half of a surrogate pair'

/** JSON.stringify makes a text of a date by itself; here that would be another value than was given. */
function adviceOn(object: object): string {
  return object instanceof Date ? ': toISOString() gives a string' : ''
}
