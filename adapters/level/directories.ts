// Directories whose names last: a file system need not keep the name of a new file or directory
// until the directory that it stands in was synced.

import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Windows cannot sync a directory. */
export const syncsDirectories = process.platform !== 'win32'

/** Syncs that were asked for, and have not begun. */
const asked = new Map<string, Promise<void>>()

/** Makes the names durable that are in a directory by now. What is asked for in one turn is done once. */
export function syncDirectory(directory: string): Promise<void> {
  if (!syncsDirectories) return Promise.resolve()
  let sync = asked.get(directory)
  if (sync === undefined) {
    sync = Promise.resolve().then(() => {
      asked.delete(directory)
      return syncNow(directory)
    })
    asked.set(directory, sync)
  }
  return sync
}

async function syncNow(directory: string): Promise<void> {
  await using handle = await open(directory, 'r')
  await handle.sync()
}

/**
 * Creates a directory where it does not exist, and its parents. Each name is made durable before
 * anything is made inside, so only the name of the innermost one can be as new as a crash: that is
 * made durable whoever made it. Gives those that it made, the outermost first.
 */
export async function makeDirectory(directory: string, mode = 0o777): Promise<string[]> {
  const missing: string[] = []
  const made: string[] = []
  let existing = directory
  for (; !(await exists(existing)); existing = dirname(existing)) {
    // Nothing is above a drive that is not there: this says so.
    if (dirname(existing) === existing) await stat(existing)
    missing.unshift(existing)
  }
  await syncName(existing)
  for (const path of missing) {
    // Another partition of the same store may be first.
    try {
      await mkdir(path, mode)
      made.push(path)
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'EEXIST') throw error
    }
    await syncDirectory(dirname(path))
  }
  return made
}

// Of file systems that do not sync directories, or of directories that may be passed but not read.
const refusals = new Set(['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EROFS'])

/** Makes the name of a directory durable, as far as whoever did not make it can. */
export async function syncName(directory: string): Promise<void> {
  try {
    await syncDirectory(dirname(directory))
  } catch (error) {
    if (!refusals.has(String((error as { code?: unknown }).code))) throw error
  }
}

/** Whatever it is: what is no directory is for others to refuse. */
async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return false
    throw error
  }
}
