// `lorekeep collections`: what there is, and away with it.

import { withObjects } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import type { SeenCollection } from '../../access/object-access.js'
import { note } from '../../output/failure.js'
import { formatCount, formatCounted, formatTime } from '../../output/figures.js'
import { printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { left, right } from '../../output/table.js'

interface CollectionsOptions extends AccessOptions {
  readonly json?: true
}

const listing: Listing<SeenCollection> = {
  columns: [left('NAME'), right('OBJECTS'), left('CREATED'), left('SCHEMAS')],
  cellsOf,
  none: 'there are no collections',
}

export async function listCollections(options: CollectionsOptions): Promise<void> {
  const collections = await withObjects(options, { create: false }, (objects) =>
    objects.collections(),
  )
  await printList(collections, listing, options.json)
}

function cellsOf(
  { name, objects, created_at, schemas = {} }: SeenCollection,
  isTerminal: boolean,
): string[] {
  const count = objects === undefined ? '' : (isTerminal ? formatCount : String)(objects)
  const time = isTerminal ? formatTime(created_at) : created_at
  return [name, count, time, Object.keys(schemas).join(' ')]
}

export async function deleteCollection(name: string, options: CollectionsOptions): Promise<void> {
  const deleted = await withObjects(options, { create: false }, (objects) =>
    objects.deleteCollection(name),
  )
  if (options.json) await writeJson({ deleted })
  else note(`deleted '${name}': ${formatCounted(deleted, 'object')}`)
}
