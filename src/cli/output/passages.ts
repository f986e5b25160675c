// Passages that a search found, with what it found them by: as many as fit on a screen, or all.

import type { FoundPassage } from '../../graph/types.js'
import { bestWindow, wrapped } from './excerpt.js'
import { cut, formatCounted, printable } from './figures.js'
import type { Screen } from './screen.js'
import { formatTerm } from './term.js'

interface Passages {
  /** Lines that end in line feeds. */
  readonly text: string
  /** How many of those that were found it has. */
  readonly summary: string
}

type Range = readonly [start: number, end: number]

const indent = '    '
/** Of the rows: the line with the count, and the one where the next command goes. */
const otherRows = 2
/** Lines of a passage, where all fit so, and where they do not. */
const [mostLines, fewLines] = [3, 2]

export function passagesOf(
  found: readonly FoundPassage[],
  { rows, columns, isHighlit }: Screen,
  isAll = false,
): Passages {
  const hasCores = new Set(found.map(({ core }) => core)).size > 1
  const blocksOf = (count: number) =>
    found.map((passage, n) => {
      const head = headOf(passage, n + 1, hasCores).map((line) =>
        isAll ? line : cut(line, columns),
      )
      const lines = excerptOf(passage, { count, width: columns - indent.length, isHighlit })
      const sums = sumsOf(passage).map((line) =>
        isAll ? line : cut(line, columns - indent.length),
      )
      return [...head, ...[...lines, ...sums].map((line) => indent + line)]
    })
  const room = isAll ? Infinity : Math.max(rows - otherRows, 1)
  const most = blocksOf(isAll ? Infinity : mostLines)
  const blocks = most.flat().length <= room ? most : blocksOf(fewLines)
  const lines: string[] = []
  let shown = 0
  for (const block of blocks) {
    // The best is worth a screen that is too small.
    if (shown > 0 && lines.length + block.length > room) break
    lines.push(...block)
    shown++
  }
  const all = formatCounted(found.length, 'passage')
  return {
    text: lines.map((line) => `${line}\n`).join(''),
    summary: shown === found.length ? all : `${shown} of ${all}; --all prints all of them`,
  }
}

/** `[1]  News from Nowhere › A Morning Bath`, and below it where that is. */
function headOf(
  { chunk, document, title, heading, page, start, end, core }: FoundPassage,
  number: number,
  hasCores: boolean,
): readonly string[] {
  const names = [title, heading].flatMap((name) => (name ? [printable(onOneLine(name))] : []))
  const range = start !== undefined && end !== undefined ? `, ${start} to ${end}` : ''
  const whose = hasCores ? `, core ${printable(core)}` : ''
  const leaf = page === undefined ? '' : `, page ${page}`
  const place = `${formatTerm(document ?? chunk)}${leaf}${range}${whose}`
  const mark = `[${number}]  `
  return names.length === 0 ? [mark + place] : [mark + names.join(' › '), indent + place]
}

/** `2.310 = 1.980 isis (1 passage) + 0.330 rows (12 passages)` */
function sumsOf({ score, explanation }: FoundPassage): readonly string[] {
  if (explanation === undefined) return []
  const parts = explanation.map((of) => {
    const count = formatCounted(of.passages, 'passage')
    return `${of.score.toFixed(3)} ${printable(of.word)} (${count})`
  })
  return [`${score.toFixed(3)} = ${parts.join(' + ')}`]
}

/** The lines with the most of what was asked for; the beginning where it is in the title alone. */
function excerptOf(
  passage: FoundPassage,
  { count, width, isHighlit }: { count: number; width: number; isHighlit: boolean },
): readonly string[] {
  const { text, ranges } = flat(passage)
  // Room for the marks of what is left out.
  const lines = linesOf(text, wrapped(text, Math.max(width - 4, 1)))
  const words = lines.map((line) => {
    return within(line, ranges).map(([start, end]) => text.slice(start, end).toLowerCase())
  })
  const weightFrom = (first: number) => {
    const shown = words.slice(first, first + count).flat()
    // Each word once before any of them twice.
    return new Set(shown).size + shown.length / 1000
  }
  const last = Math.max(lines.length - count, 0)
  const first = bestWindow(last, weightFrom)
  const shown = lines.slice(first, first + count)
  return shown.map((line, n) => {
    const before = n === 0 && first > 0 ? '… ' : ''
    const after = n === shown.length - 1 && first < last ? ' …' : ''
    return before + (isHighlit ? emphasized(text, line, ranges) : text.slice(...line)) + after
  })
}

/** The text without line breaks and what moves a cursor, and where its highlights are then. */
function flat({ text, highlights }: FoundPassage): {
  readonly text: string
  readonly ranges: readonly Range[]
} {
  let result = ''
  const add = (from: number, to: number) => {
    const piece = onOneLine(text.slice(from, to))
    const isDouble = result === '' || result.endsWith(' ')
    result += printable(isDouble ? piece.trimStart() : piece)
  }
  const ranges: Range[] = []
  let at = 0
  for (const [start, end] of highlights) {
    add(at, start)
    const from = result.length
    add(start, end)
    ranges.push([from, result.length])
    at = end
  }
  add(at, text.length)
  return { text: result.trimEnd(), ranges }
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** Where lines stand in the text that they were made of. */
function linesOf(text: string, lines: readonly string[]): readonly Range[] {
  let at = 0
  return lines.map((line) => {
    const start = text.indexOf(line, at)
    at = start + line.length
    return [start, at]
  })
}

/** What of some ranges is in a line. */
function within([start, end]: Range, ranges: readonly Range[]): readonly Range[] {
  return ranges.flatMap(([from, to]) =>
    from < end && to > start ? [[Math.max(from, start), Math.min(to, end)] as const] : [],
  )
}

function emphasized(text: string, line: Range, ranges: readonly Range[]): string {
  let result = ''
  let [at] = line
  for (const [start, end] of within(line, ranges)) {
    result += `${text.slice(at, start)}\u001b[1m${text.slice(start, end)}\u001b[22m`
    at = end
  }
  return result + text.slice(at, line[1])
}
