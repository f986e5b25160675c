// Carries a query out on one state: by an index whose positions give the total and whose order is
// that of the page, by the references that indexes give, or by looking at every object.

import { Problems } from '../../door/problems.js'
import type { Cursor } from './cursor.js'
import type { Memory } from '../engine/memory.js'
import type { RowPlace } from '../engine/lookup.js'
import { entriesIn, type Index } from '../engine/index-runs.js'
import { everything, walk, type IndexEntry, type Span } from '../engine/index-scan.js'
import { refsOf } from './accesses.js'
import { planQuery, sortIndex, type Plan } from './planner.js'
import { type QueryRequest } from './query-request.js'
import type { QueryResult } from './query-result.js'
import { PageSize, placesAgain, placesThere, visitRows, type Meter } from './rows.js'
import type { Table } from '../engine/state.js'
import { runTextQuery } from './text-query.js'
import type { SortKey } from '../filter/sort-values.js'
import { isScalar } from '../values/values.js'
import { cursorBehind, cursorOf, SortedWindow, Window } from './windows.js'

/** An order that an index has, and the part of it that is asked for. */
export interface Ordered {
  readonly index: Index
  readonly spans: readonly Span[]
  readonly order: SortKey
}

export async function runQuery(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  meter: Meter,
): Promise<QueryResult> {
  if (request.text !== undefined) return runTextQuery(table, memory, request, request.text, meter)
  const plan = await planQuery(table, request.condition, memory, {
    looksAtAll: request.sort.length > 0,
  })
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
  await visitRows(visit, (block, rows) => window.take(block, rows, meter))
  if (window instanceof Window) return { ...window.finish(), plan, sort: 'none', counted: false }
  const { refs: page, ...sorted } = await window.finish(meter)
  const places = await placesAgain(table, page, memory, new PageSize(request))
  const { length: returned } = page
  return { ...sorted, places, returned, plan, sort: 'memory', counted: false }
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
  // It ended at what no index has, and what there was of that may be gone: all values have an order.
  if (after !== undefined && !isScalar(after.values[0])) return undefined
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
    breathe: () => meter.breathe(),
  })
  meter.keysRead += entries.length
  const page = entries.slice(0, limit)
  const refs = page.map(({ ref }) => ref)
  const places = await placesThere(table, refs, memory, meter, new PageSize(request))
  const last = page.at(-1)
  const next =
    last && entries.length > limit ? cursorOf(request, [order], [last.key], last) : undefined
  const sort = request.sort.length > 0 ? 'index' : 'none'
  return { places, returned: page.length, total, next, plan, sort, counted: true }
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
  const size = new PageSize(request)
  let skip = offset
  let taken = 0
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
        if (skip > 0) {
          skip--
          continue
        }
        if (size.isRead) places.push({ block, n })
        if (++taken > limit) return false
        size.add(block.bytes / block.rows)
      }
      return true
    })
  }
  const page = places.slice(0, limit)
  const next = places.length > limit ? cursorBehind(request, page.at(-1)) : undefined
  const found = { places: page, returned: Math.min(taken, limit), total: table.rows, next }
  return { ...found, plan, sort: 'none', counted: true }
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
  const places = await placesThere(table, page, memory, meter, new PageSize(request))
  const isMore = limit > 0 && from + limit < refs.length
  const next = isMore ? cursorBehind(request, places.at(-1)) : undefined
  const found = { places, returned: page.length, total: refs.length, next }
  return { ...found, plan, sort: 'none', counted: false }
}
