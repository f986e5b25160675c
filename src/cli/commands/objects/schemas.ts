// `lorekeep schema`: what schemas there are, one of them, and new ones.

import type { IndexDefinition, SchemaDefinition } from '../../../objects/types.js'
import { withObjects } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { note } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import { defineEach, readDefinitions } from '../definitions.js'
import { printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { left, right } from '../../output/table.js'

interface SchemaOptions extends AccessOptions {
  readonly json?: true
}

const listing: Listing<SchemaDefinition> = {
  columns: [left('NAME'), right('FIELDS'), left('ID'), left('STRICT'), left('INDEXES')],
  cellsOf,
  none: 'there are no schemas',
}

export async function defineSchemas(file: string, options: SchemaOptions): Promise<void> {
  const definitions = await readDefinitions(file, 'name')
  await withObjects(options, { create: true }, (objects) =>
    defineEach(objects, 'schema', definitions, async (schema, name) => {
      if (options.json) await writeJson(schema)
      else note(`defined '${name}': ${summaryOf(schema)}`)
    }),
  )
}

export async function listSchemas(options: SchemaOptions): Promise<void> {
  const schemas = await withObjects(options, { create: false }, (objects) => objects.schemas())
  await printList(schemas, listing, options.json)
}

/** As JSON, which `schema define` takes again. */
export async function showSchema(name: string, options: SchemaOptions): Promise<void> {
  const schema = await withObjects(options, { create: false }, (objects) => objects.schema(name))
  await writeJson(schema, options.json ? 0 : 2)
}

function cellsOf({ name, fields, id_field, strict, indexes }: SchemaDefinition): string[] {
  const count = String(Object.keys(fields).length)
  return [name, count, id_field, strict ? 'strict' : 'open', indexes.map(nameOf).join(' ')]
}

/** A text index by its paths: `text(name,description)`. */
function nameOf(index: IndexDefinition): string {
  return typeof index === 'string' ? index : `text(${index.text.join()})`
}

function summaryOf({ fields, indexes }: SchemaDefinition): string {
  const counts = [
    formatCounted(Object.keys(fields).length, 'field'),
    formatCounted(indexes.length, 'index', 'indexes'),
  ]
  return counts.join(', ')
}
