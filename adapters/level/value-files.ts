// Large values, in files: LevelDB writes a value twice (log and table) and maps what it reads, a file is
// written once and read without a map. The file is durable before a pointer is written and outlives all
// of them, so what a crash leaves is only ever a file that no pointer names.
//
// Each value has a file of its own, but for those that will be deleted together: to make a file and to
// sync it takes as long as to write a mebibyte or more into it.

import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  fdatasync,
  open,
  openSync,
  read,
  readSync,
  writev,
} from 'node:fs'
import { mkdir, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Operation } from '../../src/storage.js'
import { corrupt } from './checksum.js'
import { translate } from './failures.js'
import { FileNames } from './file-names.js'
import { PieceChecksums, pieceBytes, pieces } from './piece-checksums.js'
import type { Pointer } from './pointer.js'

export interface ValueFilesOptions {
  readonly partition: string
  readonly directory: string
  /** Values of at least this length get a file. */
  readonly separateBytes: number
  /** Reads that may still follow a pointer that was replaced meanwhile. */
  readonly reads: ReadonlySet<Promise<unknown>>
  /** Throws where the directory is not the owner's any more. */
  readonly assertHeld: () => void
}

/**
 * Values of one write that are deleted together share a file up to so many bytes: twice as much is no faster, and
 * what is dead in it stays until all of it is.
 */
const sharedBytes = 4 * 1024 * 1024

/**
 * One call writes at most so many. Of 2 MiB and more in one call a recent Linux makes pieces as large in the page cache,
 * and where a virtual machine gives free memory back to its host it is such pieces that have to be fetched again, at 2.5 s a
 * GiB: an import of 2 GiB took 6.7 s with calls of 4 MiB, 5.7 with these, and 4.5 with either where the memory was there.
 */
const callBytes = 1024 * 1024

/**
 * On Linux the one call that writes a short file syncs it, as fdatasync() would: with a call for that, loads of 200
 * documents took 8 % longer. Elsewhere the flag may mean less, as on macOS, or is not there.
 */
const { O_WRONLY, O_CREAT, O_EXCL, O_DSYNC } = constants
const syncedFlags = process.platform === 'linux' ? O_WRONLY | O_CREAT | O_EXCL | O_DSYNC : undefined

const maxWrites = 8
const maxReads = 4
const maxUnlinks = 2

const fileName = /^[0-9a-f]{24}$/

// Not FileHandles: those leave an object each for the garbage collector. Reads open and close on
// the calling thread (some 10 us), and writes close there what is synced: three turns of a busy event
// loop per value made exports a fifth slower (1,770 against 2,150 MB/s).
const openFile = promisify(open)
const syncFile = promisify(fdatasync)

// Not by promisify(): that they have two results is known to Node's alone. Deno's gives the first of them by itself.
/** Resolves to how many bytes were read. */
function readFile(
  file: number,
  buffer: Buffer,
  at: number,
  length: number,
  position: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    read(file, buffer, at, length, position, (error, bytes) => {
      if (error) reject(error)
      else resolve(bytes)
    })
  })
}

/** Resolves to how many bytes were written. */
function writeFile(file: number, values: readonly Uint8Array[], at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    writev(file, values, at, (error, bytes) => {
      if (error) reject(error)
      else resolve(bytes)
    })
  })
}

export class ValueFiles {
  readonly separateBytes: number
  readonly checksums: PieceChecksums
  readonly #partition: string
  readonly #directory: string
  readonly #reads: ReadonlySet<Promise<unknown>>
  readonly #assertHeld: () => void
  readonly #names: FileNames
  readonly #writes = new Slots(maxWrites)
  readonly #readSlots = new Slots(maxReads)
  readonly #unlinks = new Slots(maxUnlinks)
  readonly #background = new Set<Promise<unknown>>()

  private constructor(options: ValueFilesOptions, checksums: PieceChecksums, names: FileNames) {
    this.separateBytes = options.separateBytes
    this.checksums = checksums
    this.#partition = options.partition
    this.#directory = options.directory
    this.#reads = options.reads
    this.#assertHeld = options.assertHeld
    this.#names = names
  }

