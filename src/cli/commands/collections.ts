// `lorekeep collections`: what there is, and away with it.

import { withObjects } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { note } from '../output/failure.js'
import { formatCount, formatCounted, printable } from '../output/figures.js'
import { writeJson, writeOut } from '../output/output.js'
import { Table } from '../output/table.js'

export interface CollectionsOptions extends AccessOptions {
  readonly json?: true
}

const columns = [
  { head: 'NAME', isRight: false },
  { head: 'OBJECTS', isRight: true },
  { head: 'CREATED', isRight: false },
  { head: 'SCHEMAS', isRight: false },
]

export async function listCollections(options: CollectionsOptions): Promise<void> {
  const collections = await withObjects(options, { create: false }, (objects) =>
    objects.collections(),
  )
  if (options.json) {
    for (const collection of collections) await writeJson(collection)
  } else if (!process.stdout.isTTY) {
    for (const { name, objects = '', created_at, schemas = {} } of collections) {
      const cells = [name, String(objects), created_at, Object.keys(schemas).join(' ')]
      await writeOut(`${cells.map(printable).join('\t')}\n`)
    }
  } else if (collections.length === 0) {
    note('there are no collections')
  } else {
    const rows = collections.map(({ name, objects, created_at, schemas = {} }) => [
      printable(name),
      objects === undefined ? '' : formatCount(objects),
      created_at.slice(0, 16).replace('T', ' '),
      printable(Object.keys(schemas).join(' ')),
    ])
    const table = new Table(columns, rows, process.stdout.columns || 80)
    await writeOut(table.head() + table.rows(rows))
  }
}

export async function deleteCollection(name: string, options: CollectionsOptions): Promise<void> {
  const deleted = await withObjects(options, { create: false }, (objects) =>
    objects.deleteCollection(name),
  )
  if (options.json) await writeJson({ deleted })
  else note(`deleted '${name}': ${formatCounted(deleted, 'object')}`)
}
