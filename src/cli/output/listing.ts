// What there is on stdout: lists, and what is known of one thing.

import { note } from './failure.js'
import { printable } from './figures.js'
import { writeJson, writeOut } from './output.js'
import { Table, type Column } from './table.js'

export interface Listing<T> {
  readonly columns: readonly Column[]
  /** For a terminal as people read them; elsewhere whole and exact, for programs. */
  readonly cellsOf: (item: T, isTerminal: boolean) => readonly string[]
  /** What a terminal is told where there are none. */
  readonly none?: string
  /** Lines that are too long for a terminal go on in the next one: nothing is cut. */
  readonly isWhole?: true
}

/** One JSON object per line, a table on a terminal, else cells between tabs. Gives how many. */
export async function printList<T>(
  items: Iterable<T> | AsyncIterable<T>,
  { columns, cellsOf, none, isWhole }: Listing<T>,
  json: true | undefined,
): Promise<number> {
  const isTerminal = process.stdout.isTTY
  const rows: string[][] = []
  let count = 0
  for await (const item of items) {
    count++
    if (json) {
      await writeJson(item)
      continue
    }
    const row = cellsOf(item, isTerminal).map(printable)
    if (isTerminal) rows.push(row)
    else await writeOut(`${row.join('\t')}\n`)
  }
  if (rows.length > 0) {
    const table = new Table(columns, rows, isWhole ? Infinity : terminalWidth())
    await writeOut(table.head() + table.rows(rows))
  } else if (isTerminal && !json && none !== undefined) {
    note(none)
  }
  return count
}

export function terminalWidth(): number {
  return process.stdout.columns || 80
}

/** A line for each: its name, and its value in a column of their own. */
export async function printFields(
  fields: readonly (readonly [name: string, value: string])[],
  nameWidth = 10,
): Promise<void> {
  for (const [name, value] of fields) {
    await writeOut(`${name.padEnd(nameWidth)}${printable(value)}\n`)
  }
}
