// What a partition looked like when it was closed. The last record of a log that lost a few bytes
// looks like one that a crash cut short; LevelDB drops both without a word. Where this file is,
// there was no crash.

import { unlinkSync } from 'node:fs'
import { open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { syncDirectory } from './directories.js'
import type { Reading } from './reading.js'

interface Closing {
  /** The content of CURRENT. */
  readonly current: string
  /** Lengths of the logs and of the MANIFEST, by name. */
  readonly lengths: Readonly<Record<string, number>>
  readonly tableSums: TableSums
}

/** The CRC-32 of each table that was seen to be whole, by name: the block checksums in it take ten times as long. */
export type TableSums = ReadonlyMap<string, number>

export const closingName = 'CLOSED'
const temporaryName = 'CLOSED.new'

/** After LevelDB has closed. Tables that are gone are left out. */
export async function writeClosing(directory: string, tableSums: TableSums): Promise<void> {
  const current = await readFile(join(directory, 'CURRENT'), 'latin1')
  const lines = [current.trimEnd()]
  for (const name of (await readdir(directory)).sort()) {
    const sum = tableSums.get(name)
    if (sum !== undefined) lines.push(`${name} ${hex(sum)}`)
    else if (name.endsWith('.log') || name === current.trimEnd()) {
      lines.push(`${name} ${(await stat(join(directory, name))).size}`)
    }
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
  reading: Reading,
): Promise<{ readonly content: Closing | undefined } | undefined> {
  let text: string
  try {
    text = latin1(await reading.content(join(directory, closingName)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const content = text.slice(9, -1)
  if (text !== sealed(content)) return { content: undefined }
  const [manifest, ...lines] = content.split('\n')
  const lengths: Record<string, number> = {}
  const tableSums = new Map<string, number>()
  for (const line of lines) {
    const [name = '', value = ''] = line.split(' ')
    if (tableName.test(name)) tableSums.set(name, parseInt(value, 16))
    else lengths[name] = Number(value)
  }
  return { content: { current: `${manifest}\n`, lengths, tableSums } }
}

export function latin1({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}

const tableName = /\.(ldb|sst)$/

/** Behind a line with its CRC-32. */
function sealed(content: string): string {
  return `${hex(crc32(content))}\n${content}\n`
}

function hex(sum: number): string {
  return sum.toString(16).padStart(8, '0')
}

/**
 * Before LevelDB changes anything. Not synced: LevelDB syncs the directory with its new MANIFEST,
 * and changes nothing of what this speaks of before that. In place, as all that an opening does with names (reading.ts).
 */
export function removeClosing(directory: string): void {
  unlinkSync(join(directory, closingName))
}
