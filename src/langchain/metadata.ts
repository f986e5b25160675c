// Metadata of documents as triples: whole, as a JSON text, and each value under a predicate of its own, by which
// filters find it inside of a search.

import { Problems } from '../door/problems.js'
import { isPlainObject, shown } from '../door/wording.js'
import type { EntityPattern, ValueFilter } from '../graph/types.js'
import type { JsonObject, JsonValue, Term, Triple } from '../types.js'

export type MetadataValue = string | number | boolean | null | Date

export interface MetadataOperators {
  readonly $eq?: MetadataValue
  readonly $gt?: string | number | Date
  readonly $gte?: string | number | Date
  readonly $lt?: string | number | Date
  readonly $lte?: string | number | Date
  readonly $in?: readonly MetadataValue[]
}

/**
 * By the path of a value, `loc.pageNumber` or nested; all of it has to hold. Of an array any element will do. `$and` and
 * `$or` take lists of filters, of which all or any have to hold, and stand where paths begin.
 */
export interface MetadataFilter {
  readonly $and?: readonly MetadataFilter[]
  readonly $or?: readonly MetadataFilter[]
  readonly [path: string]:
    MetadataValue | MetadataOperators | MetadataFilter | readonly MetadataFilter[] | undefined
}

const xsd = 'http://www.w3.org/2001/XMLSchema#'
const json = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON'
const [deepest, mostValues] = [32, 1000]
/** Of a filter. */
const [mostParts, mostAlternatives] = [1000, 100]

export interface PlainMetadata {
  readonly plain: JsonObject
  readonly triples: readonly Triple[]
}

/**
 * What is undefined is left out, dates are their ISO 8601, and what has `toJSON()` is what that gives. `path` it has is
 * for the problems that are told of other things that JSON cannot say.
 */
export function metadataOf(
  s: Term,
  metadata: unknown,
  path: string,
  problems: Problems,
): PlainMetadata {
  const triples: Triple[] = []
  const fail = (at: readonly string[], message: string) =>
    problems.fail([path, ...at].join('.'), message)
  const leaf = (value: MetadataValue, at: readonly string[]) => {
    if (triples.length === mostValues) fail([], `has more than ${mostValues} values`)
    else if (triples.length < mostValues)
      triples.push({ s, p: predicateOf(at), o: literalOf(value) })
    return value instanceof Date ? value.toISOString() : value
  }
  const plainOf = (value: unknown, at: readonly string[], depth: number): JsonValue | undefined => {
    if (value === undefined) return undefined
    if (value === null || typeof value === 'string' || typeof value === 'boolean') {
      return leaf(value, at)
    }
    if (typeof value === 'number' && Number.isFinite(value)) return leaf(value, at)
    if (value instanceof Date && !Number.isNaN(value.getTime())) return leaf(value, at)
    if (depth > deepest)
      return void fail(at, `is nested deeper than ${deepest} times, or in itself`)
    if (Array.isArray(value)) {
      // As JSON has it: a hole keeps its place.
      return Array.from(value, (item) => plainOf(item, at, depth + 1) ?? null)
    }
    if (isPlainObject(value)) {
      const entries = Object.entries(value).flatMap(([name, member]) => {
        const plain = plainOf(member, [...at, name], depth + 1)
        return plain === undefined ? [] : [[name, plain] as const]
      })
      return Object.fromEntries(entries)
    }
    const { toJSON } = Object(value) as { toJSON?: unknown }
    if (typeof toJSON === 'function' && !(value instanceof Date)) {
      return plainOf(toJSON.call(value), at, depth + 1)
    }
    return void fail(at, `must be what JSON can say, or a date, not ${shown(value)}`)
  }
  if (!isPlainObject(metadata)) fail([], `must be a plain object, not ${shown(metadata)}`)
  const plain = isPlainObject(metadata) ? plainOf(metadata, [], 0) : {}
  return { plain: plain as JsonObject, triples }
}

/**
 * What `where` of a search takes, once for each way in which a filter can hold; none where nothing can fit it.
 * @throws LorekeepError `LK_GRAPH_QUERY`
 */
