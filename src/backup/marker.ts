// What says that a restore is under way, or was broken off: the first key of `cores`, which no store
// uses. It is written before anything else and deleted in the last write.

import { LorekeepError } from '../errors.js'
import { encodeRecord } from '../record.js'
import type { Storage } from '../storage.js'

export const markerKey: Uint8Array = Uint8Array.of(0)

export function markerOf(startedAt: number): Uint8Array {
  return encodeRecord({ restoring: new Date(startedAt).toISOString() })
}

/** @throws LorekeepError `LK_BACKUP_UNFINISHED` */
export async function assertRestored(cores: Pick<Storage, 'get'>): Promise<void> {
  if ((await cores.get(markerKey)) === undefined) return
  throw new LorekeepError(
    'LK_BACKUP_UNFINISHED',
    'what is there is a part of a backup: restore into it once more, or delete it',
  )
}
