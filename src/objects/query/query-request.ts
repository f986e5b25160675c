// A query as it comes in, checked and understood.

import { versionField } from '../engine/ref.js'
import { Members } from '../../door/members.js'
import { Problems } from '../../door/problems.js'
import { aCount, aString, aText, oneOf, type Rule } from '../../door/rules.js'
import { LorekeepError } from '../../errors.js'
import { isSystemField } from '../engine/block.js'
import type { State, Table } from '../engine/state.js'
import type { ParsedCondition } from '../filter/condition.js'
import type { Path } from '../values/path.js'
import { cursorAt, placeOf, type Cursor } from './cursor.js'
import { parseSearchFilter } from '../filter/filter.js'
import { withEngine } from '../filter/regex.js'
import type { ParsedText } from '../filter/text.js'
import type { SortKey } from '../filter/sort-values.js'
import type { CompiledSchema } from '../schema/schema.js'
import { noLanguage } from '../../text/language-names.js'
import { aReads } from '../../reads.js'
import type { Cursors } from '../../paging.js'
import type { Scope } from '../../scope.js'
import { scoreField } from './rows.js'
import { seenCondition, type Seen } from './seen.js'
import type { TextQuestion } from './text-search.js'
import type { ObjectLimits } from '../types.js'
import { isPlainObject, shown } from '../../door/wording.js'

export interface QueryRequest {
  readonly condition: ParsedCondition
  /** The part of it that the scope says; `undefined` where all is seen. */
  readonly seen: ParsedCondition | undefined
  readonly limit: number
  readonly offset: number
  /** Empty where no order was asked for. */
  readonly sort: readonly SortKey[]
  readonly fields: readonly Path[] | undefined
  readonly after: Cursor | undefined
  /** Its plan is asked for: of the page no more than how many objects it has. */
  readonly isExplained?: true
  /** Makes what is passed as `after` for what comes behind. */
  readonly seal: (cursor: Cursor) => string
  /** Of a query with `$text`. */
  readonly text: TextRequest | undefined
}

/** A search, and what beside it is asked. */
export interface TextRequest {
  readonly question: TextQuestion
  /** The caller's own, without what the scope says. */
  readonly condition: ParsedCondition
  readonly seen: Seen | undefined
}

const defaultLimit = 100
const maxSortKeys = 32
const maxFields = 1000

const wholeNumber = /^(0|[1-9]\d*)$/

const aDirection = oneOf('asc', 'desc')
/** What MongoDB writes for them. */
const numbers = new Map<unknown, Rule<string>>([
  [1, oneOf('asc')],
  [-1, oneOf('desc')],
])

interface ParsedQuery {
  /** That it is asked of. */
  readonly table: Table
  readonly request: QueryRequest
}

/**
 * @throws LorekeepError `LK_QUERY` with `details.errors`, a list of `{ path, message }`;
 *   `LK_SCHEMA_NOT_FOUND` where nothing else is wrong, and behind that `LK_CURSOR`
 * @throws TypeError for a scope that cannot be
 */
export function parseQuery(
  query: unknown,
  state: State,
  limits: ObjectLimits,
  scope: Scope,
  cursors: Cursors,
): Promise<ParsedQuery> {
  return withEngine(() => parse(query, state, limits, scope, cursors))
}

function parse(
  query: unknown,
  { tables }: State,
  limits: ObjectLimits,
  scope: Scope,
  cursors: Cursors,
): ParsedQuery {
  const problems = new Problems()
  const given = new Members(query, '', problems, 'a query, an object')
  const name = given.need('schema_name', aText)
  const table = name === undefined ? undefined : tables.get(name)
  // Without a schema there is no telling which fields there are, but all else.
  const checkFilter = (path: Path) => table && checkField(path, table.schema)
  const check = (path: Path) => (path[0] === scoreField ? checkScore(path) : checkFilter(path))
  const limit = Math.min(given.take('limit', aCount()) ?? defaultLimit, limits.maxQueryLimit)
  const offset = given.take('offset', aCount()) ?? 0
  const sort = parseSort(given.get('sort'), check, problems)
  // Which state that is was decided before.
  given.take('reads', aReads)
  const fields = parseFields(given.get('fields'), check, problems)
  const cursor = given.take('after', aString)
  if (cursor !== undefined && offset > 0) {
    problems.fail('after', 'goes on from a place; an offset beside it has no meaning')
  }
  let condition: ParsedCondition = { type: 'and', conditions: [] }
  let asked: ParsedText | undefined
  try {
    ;({ condition, text: asked } = parseSearchFilter(given.get('filters'), checkFilter))
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code !== 'LK_QUERY') throw error
    problems.addAll(error.details)
  }
  if (asked === undefined) refuseScores(sort, fields, problems)
  const question = asked && table && textQuestion(asked, table, problems)
  given.end()
  problems.throwIfAny('LK_QUERY')
  if (table === undefined) return noSchema(name as string)
  const list = () => ['objects', name, scope.user, given.get('filters'), sort]
  const after = cursor === undefined ? undefined : cursorAt(cursors.open(cursor, list()))
  const seal = (cursor: Cursor) => cursors.seal(placeOf(cursor), list())
  const allowed = seenCondition(scope, name as string)
  const text = question && { question, condition, seen: allowed }
  const seen = allowed?.condition
  if (seen !== undefined) {
    const parts = condition.type === 'and' ? condition.conditions : [condition]
    condition = { type: 'and', conditions: [seen, ...parts] }
  }
  const order = after?.order ?? (text !== undefined && sort.length === 0 ? bestFirst : sort)
  const request = { condition, seen, limit, offset, sort: order, fields, after, seal, text }
  return { table, request }
}

