// Reading an index: how many entries a range holds, which rows they are of, and the entries in
// their order.

import { RefTable } from './ref-table.js'
import type { KeyRange } from '../values/values.js'
import { compareScalars, type Scalar } from '../values/values.js'
import type { EntryPage } from './entries.js'
import { isIrregular, type Index } from './index-runs.js'
import type { Bound, EntryPages, SortedList } from './list.js'

export interface IndexEntry {
  readonly key: Scalar
  readonly ref: number
}

/** A range as two places between entries. */
export interface Span {
  readonly low: Bound
  readonly high: Bound
}

const before = -Infinity
const behind = Infinity

/** Of each bracket (null, numbers, strings, booleans): what lies below and above all of it. */
const brackets: readonly Span[] = [
  { low: { key: null, ref: before }, high: { key: null, ref: behind } },
  { low: { key: -Infinity, ref: before }, high: { key: Infinity, ref: behind } },
  { low: { key: '', ref: before }, high: { key: false, ref: before } },
  { low: { key: false, ref: before }, high: { key: true, ref: behind } },
]

export const everything: Span = {
  low: { key: null, ref: before },
  high: { key: true, ref: behind },
}

export function spanOf({ bracket, gte, gt, lte, lt }: KeyRange): Span {
  let { low, high } = brackets[bracket] as Span
  if (gte !== undefined) low = { key: gte, ref: before }
  if (gt !== undefined) low = { key: gt, ref: behind }
  if (lte !== undefined) high = { key: lte, ref: behind }
  if (lt !== undefined) high = { key: lt, ref: before }
  return { low, high }
}

function compareBounds(a: Bound, b: Bound): number {
  // Bounds may be infinite, and have no difference then.
  const order = a.key === b.key ? 0 : compareScalars(a.key, b.key)
  if (order !== 0) return order
  return a.ref === b.ref ? 0 : a.ref - b.ref
}

/** Spans in their order, without those that are empty, and those that meet made one. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  const sorted = spans
    .filter(({ low, high }) => compareBounds(low, high) < 0)
    .sort((a, b) => compareBounds(a.low, b.low))
  for (const span of sorted) {
    const last = joined.at(-1)
    if (last === undefined || compareBounds(last.high, span.low) < 0) joined.push(span)
    else if (compareBounds(last.high, span.high) < 0) {
      joined[joined.length - 1] = { low: last.low, high: span.high }
    }
  }
  return joined
}

/** What is in both; both are joined. */
export function crossSpans(a: readonly Span[], b: readonly Span[]): Span[] {
  const crossed: Span[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [x, y] = [a[i] as Span, b[j] as Span]
    const low = compareBounds(x.low, y.low) < 0 ? y.low : x.low
    const xEndsFirst = compareBounds(x.high, y.high) < 0
    const high = xEndsFirst ? x.high : y.high
    if (compareBounds(low, high) < 0) crossed.push({ low, high })
    if (xEndsFirst) i++
    else j++
  }
  return crossed
}

/** Entries in the spans: differences of positions, two pages a run at most are looked into. */
export async function countSpans(
  { runs }: Index,
  spans: readonly Span[],
  entries: EntryPages,
): Promise<number> {
  let count = 0
  for (const { low, high } of spans) {
    for (const { adds, dels } of runs) {
      count += (await adds.position(high, entries)) - (await adds.position(low, entries))
      if (dels.length === 0) continue
      count -= (await dels.position(high, entries)) - (await dels.position(low, entries))
    }
  }
  return count
}

/**
 * References of the rows that have an entry in the spans, each once, growing.
 * @param breathe called now and then
 */
export async function refsIn(
  index: Index,
  spans: readonly Span[],
  entries: EntryPages,
  breathe: () => Promise<void>,
): Promise<Float64Array> {
  const adds = await allRefs(index, ({ adds }) => adds, spans, entries, breathe)
  const dels = await allRefs(index, ({ dels }) => dels, spans, entries, breathe)
  adds.sort()
  if (dels.length === 0 && !isIrregular(index)) return adds
  dels.sort()
  // A row that was deleted is deleted under all of its keys, and never comes back.
  const refs = new Float64Array(adds.length)
  let count = 0
  for (let i = 0, j = 0; i < adds.length; i++) {
    const ref = adds[i] as number
    if (count > 0 && refs[count - 1] === ref) continue
    while (j < dels.length && (dels[j] as number) < ref) j++
    if (dels[j] !== ref) refs[count++] = ref
  }
  return refs.subarray(0, count)
}

/**
 * Those of some rows that have an entry in the spans, in their order.
 * @param some of another index: those that were deleted are not among them
 * @param breathe called now and then
 */
