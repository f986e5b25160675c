// One partition as of a moment, by copy on write: whoever writes afterwards first saves what lies
// under each of its keys, once. Reading takes what was saved, and the storage's own for the rest.

import { LorekeepError } from '../errors.js'
import { SortedEntries } from '../sorted-entries.js'
import type { Entry, Operation, Range, SnapshotView } from '../storage.js'
import type { SavedValue, SavedValues } from './saved-values.js'

/** What a key had: `undefined` was nothing, `pending` is being read, and still lies in the storage. */
type Saved = SavedValue | undefined | typeof pending

const pending = Symbol('pending')

/** As the pages of a storage. */
const pageEntries = 1000
const pageBytes = 1024 * 1024

/** How many values are read at once before they are saved: as many as came to about a mebibyte. */
const [firstStep, maxStep] = [4, 256]

const nothing = new Uint8Array(0)

export interface PartitionSnapshotParts {
  readonly storage: SnapshotView
  /** Resolves when every write of before the moment has settled. */
  readonly settled: Promise<unknown>
  readonly values: SavedValues
  /** Is told how many keys more, or fewer, are saved. */
  readonly onChange: (keys: number) => void
  /** Is told what makes the snapshot worthless. */
  readonly onFailure: (error: unknown) => void
}

export class PartitionSnapshot implements SnapshotView {
  readonly #parts: PartitionSnapshotParts
  #saved = new SortedEntries<{ value: Saved }>()
  #passed: Uint8Array | 'all' | undefined
  #step = firstStep
  #end: { readonly error: unknown } | undefined

  constructor(parts: PartitionSnapshotParts) {
    this.#parts = parts
  }

  /** From here on nothing is saved, and whoever reads gets this error. */
  end(error: unknown): void {
    this.#end ??= { error }
    this.#saved = new SortedEntries()
  }

