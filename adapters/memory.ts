// Keeps everything in memory: for tests and caches. Closing drops the data.

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
    return value && copy(value)
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    this.#assertOpen()
    return keys.map((key) => {
      assertKey(key)
      const value = this.#entries.get(key)
      return value && copy(value)
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
      if (operation.type === 'put') this.#entries.set(copy(operation.key), copy(operation.value))
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
      range = after(range, copy(final.key), (limit -= entries.length))
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
      entries.push({ key: copy(key), value: range.keysOnly ? nothing : copy(value) })
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

/** The rest of a range once `last` was given out. */
function after(range: Range, last: Uint8Array, limit: number): Range {
  const rest = { ...range, ...(limit !== Infinity && { limit }) }
  return range.reverse ? { ...rest, lt: last } : { ...rest, gt: last }
}

const compare = Buffer.compare

/** A plain Uint8Array; `slice()` of a Buffer would share its memory. */
function copy(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes)
}

function copyBounds(range: Range): Range {
  const bounds: { -readonly [K in keyof Range]: Range[K] } = { ...range }
  for (const name of ['gte', 'gt', 'lte', 'lt'] as const) {
    if (bounds[name] === undefined) delete bounds[name]
    else if (!(bounds[name] instanceof Uint8Array)) throw new TypeError('a bound must be bytes')
    else bounds[name] = copy(bounds[name])
  }
  return bounds
}

function assertOperations(operations: readonly Operation[]): void {
  for (const operation of operations) {
    assertKey(operation.key)
    if (operation.type === 'put') {
      if (!(operation.value instanceof Uint8Array)) throw new TypeError('a value must be bytes')
    } else if (operation.type !== 'del') {
      throw new TypeError("the type of an operation must be 'put' or 'del'")
    }
  }
}

function assertPreconditions(require: readonly Precondition[]): void {
  for (const precondition of require) {
    assertKey(precondition.key)
    if (precondition.type === 'equals') {
      if (!(precondition.value instanceof Uint8Array)) throw new TypeError('a value must be bytes')
    } else if (precondition.type !== 'absent') {
      throw new TypeError("the type of a precondition must be 'absent' or 'equals'")
    }
  }
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
