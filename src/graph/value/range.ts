// Conditions on the objects of a pattern, as the stretch of values that they leave.

import type { Problems } from '../../door/problems.js'
import { isRecord, joined, quoted, shown, unknownMember } from '../../door/wording.js'
import { annotationProblem, termOf, xsd } from '../../terms.js'
import type { Term } from '../../types.js'
import type { FilterValue, ValueFilter } from '../types.js'
import {
  compareValues,
  orderedDatatypes,
  valueOf,
  type Family,
  type Value,
} from './literal-value.js'

/** Values of one family between two bounds. */
export interface ValueRange {
  readonly family: Family
  /** Keys of the values are from this to that; one that is at a bound may be outside. */
  readonly low: number
  readonly high: number
  holds(term: Term): boolean
}

const conditions = ['gt', 'gte', 'lt', 'lte'] as const
const families = ['numbers', 'dates', 'texts'] as const

/** Of a filter that was checked. */
export function rangeOf(filter: ValueFilter): ValueRange {
  const { gt, gte, lt, lte } = filter
  const valued = (condition: FilterValue | undefined) =>
    condition === undefined ? undefined : valueOf(asTerm(condition) as Term)
  const bounds = { gt: valued(gt), gte: valued(gte), lt: valued(lt), lte: valued(lte) }
  const all = Object.values(bounds).filter((value) => value !== undefined)
  const { family } = all[0] as Value
  const isAbove = (value: Value) =>
    (bounds.gt === undefined || compareValues(value, bounds.gt) > 0) &&
    (bounds.gte === undefined || compareValues(value, bounds.gte) >= 0)
  const isBelow = (value: Value) =>
    (bounds.lt === undefined || compareValues(value, bounds.lt) < 0) &&
    (bounds.lte === undefined || compareValues(value, bounds.lte) <= 0)
  return {
    family,
    low: Math.max(bounds.gt?.key ?? -Infinity, bounds.gte?.key ?? -Infinity),
    high: Math.min(bounds.lt?.key ?? Infinity, bounds.lte?.key ?? Infinity),
    holds(term) {
      const value = valueOf(term)
      return value?.family === family && isAbove(value) && isBelow(value)
    },
  }
}

/** A copy of what somebody asks with; what is wrong with it is noted. */
export function readFilter(value: unknown, path: string, problems: Problems): ValueFilter {
  const fail = (at: string, message: string) => problems.fail(joined(path, at), message)
  if (!isRecord(value)) {
    fail('', `must be an object such as { gt: 9 }, not ${shown(value)}`)
    return {}
  }
  for (const name in value) {
    if (!conditions.some((known) => known === name)) fail(name, unknownMember(name, conditions))
  }
  const filter: Partial<Record<(typeof conditions)[number], FilterValue>> = {}
  let first: Family | undefined
  for (const name of conditions) {
    const bound = value[name]
    if (bound === undefined) continue
    const term = asTerm(bound)
    const found = typeof term === 'string' ? undefined : valueOf(term)
    if (typeof term === 'string') fail(name, term)
    else if (found === undefined) fail(name, unordered(term))
    else if (first !== undefined && found.family !== first) {
      fail(name, `is one of the ${families[found.family]}, and the others are ${families[first]}`)
    } else {
      first = found.family
      filter[name] = term
    }
  }
  if (Object.values(value).every((bound) => bound === undefined)) {
    fail('', 'has no condition; write gt, gte, lt or lte')
  }
  return filter
}

/** Why a literal cannot be compared with. */
function unordered({ v, dt = '' }: Term): string {
  return !orderedDatatypes.has(dt)
    ? `has the datatype <${dt}>, which has no order; numbers, dates and texts have one`
    : `is ${quoted(v)}, which is no value of its datatype <${dt}>`
}

/** The literal of a value; or what is wrong with it. */
function asTerm(value: unknown): Term | string {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? { v: value, e: false } : 'is not well-formed'
    case 'bigint':
      return { v: String(value), e: false, dt: `${xsd}integer` }
    case 'number': {
      if (Number.isNaN(value)) return 'is NaN, which has no order'
      const v = Number.isFinite(value) ? String(value) : value > 0 ? 'INF' : '-INF'
      return { v, e: false, dt: `${xsd}double` }
    }
  }
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) return 'is an invalid Date'
    return { v: yearOf(value.toISOString()), e: false, dt: `${xsd}dateTime` }
  }
  if (!isRecord(value)) return `must be a number, a date or a text, not ${shown(value)}`
  const { v, e, dt, ln } = value as Partial<Term>
  if (typeof v !== 'string' || !v.isWellFormed() || e !== false) {
    return `must be a number, a date, a text or a literal { v, e: false, dt }, not ${shown(value)}`
  }
  const [member, message] = annotationProblem({ e, dt, ln }) ?? []
  if (message === undefined) return termOf({ v, e, dt, ln })
  return member === '' ? message : `has a wrong ${member}, which ${message}`
}

/** JavaScript has years beyond four digits with six and a sign, XML Schema as many as it takes. */
function yearOf(date: string): string {
  return date.replace(/^([+-])0*(\d{4,})/, (_, sign: string, year: string) =>
    sign === '-' ? `-${year}` : year,
  )
}