  /** Creates the directory where it does not exist. Its name is for the caller to make durable. */
  static async makeDirectory(directory: string): Promise<void> {
    try {
      // In place, as all that an opening asks of names (reading.ts).
      if (!existsSync(directory)) await mkdir(directory, { recursive: true })
    } catch (error) {
      throw translate(error, directory)
    }
  }

  /** The directory is there. */
  static async open(options: ValueFilesOptions): Promise<ValueFiles> {
    const { directory } = options
    const checksums = await PieceChecksums.load()
    try {
      return new ValueFiles(options, checksums, await FileNames.open(directory))
    } catch (error) {
      throw translate(error, directory)
    }
  }

  separates(operation: Operation): boolean {
    return operation.type === 'put' && operation.value.length >= this.separateBytes
  }

  /**
   * Starts to write the large values of a request; `undefined` where it has none. `together`: they will be deleted
   * together.
   */
  begin(operations: readonly Operation[], together: boolean): RequestFiles | undefined {
    if (!operations.some((operation) => this.separates(operation))) return undefined
    return new RequestFiles(this, this.#names, operations, together)
  }

  /**
   * Writes one file of values, one behind the other, from the caller's bytes as they lie there. It is durable then, and
   * so is its name unless a sync of names has failed.
   */
  write(name: string, values: readonly Uint8Array[], wanted: () => boolean): Promise<void> {
    return this.#writes.run(async () => {
      if (!wanted()) return
      this.#assertHeld()
      const isSynced = syncedFlags !== undefined && lengthOf(values) <= callBytes
      const file = await openFile(this.#path(name), isSynced ? syncedFlags : 'wx')
      const named = this.#names.sync()
      try {
        let at = 0
        for (let left = values; left.length > 0;) {
          const bytes = await writeFile(file, before(left, callBytes), at)
          if (bytes === 0) throw new Error('nothing was written')
          at += bytes
          left = behind(left, bytes)
        }
        if (!isSynced) await syncFile(file)
      } finally {
        closeSync(file)
        await named
      }
    })
  }

  /** The value a pointer names, or `LK_STORAGE_CORRUPT` where that is missing or damaged. */
  read(key: Uint8Array, pointer: Pointer): Promise<Uint8Array> {
    return this.#readPieces(key, pointer, 0, pointer.checksums.length)
  }

  /** The bytes [from, to) of it, as far as there are any. */
  async readBytes(
    key: Uint8Array,
    pointer: Pointer,
    from: number,
    to: number,
  ): Promise<Uint8Array> {
    const end = Math.min(to, pointer.length)
    if (from >= end) return new Uint8Array(0)
    const first = Math.floor(from / pieceBytes)
    const start = first * pieceBytes
    const last = pieces(end)
    const isShort = (last - first) * pieceBytes <= this.separateBytes
    const bytes = isShort
      ? this.#readInPlace(key, pointer, first, last)
      : await this.#readPieces(key, pointer, first, last)
    return bytes.subarray(from - start, end - start)
  }

