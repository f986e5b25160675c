// Which indexes a query uses. Parts of a condition are turned into accesses (an index and spans of
// it); an `and` takes the one with the fewest entries and crosses others with it where that costs
// less than asking each object, an `or` needs one for each of its parts.

import type { ParsedCondition, Test } from '../filter/condition.js'
import { entriesIn, isIrregular, type Index } from '../engine/index-runs.js'
import { countSpans, crossSpans, joinSpans, spanOf, type Span } from '../engine/index-scan.js'
import type { EntryPages } from '../engine/list.js'
import type { Memory } from '../engine/memory.js'
import type { Table } from '../engine/state.js'
import { rangesOf } from '../filter/ranges.js'
import { narrowed } from './narrowing.js'
import { fits } from './rows.js'

interface IndexAccess {
  readonly type: 'index'
  readonly index: Index
  /** Joined. None where nothing can match. */
  readonly spans: readonly Span[]
  /** Entries in the spans. */
  readonly keys: number
  /** Objects that it gives, as far as that is known before. */
  readonly rows: number
  /** The rows found are those that match, no object has to be asked. */
  readonly exact: boolean
}

export type Access =
  | IndexAccess
  | {
      readonly type: 'intersection' | 'union'
      readonly parts: readonly Access[]
      /** Entries to be read. */
      readonly keys: number
      readonly rows: number
      readonly exact: boolean
    }

export interface Plan {
  /** With those blocks alone in which something may match. */
  readonly table: Table
  /** `undefined`: every object is looked at. */
  readonly access: Access | undefined
  /** What is left to ask each object. */
  readonly filter: ParsedCondition | undefined
  readonly notUsed: readonly { readonly path: string; readonly reason: string }[]
}

// What things cost, in entries of an index that are read: 0.08 us each, those of a million products. To look into a
// block takes 6 us where it is in memory, and 40 to 60 where it is read and decoded; what an index finds lies all over
// them.
const keysPerBlock = 75
const keysPerStoredBlock = 500
const keysPerObject = 2
const keysPerScannedObject = 1 / 4

// Asking a block whose objects it has costs a fiftieth of looking an object up.
const blocksPerObject = 50

/** What there is to plan with. */
class Planning {
  readonly table: Table
  readonly entries: EntryPages
  /** Of all objects that match not one has to be looked into, where indexes tell which these are. */
  readonly isCounted: boolean
  readonly notUsed = new Map<string, string>()
  readonly #blocks: Memory['blocks']
  #perBlock: number | undefined

  constructor(table: Table, { entries, blocks }: PlanMemory, isCounted: boolean) {
    this.table = table
    this.entries = entries
    this.#blocks = blocks
    this.isCounted = isCounted
  }

  /** What a block costs, in entries. */
  get perBlock(): number {
    this.#perBlock ??= fits(this.table.blocks, this.#blocks) ? keysPerBlock : keysPerStoredBlock
    return this.#perBlock
  }
}

type PlanMemory = Pick<Memory, 'entries' | 'blocks'>

interface PlanOptions {
  /** For their order, or because all are given out. */
  readonly looksAtAll: boolean
  /** So many objects are asked about, and known. */
  readonly among?: number
}

export async function planQuery(
  table: Table,
  condition: ParsedCondition,
  memory: PlanMemory,
  { looksAtAll, among }: PlanOptions,
): Promise<Plan> {
  const isTrue = condition.type === 'and' && condition.conditions.length === 0
  if (isTrue) return { table, access: undefined, filter: undefined, notUsed: [] }
  const planning = new Planning(table, memory, !looksAtAll)
  const { notUsed } = planning
  const access = await accessOfAll(planning, condition, among)
  const plan = (table: Table, access: Access | undefined): Plan => ({
    table,
    access,
    filter: access?.exact === true ? undefined : condition,
    notUsed: [...notUsed].map(([path, reason]) => ({ path, reason })),
  })
  if (among !== undefined) return plan(table, access)
  if (access === undefined) return plan(narrowed(table, condition), access)
  const isOneExact = access.type === 'index' && access.exact
  const isFew = isOneExact || access.keys * blocksPerObject < table.blocks.length
  const near = isFew ? table : narrowed(table, condition)
  if (isOneExact || access.keys === 0) return plan(near, access)
  const looks = access.exact && !looksAtAll ? 0 : lookups(planning, access.rows, near)
  if (access.keys + looks <= scan(planning, near)) return plan(near, access)
  for (const path of pathsOf(access)) {
    notUsed.set(path, `it would give ${access.rows} of ${near.rows} objects`)
  }
  return plan(near, undefined)
}

/** How many of some rows another access has, if one says nothing of the other. */
function rowsOfBoth(rows: number, other: Access, table: Table): number {
  return Math.ceil((rows * other.rows) / Math.max(1, table.rows))
}

/** What it costs to look at so many objects that lie all over the blocks. */
function lookups({ perBlock }: Planning, objects: number, { blocks }: Table): number {
  const met = blocks.length * (1 - Math.exp(-objects / Math.max(1, blocks.length)))
  return met * perBlock + objects * keysPerObject
}

/** What it costs to look at all of them, block by block. */
function scan({ perBlock }: Planning, { blocks, rows }: Table): number {
  return blocks.length * perBlock + rows * keysPerScannedObject
}

export function pathsOf(access: Access): string[] {
  if (access.type === 'index') return [access.index.path.join('.')]
  return access.parts.flatMap(pathsOf)
}

