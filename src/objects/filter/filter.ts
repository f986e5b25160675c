// Filters: MongoDB's language of queries, a closed list of its operators. Filters come from
// strangers, so they are read by their own keys alone, and everything about them has a limit.

import type { ParsedCondition } from './condition.js'
import type { Path } from '../values/path.js'
import { inWords, maxFilterDepth } from './operands.js'
import { Problems } from '../../door/problems.js'
import { isPlainObject, shown } from '../../door/wording.js'
import { operators, readerOf, readRegex, type OperatorTest } from './operators.js'
import { checkNumbers, checkPath, parsePath } from '../values/path.js'
import { hasElement, makeTest } from './tests.js'
import { readText, type ParsedText } from './text.js'
import type { JsonPath } from '../../door/json.js'

/** Gives the reason why a path may not be asked about. */
type FieldCheck = (path: Path) => string | undefined

const maxTests = 1000
/** Of all patterns of a filter, as door/patterns.ts counts them. */
const maxSteps = 30_000

export const groups: readonly string[] = ['$and', '$or', '$nor']

/** Of MongoDB, and not here: code, places on the earth, bits, chance. */
const unsupported: readonly string[] = [
  ...['$where', '$expr', '$function', '$jsonSchema', '$sampleRate', '$rand'],
  ...['$bitsAllClear', '$bitsAllSet', '$bitsAnyClear', '$bitsAnySet', '$geoIntersects'],
  ...['$geoWithin', '$near', '$nearSphere', '$maxDistance', '$minDistance'],
]

const everything: ParsedCondition = { type: 'and', conditions: [] }
const nothing: ParsedCondition = { type: 'or', conditions: [] }

/** A filter, and what it searches. */
export interface ParsedFilter {
  /** All of it but for `$text`. */
  readonly condition: ParsedCondition
  readonly text: ParsedText | undefined
}

/** @throws LorekeepError `LK_QUERY` with `details.errors`: { path, message } of each problem */
export function parseSearchFilter(filters: unknown, checkField: FieldCheck): ParsedFilter {
  if (filters === undefined) return { condition: everything, text: undefined }
  const problems = new Problems()
  const parser = new FilterParser(problems, checkField)
  const place = { outer: [], inElement: false, isWhole: true }
  const condition = parser.filter(filters, ['filters'], place)
  problems.throwIfAny('LK_QUERY')
  return { condition, text: parser.text }
}

/** A filter without `$text`. @throws LorekeepError as parseSearchFilter() */
export function parseFilter(filters: unknown, checkField: FieldCheck): ParsedCondition {
  if (filters === undefined) return everything
  const problems = new Problems()
  const place = { outer: [], inElement: false, isWhole: false }
  const condition = new FilterParser(problems, checkField).filter(filters, ['filters'], place)
  problems.throwIfAny('LK_QUERY')
  return condition
}

/** Whether a condition in an `$elemMatch` holds for an element. */
function holds(condition: ParsedCondition, element: unknown): boolean {
  switch (condition.type) {
    case 'test':
      return condition.matches(element)
    case 'and':
      for (const part of condition.conditions) if (!holds(part, element)) return false
      return true
    case 'or':
      for (const part of condition.conditions) if (holds(part, element)) return true
      return false
    case 'not':
      return !holds(condition.condition, element)
  }
}

/** Where a filter stands: at the root, or in an `$elemMatch` on the array at `outer`. */
interface FilterPlace {
  readonly outer: Path
  readonly inElement: boolean
  /** Whether what stands there has to hold of each match: at the top, and in an `$and` there. */
  readonly isWhole: boolean
}

/** What operators are about; without a path the element itself. */
interface Subject extends FilterPlace {
  readonly path: Path
}

class FilterParser {
  readonly #problems: Problems
  readonly #checkField: FieldCheck
  #tests = 0
  #steps = 0
  #text: ParsedText | undefined

  constructor(problems: Problems, checkField: FieldCheck) {
    this.#problems = problems
    this.#checkField = checkField
  }

  get text(): ParsedText | undefined {
    return this.#text
  }

