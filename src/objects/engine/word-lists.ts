// Reading a text index: the rows that have a word, the words that begin in some way, and how long
// rows are.

import type { EntryPage } from './entries.js'
import type { Index, Run } from './index-runs.js'
import { spanOf, type Span } from './index-scan.js'
import type { EntryPages, SortedList } from './list.js'
import { formOf, keysBeginning, keysOfForm, readWordKey } from './word-keys.js'

/** Rows that have words as often as each other, and are as long as each other. */
export interface Posting {
  readonly count: number
  readonly length: number
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

const lengths = spanOf({ bracket: 1 })

/** What is in a span of words and was not deleted. */
export async function postingsIn(
  { runs }: Index,
  span: Span,
  entries: EntryPages,
): Promise<Posting[]> {
  const gone = new Set<number>()
  for (const { dels } of runs) {
    await eachSlice(dels, span, entries, (page, from, to) => {
      for (let n = from; n < to; n++) gone.add(page.refs[n] as number)
    })
  }
  const postings: Posting[] = []
  for (const { adds } of runs) {
    await eachSlice(adds, span, entries, (page, from, to) => {
      const { keys, refs } = page
      for (let first = from; first < to;) {
        const key = keys[first] as string
        let end = first + 1
        while (end < to && keys[end] === key) end++
        // A row that was deleted is deleted under all of its keys, and never comes back.
        const all = refs.subarray(first, end)
        const left = gone.size === 0 ? all : all.filter((ref) => !gone.has(ref))
        const { count, length } = readWordKey(key)
        if (left.length > 0) postings.push({ count, length, refs: left })
        first = end
      }
    })
  }
  return postings
}

/** Rows, and how long they are together. */
export interface TextSums {
  readonly rows: number
  readonly length: number
}

/** Of runs, which never change. */
const sums = new WeakMap<Run, TextSums>()

/** Of all rows of a text index: each has one entry with its length. */
export async function sumsOf({ runs }: Index, entries: EntryPages): Promise<TextSums> {
  let [rows, length] = [0, 0]
  for (const run of runs) {
    const known = sums.get(run) ?? (await sumsOfRun(run, entries))
    sums.set(run, known)
    rows += known.rows
    length += known.length
  }
  return { rows, length }
}

async function sumsOfRun({ adds, dels }: Run, entries: EntryPages): Promise<TextSums> {
  let [rows, length] = [0, 0]
  const add = (sign: 1 | -1) => (page: EntryPage, from: number, to: number) => {
    rows += sign * (to - from)
    for (let n = from; n < to; n++) length += sign * (page.keys[n] as number)
  }
  await eachSlice(adds, lengths, entries, add(1))
  await eachSlice(dels, lengths, entries, add(-1))
  return { rows, length }
}

/** How long each row is that was not deleted. */
export async function eachLength(
  { runs }: Index,
  entries: EntryPages,
  take: (ref: number, length: number) => void,
): Promise<void> {
  const gone = new Set<number>()
  for (const { dels } of runs) {
    await eachSlice(dels, lengths, entries, ({ refs }, from, to) => {
      for (let n = from; n < to; n++) gone.add(refs[n] as number)
    })
  }
  for (const { adds } of runs) {
    await eachSlice(adds, lengths, entries, ({ keys, refs }, from, to) => {
      for (let n = from; n < to; n++) {
        const ref = refs[n] as number
        if (!gone.has(ref)) take(ref, keys[n] as number)
      }
    })
  }
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
  beginning: string,
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
      known = (await formsBeginning(run.adds, beginning, entries)).filter(test)
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
  const { low, high } = spanBeginning(beginning)
  const end = await list.position(high, entries)
  for (let at = await list.position(low, entries); at < end;) {
    const { n, at: place } = list.locate(at)
    const page = await entries.get(list.pages[n] as number)
    const form = formOf(page.keys[place] as string)
    found.push(form)
    at = await list.position(spanOfForm(form).high, entries)
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
  const to = await list.position(high, entries)
  let from = await list.position(low, entries)
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
