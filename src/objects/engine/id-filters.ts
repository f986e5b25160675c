// Which ids a run of the index of ids has not: a Bloom filter (Bloom, CACM 13(7), 1970) of its hashes. An import looks
// for each of its ids in each run, and of most there is none: of ten million, more than memory has pages for, a batch
// of 1,000 read nearly all pages there are. A filter takes an eighth of what its pages take, says of one id in 1,000
// that it may be there where it is not, and is made of a run the first time that many of its pages would be read.

import type { Page, PageCache } from '../../page-cache.js'
import { lacking, type EntryPages } from './list.js'
import type { Index, Run } from './index-runs.js'

const bitsPerId = 16
const probes = 6

/** Of a run of so many pages: smaller ones are merged soon. */
const leastPages = 32
/** A filter is made where a batch would read so many of the pages. */
const leastShare = 1 / 4
/** Of the memory for pages that all filters may take. */
const mostShare = 1 / 2

/** Which of some hashes may be there. */
export class IdFilter implements Page {
  readonly size: number
  readonly #words: Uint32Array
  readonly #bits: number

  constructor(ids: number) {
    this.#words = new Uint32Array(Math.ceil((bitsPerId * ids) / 32) + 1)
    this.#bits = 32 * this.#words.length
    this.size = 128 + this.#words.byteLength
  }

  add(hash: number): void {
    let at = hash >>> 0
    const step = stepOf(hash)
    for (let n = 0; n < probes; n++) {
      const bit = at % this.#bits
      this.#words[bit >>> 5]! |= 1 << (bit & 31)
      at = (at + step) >>> 0
    }
  }

  /** Of hashes those that may be there, by their places. */
  placesOf(hashes: Float64Array): number[] {
    const places: number[] = []
    for (let n = 0; n < hashes.length; n++) if (this.mayHave(hashes[n]!)) places.push(n)
    return places
  }

  mayHave(hash: number): boolean {
    let at = hash >>> 0
    const step = stepOf(hash)
    for (let n = 0; n < probes; n++) {
      const bit = at % this.#bits
      if ((this.#words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
      at = (at + step) >>> 0
    }
    return true
  }
}

/** Odd, of the bits above the lower 32. */
function stepOf(hash: number): number {
  return (Math.imul(Math.floor(hash / 2 ** 32) + 1, 0x9e3779b1) | 1) >>> 0
}

/** Those that memory has of the runs of ids: beside their pages, and as long. */
export class IdFilters {
  readonly #cache: PageCache
  readonly #entries: EntryPages

  constructor(cache: PageCache, entries: EntryPages) {
    this.#cache = cache
    this.#entries = entries
  }

  /** Of what a run adds. */
  peek({ adds: { pages } }: Run): IdFilter | undefined {
    if (pages.length < leastPages) return undefined
    return this.#cache.peek(lacking(pages[0] as number)) as IdFilter | undefined
  }

  /** Whether it is worth to make one of a run of which so many pages are missing. */
  isWorth({ runs }: Index, { adds: { pages } }: Run, missing: number): boolean {
    if (pages.length < leastPages || missing < leastShare * pages.length) return false
    const ids = runs.reduce((sum, { adds }) => sum + adds.length, 0)
    return (bitsPerId / 8) * ids <= mostShare * this.#cache.maxBytes
  }

  /** Reads all pages of a run, and keeps none. @throws StalePage */
  async make({ adds }: Run): Promise<void> {
    const filter = new IdFilter(adds.length)
    for (const page of await this.#entries.loadMany(adds.pages, { keep: false })) {
      for (let n = 0; n < page.length; n++) filter.add(page.key(n) as number)
    }
    this.#cache.keep(lacking(adds.pages[0] as number), filter)
  }
}
