// How values and the names of members stand in a sentence, and what kind of value one is.

import { nearest } from './nearest.js'

export type Fields = Readonly<Record<string, unknown>>

/** An object with members: neither null nor an array. */
export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What JSON.parse gives for an object, also that of another realm, or one without a prototype. */
export function isPlainObject(value: unknown): value is Fields {
  if (!isRecord(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return true
  const root = prototype as object
  return Object.getPrototypeOf(root) === null && Object.hasOwn(root, 'isPrototypeOf')
}

/** A value inside a sentence: `the string "x"`, `42`, `null`, `an array`. Long ones are cut. */
export function shown(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  switch (typeof value) {
    case 'string':
      return `the string ${quoted(value)}`
    case 'object':
      if (value === null) return 'null'
      if (!isPlainObject(value)) return kindOf(value)
      return Object.keys(value).length === 0 ? 'an empty object' : 'an object'
    case 'function':
    case 'symbol':
      return `a ${typeof value}`
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value)
    default:
      return String(value)
  }
}

/** What an object is that is no plain one: `a Date`. */
export function kindOf(object: object): string {
  const name = Object.prototype.toString.call(object).slice(8, -1)
  return name === 'Object' ? 'an instance of a class' : article(excerpt(name))
}

export function article(noun: string): string {
  return `${/^[aeiou]/i.test(noun) ? 'an' : 'a'} ${noun}`
}

/** A value on its own, as among a list of them: a string without its kind. */
export function brief(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : shown(value)
}

/** A text in quotes. What people write is not repeated at length: it ends up in logs. */
export function quoted(text: string): string {
  return JSON.stringify(excerpt(text))
}

/** The text, or its beginning, without halves of surrogate pairs. */
function excerpt(text: string): string {
  if (text.length <= longestShown) return text.toWellFormed()
  return `${text.slice(0, longestShown).toWellFormed()}…`
}

/** Of texts of documents and of their metadata, too: less would not tell one from another. */
const longestShown = 20

/** Of a member that there is not: `is unknown; did you mean 'limit'?`, or which ones there are. */
export function unknownMember(name: string, known: readonly string[]): string {
  const found = nearest(name, known)
  if (found !== undefined) return `is unknown; did you mean '${found}'?`
  return known.length === 0 ? 'is unknown; there are none here' : `is unknown; ${thereAre(known)}`
}

function thereAre(known: readonly string[]): string {
  return `${known.length === 1 ? 'there is' : 'there are'} ${known.join(', ')}`
}

/** `metadata` and `id` are `metadata.id`; `values` and `[2]` are `values[2]`. */
export function joined(path: string, name: string): string {
  if (path === '' || name === '') return path + name
  return name.startsWith('[') ? path + name : `${path}.${name}`
}
