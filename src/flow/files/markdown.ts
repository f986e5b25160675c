// Markdown: the text as it is, with its headings (CommonMark 0.31, 4.2 and 4.3).

import { atxHeading } from '../atx-heading.js'
import { titleOfFrontMatter } from './front-matter.js'
import { Headings, textTooLong, type StructuredText } from './structured-text.js'
import { Unreadable } from './unreadable.js'
import type { ReadLimits } from './types.js'

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/
const underline = /^ {0,3}(=+|-+)[ \t]*$/
const rule = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/
/** What begins another kind of block than a paragraph. */
const otherBlock = /^ {0,3}(?:[-+*>][ \t]|\d{1,9}[.)][ \t]|<)|^(?: {4}|\t)/
const maxHeadingLength = 1000
const maxFrontMatter = 100

/**
 * That it is Markdown is known here, so each line that is marked as a heading is one; in texts of
 * unknown kind it may be a comment of a script (steps/headings.ts).
 */
export function readMarkdown(text: string, { maxTextLength }: ReadLimits): StructuredText {
  if (text.length > maxTextLength) throw textTooLong(maxTextLength)
  if (text.trim() === '') throw new Unreadable('empty', 'it has no text')
  const headings = new Headings()
  const front = frontMatterOf(text)
  let open = ''
  /** Where the paragraph under way begins; -1 where there is none, -2 in what is no paragraph. */
  let paragraph = -1
  let title: string | undefined
  const add = (start: number, end: number, marked: string, level: number) => {
    const plain = marked.length > maxHeadingLength ? '' : plainText(marked)
    if (plain === '') return
    headings.add({ start, end, text: plain, level })
    if (level === 1) title ??= plain
  }
  let isComment = false
  for (const { start, line } of linesOf(text, front.end)) {
    isComment ||= open === '' && /^ {0,3}<!--/.test(line)
    if (isComment) {
      isComment = !line.includes('-->')
      paragraph = -1
      continue
    }
    const [, marks = '', more = ''] = fence.exec(line) ?? []
    if (open !== '') {
      if (marks.startsWith(open) && more.trim() === '') open = ''
      continue
    }
    if (marks !== '' && !(marks.startsWith('`') && more.includes('`'))) {
      open = marks
      paragraph = -1
      continue
    }
    const heading = line.length <= maxHeadingLength ? atxHeading(line) : undefined
    if (heading !== undefined) {
      add(start, start + line.length, heading.marked, heading.level)
      paragraph = -1
      continue
    }
    const under =
      paragraph < 0 || line.length > maxHeadingLength ? undefined : underline.exec(line)?.[1]
    if (under !== undefined) {
      const level = under.startsWith('=') ? 1 : 2
      add(paragraph, start + line.length, text.slice(paragraph, start).trim(), level)
      paragraph = -1
    } else if (line.trim() === '' || isRule(line)) paragraph = -1
    else if (otherBlock.test(line)) paragraph = -2
    else if (paragraph === -1) paragraph = start
  }
  const named = front.title ?? title
  return { text, ...(named !== undefined && { title: named }), headings: headings.all, pages: [] }
}

function isRule(line: string): boolean {
  return line.length <= maxHeadingLength && rule.test(line)
}

/** The lines between `---` that some programs have at the top, and the title that they say. */
function frontMatterOf(text: string): { readonly end: number; readonly title?: string } {
  const mark = text.startsWith('\uFEFF') ? 1 : 0
  if (!/^---[ \t]*\r?\n/.test(text.slice(mark, mark + 100))) return { end: mark }
  const lines: string[] = []
  for (const { start, line } of linesOf(text, mark)) {
    if (lines.length > 0 && /^(?:---|\.\.\.)[ \t]*$/.test(line)) {
      const title = titleOfFrontMatter(lines.slice(1))
      return { end: start + line.length, ...(title !== undefined && { title }) }
    }
    if (lines.push(line) > maxFrontMatter) break
  }
  return { end: mark }
}

function* linesOf(text: string, from: number): Generator<{ start: number; line: string }, void> {
  for (let start = from; start < text.length;) {
    const at = text.indexOf('\n', start)
    const end = at < 0 ? text.length : at
    const isCrLf = text[end - 1] === '\r' && end > start
    yield { start, line: text.slice(start, isCrLf ? end - 1 : end) }
    start = end + 1
  }
}

/** Without links and emphasis: as it is read. */
function plainText(marked: string): string {
  return marked
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .split(/[\n\r\u2028\u2029]/)
    .map(withoutEmphasis)
    .join(' ')
    .replace(/\s+/gu, ' ')
    .trim()
}

const marks = ['**', '__', '*', '`']

/**
 * Not by an expression: one that looks for the closing mark goes through the rest of the line for each
 * that opens, and a file may be made of such lines.
 */
function withoutEmphasis(line: string): string {
  /** Those that nothing closes in the rest of it. */
  const open = new Set<string>()
  const closing = (mark: string, from: number) => {
    if (open.has(mark) || !line.startsWith(mark, from - mark.length) || isSpace(line[from]))
      return -1
    let to = line.indexOf(mark, from + 1)
    while (to >= 0 && isSpace(line[to - 1])) to = line.indexOf(mark, to + 1)
    if (to < 0) open.add(mark)
    return to
  }
  let plain = ''
  for (let at = 0; at < line.length; at++) {
    const mark = marks.find((each) => closing(each, at + each.length) >= 0)
    if (mark === undefined) {
      plain += line[at]
      continue
    }
    const [from, to] = [at + mark.length, closing(mark, at + mark.length)]
    plain += line.slice(from, to)
    at = to + mark.length - 1
  }
  return plain
}

function isSpace(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character)
}
