// Reading a text index: the entries of words, the words that begin in some way, and how long rows are.

import { LorekeepError } from '../../errors.js'
import type { Entries, EntryPage } from './entries.js'
import type { Index, Run } from './index-runs.js'
import { joinSpans, spanOf, type Span } from './index-scan.js'
import type { Bound, EntryPages, SortedList } from './list.js'
import { formOf, keysBeginning, keysOfForm } from './word-keys.js'
import { WordCursor, type WordPage } from './word-page.js'

/** Entries of one key: of rows that have a word, or several that begin alike, as often as each other. */
export interface Posting {
  readonly page: WordPage
  readonly group: number
  readonly count: number
}

/** What is in a span of words. */
export interface WordList {
  readonly postings: readonly Posting[]
  /** How many entries these have together. */
  readonly entries: number
  /** References of what was deleted: under all of its keys, and it never comes back. */
  readonly gone: ReadonlySet<number>
}

export function spanOfForm(form: string): Span {
  const [gte, lt] = keysOfForm(form)
  return spanOf({ bracket: 2, gte, lt })
}

export function spanBeginning(beginning: string): Span {
  const [gte, lt] = keysBeginning(beginning)
  return spanOf({ bracket: 2, gte, ...(lt !== undefined && { lt }) })
}

export function cursorOf({ page, group }: Posting): WordCursor {
  return new WordCursor(page, group)
}

/** Pages of one run that may have something of a span. */
interface Part {
  readonly span: Span
  readonly numbers: readonly number[]
  /** Held: some may have to go from memory for others. */
  readonly pages: (EntryPage | undefined)[]
}

/** Pages that are read at once. */
const pagesPerRead = 256

/**
 * What each of the spans has. What is not in memory is read at once, of all runs: one after the other a
 * rare word took three times as long.
 */
export async function wordLists(
  { runs }: Index,
  spans: readonly Span[],
  entries: EntryPages,
): Promise<readonly WordList[]> {
  const parts = spans.map((span) => partsOf(runs, span, entries))
  await readMissing(parts, entries)
  const lists: WordList[] = []
  for (const [n, ofSpan] of parts.entries()) {
    const postings: Posting[] = []
    let count = 0
    for (const part of ofSpan) {
      eachRange(part, (page, from, to) => {
        for (let group = from; group < to; group++) {
          postings.push({ page, group, count: page.countOf(group) })
        }
        count += page.start(to) - page.start(from)
      })
    }
    lists.push({ postings, entries: count, gone: await goneIn(runs, spans[n] as Span, entries) })
  }
  return lists
}

function partsOf(runs: readonly Run[], span: Span, entries: EntryPages): readonly Part[] {
  const parts: Part[] = []
  for (const { adds } of runs) {
    if (adds.length === 0) continue
    const [from, to] = adds.pagesBetween(span.low, span.high)
    if (from >= to) continue
    const numbers = adds.pages.slice(from, to)
    parts.push({ span, numbers, pages: numbers.map((number) => entries.peek(number)) })
  }
  return parts
}

/** What is not in memory. */
async function readMissing(
  parts: readonly (readonly Part[])[],
  entries: EntryPages,
): Promise<void> {
  const missing = new Map<number, EntryPage | undefined>()
  for (const ofSpan of parts) {
    for (const { numbers, pages } of ofSpan) {
      for (let n = 0; n < numbers.length; n++) {
        if (pages[n] === undefined) missing.set(numbers[n] as number, undefined)
      }
    }
  }
  if (missing.size === 0) return
  const numbers = [...missing.keys()]
  for (let at = 0; at < numbers.length; at += pagesPerRead) {
    const some = numbers.slice(at, at + pagesPerRead)
    const pages = await entries.loadMany(some)
    for (const [n, number] of some.entries()) missing.set(number, pages[n])
  }
  for (const ofSpan of parts) {
    for (const { numbers, pages } of ofSpan) {
      for (const [n, number] of numbers.entries()) pages[n] ??= missing.get(number)
    }
  }
}

/** Calls with the keys of each page that are in the span: from, not including to. */
function eachRange(
  { span: { low, high }, numbers, pages }: Part,
  take: (page: WordPage, from: number, to: number) => void,
): void {
  for (let n = 0; n < pages.length; n++) {
    const page = pages[n] as EntryPage
    const { words } = page
    if (words === undefined) {
      checkLengths(page, numbers[n] as number)
      continue
    }
    const from = n === 0 ? words.lowerGroup(low.key as string) : 0
    const isEnd = n === pages.length - 1 && typeof high.key === 'string'
    const to = isEnd ? words.lowerGroup(high.key as string, from) : words.groups
    if (from < to) take(words, from, to)
  }
}

/** How long rows are lies in front of all words. @throws LorekeepError `LK_STORAGE_CORRUPT` */
function checkLengths(page: EntryPage, number: number): void {
  if (page.length === 0 || typeof page.key(page.length - 1) === 'number') return
  throw new LorekeepError('LK_STORAGE_CORRUPT', `page ${number} is not made of words`)
}

const nothing: ReadonlySet<number> = new Set()

