// An index: runs of entries, each sorted, as the parts of a log-structured merge tree (O'Neil et
// al. 1996). What a commit adds and deletes is a new run; runs of like size are merged, so that
// there are few. A deleted entry is an entry of its own (`dels`) until a merge meets the one it
// takes away, so the entries of a range are those added less those deleted, and both numbers are
// differences of positions. Nothing is ever changed in place, and no object is read to count.

import {
  cancelEntries,
  concatEntries,
  EntryPage,
  mergeEntries,
  noEntries,
  sliceEntries,
  type Entries,
} from './entries.js'
import { SortedList, type EntryPages } from './list.js'
import type { ListRecord, RunRecord } from './records.js'
import type { IndexDefinition } from '../types.js'
import type { Path } from '../values/path.js'
import type { Scalar } from '../values/values.js'
import type { TextField } from './word-keys.js'

export interface Run {
  readonly number: number
  readonly adds: SortedList
  readonly dels: SortedList
  readonly irregular: number
}

/** One state of an index. */
export interface Index {
  readonly number: number
  /** Of a text index a path that leads nowhere. */
  readonly path: Path
  /** Of a text index: the fields whose words it has. */
  readonly text: readonly TextField[] | undefined
  /** Oldest first. */
  readonly runs: readonly Run[]
}

/** What a commit changes in an index. */
interface IndexChange {
  readonly adds: Entries
  readonly dels: Entries
  readonly irregular: number
}

export interface WrittenEntries {
  readonly number: number
  readonly page: EntryPage
}

/** A run that is to be written, and those that it takes the place of. */
interface Merge {
  readonly replaced: readonly Run[]
  /** More than one where the merged entries pass `maxRunEntries`; none where nothing is left. */
  readonly records: readonly RunRecord[]
  readonly pages: readonly WrittenEntries[]
}

// 16 KiB of numbers: what a lookup has to read where the page is not in memory, and what a merge
// writes at least.
const pageEntries = 1024

// A page of long strings ends here, in units of UTF-16: a lookup reads one or two, whatever is indexed.
const pageUnits = 32 * 1024

const shortKey = 32

// A run this long is not merged again as long as little of it was deleted: a merge holds the
// commits behind it up for 60 ms here.
export const maxRunEntries = 2 ** 18

/** How many of like size there may be before they are merged: fewer to read, or less to write. */
const runsPerLevel = 4

// Deletions that no merge has met yet, against what is there: more, and everything is merged.
const minDels = 8192

/** An index as its schema defines it. */
export function indexOf(
  number: number,
  definition: IndexDefinition,
  runs: readonly Run[] = [],
): Index {
  if (typeof definition === 'string') {
    return { number, path: definition.split('.'), text: undefined, runs }
  }
  const { text: paths, weights = {} } = definition
  const text = paths.map((path) => ({
    path: path.split('.'),
    weight: Object.hasOwn(weights, path) ? (weights[path] as number) : 1,
  }))
  return { number, path: textPath, text, runs }
}

// No field is called so.
const textPath: Path = ['$text']

/** As indexOf() takes it: what it says of the entries, and no more. */
export function definitionOf({ path, text }: Pick<Index, 'path' | 'text'>): IndexDefinition {
  if (text === undefined) return path.join('.')
  const paths = text.map((field) => field.path.join('.'))
  const weights = Object.fromEntries(text.map(({ weight }, n) => [paths[n] as string, weight]))
  return { text: paths, weights }
}

/** What the entries of an index follow from: those of one name are the same. */
export function nameOf({ path, text }: Pick<Index, 'path' | 'text'>): string {
  return text === undefined ? path.join('.') : JSON.stringify(text)
}

export function runOf(number: number, record: RunRecord): Run {
  return {
    number,
    adds: new SortedList(record.adds),
    dels: new SortedList(record.dels),
    irregular: record.irregular,
  }
}

/** Entries of an index: added, and not deleted since. */
export function entriesIn({ runs }: Index): number {
  let entries = 0
  for (const { adds, dels } of runs) entries += adds.length - dels.length
  return entries
}

/** True where some row has an array or an object where the path leads. */
export function isIrregular({ runs }: Index): boolean {
  let irregular = 0
  for (const run of runs) irregular += run.irregular
  return irregular > 0
}

/**
 * The new run of a change, merged with what has to be merged now.
 * @param takePage gives the number of a new page
 */
