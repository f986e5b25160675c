// PDF: its text, in the order in which people read it (see pdf-layout.ts), by unpdf.

import { columnsOf, linesOf, type Fragment, type Line } from './pdf-layout.js'
import { peer } from './peer.js'
import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { Unreadable } from './unreadable.js'

/** Of the parser, what is used. */
interface PdfFile {
  readonly numPages: number
  getPage(number: number): Promise<PdfPage>
  getMetadata(): Promise<{ readonly info: unknown }>
  getOutline(): Promise<readonly OutlineItem[] | null>
  getDestination(name: string): Promise<readonly unknown[] | null>
  getPageIndex(ref: never): Promise<number>
}

interface PdfPage {
  getTextContent(): Promise<{ readonly items: readonly (TextItem | object)[] }>
  cleanup(): unknown
}

interface TextItem {
  readonly str: string
  readonly width: number
  readonly height: number
  /** `[a, b, c, d, x, y]`: `a` and `b` say where its baseline goes, `c` and `d` its height. */
  readonly transform: readonly number[]
}

interface OutlineItem {
  readonly title: string
  readonly dest: string | readonly unknown[] | null
  readonly items: readonly OutlineItem[]
}

interface PdfLine extends Line {
  readonly page: number
  /** The number of its column, counted through the whole file. */
  readonly column: number
}

const unpdf = { name: 'unpdf', version: 1, files: 'reading PDF' }

export async function readPdf(bytes: Uint8Array, limits: ReadLimits): Promise<StructuredText> {
  const { getDocumentProxy } = await peer(() => import('unpdf'), unpdf)
  let file: PdfFile
  try {
    // Nothing but text is wanted of it, and nothing that runs.
    const options = { verbosity: 0, isEvalSupported: false, disableFontFace: true, maxImageSize: 0 }
    file = (await getDocumentProxy(new Uint8Array(bytes), options)) as unknown as PdfFile
  } catch (cause) {
    const { name, message } = cause as Error
    if (name === 'PasswordException') {
      throw new Unreadable('encrypted', 'it is encrypted: it needs a password', { cause })
    }
    throw new Unreadable('damaged', `it is a damaged PDF: ${message}`, { cause })
  }
  const { numPages } = file
  const { maxFilePages } = limits
  if (numPages > maxFilePages) {
    const message = `it has ${numPages} pages; at most ${maxFilePages} are read (maxFilePages)`
    throw new Unreadable('pages', message)
  }
  const lines = withoutMargins(await readLines(file, limits), numPages)
  return structured(lines, await titleOf(file), await outlineOf(file), limits, numPages)
}

async function readLines(file: PdfFile, { maxTextLength }: ReadLimits): Promise<PdfLine[]> {
  const lines: PdfLine[] = []
  let [column, length] = [0, 0]
  for (let number = 1; number <= file.numPages; number++) {
    const page = await file.getPage(number)
    const { items } = await page.getTextContent()
    page.cleanup()
    for (const fragments of columnsOf(fragmentsOf(items))) {
      for (const line of linesOf(fragments)) {
        length += line.text.length
        lines.push({ ...line, page: number, column })
      }
      column++
    }
    // There is more of it than there will be: margins go, and hyphens.
    if (length > 2 * maxTextLength) break
  }
  return lines
}

/** Those along the lines of most of the page, and then those that go another way, as they come. */
function fragmentsOf(items: readonly (TextItem | object)[]): Fragment[] {
  const directions = new Map<number, Fragment[]>()
  for (const item of items) {
    if (!('str' in item) || item.str.trim() === '') continue
    const [a = 1, b = 0, c = 0, d = 1, x = 0, y = 0] = item.transform
    const turns = Math.round(Math.atan2(b, a) / (Math.PI / 2)) & 3
    const size = Math.hypot(c, d) || item.height
    if (!(size > 0)) continue
    const [left, base] = (
      [
        [x, y],
        [y, -x],
        [-x, -y],
        [-y, x],
      ] as const
    )[turns] ?? [x, y]
    const fragment = { text: item.str, left, right: left + item.width, base, size }
    const known = directions.get(turns)
    if (known === undefined) directions.set(turns, [fragment])
    else known.push(fragment)
  }
  const bySize = [...directions.values()].sort((one, other) => other.length - one.length)
  const [most = [], ...others] = bySize
  const lowest = most.reduce((least, { base }) => Math.min(least, base), 0)
  // Below all else, each direction by itself.
  return [
    ...most,
    ...others.flatMap((those, n) =>
      those.map((each) => ({ ...each, base: each.base + lowest - (n + 1) * 1e5 })),
    ),
  ]
}

/**
 * Without numbers of pages, and without what stands in the same place of three pages or more with
 * nothing but other numbers: titles above the text, and notes of who printed it.
 */