async function accessOf(
  planning: Planning,
  condition: ParsedCondition,
): Promise<Access | undefined> {
  switch (condition.type) {
    case 'test':
      return accessOfTest(planning, condition)
    case 'and':
      return accessOfAll(planning, condition)
    case 'or':
      return accessOfAny(planning, condition.conditions)
    case 'not':
      return undefined
  }
}

async function accessOfTest(
  { table: { indexes }, entries, notUsed }: Planning,
  test: Test,
): Promise<IndexAccess | undefined> {
  const path = test.path.join('.')
  const index = indexes.find((index) => index.path.join('.') === path)
  if (index === undefined) {
    notUsed.set(path, 'it has no index')
    return undefined
  }
  const ranges = rangesOf(test)
  if (ranges === undefined) {
    notUsed.set(path, `${test.operator} of that value is no range of an index`)
    return undefined
  }
  const spans = joinSpans(ranges.ranges.map(spanOf))
  const keys = await countSpans(index, spans, entries)
  const exact = ranges.exact && !isIrregular(index)
  return { type: 'index', index, spans, keys, rows: keys, exact }
}

/**
 * What is worth reading for objects that meet all of a condition.
 * @param among so many objects are known, of which those are asked for
 */
async function accessOfAll(
  planning: Planning,
  condition: ParsedCondition,
  among?: number,
): Promise<Access | undefined> {
  const { table, notUsed, isCounted } = planning
  const conditions = condition.type === 'and' ? condition.conditions : [condition]
  const { found, isComplete } = await accessesOf(planning, conditions)
  found.sort((a, b) => a.keys - b.keys)
  const looks = (objects: number) => lookups(planning, objects, table)
  const both = (rows: number, other: Access) => rowsOfBoth(rows, other, table)
  // The shortest, and what costs less than looking at the objects that it leaves out.
  let parts: Access[] = []
  let keys = 0
  let rows = among
  for (const access of found) {
    const left = rows === undefined ? access.rows : both(rows, access)
    if (rows !== undefined && access.keys > looks(rows) - looks(left)) continue
    parts.push(access)
    keys += access.keys
    rows = left
  }
  const isAllExact = isComplete && found.every(({ exact }) => exact)
  if (isCounted && isAllExact && parts.length < found.length) {
    // With all of them no object has to be looked at.
    const every = found.reduce((sum, { keys }) => sum + keys, 0)
    if (every <= keys + looks(rows ?? 0)) parts = found
  }
  for (const other of found) {
    if (parts.includes(other)) continue
    for (const path of pathsOf(other)) {
      notUsed.set(path, `it has ${other.keys} entries there, and ${rows} objects are left`)
    }
  }
  const [first] = parts
  if (first === undefined) return undefined
  const exact = isAllExact && parts.length === found.length
  if (parts.length === 1) return { ...first, exact }
  return { type: 'intersection', ...sizeOf(parts, both), parts, exact }
}

/** An access for each of the conditions that have one, and one for those of an index. */
async function accessesOf(planning: Planning, conditions: readonly ParsedCondition[]) {
  let isComplete = true
  const found: Access[] = []
  for (const condition of conditions) {
    const access = await accessOf(planning, condition)
    if (access === undefined) {
      isComplete = false
      continue
    }
    const same = found.findIndex(
      (other) =>
        other.type === 'index' &&
        access.type === 'index' &&
        other.index === access.index &&
        !isIrregular(access.index),
    )
    // Through arrays two tests may be met by two elements, and their ranges cannot be crossed.
    if (same < 0) found.push(access)
    else {
      const [a, b] = [found[same] as IndexAccess, access as IndexAccess]
      const spans = crossSpans(a.spans, b.spans)
      const keys = await countSpans(a.index, spans, planning.entries)
      found[same] = { ...a, spans, keys, rows: keys, exact: a.exact && b.exact }
    }
  }
  return { found, isComplete }
}

async function accessOfAny(
  planning: Planning,
  conditions: readonly ParsedCondition[],
): Promise<Access | undefined> {
  const { table, entries, notUsed } = planning
  const parts: Access[] = []
  for (const condition of conditions) {
    const access = await accessOf(planning, condition)
    if (access === undefined) {
      for (const part of parts) {
        for (const path of pathsOf(part)) notUsed.set(path, 'another part of $or has no index')
      }
      return undefined
    }
    parts.push(access)
  }
  const [first] = parts
  if (first?.type === 'index') {
    const { index } = first
    const alike = parts.filter((part) => part.type === 'index' && part.index === index)
    if (alike.length === parts.length) {
      const spans = joinSpans((alike as IndexAccess[]).flatMap((part) => part.spans))
      const keys = await countSpans(index, spans, entries)
      return {
        type: 'index',
        index,
        spans,
        keys,
        rows: keys,
        exact: parts.every((part) => part.exact),
      }
    }
  }
  const any = (rows: number, other: Access) => Math.min(rows + other.rows, table.rows)
  return { type: 'union', ...sizeOf(parts, any), parts, exact: parts.every(({ exact }) => exact) }
}

/** All entries of the parts, and the objects that they give together. */
function sizeOf(parts: readonly Access[], join: (rows: number, other: Access) => number) {
  const [first, ...others] = parts
  return {
    keys: parts.reduce((keys, part) => keys + part.keys, 0),
    rows: others.reduce(join, first?.rows ?? 0),
  }
}

/** The index that gives the objects of a table in the order of a path, all of them once. */
export function sortIndex(table: Table, path: string): Index | undefined {
  const index = table.indexes.find((index) => index.path.join('.') === path)
  if (index === undefined || isIrregular(index)) return undefined
  return entriesIn(index) === table.rows ? index : undefined
}
