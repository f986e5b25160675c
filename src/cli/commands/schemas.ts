// `lorekeep schema`: what schemas there are, one of them, and new ones.

import type { SchemaDefinition } from '../../objects/types.js'
import { withObjects } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { CutShort, describe, note } from '../output/failure.js'
import { formatCounted, printable } from '../output/figures.js'
import { inputName, readJsonInput } from '../input/input.js'
import { writeJson, writeOut } from '../output/output.js'
import { Table } from '../output/table.js'

export interface SchemaOptions extends AccessOptions {
  readonly json?: true
}

const columns = [
  { head: 'NAME', isRight: false },
  { head: 'FIELDS', isRight: true },
  { head: 'ID', isRight: false },
  { head: 'STRICT', isRight: false },
  { head: 'INDEXES', isRight: false },
]

/** One after the other; the first that is refused ends it, and says which ones were defined. */
export async function defineSchemas(file: string, options: SchemaOptions): Promise<void> {
  const definitions = await readDefinitions(file)
  await withObjects(options, { create: true }, async (objects) => {
    const defined: string[] = []
    for (const { name, definition } of definitions) {
      let schema: SchemaDefinition
      try {
        schema = await objects.define(name, definition)
      } catch (error) {
        const before = defined.length === 0 ? '' : ` (defined before it: ${defined.join(', ')})`
        throw new CutShort(`schema '${name}': ${describe(error)}${before}`, error)
      }
      defined.push(`'${name}'`)
      if (options.json) await writeJson(schema)
      else note(`defined '${name}': ${summaryOf(schema)}`)
    }
  })
}

export async function listSchemas(options: SchemaOptions): Promise<void> {
  const schemas = await withObjects(options, { create: false }, (objects) => objects.schemas())
  if (options.json) {
    for (const schema of schemas) await writeJson(schema)
    return
  }
  const rows = schemas.map(rowOf)
  if (!process.stdout.isTTY) {
    await writeOut(rows.map((row) => `${row.join('\t')}\n`).join(''))
  } else if (rows.length === 0) {
    note('there are no schemas')
  } else {
    const table = new Table(columns, rows, process.stdout.columns || 80)
    await writeOut(table.head() + table.rows(rows))
  }
}

/** As JSON, which `schema define` takes again. */
export async function showSchema(name: string, options: SchemaOptions): Promise<void> {
  const schema = await withObjects(options, { create: false }, (objects) => objects.schema(name))
  if (options.json) await writeJson(schema)
  else await writeOut(`${JSON.stringify(schema, null, 2)}\n`)
}

function rowOf({ name, fields, id_field, strict, indexes }: SchemaDefinition): string[] {
  const count = String(Object.keys(fields).length)
  const cells = [name, count, id_field, strict ? 'strict' : 'open', indexes.join(' ')]
  return cells.map(printable)
}

function summaryOf({ fields, indexes }: SchemaDefinition): string {
  const counts = [
    formatCounted(Object.keys(fields).length, 'field'),
    formatCounted(indexes.length, 'index', 'indexes'),
  ]
  return counts.join(', ')
}

interface Named {
  readonly name: string
  readonly definition: unknown
}

async function readDefinitions(file: string): Promise<Named[]> {
  const value = await readJsonInput(file, 'a definition')
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.map((definition, index) => {
    const name: unknown = (definition as { name?: unknown } | null)?.name
    // Its place in the server is its name's.
    if (typeof name === 'string' && name !== '') return { name, definition }
    throw new Error(`${inputName(file)}: definition ${index + 1} of ${list.length} has no name`)
  })
}
