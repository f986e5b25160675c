// Objects of a table, block by block: those of given references, or all, that match a filter.

import { setImmediate as turn } from 'node:timers/promises'
import { keepShape } from '../../kept-shapes.js'
import { LorekeepError } from '../../errors.js'
import { decodedFactor, type Block } from '../engine/block.js'
import type { ParsedCondition } from '../filter/condition.js'
import type { Path } from '../values/path.js'
import type { RowPlace } from '../engine/lookup.js'
import type { Memory } from '../engine/memory.js'
import { evaluate } from './evaluate.js'
import type { Pages } from '../engine/pages.js'
import { blockOf, type BlockPlace, type Table } from '../engine/state.js'
import type { ObjectLimits, StoredObject } from '../types.js'

/** How much one query has read, and whether that is too much. */
export class Meter {
  keysRead = 0
  objectsRead = 0
  readonly #limits: Pick<ObjectLimits, 'maxQueryObjects' | 'maxQueryMs'>
  readonly #start: number
  #turned = performance.now()

  /** @param start when it began: it may have been given up since, and begun anew */
  constructor(
    limits: Pick<ObjectLimits, 'maxQueryObjects' | 'maxQueryMs'>,
    start = performance.now(),
  ) {
    this.#limits = limits
    this.#start = start
  }

  get milliseconds(): number {
    return performance.now() - this.#start
  }

  /** @throws LorekeepError `LK_QUERY_BUDGET` */
  count(objects: number): void {
    this.objectsRead += objects
    const { maxQueryObjects, maxQueryMs } = this.#limits
    const { objectsRead } = this
    const fail = (detail: string) => {
      throw new LorekeepError(
        'LK_QUERY_BUDGET',
        `${detail}; a filter that leaves less, on fields with an index that serves its operators, would help`,
        { details: { objectsRead, maxQueryObjects, maxQueryMs } },
      )
    }
    if (objectsRead > maxQueryObjects) fail(`more than ${maxQueryObjects} objects`)
    if (this.milliseconds > maxQueryMs) fail(`it has run for ${maxQueryMs} ms`)
  }

  /** Whether others wait for their turn by now. */
  get isTired(): boolean {
    return performance.now() - this.#turned >= maxTurnMs
  }

  /** Lets others have their turn now and then. @throws LorekeepError `LK_QUERY_BUDGET` */
  async breathe(): Promise<void> {
    if (!this.isTired) return
    this.count(0)
    await turn()
    this.#turned = performance.now()
  }
}

keepShape(new Meter({ maxQueryObjects: 0, maxQueryMs: 0 }))

/** How well a row fits a `$text`. */
export type ScoreOf = (ref: number) => number

/** The field in which an object has its score. */
export const scoreField = '_score'

const maxTurnMs = 10

/** Blocks that are read with one request of the storage. */
const blocksPerRead = 64

export interface Visit {
  readonly table: Table
  readonly pages: Pages<Block>
  /** Growing; all rows where there are none given. */
  readonly refs?: Float64Array | undefined
  /** Only rows behind this one, where no references are given. */
  readonly after?: number | undefined
  /** What lies outside it is not there: it is not counted either. */
  readonly seen: ParsedCondition | undefined
  readonly filter: ParsedCondition | undefined
  readonly meter: Meter
}

/**
 * Calls with the rows of each block that match, in the order of their references, until it gives
 * false. @throws LorekeepError `LK_QUERY_BUDGET`, StalePage
 */
