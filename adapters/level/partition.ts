// A partition: one LevelDB directory. Reads are here; writes go through the queue.

import {
  after,
  assertBytes,
  assertKey,
  assertLimit,
  assertOperations,
  assertPreconditions,
  copyBounds,
} from '../arguments.js'
import { join } from 'node:path'
import { LorekeepError } from '../../src/errors.js'
import type { Entry, Operation } from '../../src/storage.js'
import type { Range, Storage, WriteOptions } from '../../src/storage.js'
import { unseal } from './checksum.js'
import { Engine } from './engine.js'
import { translate } from './failures.js'
import type { Claim } from './open-directories.js'
import { removeOrphans } from './orphans.js'
import type { Named } from './orphans.js'
import { decodeTagged, pointerBytes } from './pointer.js'
import type { Pointer } from './pointer.js'
import type { Profile } from './profiles.js'
import { Reclaiming } from './reclaiming.js'
import { ValueFiles } from './value-files.js'
import type { ValueFilesOptions } from './value-files.js'
import { WriteQueue } from './write-queue.js'

interface Page {
  readonly entries: readonly Entry[]
  /** Nothing lies behind this page. */
  readonly last: boolean
}

const nothing = new Uint8Array(0)

// The first rows of a page that may be of pointers; twice as many each time. Each step is a way through a thread: so few
// as two steps would take are read at once.
const firstRows = 8

export class LevelPartition implements Storage {
  readonly #name: string
  readonly #profile: Profile
  readonly #claim: Claim
  readonly #engine: Engine
  readonly #queue: WriteQueue
  readonly #files: ValueFiles | undefined
  readonly #reclaiming: Reclaiming
  /**
   * Scan pages being read: a page is two reads, and close() may not fall between them. Where there
   * are value files, all reads: a replaced file stays as long as a read may follow its pointer.
   */
  readonly #reads: Set<Promise<unknown>>
  #closing: Promise<void> | undefined

