// `lorekeep backup`: everything that a data directory or a server holds, in one file.

import { Writable } from 'node:stream'
import { performance } from 'node:perf_hooks'
import { BackupDecoder } from '../../../backup/decoder.js'
import { fileMode } from '../../../backup/target.js'
import type { Backup, BackupSummary } from '../../../backup/types.js'
import { backupOf } from '../../../backup/unopened.js'
import { writeWholeFile } from '../../../whole-file.js'
import type { AccessOptions } from '../../access/access.js'
import { isDatabase } from '../../config/place.js'
import {
  describe,
  fileError,
  interruptible,
  note,
  ReaderLeft,
  UsageError,
} from '../../output/failure.js'
import { formatBytes, formatCounted } from '../../output/figures.js'
import { refuseTerminal, writeJson, writeOut } from '../../output/output.js'
import { createProgress, units } from '../../output/progress.js'
import type { Progress } from '../../output/progress.js'

interface BackupCommandOptions extends AccessOptions {
  readonly json?: true
}

export async function backUp(file: string, options: BackupCommandOptions): Promise<void> {
  const { data, url, token, json } = options
  if (file === '-') {
    if (json)
      throw new UsageError('--json is printed on stdout, where the backup goes: name a file')
    refuseTerminal('redirect stdout, or name a file', 'a backup')
  }
  const start = performance.now()
  const summary = await interruptible(async (signal) => {
    const progress = createProgress(undefined, units.entries)
    try {
      return url === undefined
        ? await backUpPlace(file, data, progress, signal)
        : await backUpServer(file, url, token, progress, signal)
    } catch (error) {
      // Errors of the storage are our own, those of a connection have words of their own.
      throw fileError(error, file === '-' ? 'stdout' : file, 'write')
    } finally {
      progress.stop()
    }
  })
  if (json) await writeJson(summary)
  const entries = formatCounted(summary.entries, 'entry', 'entries')
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  const place = file === '-' ? '' : ` in ${file}`
  note(`backed up ${entries}: ${formatBytes(summary.bytes)}${place}, ${seconds} s`)
}

async function backUpPlace(
  file: string,
  data: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const { backup, close } = await openedBackup(data)
  let before = 0
  try {
    return await backup(file === '-' ? stdout() : file, {
      signal,
      onProgress: ({ bytes, entries }) => {
        progress.bytes(bytes - before)
        progress.count(entries)
        before = bytes
      },
    })
  } finally {
    await close()
  }
}

async function openedBackup(data: string): Promise<{ backup: Backup; close(): Promise<void> }> {
  if (!isDatabase(data)) {
    const { openLocalStore } = await import('../../access/local-store.js')
    return openLocalStore(data, false)
  }
  // Without opening it: servers may have it, or one of them alone.
  const { databaseSnapshot } = await import('../../access/database.js')
  const taken = await databaseSnapshot(data)
  return { backup: backupOf(taken), close: () => taken.close() }
}

/** A download that was cut does not look whole: its end is checked before the file has its name. */
async function backUpServer(
  file: string,
  url: URL,
  token: string | undefined,
  progress: Progress,
  signal: AbortSignal,
): Promise<BackupSummary> {
  const { backupOfServer } = await import('../../access/server-stores.js')
  const backup = await backupOfServer({ url, token }, signal)
  const decoder = new BackupDecoder()
  let summary: BackupSummary | undefined
  const received = async function* () {
    try {
      yield* backup
    } catch (cause) {
      signal.throwIfAborted()
      throw brokenOff(file, decoder.bytes, cause)
    }
  }
  const checked = async function* () {
    for await (const chunk of received()) {
      signal.throwIfAborted()
      for (const _ of decoder.push(chunk)) progress.count(decoder.entries)
      progress.bytes(chunk.length)
      yield chunk
    }
    summary = decoder.finish()
  }
  try {
    if (file === '-') for await (const chunk of checked()) await writeChunk(chunk)
    else await writeWholeFile(file, checked(), fileMode)
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
  // Both have read it to its end.
  return summary!
}

/** The status is sent by the time that a backup fails: all that a server can do is hang up. */
function brokenOff(file: string, bytes: number, cause: unknown): Error {
  const left =
    file === '-' ? 'what went to stdout is no whole backup' : `nothing was written to '${file}'`
  return new Error(
    `the server broke the backup off after ${formatBytes(bytes)} (${describe(cause)}): ${left}; the server's log says why, unless the connection was lost`,
    { cause },
  )
}

function stdout(): Writable {
  return new Writable({
    write: (chunk: Uint8Array, _encoding, callback) => {
      writeChunk(chunk).then(() => callback(), callback)
    },
  })
}

/** Whoever has enough of a backup before its end has none. */
async function writeChunk(chunk: Uint8Array): Promise<void> {
  try {
    await writeOut(chunk)
  } catch (error) {
    if (!(error instanceof ReaderLeft)) throw error
    throw new Error('the reader of stdout left before the backup was whole', { cause: error })
  }
}