  /**
   * As #readPieces(), on the calling thread: to wake another one takes ten times as long as to copy 16 KiB, and
   * values that are shorter than those in files are read so as well.
   */
  #readInPlace(key: Uint8Array, pointer: Pointer, first: number, last: number): Uint8Array {
    const from = first * pieceBytes
    const buffer = Buffer.allocUnsafeSlow(Math.min(last * pieceBytes, pointer.length) - from)
    const read = this.#readSync(key, pointer, buffer, from)
    return this.#checked(key, pointer, buffer, read, first)
  }

  /** Fills a buffer from a place of a value on; returns how many bytes there are. */
  #readSync(key: Uint8Array, pointer: Pointer, buffer: Buffer, from: number): number {
    const start = pointer.offset + from
    let at = 0
    try {
      const file = openSync(this.#path(pointer.name), 'r')
      try {
        while (at < buffer.length) {
          const bytesRead = readSync(file, buffer, at, buffer.length - at, start + at)
          if (bytesRead === 0) break
          at += bytesRead
        }
      } finally {
        closeSync(file)
      }
    } catch (error) {
      throw this.#readError(key, error)
    }
    return at
  }

  /** Its pieces [first, last). */
  #readPieces(key: Uint8Array, pointer: Pointer, first: number, last: number): Promise<Uint8Array> {
    return this.#readSlots.run(async () => {
      const from = first * pieceBytes
      const length = Math.min(last * pieceBytes, pointer.length) - from
      // Slow: the caller's own, not a part of the pool.
      const buffer = Buffer.allocUnsafeSlow(length)
      const start = pointer.offset + from
      let at = 0
      try {
        const file = openSync(this.#path(pointer.name), 'r')
        try {
          while (at < length) {
            const bytes = await readFile(file, buffer, at, length - at, start + at)
            if (bytes === 0) break
            at += bytes
          }
        } finally {
          closeSync(file)
        }
      } catch (error) {
        throw this.#readError(key, error)
      }
      return this.#checked(key, pointer, buffer, at, first)
    })
  }

  /** What was read of a value from its n-th piece on, of which so many bytes were there. */
  #checked(key: Uint8Array, pointer: Pointer, buffer: Buffer, read: number, n: number): Uint8Array {
    const isWhole =
      read === buffer.length && this.checksums.areWhole(key, buffer, pointer.checksums, n)
    if (!isWhole) {
      throw corrupt(this.#partition, key)
    }
    return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length)
  }

  /** Whether a pointer names these bytes. Reads the file only where length and checksums agree. */
  equals(key: Uint8Array, pointer: Pointer, value: Uint8Array): boolean {
    const { checksums, length } = pointer
    if (length !== value.length || !this.checksums.areWhole(key, value, checksums)) return false
    const buffer = Buffer.allocUnsafeSlow(length)
    this.#checked(key, pointer, buffer, this.#readSync(key, pointer, buffer, 0), 0)
    return Buffer.compare(buffer, value) === 0
  }

  /** Unlinks files in the background, once every read that is under way now has finished. */
  retire(retired: readonly string[]): void {
    if (retired.length === 0) return
    const reads = Promise.allSettled([...this.#reads])
    this.inBackground(reads.then(() => this.remove(retired)))
  }

  /** Work that close() waits for. */
  inBackground(work: Promise<unknown>): void {
    this.#background.add(work)
    void work.finally(() => this.#background.delete(work))
  }

  async remove(removed: readonly string[]): Promise<void> {
    const one = (name: string) =>
      // What cannot be removed, or not yet, the next open finds without a pointer.
      this.#unlinks.run(() => unlink(this.#path(name))).catch(() => undefined)
    await Promise.all(removed.map(one))
  }

  /** The names of all files. */
  async list(): Promise<Set<string>> {
    try {
      // Anything else in the directory is not ours to touch.
      return new Set((await readdir(this.#directory)).filter((name) => fileName.test(name)))
    } catch (error) {
      throw translate(error, this.#directory)
    }
  }

  async close(): Promise<void> {
    while (this.#background.size > 0) await Promise.allSettled(this.#background)
    await this.#names.close()
  }

  #path(name: string): string {
    return join(this.#directory, name)
  }

  #readError(key: Uint8Array, error: unknown): Error {
    return (error as { code?: unknown }).code === 'ENOENT'
      ? corrupt(this.#partition, key, error)
      : translate(error, this.#directory)
  }
}

/** The files of one request, while they are written and until its turn in the queue. */
export class RequestFiles {
  /** By the position of the operation. */
  readonly pointers: readonly (Pointer | undefined)[]
  /** Settles, never rejects, when the last byte was written and the buffers are free. */
  readonly settled: Promise<void>
  readonly #files: ValueFiles
  readonly #names: FileNames
  /** The names of those that it writes. */
  readonly #written: readonly string[]
  /** Syncs of names that had failed before it began. */
  readonly #nameFailures: number
  #isDiscarded = false
  #failure: { readonly error: unknown } | undefined
  #done = false

  constructor(
    files: ValueFiles,
    names: FileNames,
    operations: readonly Operation[],
    together: boolean,
  ) {
    this.#files = files
    this.#names = names
    this.#nameFailures = names.failures
    const pointers = new Array<Pointer | undefined>(operations.length).fill(undefined)
    const writes: Promise<void>[] = []
    const wanted = () => this.#failure === undefined && !this.#isDiscarded
    const failed = (error: unknown) => void (this.#failure ??= { error })
    for (const puts of sharersOf(files, operations, together)) {
      const name = newName()
      const written = puts.map(({ value }) => value)
      // Begun first: the checksums are made while it is being opened.
      writes.push(files.write(name, written, wanted).catch(failed))
      let offset = 0
      for (const { index, key, value } of puts) {
        const { length } = value
        const checksums = files.checksums.of(key, value)
        pointers[index] = { name, length, offset, values: puts.length, checksums }
        offset += length
      }
    }
    this.pointers = pointers
    this.#written = [...new Set(pointers.flatMap((pointer) => pointer?.name ?? []))]
    this.settled = Promise.all(writes).then(() => void (this.#done = true))
  }

  /** Whether `settled` is. */
  get done(): boolean {
    return this.#done
  }

  /** Why a file could not be written. */
  get failure(): { readonly error: unknown } | undefined {
    return this.#failure
  }

  /** Throws where the name of one of its files may be lost. */
  assertNamed(): void {
    this.#names.assertDurable(this.#nameFailures)
  }

  /** Removes the files, which no pointer names. Resolves when the caller's bytes are free. */
  discard(): Promise<void> {
    this.#isDiscarded = true
    const freed = this.settled.then(() =>
      this.#files.inBackground(this.#files.remove(this.#written)),
    )
    // close() must not come between the two.
    this.#files.inBackground(freed)
    return freed
  }
}

/** A value that gets into a file, and which operation brings it. */
interface LargePut {
  readonly index: number
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** The large values of a request, by the files that they get into. */
function sharersOf(
  files: ValueFiles,
  operations: readonly Operation[],
  together: boolean,
): readonly LargePut[][] {
  const sharers: LargePut[][] = []
  let bytes = Infinity
  for (const [index, operation] of operations.entries()) {
    if (operation.type !== 'put' || !files.separates(operation)) continue
    const { key, value } = operation
    bytes += value.length
    if (together && bytes <= sharedBytes) sharers.at(-1)?.push({ index, key, value })
    else {
      sharers.push([{ index, key, value }])
      bytes = value.length
    }
  }
  return sharers
}

/** What values begin with, of which there are some. */
export function before(values: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let left = bytes
  let n = 0
  for (; n < values.length && left > 0; n++) left -= (values[n] as Uint8Array).length
  const last = values[n - 1] as Uint8Array
  return left < 0 ? [...values.slice(0, n - 1), last.subarray(0, left)] : values.slice(0, n)
}

function lengthOf(values: readonly Uint8Array[]): number {
  return values.reduce((sum, { length }) => sum + length, 0)
}

/** What is left of values behind their first bytes. */
export function behind(values: readonly Uint8Array[], bytes: number): readonly Uint8Array[] {
  let from = bytes
  let n = 0
  for (; n < values.length && from >= (values[n] as Uint8Array).length; n++) {
    from -= (values[n] as Uint8Array).length
  }
  const [first, ...others] = values.slice(n)
  return first === undefined ? [] : [first.subarray(from), ...others]
}

/** So many things at a time, in the order they were asked for. */
class Slots {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

/** Milliseconds and random bytes, 6 of each. */
function newName(): string {
  return Date.now().toString(16).padStart(12, '0') + randomBytes(6).toString('hex')
}
