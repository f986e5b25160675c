// Pages: values under a number that is never used again, so that a page once read is right for
// ever, and what is kept of it in memory needs no invalidation.

import { LorekeepError } from '../../errors.js'
import type { Storage } from '../../storage.js'
import { pageKey } from './records.js'

/** A page in memory. */
interface Page {
  /** About how much memory it takes, in bytes. */
  readonly size: number
}

/** Told of where a page is not there: another state of the store is the newest by now. */
export class StalePage extends Error {}

interface Kept {
  readonly page: Page
  /** Asked for since it was last passed over (the second chance of a clock). */
  used: boolean
}

/** What is kept in memory of pages of all kinds, under one bound. */
export class PageCache {
  readonly maxBytes: number
  readonly #kept = new Map<number, Kept>()
  #bytes = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  peek(number: number): Page | undefined {
    const kept = this.#kept.get(number)
    if (kept === undefined) return undefined
    kept.used = true
    return kept.page
  }

  keep(number: number, page: Page): void {
    this.forget(number)
    this.#kept.set(number, { page, used: false })
    this.#bytes += page.size
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes <= this.maxBytes) break
      if (oldest === number) continue
      this.#kept.delete(oldest)
      if (kept.used) {
        kept.used = false
        this.#kept.set(oldest, kept)
      } else this.#bytes -= kept.page.size
    }
  }

  forget(number: number): void {
    const kept = this.#kept.get(number)
    if (kept === undefined) return
    this.#kept.delete(number)
    this.#bytes -= kept.page.size
  }
}

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
    // A number is of one kind for ever.
    return this.#cache.peek(number) as P | undefined
  }

  /** From memory, or the storage. @throws StalePage */
  async get(number: number): Promise<P> {
    return this.peek(number) ?? this.load(number)
  }

  /** @throws StalePage */
  async load(number: number): Promise<P> {
    const bytes = await this.#storage.get(pageKey(number))
    if (bytes === undefined) throw new StalePage(`page ${number} is gone`)
    return this.add(number, bytes)
  }

  /** Several pages with one read. With `keep: false` those that were not in memory stay out of it. */
  async loadMany(numbers: readonly number[], { keep = true } = {}): Promise<P[]> {
    const found = numbers.map((number) => this.peek(number))
    const missing = numbers.filter((_, n) => found[n] === undefined)
    if (missing.length === 0) return found as P[]
    const values = await this.#storage.getMany(missing.map(pageKey))
    let next = 0
    return found.map((page, n) => {
      if (page !== undefined) return page
      const bytes = values[next++]
      const number = numbers[n] as number
      if (bytes === undefined) throw new StalePage(`page ${number} is gone`)
      return keep ? this.add(number, bytes) : this.#decode(bytes)
    })
  }

  /** Keeps a page whose bytes were written or read just now. */
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
