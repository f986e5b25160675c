// The log that LevelDB appends to. When it is full LevelDB goes on in a new one and does not sync the
// directory, so batches that were synced into it could be lost with its name.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from './directories.js'
import { inBackground } from './reading.js'
import type { Reading } from './reading.js'

export class CurrentLog {
  readonly #directory: string
  #path = ''
  #size = 0

  private constructor(directory: string) {
    this.#directory = directory
  }

  /**
   * Of a database that was just opened. LevelDB synced the directory with its new MANIFEST, behind
   * the log's creation.
   */
  static async open(directory: string, reading: Reading): Promise<CurrentLog> {
    const log = new CurrentLog(directory)
    await log.#find(reading)
    return log
  }

  /**
   * Whether the batch that was written last is in a log whose name is durable: the one that was
   * looked for last has grown. LevelDB writes a batch into one log, and one batch is under way at a
   * time. 3 us.
   */
  hasGrown(): boolean {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0
    if (size <= this.#size) return false
    this.#size = size
    return true
  }

  /** Looks for the log that is written now, and makes its name durable. */
  async follow(): Promise<void> {
    await this.#find(inBackground)
    await syncDirectory(this.#directory)
  }

  async #find(reading: Reading): Promise<void> {
    const numbers = (await reading.names(this.#directory))
      .filter((name) => /^\d+\.log$/.test(name))
      .map((name) => Number.parseInt(name, 10))
    if (numbers.length === 0) {
      throw new Error(`${this.#directory} has no log any more: its files were moved or removed`)
    }
    const newest = Math.max(...numbers)
    this.#path = join(this.#directory, `${String(newest).padStart(6, '0')}.log`)
    this.#size = statSync(this.#path).size
  }
}
