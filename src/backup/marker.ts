// What says that a restore or a salvage is under way, or was broken off: the first key of `cores`,
// which no store uses. It is written before anything else and deleted in the last write.

import { hasCode, LorekeepError } from '../errors.js'
import { decodeRecord, encodeRecord } from '../record.js'
import type { Storage } from '../storage.js'

export const markerKey: Uint8Array = Uint8Array.of(0)

export function markerOf(
  startedAt: number,
  work: 'restoring' | 'salvaging' = 'restoring',
): Uint8Array {
  return encodeRecord({ [work]: new Date(startedAt).toISOString() })
}

/** @throws LorekeepError `LK_BACKUP_UNFINISHED` */
export async function assertRestored(cores: Pick<Storage, 'get'>): Promise<void> {
  const marker = await cores.get(markerKey)
  if (marker === undefined) return
  throw new LorekeepError(
    'LK_BACKUP_UNFINISHED',
    isOfSalvage(marker)
      ? 'what is there is a part of a salvage: delete it, and salvage once more'
      : 'what is there is a part of a backup: restore into it once more, or delete it',
  )
}

function isOfSalvage(marker: Uint8Array): boolean {
  try {
    return 'salvaging' in decodeRecord<object>(marker)
  } catch (error) {
    if (!(error instanceof TypeError) && !hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
    return false
  }
}
