// Which directories are taken, by whom. LevelDB's own lock is a lock of fcntl: it belongs to the
// process, and closing any descriptor of the file in it, after a copy or a read, gives it up. Of
// threads and aliases of paths it knows less still. So the owner's file decides, and LevelDB is
// asked by nobody else; what this thread has open is known here, by device and inode.

import { realpath, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDirectory, syncName } from './directories.js'
import { translate, locked } from './failures.js'
import { takeDirectory } from './owner-file.js'

export interface Claim {
  /** Without symlinks. */
  readonly path: string
  /** Throws where the directory is another's by now, or another, or none, is at the path. */
  assertHeld(): void
  release(): Promise<void>
}

// On globalThis: two copies of this module in one thread must see each other's directories.
const registry = Symbol.for('lorekeep.level.openDirectories')
const taken: Set<string> = ((globalThis as { [registry]?: Set<string> })[registry] ??= new Set())

/** Creates the directory where it does not exist and takes it, or rejects `LK_STORAGE_LOCKED`. */
export async function claimDirectory(directory: string): Promise<Claim> {
  let path: string, identity: string
  try {
    // The one around it may be as new.
    await makeDirectory(dirname(directory))
    await makeDirectory(directory)
    path = await realpath(directory)
    await syncName(path)
    const { dev, ino } = await stat(path, { bigint: true })
    identity = `${dev}:${ino}`
  } catch (error) {
    throw translate(error, directory)
  }
  // No await between the look and the entry: of two racing opens one finds the other's.
  if (taken.has(identity)) throw locked(path)
  taken.add(identity)
  try {
    const owner = await takeDirectory(path)
    const assertHeld = () => owner.assertHeld()
    const release = async () => {
      await owner.withdraw()
      taken.delete(identity)
    }
    return { path, assertHeld, release }
  } catch (error) {
    taken.delete(identity)
    throw translate(error, path)
  }
}
