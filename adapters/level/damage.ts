// Damage that LevelDB would not tell of. It drops what it cannot read of a log, ends a MANIFEST
// where a record does not fit, and does not check tables: older versions come back, twice as many
// entries, or none. So a directory is looked through before LevelDB may open it.

import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { LorekeepError } from '../../src/errors.js'
import { closingName, latin1, readClosing } from './closing.js'
import type { TableSums } from './closing.js'
import { readLog } from './log-records.js'
import type { LogRecord } from './log-records.js'
import { readManifest } from './manifest.js'
import type { Manifest } from './manifest.js'
import { chooseManifest, isNew } from './newest-manifest.js'
import { inBackground } from './reading.js'
import type { Reading } from './reading.js'
import { tableDamage } from './table-blocks.js'

interface Damage {
  readonly file: string
  readonly at: number
  /** For people. */
  readonly reason: string
}

/** What a LevelDB directory holds, in bytes. */
export interface Usage {
  /** Those in use. */
  readonly tables: number
  /** Those that are not in tables yet. */
  readonly logs: number
}

/** What was seen in a directory. */
export interface Look {
  readonly names: ReadonlySet<string>
  /** What LevelDB is to open it with; `undefined` where nothing was ever acknowledged. */
  readonly manifest: string | undefined
  readonly usage: Usage
}

interface LookOptions {
  /** False leaves the tables out, which were whole when this process began to use them. */
  readonly tables?: boolean
  /** Looks as if CLOSED was there, which excuses nothing that a crash may have cut short. */
  readonly closing?: boolean
  /** Gets the sum of each table that is whole. */
  readonly sums?: Map<string, number>
  readonly reading?: Reading
}

/** What is damaged in a LevelDB directory that nobody has open, and what it holds. Reads only. */
export async function* damageIn(
  directory: string,
  {
    tables = true,
    closing: isClosing = false,
    sums = new Map(),
    reading = inBackground,
  }: LookOptions = {},
): AsyncGenerator<Damage, Look | undefined> {
  const names = new Set(await reading.names(directory))
  const usage = { tables: 0, logs: 0 }
  const logs = [...names].filter((name) => logName.test(name)).sort()
  const closing = await readClosing(directory, reading)
  const tornTail = closing === undefined && !isClosing
  const choice = tornTail ? await chooseManifest(directory, names) : undefined
  const isChosen = choice !== undefined
  // A crash may have cut the first moments short. Whoever closed it had nothing cut.
  if (tornTail && !isChosen && (await isNew(directory, names))) {
    return { names, manifest: undefined, usage }
  }
  const found = names.has('CURRENT')
    ? latin1(await reading.content(join(directory, 'CURRENT')))
    : ''
  // After a crash CURRENT counts for nothing where another is chosen.
  const current = isChosen ? `${choice.name}\n` : found
  const manifestName = /^(MANIFEST-\d+)\n$/.exec(current)?.[1]
  if (manifestName === undefined) {
    yield { file: 'CURRENT', at: 0, reason: 'it does not name a MANIFEST' }
    return undefined
  }
  const named = closing?.content?.current ?? current
  if (current !== named) {
    yield { file: 'CURRENT', at: 0, reason: `it named ${named.trim()} ${otherProgram}` }
    return undefined
  }
  if (!names.has(manifestName)) {
    yield { file: manifestName, at: 0, reason: 'it is missing' }
    return undefined
  }
  for (const [file, length] of Object.entries(closing?.content?.lengths ?? {})) {
    const found = names.has(file) ? await reading.length(join(directory, file)) : undefined
    if (found === length) continue
    const is = found === undefined ? 'is missing' : `has ${found} bytes`
    const reason = `it ${is}, and had ${length} ${otherProgram}`
    yield { file, at: Math.min(found ?? 0, length), reason }
  }
  const pieces = (file: string, end?: number) => readPieces(directory, file, tornTail, reading, end)
  const read = await pieces(manifestName, choice?.end)
  yield* read.damage
  let manifest: Manifest
  try {
    manifest = readManifest(read.records.map(contentOf))
  } catch (error) {
    if (read.damage.length === 0) {
      yield { file: manifestName, at: 0, reason: (error as Error).message }
    }
    return undefined
  }
  usage.logs = yield* damageInLogs(logs, manifest, pieces)
  for (const length of manifest.tables.values()) usage.tables += length
  const known = closing?.content?.tableSums ?? new Map<string, number>()
  if (tables) yield* damageInTables(directory, names, manifest, known, sums, reading)
  return { names, manifest: manifestName, usage }
}

/** @throws LorekeepError `LK_STORAGE_CORRUPT`; other errors are the file system's */
export async function assertWhole(directory: string, options?: LookOptions): Promise<Look> {
  const looking = damageIn(directory, options)
  const { done, value } = await looking.next()
  if (done && value !== undefined) return value
  // Damage: it does not end without the one or the other. Closes what is open.
  await looking.return(undefined)
  const { file, at, reason } = value as Damage
  const path = join(directory, file)
  throw new LorekeepError(
    'LK_STORAGE_CORRUPT',
    `${path} is damaged${at > 0 ? ` at byte ${at}` : ''}: ${reason}. ` +
      `LevelDB has not opened ${directory}, and nothing in it was changed. ` +
      `Restore a backup, or save what is whole with: lorekeep verify --salvage ${dirname(directory)} TARGET`,
    { details: { path, at } },
  )
}

const otherProgram = `when it was closed (if another program has opened it since, remove the file ${closingName})`

