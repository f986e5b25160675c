// `lorekeep export`: a core to a file or stdout.

import { randomBytes } from 'node:crypto'
import { open, realpath, rename, stat, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { openCores } from './access.js'
import type { CoreBytes } from './core-access.js'
import type { AccessOptions } from './access.js'
import { interruptible, note } from './failure.js'
import { formatBytes } from './figures.js'
import { refuseTerminal, writeOut } from './output.js'

export interface ExportCommandOptions extends AccessOptions {
  readonly id: string
  readonly user: string
  readonly output?: string
}

export async function exportCore(options: ExportCommandOptions): Promise<void> {
  const { id, user, output = '-' } = options
  if (output === '-') refuseTerminal('redirect stdout, or name a file with -o')
  const cores = await openCores(options, { create: false })
  try {
    const bytes = await interruptible(async (signal) => {
      const core = await cores.export({ id, user }, { signal })
      const checked = whole(core, signal)
      if (output === '-') for await (const chunk of checked) await writeOut(chunk)
      else await writeFile(output, checked)
      return core.bytes
    })
    note(
      `exported '${id}' of '${user}': ${formatBytes(bytes)}${output === '-' ? '' : ` in ${output}`}`,
    )
  } finally {
    await cores.close()
  }
}

/** The chunks of an export, and an error where there are fewer or more bytes than announced. */
async function* whole(
  core: CoreBytes,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  let bytes = 0
  for await (const chunk of core) {
    signal.throwIfAborted()
    bytes += chunk.byteLength
    yield chunk
  }
  if (bytes !== core.bytes) {
    throw new Error(`the export ended after ${bytes} of ${core.bytes} bytes`)
  }
}

/**
 * Writes beside the file and renames at the end: whatever has that name is whole. What is there
 * and no regular file, `/dev/null` or a pipe, is written to as it is.
 */
async function writeFile(path: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  const existing = await stat(path).catch(() => undefined)
  if (existing?.isDirectory()) throw new Error(`'${path}' is a directory`)
  if (existing !== undefined && !existing.isFile()) {
    const handle = await open(path, 'w')
    await writeTo(handle, chunks).finally(() => handle.close())
    return
  }
  // Through a symlink, as a redirection would.
  const target = existing === undefined ? path : await realpath(path)
  const suffix = randomBytes(6).toString('hex')
  const partial = join(dirname(target), `${basename(target)}.partial-${suffix}`)
  const handle = await open(partial, 'wx', existing?.mode ?? 0o666)
  try {
    try {
      await writeTo(handle, chunks)
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

async function writeTo(handle: FileHandle, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) {
    let at = 0
    while (at < chunk.byteLength) {
      at += (await handle.write(chunk, at, chunk.byteLength - at)).bytesWritten
    }
  }
}

/** The rename itself on disk. Windows has no such thing, and some file systems refuse it. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r').catch(() => undefined)
  await handle?.sync().catch(() => {})
  await handle?.close()
}
