// Gives the space of deleted values back. Until compaction comes by, LevelDB keeps deleted values
// on disk, and without further writes it never does. This compacts what was deleted, in the
// background, one range at a time; a failure is left to the next write, which meets it as well.

import type { Engine } from './engine.js'

interface DeletedRange {
  first: Uint8Array
  last: Uint8Array
}

const idleMs = 500

// Keys that differ only here are taken for neighbours (numbered slices of one thing) and
// compacted as one range. Distant ones are not: all that lies between would be rewritten.
const suffixBytes = 8

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

  /** Waits for the range being compacted; further ranges are left to LevelDB. */
  async close(): Promise<void> {
    this.#closed = true
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
      while (this.#ranges.length > 0 && !this.#closed) {
        const ranges = this.#ranges
        this.#ranges = []
        this.#deletes = 0
        for (const { first, last } of ranges) {
          if (this.#closed) return
          await this.#engine.level.compactRange(first, last)
        }
      }
    } catch {
      // Out of service: the ranges are dropped, later compactions take them along.
    } finally {
      this.#running = undefined
    }
  }
}

function neighbours(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  const prefix = Math.max(0, a.length - suffixBytes)
  return Buffer.compare(a.subarray(0, prefix), b.subarray(0, prefix)) === 0
}