  private constructor(
    name: string,
    profile: Profile,
    claim: Claim,
    engine: Engine,
    { files, named }: PartitionFiles,
    reads: Set<Promise<unknown>>,
  ) {
    this.#name = name
    this.#profile = profile
    this.#claim = claim
    this.#engine = engine
    this.#files = files
    this.#reads = reads
    const { maxGroupBytes, reclaimBytes } = profile
    const onBatch = (bytes: number) => this.#reclaiming.wrote(bytes)
    this.#queue = new WriteQueue({ partition: name, engine, maxGroupBytes, files, named, onBatch })
    this.#reclaiming = new Reclaiming({
      engine,
      leastBytes: reclaimBytes,
      isWriting: () => this.#queue.isWriting,
      write: (operations) => this.#queue.write(operations, undefined, measure(operations)),
    })
  }

  /** Lets the claim go where it fails. */
  static async open(name: string, claim: Claim, profile: Profile): Promise<LevelPartition> {
    let opening: Promise<FoundFiles> | undefined
    let engine: Engine | undefined
    try {
      const reads = new Set<Promise<unknown>>()
      const { separateBytes } = profile
      if (separateBytes !== undefined) {
        const directory = join(claim.path, 'values')
        // First: opening the engine makes the name of their folder durable.
        await ValueFiles.makeDirectory(directory)
        const assertHeld = () => claim.assertHeld()
        opening = findFiles({ partition: name, directory, separateBytes, reads, assertHeld })
        opening.catch(() => {})
      }
      engine = await Engine.open(claim, profile)
      const found = await opening
      const files = found?.files
      const named = found && (await removeOrphans(name, engine.level, found.files, found.names))
      await claim.named
      return new LevelPartition(name, profile, claim, engine, { files, named }, reads)
    } catch (error) {
      // The first error counts; whatever becomes of the engine, the directory is let go.
      await opening?.then(({ files }) => files.close()).catch(() => undefined)
      await engine?.close().catch(() => undefined)
      await claim.release()
      throw error
    }
  }

  /** True from the call of close(). */
  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** Native batches written so far; many requests share one. */
  get batches(): number {
    return this.#queue.batches
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#assertOpen()
    assertKey(key)
    return this.#files ? this.#tracked(this.#get(key)) : this.#get(key)
  }

  async getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    this.#assertOpen()
    assertKey(key)
    assertBytes(from, to)
    return this.#files
      ? this.#tracked(this.#getBytes(key, from, to))
      : this.#getBytes(key, from, to)
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen()
    for (const key of keys) assertKey(key)
    return this.#files ? this.#tracked(this.#getMany(keys)) : this.#getMany(keys)
  }

  // Not an async generator: its body would first run on next(), and the first page would then
  // hold writes made after scan() was called.
  scan(range: Range): AsyncIterable<readonly Entry[]> {
    assertLimit(range.limit)
    const bounds = copyBounds(range)
    return this.#pages(bounds, this.#readPage(bounds))
  }

  write(operations: readonly Operation[], options: WriteOptions = {}): Promise<void> {
    try {
      this.#assertOpen()
      const { require, together } = options
      if (require !== undefined) assertPreconditions(require)
      const { separateBytes } = this.#profile
      assertOperations(operations)
      const bytes = measure(operations, separateBytes)
      return this.#queue.write(operations, require, bytes, together)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    try {
      await this.#queue.drained()
      await this.#reclaiming.close()
      await Promise.allSettled(this.#reads)
      await this.#files?.close()
      await this.#engine.close()
    } catch (error) {
      throw translate(error, this.#engine.path)
    } finally {
      await this.#claim.release()
    }
  }

  // Takes its state before it first waits.
  async #get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const stored = await this.#stored(key)
    return stored && this.#resolve(key, stored)
  }

  async #getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    const stored = await this.#stored(key)
    if (stored === undefined) return undefined
    if (stored instanceof Uint8Array) return stored.subarray(from, to)
    return this.#files!.readBytes(key, stored, from, to)
  }

  async #stored(key: Uint8Array): Promise<Uint8Array | Pointer | undefined> {
    const { level } = this.#engine
    let stored: Uint8Array | undefined
    try {
      stored = this.#profile.readInPlace ? level.getSync(key) : await level.get(key)
    } catch (error) {
      throw translate(error, this.#engine.path)
    }
    return stored && this.#decode(key, stored)
  }

  // Not a loop over getSync: a batch is written meanwhile, and half of it could be seen. The
  // engine's getMany reads one snapshot.
  async #getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    const { level } = this.#engine
    const [key] = keys
    let stored: (Uint8Array | undefined)[]
    try {
      // One alone needs no snapshot, and no thread to be woken.
      if (this.#profile.readInPlace && key !== undefined && keys.length === 1) {
        stored = [level.getSync(key)]
      } else stored = await level.getMany(keys as Uint8Array[])
    } catch (error) {
      throw translate(error, this.#engine.path)
    }
    const values = stored.map((bytes, index) => bytes && this.#decode(keys[index]!, bytes))
    return all(values.map((value, index) => value && this.#resolve(keys[index]!, value)))
  }

  #decode(key: Uint8Array, stored: Uint8Array): Uint8Array | Pointer {
    if (this.#files === undefined) return unseal(this.#name, key, stored)
    return decodeTagged(this.#name, key, stored)
  }

  #resolve(key: Uint8Array, value: Uint8Array | Pointer): Uint8Array | Promise<Uint8Array> {
    // Pointers come only from partitions with files.
    return value instanceof Uint8Array ? value : this.#files!.read(key, value)
  }

  #tracked<Result>(read: Promise<Result>): Promise<Result> {
    this.#reads.add(read)
    // Also marks a failure as handled: the caller of scan() may never iterate.
    const done = () => this.#reads.delete(read)
    read.then(done, done)
    return read
  }

  async *#pages(range: Range, first: Promise<Page>): AsyncGenerator<readonly Entry[]> {
    let { limit = Infinity } = range
    for (let page = await first; ; page = await this.#readPage(range)) {
      const { entries, last } = page
      const final = entries.at(-1)
      if (final === undefined) return
      // Copied before the page is handed out: the caller may change what it gets.
      range = after(range, new Uint8Array(final.key), (limit -= entries.length))
      yield entries
      if (last || limit === 0) return
    }
  }

  #readPage(range: Range): Promise<Page> {
    return this.#tracked(this.#readPageOnce(range))
  }

  // One page, one iterator: LevelDB returns wrong data through an iterator that stays open over
  // many writes (leveldb #320). Called synchronously by scan(): the iterator's snapshot is taken
  // before this function first waits.
  async #readPageOnce(range: Range): Promise<Page> {
    this.#assertOpen()
    const { pageEntries, pageBytes } = this.#profile
    const { reverse = false, keysOnly = false, limit = Infinity } = range
    if (limit === 0) return { entries: [], last: true }
    const { level, path } = this.#engine
    const size = Math.min(limit, pageEntries)
    const bounds = tightest(range)
    // Rows do not show how much their pointers stand for, so a few are taken first.
    let step = this.#files && !keysOnly && size > 2 * firstRows ? firstRows : size
    let bytes = 0
    let ended = false
    const found: { readonly key: Uint8Array; readonly value: Uint8Array | Pointer }[] = []
    try {
      const iterator = level.iterator({
        ...bounds,
        reverse,
        values: !keysOnly,
        highWaterMarkBytes: pageBytes,
        fillCache: false,
      })
      try {
        while (!ended && found.length < size && bytes <= pageBytes) {
          const asked = Math.min(step, size - found.length)
          const rows: [Uint8Array, Uint8Array | undefined][] = await iterator.nextv(asked)
          let read = 0
          for (const [key, stored = nothing] of rows) {
            // The next page begins with the rest.
            if (this.#files && bytes > pageBytes) break
            const value = keysOnly ? nothing : this.#decode(key, stored)
            bytes += key.length + (value instanceof Uint8Array ? stored.length : value.length)
            read += key.length + stored.length
            found.push({ key, value })
          }
          // Fewer than asked for: the end, or enough bytes.
          ended = rows.length < asked && read <= pageBytes && bytes <= pageBytes
          step *= 2
        }
      } finally {
        await iterator.close()
      }
    } catch (error) {
      throw translate(error, path)
    }
    if (!ended) await this.#assertReadable(bounds, reverse, found.at(-1)!.key)
    const entries = await all(
      found.map(({ key, value }): Entry | Promise<Entry> => {
        const resolved = this.#resolve(key, value)
        if (resolved instanceof Uint8Array) return { key, value: resolved }
        return resolved.then((value) => ({ key, value }))
      }),
    )
    return { entries, last: ended }
  }

  // A block that cannot be read is skipped by LevelDB's iterators, and the binding reports it
  // only where the iterator reaches its end. A full page stops before that, so what it covers is
  // walked once more to its end, without taking keys or values out (a tenth of the page's
  // cost for keys only, lost in the noise with values).
  async #assertReadable(bounds: Bounds, reverse: boolean, last: Uint8Array): Promise<void> {
    const { level, path } = this.#engine
    try {
      const { gte, gt, lte, lt } = bounds
      const iterator = level.iterator({
        ...(reverse
          ? { ...(lte && { lte }), ...(lt && { lt }), gte: last }
          : { ...(gte && { gte }), ...(gt && { gt }), lte: last }),
        reverse,
        keys: false,
        values: false,
        fillCache: false,
      })
      try {
        await iterator.nextv(1)
      } finally {
        await iterator.close()
      }
    } catch (error) {
      throw translate(error, path)
    }
  }

  #assertOpen(): void {
    if (this.#closing !== undefined) throw new LorekeepError('LK_CLOSED')
  }
}

