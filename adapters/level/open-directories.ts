// Which directories this process has open. LevelDB's lock compares path strings: through a
// symlink, a relative path or a trailing slash the same directory opened twice in one process
// (5 of 5 aliases), and an acknowledged write was lost. Device and inode have no aliases.

import { mkdir, realpath, stat } from 'node:fs/promises'
import { translate, locked } from './failures.js'

export interface Claim {
  /** Without symlinks; threads have a registry each, so LevelDB's own lock keeps those apart. */
  readonly path: string
  release(): void
}

// On globalThis: two copies of this module in one process must see each other's directories.
const registry = Symbol.for('lorekeep.level.openDirectories')
const open: Set<string> = ((globalThis as { [registry]?: Set<string> })[registry] ??= new Set())

/** Creates the directory where it does not exist and takes it, or rejects `LK_STORAGE_LOCKED`. */
export async function claimDirectory(directory: string): Promise<Claim> {
  let path, identity: string
  try {
    await mkdir(directory, { recursive: true })
    path = await realpath(directory)
    const { dev, ino } = await stat(path, { bigint: true })
    identity = `${dev}:${ino}`
  } catch (error) {
    throw translate(error, directory)
  }
  // No await between the look and the entry: of two racing opens one finds the other's.
  if (open.has(identity)) throw locked(path)
  open.add(identity)
  return { path, release: () => void open.delete(identity) }
}
