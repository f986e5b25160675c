// CSV (RFC 4180) and its like: each row a paragraph, with a line `header: value` for each cell.

import { TextBuilder, type StructuredText } from './structured-text.js'
import type { ReadLimits } from './types.js'
import { Unreadable } from './unreadable.js'

/** Excel's own line before the header. */
const saysDelimiter = /^\uFEFF?sep=([,;\t|])\r?\n/i

export function readCsv(
  text: string,
  usual: ',' | '\t',
  { maxTextLength }: ReadLimits,
): StructuredText {
  const builder = new TextBuilder(maxTextLength)
  let header: readonly string[] | undefined
  const said = saysDelimiter.exec(text)
  const rest = said === null ? text : text.slice(said[0].length)
  for (const row of rowsOf(rest, said?.[1] ?? (usual === '\t' ? '\t' : delimiterOf(text)))) {
    const cells = row.map((cell) => cell.replace(/\s+/gu, ' ').trim())
    if (cells.every((cell) => cell === '')) continue
    if (header === undefined) {
      header = cells
      continue
    }
    const lines = cells.flatMap((cell, n) => {
      const name = header?.[n] ?? ''
      return cell === '' ? [] : [name === '' ? cell : `${name}: ${cell}`]
    })
    builder.paragraph(lines.join('\n'))
  }
  // One line alone is no header of anything.
  if (builder.isEmpty && header !== undefined) builder.paragraph(header.join('\n'))
  return builder.finish()
}

const window = 64 * 1024
/** More than any program writes, and than the window may have: a longer row would be one piece of memory. */
const maxCells = 100_000

/** The one that gives the most rows as many cells as the first. */
export function delimiterOf(text: string): string {
  const counted = [',', ';', '\t', '|'].map((delimiter) => {
    const [first, ...rows] = firstRows(text, delimiter)
    const cells = first?.length ?? 0
    const same = rows.filter(({ length }) => length === cells).length + 1
    return { delimiter, weight: cells < 2 ? 0 : same * 1000 + cells }
  })
  return counted.reduce((best, each) => (each.weight > best.weight ? each : best)).delimiter
}

/** The rows at the beginning, but for one that is cut there. */
export function firstRows(text: string, delimiter: string, most = 50): readonly string[][] {
  const rows: string[][] = []
  const isWhole = text.length <= window
  for (const row of rowsOf(text.slice(0, window), delimiter)) {
    rows.push(row)
    if (rows.length > most) break
  }
  return rows.length > most || (!isWhole && rows.length > 1) ? rows.slice(0, -1) : rows
}

function* rowsOf(text: string, delimiter: string): Generator<string[], void, undefined> {
  const ends = new RegExp(`[${delimiter === '|' ? '\\|' : delimiter}\\r\\n]`, 'g')
  const plainQuotes = delimiter === '\t' ? new PlainQuotes(text) : undefined
  let row: string[] = []
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      const found = quotedAt(text, at + 1)
      if (plainQuotes?.isPlain(row.length, found) !== true) [cell, at] = found
    }
    ends.lastIndex = at
    const end = ends.exec(text)?.index ?? text.length
    cell += text.slice(at, end)
    row.push(cell)
    if (row.length > maxCells) {
      throw new Unreadable('damaged', `it has a row of more than ${maxCells} cells`)
    }
    at = end + 1
    if (text[end] === delimiter) {
      // A delimiter at the end has an empty cell behind it.
      if (at === text.length) row.push('')
      else continue
    }
    if (text[end] === '\r' && text[at] === '\n') at++
    plainQuotes?.endRow(row, text.slice(end, at))
    yield row
    row = []
  }
  if (row.length > 0) yield row
}

/** Excel has no more in a cell: without an end a lone quote may take the rows up to another one. */
const longestWithTabs = 32_767

/**
 * In a table by tabs many write quotes as they are, and others, as Excel does, those around cells with tabs or line
 * ends. They are plain where they do not end with the cell; and where, as characters, they leave lines that are rows
 * like the first: what has two of them is rather two cells, or rows, with a quote each.
 */
