// `lorekeep restore`: a backup into a directory, or a schema of a database, that holds nothing.

import { randomBytes } from 'node:crypto'
import { readdir, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { LevelBackend } from '../../../../adapters/level/index.js'
import { makeDirectory } from '../../../../adapters/level/directories.js'
import { claimDirectory } from '../../../../adapters/level/open-directories.js'
import { partitions } from '../../../backup/format.js'
import { restore } from '../../../backup/restore.js'
import { hasCode } from '../../../errors.js'
import type { Backend, PartitionName, Storage } from '../../../storage.js'
import { fileError, interruptible, note } from '../../output/failure.js'
import { isDatabase, shownPlace } from '../../config/place.js'
import { openInput, type Input } from '../../input/input.js'
import { formatBytes, formatCounted } from '../../output/figures.js'
import { writeJson } from '../../output/output.js'
import { createProgress, units } from '../../output/progress.js'

export interface RestoreCommandOptions {
  readonly json?: true
}

export async function restoreBackup(
  file: string,
  directory: string,
  { json }: RestoreCommandOptions,
): Promise<void> {
  const start = performance.now()
  const place = shownPlace(directory)
  const backend = isDatabase(directory)
    ? (await import('../../access/database.js')).openDatabase(directory, false)
    : await emptyDirectory(directory)
  let input: Input | undefined
  let isRestored = false
  try {
    input = await openInput(file, 'a backup')
    // A file is read twice: it is checked first.
    const [source, total] =
      input.bytes === undefined ? [input.stream, undefined] : [file, 2 * input.bytes]
    const summary = await interruptible(async (signal) => {
      const progress = createProgress(total, units.entries)
      let before = 0
      try {
        return await restore(backend, source, {
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
    isRestored = true
    if (json) await writeJson(summary)
    const entries = formatCounted(summary.entries, 'entry', 'entries')
    const seconds = ((performance.now() - start) / 1000).toFixed(1)
    const of = `a backup of ${summary.createdAt}`
    note(`restored ${entries} in ${place}: ${of}, ${formatBytes(summary.bytes)}, ${seconds} s`)
  } catch (error) {
    throw explained(error, file, place)
  } finally {
    input?.stream.destroy()
    await backend.close()
    if (!isRestored && 'remove' in backend) await backend.remove()
  }
}

function explained(error: unknown, file: string, directory: string): unknown {
  if (hasCode(error, 'LK_BACKUP_NOT_EMPTY')) {
    const what = `there is a store in '${directory}', which is not empty`
    return new Error(`${what}: name a place that is empty, or not there`, { cause: error })
  }
  if (hasCode(error, 'LK_STORAGE_LOCKED')) {
    return new Error(`${error.message}: restore into another place`, { cause: error })
  }
  // Errors of the storage are our own: one of the system is about the file.
  return fileError(error, file, 'read')
}

/** Nothing of somebody else's, and no store: at most what a restore that was broken off has left. */
async function emptyDirectory(directory: string): Promise<NewDirectory> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw fileError(error, directory, 'read')
    return []
  })
  const foreign = names.find((name) => !(partitions as readonly string[]).includes(name))
  if (foreign === undefined) return new NewDirectory(directory)
  throw new Error(
    `'${directory}' holds '${foreign}', which is no part of a store: name a directory that is empty, or not there`,
  )
}

/** Everything of everybody is in it: what is made of the directory is for its owner alone. */
const directoryMode = 0o700

/** A data directory that knows what was made for it, and can take that back. */
class NewDirectory implements Backend {
  readonly shared = false
  readonly #level: LevelBackend
  /** The outermost first. */
  #made: string[] = []

  constructor(directory: string) {
    this.#level = new LevelBackend(directory)
  }

  async open(name: PartitionName): Promise<Storage> {
    const { location } = this.#level
    const partition = join(location, name)
    try {
      this.#made.push(...(await makeDirectory(partition, directoryMode)))
    } catch (error) {
      throw fileError(error, location, 'write')
    }
    try {
      return await this.#level.open(name)
    } catch (error) {
      // Whoever was faster keeps it.
      if (hasCode(error, 'LK_STORAGE_LOCKED')) {
        this.#made = this.#made.filter((path) => path !== partition)
      }
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#level.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /** To be called once it is closed. What it cannot remove stays. */
  async remove(): Promise<void> {
    for (const path of this.#made.toReversed()) {
      const isPartition = dirname(path) === this.#level.location
      await (isPartition ? removePartition(path) : rmdir(path)).catch(() => {})
    }
  }
}

/**
 * It was let go of: whoever has taken it since keeps it, and whoever comes from now on makes a new one.
 * @throws LorekeepError `LK_STORAGE_LOCKED`
 */
async function removePartition(path: string): Promise<void> {
  // Taking it would make one that is gone.
  await stat(path)
  const claim = await claimDirectory(path)
  const removed = `${path}.removed-${randomBytes(6).toString('hex')}`
  try {
    await rename(path, removed)
    await rm(removed, { recursive: true })
  } finally {
    await claim.release()
  }
}
