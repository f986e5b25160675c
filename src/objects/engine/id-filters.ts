// Which ids some runs of the index of ids have not: a Bloom filter (Bloom, CACM 13(7), 1970) of their hashes. An import
// looks for each of its ids in each run, and of most there is none: of ten million, more than memory has pages for, a
// batch of 1,000 read nearly all pages there are. A filter takes an eighth of what the pages take, says of one id in
// 1,700 that it may be there where it is not, and gets a run the first time that many of its pages would be read.
//
// Of several runs, as there are some 40 of ten million ids: to ask a filter of each took a third of an import's time.

import type { Page, PageCache } from '../../page-cache.js'
import { lacking, type EntryPages } from './list.js'
import type { Index, Run } from './index-runs.js'

const bitsPerId = 16
const probes = 8

/** Ids of a filter, at most. */
const mostIds = 2 ** 21
/** Of the memory for pages that one filter may take. */
const filterShare = 1 / 8
/** So many of its bits are set where it has as many ids as it is made for: 1 - e^(-probes / bitsPerId). */
const fullShare = 0.4
/** As they are read to be added. */
const pagesPerRead = 32

/** Of a run of so many pages: smaller ones are merged soon. */
const leastPages = 32
/** A run gets one where a batch would read so many of its pages. */
const leastShare = 1 / 4
/** Of the memory for pages that all filters may take. */
const mostShare = 1 / 2

/** Which of some hashes may be there. */
export class IdFilter implements Page {
  readonly size: number
  readonly #words: Int32Array
  /** One less than the bits, which are a power of two. */
  readonly #mask: number
  #set = 0

  constructor(ids: number) {
    const bits = 2 ** Math.ceil(Math.log2(Math.max(32, bitsPerId * ids)))
    this.#words = new Int32Array(bits / 32)
    this.#mask = bits - 1
    this.size = 128 + this.#words.byteLength
  }

  /** Whether so many more leave it as sure as it is made to be. */
  hasRoom(ids: number): boolean {
    const bits = this.#mask + 1
    const free = 1 - this.#set / bits
    return this.#set + bits * free * (1 - Math.exp((-probes * ids) / bits)) <= fullShare * bits
  }

  add(hash: number): void {
    let at = hash >>> 0
    const step = stepOf(hash)
    for (let n = 0; n < probes; n++) {
      const bit = at & this.#mask
      const word = this.#words[bit >>> 5]!
      const wanted = word | (1 << (bit & 31))
      if (word !== wanted) {
        this.#words[bit >>> 5] = wanted
        this.#set++
      }
      at = (at + step) | 0
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
      const bit = at & this.#mask
      if ((this.#words[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
      at = (at + step) | 0
    }
    return true
  }
}

/** Odd, of the bits above the lower 32. */
function stepOf(hash: number): number {
  return (Math.imul(Math.floor(hash / 2 ** 32) + 1, 0x9e3779b1) | 1) >>> 0
}

interface Kept {
  /** Of the page that it is kept as: that of the run which it was made for. */
  readonly number: number
  readonly filter: IdFilter
}

/** Those that memory has of the runs of ids: beside their pages, and as long. */
export class IdFilters {
  readonly #cache: PageCache
  readonly #entries: EntryPages
  /** By the first page of a run. Those that the memory has let go of are none. */
  readonly #byRun = new Map<number, Kept>()
  /** That which the next run may be added to. */
  #last: Kept | undefined

  constructor(cache: PageCache, entries: EntryPages) {
    this.#cache = cache
    this.#entries = entries
  }

  /** Of what a run adds, and others. */
  peek({ adds: { pages } }: Run): IdFilter | undefined {
    if (pages.length < leastPages) return undefined
    const kept = this.#byRun.get(pages[0] as number)
    return kept !== undefined && this.#has(kept) ? kept.filter : undefined
  }

  #has({ number, filter }: Kept): boolean {
    return this.#cache.peek(number) === filter
  }

  /** Whether a run of which so many pages are missing is worth being in one. */
  isWorth({ runs }: Index, { adds: { pages } }: Run, missing: number): boolean {
    if (pages.length < leastPages || missing < leastShare * pages.length) return false
    const ids = runs.reduce((sum, { adds }) => sum + adds.length, 0)
    return (bitsPerId / 8) * ids <= mostShare * this.#cache.maxBytes
  }

  /** Reads all pages of a run, and keeps none. @throws StalePage */
  async add({ adds }: Run): Promise<void> {
    const own = adds.pages[0] as number
    let kept = this.#last
    if (kept === undefined || !this.#has(kept) || !kept.filter.hasRoom(adds.length)) {
      const most = (filterShare * this.#cache.maxBytes * 8) / bitsPerId
      const filter = new IdFilter(Math.max(adds.length, Math.min(mostIds, most)))
      this.#last = kept = { number: lacking(own), filter }
      this.#cache.keep(kept.number, filter)
      for (const [run, other] of this.#byRun) if (!this.#has(other)) this.#byRun.delete(run)
    }
    for (let at = 0; at < adds.pages.length; at += pagesPerRead) {
      const numbers = adds.pages.slice(at, at + pagesPerRead)
      for (const page of await this.#entries.loadMany(numbers, { keep: false })) {
        for (let n = 0; n < page.length; n++) kept.filter.add(page.key(n) as number)
      }
    }
    this.#byRun.set(own, kept)
  }
}
