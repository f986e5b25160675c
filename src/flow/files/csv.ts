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
  let row: string[] = []
  let at = text.startsWith('\uFEFF') ? 1 : 0
  while (at < text.length) {
    let cell = ''
    if (text[at] === '"') {
      const [quoted, end, isClosed] = quotedAt(text, at + 1)
      const isQuoted = delimiter !== '\t' || (isClosed && isWholeCell(quoted, text[end]))
      if (isQuoted) [cell, at] = [quoted, end]
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
    yield row
    row = []
  }
  if (row.length > 0) yield row
}

/**
 * In a table by tabs many write quotes as they are: those count that end with the cell, and have no tab on a line
 * behind the first, which would be other rows.
 */
function isWholeCell(cell: string, next = '\n'): boolean {
  const line = cell.search(/[\r\n]/)
  return /[\t\r\n]/.test(next) && (line < 0 || !cell.includes('\t', line))
}

/** What stands in quotes, and where what is behind them begins. */
function quotedAt(text: string, start: number): [cell: string, end: number, isClosed: boolean] {
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