export async function refsAmong(
  some: Float64Array,
  index: Index,
  spans: readonly Span[],
  entries: EntryPages,
  breathe: () => Promise<void>,
): Promise<Float64Array> {
  const wanted = new RefTable(some.length)
  for (const ref of some) wanted.place(ref)
  const found = new Uint8Array(some.length)
  for await (const refs of refsByPage(index, ({ adds }) => adds, spans, entries)) {
    for (const ref of refs) {
      const place = wanted.find(ref)
      if (place >= 0) found[place] = 1
    }
    await breathe()
  }
  return some.filter((_, n) => found[n] === 1)
}

async function allRefs(
  index: Index,
  listOf: ListOf,
  spans: readonly Span[],
  entries: EntryPages,
  breathe: () => Promise<void>,
): Promise<Float64Array> {
  const parts: Float64Array[] = []
  let length = 0
  for await (const part of refsByPage(index, listOf, spans, entries)) {
    parts.push(part)
    length += part.length
    await breathe()
  }
  const refs = new Float64Array(length)
  let at = 0
  for (const part of parts) {
    refs.set(part, at)
    at += part.length
  }
  return refs
}

type ListOf = (run: Index['runs'][number]) => SortedList

/** The references of all entries in the spans, page by page. */
async function* refsByPage(
  { runs }: Index,
  listOf: ListOf,
  spans: readonly Span[],
  entries: EntryPages,
): AsyncGenerator<Float64Array> {
  for (const { low, high } of spans) {
    for (const run of runs) {
      const list = listOf(run)
      if (list.length === 0) continue
      const to = await list.position(high, entries)
      let from = await list.position(low, entries)
      if (from >= to) continue
      const { n: first } = list.locate(from)
      const { n: last } = list.locate(to - 1)
      let { at } = list.locate(from)
      for await (const { refs } of entries.inTurn(list.pages.slice(first, last + 1))) {
        const some = refs.subarray(at, at + to - from)
        from += some.length
        at = 0
        yield some
      }
    }
  }
}

interface WalkOptions {
  readonly direction: 'asc' | 'desc'
  /** Begins behind this entry. */
  readonly after?: IndexEntry | undefined
  readonly skip: number
  readonly take: number
  /** Called now and then. */
  readonly breathe: () => Promise<void>
}

/**
 * The entries of the spans in the order of their keys; those of one key in the order of their
 * references, in both directions.
 */
export async function walk(
  index: Index,
  spans: readonly Span[],
  entries: EntryPages,
  options: WalkOptions,
): Promise<IndexEntry[]> {
  const { direction, after, take, breathe } = options
  const found: IndexEntry[] = []
  let { skip } = options
  // Skips whole spans by counting, then walks.
  const visit = async (span: Span): Promise<void> => {
    if (skip > 0) {
      const count = await countSpans(index, [span], entries)
      if (count <= skip) {
        skip -= count
        return
      }
    }
    await ascend(index, span, entries, { skip, take: take - found.length, breathe }, found)
    skip = 0
  }
  if (direction === 'asc') {
    for (const span of spans) {
      if (found.length >= take) break
      const rest = after === undefined ? span : behindEntry(span, after)
      if (rest !== undefined) await visit(rest)
    }
    return found
  }
  let limit: Bound | undefined
  if (after !== undefined) {
    // The rest of the key that the last page ended in, then what is below it.
    const { key } = after
    for (const { low, high } of spans) {
      const group = crossSpans(
        [{ low, high }],
        [{ low: { key, ref: after.ref + 1 }, high: { key, ref: behind } }],
      )
      for (const span of group) await visit(span)
    }
    limit = { key, ref: before }
  }
  for (const { low, high } of spans.toReversed()) {
    let top = limit !== undefined && compareBounds(limit, high) < 0 ? limit : high
    // Pages of what is left out, or was deleted, go by counting, and not by their keys.
    let isPassing = skip > 0
    while (found.length < take) {
      await breathe()
      const last = await lastBelow(index, low, top, entries)
      if (last === undefined) break
      if (isPassing) {
        const begin = laterOf(low, { key: last.first, ref: before })
        const passed = await countSpans(index, [{ low: begin, high: top }], entries)
        if (passed <= skip) {
          skip -= passed
          top = begin
          continue
        }
      }
      const bottom = laterOf(low, { key: last.key, ref: before })
      const { length } = found
      await visit({ low: bottom, high: top })
      isPassing = found.length === length
      top = bottom
    }
  }
  return found
}

const laterOf = (a: Bound, b: Bound): Bound => (compareBounds(a, b) < 0 ? b : a)

function behindEntry({ low, high }: Span, { key, ref }: IndexEntry): Span | undefined {
  const from = { key, ref: ref + 1 }
  const next = { low: compareBounds(low, from) < 0 ? from : low, high }
  return compareBounds(next.low, high) < 0 ? next : undefined
}

/** Entries that are passed before others may have their turn. */
const stepsAtOnce = 4096

