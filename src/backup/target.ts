// Where a backup goes.

import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import { shown } from '../door/wording.js'
import { writeWholeFile } from '../whole-file.js'
import type { BackupTarget } from './types.js'

/** Everything of everybody is in it: it is for its owner alone. */
export const fileMode = 0o600

export type WriteChunks = (chunks: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>

/** @throws TypeError for what is no target */
export function openTarget(target: BackupTarget): WriteChunks {
  if (typeof target === 'string' || target instanceof URL) {
    const path = typeof target === 'string' ? target : fileURLToPath(target)
    if (path === '') throw new TypeError('the path of a backup is empty')
    return (chunks) => writeWholeFile(path, chunks, fileMode)
  }
  if (isWebStream(target)) return (chunks, signal) => writeToWeb(target, chunks, signal)
  if (typeof target?.write !== 'function') {
    const expected = 'a path, or a writable stream of Node or the web'
    throw new TypeError(`the target of a backup must be ${expected}, not ${shown(target)}`)
  }
  return async (chunks, signal) => {
    try {
      await pipeline(chunks, target, { signal })
    } catch (error) {
      // The reason, and not that there was one.
      signal.throwIfAborted()
      throw error
    }
  }
}

function isWebStream(target: BackupTarget): target is WritableStream<Uint8Array> {
  return typeof (target as Partial<WritableStream> | undefined)?.getWriter === 'function'
}

// Not pipeline(): an abort would wait for a write that a stalled stream never ends.
async function writeToWeb(
  target: WritableStream<Uint8Array>,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  const writer = target.getWriter()
  let reject = (_reason: unknown): void => {}
  const onAbort = () => reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  const unlessAborted = (work: () => Promise<void>) =>
    new Promise<void>((resolve, fail) => {
      reject = fail
      signal.throwIfAborted()
      work().then(resolve, fail)
    })
  try {
    for await (const chunk of chunks) await unlessAborted(() => writer.write(chunk))
    await unlessAborted(() => writer.close())
  } catch (error) {
    // It settles when the stream is done with the write under way, if ever.
    writer.abort(error).catch(() => {})
    throw error
  } finally {
    signal.removeEventListener('abort', onAbort)
    writer.releaseLock()
  }
}
