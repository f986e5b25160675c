// Carries a query out on one state: by an index whose positions give the total and whose order is
// that of the page, by the references that indexes give, or by looking at every object.

import { Problems } from '../../door/problems.js'
import { LorekeepError } from '../../errors.js'
import type { Block } from '../engine/block.js'
import { encodeCursor, type Cursor } from './cursor.js'
import type { Memory } from '../engine/memory.js'
import type { RowPlace } from '../engine/lookup.js'
import { entriesIn, type Index } from '../engine/index-runs.js'
import { everything, refsIn, walk, type IndexEntry, type Span } from '../engine/index-scan.js'
import { pathsOf, planQuery, sortIndex, type Access, type Plan } from './planner.js'
import { type QueryRequest } from './query-request.js'
import { placesOf, visitRows, type Meter, type Visit } from './rows.js'
import type { Table } from '../engine/state.js'
import type { QueryPlan } from '../types.js'
import type { JsonValue } from '../../types.js'
import { compareSorted, sortValues, type SortKey } from '../filter/sort-values.js'
import { isScalar, regularKey, type Scalar } from '../values/values.js'

export interface QueryResult {
  readonly places: readonly RowPlace[]
  readonly total: number
  readonly next: string | undefined
  readonly plan: Plan
  /** The order comes from an index, from sorting, or none was asked for. */
  readonly sort: QueryPlan['sort']
  readonly counted: boolean
}

/** An order that an index has, and the part of it that is asked for. */
export interface Ordered {
  readonly index: Index
  readonly spans: readonly Span[]
  readonly order: SortKey
}

interface Candidate extends RowPlace {
  readonly values: readonly JsonValue[]
  readonly ref: number
}

export async function runQuery(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  meter: Meter,
): Promise<QueryResult> {
  const plan = await planQuery(table, request.condition, memory.entries)
  const ordered = orderedBy(table, plan, request)
  if (ordered !== undefined) return walkIndex(table, memory, request, meter, plan, ordered)
  const isAll = plan.access === undefined && plan.filter === undefined
  if (isAll && request.sort.length === 0) return readInOrder(table, memory, request, meter, plan)
  const { access } = plan
  const refs = access && (await refsOf(access, memory, meter))
  const { table: near, filter } = plan
  const visit = { table: near, pages: memory.blocks, refs, seen: request.seen, filter, meter }
  const window = request.sort.length > 0 ? new SortedWindow(request) : new Window(request)
  const isExact = access?.exact === true
  if (isExact && refs !== undefined && request.sort.length === 0) {
    return readRefs(table, memory, request, meter, plan, refs)
  }
  await visitRows(visit, (block, rows) => window.take(block, rows))
  return {
    ...window.finish(),
    plan,
    sort: request.sort.length > 0 ? 'memory' : 'none',
    counted: false,
  }
}

/** The index whose order is asked for (or is as good as any), where it decides alone. */
export function orderedBy(
  table: Table,
  { access, filter }: Plan,
  { sort, after }: QueryRequest,
): Ordered | undefined {
  if (filter !== undefined || sort.length > 1) return undefined
  // The page before came in the order of the rows, and this one goes on in it.
  if (after !== undefined && sort.length === 0) return undefined
  const [order] = sort
  if (access === undefined) {
    const index = order && sortIndex(table, order.path.join('.'))
    return index && { index, spans: [everything], order }
  }
  if (access.type !== 'index' || !access.exact) return undefined
  const { index, spans } = access
  if (order !== undefined && order.path.join('.') !== index.path.join('.')) return undefined
  return { index, spans, order: order ?? { path: index.path, direction: 'asc' } }
}

/** The rows that an access gives, growing, each once. */
export async function refsOf(access: Access, memory: Memory, meter: Meter): Promise<Float64Array> {
  if (access.type === 'index') {
    const refs = await refsIn(access.index, access.spans, memory.entries)
    meter.keysRead += refs.length
    await meter.breathe()
    return refs
  }
  let refs: Float64Array | undefined
  for (const part of access.parts) {
    const next = await refsOf(part, memory, meter)
    if (refs === undefined) refs = next
    else refs = access.type === 'union' ? united(refs, next) : crossed(refs, next)
  }
  return refs ?? new Float64Array(0)
}

/** All matches in the order of a memory sort: their references alone. */
export async function sortedRefs(visit: Visit, request: QueryRequest): Promise<Float64Array> {
  const found: { readonly values: readonly JsonValue[]; readonly ref: number }[] = []
  const { sort } = request
  await visitRows(visit, (block, rows) => {
    for (const n of rows) {
      const candidate = { values: valuesOf(sort, block, n), ref: block.refs[n] as number }
      if (isBehind(candidate, request)) found.push(candidate)
    }
    return true
  })
  return Float64Array.from(
    found.sort((a, b) => compare(sort, a, b)),
    ({ ref }) => ref,
  )
}

