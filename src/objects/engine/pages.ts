// Pages: values under a number that is used again only where the end of a history was lost.

import { LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import type { Page, PageCache } from '../../page-cache.js'
import { pageKey } from './records.js'

/** Told of where a page is not there: another state of the store is the newest by now. */
export class StalePage extends Error {}

const pagesPerRead = 32

/** Pages of one kind. */
export class Pages<P extends Page> {
  readonly #storage: Storage
  readonly #cache: PageCache
  readonly #decode: (bytes: Uint8Array) => P

  constructor(storage: Storage, cache: PageCache, decode: (bytes: Uint8Array) => P) {
    this.#storage = storage
    this.#cache = cache
    this.#decode = decode
  }

  /** The bound of what is kept, over all kinds. */
  get maxBytes(): number {
    return this.#cache.maxBytes
  }

  /** The page where it is in memory. */
  peek(number: number): P | undefined {
    // A number is of one kind as long as nobody clears the cache.
    return this.#cache.peek(number) as P | undefined
  }

  /** From memory, or the storage. @throws StalePage */
  async get(number: number): Promise<P> {
    return this.peek(number) ?? this.load(number)
  }

  /** @throws StalePage */
  async load(number: number): Promise<P> {
    const { clears } = this.#cache
    const bytes = await this.#storage.get(pageKey(number))
    if (bytes === undefined) throw new StalePage(`page ${number} is gone`)
    return clears === this.#cache.clears ? this.add(number, bytes) : this.#decode(bytes)
  }

  /** Several pages with one read. With `keep: false` those that were not in memory stay out of it. */
  async loadMany(numbers: readonly number[], { keep = true } = {}): Promise<P[]> {
    const found = numbers.map((number) => this.peek(number))
    const missing = numbers.filter((_, n) => found[n] === undefined)
    if (missing.length === 0) return found as P[]
    const { clears } = this.#cache
    const values = await this.#storage.getMany(missing.map(pageKey))
    const isKept = keep && clears === this.#cache.clears
    let next = 0
    return found.map((page, n) => {
      if (page !== undefined) return page
      const bytes = values[next++]
      const number = numbers[n] as number
      if (bytes === undefined) throw new StalePage(`page ${number} is gone`)
      return isKept ? this.add(number, bytes) : this.#decode(bytes)
    })
  }

  /** The pages in their order, 32 with one read. @throws StalePage */
  async *inTurn(numbers: readonly number[], { keep = true } = {}): AsyncGenerator<P, void> {
    for (let at = 0; at < numbers.length; at += pagesPerRead) {
      yield* await this.loadMany(numbers.slice(at, at + pagesPerRead), { keep })
    }
  }

  /** Keeps a page whose bytes were written or read since the cache was cleared. */
  add(number: number, bytes: Uint8Array): P {
    const page = this.#decode(bytes)
    this.#cache.keep(number, page)
    return page
  }
}

/** What a page that has to be there is missing means. */
export function damaged(error: unknown): LorekeepError {
  return new LorekeepError('LK_STORAGE_CORRUPT', (error as Error).message, { cause: error })
}