export async function mergeChange(
  index: Index,
  change: IndexChange,
  entries: EntryPages,
  takePage: () => number,
): Promise<Merge> {
  const { adds: added, dels: deleted } = cancelEntries(change.adds, change.dels)
  const size = added.refs.length + deleted.refs.length
  const from = mergedFrom(index, size, deleted.refs.length)
  const replaced = index.runs.slice(from)
  let { irregular } = change
  let adds: Entries = added
  let dels: Entries = deleted
  // The newest are the smallest: from there on each merge takes in about as much as it has.
  const small = await readSmall(replaced, entries)
  for (const run of replaced.toReversed()) {
    adds = mergeEntries(await readList(run.adds, entries, small), adds)
    dels = mergeEntries(await readList(run.dels, entries, small), dels)
    irregular += run.irregular
  }
  if (replaced.length > 0) ({ adds, dels } = cancelEntries(adds, dels))
  const pages: WrittenEntries[] = []
  const records: RunRecord[] = []
  const length = Math.max(adds.refs.length, dels.refs.length)
  for (let at = 0; at < length; at += maxRunEntries) {
    const part = (all: Entries) =>
      at === 0 && all.refs.length <= maxRunEntries ? all : sliceEntries(all, at, at + maxRunEntries)
    records.push({
      adds: writeList(part(adds), pages, takePage),
      dels: writeList(part(dels), pages, takePage),
      irregular: at === 0 ? irregular : 0,
    })
  }
  // Rows that come without any key (an empty array) leave only that they are irregular.
  if (records.length === 0 && irregular !== 0) {
    const empty = writeList(noEntries, pages, takePage)
    records.push({ adds: empty, dels: empty, irregular })
  }
  return { replaced, records, pages }
}

/** The position of the oldest run that a change of that size is merged with. */
function mergedFrom({ runs }: Index, size: number, deleted: number): number {
  let adds = size - deleted
  let dels = deleted
  for (const run of runs) {
    adds += run.adds.length
    dels += run.dels.length
  }
  if (dels > minDels && dels > (adds - dels) / 2) return 0
  let from = runs.length
  let merged = size
  for (;;) {
    const level = levelOf(merged)
    let first = from
    while (first > 0) {
      const run = runs[first - 1] as Run
      const length = run.adds.length + run.dels.length
      if (levelOf(length) > level || length >= maxRunEntries) break
      first--
    }
    if (from - first < runsPerLevel - 1) return from
    for (const run of runs.slice(first, from)) merged += run.adds.length + run.dels.length
    from = first
  }
}

function levelOf(entries: number): number {
  return Math.floor(Math.log(Math.max(entries, 1)) / Math.log(runsPerLevel))
}

/** Lists of a page, with one read: what others have made of late is not in memory. */
async function readSmall(
  runs: readonly Run[],
  entries: EntryPages,
): Promise<ReadonlyMap<number, EntryPage>> {
  const numbers: number[] = []
  for (const { adds, dels } of runs) {
    for (const { pages } of [adds, dels]) if (pages.length === 1) numbers.push(...pages)
  }
  if (numbers.length === 0) return new Map()
  const pages = await entries.loadMany(numbers, { keep: false })
  return new Map(pages.map((page, n) => [numbers[n] as number, page]))
}

async function readList(
  list: SortedList,
  entries: EntryPages,
  small: ReadonlyMap<number, EntryPage>,
): Promise<Entries> {
  if (list.length === 0) return noEntries
  const only = small.get(list.pages[0] as number)
  if (only !== undefined) return concatEntries([only])
  // What is merged is gone afterwards, and would only push out what stays.
  return concatEntries(await entries.loadMany(list.pages, { keep: false }))
}

function writeList(all: Entries, pages: WrittenEntries[], takePage: () => number): ListRecord {
  const list = {
    pages: [] as number[],
    counts: [] as number[],
    keys: [] as Scalar[],
    refs: [] as number[],
  }
  for (let at = 0; at < all.refs.length;) {
    const end = pageEnd(all, at)
    const page = EntryPage.of(sliceEntries(all, at, end))
    const number = takePage()
    pages.push({ number, page })
    list.pages.push(number)
    list.counts.push(page.length)
    const first = all.keys[at] as Scalar
    const key = separator(all.keys[at - 1], first)
    list.keys.push(key)
    list.refs.push(key === first ? (all.refs[at] as number) : 0)
    at = end
  }
  return list
}

function pageEnd({ keys, refs }: Entries, from: number): number {
  const most = Math.min(from + pageEntries, refs.length)
  if (keys instanceof Float64Array) return most
  let units = 0
  const isNumber = typeof keys[from] === 'number'
  for (let n = from; n < most; n++) {
    const key = keys[n]
    // Words lie in pages of their own, behind how long rows are.
    if (isNumber && typeof key !== 'number') return n
    if (typeof key === 'string') units += key.length
    if (units > pageUnits) return n + 1
  }
  return most
}

/** What stands between two pages: as much of the second one's first key as tells it from the last. */
function separator(last: Scalar | undefined, first: Scalar): Scalar {
  if (typeof first !== 'string' || first.length <= shortKey) return first
  if (typeof last !== 'string') return first.slice(0, shortKey)
  let same = 0
  while (same < last.length && last[same] === first[same]) same++
  return first.slice(0, Math.max(shortKey, same + 1))
}
