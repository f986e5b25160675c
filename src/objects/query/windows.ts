// The rows of a page among all that match, as they come: those at a place in the order of the rows,
// or those that come first in another one.

import type { Block } from '../engine/block.js'
import type { IndexEntry } from '../engine/index-scan.js'
import type { RowPlace } from '../engine/lookup.js'
import { compareSorted, sortValues, type SortKey } from '../filter/sort-values.js'
import type { JsonValue } from '../../types.js'
import { regularKey } from '../values/values.js'
import type { Cursor } from './cursor.js'
import type { QueryRequest } from './query-request.js'
import { PageSize, scoreField, visitRows, type Meter, type ScoreOf, type Visit } from './rows.js'
import { sortInTurns, sortSoon } from './sort-in-turns.js'

/** What a page has, and where the next one begins. */
export interface PageWindow {
  /** None of a plan. */
  readonly places: readonly RowPlace[]
  readonly returned: number
  readonly total: number
  readonly next: string | undefined
}

/** A page by its references: a block for each row that may be of it would be all that there are. */
interface SortedPage {
  readonly refs: readonly number[]
  readonly total: number
  readonly next: string | undefined
}

interface Candidate {
  readonly values: readonly JsonValue[]
  readonly ref: number
}

/** Takes the rows of a page in the order in which they come, and counts all. */
export class Window {
  readonly #request: QueryRequest
  readonly #places: RowPlace[] = []
  readonly #size: PageSize
  #taken = 0
  #total = 0
  #passed = 0

  constructor(request: QueryRequest) {
    this.#request = request
    this.#size = new PageSize(request)
  }