async function goneIn(
  runs: readonly Run[],
  span: Span,
  entries: EntryPages,
): Promise<ReadonlySet<number>> {
  let gone: Set<number> | undefined
  for (const { dels } of runs) {
    if (dels.length === 0) continue
    await eachSlice(dels, span, entries, ({ refs }, from, to) => {
      gone ??= new Set()
      for (let n = from; n < to; n++) gone.add(refs[n] as number)
    })
  }
  return gone ?? nothing
}

/** Rows, and how long they are together. */
export interface TextSums {
  readonly rows: number
  readonly length: number
}

/** Of runs, which never change, with what they delete taken off. */
const sums = new WeakMap<Run, TextSums>()

export async function sumsOf({ runs }: Index, entries: EntryPages): Promise<TextSums> {
  let [rows, length] = [0, 0]
  for (const run of runs) {
    let ofRun = sums.get(run)
    if (ofRun === undefined) {
      ofRun = await readSums(run, entries)
      sums.set(run, ofRun)
    }
    rows += ofRun.rows
    length += ofRun.length
  }
  return { rows, length }
}

const lengthKeys = spanOf({ bracket: 1 })

async function readSums({ adds, dels }: Run, entries: EntryPages): Promise<TextSums> {
  let [rows, length] = [0, 0]
  for (const [list, times] of [[adds, 1] as const, [dels, -1] as const]) {
    await eachSlice(list, lengthKeys, entries, ({ keys }, from, to) => {
      for (let n = from; n < to; n++) length += times * (keys[n] as number)
      rows += times * (to - from)
    })
  }
  return { rows, length }
}

/** How long some of the rows are together: of those that are there. All entries are looked at. */
export async function lengthOf(
  { runs }: Index,
  has: (ref: number) => boolean,
  entries: EntryPages,
  breathe: () => Promise<void>,
): Promise<number> {
  let length = 0
  for (const { adds } of runs) {
    await eachSlice(
      adds,
      lengthKeys,
      entries,
      ({ keys, refs }, from, to) => {
        for (let n = from; n < to; n++) if (has(refs[n] as number)) length += keys[n] as number
      },
      breathe,
    )
  }
  return length
}

// More pages of a run than a beginning lies in mostly: then it is walked from form to form.
const fewPages = 3

/**
 * What each form has that begins in one of these ways and passes a test, in their order; `undefined`
 * where so much begins so that not all of it should be looked at.
 */
export async function listsBeginning(
  { runs }: Index,
  beginnings: readonly string[],
  test: (form: string) => boolean,
  entries: EntryPages,
): Promise<ReadonlyMap<string, WordList> | undefined> {
  // One may begin as another does.
  const spans = joinSpans(beginnings.map(spanBeginning))
  const parts = spans.map((span) => partsOf(runs, span, entries))
  if (parts.some((ofSpan) => ofSpan.some(({ pages }) => pages.length > fewPages))) return undefined
  await readMissing(parts, entries)
  const found = new Map<string, GrowingList>()
  const failed = new Set<string>()
  for (const [n, ofSpan] of parts.entries()) {
    const gone = await goneIn(runs, spans[n] as Span, entries)
    const listOf = (form: string): GrowingList | undefined => {
      const known = found.get(form)
      if (known !== undefined || failed.has(form)) return known
      if (!test(form)) {
        failed.add(form)
        return undefined
      }
      const list = { postings: [], entries: 0, gone }
      found.set(form, list)
      return list
    }
    for (const part of ofSpan) {
      eachRange(part, (page, from, to) => {
        let list: GrowingList | undefined
        for (let group = from; group < to; group++) {
          if (group === from || !page.isOfFormBefore(group)) list = listOf(page.formOf(group))
          if (list === undefined) continue
          list.postings.push({ page, group, count: page.countOf(group) })
          list.entries += page.start(group + 1) - page.start(group)
        }
      })
    }
  }
  return new Map([...found].sort(([one], [other]) => (one < other ? -1 : 1)))
}

interface GrowingList extends WordList {
  readonly postings: Posting[]
  entries: number
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
  const unknown = runs.filter((run) => forms.get(run)?.has(name) !== true)
  await readEnds(unknown, beginnings.map(spanBeginning), entries)
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

/** Reads what is not in memory of the pages in which spans begin and end, in all runs at once. */
async function readEnds(
  runs: readonly Run[],
  spans: readonly Span[],
  entries: EntryPages,
): Promise<void> {
  const missing = new Set<number>()
  for (const { low, high } of spans) {
    for (const { adds } of runs) {
      for (const page of [adds.pageWith(low), adds.pageWith(high)]) {
        if (page !== undefined && entries.peek(page) === undefined) missing.add(page)
      }
    }
  }
  if (missing.size > 1) await entries.loadMany([...missing])
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
    if (next < page.length) at += next - place
    else {
      at = position(behind)
      if (at < 0) at = await list.position(behind, entries)
    }
  }
  return found
}

/** Calls with the parts of pages that lie in the span; of lengths, or of what was deleted. */
async function eachSlice(
  list: SortedList,
  { low, high }: Span,
  entries: EntryPages,
  take: (page: Entries, from: number, to: number) => void,
  breathe?: () => Promise<void>,
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
      const end = Math.min(page.length, at + to - from)
      take(page.entries(), at, end)
      from += end - at
      at = 0
      await breathe?.()
    }
  }
}
