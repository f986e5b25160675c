// Where a backup goes.

import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { writeWholeFile } from '../whole-file.js'
import type { BackupTarget } from './types.js'

/** Everything of everybody is in it: a new file is for its owner alone. */
const fileMode = 0o600

export type WriteChunks = (chunks: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>

/** @throws TypeError for what is no target */
export function openTarget(target: BackupTarget): WriteChunks {
  if (typeof target === 'string' || target instanceof URL) {
    const path = typeof target === 'string' ? target : fileURLToPath(target)
    if (path === '') throw new TypeError('the path of a backup is empty')
    return (chunks) => writeWholeFile(path, chunks, fileMode)
  }
  const stream = target as (Partial<Writable> & Partial<WritableStream>) | null
  if (typeof stream?.write !== 'function' && typeof stream?.getWriter !== 'function') {
    throw new TypeError('the target of a backup is a path, or a writable stream of Node or the web')
  }
  return async (chunks, signal) => {
    try {
      await pipeline(chunks, target as Writable, { signal })
    } catch (error) {
      // The reason, and not that there was one.
      signal.throwIfAborted()
      throw error
    }
  }
}
