// What is stored under a number that is used again only behind a fail-over that lost the end of a history:
// once read it is right, and what is kept of it in memory needs no other invalidation.

/** A page in memory. */
export interface Page {
  /** About how much memory it takes, in bytes. */
  readonly size: number
}

interface Kept<P> {
  readonly page: P
  /** Asked for since it was last passed over (the second chance of a clock). */
  used: boolean
}

/** The pages that were read or written lately, up to a number of bytes. */
export class PageCache<P extends Page = Page> {
  readonly maxBytes: number
  /** How often it was cleared: what was read before may be something else by now. */
  clears = 0
  readonly #kept = new Map<number, Kept<P>>()
  #bytes = 0
  #reserved = 0

  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  peek(number: number): P | undefined {
    const kept = this.#kept.get(number)
    if (kept === undefined) return undefined
    kept.used = true
    return kept.page
  }

  keep(number: number, page: P): void {
    this.forget(number)
    this.#kept.set(number, { page, used: false })
    this.#bytes += page.size
    this.#shrink(number)
  }

  /** So many bytes of the bound are taken by something else. */
  reserve(bytes: number): void {
    this.#reserved = bytes
    this.#shrink()
  }

  /** @param except stays */
  #shrink(except?: number): void {
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes + this.#reserved <= this.maxBytes) break
      if (oldest === except) continue
      this.#kept.delete(oldest)
      if (kept.used) {
        kept.used = false
        this.#kept.set(oldest, kept)
      } else this.#bytes -= kept.page.size
    }
  }

  /** Where numbers may be given a second time. */
  clear(): void {
    this.clears++
    this.#kept.clear()
    this.#bytes = 0
  }

  /** This one, and those with larger numbers. */
  forgetFrom(number: number): void {
    for (const kept of this.#kept.keys()) if (kept >= number) this.forget(kept)
  }

  forget(number: number): void {
    const kept = this.#kept.get(number)
    if (kept === undefined) return
    this.#kept.delete(number)
    this.#bytes -= kept.page.size
  }
}
