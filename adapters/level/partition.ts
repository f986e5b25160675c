// A partition: one LevelDB directory. Reads are here; writes go through the queue.

import { LorekeepError } from '../../src/errors.js'
import type { Entry, Operation, Range, Storage, WriteOptions } from '../../src/storage.js'
import { unseal } from './checksum.js'
import { Engine } from './engine.js'
import { translate } from './failures.js'
import { claimDirectory } from './open-directories.js'
import type { Claim } from './open-directories.js'
import type { Profile } from './profiles.js'
import { Reclaimer } from './reclaimer.js'
import { WriteQueue } from './write-queue.js'

interface Page {
  readonly entries: readonly Entry[]
  /** Nothing lies behind this page. */
  readonly last: boolean
}

const nothing = new Uint8Array(0)

export class LevelPartition implements Storage {
  readonly #name: string
  readonly #profile: Profile
  readonly #claim: Claim
  readonly #engine: Engine
  readonly #queue: WriteQueue
  readonly #reclaimer: Reclaimer | undefined
  /** Scan pages being read: a page is two reads, and close() may not fall between them. */
  readonly #pagesUnderWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  private constructor(name: string, profile: Profile, claim: Claim, engine: Engine) {
    this.#name = name
    this.#profile = profile
    this.#claim = claim
    this.#engine = engine
    const { maxGroupBytes, reclaimAfterDeletes } = profile
    const reclaimer =
      reclaimAfterDeletes > 0 ? new Reclaimer(engine, reclaimAfterDeletes) : undefined
    this.#reclaimer = reclaimer
    this.#queue = new WriteQueue({
      partition: name,
      engine,
      maxGroupBytes,
      onDeleted: reclaimer && ((keys) => reclaimer.deleted(keys)),
    })
  }

  static async open(name: string, directory: string, profile: Profile): Promise<LevelPartition> {
    const claim = await claimDirectory(directory)
    try {
      return new LevelPartition(name, profile, claim, await Engine.open(claim.path, profile))
    } catch (error) {
      claim.release()
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
    const { level } = this.#engine
    let stored: Uint8Array | undefined
    try {
      stored = this.#profile.readInPlace ? level.getSync(key) : await level.get(key)
    } catch (error) {
      throw translate(error, this.#engine.path)
    }
    return stored && unseal(this.#name, key, stored)
  }

  // Not a loop over getSync: a batch is written meanwhile, and half of it could be seen. The
  // engine's getMany reads one snapshot.
  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen()
    for (const key of keys) assertKey(key)
    const { level } = this.#engine
    let stored: (Uint8Array | undefined)[]
    try {
      stored = await level.getMany(keys as Uint8Array[])
    } catch (error) {
      throw translate(error, this.#engine.path)
    }
    return stored.map((bytes, index) => bytes && unseal(this.#name, keys[index]!, bytes))
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
      const { require } = options
      if (require !== undefined) for (const { key } of require) assertKey(key)
      return this.#queue.write(operations, require, measure(operations))
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
      await Promise.allSettled(this.#pagesUnderWay)
      await this.#reclaimer?.close()
      await this.#engine.close()
    } catch (error) {
      throw translate(error, this.#engine.path)
    } finally {
      this.#claim.release()
    }
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
    const page = this.#readPageOnce(range)
    this.#pagesUnderWay.add(page)
    // Also marks a failure as handled: the caller may never iterate.
    const done = () => this.#pagesUnderWay.delete(page)
    page.then(done, done)
    return page
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
    let rows: [Uint8Array, Uint8Array | undefined][]
    try {
      const iterator = level.iterator({
        ...bounds,
        reverse,
        values: !keysOnly,
        highWaterMarkBytes: pageBytes,
        fillCache: false,
      })
      try {
        rows = await iterator.nextv(size)
      } finally {
        await iterator.close()
      }
    } catch (error) {
      throw translate(error, path)
    }

    let bytes = 0
    const entries = rows.map(([key, stored]): Entry => {
      bytes += key.length + (keysOnly ? 0 : stored!.length)
      return { key, value: keysOnly ? nothing : unseal(this.#name, key, stored!) }
    })
    const last = entries.length < size && bytes <= pageBytes
    if (!last) await this.#assertReadable(bounds, reverse, entries.at(-1)!.key)
    return { entries, last }
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

type Bounds = Pick<Range, 'gte' | 'gt' | 'lte' | 'lt'>

/** One bound a side: the binding ignores `gt` next to `gte`, and `lt` next to `lte`. */
function tightest({ gte, gt, lte, lt }: Range): Bounds {
  return {
    ...(gte && !(gt && Buffer.compare(gt, gte) >= 0) ? { gte } : gt && { gt }),
    ...(lte && !(lt && Buffer.compare(lt, lte) <= 0) ? { lte } : lt && { lt }),
  }
}

/** The rest of a range once `last` was given out. */
function after(range: Range, last: Uint8Array, limit: number): Range {
  const rest = { ...range, ...(limit !== Infinity && { limit }) }
  return range.reverse ? { ...rest, lt: last } : { ...rest, gt: last }
}

function copyBounds(range: Range): Range {
  const bounds: { -readonly [K in keyof Range]: Range[K] } = { ...range }
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    if (bounds[name] === undefined) delete bounds[name]
    else bounds[name] = new Uint8Array(bounds[name])
  }
  return bounds
}

/** Checks the operations of a write and returns their size. */
function measure(operations: readonly Operation[]): number {
  let bytes = 0
  for (const operation of operations) {
    assertKey(operation.key)
    bytes += operation.key.length
    if (operation.type === 'put') {
      if (!(operation.value instanceof Uint8Array)) throw new TypeError('a value must be bytes')
      bytes += operation.value.length
    } else if (operation.type !== 'del') {
      throw new TypeError("the type of an operation must be 'put' or 'del'")
    }
  }
  return bytes
}

function assertKey(key: Uint8Array): void {
  if (!(key instanceof Uint8Array) || key.length === 0) {
    throw new TypeError('a key must be one byte or more')
  }
}

function assertLimit(limit: number | undefined): void {
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 0)) {
    throw new TypeError('a limit must be a whole number, 0 or more')
  }
}