class PlainQuotes {
  readonly #text: string
  /** What the first row ends with. */
  #end: string | undefined
  /** Of the first row that is neither blank nor, with one cell above rows of more, a title. */
  #cells: number | undefined
  /** Of the line that was looked at last: how many tabs it has from a place on. */
  #counted = { from: 0, to: -1, tabs: 0 }

  constructor(text: string) {
    this.#text = text
  }

  endRow(row: readonly string[], end: string): void {
    this.#end ??= end
    if ((this.#cells ?? 1) > 1 || row.every((cell) => cell.trim() === '')) return
    this.#cells = row.length
  }

  /** `before` it the row has so many cells. */
  isPlain(before: number, [cell, end, isClosed]: Quoted): boolean {
    if (!isClosed || !/[\t\r\n]/.test(this.#text[end] ?? '\n')) return true
    if (cell.length > longestWithTabs) return cell.includes('\t')
    return /[\t\r\n]/.test(cell) && this.#isRows(before, cell, end)
  }

  #isRows(before: number, cell: string, end: number): boolean {
    const behind = this.#tabsBehind(end)
    // Excel ends rows by both.
    if (this.#endsByBoth() && /(?<!\r)\n/.test(cell)) return false
    const isFirst = this.#cells === undefined
    const hasTabs = cell.includes('\t')
    // No row above says how many cells are a row.
    if (isFirst && !hasTabs) return false
    const [start = '', ...lines] = cell.split(/\r\n|\r|\n/)
    const counts = [before + cellsIn(start), ...lines.map(cellsIn)]
    const last = (counts.pop() ?? 0) + behind
    // In the first row itself: as its first line has.
    const cells = this.#cells ?? counts[0] ?? 1
    // Rows may lack empty cells at their end. But one row with a quoted cell is likelier than several where it is
    // whole, and where without tabs nothing else tells lines of a cell from such rows.
    const mayLack = hasTabs && lines.length > 0 && !isFirst && before + 1 + behind !== cells
    const least = mayLack ? 2 : cells
    return (
      cells > 1 &&
      [...counts, last].every((count) => least <= count && count <= cells) &&
      // Text that is indented by tabs is no row.
      !lines.some((line) => /^\t+[^\t]/.test(line))
    )
  }

  /** The first row, or the line of it that was looked at last. */
  #endsByBoth(): boolean {
    if (this.#end !== undefined) return this.#end === '\r\n'
    return this.#text.startsWith('\r\n', this.#counted.to)
  }

  /** On the same line. Of places in order, each tab is counted twice at most. */
  #tabsBehind(place: number): number {
    const { from, to, tabs } = this.#counted
    if (from <= place && place <= to) {
      const passed = tabsIn(this.#text.slice(from, place))
      this.#counted = { from: place, to, tabs: tabs - passed }
    } else {
      lineEnd.lastIndex = place
      const end = lineEnd.exec(this.#text)?.index ?? this.#text.length
      this.#counted = { from: place, to: end, tabs: tabsIn(this.#text.slice(place, end)) }
    }
    return this.#counted.tabs
  }
}

const lineEnd = /[\r\n]/g

function cellsIn(line: string): number {
  return tabsIn(line) + 1
}

function tabsIn(text: string): number {
  let count = 0
  for (let at = text.indexOf('\t'); at >= 0; at = text.indexOf('\t', at + 1)) count++
  return count
}

type Quoted = readonly [cell: string, end: number, isClosed: boolean]

/** What stands in quotes, and where what is behind them begins. */
function quotedAt(text: string, start: number): Quoted {
  let cell = ''
  for (let at = start; ;) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return [cell + text.slice(at), text.length, false]
    cell += text.slice(at, quote)
    if (text[quote + 1] !== '"') return [cell, quote + 1, true]
    cell += '"'
    at = quote + 2
  }
}
