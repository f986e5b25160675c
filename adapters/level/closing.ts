// What a partition looked like when it was closed. The last record of a log that lost a few bytes
// looks like one that a crash cut short; LevelDB drops both without a word. Where this file is,
// there was no crash.

import { open, readFile, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { syncDirectory } from './directories.js'

interface Closing {
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
  const lines = [current.trimEnd()]
  for (const name of names.sort()) {
    lines.push(`${name} ${(await stat(join(directory, name))).size}`)
  }
  const temporary = join(directory, temporaryName)
  try {
    await using file = await open(temporary, 'w')
    await file.writeFile(sealed(lines.join('\n')))
    await file.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  // Before the name is there: after a power cut it would speak of a CURRENT that did not last.
  await syncDirectory(directory)
  await rename(temporary, join(directory, closingName))
}

/**
 * `undefined` after a crash. Without content where the file is damaged: that the partition was
 * closed is known all the same, because the file is there under its name when it is whole.
 */
export async function readClosing(
  directory: string,
): Promise<{ readonly content: Closing | undefined } | undefined> {
  let text: string
  try {
    text = await readFile(join(directory, closingName), 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const content = text.slice(9, -1)
  if (text !== sealed(content)) return { content: undefined }
  const [manifest, ...lines] = content.split('\n')
  const lengths = lines
    .map((line) => line.split(' '))
    .map(([name, length]) => [name, Number(length)])
  return { content: { current: `${manifest}\n`, lengths: Object.fromEntries(lengths) } }
}

/** Behind a line with its CRC-32. */
function sealed(content: string): string {
  return `${crc32(content).toString(16).padStart(8, '0')}\n${content}\n`
}

/**
 * Before LevelDB changes anything. Not synced: LevelDB syncs the directory with its new MANIFEST,
 * and changes nothing of what this speaks of before that.
 */
export async function removeClosing(directory: string): Promise<void> {
  try {
    await unlink(join(directory, closingName))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
