// A query with `$text`: what the words find, crossed with the rest of the filter, best first or in
// the order that is asked for.

import type { Memory } from '../engine/memory.js'
import type { Table } from '../engine/state.js'
import { refsWithin } from './accesses.js'
import { planQuery, type Plan } from './planner.js'
import type { QueryRequest, TextRequest } from './query-request.js'
import type { QueryResult } from './query-result.js'
import {
  PageSize,
  placesAgain,
  placesThere,
  scoreField,
  visitRows,
  type Meter,
  type Visit,
} from './rows.js'
import { seenRows } from './seen-rows.js'
import { sortSoon } from './sort-in-turns.js'
import { searchText, type TextMatches } from './text-search.js'
import { cursorOf, sortedRefs, SortedWindow } from './windows.js'

export async function runTextQuery(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  text: TextRequest,
  meter: Meter,
): Promise<QueryResult> {
  const { matches, plan, visit } = await search(table, memory, text, meter, !isBestFirst(request))
  const found = { plan, sort: 'memory', counted: false, text: matches } as const
  if (isBestFirst(request) && visit.filter === undefined) {
    const { refs, scores } = scoredAmong(matches, visit.refs)
    const { limit, offset } = request
    const wanted = limit === 0 ? 0 : offset + limit + 1
    const best = await bestOf(refs, scores, request, wanted, meter)
    const page = best.slice(offset, offset + limit)
    const last = page.at(-1)
    const isMore = last !== undefined && best.length > offset + limit
    const pageRefs = page.map(({ ref }) => ref)
    return {
      ...found,
      places: await placesThere(table, pageRefs, memory, meter, new PageSize(request)),
      returned: page.length,
      total: refs.length,
      next: isMore ? cursorOf(request, request.sort, last.values, last) : undefined,
    }
  }
  const window = new SortedWindow(request, matches.scoreOf)
  await visitRows({ ...visit, refs: visit.refs ?? matches.refs }, (block, rows) =>
    window.take(block, rows, meter),
  )
  const { refs: page, ...sorted } = await window.finish(meter)
  return {
    ...found,
    ...sorted,
    places: await placesAgain(table, page, memory, new PageSize(request)),
    returned: page.length,
  }
}

/** All matches in the order that is asked for. */
export async function refsOfText(
  table: Table,
  memory: Memory,
  request: QueryRequest,
  text: TextRequest,
  meter: Meter,
): Promise<{ readonly refs: Float64Array; readonly matches: TextMatches }> {
  const { matches, visit } = await search(table, memory, text, meter, true)
  if (isBestFirst(request) && visit.filter === undefined) {
    const { refs, scores } = scoredAmong(matches, visit.refs)
    const best = await bestOf(refs, scores, request, Infinity, meter)
    return { refs: Float64Array.from(best, ({ ref }) => ref), matches }
  }
  const refs = visit.refs ?? matches.refs
  return { refs: await sortedRefs({ ...visit, refs }, request, matches.scoreOf), matches }
}

interface Found {
  readonly matches: TextMatches
  /** Of the rest of the filter. */
  readonly plan: Plan
  /** What has to be asked of which rows; of all matches, where there are no references. */
  readonly visit: Visit
}

async function search(
  table: Table,
  memory: Memory,
  { question, condition, seen }: TextRequest,
  meter: Meter,
  looksAtAll: boolean,
): Promise<Found> {
  const visible = seen && (await seenRows(table, question.index, seen, memory, meter))
  const matches = await searchText(table, question, memory, meter, visible)
  const among = matches.refs.length
  const plan = await planQuery(table, condition, memory, { looksAtAll, among })
  const { access, filter } = plan
  const refs = access && (await refsWithin(matches.refs, access, memory, meter))
  const visit = { table: plan.table, pages: memory.blocks, seen: undefined, meter, refs, filter }
  return { matches, plan, visit }
}

function isBestFirst({ sort: [first, ...others] }: QueryRequest): boolean {
  return first?.path[0] === scoreField && first.direction === 'desc' && others.length === 0
}

/** Both grow. */
function scoredAmong({ refs, scores }: TextMatches, some: Float64Array | undefined) {
  if (some === undefined) return { refs, scores }
  const found = new Float64Array(some.length)
  for (let n = 0, at = 0; n < found.length; n++) {
    while ((refs[at] as number) < (some[n] as number)) at++
    found[n] = scores[at] as number
  }
  return { refs: some, scores: found }
}

interface Scored {
  readonly values: readonly [score: number]
  readonly ref: number
}

/**
 * The best of those behind the page before, at most so many: best first, then as they were stored.
 * @param refs growing
 */
async function bestOf(
  refs: Float64Array,
  scores: Float64Array,
  { after }: QueryRequest,
  wanted: number,
  meter: Meter,
): Promise<Scored[]> {
  const [last = Infinity] = (after?.values ?? []) as readonly number[]
  const lastRef = after?.ref ?? -1
  const scoreOf = (n: number) => scores[n] as number
  const order = (a: number, b: number) => scoreOf(b) - scoreOf(a) || a - b
  const breathe = () => meter.breathe()
  let kept: number[] = []
  // Of one score the first stay, so that once as many are kept as are wanted none as good as the last
  // of them is among the best.
  let worst = -1
  for (let n = 0; n < scores.length; n++) {
    const score = scores[n] as number
    if (score <= worst || wanted === 0) continue
    if (score > last || (score === last && (refs[n] as number) <= lastRef)) continue
    kept.push(n)
    if (kept.length < 2 * wanted + 64) continue
    const sorted = sortSoon(kept, order, breathe)
    kept = (sorted instanceof Promise ? await sorted : sorted).slice(0, wanted)
    worst = scoreOf(kept.at(-1) as number)
  }
  const best = (await sortSoon(kept, order, breathe)).slice(0, wanted)
  return best.map((n) => ({ values: [scoreOf(n)], ref: refs[n] as number }))
}
