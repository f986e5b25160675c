// Gives space back. LevelDB keeps what was overwritten and deleted until a compaction comes by, and
// of a small partition none ever does: all of it lies in the log, or in tables that nothing was added
// to since. So a partition is compacted when nothing was written for a moment, or when it is closed,
// and at least half as much was written as there is: what that costs is a share of what was written.

import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Operation } from '../../src/storage.js'
import type { Usage } from './damage.js'
import type { Engine } from './engine.js'

interface ReclaimingOptions {
  readonly engine: Engine
  /** Less than this is left to lie. */
  readonly leastBytes: number
  /** A write is waiting or under way. */
  readonly isWriting: () => boolean
  /** As any other write: one batch is under way at a time. */
  readonly write: (operations: readonly Operation[]) => Promise<void>
}

/** Nothing was written for so long. */
const idleMs = 250
/** More than this is left to LevelDB, whose levels bound the waste: a close would take too long. */
const mostBytes = 64 * 1024 * 1024

export class Reclaiming {
  readonly #engine: Engine
  readonly #leastBytes: number
  readonly #isWriting: () => boolean
  readonly #write: ReclaimingOptions['write']
  /** Of the tables, after the last compaction. */
  #size: number
  /** Since then. */
  #written: number
  #lastWrite = performance.now()
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #closed = false

  constructor({ engine, leastBytes, isWriting, write }: ReclaimingOptions) {
    this.#engine = engine
    this.#leastBytes = leastBytes
    this.#isWriting = isWriting
    this.#write = write
    this.#size = engine.bytesAtOpening.tables
    // Opening makes tables of it, which are as they were written.
    this.#written = engine.bytesAtOpening.logs
    this.#wait()
  }

  wrote(bytes: number): void {
    this.#written += bytes
    this.#lastWrite = performance.now()
    this.#wait()
  }

  /** Waits for what is under way, and does what is due. No write may be waiting. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closed = true
    await this.#running
    if (this.#isDue) await this.#compact()
  }

  get #isDue(): boolean {
    return this.#written >= Math.max(this.#leastBytes, this.#size / 2)
  }

  // One timer for all that is written meanwhile.
  #wait(): void {
    if (this.#timer !== undefined || this.#running !== undefined || this.#closed) return
    if (!this.#isDue) return
    const elapsed = performance.now() - this.#lastWrite
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined
        if (this.#isWriting()) this.#lastWrite = performance.now()
        if (performance.now() - this.#lastWrite < idleMs) this.#wait()
        else this.#running = this.#compact().finally(() => this.#ended())
      },
      Math.max(1, idleMs - elapsed),
    ).unref()
  }

  #ended(): void {
    this.#running = undefined
    this.#wait()
  }

  async #compact(): Promise<void> {
    const written = this.#written
    try {
      const { tables, logs } = await usageOf(this.#engine)
      this.#size = tables + logs
      if (this.#size > mostBytes) return
      await this.#merge()
      this.#size = (await usageOf(this.#engine)).tables
    } catch {
      // Out of service, or the disk is full: writes tell.
    } finally {
      // Also where it failed: what fails is not tried again before as much was written.
      this.#written -= written
    }
  }

  /** Merges all levels into one. */
  async #merge(): Promise<void> {
    // Writes out what is in memory, and no more. LevelDB looks for the levels that have files before
    // it does that, and may put what it writes where no merge begins, with all that it has overwritten.
    await this.#engine.level.compactRange(last, last)
    // Deletions in front of all keys and behind, of keys that nobody has: their table meets every
    // other one, and is merged with it.
    const name = randomBytes(16)
    await this.#write([
      { type: 'del', key: Buffer.concat([Buffer.alloc(last.length), name]) },
      { type: 'del', key: Buffer.concat([last, name]) },
    ])
    await this.#engine.level.compactRange(first, last)
  }
}

const first = Buffer.of(0)
const last = Buffer.alloc(64, 255)

/** LevelDB itself says which tables it uses: others may lie there until it deletes them. */
async function usageOf({ level, path }: Engine): Promise<Usage> {
  const tables = level.getProperty('leveldb.sstables').matchAll(/^ \d+:(\d+)\[/gm)
  const usage = { tables: 0, logs: 0 }
  for (const [, bytes] of tables) usage.tables += Number(bytes)
  for (const name of await readdir(path)) {
    if (!name.endsWith('.log')) continue
    // LevelDB may remove it meanwhile.
    usage.logs += await stat(join(path, name)).then(
      ({ size }) => size,
      () => 0,
    )
  }
  return usage
}
