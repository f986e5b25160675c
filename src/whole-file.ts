// A file that is there under its name when it is whole, or not at all.

import { randomBytes } from 'node:crypto'
import { open, realpath, rename, stat, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * So much is left to the system's own time. All of it at the end would be flushed at once, and
 * whoever syncs a log on the same disk would wait for it.
 */
const syncBytes = 8 * 1024 * 1024

/**
 * Writes beside the file and renames at the end: whatever has that name is whole. What is there
 * and no regular file, `/dev/null` or a pipe, is written to as it is. `mode` is the widest that the
 * file gets, whatever the mode of one that was there; without it a file keeps its own.
 */
export async function writeWholeFile(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  mode?: number,
): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw new Error(`'${path}' is a directory: name a file`)
  if (existing !== undefined && !existing.isFile()) {
    const handle = await open(path, 'w')
    await writeTo(handle, chunks).finally(() => handle.close())
    return
  }
  // Through a symlink, as a redirection would.
  const target = existing === undefined ? path : await realpath(path)
  const suffix = randomBytes(6).toString('hex')
  const partial = join(dirname(target), `${basename(target)}.partial-${suffix}`)
  const widest = mode ?? 0o7777
  const handle = await open(partial, 'wx', existing ? existing.mode & widest : (mode ?? 0o666))
  try {
    try {
      await writeTo(handle, chunks, syncBytes)
      // Of what it was made with, the umask has taken some away.
      if (existing !== undefined) await handle.chmod(existing.mode & widest)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await rename(partial, target)
  } catch (error) {
    await unlink(partial).catch(() => {})
    throw error
  }
  await syncDirectory(dirname(target))
}

async function writeTo(
  handle: FileHandle,
  chunks: AsyncIterable<Uint8Array>,
  maxUnsynced = Infinity,
): Promise<void> {
  let unsynced = 0
  for await (const chunk of chunks) {
    let at = 0
    while (at < chunk.byteLength) {
      at += (await handle.write(chunk, at, chunk.byteLength - at)).bytesWritten
    }
    unsynced += chunk.byteLength
    if (unsynced < maxUnsynced) continue
    await handle.datasync()
    unsynced = 0
  }
}

/** The rename itself on disk. Windows has no such thing, and some file systems refuse it. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
