// A backup of a store that is not opened for it: of a snapshot by its engine.

import { takeSnapshot } from '../snapshot/backend-snapshot.js'
import type { BackendSnapshot } from '../storage.js'
import { writeBackup } from './backup.js'
import { assertRestored } from './marker.js'
import { openTarget } from './target.js'
import type { Backup } from './types.js'

/** Closes the snapshot when it has been read. @throws LorekeepError `LK_BACKUP_UNFINISHED`, `LK_STORAGE_*` */
export function backupOf(taken: BackendSnapshot): Backup {
  return async (target, { signal = new AbortController().signal, onProgress } = {}) => {
    await assertRestored(taken.partitions.cores)
    const [write, createdAt] = [openTarget(target), Date.now()]
    const snapshot = await takeSnapshot(async () => taken)
    return writeBackup({ snapshot, write, signal, onProgress, createdAt })
  }
}