const bestFirst: readonly SortKey[] = [{ path: [scoreField], direction: 'desc' }]

/** Without a search there are no scores. */
function refuseScores(
  sort: readonly SortKey[],
  fields: readonly Path[] | undefined,
  problems: Problems,
): void {
  const isScore = ([name]: Path) => name === scoreField
  const message = `is there with $text in the filters alone`
  if (sort.some(({ path }) => isScore(path))) problems.fail(`sort.${scoreField}`, message)
  const n = fields?.findIndex(isScore) ?? -1
  if (n >= 0) problems.fail(`fields[${n}]`, message)
}

function textQuestion(
  text: ParsedText,
  { schema, indexes }: Table,
  problems: Problems,
): TextQuestion | undefined {
  const { name, indexes: defined } = schema.definition
  const index = indexes.find(({ text }) => text !== undefined)
  const definition = defined.find((one) => typeof one !== 'string')
  if (index === undefined || definition === undefined) {
    const message = `needs an index of text, which '${name}' has not: indexes: [{ text: ['name'] }]`
    problems.fail('filters.$text', message)
    return undefined
  }
  return { ...text, index, language: text.language ?? definition.language ?? noLanguage }
}

export function noSchema(name: string): never {
  throw new LorekeepError('LK_SCHEMA_NOT_FOUND', `'${name}'`, { details: { schema_name: name } })
}

function checkScore({ length }: Path): string | undefined {
  return length === 1 ? undefined : 'is a number, which has no fields'
}

/** Why a path cannot be asked about. */
function checkField(path: Path, { definition }: CompiledSchema): string | undefined {
  const [name = ''] = path
  if (isSystemField(name)) return undefined
  if (name === scoreField) return 'is what $text gives: to sort by, and among the fields'
  if (name === versionField) return 'is no field to filter or sort by: it is there to be shown'
  if (name.startsWith('_')) return 'is no system field that there is'
  const { fields, strict, id_field: idField } = definition
  if (!strict || Object.hasOwn(fields, name) || name === idField) return undefined
  return `'${definition.name}' does not declare '${name}'`
}

function parseSort(
  value: unknown,
  check: (path: Path) => string | undefined,
  problems: Problems,
): SortKey[] {
  if (value === undefined) return []
  if (!isPlainObject(value)) {
    problems.fail('sort', `must be an object such as { price: 'desc' }, not ${shown(value)}`)
    return []
  }
  const keys = Object.entries(value)
  if (keys.length > maxSortKeys) {
    problems.fail('sort', `has more than ${maxSortKeys} keys`)
    return []
  }
  if (keys.length > 1 && keys.some(([text]) => wholeNumber.test(text))) {
    // JavaScript puts these first, in JSON too: which one was meant to be first is lost.
    const message = 'a field whose name is a whole number can only be sorted by alone'
    problems.fail('sort', message)
  }
  return keys.flatMap(([text, direction]): readonly SortKey[] => {
    if (isTextScore(direction)) return bestFirst
    const path = parsePath(text, `sort.${text}`, check, problems)
    const isDirection = aDirection.holds(direction)
    if (!isDirection) {
      const { expected } = numbers.get(direction) ?? aDirection
      problems.fail(`sort.${text}`, `must be ${expected}, not ${shown(direction)}`)
    }
    return path === undefined || !isDirection ? [] : [{ path, direction }]
  })
}

/** `{ score: { $meta: 'textScore' } }`, as MongoDB writes it. */
function isTextScore(value: unknown): boolean {
  if (!isPlainObject(value)) return false
  return Object.keys(value).join() === '$meta' && value['$meta'] === 'textScore'
}

function parseFields(
  value: unknown,
  check: (path: Path) => string | undefined,
  problems: Problems,
): Path[] | undefined {
  if (value === undefined) return undefined
  if (!Array.isArray(value) || value.length > maxFields) {
    const found = Array.isArray(value) ? `one of ${value.length}` : shown(value)
    problems.fail(
      'fields',
      `must be an array of at most ${maxFields} names of fields, not ${found}`,
    )
    return undefined
  }
  // Not of the list itself, which may have holes.
  return Array.from(value as unknown[]).flatMap((text, n) => {
    if (typeof text !== 'string') {
      problems.fail(`fields[${n}]`, `must be the name of a field, a string, not ${shown(text)}`)
      return []
    }
    // To be given, and not to be asked about: no two objects have the same.
    const path = text === versionField ? [text] : parsePath(text, `fields[${n}]`, check, problems)
    return path === undefined ? [] : [path]
  })
}

function parsePath(
  text: string,
  place: string,
  check: (path: Path) => string | undefined,
  problems: Problems,
): Path | undefined {
  const path = text.split('.')
  const isPath = path.every((part) => part !== '' && part !== '__proto__') && path.length <= 32
  const reason = isPath ? check(path) : 'is no path of field names'
  if (reason === undefined) return path
  problems.fail(place, reason)
  return undefined
}
