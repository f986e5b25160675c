// `lorekeep objects query`: objects as a table, lines of text, or JSON.

import type { Filters } from '../../../objects/filter-types.js'
import type {
  FoundFields,
  ObjectQuery,
  SchemaDefinition,
  SortDirection,
} from '../../../objects/types.js'
import { withObjects } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { interruptible, note, UsageError } from '../../output/failure.js'
import { formatCount, formatCounted, printable } from '../../output/figures.js'
import { jsonText, writeJson, writeOut } from '../../output/output.js'
import { terminalWidth } from '../../output/listing.js'
import { Table } from '../../output/table.js'

export interface QueryFlags extends AccessOptions {
  readonly schema: string
  readonly filter?: Filters
  readonly sort?: Readonly<Record<string, SortDirection>>
  readonly limit?: number
  readonly offset?: number
  readonly after?: string
  readonly fields?: readonly string[]
  readonly json?: true
}

interface ObjectQueryCommandOptions extends QueryFlags {
  readonly all?: true
  readonly ndjson?: true
}

export function queryOf(flags: QueryFlags): ObjectQuery {
  const { schema, filter, sort, limit, offset, after, fields } = flags
  return {
    schema_name: schema,
    ...(filter !== undefined && { filters: filter }),
    ...(sort !== undefined && { sort }),
    ...(limit !== undefined && { limit }),
    ...(offset !== undefined && { offset }),
    ...(after !== undefined && { after }),
    ...(fields !== undefined && { fields }),
  }
}

export async function queryObjects(options: ObjectQueryCommandOptions): Promise<void> {
  // Commander knows of no conflicts with an option of the command above.
  for (const flag of ['all', 'ndjson'] as const) {
    if (options.json && options[flag]) throw new UsageError(`--json cannot be used with --${flag}`)
  }
  const query = queryOf(options)
  await withObjects(options, { create: false }, async (access) => {
    const printer = options.ndjson
      ? new JsonLines()
      : printerFor(await access.schema(options.schema), options.fields)
    if (options.all) {
      const count = await interruptible((signal) => printAll(access.find(query), printer, signal))
      note(formatCounted(count, 'object'))
      return
    }
    const page = await access.query(query)
    if (options.json) return writeJson(page)
    await printer.print(page.objects)
    const shown = `${formatCount(page.objects.length)} of ${formatCounted(page.total, 'object')}`
    note(page.next === undefined ? shown : `${shown}, go on with --after ${page.next}`)
  })
}

/** So many are printed at once, and the first of them decide how wide a table's columns are. */
const printedAtOnce = 200

async function printAll(
  objects: AsyncIterable<FoundFields>,
  printer: Printer,
  signal: AbortSignal,
): Promise<number> {
  let count = 0
  let some: FoundFields[] = []
  for await (const object of objects) {
    signal.throwIfAborted()
    count++
    some.push(object)
    if (some.length < printedAtOnce) continue
    await printer.print(some)
    some = []
  }
  await printer.print(some)
  return count
}

interface Printer {
  print(objects: readonly FoundFields[]): Promise<void>
}

class JsonLines implements Printer {
  async print(objects: readonly FoundFields[]): Promise<void> {
    await writeOut(objects.map((object) => `${jsonText(object)}\n`).join(''))
  }
}

/** `_id` and the fields: as a table on a terminal, separated by tabs elsewhere. */
function printerFor(schema: SchemaDefinition, fields: readonly string[] | undefined): Printer {
  const { id_field } = schema
  const declared = Object.keys(schema.fields).filter((name) => name !== id_field)
  const paths = ['_id', ...(fields ?? declared).filter((path) => path !== '_id')]
  const rowOf = (object: FoundFields) => paths.map((path) => textOf(valueAt(object, path)))
  let table: Table | undefined
  return {
    async print(objects) {
      if (objects.length === 0) return
      const rows = objects.map(rowOf)
      if (!process.stdout.isTTY) return writeOut(rows.map((row) => `${row.join('\t')}\n`).join(''))
      const isFirst = table === undefined
      const columns = paths.map((path) => ({
        head: printable(path),
        isRight: isNumeric(schema, path),
      }))
      table ??= new Table(columns, rows, terminalWidth())
      await writeOut((isFirst ? table.head() : '') + table.rows(rows))
    },
  }
}

function isNumeric({ fields }: SchemaDefinition, name: string): boolean {
  const type = Object.hasOwn(fields, name) ? fields[name]?.type : undefined
  return type === 'number' || type === 'integer'
}

function valueAt(object: unknown, path: string): unknown {
  let value = object
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[part]
  }
  return value
}

/** A missing field is nothing, and null is told from the text. */
function textOf(value: unknown): string {
  if (value === undefined) return ''
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}
