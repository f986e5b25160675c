// A query as it comes in, checked and understood.

import { addUnknown, ErrorList } from '../../error-list.js'
import { LorekeepError } from '../../errors.js'
import { isSystemField } from '../engine/block.js'
import type { Condition, Path } from '../filter/condition.js'
import { decodeCursor, type Cursor } from './cursor.js'
import { parseFilter } from '../filter/filter.js'
import type { SortKey } from '../filter/sort-values.js'
import type { CompiledSchema } from '../schema/schema.js'
import { checkScope, seenFilter } from '../scope.js'
import type { ObjectLimits, Scope } from '../types.js'

export interface QueryRequest {
  readonly condition: Condition
  readonly limit: number
  readonly offset: number
  /** Empty where no order was asked for. */
  readonly sort: readonly SortKey[]
  readonly fields: readonly Path[] | undefined
  readonly after: Cursor | undefined
}

export interface Problem {
  readonly path: string
  readonly message: string
}

const defaultLimit = 100
const maxSortKeys = 32
const maxFields = 1000

const wholeNumber = /^(0|[1-9]\d*)$/

const members = ['schema_name', 'filters', 'limit', 'offset', 'sort', 'fields', 'after']

/** @throws LorekeepError `LK_QUERY` with `details.errors`, a list of `{ path, message }` */
export function schemaNameOf(query: unknown): string {
  const problems = new ErrorList<Problem>()
  if (!isRecord(query)) {
    problems.add({ path: '', message: 'a query must be an object' })
    throw queryError(problems)
  }
  const { schema_name: name } = query
  if (typeof name !== 'string' || name === '') {
    problems.add({ path: 'schema_name', message: 'must be the name of a schema' })
  }
  addUnknown(problems, query, members, (path) => ({
    path,
    message: `there is no such member; a query has ${members.join(', ')}`,
  }))
  if (problems.count > 0) throw queryError(problems)
  return name as string
}

/** @throws LorekeepError `LK_QUERY` */
export function parseQuery(
  query: object,
  schema: CompiledSchema,
  limits: ObjectLimits,
  scope: Scope = {},
): QueryRequest {
  checkScope(scope)
  const given = query as Readonly<Record<string, unknown>>
  const problems = new ErrorList<Problem>()
  const check = (path: Path) => checkField(path, schema)
  const count = (name: 'limit' | 'offset', otherwise: number) => {
    const { [name]: value } = given
    if (value === undefined) return otherwise
    if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
    problems.add({ path: name, message: `must be a whole number, 0 or more, not ${shown(value)}` })
    return otherwise
  }
  const limit = Math.min(count('limit', defaultLimit), limits.maxQueryLimit)
  const offset = count('offset', 0)
  const sort = parseSort(given['sort'], check, problems)
  const fields = parseFields(given['fields'], check, problems)
  const after = parseAfter(given['after'], sort, offset, check, problems)
  let condition: Condition = { type: 'and', conditions: [] }
  try {
    condition = parseFilter(given['filters'] ?? {}, check)
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'LK_QUERY') throw error
    problems.addAll(error.details)
  }
  if (problems.count > 0) throw queryError(problems)
  const seen = seenFilter(scope, schema.definition.name)
  if (seen !== undefined) {
    const allowed = parseFilter(seen, () => undefined)
    const parts = condition.type === 'and' ? condition.conditions : [condition]
    condition = { type: 'and', conditions: [allowed, ...parts] }
  }
  return { condition, limit, offset, sort: after?.order ?? sort, fields, after }
}

/** Why a path cannot be asked about. */
function checkField(path: Path, { definition }: CompiledSchema): string | undefined {
  const [name = ''] = path
  if (isSystemField(name)) return undefined
  if (name.startsWith('_')) return 'there is no such system field'
  const { fields, strict, id_field: idField } = definition
  if (!strict || Object.hasOwn(fields, name) || name === idField) return undefined
  return `'${definition.name}' does not declare '${name}'`
}

function parseSort(
  value: unknown,
  check: (path: Path) => string | undefined,
  problems: ErrorList<Problem>,
): SortKey[] {
  if (value === undefined) return []
  if (!isRecord(value)) {
    problems.add({ path: 'sort', message: "must be an object such as { price: 'desc' }" })
    return []
  }
  const keys = Object.entries(value)
  if (keys.length > maxSortKeys) {
    problems.add({ path: 'sort', message: `has more than ${maxSortKeys} keys` })
    return []
  }
  if (keys.length > 1 && keys.some(([text]) => wholeNumber.test(text))) {
    // JavaScript puts these first, in JSON too: which one was meant to be first is lost.
    const message = 'a field whose name is a whole number can only be sorted by alone'
    problems.add({ path: 'sort', message })
  }
  return keys.flatMap(([text, direction]): SortKey[] => {
    const path = parsePath(text, `sort.${text}`, check, problems)
    if (direction !== 'asc' && direction !== 'desc') {
      problems.add({
        path: `sort.${text}`,
        message: `must be 'asc' or 'desc', not ${shown(direction)}`,
      })
      return []
    }
    return path === undefined ? [] : [{ path, direction }]
  })
}

function parseFields(
  value: unknown,
  check: (path: Path) => string | undefined,
  problems: ErrorList<Problem>,
): Path[] | undefined {
  if (value === undefined) return undefined
  const isList = Array.isArray(value) && value.every((name) => typeof name === 'string')
  if (!isList || value.length > maxFields) {
    const message = `must be an array of at most ${maxFields} names of fields`
    problems.add({ path: 'fields', message })
    return undefined
  }
  return value.flatMap((text: string, n) => {
    const path = parsePath(text, `fields[${n}]`, check, problems)
    return path === undefined ? [] : [path]
  })
}

function parsePath(
  text: string,
  place: string,
  check: (path: Path) => string | undefined,
  problems: ErrorList<Problem>,
): Path | undefined {
  const path = text.split('.')
  const isPath = path.every((part) => part !== '' && part !== '__proto__') && path.length <= 32
  const reason = isPath ? check(path) : 'is no path of field names'
  if (reason === undefined) return path
  problems.add({ path: place, message: reason })
  return undefined
}

function parseAfter(
  value: unknown,
  sort: readonly SortKey[],
  offset: number,
  check: (path: Path) => string | undefined,
  problems: ErrorList<Problem>,
): Cursor | undefined {
  if (value === undefined) return undefined
  const fail = (message: string) => {
    problems.add({ path: 'after', message })
    return undefined
  }
  if (offset > 0) return fail('goes on from a place; an offset beside it has no meaning')
  const cursor = typeof value === 'string' ? decodeCursor(value) : undefined
  if (cursor === undefined) return fail("must be the 'next' of a page before")
  // Whoever made it, it may ask for nothing that a sort may not.
  const { order } = cursor
  const none = new ErrorList<Problem>()
  const isSort = order.every(({ path }) => parsePath(path.join('.'), '', check, none) !== undefined)
  if (order.length > maxSortKeys || !isSort) return fail('is of no sort that may be asked for')
  const isSame = JSON.stringify(cursor.order) === JSON.stringify(sort)
  if (sort.length > 0 && !isSame) return fail('comes from a query with another sort')
  return cursor
}

export function queryError(problems: ErrorList<Problem>): LorekeepError {
  const wording = ({ path, message }: Problem) => (path === '' ? message : `${path}: ${message}`)
  return new LorekeepError('LK_QUERY', problems.sentence(wording), { details: problems.details })
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}
