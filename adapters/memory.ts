// Keeps everything in memory: for tests and caches. Closing drops the data.

import {
  after,
  assertBytes,
  assertKey,
  assertLimit,
  assertOperations,
  assertPreconditions,
  copyBounds,
  copyOf,
} from './arguments.js'
import { LorekeepError } from '../src/errors.js'
import { SortedEntries } from '../src/sorted-entries.js'
import type {
  Backend,
  Entry,
  Operation,
  PartitionName,
  Precondition,
  Range,
  Storage,
  WriteOptions,
} from '../src/storage.js'

// The page limits of LevelBackend, so that a test on memory meets the same page edges.
const pageEntries = 1000
const pageBytes = 1024 * 1024

const nothing = new Uint8Array(0)

interface Page {
  readonly entries: readonly Entry[]
  /** Nothing lies behind this page. */
  readonly last: boolean
}

export class MemoryBackend implements Backend {
  readonly shared = false
  readonly #partitions = new Map<PartitionName, MemoryStorage>()
  #closed = false

  async open(partition: PartitionName): Promise<Storage> {
    if (this.#closed) throw new LorekeepError('LK_CLOSED')
    let storage = this.#partitions.get(partition)
    if (storage === undefined || storage.closed) {
      storage = new MemoryStorage()
      this.#partitions.set(partition, storage)
    }
    return storage
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const storage of this.#partitions.values()) await storage.close()
    this.#partitions.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}

// Every operation runs to its end when it is called, so each is atomic and there is never one
// under way for close() to wait for.
class MemoryStorage implements Storage {
  #entries = new SortedEntries<Uint8Array>()
  #closed = false

  get closed(): boolean {
    return this.#closed
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    this.#assertOpen()
    assertKey(key)
    const value = this.#entries.get(key)
    return value && copyOf(value)
  }

  async getBytes(key: Uint8Array, from: number, to: number): Promise<Uint8Array | undefined> {
    this.#assertOpen()
    assertKey(key)
    assertBytes(from, to)
    const value = this.#entries.get(key)
    return value && copyOf(value.subarray(from, to))
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen()
    return keys.map((key) => {
      assertKey(key)
      const value = this.#entries.get(key)
      return value && copyOf(value)
    })
  }

  // Not an async generator: its body would first run on next(), and the first page would then
  // hold writes made after scan() was called.
  scan(range: Range): AsyncIterable<readonly Entry[]> {
    assertLimit(range.limit)
    const bounds = copyBounds(range)
    const first = this.#closed ? undefined : this.#readPage(bounds)
    return this.#pages(bounds, first)
  }

  async write(operations: readonly Operation[], options: WriteOptions = {}): Promise<void> {
    this.#assertOpen()
    assertOperations(operations)
    const { require = [] } = options
    assertPreconditions(require)

    const failed = require.findIndex((precondition) => !this.#holds(precondition))
    if (failed !== -1) {
      throw new LorekeepError('LK_STORAGE_CONFLICT', `precondition ${failed} does not hold`, {
        details: { index: failed },
      })
    }
    for (const operation of operations) {
      if (operation.type === 'put')
        this.#entries.set(copyOf(operation.key), copyOf(operation.value))
      else this.#entries.delete(operation.key)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#entries = new SortedEntries<Uint8Array>()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async *#pages(range: Range, first: Page | undefined): AsyncGenerator<readonly Entry[]> {
    let { limit = Infinity } = range
    for (let page = first; ; page = this.#readPage(range)) {
      if (page === undefined) throw new LorekeepError('LK_CLOSED')
      const { entries, last } = page
      const final = entries.at(-1)
      if (final === undefined) return
      // Copied before the page is handed out: the caller may change what it gets.
      range = after(range, copyOf(final.key), (limit -= entries.length))
      yield entries
      if (last || limit === 0) return
      this.#assertOpen()
    }
  }

  #readPage(range: Range): Page {
    const entries: Entry[] = []
    const limit = Math.min(range.limit ?? Infinity, pageEntries)
    let bytes = 0
    if (limit === 0) return { entries, last: true }
    for (const [key, value] of this.#entries.between(range)) {
      entries.push({ key: copyOf(key), value: range.keysOnly ? nothing : copyOf(value) })
      bytes += key.length + (range.keysOnly ? 0 : value.length)
      if (entries.length === limit || bytes > pageBytes) return { entries, last: false }
    }
    return { entries, last: true }
  }

  #holds(precondition: Precondition): boolean {
    const value = this.#entries.get(precondition.key)
    if (precondition.type === 'absent') return value === undefined
    return value !== undefined && compare(value, precondition.value) === 0
  }

  #assertOpen(): void {
    if (this.#closed) throw new LorekeepError('LK_CLOSED')
  }
}

const compare = Buffer.compare