interface PartitionFiles {
  readonly files: ValueFiles | undefined
  readonly named: Named | undefined
}

interface FoundFiles {
  readonly files: ValueFiles
  /** Of all. */
  readonly names: Set<string>
}

async function findFiles(options: ValueFilesOptions): Promise<FoundFiles> {
  const files = await ValueFiles.open(options)
  try {
    return { files, names: await files.list() }
  } catch (error) {
    await files.close()
    throw error
  }
}

/**
 * Waits for all, also where one fails: a read that went on unseen would lose its file. Makes no
 * promises where there is nothing to wait for.
 */
async function all<Value>(values: readonly (Value | Promise<Value>)[]): Promise<Value[]> {
  if (!values.some((value) => value instanceof Promise)) return values as Value[]
  await Promise.allSettled(values)
  return Promise.all(values)
}

type Bounds = Pick<Range, 'gte' | 'gt' | 'lte' | 'lt'>

/** One bound a side: the binding ignores `gt` next to `gte`, and `lt` next to `lte`. */
function tightest({ gte, gt, lte, lt }: Range): Bounds {
  return {
    ...(gte && !(gt && Buffer.compare(gt, gte) >= 0) ? { gte } : gt && { gt }),
    ...(lte && !(lt && Buffer.compare(lt, lte) <= 0) ? { lte } : lt && { lt }),
  }
}

/** The size in LevelDB of the operations of a write. */
function measure(operations: readonly Operation[], separateBytes = Infinity): number {
  let bytes = 0
  for (const operation of operations) {
    bytes += operation.key.length
    if (operation.type === 'del') continue
    const { length } = operation.value
    bytes += length >= separateBytes ? pointerBytes(length) : length
  }
  return bytes
}
