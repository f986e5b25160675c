// Filters of documents by their metadata, as patterns of a search.

import { Problems } from '../door/problems.js'
import { isPlainObject, shown } from '../door/wording.js'
import type { EntityPattern, ValueFilter } from '../graph/types.js'
import { literalOf, predicateOf, type MetadataValue } from './metadata.js'

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

const [mostParts, mostAlternatives] = [1000, 100]

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
