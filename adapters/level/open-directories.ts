// Which directories are taken, by whom. LevelDB's own lock is a lock of fcntl: it belongs to the
// process, and closing any descriptor of the file in it, after a copy or a read, gives it up. Of
// threads and aliases of paths it knows less still. So the owner's file decides, and LevelDB is
// asked by nobody else; what this thread has open is known here, by device and inode.

import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory, syncName } from './directories.js'
import { translate, locked } from './failures.js'
import { takeDirectory } from './owner-file.js'

export interface Claim {
  /** Without symlinks. */
  readonly path: string
  /** Resolves when its name lasts, and that of the directory around it. Nobody may count on what is in it before. */
  readonly named: Promise<void>
  /** Throws where the directory is another's by now, or another, or none, is at the path. */
  assertHeld(): void
  release(): Promise<void>
}

// On globalThis: two copies of this module in one thread must see each other's directories.
const registry = Symbol.for('lorekeep.level.openDirectories')
const taken: Set<string> = ((globalThis as { [registry]?: Set<string> })[registry] ??= new Set())

/**
 * Creates the directory where it does not exist and takes it, or rejects `LK_STORAGE_LOCKED`. `first`: what has to be
 * taken before; rejects as that does.
 */
export async function claimDirectory(directory: string, first?: Promise<unknown>): Promise<Claim> {
  const around = dirname(directory)
  let path: string, identity: string
  let named: Promise<void> | undefined
  // One that is there may be as new as a crash all the same, and so may the one around it.
  const name = () => {
    named = lastingNames([around, directory], named)
  }
  try {
    // In place (reading.ts), before anything is waited for: those that are opened in one turn share the syncs.
    const before = identityOf(directory)
    if (before !== undefined) name()
    await first
    if (identityOf(directory) === undefined) {
      await makeDirectory(around)
      await makeDirectory(directory)
    }
    path = realpathSync.native(directory)
    // Through a symlink.
    if (dirname(path) !== around) named = lastingNames([path], named)
    const { dev, ino } = statSync(path, { bigint: true })
    identity = `${dev}:${ino}`
    if (before !== undefined && before !== identity) name()
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
    return { path, named: named ?? Promise.resolve(), assertHeld, release }
  } catch (error) {
    taken.delete(identity)
    throw translate(error, path)
  }
}

/** `undefined` where nothing is there. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}

/** Who waits for it is told where it fails. */
function lastingNames(directories: readonly string[], others?: Promise<void>): Promise<void> {
  const syncs = directories.map(async (directory) => {
    try {
      await syncName(directory)
    } catch (error) {
      throw translate(error, directory)
    }
  })
  const lasting = Promise.all([...syncs, others]).then(() => {})
  lasting.catch(() => {})
  return lasting
}
