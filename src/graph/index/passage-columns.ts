// What is kept of passages while a part is made, by name, and how it lies in its file: what is told of a
// passage in one record, as all of it is read at once.

import {
  passageColumns,
  recordFields,
  scannedColumns,
  type PassageColumnName,
} from '../words/columns.js'

/** By name a number of each passage. */
export type PassageColumns = Readonly<Record<PassageColumnName, Uint32Array>>

export function columnsOf<Column extends Uint32Array>(
  make: (name: PassageColumnName) => Column,
): Record<PassageColumnName, Column> {
  return Object.fromEntries(passageColumns.map((name) => [name, make(name)])) as Record<
    PassageColumnName,
    Column
  >
}

const { length: recordLength } = recordFields

/** As they lie in a file, one behind the other. */
export function* writtenColumns(columns: PassageColumns): Generator<Uint32Array> {
  const { length: count } = columns.passage
  const records = new Uint32Array(recordLength * count)
  for (const [at, name] of recordFields.entries()) {
    const column = columns[name]
    for (let n = 0; n < count; n++) records[recordLength * n + at] = column[n] as number
  }
  yield records
  for (const name of scannedColumns) yield columns[name]
}

/** Those of `count` passages, as they were written. */
export function readColumns(written: Uint32Array, count: number): PassageColumns {
  const read = new Map<PassageColumnName, Uint32Array>()
  for (const [at, name] of recordFields.entries()) {
    const column = new Uint32Array(count)
    for (let n = 0; n < count; n++) column[n] = written[recordLength * n + at] as number
    read.set(name, column)
  }
  for (const [n, name] of scannedColumns.entries()) {
    const from = (recordLength + n) * count
    read.set(name, written.subarray(from, from + count))
  }
  return columnsOf((name) => read.get(name) as Uint32Array)
}
