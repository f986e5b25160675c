// Reading a text index: the rows that have a word, the words that begin in some way, and how long
// rows are.

import type { EntryPage } from './entries.js'
import type { Index, Run } from './index-runs.js'
import { spanOf, type Span } from './index-scan.js'
import type { Bound, EntryPages, SortedList } from './list.js'
import { RefTable } from './ref-table.js'
import { countIn, formOf, keysBeginning, keysOfForm, type TextField } from './word-keys.js'

/** Rows that have a word, or several that begin alike, as often as each other. */
export interface Posting {
  readonly count: number
  /** Growing. Not to be changed. */
  readonly refs: Float64Array
}

export function spanOfForm(form: string): Span {
  const [gte, lt] = keysOfForm(form)
  return spanOf({ bracket: 2, gte, lt })
}

export function spanBeginning(beginning: string): Span {
  const [gte, lt] = keysBeginning(beginning)
  return spanOf({ bracket: 2, gte, ...(lt !== undefined && { lt }) })
}

/**
 * Reads what is not in memory of the pages in which spans begin and end, in all runs at once: one after
 * the other a rare word took three times as long.
 */
export async function prepare(
  { runs }: Index,
  spans: readonly Span[],
  entries: EntryPages,
): Promise<void> {
  const missing = new Set<number>()
  for (const { low, high } of spans) {
    for (const { adds, dels } of runs) {
      for (const list of [adds, dels]) {
        if (list.length === 0) continue
        for (const page of [list.pageWith(low), list.pageWith(high)]) {
          if (page !== undefined && entries.peek(page) === undefined) missing.add(page)
        }
      }
    }
  }
  if (missing.size > 1) await entries.loadMany([...missing])
}

/** What is in a span of words and was not deleted. */
export async function postingsIn(
  { runs }: Index,
  span: Span,
  entries: EntryPages,
): Promise<Posting[]> {
  const gone = await goneIn(runs, span, entries)
  const postings: Posting[] = []
  for (const { adds } of runs) {
    await eachSlice(adds, span, entries, (page, from, to) => {
      const { refs } = page
      for (let first = from; first < to;) {
        const key = page.key(first) as string
        const end = endOf(page, key, first, to)
        // A row that was deleted is deleted under all of its keys, and never comes back.
        const all = refs.subarray(first, end)
        const left = gone.size === 0 ? all : all.filter((ref) => !gone.has(ref))
        if (left.length > 0) postings.push({ count: countIn(key), refs: left })
        first = end
      }
    })
  }
  return postings
}

/** Calls with the rows that have a word of a span, and with what tells where; several times with some. */
export async function eachPlaces(
  { runs }: Index,
  span: Span,
  entries: EntryPages,
  take: (ref: number, places: () => string) => void,
): Promise<void> {
  const gone = await goneIn(runs, span, entries)
  for (const { adds } of runs) {
    await eachSlice(adds, span, entries, (page, from, to) => {
      const { refs } = page
      let at = from
      let all: readonly string[] | undefined
      // One by one they take ten times as long as all of a page.
      const isMany = to - from > 64
      const places = () => {
        if (!isMany) return page.place(at)
        all ??= page.places ?? []
        return all[at] ?? ''
      }
      for (; at < to; at++) {
        const ref = refs[at] as number
        if (gone.size === 0 || !gone.has(ref)) take(ref, places)
      }
    })
  }
}

async function goneIn(
  runs: readonly Run[],
  span: Span,
  entries: EntryPages,
): Promise<ReadonlySet<number>> {
  const gone = new Set<number>()
  for (const { dels } of runs) {
    await eachSlice(dels, span, entries, (page, from, to) => {
      for (let n = from; n < to; n++) gone.add(page.refs[n] as number)
    })
  }
  return gone
}

/** Where the entries of a key end. */
function endOf(page: EntryPage, key: string, first: number, to: number): number {
  if (first + 1 === to || page.key(first + 1) !== key) return first + 1
  return page.key(to - 1) === key ? to : Math.min(to, page.lowerBound(key, Infinity))
}

/** Rows, and how long they are together. */
export interface TextSums {
  readonly rows: number
  readonly length: number
}

/**
 * How long rows are, and how long all of them: rows never change, so what was read of a run is right
 * for every state that has it.
 */
export class RowLengths implements TextSums {
  readonly rows: number
  readonly length: number
  readonly #known: KnownLengths

  constructor({ rows, length }: TextSums, known: KnownLengths) {
    this.rows = rows
    this.length = length
    this.#known = known
  }

  of(ref: number): number {
    return this.#known.lengths[this.#known.rows.find(ref)] ?? 0
  }
}

interface KnownLengths {
  readonly rows: RefTable
  /** By place in `rows`. */
  lengths: Uint32Array
  /** What runs say of them, with what they delete taken off. */
  readonly runs: WeakMap<Run, TextSums>
}

/** By what an index has in common over all of its states. */
const known = new WeakMap<readonly TextField[], KnownLengths>()

/** Rows that are not there any more stay in memory up to as many as there are, and these. */
const mostGone = 10_000

