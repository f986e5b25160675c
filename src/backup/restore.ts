import type { Backend } from '../storage.js'
import type { BackupSource, BackupSummary, RestoreOptions } from './types.js'

/**
 * Restores a backup into an empty backend: all of it, or nothing. A file is checked as a whole before
 * anything is written. A stream is checked while it is written, and what was written is deleted
 * where it turns out to be damaged. A restore that was cut off by a crash leaves a backend that
 * createLorekeep() refuses, and that can be restored into again.
 *
 * The backend stays the caller's and open: to be given to createLorekeep(), or closed.
 * @throws LorekeepError `LK_BACKUP_*`, `LK_STORAGE_*`
 * @throws the reason of `signal`
 * @throws TypeError for options that cannot be, and a backend that is `shared`
 */
export async function restore(
  backend: Backend,
  source: BackupSource,
  options: RestoreOptions = {},
): Promise<BackupSummary> {
  // Who imports lorekeep hardly ever restores.
  const { restoreBackup } = await import('./restoring.js')
  return restoreBackup(backend, source, options)
}