export async function visitRows(
  visit: Visit,
  take: (block: Block, rows: readonly number[]) => boolean | Promise<boolean>,
): Promise<void> {
  const { table, pages, refs, meter } = visit
  const wanted = refs === undefined ? blocksFrom(table, visit.after) : blocksWith(table, refs)
  // A table that fills the memory for pages would push everything out of it at each scan.
  const keep = fits(wanted, pages)
  let next = 0
  for (let from = 0; from < wanted.length; from += blocksPerRead) {
    const some = wanted.slice(from, from + blocksPerRead)
    const blocks = await pages.loadMany(
      some.map(({ page }) => page),
      { keep },
    )
    for (const [n, block] of blocks.entries()) {
      let rows: number[] | undefined
      if (refs !== undefined) {
        rows = []
        const end = wanted[from + n + 1]?.first ?? Infinity
        for (; next < refs.length && (refs[next] as number) < end; next++) {
          const row = block.find(refs[next] as number)
          if (row >= 0) rows.push(row)
        }
      } else if (visit.after !== undefined && (some[n] as BlockPlace).first <= visit.after) {
        rows = rowsBehind(block, visit.after)
      }
      const looked = visit.seen === undefined ? rows : matches(block, rows, visit.seen)
      meter.count(looked?.length ?? block.rows)
      const matching = matches(block, looked, visit.filter)
      if (matching.length > 0) {
        const goesOn = take(block, matching)
        if (!(goesOn === true || (await goesOn))) return
      }
      await meter.breathe()
    }
  }
}

/**
 * An object as it is given out: whole, or what these paths lead to. With its score, where it has one
 * that is asked for.
 */
export function output(
  { block, n }: RowPlace,
  fields: readonly Path[] | undefined,
  scoreOf?: ScoreOf,
): Partial<StoredObject> {
  const object = fields === undefined ? block.stored(n) : block.project(n, fields)
  const isScored = fields === undefined || fields.some(([name]) => name === scoreField)
  if (scoreOf === undefined || !isScored) return object
  const scored: Record<string, unknown> = object
  scored[scoreField] = scoreOf(block.refs[n] as number)
  return object
}

// A page is made of whole objects, and becomes one text on its way out.
const maxPageBytes = 64 * 1024 ** 2

interface PageRequest {
  readonly fields: readonly Path[] | undefined
  readonly isExplained?: true
}

/** Of whole objects, by what their blocks take: a page that is too large is refused before it is read. */
export class PageSize {
  /** Whether there are objects of it to read: of a plan there are none. */
  readonly isRead: boolean
  readonly #isWhole: boolean
  #objects = 0
  #bytes = 0

  constructor({ fields, isExplained }: PageRequest) {
    this.isRead = isExplained === undefined
    this.#isWhole = this.isRead && fields === undefined
  }

