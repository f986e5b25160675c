// Writes a snapshot to a target.

import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { Snapshot } from '../snapshot/types.js'
import { BackupEncoder } from './encoder.js'
import { partitions } from './format.js'
import { Spool } from './spool.js'
import type { WriteChunks } from './target.js'
import type { BackupOptions, BackupSummary } from './types.js'

/** How long a target that was told to stop is waited for. A pipe that nobody reads never ends. */
const stopMs = 500

interface BackupParts extends Omit<BackupOptions, 'signal'> {
  /** Closed when it has been read, or the backup has failed. */
  readonly snapshot: Snapshot
  readonly write: WriteChunks
  readonly signal: AbortSignal
  readonly createdAt: number
}

export async function writeBackup(parts: BackupParts): Promise<BackupSummary> {
  const { snapshot, write, signal } = parts
  // Where a slow target must not be waited for, the rest goes to a temporary file, at the speed of the disk.
  const spool = new Spool(() => snapshot.mayWait)
  const stop = new AbortController()
  const until = AbortSignal.any([signal, stop.signal])
  const making = (async () => {
    try {
      const summary = await make(parts, spool, until)
      spool.end()
      return summary
    } catch (error) {
      spool.end(error)
      throw error
    } finally {
      await snapshot.close()
    }
  })()
  // Whichever fails first is what there is to tell.
  making.catch(() => {})
  try {
    signal.throwIfAborted()
    await untilAborted(
      (until) => write(spool.take(), until),
      signal,
      (reason) => spool.stop(reason),
    )
    return await making
  } catch (error) {
    stop.abort(error)
    spool.stop(error)
    await making.catch(() => {})
    throw error
  } finally {
    await spool.close()
  }
}

/** Work that may not notice the signal, as a file whose system does not answer. */
async function untilAborted(
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
  stop: (reason: unknown) => void,
): Promise<void> {
  const working = work(signal)
  const settled = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => {
      stop(signal.reason)
      const patience = sleep(stopMs, undefined, { signal: settled.signal })
      // A file that can deletes what is there of it.
      patience.catch(() => {}).finally(() => reject(signal.reason as Error))
    }
    signal.addEventListener('abort', onAbort, { once: true, signal: settled.signal })
  })
  aborted.catch(() => {})
  await Promise.race([working, aborted]).finally(() => settled.abort())
}

async function make(
  { snapshot, onProgress, createdAt }: BackupParts,
  spool: Spool,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const encoder = new BackupEncoder(createdAt)
  await spool.push(encoder.header())
  for (const partition of partitions) {
    const tell = () => {
      const { bytes, entries } = encoder
      onProgress?.({ bytes, entries, partition })
    }
    for await (const page of snapshot.partitions[partition].scan({})) {
      signal.throwIfAborted()
      for (const entry of page) {
        for (const block of encoder.add(partition, entry)) {
          await spool.push(block)
          tell()
        }
      }
      // A storage and a target that answer at once would keep everybody else waiting.
      await turn()
      // length > 0: no page is empty.
      snapshot.pass(partition, page.at(-1)!.key)
    }
    for (const block of encoder.flush()) await spool.push(block)
    snapshot.pass(partition)
    tell()
  }
  const { bytes, summary } = encoder.trailer()
  await spool.push(bytes)
  return summary
}