/** One place in a list that moves up to `end`. */
interface Cursor {
  readonly list: SortedList
  readonly end: number
  position: number
  n: number
  at: number
  page: EntryPage | undefined
}

async function openCursor(
  list: SortedList,
  { low, high }: Span,
  entries: EntryPages,
): Promise<Cursor | undefined> {
  if (list.length === 0) return undefined
  const position = await list.position(low, entries)
  const end = await list.position(high, entries)
  if (position >= end) return undefined
  const { n, at } = list.locate(position)
  return { list, end, position, n, at, page: await loaded(list, n, entries) }
}

async function ascend(
  { runs }: Index,
  span: Span,
  entries: EntryPages,
  { skip, take, breathe }: Pick<WalkOptions, 'skip' | 'take' | 'breathe'>,
  found: IndexEntry[],
): Promise<void> {
  const adds: Cursor[] = []
  const dels: Cursor[] = []
  for (const run of runs) {
    const added = await openCursor(run.adds, span, entries)
    if (added !== undefined) adds.push(added)
    const deleted = await openCursor(run.dels, span, entries)
    if (deleted !== undefined) dels.push(deleted)
  }
  if (skip > 0 && adds.length === 1 && dels.length === 0) {
    const [only] = adds as [Cursor]
    only.position += skip
    skip = 0
    if (only.position >= only.end) return
    const { n, at } = only.list.locate(only.position)
    Object.assign(only, { n, at, page: await loaded(only.list, n, entries) })
  }
  let left = take
  for (let steps = 1; left > 0; steps++) {
    if (steps % stepsAtOnce === 0) await breathe()
    const least = leastOf(adds)
    if (least === undefined) return
    const { key, ref } = entryAt(least)
    if (!step(least, entries)) adds.splice(adds.indexOf(least), 1)
    else if (least.page === undefined) least.page = await loaded(least.list, least.n, entries)
    if (dels.length > 0 && (await isDeleted(dels, key, ref, entries))) continue
    if (skip > 0) {
      skip--
      continue
    }
    found.push({ key, ref })
    left--
  }
}

/** False at the end. Without a page where the next one has to be loaded. */
function step(cursor: Cursor, entries: EntryPages): boolean {
  cursor.position++
  cursor.at++
  if (cursor.position >= cursor.end) return false
  if (cursor.at === cursor.page?.refs.length) {
    cursor.n++
    cursor.at = 0
    cursor.page = entries.peek(cursor.list.pages[cursor.n] as number)
  }
  return true
}

function leastOf(cursors: readonly Cursor[]): Cursor | undefined {
  let least = cursors[0]
  for (let n = 1; n < cursors.length; n++) {
    const other = cursors[n] as Cursor
    if (compareAt(other, least as Cursor) < 0) least = other
  }
  return least
}

function compareAt(a: Cursor, b: Cursor): number {
  const [pageOfA, pageOfB] = [a.page as EntryPage, b.page as EntryPage]
  const order = compareScalars(pageOfA.key(a.at), pageOfB.key(b.at))
  return order || (pageOfA.refs[a.at] as number) - (pageOfB.refs[b.at] as number)
}

/** Between steps every cursor has its page. */
function entryAt({ page, at }: Cursor): IndexEntry {
  const { refs } = page as EntryPage
  return { key: (page as EntryPage).key(at), ref: refs[at] as number }
}

/** Moves the deletions up to the entry. */
async function isDeleted(
  dels: Cursor[],
  key: Scalar,
  ref: number,
  entries: EntryPages,
): Promise<boolean> {
  for (const cursor of [...dels]) {
    for (;;) {
      const deleted = entryAt(cursor)
      const order = compareScalars(deleted.key, key) || deleted.ref - ref
      if (order === 0) return true
      if (order > 0) break
      if (!step(cursor, entries)) {
        dels.splice(dels.indexOf(cursor), 1)
        break
      }
      cursor.page ??= await loaded(cursor.list, cursor.n, entries)
    }
  }
  return false
}

interface LastEntry extends IndexEntry {
  /** The first key of its page. */
  readonly first: Scalar
}

/** The last entry between two places, deleted or not. */
async function lastBelow(
  { runs }: Index,
  low: Bound,
  high: Bound,
  entries: EntryPages,
): Promise<LastEntry | undefined> {
  let last: LastEntry | undefined
  for (const { adds } of runs) {
    const end = await adds.position(high, entries)
    if (end === 0 || end <= (await adds.position(low, entries))) continue
    const { n, at } = adds.locate(end - 1)
    const page = await loaded(adds, n, entries)
    const entry = { key: page.key(at), ref: page.refs[at] as number, first: page.key(0) }
    if (last === undefined || compareBounds(last, entry) < 0) last = entry
  }
  return last
}

async function loaded(list: SortedList, n: number, entries: EntryPages): Promise<EntryPage> {
  return entries.get(list.pages[n] as number)
}
