// The files of a store, read without LevelDB, which writes when it opens: every entry that can be
// read, whatever else is damaged. Nothing is changed, and nobody else may have the store open.

import { open, readFile, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Entry, PartitionName, Range, Storage } from '../../src/storage.js'
import { corrupt, unseal } from './checksum.js'
import { closingName } from './closing.js'
import { damageIn } from './damage.js'
import { translate } from './failures.js'
import { readLog } from './log-records.js'
import type { LogRecord } from './log-records.js'
import { readManifest } from './manifest.js'
import { chooseManifest } from './newest-manifest.js'
import { claimDirectory } from './open-directories.js'
import type { Claim } from './open-directories.js'
import { assertNobodyAnswers } from './owner-file.js'
import { PieceChecksums } from './piece-checksums.js'
import { decodeTagged } from './pointer.js'
import type { Pointer } from './pointer.js'
import { profiles } from './profiles.js'
import { TableReader } from './table-reader.js'
import type { LevelOperation } from './table-reader.js'
import { VarintReader } from './varints.js'

/** What is damaged of the files themselves. */
export interface FileDamage {
  readonly partition: PartitionName
  /** Under the location of the store. */
  readonly file: string
  /** Of the entry whose value it holds. */
  readonly key?: Uint8Array
  readonly message: string
}

const pageEntries = 1000
const pageBytes = 1024 * 1024

/** Tables whose index is held at a time. */
const maxHeldTables = 64

const names = Object.keys(profiles) as readonly PartitionName[]

export class LevelFiles {
  readonly partitions: Readonly<Record<PartitionName, FilesPartition>>
  /** False where a directory cannot be written: others may write to it while it is read. */
  readonly isTaken: boolean
  readonly #location: string
  readonly #claims: readonly Claim[]

  private constructor(
    location: string,
    partitions: LevelFiles['partitions'],
    claims: readonly Claim[],
    isTaken: boolean,
  ) {
    this.isTaken = isTaken
    this.#location = location
    this.partitions = partitions
    this.#claims = claims
  }

  /**
   * Takes the directories, as opening them would, as far as they can be written to.
   * @throws LorekeepError `LK_STORAGE_LOCKED`
   */
  static async open(location: string): Promise<LevelFiles> {
    const root = resolve(location)
    const claims: Claim[] = []
    let isTaken = true
    try {
      const opened: [PartitionName, FilesPartition][] = []
      for (const name of names) {
        const directory = join(root, name)
        const isThere = await exists(directory)
        const claim = isThere ? await claimIfWritable(directory) : undefined
        if (claim !== undefined) claims.push(claim)
        else if (isThere) isTaken = false
        opened.push([name, await FilesPartition.open(name, isThere ? directory : undefined)])
      }
      const partitions = Object.fromEntries(opened) as LevelFiles['partitions']
      return new LevelFiles(root, partitions, claims, isTaken)
    } catch (error) {
      for (const claim of claims) await claim.release()
      throw translate(error, root)
    }
  }

