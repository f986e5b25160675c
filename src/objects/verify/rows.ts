// What blocks and records have to be before anything is made of them: their bytes may be those of
// something else.

import { LorekeepError } from '../../errors.js'
import { isKeyText } from '../../verify/shapes.js'
import type { Block, Row } from '../engine/block.js'
import { areOwners, ByOwner } from '../engine/owners.js'
import type { BlocksRecord, CollectionRecord } from '../engine/records.js'
import { tableSpan } from '../engine/ref.js'
import type { BlockPlace } from '../engine/state.js'
import type { CompiledSchema } from '../schema/schema.js'

/** Whether a record says of each block whose its rows are, or that these are many. */
export function tellsOwners(
  { owners, owned }: BlocksRecord,
  places: readonly BlockPlace[],
): boolean {
  if (!areOwners(owners) || !Array.isArray(owned) || owned.length !== places.length) return false
  return places.every((place, n) => place.owners !== undefined || owned[n] === null)
}

/** Whether a search that leaves blocks out by these misses none of the rows. */
export function areOwnersOf(rows: readonly Row[], owners: BlockPlace['owners']): boolean {
  if (!areOwners(owners)) return true
  const named = new ByOwner<true>()
  for (const owner of owners) named.set(owner, true)
  return rows.every(({ collection, user }) => named.get([collection, user]) === true)
}

export function isCollectionRecord({ schemas, created_at, deleting }: CollectionRecord): boolean {
  return (
    typeof schemas === 'object' &&
    schemas !== null &&
    typeof created_at === 'string' &&
    (deleting === undefined || Number.isSafeInteger(deleting))
  )
}

/** How people are told of a block. */
export const blockText = (table: number, first: number): string =>
  `block ${first} of table ${table}`

export function isTable(table: unknown): table is number {
  return Number.isInteger(table) && Number(table) >= 0 && Number(table) < tableSpan
}

/** Of a block that has rows: why it is not one of this schema. */
export function otherSchema(block: Block, { definition }: CompiledSchema): string | undefined {
  const { name, id_field: idField } = definition
  const found = block.stored(0)._schema
  if (found !== name) return `has objects of ${found}, not of ${name}`
  if (block.idField !== idField) return `has ids in '${block.idField}', not in '${idField}'`
  return undefined
}

/** What is wrong with a row, beside what its schema says of its object. */
export function problemsOf({ user, created_at, updated_at }: Row): readonly string[] {
  const problems: string[] = []
  for (const time of [created_at, updated_at]) {
    if (typeof time !== 'string' || Number.isNaN(Date.parse(time))) problems.push('has no time')
  }
  if (typeof user !== 'string' || user === '') problems.push('has no user')
  return problems
}

/** @throws where it has no rows, or what it has are none */
export function rowsIn(block: Block): readonly Row[] {
  const rows = Array.from({ length: block.rows }, (_, n) => block.row(n))
  if (rows.length === 0) throw new LorekeepError('LK_STORAGE_CORRUPT', 'it has no rows')
  if (!rows.every(isRow)) throw new LorekeepError('LK_STORAGE_CORRUPT', 'it has no objects')
  return rows
}

function isRow({ ref, id, object, collection }: Row): boolean {
  return (
    Number.isSafeInteger(ref) &&
    (typeof id === 'string' || typeof id === 'number') &&
    isKeyText(collection) &&
    typeof object === 'object' &&
    object !== null
  )
}
