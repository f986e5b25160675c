// What a partition looked like when it was closed. The last record of a log that lost a few bytes
// looks like one that a crash cut short; LevelDB drops both without a word. Where this file is,
// there was no crash.

import { open, readFile, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'

export interface Closing {
  /** The content of CURRENT. */
  readonly current: string
  /** Lengths of the logs and of the MANIFEST, by name. */
  readonly lengths: Readonly<Record<string, number>>
}

export const closingName = 'CLOSED'
const temporaryName = 'CLOSED.new'

/** After LevelDB has closed. */
export async function writeClosing(directory: string): Promise<void> {
  const current = await readFile(join(directory, 'CURRENT'), 'latin1')
  const names = (await readdir(directory)).filter(
    (name) => name.endsWith('.log') || name === current.trimEnd(),
  )
  const lengths: Record<string, number> = {}
  for (const name of names.sort()) lengths[name] = (await stat(join(directory, name))).size
  const closing: Closing = { current, lengths }
  const text = JSON.stringify(closing)
  const temporary = join(directory, temporaryName)
  try {
    await using file = await open(temporary, 'w')
    await file.writeFile(`${crc32(text).toString(16).padStart(8, '0')} ${text}\n`)
    await file.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await rename(temporary, join(directory, closingName))
  await syncDirectory(directory)
}

/**
 * `undefined` after a crash. Without content where the file is damaged: that the partition was
 * closed is known all the same, because the file is there under its name when it is whole.
 */
export async function readClosing(
  directory: string,
): Promise<{ readonly content: Closing | undefined } | undefined> {
  let line: string
  try {
    line = await readFile(join(directory, closingName), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const text = line.slice(9, -1)
  const isWhole =
    line === `${crc32(text).toString(16).padStart(8, '0')} ${text}\n` && text.startsWith('{')
  return { content: isWhole ? (JSON.parse(text) as Closing) : undefined }
}

/** Durably, and before LevelDB changes anything: after a power cut it would speak of old files. */
export async function removeClosing(directory: string): Promise<void> {
  try {
    await unlink(join(directory, closingName))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
    throw error
  }
  await syncDirectory(directory)
}

async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot.
  if (process.platform === 'win32') return
  await using handle = await open(directory, 'r')
  await handle.sync()
}
