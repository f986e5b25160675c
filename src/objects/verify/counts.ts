// What schemas, collections and indexes count, beside what there is.

import { tupleText, type Report } from '../../verify/report.js'
import type { CollectionRecord } from '../engine/records.js'
import type { IndexCheck, TableCheck } from './checks.js'

interface Counted {
  readonly tables: readonly TableCheck[]
  readonly ids: IndexCheck
  readonly collections: ReadonlyMap<string, CollectionRecord>
  /** Collections whose record is none: what they count is not known. */
  readonly damaged: ReadonlySet<string>
  /** Objects by collection and schema, as the rows say. */
  readonly found: ReadonlyMap<string, ReadonlyMap<string, number>>
  /** False where rows could not be read. */
  readonly hasAllRows: boolean
}

export function compareCounts(counted: Counted, report: Report): void {
  const { tables, ids, hasAllRows } = counted
  if (hasAllRows) {
    let all = 0
    for (const table of tables) {
      all += table.rows
      compareSchema(table, counted, report)
      for (const index of table.indexes) compareIndex(index, table.rows, report)
    }
    compareIndex(ids, all, report)
  }
  compareCollections(counted, report)
}

function compareSchema(
  { schema, rows }: TableCheck,
  { collections, damaged }: Counted,
  report: Report,
): void {
  if (damaged.size > 0) return
  const { name } = schema.definition
  let counted = 0
  for (const { schemas } of collections.values()) {
    if (Object.hasOwn(schemas, name)) counted += schemas[name] as number
  }
  if (counted === rows) return
  const message = `collections count ${counted} objects of it; there are ${rows}`
  report.error('objects', 'different', tupleText('schema', name), message)
}

function compareCollections(
  { tables, collections, damaged, found, hasAllRows }: Counted,
  report: Report,
): void {
  const known = new Set(tables.map(({ schema }) => schema.definition.name))
  const isFound = report.deep && hasAllRows
  for (const [name, { schemas }] of collections) {
    const what = tupleText('collection', name)
    for (const [schema, objects] of Object.entries(schemas)) {
      const counts = `counts ${objects} objects of '${schema}'`
      if (!known.has(schema) && objects !== 0) {
        report.error('objects', 'different', what, `${counts}, which is no schema`)
      }
      const there = found.get(name)?.get(schema) ?? 0
      if (isFound && there !== objects) {
        report.error('objects', 'different', what, `${counts}; there are ${there}`)
      }
    }
  }
  if (!isFound) return
  for (const [name, counts] of found) {
    if (damaged.has(name)) continue
    const { schemas = {} } = collections.get(name) ?? {}
    for (const [schema, objects] of counts) {
      if (Object.hasOwn(schemas, schema)) continue
      const message = `has ${objects} objects of '${schema}', which it does not count`
      report.error('objects', 'different', tupleText('collection', name), message)
    }
  }
}

function compareIndex(check: IndexCheck, rows: number, report: Report): void {
  const { what, index, counted, irregular, entries, isWhole } = check
  if (!isWhole) return
  const which = `index ${index.number}`
  if (report.deep && counted !== irregular) {
    const message = `${what} counts ${counted} irregular rows; there are ${irregular}`
    report.error('objects', 'different', which, message)
  }
  // Each row has one entry, where none is irregular.
  if (counted === 0 && entries !== rows) {
    const message = `${what} counts ${entries} entries; there are ${rows} rows`
    report.error('objects', 'different', which, message)
  }
}
