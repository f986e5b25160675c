// Which MANIFEST a directory of LevelDB is opened with after a crash. A MANIFEST says which tables
// and logs are the data; each open writes a new one, and renames CURRENT to name it.
//
// LevelDB trusts CURRENT, and what a power cut leaves of it can be wrong: the first MANIFEST of all
// is not synced before CURRENT names it, and where a file system keeps names in any order the old
// MANIFEST and its logs can be gone while CURRENT names them still. But a MANIFEST is synced, and
// the directory with it, before anything is deleted that it does without. So the newest one decides
// that is whole and has its files, and CURRENT is only what tells LevelDB so: whatever a cut leaves
// of it is written anew. The same goes for the last record of a MANIFEST: until it was synced, the
// files are all there that the record before it needs.

import { open, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { closingName } from './closing.js'
import { crc32c, mask, wordsOf } from './crc32c.js'
import { syncDirectory } from './directories.js'
import { readLog } from './log-records.js'
import { readManifest } from './manifest.js'
import type { Reading } from './reading.js'

/** A MANIFEST to open, up to where its records are whole and have their files. */
interface Choice {
  readonly name: string
  readonly end: number
}

/**
 * The newest MANIFEST that is whole and has its files. Reads only. To be asked after a crash alone:
 * where CLOSED is there, what does not fit is damage.
 */
export async function chooseManifest(
  directory: string,
  names: Iterable<string>,
): Promise<Choice | undefined> {
  const files = new Files(names)
  for (const name of manifestsOf(names)) {
    const end = usableEnd(await readFile(join(directory, name)), files)
    if (end !== undefined) return { name, end }
  }
  return undefined
}

/**
 * Makes CURRENT name the MANIFEST to open; `createIfMissing` makes both where nothing was ever
 * acknowledged. Changes nothing where there is data and no MANIFEST that is whole. To be called
 * before the directory is looked through, and by nobody but its owner.
 */
export async function settleManifest(
  directory: string,
  createIfMissing: boolean,
  reading: Reading,
): Promise<void> {
  const names = await reading.names(directory)
  // There was no crash: what does not fit is damage.
  if (names.includes(closingName)) return
  const choice = await chooseManifest(directory, names)
  if (choice !== undefined) {
    await cutBack(join(directory, choice.name), choice.end)
    await pointTo(directory, choice.name)
    return
  }
  // Else it is damage, which is told by whoever looks for it.
  if (!createIfMissing || !(await isNew(directory, names))) return
  // Not synced, nor is CURRENT: until LevelDB has synced a MANIFEST of its own, a cut leaves what
  // is taken for new again.
  const [first] = manifestNames
  await writeFile(join(directory, first), firstManifest())
  await pointTo(directory, first)
}

/**
 * Removes what was not chosen and is numbered above what was: once LevelDB has made files with the
 * numbers that it names, it would be whole. To be called before LevelDB may make any. `names`: of what
 * is in the directory.
 */
export async function removeNewerManifests(
  directory: string,
  names: Iterable<string>,
  chosen: string,
): Promise<void> {
  const newer = manifestsOf(names).filter((name) => numberOf(name) > numberOf(chosen))
  for (const name of newer) await unlink(join(directory, name))
  if (newer.length > 0) await syncDirectory(directory)
}

/** The newest first. */
function manifestsOf(names: Iterable<string>): string[] {
  return [...names]
    .filter((name) => /^MANIFEST-\d+$/.test(name))
    .sort((a, b) => numberOf(b) - numberOf(a))
}

/** A store's first MANIFEST, which says that there is nothing, and LevelDB's own that follows it. */
const manifestNames = ['MANIFEST-000001', 'MANIFEST-000002'] as const

/**
 * Whether nothing was ever acknowledged: LevelDB's first MANIFEST was not yet synced. To be asked
 * where there is no CLOSED and no MANIFEST to choose.
 */
export async function isNew(directory: string, names: Iterable<string>): Promise<boolean> {
  for (const name of names) {
    if (/\.(ldb|sst)$/.test(name)) return false
    if (/^MANIFEST-/.test(name)) {
      if (!manifestNames.some((known) => known === name)) return false
      if (listsTables(await readFile(join(directory, name)))) return false
    }
    if (name.endsWith('.log') && (await stat(join(directory, name))).size > 0) return false
  }
  return true
}

/** Tables hold what was acknowledged, and are synced before a MANIFEST says so. */
function listsTables(bytes: Uint8Array): boolean {
  const records = [...readLog(bytes)].flatMap((piece) => (piece.type === 'record' ? [piece] : []))
  try {
    return readManifest(records.map(({ fragments }) => Buffer.concat(fragments))).tables.size > 0
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Where the records end that this MANIFEST can be opened with; undefined where there are none. */
function usableEnd(bytes: Uint8Array, files: Files): number | undefined {
  const pieces = [...readLog(bytes)]
  const damaged = pieces.findIndex(({ type }) => type === 'damage')
  // In the place of the last record it is a write that was cut short.
  if (damaged >= 0 && damaged < pieces.length - 1) return undefined
  const records = pieces.flatMap((piece) => (piece.type === 'record' ? [piece] : []))
  const contents = records.map(({ fragments }) => Buffer.concat(fragments))
  // One record may go: those before it were synced, and what they do without was deleted.
  for (let count = records.length; count >= pieces.length - 1 && count > 0; count--) {
    if (!files.suffice(contents.slice(0, count))) continue
    return count === pieces.length ? bytes.length : records[count - 1]!.end
  }
  return undefined
}

/** The files that a MANIFEST may ask for. */
class Files {
  readonly #tables = new Set<number>()
  readonly #logs = new Set<number>()

  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (/^\d+\.(ldb|sst)$/.test(name)) this.#tables.add(Number.parseInt(name, 10))
      else if (/^\d+\.log$/.test(name)) this.#logs.add(Number.parseInt(name, 10))
    }
  }

  /** Whether the records say what is the data, and all of it is there. */
  suffice(records: readonly Uint8Array[]): boolean {
    try {
      const { logNumber, tables } = readManifest(records)
      // The first MANIFEST knows of no log.
      if (logNumber !== 0 && !this.#logs.has(logNumber)) return false
      return [...tables.keys()].every((table) => this.#tables.has(table))
    } catch (error) {
      if (error instanceof RangeError) return false
      throw error
    }
  }
}

/**
 * Takes a last record away. Synced: what LevelDB writes next may have the names of the files that
 * the record lacks.
 */
async function cutBack(path: string, end: number): Promise<void> {
  if ((await stat(path)).size === end) return
  await using file = await open(path, 'r+')
  await file.truncate(end)
  await file.datasync()
}

async function pointTo(directory: string, manifest: string): Promise<void> {
  const path = join(directory, 'CURRENT')
  const content = `${manifest}\n`
  const found = await readFile(path, 'latin1').catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 'ENOENT') throw error
  })
  if (found === content) return
  // A name that LevelDB deletes where it is left over.
  const draft = join(directory, '000000.dbtmp')
  await writeFile(draft, content)
  await rename(draft, path)
}

const comparator = 'leveldb.BytewiseComparator'

/** What LevelDB's own would be: no tables, no log, numbers of files from 2 on. */
function firstManifest(): Uint8Array {
  const record = Buffer.from([
    ...[1, comparator.length, ...Buffer.from(comparator)],
    ...[2, 0],
    ...[3, 2],
    ...[4, 0],
  ])
  const bytes = Buffer.alloc(7 + record.length)
  bytes.writeUInt16LE(record.length, 4)
  bytes[6] = 1
  bytes.set(record, 7)
  bytes.writeUInt32LE(mask(crc32c(wordsOf(bytes), 6, bytes.length)), 0)
  return bytes
}

function numberOf(manifest: string): number {
  return Number(manifest.slice('MANIFEST-'.length))
}
