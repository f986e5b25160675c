// What a crash between a file of values and its pointers leaves, or between the end of the last pointer and
// that of the file: files that no pointer names. One pass over the pointers, 300,000 entries a second, which
// ends where the last one was found of all values that were written into the files.

import type { Level } from './engine.js'
import { NamingKeys } from './naming-keys.js'
import { decodeTagged } from './pointer.js'
import { SharedFiles } from './shared-files.js'
import type { ValueFiles } from './value-files.js'

const highWaterMarkBytes = 1024 * 1024

/** What names files. */
export interface Named {
  /** The keys that do; `undefined` where not all could be read. */
  readonly naming: NamingKeys | undefined
  readonly shared: SharedFiles
}

/**
 * Before the first write: a file that is written now has no pointer yet. `orphans`: all files, of which
 * those are taken out that have one.
 */
export async function removeOrphans(
  partition: string,
  level: Level,
  files: ValueFiles,
  orphans: Set<string>,
): Promise<Named> {
  const naming = new NamingKeys()
  const shared = new SharedFiles()
  if (orphans.size === 0) return { naming, shared }
  // Pointers that may still come: one of each file that was not met yet, and those to further values of the others.
  let missing = orphans.size
  const further = new Map<string, number>()
  try {
    const iterator = level.iterator({ fillCache: false, highWaterMarkBytes })
    try {
      while (missing > 0) {
        const rows = await iterator.nextv(1000)
        if (rows.length === 0) break
        for (const [key, stored] of rows) {
          const value = decodeTagged(partition, key, stored)
          if (value instanceof Uint8Array) continue
          naming.add(key)
          shared.add(value)
          const { name, values } = value
          const left = further.get(name)
          if (orphans.delete(name)) {
            further.set(name, values - 1)
            missing += values - 2
          } else if (left !== undefined && left > 0) {
            further.set(name, left - 1)
            missing--
          }
        }
      }
    } finally {
      await iterator.close()
    }
  } catch {
    // The pointer that cannot be read names one of these. Whoever asks for its key is told of the
    // damage; the files stay, for repair. What was counted would be too little.
    return { naming: undefined, shared: new SharedFiles() }
  }
  await files.remove([...orphans])
  return { naming, shared }
}
