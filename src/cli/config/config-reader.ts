// What reads a configuration piece by piece, and remembers everything that is wrong with it.

import { addUnknown, ErrorList } from '../../error-list.js'

export type Fields = Readonly<Record<string, unknown>>

export interface ConfigProblem {
  readonly key: string
  readonly message: string
}

export class ConfigReader {
  readonly problems = new ErrorList<ConfigProblem>()

  /** An empty object where it is none. */
  object(key: string, value: unknown): Fields {
    if (isObject(value)) return value
    this.fail(key, 'must be an object', value)
    return {}
  }

  /** An empty list where it is none, or is left out. */
  list(key: string, value: unknown): readonly unknown[] {
    if (value === undefined || Array.isArray(value)) return value ?? []
    this.fail(key, 'must be an array', value)
    return []
  }

  /** Undefined where it is left out, or is wrong. */
  text(key: string, value: unknown, what = ''): string | undefined {
    if (value === undefined || isText(value)) return value
    this.fail(key, `must be a string that is not empty${what}`, value)
    return undefined
  }

  integer(key: string, value: unknown, least: number, most: number): number | undefined {
    if (value === undefined || isInteger(value, least, most)) return value
    const range =
      most === Number.MAX_SAFE_INTEGER
        ? 'a positive integer'
        : `an integer from ${least} to ${most}`
    this.fail(key, `must be ${range}`, value)
    return undefined
  }

  checkKeys(prefix: string, fields: Fields, known: readonly string[]): void {
    addUnknown(this.problems, fields, known, (key) => ({
      key: `${prefix}${key}`,
      message: `unknown key ${prefix}${key}; known are ${known.join(', ')}`,
    }))
  }

  fail(key: string, rule: string, found: unknown): void {
    this.problems.add({ key, message: `${key} ${rule}, not ${show(found)}` })
  }
}

export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isInteger(value: unknown, least: number, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
}

function show(value: unknown): string {
  if (value === undefined) return 'left out'
  const text = JSON.stringify(value)
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`
}