  /**
   * To be called when a write is made, and awaited before it goes to the storage: the order of the
   * calls is the order of the writes. Never rejects: a snapshot that cannot be kept up ends, and the
   * write goes on.
   */
  async save(operations: readonly Operation[]): Promise<void> {
    if (this.#end !== undefined || this.#passed === 'all') return
    const keys: Uint8Array[] = []
    for (const { key } of operations) {
      // The storage will refuse it.
      if (!(key instanceof Uint8Array) || !this.#wants(key)) continue
      const own = Buffer.from(key)
      this.#saved.set(own, { value: pending })
      keys.push(own)
    }
    if (keys.length === 0) return
    try {
      this.#parts.onChange(keys.length)
      await this.#parts.settled
      await this.#read(keys)
    } catch (error) {
      this.#parts.onFailure(error)
    }
  }

  pass(key: Uint8Array | undefined): void {
    if (this.#end !== undefined) return
    const last = key === undefined ? undefined : new Uint8Array(key)
    this.#passed = last ?? 'all'
    const gone =
      last === undefined
        ? [...this.#saved.between({})].map(([, saved]) => saved)
        : this.#saved.deleteThrough(last)
    if (last === undefined) this.#saved = new SortedEntries()
    for (const { value } of gone) if (isKept(value)) this.#parts.values.forget(value)
    this.#parts.onChange(-gone.length)
  }

  async get(key: Uint8Array): Promise<Uint8Array | undefined> {
    const [value] = await this.getMany([key])
    return value
  }

  async getMany(keys: readonly Uint8Array[]): Promise<(Uint8Array | undefined)[]> {
    await this.#ready()
    const { storage, values } = this.#parts
    const current = await storage.getMany(keys)
    this.#check()
    // After the read: what a write has changed before it is saved by now.
    const saved = keys.map((key) => this.#saved.get(key))
    return Promise.all(
      saved.map((one, index) => {
        if (one === undefined || one.value === pending) return current[index]
        return one.value && values.read(one.value)
      }),
    )
  }

  async *scan(range: Range): AsyncGenerator<readonly Entry[]> {
    await this.#ready()
    const { limit = Infinity, ...bounds } = range
    if (limit === 0) return
    let rest: Range = bounds
    let left = limit
    // How many of its entries are older, or what is missing there, only shows in what was saved.
    for await (const page of this.#parts.storage.scan(bounds)) {
      const last = new Uint8Array(page.at(-1)!.key)
      const covered = range.reverse ? { ...rest, gte: last } : { ...rest, lte: last }
      for await (const entries of this.#pagesOf(page, covered, left)) {
        left -= entries.length
        yield entries
        if (left === 0) return
      }
      rest = range.reverse ? { ...rest, lt: last } : { ...rest, gt: last }
      this.#check()
    }
    for await (const entries of this.#pagesOf([], rest, left)) yield entries
  }

  #wants(key: Uint8Array): boolean {
    if (this.#passed !== undefined && this.#passed !== 'all') {
      if (Buffer.compare(key, this.#passed) <= 0) return false
    }
    return this.#saved.get(key) === undefined
  }

  /** In steps, so that not all of a large deletion is in memory at once. */
  async #read(keys: readonly Uint8Array[]): Promise<void> {
    const { storage, values } = this.#parts
    for (let at = 0; at < keys.length;) {
      const some = keys.slice(at, at + this.#step)
      at += some.length
      const found = await storage.getMany(some)
      let bytes = 0
      for (const [index, key] of some.entries()) {
        if (this.#end !== undefined) return
        const saved = this.#saved.get(key)
        // It was passed meanwhile.
        if (saved === undefined) continue
        const value = found[index]
        bytes += value?.length ?? 0
        const kept = value && (await values.keep(value))
        if (this.#saved.get(key) === saved) saved.value = kept
        else if (kept !== undefined) values.forget(kept)
      }
      if (bytes > pageBytes) this.#step = Math.max(1, this.#step >>> 1)
      else if (bytes < pageBytes / 4) this.#step = Math.min(maxStep, this.#step * 2)
    }
  }

  /** What a part of the range held, where `current` is what it holds, or held a moment ago. */
  async *#pagesOf(
    current: readonly Entry[],
    range: Range,
    limit: number,
  ): AsyncGenerator<readonly Entry[]> {
    // All of it in one turn: what is saved goes on changing.
    const saved = [...this.#saved.between(range)].filter(([, { value }]) => value !== pending)
    // At its end it lets go of what was saved: then the storage's own alone would be given out.
    this.#check()
    if (saved.length === 0) {
      if (current.length > 0) yield current.length > limit ? current.slice(0, limit) : current
      return
    }
    const { values } = this.#parts
    let left = limit
    let bytes = 0
    let page: Entry[] = []
    for (const { key, entry, value } of merged(current, saved, range.reverse ?? false)) {
      const { keysOnly = false } = range
      const bytesOf = () => (value === undefined ? nothing : values.read(value))
      const found = entry ?? {
        key: new Uint8Array(key),
        value: keysOnly ? nothing : await bytesOf(),
      }
      this.#check()
      page.push(found)
      bytes += found.key.length + found.value.length
      if (--left > 0 && page.length < pageEntries && bytes <= pageBytes) continue
      yield page
      if (left === 0) return
      this.#check()
      page = []
      bytes = 0
    }
    if (page.length > 0) yield page
  }

  async #ready(): Promise<void> {
    this.#check()
    await this.#parts.settled
    this.#check()
  }

  #check(): void {
    if (this.#end !== undefined) throw this.#end.error
    if (this.#passed === 'all') throw new LorekeepError('LK_CLOSED', 'the snapshot was passed')
  }
}

interface FoundEntry {
  readonly key: Uint8Array
  /** What is in the storage; else `value` was saved. */
  readonly entry?: Entry
  readonly value?: SavedValue
}

/** Both are in the order of the scan; what was saved wins, also where it is that there was nothing. */
function* merged(
  current: readonly Entry[],
  saved: readonly (readonly [Uint8Array, { readonly value: Saved }])[],
  reverse: boolean,
): Generator<FoundEntry> {
  let at = 0
  for (const entry of current) {
    let isSaved = false
    for (; at < saved.length; at++) {
      const [key, { value }] = saved[at]!
      const order = reverse ? Buffer.compare(entry.key, key) : Buffer.compare(key, entry.key)
      if (order > 0) break
      isSaved ||= order === 0
      if (isKept(value)) yield { key, value }
    }
    if (!isSaved) yield { key: entry.key, entry }
  }
  for (const [key, { value }] of saved.slice(at)) if (isKept(value)) yield { key, value }
}

function isKept(value: Saved): value is SavedValue {
  return value !== undefined && value !== pending
}