export function planOf(found: QueryResult, meter: Meter): QueryPlan {
  const { plan, total, sort, counted } = found
  const { access } = plan
  const isEmpty = access !== undefined && access.keys === 0
  return {
    plan: access === undefined ? 'scan' : isEmpty ? 'none' : access.type,
    indexes: access === undefined ? [] : partsOf(access),
    filtered: plan.filter !== undefined,
    counted,
    sort,
    keysRead: meter.keysRead,
    objectsRead: meter.objectsRead,
    total,
    returned: found.places.length,
    milliseconds: Math.round(meter.milliseconds * 1000) / 1000,
    notUsed: plan.notUsed.filter(
      ({ path }) => access === undefined || !pathsOf(access).includes(path),
    ),
  }
}

async function walkIndex(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  meter: Meter,
  plan: Plan,
  { index, spans, order }: Ordered,
): Promise<QueryResult> {
  const { limit, offset, after } = request
  const { access } = plan
  const total = access === undefined ? entriesIn(index) : access.keys
  const from = after && entryOf(after)
  const entries = await walk(index, spans, memory.entries, {
    direction: order.direction,
    after: from,
    skip: offset,
    take: limit === 0 ? 0 : limit + 1,
  })
  meter.keysRead += entries.length
  const page = entries.slice(0, limit)
  const places = await placesThere(
    table,
    page.map(({ ref }) => ref),
    memory,
    meter,
  )
  const last = page.at(-1)
  const next =
    last && entries.length > limit ? cursorOf(request, [order], [last.key], last) : undefined
  const sort = request.sort.length > 0 ? 'index' : 'none'
  return { places, total, next, plan, sort, counted: true }
}

/** Where a page ended that came in the order of an index. @throws LorekeepError `LK_QUERY` */
export function entryOf({ values, ref }: Cursor): IndexEntry {
  const [key] = values
  if (isScalar(key)) return { key, ref }
  const problems = new Problems()
  problems.fail('after', 'has no key of the index that is read')
  throw problems.error('LK_QUERY')
}

/** A page of everything there is, in the order of the rows: whole blocks are skipped. */
async function readInOrder(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  meter: Meter,
  plan: Plan,
): Promise<QueryResult> {
  const { limit, offset, after } = request
  const places: RowPlace[] = []
  let skip = offset
  let from = 0
  while (from < table.blocks.length && skip >= (table.blocks[from]?.rows ?? Infinity)) {
    skip -= table.blocks[from++]?.rows ?? 0
  }
  const rest = { ...table, blocks: table.blocks.slice(from) }
  const all = { seen: undefined, filter: undefined, after: after?.ref }
  const visit = { table: rest, pages: memory.blocks, meter, ...all }
  if (limit > 0) {
    await visitRows(visit, (block, rows) => {
      for (const n of rows) {
        if (skip > 0) skip--
        else places.push({ block, n })
        if (places.length > limit) return false
      }
      return true
    })
  }
  const page = places.slice(0, limit)
  const next = places.length > limit ? cursorBehind(request, page.at(-1)) : undefined
  return { places: page, total: table.rows, next, plan, sort: 'none', counted: true }
}

