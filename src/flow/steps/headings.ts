// Headings of texts in Markdown, and which of them a place stands under.

import { Turns } from '../../turns.js'
import { atxHeading } from '../atx-heading.js'
import type { FlowDocument } from '../types.js'

export interface Heading {
  /** Of its line, in UTF-16 code units; the end is before the line's end. */
  readonly start: number
  readonly end: number
  /** Without the number signs. */
  readonly text: string
}

/** A longer one is something else. */
const maxLength = 1000

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/
/** No prose begins so below a heading, but code does below a comment. */
const code = /^\s*(?:\p{Ll}|[\w.$]+\s*[:+]?=)/u

/**
 * Lines such as `## Two` (CommonMark, 4.2), but for those in fenced code, and for comments of
 * scripts, which look the same: a heading has another kind of line before it and behind it, a blank
 * one before it, and none of code below.
 */
export function* headingsIn(text: string): Generator<Heading, void, undefined> {
  for (const found of headingsAndPauses(text)) if (found !== undefined) yield found
}

const linesAtOnce = 256

/** As headingsIn(), with undefined wherever so many lines are done. */
function* headingsAndPauses(text: string): Generator<Heading | undefined, void, undefined> {
  if (text.startsWith('#!') || !/(?:^\uFEFF?|[\r\n]) {0,3}#{1,6}[ \t]/.test(text)) return
  let before: Line = { start: 0, text: '' }
  let line: Line | undefined
  let open = ''
  let lines = 0
  for (const after of linesOf(text)) {
    if (line !== undefined) {
      const [, marks = '', more = ''] = fence.exec(line.text) ?? []
      if (open !== '') {
        if (marks.startsWith(open) && more.trim() === '') open = ''
      } else if (marks !== '' && !(marks.startsWith('`') && more.includes('`'))) open = marks
      else if (isHeading(line, before, after)) yield headingOf(line)
      before = line
    }
    line = after
    if (++lines % linesAtOnce === 0) yield undefined
  }
}

interface Line {
  readonly start: number
  readonly text: string
}

/** Its lines, and an empty one behind them. */
function* linesOf(text: string): Generator<Line, void, undefined> {
  for (const { index, 1: line = '' } of text.matchAll(/([^\r\n]*)(?:\r\n?|\n|$)/g)) {
    yield { start: index, text: line }
  }
  yield { start: text.length, text: '' }
}

function isHeading(line: Line, before: Line, after: Line): boolean {
  const level = levelOf(line)
  if (level === 0 || headingOf(line).text === '') return false
  const isApart = /^\s*(?:-{3,})?$/.test(before.text) || levelOf(before) > 0
  if (!isApart || levelOf(before) === level || levelOf(after) === level) return false
  return !code.test(after.text)
}

/** From 1; 0 for any other line. */
function levelOf({ text }: Line): number {
  return text.length > maxLength ? 0 : (atxHeading(text)?.level ?? 0)
}

function headingOf({ start, text }: Line): Heading {
  const { marked = '' } = atxHeading(text) ?? {}
  return { start, end: start + text.length, text: marked.replace(/\s+/gu, ' ').trim() }
}

const known = new WeakMap<FlowDocument, { text: string; headings: readonly Heading[] }>()

/** Of a document whose chunks ask one after the other. */
export function headingsOf(document: FlowDocument): readonly Heading[] {
  const found = knownOf(document)
  if (found !== undefined) return found
  const { text } = document
  const headings = [...headingsIn(text)]
  known.set(document, { text, headings })
  return headings
}

function knownOf(document: FlowDocument): readonly Heading[] | undefined {
  const { text, headings } = document
  const found = known.get(document)
  // A step may have put another text in its place.
  return headings ?? (found?.text === text ? found.headings : undefined)
}

/**
 * headingsOf() has them at hand from here on. By itself it takes 0.5 s of one turn for a million lines.
 * Rejects with the signal's reason.
 */
export async function findHeadings(document: FlowDocument, signal: AbortSignal): Promise<void> {
  if (knownOf(document) !== undefined) return
  const { text } = document
  const headings: Heading[] = []
  const turns = new Turns(signal)
  for (const found of headingsAndPauses(text)) {
    if (found !== undefined) headings.push(found)
    else await turns.pass()
  }
  known.set(document, { text, headings })
}

/** The heading that a chunk stands under: of those that it begins with the last, else the one before. */
export function headingAbove(document: FlowDocument, start: number): Heading | undefined {
  const headings = headingsOf(document)
  const first = lastAt(headings, start)
  // In a text of unknown kind the second of two lines that look so may be something else.
  if (document.headings === undefined || first?.start !== start) return first
  let heading = first
  for (let n = headings.indexOf(first) + 1; n < headings.length; n++) {
    const next = headings[n] as Heading // n < length
    if (document.text.slice(heading.end, next.start).trim() !== '') break
    heading = next
  }
  return heading
}

/**
 * The last heading, or page, that begins at or before a place: what follows a heading is in its section.
 * They are in the order of the text.
 */
export function lastAt<Started extends { readonly start: number }>(
  all: readonly Started[],
  place: number,
): Started | undefined {
  let [low, high] = [0, all.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((all[middle] as Started).start <= place) low = middle + 1
    else high = middle
  }
  return all[low - 1]
}
