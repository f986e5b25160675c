// Which indexes a query uses. Parts of a condition are turned into accesses (an index and spans of
// it); an `and` takes the one with the fewest entries and crosses others with it where that costs
// less than asking each object, an `or` needs one for each of its parts.

import type { ParsedCondition, Test } from '../filter/condition.js'
import { entriesIn, isIrregular, type Index } from '../engine/index-runs.js'
import { countSpans, crossSpans, joinSpans, spanOf, type Span } from '../engine/index-scan.js'
import type { EntryPages } from '../engine/list.js'
import type { Table } from '../engine/state.js'
import { rangesOf } from '../filter/ranges.js'
import { narrowed } from './narrowing.js'

interface IndexAccess {
  readonly type: 'index'
  readonly index: Index
  /** Joined. None where nothing can match. */
  readonly spans: readonly Span[]
  /** Entries in the spans. */
  readonly keys: number
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

// Reading an entry (and sorting the references) costs about an eighth of looking an object up.
const keysPerObject = 8

// Objects found by an index lie all over the blocks; reading all of them in a row is cheaper from
// a fourth on.
const scanShare = 4

// Asking a block whose objects it has costs a fiftieth of looking an object up.
const blocksPerObject = 50

export async function planQuery(
  table: Table,
  condition: ParsedCondition,
  entries: EntryPages,
): Promise<Plan> {
  const notUsed = new Map<string, string>()
  const isTrue = condition.type === 'and' && condition.conditions.length === 0
  if (isTrue) return { table, access: undefined, filter: undefined, notUsed: [] }
  const access = await accessOf(table, condition, entries, notUsed)
  const reasons = () => [...notUsed].map(([path, reason]) => ({ path, reason }))
  if (access === undefined) {
    return { table: narrowed(table, condition), access, filter: condition, notUsed: reasons() }
  }
  const isCounted = access.type === 'index' && access.exact
  const isFew = isCounted || access.keys * blocksPerObject < table.blocks.length
  const near = isFew ? table : narrowed(table, condition)
  if (!isCounted && access.keys * scanShare > near.rows && access.keys > 0) {
    for (const path of pathsOf(access)) {
      notUsed.set(path, `it would give ${access.keys} of ${near.rows} objects`)
    }
    return { table: near, access: undefined, filter: condition, notUsed: reasons() }
  }
  const filter = access.exact ? undefined : condition
  return { table: near, access, filter, notUsed: reasons() }
}

export function pathsOf(access: Access): string[] {
  if (access.type === 'index') return [access.index.path.join('.')]
  return access.parts.flatMap(pathsOf)
}

async function accessOf(
  table: Table,
  condition: ParsedCondition,
  entries: EntryPages,
  notUsed: Map<string, string>,
): Promise<Access | undefined> {
  switch (condition.type) {
    case 'test':
      return accessOfTest(table, condition, entries, notUsed)
    case 'and':
      return accessOfAll(table, condition.conditions, entries, notUsed)
    case 'or':
      return accessOfAny(table, condition.conditions, entries, notUsed)
    case 'not':
      return undefined
  }
}

async function accessOfTest(
  { indexes }: Table,
  test: Test,
  entries: EntryPages,
  notUsed: Map<string, string>,
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
  return { type: 'index', index, spans, keys, exact: ranges.exact && !isIrregular(index) }
}

async function accessOfAll(
  table: Table,
  conditions: readonly ParsedCondition[],
  entries: EntryPages,
  notUsed: Map<string, string>,
): Promise<Access | undefined> {
  let isComplete = true
  const found: Access[] = []
  for (const condition of conditions) {
    const access = await accessOf(table, condition, entries, notUsed)
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
      found[same] = { ...a, spans, keys, exact: a.exact && b.exact }
    }
  }
  found.sort((a, b) => a.keys - b.keys)
  const [best, ...others] = found
  if (best === undefined) return undefined
  const parts: Access[] = [best]
  let expected = best.keys
  for (const other of others) {
    const isWorth = other.keys <= expected * keysPerObject
    if (isWorth) {
      parts.push(other)
      expected = Math.ceil((expected * other.keys) / Math.max(1, table.rows))
    } else {
      isComplete = false
      for (const path of pathsOf(other)) {
        notUsed.set(path, `it has ${other.keys} entries there, and ${expected} objects are left`)
      }
    }
  }
  const exact = isComplete && parts.every((part) => part.exact)
  if (parts.length === 1) return { ...best, exact }
  return {
    type: 'intersection',
    parts,
    keys: parts.reduce((keys, part) => keys + part.keys, 0),
    exact,
  }
}

async function accessOfAny(
  table: Table,
  conditions: readonly ParsedCondition[],
  entries: EntryPages,
  notUsed: Map<string, string>,
): Promise<Access | undefined> {
  const parts: Access[] = []
  for (const condition of conditions) {
    const access = await accessOf(table, condition, entries, notUsed)
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
      return { type: 'index', index, spans, keys, exact: parts.every((part) => part.exact) }
    }
  }
  return {
    type: 'union',
    parts,
    keys: parts.reduce((keys, part) => keys + part.keys, 0),
    exact: parts.every((part) => part.exact),
  }
}

/** The index that gives the objects of a table in the order of a path, all of them once. */
export function sortIndex(table: Table, path: string): Index | undefined {
  const index = table.indexes.find((index) => index.path.join('.') === path)
  if (index === undefined || isIrregular(index)) return undefined
  return entriesIn(index) === table.rows ? index : undefined
}