/** The rows are known: only those of the page are read. */
async function readRefs(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  meter: Meter,
  plan: Plan,
  refs: Float64Array,
): Promise<QueryResult> {
  const { limit, offset, after } = request
  let from = offset
  if (after !== undefined) from = refs.findLastIndex((ref) => ref <= after.ref) + 1
  const page = [...refs.subarray(from, from + limit)]
  const places = await placesThere(table, page, memory, meter)
  const isMore = limit > 0 && from + limit < refs.length
  const next = isMore ? cursorBehind(request, places.at(-1)) : undefined
  return { places, total: refs.length, next, plan, sort: 'none', counted: false }
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT` where an index names a row that is not there */
export async function placesThere(
  table: Table,
  refs: readonly number[],
  memory: Memory,
  meter: Meter,
): Promise<RowPlace[]> {
  meter.count(refs.length)
  const places = await placesOf(table, refs, memory.blocks)
  if (places.some((place) => place === undefined)) {
    const { name } = table.schema.definition
    throw new LorekeepError('LK_STORAGE_CORRUPT', `an index of '${name}' names no object`)
  }
  return places as RowPlace[]
}

/** Takes the rows of a page in the order in which they come, and counts all. */
class Window {
  readonly #request: QueryRequest
  readonly #places: RowPlace[] = []
  #total = 0
  #passed = 0

  constructor(request: QueryRequest) {
    this.#request = request
  }

  take(block: Block, rows: readonly number[]): boolean {
    this.#total += rows.length
    const { limit, offset, after } = this.#request
    if (this.#places.length > limit || limit === 0) return true
    for (const n of rows) {
      if (after !== undefined && (block.refs[n] as number) <= after.ref) continue
      if (this.#passed++ < offset) continue
      this.#places.push({ block, n })
      if (this.#places.length > limit) break
    }
    return true
  }

  finish(): Pick<QueryResult, 'places' | 'total' | 'next'> {
    const { limit } = this.#request
    const places = this.#places.slice(0, limit)
    const next =
      this.#places.length > limit ? cursorBehind(this.#request, places.at(-1)) : undefined
    return { places, total: this.#total, next }
  }
}

/** Keeps the rows that come first in an order, and counts all. */
class SortedWindow {
  readonly #request: QueryRequest
  readonly #wanted: number
  #kept: Candidate[] = []
  #total = 0
  /** Once as many are kept as are wanted: what does not come before this is not. */
  #worst: Candidate | undefined

  constructor(request: QueryRequest) {
    this.#request = request
    const { limit, offset } = request
    this.#wanted = limit === 0 ? 0 : offset + limit + 1
  }

  take(block: Block, rows: readonly number[]): boolean {
    this.#total += rows.length
    if (this.#wanted === 0) return true
    const { sort } = this.#request
    for (const n of rows) {
      const candidate: Candidate = {
        block,
        n,
        values: valuesOf(sort, block, n),
        ref: block.refs[n] as number,
      }
      if (!isBehind(candidate, this.#request)) continue
      if (this.#worst !== undefined && compare(sort, candidate, this.#worst) > 0) continue
      this.#kept.push(candidate)
      if (this.#kept.length >= 2 * this.#wanted + 64) this.#cut()
    }
    return true
  }

  finish(): Pick<QueryResult, 'places' | 'total' | 'next'> {
    this.#cut()
    const { limit, offset, sort } = this.#request
    const places = this.#kept.slice(offset, offset + limit)
    const last = places.at(-1)
    const isMore = last !== undefined && this.#kept.length > offset + limit
    const next = isMore ? cursorOf(this.#request, sort, last.values, last) : undefined
    return { places, total: this.#total, next }
  }

  #cut(): void {
    this.#kept.sort((a, b) => compare(this.#request.sort, a, b))
    if (this.#kept.length <= this.#wanted) return
    this.#kept = this.#kept.slice(0, this.#wanted)
    this.#worst = this.#kept.at(-1)
  }
}

function valuesOf(sort: readonly SortKey[], block: Block, n: number): JsonValue[] {
  const values: JsonValue[] = []
  for (const { path } of sort) {
    const value = regularKey(block.field(path[0] as string)[n], path, 1)
    if (value === undefined) return irregularValues(sort, block, n)
    values.push(value)
  }
  return values
}

function irregularValues(sort: readonly SortKey[], block: Block, n: number): JsonValue[] {
  const fields = sort.map(({ path }) => block.field(path[0] as string)[n])
  return sortValues(sort, fields, block.field('_id')[n])
}

type SortedPlace = Pick<Candidate, 'values' | 'ref'>

function compare(sort: readonly SortKey[], a: SortedPlace, b: SortedPlace): number {
  return compareSorted(sort, a.values, b.values) || a.ref - b.ref
}

function isBehind(place: SortedPlace, { sort, after }: QueryRequest): boolean {
  return after === undefined || compare(sort, place, after) > 0
}

function cursorOf(
  { secret }: QueryRequest,
  order: Cursor['order'],
  values: Cursor['values'],
  { ref }: Pick<IndexEntry, 'ref'>,
): string {
  return encodeCursor({ order, values, ref }, secret)
}

function cursorBehind(request: QueryRequest, place: RowPlace | undefined): string | undefined {
  return place && cursorOf(request, [], [], { ref: place.block.refs[place.n] as number })
}

function partsOf(access: Access): QueryPlan['indexes'][number][] {
  if (access.type !== 'index') return access.parts.flatMap(partsOf)
  const { index, spans, keys } = access
  return [{ path: index.path.join('.'), ranges: spans.map(shownSpan), keys }]
}

function shownSpan({ low, high }: Span): string {
  const shown = (key: Scalar) => (typeof key === 'number' ? String(key) : JSON.stringify(key))
  const from = low.ref === -Infinity ? '[' : '('
  const to = high.ref === Infinity ? ']' : ')'
  return `${from}${shown(low.key)}, ${shown(high.key)}${to}`
}

function united(a: Float64Array, b: Float64Array): Float64Array {
  const refs = new Float64Array(a.length + b.length)
  let count = 0
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    const x = a[i] ?? Infinity
    const y = b[j] ?? Infinity
    refs[count++] = Math.min(x, y)
    if (x <= y) i++
    if (y <= x) j++
  }
  return refs.subarray(0, count)
}

function crossed(a: Float64Array, b: Float64Array): Float64Array {
  const refs = new Float64Array(Math.min(a.length, b.length))
  let count = 0
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [x, y] = [a[i] as number, b[j] as number]
    if (x === y) refs[count++] = x
    if (x <= y) i++
    if (y <= x) j++
  }
  return refs.subarray(0, count)
}