  /** An object of fields and of `$and`, `$or`, `$nor`. */
  filter(filter: unknown, at: JsonPath, place: FilterPlace): ParsedCondition {
    if (!isPlainObject(filter)) {
      return this.#refuse(at, `has to be an object of fields, not ${shown(filter)}`)
    }
    const keys = Object.keys(filter)
    if (!this.#mayGoOn(at) || (keys.length === 0 && !this.#countTest(at))) return nothing
    const conditions = keys.map((key) => {
      const value = filter[key]
      const here = [...at, key]
      if (groups.includes(key)) return this.#group(key, value, here, place)
      if (key === '$text') return this.#search(value, here, place)
      if (key === '$comment') return this.#countTest(here) ? everything : nothing
      if (key.startsWith('$')) return this.#misplaced(key, here)
      return this.#field(key, value, here, place)
    })
    return joined('and', conditions)
  }

  #group(key: string, value: unknown, at: JsonPath, place: FilterPlace): ParsedCondition {
    if (!Array.isArray(value) || value.length === 0) {
      return this.#refuse(at, `takes an array of filters, at least one, not ${shown(value)}`)
    }
    const inside = key === '$and' ? place : { ...place, isWhole: false }
    const conditions = this.#each(value, (filter, n) => this.filter(filter, [...at, n], inside))
    if (key === '$and') return joined('and', conditions)
    const any = joined('or', conditions)
    return key === '$or' ? any : { type: 'not', condition: any }
  }

  #search(value: unknown, at: JsonPath, { isWhole }: FilterPlace): ParsedCondition {
    if (!this.#countTest(at)) return nothing
    if (!isWhole) {
      return this.#refuse(
        at,
        'may stand at the top of the filter or in an $and there, nowhere else',
      )
    }
    if (this.#text !== undefined) return this.#refuse(at, 'comes a second time: once is the most')
    this.#text = readText(value, at, this.#problems)
    return everything
  }

