// What a block has to be before anything is made of it: its bytes may be those of something else.

import { LorekeepError } from '../../errors.js'
import type { Block, Row } from '../engine/block.js'
import type { BlockRecord } from '../engine/records.js'

export function isBlockRecord({ page, rows, bytes }: BlockRecord): boolean {
  return [page, rows, bytes].every((count) => Number.isSafeInteger(count) && count >= 0)
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
    typeof collection === 'string' &&
    typeof object === 'object' &&
    object !== null
  )
}