export async function lengthsOf(index: Index, entries: EntryPages): Promise<RowLengths> {
  const before = known.get(index.text ?? [])
  const found = await lengthsIn(index, before ?? newLengths(), entries)
  const isFull = before !== undefined && before.rows.count > 2 * found.rows + mostGone
  if (!isFull) return found
  known.delete(index.text ?? [])
  return lengthsIn(index, newLengths(), entries)
}

function newLengths(): KnownLengths {
  return { rows: new RefTable(0), lengths: new Uint32Array(0), runs: new WeakMap() }
}

async function lengthsIn(
  { text = [], runs }: Index,
  of: KnownLengths,
  entries: EntryPages,
): Promise<RowLengths> {
  known.set(text, of)
  let [rows, length] = [0, 0]
  for (const run of runs) {
    let sums = of.runs.get(run)
    if (sums === undefined) {
      sums = await readLengths(run, of, entries)
      of.runs.set(run, sums)
    }
    rows += sums.rows
    length += sums.length
  }
  return new RowLengths({ rows, length }, of)
}

const lengthKeys = spanOf({ bracket: 1 })

async function readLengths(
  { adds, dels }: Run,
  of: KnownLengths,
  entries: EntryPages,
): Promise<TextSums> {
  let [rows, length] = [0, 0]
  await eachSlice(adds, lengthKeys, entries, ({ keys, refs }, from, to) => {
    for (let n = from; n < to; n++) {
      const place = of.rows.place(refs[n] as number)
      if (place >= of.lengths.length) {
        const larger = new Uint32Array(Math.max(1024, 2 * of.lengths.length))
        larger.set(of.lengths)
        of.lengths = larger
      }
      of.lengths[place] = keys[n] as number
      length += keys[n] as number
      rows++
    }
  })
  await eachSlice(dels, lengthKeys, entries, ({ keys }, from, to) => {
    for (let n = from; n < to; n++) length -= keys[n] as number
    rows -= to - from
  })
  return { rows, length }
}

/** Of runs: forms by what they are asked by. */
const forms = new WeakMap<Run, Map<string, readonly string[]>>()
const mostKnown = 1000

/**
 * The forms of an index that begin in a way and pass a test, each once, in their order; also those
 * that deleted rows had.
 * @param name tells one test from another
 */
export async function formsIn(
  { runs }: Index,
  beginnings: readonly string[],
  name: string,
  test: (form: string) => boolean,
  entries: EntryPages,
): Promise<string[]> {
  const found = new Set<string>()
  for (const run of runs) {
    const ofRun = forms.get(run) ?? new Map<string, readonly string[]>()
    forms.set(run, ofRun)
    let known = ofRun.get(name)
    if (known === undefined) {
      const all: string[] = []
      for (const beginning of beginnings) {
        all.push(...(await formsBeginning(run.adds, beginning, entries)).filter(test))
      }
      known = all
      if (ofRun.size >= mostKnown) ofRun.clear()
      ofRun.set(name, known)
    }
    for (const form of known) found.add(form)
  }
  return [...found].sort()
}

/** From form to form: the entries of each are passed over. */
async function formsBeginning(
  list: SortedList,
  beginning: string,
  entries: EntryPages,
): Promise<string[]> {
  const found: string[] = []
  if (list.length === 0) return found
  const { low, high } = spanBeginning(beginning)
  // Without a promise where a page is in memory: a word asks for some hundred positions.
  const position = (bound: Bound) => list.tryPosition(bound, entries)
  let end = position(high)
  if (end < 0) end = await list.position(high, entries)
  let at = position(low)
  if (at < 0) at = await list.position(low, entries)
  while (at < end) {
    const { n, at: place } = list.locate(at)
    const number = list.pages[n] as number
    const page = entries.peek(number) ?? (await entries.load(number))
    const form = formOf(page.key(place) as string)
    found.push(form)
    const behind = spanOfForm(form).high
    const next = page.lowerBound(behind.key, behind.ref)
    // Most end where they begin.
    if (next < page.refs.length) at += next - place
    else {
      at = position(behind)
      if (at < 0) at = await list.position(behind, entries)
    }
  }
  return found
}

/** Pages that are read at once. */
const pagesPerRead = 64

/** Calls with the parts of pages that lie in the span. */
async function eachSlice(
  list: SortedList,
  { low, high }: Span,
  entries: EntryPages,
  take: (page: EntryPage, from: number, to: number) => void,
): Promise<void> {
  if (list.length === 0) return
  let from = list.tryPosition(low, entries)
  if (from < 0) from = await list.position(low, entries)
  let to = list.tryPosition(high, entries)
  if (to < 0) to = await list.position(high, entries)
  while (from < to) {
    const first = list.locate(from)
    const last = list.locate(to - 1)
    const numbers = list.pages.slice(first.n, Math.min(last.n + 1, first.n + pagesPerRead))
    const pages = await entries.loadMany(numbers)
    let { at } = first
    for (const page of pages) {
      const end = Math.min(page.refs.length, at + to - from)
      take(page, at, end)
      from += end - at
      at = 0
    }
  }
}