  #field(key: string, value: unknown, at: JsonPath, place: FilterPlace): ParsedCondition {
    const reason = checkPath(key)
    if (reason !== undefined) return this.#refuse(at, reason)
    const path = parsePath(key)
    const whole = [...place.outer, ...path]
    const refused = checkNumbers(whole) ?? this.#checkField(whole)
    if (refused !== undefined) return this.#refuse(at, refused)
    const subject = { ...place, path }
    return hasOperators(value)
      ? this.#operators(value, at, subject)
      : this.#operator('$eq', value, at, subject)
  }

  /** An object of operators, all of which have to hold. */
  #operators(
    given: Readonly<Record<string, unknown>>,
    at: JsonPath,
    subject: Subject,
  ): ParsedCondition {
    if (!this.#mayGoOn(at)) return nothing
    const conditions: ParsedCondition[] = []
    for (const name of Object.keys(given)) {
      const here = [...at, name]
      if (!name.startsWith('$')) {
        this.#refuse(here, 'stands beside operators: there are either fields or operators')
      } else if (name !== '$options') {
        conditions.push(
          name === '$regex'
            ? this.#regex(given, at, subject)
            : this.#operator(name, given[name], here, subject),
        )
      } else if (!Object.hasOwn(given, '$regex')) this.#refuse(here, 'stands without a $regex')
    }
    return joined('and', conditions)
  }

  #operator(name: string, value: unknown, at: JsonPath, subject: Subject): ParsedCondition {
    if (!this.#countTest(at)) return nothing
    const read = readerOf(name)
    if (read !== undefined) return asked(read(value, at, this.#problems), subject)
    switch (name) {
      case '$not':
        if (value instanceof RegExp) return this.#refuse(at, inWords(value))
        return hasOperators(value)
          ? { type: 'not', condition: this.#operators(value, at, subject) }
          : this.#refuse(at, `takes an object of operators, not ${shown(value)}`)
      case '$all':
        return this.#all(value, at, subject)
      case '$elemMatch':
        return this.#elemMatch(value, at, subject)
      default:
        return this.#misplaced(name, at)
    }
  }

  #regex(
    given: Readonly<Record<string, unknown>>,
    at: JsonPath,
    subject: Subject,
  ): ParsedCondition {
    if (!this.#countTest(at)) return nothing
    const options = Object.hasOwn(given, '$options') ? given['$options'] : ''
    const count = (steps: number) => {
      this.#steps += steps
    }
    const question = readRegex(given['$regex'], options, at, this.#problems, count)
    if (this.#steps <= maxSteps) return asked(question, subject)
    return this.#refuse(at.slice(0, 1), `have patterns of more than ${maxSteps} steps together`)
  }

  /** Each of the values has to be there: the same as so many `$eq`, which indexes serve. */
  #all(value: unknown, at: JsonPath, subject: Subject): ParsedCondition {
    if (!Array.isArray(value)) {
      return this.#refuse(at, `takes an array of values, not ${shown(value)}`)
    }
    if (value.length === 0) return nothing
    // Either values or `$elemMatch`, as the first one says.
    const ofElements = hasOperators(value[0])
    const conditions = this.#each(value, (element, n) => {
      const here = [...at, n]
      if (!hasOperators(element)) {
        if (!ofElements) return this.#operator('$eq', element, here, subject)
      } else if (ofElements && Object.keys(element).join() === '$elemMatch') {
        return this.#operators(element, here, subject)
      }
      return this.#refuse(here, 'has no place in $all: values, or { $elemMatch: … } alone')
    })
    return joined('and', conditions)
  }

  /** Operators about the element itself, or a filter of its fields. */
  #elemMatch(value: unknown, at: JsonPath, subject: Subject): ParsedCondition {
    if (!isPlainObject(value)) {
      return this.#refuse(at, `takes an object of operators or of fields, not ${shown(value)}`)
    }
    const outer = [...subject.outer, ...subject.path]
    const place = { outer, inElement: true, isWhole: false }
    const keys = Object.keys(value)
    const ofFields = !hasOperators(value) || keys.some((key) => groups.includes(key))
    if (!ofFields) {
      const condition = this.#operators(value, at, { ...place, path: [] })
      const tests = hasElement((element) => holds(condition, element))
      return asked({ operator: '$elemMatch', operand: condition, tests }, subject)
    }
    const condition = this.filter(value, at, place)
    const tests = hasElement((element) => isContainer(element) && holds(condition, element))
    return asked({ operator: '$elemMatch', operand: condition, tests }, subject)
  }

  #each(
    values: readonly unknown[],
    read: (value: unknown, n: number) => ParsedCondition,
  ): ParsedCondition[] {
    const conditions: ParsedCondition[] = []
    for (let n = 0; n < values.length && !this.#isOver(); n++) conditions.push(read(values[n], n))
    return conditions
  }

  #misplaced(name: string, at: JsonPath): ParsedCondition {
    if (groups.includes(name)) {
      return this.#refuse(at, 'joins whole filters: it stands beside fields, not inside one')
    }
    if (operators.includes(name)) {
      return this.#refuse(at, `stands inside a field: { field: { ${name}: … } }`)
    }
    if (name === '$text') {
      return this.#refuse(at, 'stands beside fields, not inside one: { $text: { $search: … } }')
    }
    const reason = unsupported.includes(name) ? 'is not supported' : 'is not an operator'
    return this.#refuse(at, `${reason}: there are ${[...operators, ...groups, '$text'].join(' ')}`)
  }

  #mayGoOn(at: JsonPath): boolean {
    if (this.#isOver()) return false
    if (at.length <= maxFilterDepth) return true
    this.#refuse(at.slice(0, 4), `is nested deeper than ${maxFilterDepth} levels, or holds itself`)
    return false
  }

  #countTest(at: JsonPath): boolean {
    if (this.#isOver()) return false
    if (++this.#tests <= maxTests) return true
    this.#refuse(at.slice(0, 1), `ask for more than ${maxTests} tests`)
    return false
  }

  /** There is a problem already, and what else there is would only take time. */
  #isOver(): boolean {
    return this.#problems.isFull || this.#tests > maxTests || this.#steps > maxSteps
  }

  #refuse(at: JsonPath, message: string): ParsedCondition {
    this.#problems.fail(at, message)
    return nothing
  }
}

function asked(question: OperatorTest | undefined, { path, inElement }: Subject): ParsedCondition {
  if (question === undefined) return nothing
  if (typeof question === 'boolean') return question ? everything : nothing
  return makeTest(path, inElement, question.operator, question.operand, question.tests)
}

/** With those joined the same way taken apart, and as it is where there is one. */
function joined(type: 'and' | 'or', parts: readonly ParsedCondition[]): ParsedCondition {
  const conditions = parts.flatMap((part) => (part.type === type ? part.conditions : [part]))
  const [first, ...others] = conditions
  return first !== undefined && others.length === 0 ? first : { type, conditions }
}

function hasOperators(value: unknown): value is Readonly<Record<string, unknown>> {
  return isPlainObject(value) && Object.keys(value).some((key) => key.startsWith('$'))
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
