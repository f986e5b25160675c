// Which directories this process has open. LevelDB's lock compares path strings: through a
// symlink, a relative path or a trailing slash the same directory opened twice in one process
// (5 of 5 aliases), and an acknowledged write was lost. Device and inode have no aliases.

import { mkdir, realpath, stat } from 'node:fs/promises'
import { translate, locked } from './failures.js'

export interface Claim {
  /** Without symlinks; threads have a registry each, so LevelDB's own lock keeps those apart. */
  readonly path: string
  /** Rejects where another directory, or none, is at the path by now. */
  assertSame(): Promise<void>
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
    identity = await identityOf(path)
  } catch (error) {
    throw translate(error, directory)
  }
  // No await between the look and the entry: of two racing opens one finds the other's.
  if (open.has(identity)) throw locked(path)
  open.add(identity)
  const assertSame = async () => {
    if ((await identityOf(path)) !== identity) {
      throw new Error(`${path} is not the directory that was opened`)
    }
  }
  return { path, assertSame, release: () => void open.delete(identity) }
}

async function identityOf(path: string): Promise<string> {
  const { dev, ino } = await stat(path, { bigint: true })
  return `${dev}:${ino}`
}
