// Tables on a terminal.

import { cut, widthOf } from './figures.js'

export interface Column {
  readonly head: string
  /** Where numbers go. */
  readonly isRight: boolean
  /** Never cut: somebody will copy it. */
  readonly isWhole?: boolean
}

export const left = (head: string): Column => ({ head, isRight: false })
export const right = (head: string): Column => ({ head, isRight: true })
export const whole = (head: string): Column => ({ head, isRight: false, isWhole: true })

type Row = readonly string[]

const gap = '  '
const narrowest = 6

/**
 * A table whose widths its first rows decide: others may come later. Where `maxWidth` is too little,
 * the widest cells are cut, and then the last columns left out.
 */
export class Table {
  readonly #columns: readonly Column[]
  readonly #widths: readonly number[]

  constructor(columns: readonly Column[], firstRows: readonly Row[], maxWidth = Infinity) {
    this.#columns = columns
    const natural = columns.map(({ head }, column) =>
      firstRows.reduce((width, row) => Math.max(width, widthOf(row[column] ?? '')), widthOf(head)),
    )
    const least = columns.map(({ isWhole }, column) => (isWhole ? (natural[column] ?? 0) : 0))
    this.#widths = fit(natural, least, maxWidth)
  }

  head(): string {
    return this.#line(this.#columns.map(({ head }) => head))
  }

  rows(rows: readonly Row[]): string {
    return rows.map((row) => this.#line(row)).join('')
  }

  #line(cells: Row): string {
    const padded = this.#widths.map((width, column) => {
      const cell = cut(cells[column] ?? '', width)
      const room = ' '.repeat(Math.max(width - widthOf(cell), 0))
      return this.#columns[column]?.isRight ? room + cell : cell + room
    })
    return `${padded.join(gap).trimEnd()}\n`
  }
}

function fit(
  natural: readonly number[],
  least: readonly number[],
  maxWidth: number,
): readonly number[] {
  const capped = (cap: number) =>
    natural.map((width, column) => Math.max(Math.min(width, cap), least[column] ?? 0))
  const widthAt = (cap: number) =>
    capped(cap).reduce((sum, width) => sum + width + gap.length, -gap.length)
  if (widthAt(Infinity) <= maxWidth) return natural
  if (widthAt(narrowest) > maxWidth && natural.length > 1) {
    return fit(natural.slice(0, -1), least, maxWidth)
  }
  let cap = narrowest
  while (widthAt(cap + 1) <= maxWidth) cap++
  return capped(cap)
}