  /** @throws LorekeepError `LK_QUERY_BUDGET` */
  add(bytes: number): void {
    this.#objects++
    this.#bytes += bytes
    if (this.#isWhole && this.#bytes > maxPageBytes) tooLarge(this.#objects, this.#bytes)
  }
}

/**
 * The objects of a page. What blocks take on average says nothing of fields, and little of what objects share: it is
 * counted where it may be too much. @throws LorekeepError `LK_QUERY_BUDGET`
 */
export function outputAll(
  places: readonly RowPlace[],
  fields: readonly Path[] | undefined,
  scoreOf: ScoreOf | undefined,
): Partial<StoredObject>[] {
  // What an object has stands in its block, at half of what is counted of it or more. To count what each has takes a
  // twentieth of the time of a page of 100.
  const most = places.reduce((sum, { block }) => sum + 2 * block.bytes, 0)
  const isSmall = most <= maxPageBytes
  let length = 0
  return places.map((place, n) => {
    const object = output(place, fields, scoreOf)
    if (!isSmall && (length += lengthOf(object)) > maxPageBytes) tooLarge(n + 1, length)
    return object
  })
}

/** About how long it is as JSON. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 8
  let length = 2
  if (Array.isArray(value)) for (const element of value) length += lengthOf(element) + 1
  else {
    for (const name in value) {
      length += name.length + 4 + lengthOf((value as Record<string, unknown>)[name])
    }
  }
  return length
}

function tooLarge(objects: number, bytes: number): never {
  throw new LorekeepError(
    'LK_QUERY_BUDGET',
    `the first ${objects} objects of the page have about ${Math.round(bytes / 1024 ** 2)} MiB; a lower limit, or fewer fields, makes it smaller`,
  )
}

/** Where rows lie, in the order of the references given; `undefined` for those that are gone. */
async function placesOf(
  table: Table,
  refs: readonly number[],
  pages: Pages<Block>,
  size: PageSize | undefined,
): Promise<(RowPlace | undefined)[]> {
  const lying = refs.map((ref) => table.blocks[blockOf(table, ref)])
  if (size !== undefined) for (const place of lying) if (place) size.add(place.bytes / place.rows)
  const blocks = lying.map((place) => place && pages.peek(place.page))
  if (blocks.includes(undefined)) {
    const numbers = lying.map((place) => place?.page)
    await loadMissing(blocks, numbers, pages)
  }
  return blocks.map((block, n) => {
    const row = block === undefined ? -1 : block.find(refs[n] as number)
    return block === undefined || row < 0 ? undefined : { block, n: row }
  })
}

/**
 * @param size of the page that they are: none are given where it is not read
 * @throws LorekeepError `LK_STORAGE_CORRUPT` where an index names a row that is not there, `LK_QUERY_BUDGET`
 */
export async function placesThere(
  table: Table,
  refs: readonly number[],
  memory: Memory,
  meter: Meter,
  size?: PageSize,
): Promise<RowPlace[]> {
  meter.count(refs.length)
  return placesAgain(table, refs, memory, size)
}

/** As placesThere(), of rows that were looked at already. */
export async function placesAgain(
  table: Table,
  refs: readonly number[],
  { blocks }: Memory,
  size: PageSize | undefined,
): Promise<RowPlace[]> {
  if (size?.isRead === false) return []
  const places = await placesOf(table, refs, blocks, size)
  if (places.some((place) => place === undefined)) {
    const { name } = table.schema.definition
    throw new LorekeepError('LK_STORAGE_CORRUPT', `an index of '${name}' names no object`)
  }
  return places as RowPlace[]
}

/** Fills in the blocks that are not in memory, all of them with one read. */
async function loadMissing(
  blocks: (Block | undefined)[],
  numbers: readonly (number | undefined)[],
  pages: Pages<Block>,
): Promise<void> {
  const missing = new Set<number>()
  for (const [n, page] of numbers.entries()) {
    if (page !== undefined && blocks[n] === undefined) missing.add(page)
  }
  const wanted = [...missing]
  const loaded = await pages.loadMany(wanted)
  const found = new Map(wanted.map((page, n) => [page, loaded[n]]))
  for (const [n, page] of numbers.entries()) {
    if (page !== undefined) blocks[n] ??= found.get(page)
  }
}

function matches(
  block: Block,
  rows: readonly number[] | undefined,
  filter: ParsedCondition | undefined,
): readonly number[] {
  if (filter === undefined) return rows ?? Array.from({ length: block.rows }, (_, n) => n)
  if (rows?.length === 0) return rows
  const bits = evaluate(filter, block, rows)
  if (rows !== undefined) return rows.filter((row) => bits[row] === 1)
  const found: number[] = []
  for (let n = 0; n < bits.length; n++) if (bits[n] === 1) found.push(n)
  return found
}

function rowsBehind(block: Block, after: number): number[] {
  const { refs } = block
  const rows: number[] = []
  for (let n = 0; n < block.rows; n++) if ((refs[n] as number) > after) rows.push(n)
  return rows
}

function blocksFrom(table: Table, after: number | undefined): readonly BlockPlace[] {
  if (after === undefined) return table.blocks
  return table.blocks.slice(Math.max(0, blockOf(table, after)))
}

function blocksWith(table: Table, refs: Float64Array): BlockPlace[] {
  const wanted: BlockPlace[] = []
  for (let n = 0; n < refs.length;) {
    const at = blockOf(table, refs[n] as number)
    if (at >= 0) wanted.push(table.blocks[at] as BlockPlace)
    const end = table.blocks[at + 1]?.first ?? Infinity
    while (n < refs.length && (refs[n] as number) < end) n++
  }
  return wanted
}

/** Whether blocks stay in memory when all of them are read. */
export function fits(places: readonly BlockPlace[], { maxBytes }: Pages<Block>): boolean {
  let left = (maxBytes * 3) / 4
  for (let n = 0; n < places.length && left > 0; n++) {
    left -= (places[n] as BlockPlace).bytes * decodedFactor
  }
  return left > 0
}