export function alternativesOf(filter: MetadataFilter | undefined): readonly EntityPattern[][] {
  if (filter === undefined) return [[]]
  const problems = new Problems()
  const bounded = (ways: Ways): Ways => {
    if (ways.length <= mostAlternatives) return ways
    const message = `has more than ${mostAlternatives} combinations of what is in lists of $in and $or`
    problems.fail('filter', message)
    return []
  }
  const both = (some: Ways, others: Ways) =>
    bounded(some.flatMap((way) => others.map((other) => [...way, ...other])))
  const either = (some: Ways, others: Ways) => bounded([...some, ...others])
  const refuse = (path: string, message: string): Ways => {
    problems.fail(path, message)
    return []
  }

  let parts = 0
  const read = (value: unknown, at: readonly string[], path: string): Ways => {
    if (++parts > mostParts) {
      if (parts > mostParts + 1) return []
      return refuse('filter', `has more than ${mostParts} parts, or is nested in itself`)
    }
    if (isValue(value) && at.length > 0) return [[equalTo(value, at)]]
    if (!isPlainObject(value)) {
      return refuse(path, `must be a value or operators, not ${shown(value)}`)
    }
    let ways: Ways = [[]]
    const range: Record<string, unknown> = {}
    for (const [name, member] of Object.entries(value)) {
      const inside = `${path}.${name}`
      if (!name.startsWith('$')) {
        ways = both(ways, read(member, [...at, ...name.split('.')], inside))
      } else if (at.length === 0) ways = both(ways, readAll(member, name, inside))
      else if (name === '$eq' && isValue(member)) ways = both(ways, [[equalTo(member, at)]])
      else if (name === '$in' && Array.isArray(member) && member.every(isValue)) {
        ways = both(ways, bounded(member.map((one) => [equalTo(one, at)])))
      } else if (/^\$[gl]te?$/.test(name) && isOrdered(member)) range[name.slice(1)] = member
      else problems.fail(inside, notThat(name, member))
    }
    if (Object.keys(range).length === 0) return ways
    return both(ways, [[{ s: '?entity', p: predicateOf(at), filter: range as ValueFilter }]])
  }
  const readAll = (value: unknown, name: string, path: string): Ways => {
    if (name !== '$and' && name !== '$or') return refuse(path, 'is unknown; there are $and, $or')
    if (!Array.isArray(value) || value.length === 0) {
      return refuse(path, `must be a list of filters, not ${shown(value)}`)
    }
    const all = value.map((one, n) => read(one, [], `${path}[${n}]`))
    return all.reduce(name === '$or' ? either : both)
  }

  const ways = read(filter, [], 'filter')
  problems.throwIfAny('LK_GRAPH_QUERY')
  return ways
}

/** Each is what `where` of a search takes. */
type Ways = readonly EntityPattern[][]

function notThat(name: string, value: unknown): string {
  const known = ['$eq', '$gt', '$gte', '$lt', '$lte', '$in']
  if (!known.includes(name)) return `is unknown; there are ${known.join(', ')}`
  return `cannot be compared with ${shown(value)}`
}

function isOrdered(value: unknown): value is string | number | Date {
  return isValue(value) && value !== null && typeof value !== 'boolean'
}

function isValue(value: unknown): value is MetadataValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (value instanceof Date) return !Number.isNaN(value.getTime())
  return typeof value === 'number' && Number.isFinite(value)
}

function equalTo(value: MetadataValue, at: readonly string[]): EntityPattern {
  return { s: '?entity', p: predicateOf(at), o: literalOf(value) }
}

/** A name with a dot in it is another one than two names with a dot between. */
function predicateOf(at: readonly string[]): Term {
  const names = at.map((name) => encodeURIComponent(name.toWellFormed()).replaceAll('.', '%2E'))
  return { v: `urn:lorekeep:metadata:${names.join('.')}`, e: true }
}

/** The same value is the same term. */
function literalOf(value: MetadataValue): Term {
  if (typeof value === 'string') return { v: value.toWellFormed(), e: false }
  if (value instanceof Date) return { v: value.toISOString(), e: false, dt: `${xsd}dateTime` }
  if (value === null) return { v: 'null', e: false, dt: json }
  const dt = typeof value === 'number' ? `${xsd}double` : `${xsd}boolean`
  return { v: String(value), e: false, dt }
}
