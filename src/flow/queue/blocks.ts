// Blocks of documents in memory, and those that are read before somebody has asked for them: whoever claims has the
// turn of all who share the backend, and what he waits for then, they all wait for.

import { PageCache } from '../../page-cache.js'
import type { Storage } from '../../storage.js'
import { DocumentBlock } from './block.js'
import { blockKey } from './records.js'

const cacheBytes = 16 * 1024 * 1024
/** So many are read ahead, and fewer where they are large. */
const mostAhead = 8
const mostAheadBytes = cacheBytes / 2

export class Blocks {
  readonly #storage: Storage
  readonly #cache = new PageCache<DocumentBlock>(cacheBytes)
  readonly #coming = new Map<number, Promise<void>>()
  /** Of the newest one, as about that of the next ones. */
  #size = 0

  constructor(storage: Storage) {
    this.#storage = storage
  }

  peek(number: number): DocumentBlock | undefined {
    return this.#cache.peek(number)
  }

  keep(number: number, block: DocumentBlock): void {
    this.#size = block.size
    this.#cache.keep(number, block)
  }

  forget(number: number): void {
    this.#coming.delete(number)
    this.#cache.forget(number)
  }

  /** Where the numbers from this one on are to be given, maybe a second time. */
  forgetFrom(number: number): void {
    for (const coming of this.#coming.keys()) if (coming >= number) this.#coming.delete(coming)
    this.#cache.forgetFrom(number)
  }

  /** Where numbers may be given a second time: what is on its way may be of the first. */
  clear(): void {
    this.#coming.clear()
    this.#cache.clear()
  }

  /** Those of these that are wanted first, where they are not here. What cannot be read is read again by who wants it. */
  readAhead(numbers: Iterable<number>): void {
    const most = Math.min(mostAhead, mostAheadBytes / Math.max(1, this.#size))
    let place = 0
    for (const number of numbers) {
      if (++place > most) return
      if (this.#coming.has(number) || this.#cache.peek(number) !== undefined) continue
      const isWanted = () => this.#coming.get(number) === coming
      const coming = this.#read(number, isWanted).finally(() => {
        if (isWanted()) this.#coming.delete(number)
      })
      this.#coming.set(number, coming)
    }
  }

  /** Resolves when it is not on its way any more; `undefined` where it is not. */
  coming(number: number): Promise<void> | undefined {
    return this.#coming.get(number)
  }

  async #read(number: number, isWanted: () => boolean): Promise<void> {
    const bytes = await this.#storage.get(blockKey(number)).catch(() => undefined)
    // Somebody may have forgotten it meanwhile: it was deleted, or there is another one.
    if (bytes === undefined || !isWanted()) return
    this.keep(number, new DocumentBlock(bytes))
  }
}