const logName = /^\d+\.log$/
interface Pieces {
  readonly records: readonly LogRecord[]
  readonly damage: readonly Damage[]
  /** It ends in a record that a crash may have cut short. */
  readonly torn: Damage | undefined
  readonly isEmpty: boolean
  readonly bytes: number
}

/** Up to `end`. `tornTail`: the last record may have been cut short. */
async function readPieces(
  directory: string,
  file: string,
  tornTail: boolean,
  reading: Reading,
  end?: number,
): Promise<Pieces> {
  const bytes = (await reading.content(join(directory, file))).subarray(0, end)
  const pieces = [...readLog(bytes)]
  const records: LogRecord[] = []
  const damage: Damage[] = []
  let torn: Damage | undefined
  for (const [place, piece] of pieces.entries()) {
    if (piece.type === 'record') {
      records.push(piece)
      continue
    }
    const { at, reason, flipped } = piece
    // Each write was durable before the next one began: whatever lies behind damage is a proof that
    // it had been whole. So is the one bit that makes a record whole again.
    const isLast = place === pieces.length - 1
    if (tornTail && isLast && !flipped) torn = { file, at, reason }
    else damage.push({ file, at, reason })
  }
  return { records, damage, torn, isEmpty: pieces.length === 0, bytes: bytes.length }
}

/** Gives how many bytes they have. */
async function* damageInLogs(
  logs: readonly string[],
  { logNumber, previousLogNumber, lastSequence }: Manifest,
  pieces: (file: string) => Promise<Pieces>,
): AsyncGenerator<Damage, number> {
  let bytes = 0
  // LevelDB makes a log before its MANIFEST says so, and syncs the directory in between.
  if (logNumber > 0 && !logs.some((log) => parseInt(log) === logNumber)) {
    const file = `${String(logNumber).padStart(6, '0')}.log`
    yield { file, at: 0, reason: 'it is missing' }
  }
  // LevelDB reads no others, and deletes them.
  const wanted = logs.filter((log) => {
    const number = parseInt(log)
    return number >= logNumber || number === previousLogNumber
  })
  let torn: Damage | undefined
  let next: number | undefined
  for (const file of wanted.sort((a, b) => parseInt(a) - parseInt(b))) {
    const read = await pieces(file)
    bytes += read.bytes
    if (read.isEmpty) continue
    // A log is begun when all before it is durable, or with nothing in it.
    if (torn !== undefined) yield torn
    yield* read.damage
    torn = read.torn
    for (const record of read.records) {
      const { sequence, count } = headerOf(record)
      const isNext = next === undefined ? sequence <= lastSequence + 1 : sequence === next
      if (!isNext && read.damage.length === 0) {
        const reason = `operation ${sequence} follows ${(next ?? lastSequence + 1) - 1}`
        yield { file, at: record.at, reason }
      }
      next = sequence + count
    }
  }
  return bytes
}

/** The number of a batch's first operation, and how many there are. */
function headerOf({ fragments }: LogRecord): { sequence: number; count: number } {
  // Mostly the first fragment has it.
  const [first] = fragments
  const header = first && first.length >= 12 ? first : Buffer.concat(fragments)
  if (header.length < 12) return { sequence: NaN, count: 0 }
  const view = new DataView(header.buffer, header.byteOffset)
  return { sequence: Number(view.getBigUint64(0, true)), count: view.getUint32(8, true) }
}

/**
 * Of tables that are looked through. To read one takes one way through a thread at an opening, three where others are
 * served meanwhile; that is longer than to sum it: with two of them 420 tables took 400 ms, with five 200.
 */
const mostBuffers = 5
const buffersBytes = 16 * 1024 * 1024

/** `known`: of tables that were whole, to which `sums` gets all that are. */
async function* damageInTables(
  directory: string,
  names: ReadonlySet<string>,
  { tables }: Manifest,
  known: TableSums,
  sums: Map<string, number>,
  reading: Reading,
): AsyncGenerator<Damage> {
  const files = [...tables].map(([number, length]) => {
    const base = String(number).padStart(6, '0')
    return { file: names.has(`${base}.sst`) ? `${base}.sst` : `${base}.ldb`, length }
  })
  const longest = files.reduce((most, { length }) => Math.max(most, length), 0)
  const count = Math.max(2, Math.min(mostBuffers, Math.floor(buffersBytes / longest)))
  const buffers = files.slice(0, count).map(() => Buffer.allocUnsafeSlow(longest))
  const read = async (place: number): Promise<Uint8Array | Damage | undefined> => {
    const { file, length } = files[place] ?? {}
    if (file === undefined || length === undefined) return undefined
    if (!names.has(file)) return { file, at: 0, reason: 'it is missing' }
    const buffer = buffers[place % count]!.subarray(0, length)
    const table = await reading.fill(join(directory, file), buffer)
    if (table.length === length) return table
    return { file, at: table.length, reason: `it had ${length} bytes` }
  }
  const begun = (place: number) => {
    const table = read(place)
    // Its caller may never come back for it.
    table.catch(() => {})
    return table
  }
  // Others are read while one is looked at: into the buffer of the one before it, too.
  const ahead = Array.from({ length: count - 1 }, (_, place) => begun(place))
  for (const [place, { file }] of files.entries()) {
    ahead.push(begun(place + count - 1))
    const table = await ahead.shift()
    if (table === undefined) continue
    if (!(table instanceof Uint8Array)) {
      yield table
      continue
    }
    const sum = crc32(table)
    const damage = sum === known.get(file) ? undefined : tableDamage(table)
    if (damage === undefined) sums.set(file, sum)
    else yield { file, ...damage }
  }
}

function contentOf({ fragments }: LogRecord): Uint8Array {
  return fragments.length === 1 ? fragments[0]! : Buffer.concat(fragments)
}
