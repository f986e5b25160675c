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
interface Planning {
  readonly table: Table
  readonly entries: EntryPages
  readonly notUsed: Map<string, string>
  /** Of all objects that match not one has to be looked into, where indexes tell which these are. */
  readonly isCounted: boolean
  /** What a block costs, in entries. */
  readonly perBlock: number
}

interface PlanOptions {
  /** For their order, or because all are given out. */
  readonly looksAtAll: boolean
  /** So many objects are asked about, and known. */
  readonly among?: number
}

export async function planQuery(
  table: Table,
  condition: ParsedCondition,
  { entries, blocks }: Pick<Memory, 'entries' | 'blocks'>,
  { looksAtAll, among }: PlanOptions,
): Promise<Plan> {
  const notUsed = new Map<string, string>()
  const isTrue = condition.type === 'and' && condition.conditions.length === 0
  if (isTrue) return { table, access: undefined, filter: undefined, notUsed: [] }
  const perBlock = fits(table.blocks, blocks) ? keysPerBlock : keysPerStoredBlock
  const planning = { table, entries, notUsed, isCounted: !looksAtAll, perBlock }
  const found = await accessOf(planning, condition)
  const access = found && among !== undefined ? partWorth(planning, found, among) : found
  const reasons = () => [...notUsed].map(([path, reason]) => ({ path, reason }))
  if (access === undefined) {
    return { table: narrowed(table, condition), access, filter: condition, notUsed: reasons() }
  }
  const filter = access.exact ? undefined : condition
  if (among !== undefined) return { table, access, filter, notUsed: reasons() }
  const isCounted = access.type === 'index' && access.exact
  const isFew = isCounted || access.keys * blocksPerObject < table.blocks.length
  const near = isFew ? table : narrowed(table, condition)
  const looks = access.exact && !looksAtAll ? 0 : lookups(planning, access.rows, near)
  if (!isCounted && access.keys > 0 && access.keys + looks > scan(planning, near)) {
    for (const path of pathsOf(access)) {
      notUsed.set(path, `it would give ${access.rows} of ${near.rows} objects`)
    }
    return { table: near, access: undefined, filter: condition, notUsed: reasons() }
  }
  return { table: near, access, filter, notUsed: reasons() }
}

/** What of an access costs less than looking at so many objects, which it is crossed with. */
function partWorth(planning: Planning, access: Access, among: number): Access | undefined {
  const { table, notUsed } = planning
  // With all of it none has to be looked at.
  if (access.exact && access.keys <= lookups(planning, among, table)) return access
  const parts: Access[] = []
  let rows = among
  for (const part of access.type === 'intersection' ? access.parts : [access]) {
    const left = rowsOfBoth(rows, part, table)
    if (part.keys <= lookups(planning, rows, table) - lookups(planning, left, table)) {
      parts.push(part)
      rows = left
    } else {
      for (const path of pathsOf(part)) {
        notUsed.set(path, `it has ${part.keys} entries there, and ${rows} objects are left`)
      }
    }
  }
  const [first] = parts
  if (access.type !== 'intersection' || parts.length === access.parts.length) return first && access
  if (first === undefined) return undefined
  const keys = parts.reduce((sum, { keys }) => sum + keys, 0)
  return { type: 'intersection', parts, keys, rows, exact: false }
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
      return accessOfAll(planning, condition.conditions)
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

async function accessOfAll(
  planning: Planning,
  conditions: readonly ParsedCondition[],
): Promise<Access | undefined> {
  const { table, entries, notUsed, isCounted } = planning
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
      const keys = await countSpans(a.index, spans, entries)
      found[same] = { ...a, spans, keys, rows: keys, exact: a.exact && b.exact }
    }
  }
  found.sort((a, b) => a.keys - b.keys)
  const [best, ...others] = found
  if (best === undefined) return undefined
  const both = (rows: number, other: Access) => rowsOfBoth(rows, other, table)
  const looks = (rows: number) => lookups(planning, rows, table)
  const chosen = new Set([best])
  let { keys, rows } = best
  for (const other of others) {
    const left = both(rows, other)
    if (other.keys > looks(rows) - looks(left)) continue
    chosen.add(other)
    keys += other.keys
    rows = left
  }
  // With all of them no object has to be looked at.
  const every = found.reduce((sum, { keys }) => sum + keys, 0)
  if (isCounted && isComplete && found.every(({ exact }) => exact) && every <= keys + looks(rows)) {
    for (const other of found) chosen.add(other)
  }
  for (const other of found) {
    if (chosen.has(other)) continue
    for (const path of pathsOf(other)) {
      notUsed.set(path, `it has ${other.keys} entries there, and ${rows} objects are left`)
    }
  }
  const parts = found.filter((access) => chosen.has(access))
  const exact = isComplete && parts.length === found.length && parts.every(({ exact }) => exact)
  if (parts.length === 1) return { ...best, exact }
  return { type: 'intersection', ...sizeOf(parts, both), parts, exact }
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