  /** What makes LevelBackend refuse to open. */
  async *damage(): AsyncGenerator<FileDamage> {
    for (const partition of names) {
      const directory = join(this.#location, partition)
      if (!(await exists(directory))) continue
      for await (const { file, at, reason } of damageIn(directory)) {
        yield { partition, file: join(partition, file), message: `at byte ${at}: ${reason}` }
      }
    }
  }

  /** Files of values that are missing, or of another length than is said of them. Reads none. */
  async *valueDamage(signal?: AbortSignal): AsyncGenerator<FileDamage> {
    for (const partition of names) {
      yield* this.partitions[partition].valueDamage(signal)
    }
  }

  async close(): Promise<void> {
    for (const claim of this.#claims) await claim.release()
  }
}

const readOnlyCodes = new Set(['EROFS', 'EACCES', 'EPERM'])

/** `undefined` where the directory cannot be written to from here, and nobody is known to have it. */
async function claimIfWritable(directory: string): Promise<Claim | undefined> {
  try {
    return await claimDirectory(directory)
  } catch (error) {
    const { code } = ((error as Error).cause ?? {}) as { code?: unknown }
    if (!readOnlyCodes.has(String(code))) throw error
    await assertNobodyAnswers(directory)
    return undefined
  }
}

/** The newest operation on each key, over all files. */
class FilesPartition implements Pick<Storage, 'get' | 'getMany' | 'scan'> {
  readonly #name: PartitionName
  readonly #directory: string | undefined
  /** Of the logs, sorted as a table is. */
  readonly #recent: readonly LevelOperation[]
  /** By their first key. */
  readonly #tables: readonly TablePlace[]
  readonly #held = new Set<TableReader>()

  private constructor(
    name: PartitionName,
    directory: string | undefined,
    recent: readonly LevelOperation[],
    tables: readonly TablePlace[],
  ) {
    this.#name = name
    this.#directory = directory
    this.#recent = recent
    this.#tables = tables
  }

  static async open(name: PartitionName, directory: string | undefined): Promise<FilesPartition> {
    if (directory === undefined) return new FilesPartition(name, undefined, [], [])
    const files = await readdir(directory)
    const manifest = await manifestOf(directory)
    const numbered = (pattern: RegExp) =>
      files.flatMap((file) => {
        const number = Number(pattern.exec(file)?.[1] ?? NaN)
        return Number.isNaN(number) ? [] : [{ file, number }]
      })
    // Where it is not known which files count, all do: what is in them was written.
    const logs = numbered(/^(\d+)\.log$/).filter(({ number }) => {
      if (manifest === undefined) return true
      return number >= manifest.logNumber || number === manifest.previousLogNumber
    })
    const recent: LevelOperation[] = []
    for (const { file } of logs) {
      // One by one: a call takes some hundred thousand arguments at most.
      for (const operation of operationsIn(await readFile(join(directory, file)))) {
        recent.push(operation)
      }
    }
    recent.sort(compareOperations)
    const tables: TablePlace[] = []
    for (const { file, number } of numbered(/^(\d+)\.(?:ldb|sst)$/)) {
      if (manifest !== undefined && !manifest.tables.has(number)) continue
      const reader = new TableReader(join(directory, file), manifest?.tables.get(number))
      const range = await reader.range()
      reader.forget()
      if (range !== undefined) tables.push({ reader, ...range })
    }
    tables.sort((a, b) => Buffer.compare(a.first, b.first))
    return new FilesPartition(name, directory, recent, tables)
  }

  async *valueDamage(signal?: AbortSignal): AsyncGenerator<FileDamage> {
    const partition = this.#name
    if (this.#directory === undefined) return
    const values = join(this.#directory, 'values')
    if (!this.#isTagged && !(await exists(values))) return
    for await (const { key, value: stored } of this.#newest({})) {
      signal?.throwIfAborted()
      if (stored === undefined) continue
      let pointer: Uint8Array | Pointer
      try {
        pointer = this.#contentOf(key, stored)
      } catch (error) {
        const message = (error as Error).message
        yield { partition, file: join(partition, 'values'), key, message }
        continue
      }
      if (pointer instanceof Uint8Array) continue
      const { name } = pointer
      const message = await lengthDamage(join(values, name), pointer)
      if (message === undefined) continue
      yield { partition, file: join(partition, 'values', name), key, message }
    }
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    for await (const { value } of this.#newest({ gte: key, lte: key })) {
      return value && this.#decode(key, value)
    }
    return undefined
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const values: (Uint8Array | undefined)[] = []
    for (const key of keys) values.push(await this.get(key))
    return values
  }

  async *scan(range: Range): AsyncGenerator<readonly Entry[]> {
    if (range.reverse === true) {
      yield* this.#reversed(range)
      return
    }
    const { keysOnly = false, limit = Infinity } = range
    let page: Entry[] = []
    let bytes = 0
    let left = limit
    if (left === 0) return
    for await (const { key, value } of this.#newest(range)) {
      if (value === undefined) continue
      let decoded: Uint8Array
      try {
        decoded = keysOnly ? new Uint8Array(0) : await this.#decode(key, value)
      } catch (error) {
        // What comes before it is given out first.
        if (page.length > 0) yield page
        throw error
      }
      page.push({ key: new Uint8Array(key), value: decoded })
      bytes += key.length + decoded.length
      left--
      if (page.length < pageEntries && bytes < pageBytes && left > 0) continue
      yield page
      if (left === 0) return
      page = []
      bytes = 0
    }
    if (page.length > 0) yield page
  }

  /** Short ranges: all of it is read. */
  async *#reversed({ reverse: _, limit = Infinity, ...range }: Range): AsyncGenerator<Entry[]> {
    const keys: Uint8Array[] = []
    for await (const { key, value } of this.#newest(range)) {
      if (value !== undefined) keys.push(new Uint8Array(key))
    }
    for (const key of keys.reverse().slice(0, limit)) {
      const value = range.keysOnly === true ? undefined : await this.get(key)
      yield [{ key, value: value ?? new Uint8Array(0) }]
    }
  }

  async #decode(key: Uint8Array, stored: Uint8Array): Promise<Uint8Array> {
    const value = this.#contentOf(key, stored)
    if (value instanceof Uint8Array) return new Uint8Array(value)
    let bytes: Uint8Array
    try {
      bytes = await readPart(join(this.#directory ?? '', 'values', value.name), value)
    } catch (cause) {
      throw corrupt(this.#name, key, cause)
    }
    const checksums = await PieceChecksums.load()
    const isIt = bytes.length === value.length && checksums.areWhole(key, bytes, value.checksums)
    if (isIt) return bytes
    throw corrupt(this.#name, key)
  }

  /** Usually. */
  get #isTagged(): boolean {
    return profiles[this.#name].separateBytes !== undefined
  }

  /**
   * What profile it was written with is not known. Their checksums tell apart values with and without tags.
   * @throws LorekeepError `LK_STORAGE_CORRUPT`
   */
  #contentOf(key: Uint8Array, stored: Uint8Array): Uint8Array | Pointer {
    const forms = [unseal, decodeTagged] as const
    const [usual, other] = this.#isTagged ? [forms[1], forms[0]] : forms
    try {
      return usual(this.#name, key, stored)
    } catch (error) {
      try {
        return other(this.#name, key, stored)
      } catch {
        throw error
      }
    }
  }

  /** The newest operation on each key of a range, in the order of the keys. */
  async *#newest(range: Range): AsyncGenerator<LevelOperation> {
    const from = range.gte ?? range.gt
    const isPast = (key: Uint8Array) =>
      (range.lt !== undefined && Buffer.compare(key, range.lt) >= 0) ||
      (range.lte !== undefined && Buffer.compare(key, range.lte) > 0)
    const isBefore = (key: Uint8Array) =>
      (range.gt !== undefined && Buffer.compare(key, range.gt) <= 0) ||
      (range.gte !== undefined && Buffer.compare(key, range.gte) < 0)
    const waiting = this.#tables.filter(
      ({ first, last }) =>
        !isPast(first) && (from === undefined || Buffer.compare(last, from) >= 0),
    )
    const cursors: Cursor[] = []
    const recent = new Cursor(recentFrom(this.#recent, from))
    if (await recent.step()) cursors.push(recent)
    let last: Uint8Array | undefined
    for (let next = 0; ;) {
      let least = leastOf(cursors)
      for (; next < waiting.length; next++) {
        const { first, reader } = waiting[next] as TablePlace
        if (least !== undefined && Buffer.compare(first, least.operation.key) > 0) break
        this.#hold(reader)
        const cursor = new Cursor(reader.from(from))
        if (await cursor.step()) cursors.push(cursor)
        least = leastOf(cursors)
      }
      if (least === undefined) return
      const { operation } = least
      if (isPast(operation.key)) return
      if (!(await least.step())) cursors.splice(cursors.indexOf(least), 1)
      // Of one key the newest comes first.
      if (last !== undefined && Buffer.compare(last, operation.key) === 0) continue
      last = operation.key
      if (!isBefore(operation.key)) yield operation
    }
  }

  #hold(reader: TableReader): void {
    this.#held.delete(reader)
    this.#held.add(reader)
    if (this.#held.size <= maxHeldTables) return
    const [oldest] = this.#held
    if (oldest === undefined) return
    this.#held.delete(oldest)
    oldest.forget()
  }
}

interface TablePlace {
  readonly reader: TableReader
  readonly first: Uint8Array
  readonly last: Uint8Array
}

/** A place among the operations of one source. */
class Cursor {
  readonly #source: AsyncIterator<readonly LevelOperation[]>
  #operations: readonly LevelOperation[] = []
  #at = -1

  constructor(source: AsyncIterable<readonly LevelOperation[]>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** Where step() has led. */
  get operation(): LevelOperation {
    return this.#operations[this.#at] as LevelOperation
  }

  /** False at the end. */
  async step(): Promise<boolean> {
    if (++this.#at < this.#operations.length) return true
    const { done, value } = await this.#source.next()
    if (done === true) return false
    this.#operations = value
    this.#at = 0
    return true
  }
}

function leastOf(cursors: readonly Cursor[]): Cursor | undefined {
  let least = cursors[0]
  for (const cursor of cursors) {
    if (least !== undefined && compareOperations(cursor.operation, least.operation) < 0) {
      least = cursor
    }
  }
  return least
}

async function* recentFrom(operations: readonly LevelOperation[], from: Uint8Array | undefined) {
  let low = 0
  let high = from === undefined ? 0 : operations.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (Buffer.compare((operations[middle] as LevelOperation).key, from as Uint8Array) < 0)
      low = middle + 1
    else high = middle
  }
  if (low < operations.length) yield operations.slice(low)
}

function compareOperations(a: LevelOperation, b: LevelOperation): number {
  return Buffer.compare(a.key, b.key) || b.sequence - a.sequence
}

/** `undefined` where it is not known which files count. */
async function manifestOf(directory: string) {
  try {
    const names = await readdir(directory)
    const closed = names.includes(closingName)
    const choice = closed ? undefined : await chooseManifest(directory, names)
    const name = choice?.name ?? (await readFile(join(directory, 'CURRENT'), 'latin1')).trimEnd()
    const bytes = await readFile(join(directory, name))
    const pieces = [...readLog(bytes.subarray(0, choice?.end))]
    const records = pieces.filter((piece) => piece.type === 'record')
    // A torn tail was acknowledged by nobody.
    if (pieces.slice(0, -1).some((piece) => piece.type === 'damage')) return undefined
    return readManifest(records.map(contentOf))
  } catch {
    return undefined
  }
}

/** What is whole of a log. */
function* operationsIn(log: Uint8Array): Generator<LevelOperation> {
  for (const piece of readLog(log)) {
    if (piece.type !== 'record') continue
    const batch = contentOf(piece)
    if (batch.length < 12) continue
    const view = new DataView(batch.buffer, batch.byteOffset, batch.length)
    let sequence = Number(view.getBigUint64(0, true))
    const reader = new VarintReader(batch, 12)
    while (!reader.done) {
      const [kind] = reader.take(1)
      const key = reader.bytes()
      yield { key, sequence: sequence++, value: kind === 0 ? undefined : reader.bytes() }
    }
  }
}

function contentOf({ fragments }: LogRecord): Uint8Array {
  return fragments.length === 1 ? (fragments[0] as Uint8Array) : Buffer.concat(fragments)
}

/** As much as is there. */
async function readPart(path: string, { offset, length }: Pointer): Promise<Uint8Array> {
  await using file = await open(path, 'r')
  const buffer = Buffer.allocUnsafeSlow(length)
  let at = 0
  while (at < length) {
    const { bytesRead } = await file.read(buffer, at, length - at, offset + at)
    if (bytesRead === 0) break
    at += bytesRead
  }
  return buffer.subarray(0, at)
}

async function lengthDamage(
  path: string,
  { offset, length, values }: Pointer,
): Promise<string | undefined> {
  try {
    const { size } = await stat(path)
    if (values > 1) {
      const end = offset + length
      return size >= end ? undefined : `it has ${size} bytes, and had ${end} or more`
    }
    return size === length ? undefined : `it has ${size} bytes, and had ${length}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'it is missing'
    return `it cannot be looked at: ${(error as Error).message}`
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
