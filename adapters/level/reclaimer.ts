// Gives the space of deleted values back. Until compaction comes by, LevelDB keeps deleted values
// on disk, and it comes by only when a level is full: replacing cores of 10 MiB, 600 times, left
// 340 MiB behind. This compacts what was deleted, in the background and at the end of close(); a
// failure is left to the next write, which meets it as well.

import type { Engine } from './engine.js'

interface DeletedRange {
  first: Uint8Array
  last: Uint8Array
}

const idleMs = 500

// Keys that differ only here are taken for neighbours: numbered slices of one thing.
const suffixBytes = 8

// Ranges are compacted as one when no more than this lies between them. It is rewritten then, and
// that costs less than a compaction of its own, which begins with flushing the memtable.
const maxGapBytes = 32 * 1024 * 1024

export class Reclaimer {
  readonly #engine: Engine
  readonly #afterDeletes: number
  #ranges: DeletedRange[] = []
  #deletes = 0
  #idle: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #closed = false

  constructor(engine: Engine, afterDeletes: number) {
    this.#engine = engine
    this.#afterDeletes = afterDeletes
  }

  deleted(keys: readonly Uint8Array[]): void {
    if (this.#closed) return
    for (const key of keys) this.#note(key)
    this.#deletes += keys.length
    if (this.#deletes >= this.#afterDeletes) this.#start()
    else this.#idle ??= setTimeout(() => this.#start(), idleMs).unref()
  }

  /** Compacts what is left: a process that replaces a core and ends would never come to it. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#ranges.length > 0) this.#start()
    clearTimeout(this.#idle)
    await this.#running
  }

  #note(key: Uint8Array): void {
    const range = this.#ranges.at(-1)
    if (range === undefined || !neighbours(range.last, key)) {
      const copied = new Uint8Array(key)
      this.#ranges.push({ first: copied, last: copied })
    } else if (Buffer.compare(key, range.last) > 0) {
      range.last = new Uint8Array(key)
    } else if (Buffer.compare(key, range.first) < 0) {
      range.first = new Uint8Array(key)
    }
  }

  #start(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
    this.#running ??= this.#run()
  }

  async #run(): Promise<void> {
    try {
      while (this.#ranges.length > 0) {
        const ranges = this.#ranges
        this.#ranges = []
        this.#deletes = 0
        for (const { first, last } of await this.#merge(ranges)) {
          await this.#engine.level.compactRange(first, last)
        }
      }
    } catch {
      // Out of service: the ranges are dropped, later compactions take them along.
    } finally {
      this.#running = undefined
    }
  }

  async #merge(ranges: readonly DeletedRange[]): Promise<DeletedRange[]> {
    const merged: DeletedRange[] = []
    for (const range of ranges.toSorted((a, b) => Buffer.compare(a.first, b.first))) {
      const before = merged.at(-1)
      if (before === undefined) merged.push(range)
      else if (Buffer.compare(range.last, before.last) > 0) {
        const { level } = this.#engine
        const gap = await level.approximateSize(before.last, range.first)
        if (gap <= maxGapBytes) before.last = range.last
        else merged.push(range)
      }
    }
    return merged
  }
}

function neighbours(a: Uint8Array, b: Uint8Array): boolean {
  const prefix = Math.max(0, Math.min(a.length, b.length) - suffixBytes)
  return Buffer.compare(a.subarray(0, prefix), b.subarray(0, prefix)) === 0
}