function withoutMargins(lines: readonly PdfLine[], pages: number): readonly PdfLine[] {
  const byPage = new Map<number, PdfLine[]>()
  for (const line of lines) {
    const those = byPage.get(line.page)
    if (those === undefined) byPage.set(line.page, [line])
    else those.push(line)
  }
  const outer = new Map<string, PdfLine[]>()
  const dropped = new Set<PdfLine>()
  for (const those of byPage.values()) {
    const sorted = [...those].sort((one, other) => other.base - one.base)
    for (const line of new Set([...marginOf(sorted), ...marginOf(sorted.toReversed())])) {
      if (pageNumber.test(line.text)) dropped.add(line)
      const name = `${Math.round(line.base)} ${line.text.replace(/\p{N}+/gu, '#')}`
      const known = outer.get(name)
      if (known === undefined) outer.set(name, [line])
      else known.push(line)
    }
  }
  const least = Math.max(3, pages / 20)
  for (const those of outer.values()) {
    if (new Set(those.map(({ page }) => page)).size < least) continue
    for (const line of those) dropped.add(line)
  }
  return lines.filter((line) => !dropped.has(line))
}

/** One line, or two, that the others keep away from: three times as many. */
function marginOf(lines: readonly PdfLine[]): readonly PdfLine[] {
  for (const count of [1, 2]) {
    const [last, next] = [lines[count - 1], lines[count]]
    if (last === undefined || next === undefined || 4 * count > lines.length) return []
    if (Math.abs(last.base - next.base) > 1.6 * Math.max(last.size, next.size)) {
      return lines.slice(0, count)
    }
  }
  return []
}

const pageNumber =
  /^[\s\-–—|·]*(?:(?:page|seite|p\.|s\.)\s*)?(?:\d{1,4}|[ivxlc]{1,7})(?:\s*(?:\/|of|von)\s*\d{1,4})?[\s\-–—|·]*$/i

function structured(
  lines: readonly PdfLine[],
  title: string | undefined,
  outline: Outline,
  { maxTextLength }: ReadLimits,
  pages: number,
): StructuredText {
  const body = bodySizeOf(lines)
  const builder = new TextBuilder(maxTextLength)
  const levels = levelsOf(lines, body)
  for (let at = 0; at < lines.length;) {
    const line = lines[at] as PdfLine // at < length
    builder.page(line.page)
    const known = headingIn(lines, at, outline)
    if (known !== undefined) {
      builder.heading(joined(lines.slice(at, at + known.count)), known.level)
      at += known.count
      continue
    }
    if (isLarge(line, body)) {
      const end = endOfHeading(lines, at)
      const text = joined(lines.slice(at, end))
      if (text.length <= maxHeadingLength && /\p{L}{2}/u.test(text) && !leaders.test(text)) {
        builder.heading(text, levels.get(sizeOf(line)) ?? 1)
        at = end
        continue
      }
    }
    const before = lines[at - 1]
    const isSame =
      before !== undefined && !isLarge(before, body) && !isHeadingLine(lines, at - 1, outline)
    if (!isSame || before === undefined) builder.paragraph(line.text)
    else if (isNewParagraph(before, line, lines)) builder.paragraph(line.text)
    else if (isListItem.test(line.text)) builder.line(line.text)
    else addToParagraph(builder, before, line)
    at++
  }
  const scanned = `it has no text on its ${pages} ${pages === 1 ? 'page' : 'pages'}: they may be images, which are not read, or in fonts that are not in the file`
  return builder.finish(title, scanned)
}

const maxHeadingLength = 200
/** Lines of a table of contents. */
const leaders = /(?:\.\s?){5}/
/** A heading's size, at least, in that of the body. */
const large = 1.15
const isListItem = /^(?:[•‣◦▪●·–*-]|\(?(?:\d{1,3}|\p{L})[.)])\s/u

function isLarge({ size }: PdfLine, body: number): boolean {
  return size >= large * body
}

/** Of most of its characters. */
function bodySizeOf(lines: readonly PdfLine[]): number {
  const counts = new Map<number, number>()
  for (const line of lines) {
    counts.set(sizeOf(line), (counts.get(sizeOf(line)) ?? 0) + line.text.length)
  }
  return [...counts].reduce((most, each) => (each[1] > most[1] ? each : most), [0, 0])[0]
}

/** Of a heading of each size: the largest is 1. */
function levelsOf(lines: readonly PdfLine[], body: number): ReadonlyMap<number, number> {
  const sizes = new Set(lines.filter((line) => isLarge(line, body)).map(sizeOf))
  const sorted = [...sizes].sort((one, other) => other - one)
  return new Map(sorted.map((size, n) => [size, Math.min(n + 1, 6)]))
}

function sizeOf({ size }: Line): number {
  return Math.round(2 * size) / 2
}

function endOfHeading(lines: readonly PdfLine[], start: number): number {
  const first = lines[start] as PdfLine
  let end = start + 1
  for (; end < lines.length; end++) {
    const [before, line] = [lines[end - 1] as PdfLine, lines[end] as PdfLine]
    if (line.page !== first.page || sizeOf(line) !== sizeOf(first)) break
    if (line.column === before.column && before.base - line.base > 1.8 * line.size) break
  }
  return end
}

