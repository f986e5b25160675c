// `lorekeep restore`: a backup into a directory that holds nothing.

import { stat } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { LevelBackend } from '../../adapters/level/index.js'
import { restore } from '../backup/restore.js'
import { interruptible, note, UsageError } from './failure.js'
import { formatBytes, formatCounted } from './figures.js'
import { writeJson } from './output.js'
import { createProgress, units } from './progress.js'

export interface RestoreCommandOptions {
  readonly json?: true
}

export async function restoreBackup(
  file: string,
  directory: string,
  { json }: RestoreCommandOptions,
): Promise<void> {
  if (file === '-' && process.stdin.isTTY) {
    throw new UsageError('stdin is a terminal: name a file, or pipe a backup into this command')
  }
  const start = performance.now()
  // Read twice: it is checked first.
  const total = file === '-' ? undefined : 2 * (await stat(file)).size
  const backend = new LevelBackend(directory)
  try {
    const summary = await interruptible(async (signal) => {
      const progress = createProgress(total, units.entries)
      let before = 0
      try {
        return await restore(backend, file === '-' ? process.stdin : file, {
          signal,
          onProgress: ({ bytes, entries }) => {
            progress.bytes(bytes < before ? bytes : bytes - before)
            progress.count(entries)
            before = bytes
          },
        })
      } finally {
        progress.stop()
      }
    })
    if (json) await writeJson(summary)
    const entries = formatCounted(summary.entries, 'entry', 'entries')
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const of = `a backup of ${summary.createdAt}`
    note(`restored ${entries} in ${directory}: ${of}, ${formatBytes(summary.bytes)}, ${seconds} s`)
  } finally {
    if (file === '-') process.stdin.destroy()
    await backend.close()
  }
}
