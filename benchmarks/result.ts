// What a run gives: its figures and points, judged, and as tables.

import type { Figure, Point, Skipped } from './measure.js'

/** Of which file of benchmarks/ it is. */
export type Line = (Figure | Skipped | Point) & { readonly of: string }
export type JudgedFigure = (Figure | Skipped) & { readonly of: string; readonly met?: boolean }

export interface Origin {
  readonly machine: string
  /** As ISO 8601, when it began. */
  readonly date: string
  readonly commit: string
}

export interface Result extends Origin {
  readonly figures: readonly JudgedFigure[]
  readonly points: readonly (Point & { readonly of: string })[]
}

export function resultOf(origin: Origin, lines: readonly Line[]): Result {
  const figures = lines.flatMap((line) => ('growth' in line ? [] : [judge(line)]))
  return { ...origin, figures, points: lines.filter((line) => 'growth' in line) }
}

function judge(line: (Figure | Skipped) & { readonly of: string }): JudgedFigure {
  if ('skipped' in line || !line.target) return line
  const { target, value } = line
  return { ...line, met: 'least' in target ? value >= target.least : value <= target.most }
}

export const figureHead = [
  'scenario',
  'against',
  'ours',
  'theirs',
  'median (min–max)',
  'target',
  '',
]

/** Cells below that head. What is no number, as JSON has it, was not measured. */
export function figureRow(figure: JudgedFigure): readonly string[] {
  const { scenario, peer } = figure
  if ('skipped' in figure) return [scenario, peer, '', '', `skipped: ${figure.skipped}`, '', '']
  const { ours, theirs } = figure
  return [scenario, peer, ours, theirs, measured(figure), wanted(figure), verdict(figure)]
}

export function measured({ value, low, high, unit }: Figure): string {
  if (!Number.isFinite(value)) return 'not measured'
  const [least, most] = [show(low, unit), show(high, unit)]
  const hasRange = Number.isFinite(low) && Number.isFinite(high) && low !== high
  return hasRange ? `${show(value, unit)} (${least}–${most})` : show(value, unit)
}

export function wanted({ target, unit }: Figure): string {
  if (!target) return ''
  return 'least' in target ? `≥ ${show(target.least, unit)}` : `≤ ${show(target.most, unit)}`
}

export function verdict(figure: JudgedFigure): '' | 'met' | 'missed' {
  if ('skipped' in figure || figure.met === undefined || !Number.isFinite(figure.value)) return ''
  return figure.met ? 'met' : 'missed'
}

export function show(value: number, unit: Figure['unit']): string {
  if (unit === 'x') return value.toFixed(Math.abs(value) < 100 ? 2 : 0)
  if (unit === 'points') return `${value.toFixed(1)} ${unit}`
  const isSmall = unit === 'ms' && Math.abs(value) < 10
  return `${isSmall ? Number(value.toPrecision(3)) : value.toFixed(0)} ${unit}`
}

/** As Markdown that can be read as it is; nothing of nothing. */
export function figureTable(figures: readonly JudgedFigure[]): string {
  return table(figureHead, figures.map(figureRow))
}

export function pointTable(points: readonly Point[]): string {
  const head = ['what grows', 'size', 'cost', 'value']
  const rows = points.map(({ growth, size, cost, value, unit }) => [
    ...[growth, size.toLocaleString('en'), cost],
    `${Number(value.toPrecision(3))} ${unit}`,
  ])
  return table(head, rows)
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  // A rule of less than three is none.
  const widths = head.map((title, n) =>
    Math.max(3, title.length, ...rows.map((row) => (row[n] as string).length)),
  )
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] as number)).join(' | ')} |`
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [line(head), rule, ...rows.map(line)].join('\n')
}