function isNewParagraph(before: PdfLine, line: PdfLine, lines: readonly PdfLine[]): boolean {
  if (Math.abs(before.size - line.size) > 0.1 * line.size) return true
  const isEnd = /[.!?:;。！？]["”’»)\]]*$/u.test(before.text)
  // A sentence goes on over the ends of columns and pages.
  if (before.column !== line.column) return isEnd || !/^[\p{Ll}\p{N}(]/u.test(line.text)
  const gap = before.base - line.base
  if (gap > 1.35 * leadingOf(lines, line.column) || gap < 0) return true
  if (line.left - before.left > 0.8 * line.size && isEnd) return true
  return isEnd && before.right < before.columnRight - 0.15 * (before.columnRight - before.left)
}

const leadings = new WeakMap<readonly PdfLine[], Map<number, number>>()

/** From one line to the next, in most of a column. */
function leadingOf(lines: readonly PdfLine[], column: number): number {
  let known = leadings.get(lines)
  if (known === undefined) {
    known = new Map()
    const gaps = new Map<number, number[]>()
    lines.forEach((line, n) => {
      const before = lines[n - 1]
      if (before?.column !== line.column || before.base <= line.base) return
      const those = gaps.get(line.column)
      if (those === undefined) gaps.set(line.column, [before.base - line.base])
      else those.push(before.base - line.base)
    })
    for (const [each, those] of gaps) {
      those.sort((one, other) => one - other)
      // Lines of one paragraph are nearer to each other than all else.
      known.set(each, those[those.length >> 1] as number)
    }
    leadings.set(lines, known)
  }
  return known.get(column) ?? Infinity
}

function addToParagraph(builder: TextBuilder, before: PdfLine, line: PdfLine): void {
  if (isCut(before.text, line.text)) builder.restOfWord(line.text)
  else builder.more(line.text)
}

/** Whether a word is cut at the end of a line. */
function isCut(before: string, after: string): boolean {
  return /\p{L}[-\u00AD\u2010]$/u.test(before) && /^\p{Ll}/u.test(after)
}

function joined(lines: readonly PdfLine[]): string {
  return lines.map(({ text }) => text).join(' ')
}

interface Outline {
  /** By page: the titles that lead there, as words alone, with their levels. */
  readonly byPage: ReadonlyMap<number, ReadonlyMap<string, number>>
}

const noOutline: Outline = { byPage: new Map() }
const mostOfOutline = 5000
/** Lines that a heading of the outline is put together of. */
const mostLines = 3

/** What the file itself has for a table of its contents. */
async function outlineOf(file: PdfFile): Promise<Outline> {
  const byPage = new Map<number, Map<string, number>>()
  try {
    const waiting = ((await file.getOutline()) ?? []).map((item) => ({ item, level: 1 }))
    for (let n = 0; n < Math.min(waiting.length, mostOfOutline); n++) {
      const { item, level } = waiting[n] as (typeof waiting)[number]
      waiting.push(...item.items.map((each) => ({ item: each, level: Math.min(level + 1, 6) })))
      const dest = typeof item.dest === 'string' ? await file.getDestination(item.dest) : item.dest
      const [ref] = dest ?? []
      if (ref === undefined || ref === null) continue
      const page = typeof ref === 'number' ? ref + 1 : (await file.getPageIndex(ref as never)) + 1
      const title = plain(item.title)
      if (title === '') continue
      const known = byPage.get(page)
      if (known === undefined) byPage.set(page, new Map([[title, level]]))
      else known.set(title, level)
    }
  } catch {
    // The text can do without.
    return noOutline
  }
  return { byPage }
}

/** `1.2 Two  Words` and `1.2Two Words` are one title. */
function plain(title: string): string {
  return title.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase()
}

function headingIn(
  lines: readonly PdfLine[],
  at: number,
  { byPage }: Outline,
): { readonly count: number; readonly level: number } | undefined {
  const first = lines[at] as PdfLine
  const titles = byPage.get(first.page)
  if (titles === undefined) return undefined
  let text = ''
  for (let count = 1; count <= mostLines; count++) {
    const line = lines[at + count - 1]
    if (line === undefined || line.page !== first.page) return undefined
    text += plain(line.text)
    const level = titles.get(text)
    if (level !== undefined) return { count, level }
  }
  return undefined
}

/** Whether the line is the last one of a heading of the outline. */
function isHeadingLine(lines: readonly PdfLine[], at: number, outline: Outline): boolean {
  for (let count = 1; count <= mostLines && at - count + 1 >= 0; count++) {
    if (headingIn(lines, at - count + 1, outline)?.count === count) return true
  }
  return false
}

/** Programs write names of files there, and their own. */
const noTitle = /^(?:untitled|microsoft |.*\.(?:docx?|indd|qxd|tex|dvi|pdf|rtf|odt|pptx?)$)/i

async function titleOf(file: PdfFile): Promise<string | undefined> {
  try {
    const { info } = await file.getMetadata()
    const { Title: title } = info as { readonly Title?: unknown }
    return typeof title === 'string' && !noTitle.test(title.trim()) ? title : undefined
  } catch {
    return undefined
  }
}
