// Reading of an object that may come from a client, member by member: what is wrong is noted, and
// the reading goes on.

import { keepShape } from '../kept-shapes.js'
import { formatPath, type JsonPath } from './json.js'
import { Problems } from './problems.js'
import { aCount, aFlag, aText, broken, oneOf, type Rule, aList } from './rules.js'
import { isRecord, joined, shown, type Fields } from './wording.js'

/** The value of an own member: what others put on prototypes does not count. */
export function own<Value>(
  object: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

export class Members {
  readonly problems: Problems
  /** Where the object stands in the whole, such as `steps[1].options`; '' is the whole. */
  readonly path: string
  readonly #given: Fields
  readonly #isRecord: boolean
  readonly #asked: string[] = []

  /** An empty object in place of what is none, after a problem. `noun` is what it has to be. */
  constructor(value: unknown, path: JsonPath | string, problems: Problems, noun = 'an object') {
    this.problems = problems
    this.path = typeof path === 'string' ? path : formatPath(path)
    this.#isRecord = isRecord(value)
    this.#given = isRecord(value) ? value : {}
    if (!this.#isRecord) problems.fail(this.path, `must be ${noun}, not ${shown(value)}`)
  }

  /** As it is, whatever it is: an own member, or undefined. */
  get(name: string): unknown {
    this.#asked.push(name)
    return own(this.#given, name)
  }

  /** Undefined where it is left out or, after a problem, wrong. */
  take<T>(name: string, rule: Rule<T>): T | undefined {
    const value = this.get(name)
    if (value === undefined || rule.holds(value)) return value
    return this.fail(name, broken(rule, value))
  }

  /** As take(), where it may not be left out. */
  need<T>(name: string, rule: Rule<T>): T | undefined {
    const value = this.take(name, rule)
    if (value !== undefined || this.get(name) !== undefined || !this.#isRecord) return value
    return this.fail(name, `is missing; it must be ${rule.expected}`)
  }

  /** As take(), of an array: each item has to be what `rule` says. */
  list<T>(name: string, rule: Rule<T>): readonly T[] | undefined {
    const values = this.take(name, aList)
    const wrong = values?.findIndex((value) => !rule.holds(value)) ?? -1
    if (wrong < 0) return values as readonly T[] | undefined
    const path = joined(this.path, formatPath([name, wrong]))
    this.problems.fail(path, broken(rule, values?.[wrong]))
    return undefined
  }

  integer(name: string, least: number, most: number): number | undefined {
    return this.take(name, aCount(least, most))
  }

  text(name: string): string | undefined {
    return this.take(name, aText)
  }

  boolean(name: string): boolean | undefined {
    return this.take(name, aFlag)
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    return this.take(name, oneOf(...choices))
  }

  fail(name: string, message: string | (() => string)): undefined {
    this.problems.fail(joined(this.path, formatPath([name])), message)
    return undefined
  }

  /** Names what nobody has asked for. */
  end(): void {
    this.problems.unknown(this.#given, [...new Set(this.#asked)], this.path)
  }
}

keepShape(new Members({}, '', new Problems(), ''))
