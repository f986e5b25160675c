// Metadata of documents as triples: whole, as a JSON text, and each value under a predicate of its own, by which
// filters find it inside of a search.

import type { Problems } from '../door/problems.js'
import { isPlainObject, shown } from '../door/wording.js'
import type { JsonObject, JsonValue, Term, Triple } from '../types.js'

export type MetadataValue = string | number | boolean | null | Date

const xsd = 'http://www.w3.org/2001/XMLSchema#'
const json = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON'
const [deepest, mostValues] = [32, 1000]

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

/** A name with a dot in it is another one than two names with a dot between. */
export function predicateOf(at: readonly string[]): Term {
  const names = at.map((name) => encodeURIComponent(name.toWellFormed()).replaceAll('.', '%2E'))
  return { v: `urn:lorekeep:metadata:${names.join('.')}`, e: true }
}

/** The same value is the same term. */
export function literalOf(value: MetadataValue): Term {
  if (typeof value === 'string') return { v: value.toWellFormed(), e: false }
  if (value instanceof Date) return { v: value.toISOString(), e: false, dt: `${xsd}dateTime` }
  if (value === null) return { v: 'null', e: false, dt: json }
  const dt = typeof value === 'number' ? `${xsd}double` : `${xsd}boolean`
  return { v: String(value), e: false, dt }
}