  take(block: Block, rows: readonly number[]): true {
    this.#total += rows.length
    const { limit, offset, after } = this.#request
    if (this.#taken > limit || limit === 0) return true
    for (const n of rows) {
      if (after !== undefined && (block.refs[n] as number) <= after.ref) continue
      if (this.#passed++ < offset) continue
      if (this.#size.isRead) this.#places.push({ block, n })
      if (++this.#taken > limit) break
      this.#size.add(block.bytes / block.rows)
    }
    return true
  }

  finish(): PageWindow {
    const { limit } = this.#request
    const places = this.#places.slice(0, limit)
    const next =
      this.#places.length > limit ? cursorBehind(this.#request, places.at(-1)) : undefined
    return { places, returned: Math.min(this.#taken, limit), total: this.#total, next }
  }
}

/** Keeps the rows that come first in an order, and counts all. */
export class SortedWindow {
  readonly #request: QueryRequest
  readonly #scoreOf: ScoreOf | undefined
  readonly #wanted: number
  #kept: Candidate[] = []
  #total = 0
  /** Once as many are kept as are wanted: what does not come before this is not. */
  #worst: Candidate | undefined

  constructor(request: QueryRequest, scoreOf?: ScoreOf) {
    this.#request = request
    this.#scoreOf = scoreOf
    const { limit, offset } = request
    this.#wanted = limit === 0 ? 0 : offset + limit + 1
  }

  take(block: Block, rows: readonly number[], meter: Meter): true | Promise<true> {
    this.#total += rows.length
    if (this.#wanted === 0) return true
    const { sort } = this.#request
    return eachCandidate(this.#request, this.#scoreOf, meter, block, rows, (candidate) => {
      if (this.#worst !== undefined && compare(sort, candidate, this.#worst) > 0) return undefined
      this.#kept.push(candidate)
      return this.#kept.length >= 2 * this.#wanted + 64 ? this.#cut(meter) : undefined
    })
  }

  async finish(meter: Meter): Promise<SortedPage> {
    await this.#cut(meter)
    const { limit, offset, sort } = this.#request
    const page = this.#kept.slice(offset, offset + limit)
    const last = page.at(-1)
    const isMore = last !== undefined && this.#kept.length > offset + limit
    const next = isMore ? cursorOf(this.#request, sort, last.values, last) : undefined
    return { refs: page.map(({ ref }) => ref), total: this.#total, next }
  }

  /** A page far behind keeps very many. */
  #cut(meter: Meter): Promise<void> | undefined {
    const { sort } = this.#request
    const sorted = sortSoon(
      this.#kept,
      (a, b) => compare(sort, a, b),
      () => meter.breathe(),
    )
    if (sorted instanceof Promise) return sorted.then((kept) => this.#keep(kept))
    this.#keep(sorted)
    return undefined
  }

  #keep(sorted: Candidate[]): void {
    this.#kept = sorted
    if (sorted.length <= this.#wanted) return
    this.#kept = sorted.slice(0, this.#wanted)
    this.#worst = this.#kept.at(-1)
  }
}

/**
 * Calls with the rows that lie behind the page before, and waits where it gives a promise. What is in arrays may take
 * long, for each row: others have their turn between them.
 */
function eachCandidate(
  request: QueryRequest,
  scoreOf: ScoreOf | undefined,
  meter: Meter,
  block: Block,
  rows: readonly number[],
  take: (candidate: Candidate) => Promise<void> | undefined,
): true | Promise<true> {
  const { sort } = request
  const goOn = (from: number) =>
    eachCandidate(request, scoreOf, meter, block, rows.slice(from), take)
  for (let at = 0; at < rows.length; at++) {
    const n = rows[at] as number
    let values = regularValues(sort, block, n, scoreOf)
    if (values === undefined) {
      if (meter.isTired) return meter.breathe().then(() => goOn(at))
      values = irregularValues(sort, block, n, scoreOf)
    }
    const candidate = { values, ref: block.refs[n] as number }
    if (!isBehind(candidate, request)) continue
    const taking = take(candidate)
    if (taking !== undefined) return taking.then(() => goOn(at + 1))
  }
  return true
}

function regularValues(
  sort: readonly SortKey[],
  block: Block,
  n: number,
  scoreOf: ScoreOf | undefined,
): JsonValue[] | undefined {
  const values: JsonValue[] = []
  for (const { path } of sort) {
    const value = regularKey(fieldOf(path[0] as string, block, n, scoreOf), path, 1)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function irregularValues(
  sort: readonly SortKey[],
  block: Block,
  n: number,
  scoreOf: ScoreOf | undefined,
): JsonValue[] {
  const fields = sort.map(({ path }) => fieldOf(path[0] as string, block, n, scoreOf))
  return sortValues(sort, fields, block.field('_id')[n])
}

function fieldOf(name: string, block: Block, n: number, scoreOf: ScoreOf | undefined): unknown {
  if (scoreOf !== undefined && name === scoreField) return scoreOf(block.refs[n] as number)
  return block.field(name)[n]
}

function compare(sort: readonly SortKey[], a: Candidate, b: Candidate): number {
  return compareSorted(sort, a.values, b.values) || a.ref - b.ref
}

function isBehind(place: Candidate, { sort, after }: QueryRequest): boolean {
  return after === undefined || compare(sort, place, after) > 0
}

export function cursorOf(
  { seal }: QueryRequest,
  order: Cursor['order'],
  values: Cursor['values'],
  { ref }: Pick<IndexEntry, 'ref'>,
): string {
  return seal({ order, values, ref })
}

export function cursorBehind(
  request: QueryRequest,
  place: RowPlace | undefined,
): string | undefined {
  return place && cursorOf(request, [], [], { ref: place.block.refs[place.n] as number })
}

/** All matches in the order of a memory sort: their references alone. */
export async function sortedRefs(
  visit: Visit,
  request: QueryRequest,
  scoreOf?: ScoreOf,
): Promise<Float64Array> {
  const found: Candidate[] = []
  const { sort } = request
  await visitRows(visit, (block, rows) =>
    eachCandidate(request, scoreOf, visit.meter, block, rows, (candidate) => {
      found.push(candidate)
      return undefined
    }),
  )
  const sorted = await sortInTurns(
    found,
    (a, b) => compare(sort, a, b),
    () => visit.meter.breathe(),
  )
  return Float64Array.from(sorted, ({ ref }) => ref)
}
