// Which ids some runs of the index of ids have not: a Bloom filter (Bloom, CACM 13(7), 1970) of their hashes. An import
// looks for each of its ids in each run, and of most there is none: of ten million, more than memory has pages for, a
// batch of 1,000 read nearly all pages there are. A filter takes an eighth of what the pages take, says of one id in
// 1,700 that it may be there where it is not, and gets a run the first time that many of its pages would be read.
//
// Of several runs, as there are some 40 of ten million ids: to ask a filter of each took a third of an import's time.

import type { PageCache } from '../../page-cache.js'
import type { EntryPages } from './list.js'
import type { Index, Run } from './index-runs.js'

const bitsPerId = 16
const probes = 8

/** Of a filter that several runs share. */
const sharedIds = 2 ** 21
/** Of the memory for pages that such a one may take. */
const sharedShare = 1 / 8
/** Runs of so many ids are merged no more, or once: smaller ones have a filter of their own, which goes with them. */
const settledIds = 2 ** 17
/** So many of its bits are set where it has as many ids as it is made for: 1 - e^(-probes / bitsPerId). */
const fullShare = 0.4
/** Of a run of so many pages: smaller ones are merged soon. */
const leastPages = 32
/** A run gets one where a batch would read so many of its pages. */
const leastShare = 1 / 4
/** Of the memory for pages that all filters may take. */
const mostShare = 1 / 2

/** Which of some hashes may be there. */
export class IdFilter {
  /** In bytes. */
  readonly size: number
  readonly #words: Int32Array
  /** One less than the bits, which are a power of two. */
  readonly #mask: number
  #set = 0

  constructor(ids: number) {
    const bits = 2 ** Math.ceil(Math.log2(Math.max(32, bitsPerId * ids)))
    this.#words = new Int32Array(bits / 32)
    this.#mask = bits - 1
    this.size = this.#words.byteLength
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

/** Those of the runs of ids. They take of the memory for pages, and stay as long as their runs. */
export class IdFilters {
  readonly #cache: PageCache
  readonly #entries: EntryPages
  /** By the first page of a run. */
  readonly #byRun = new Map<number, IdFilter>()
  /** That which the next settled run may be added to. */
  #shared: IdFilter | undefined

  constructor(cache: PageCache, entries: EntryPages) {
    this.#cache = cache
    this.#entries = entries
  }

  /** Of what a run adds, and others. */
  peek({ adds: { pages } }: Run): IdFilter | undefined {
    return pages.length < leastPages ? undefined : this.#byRun.get(pages[0] as number)
  }

  /**
   * Adds those of the runs that are worth it, and drops what the index has no more.
   * @param missing the pages of a run that would be read
   * @returns whether there were any
   * @throws StalePage
   */
  async add(index: Index, missing: ReadonlyMap<Run, readonly number[]>): Promise<boolean> {
    let added = false
    for (const [run, pages] of missing) {
      const { length } = run.adds.pages
      if (length < leastPages || pages.length < leastShare * length) continue
      const filter = this.#roomFor(index, run)
      if (filter === undefined) continue
      await this.#fill(filter, run)
      added = true
    }
    return added
  }

  /** Drops all: the numbers of pages may be those of others. */
  clear(): void {
    this.#byRun.clear()
    this.#shared = undefined
    this.#cache.reserve(0)
  }

  /** Undefined where there is no memory. */
  #roomFor({ runs }: Index, { adds: { length } }: Run): IdFilter | undefined {
    const { maxBytes } = this.#cache
    const isSettled = length >= settledIds
    if (isSettled && this.#shared?.hasRoom(length) === true) {
      this.#cache.reserve(this.#bytesWith(this.#shared))
      return this.#shared
    }
    const firsts = new Set(runs.map(({ adds }) => adds.pages[0]))
    for (const first of this.#byRun.keys()) if (!firsts.has(first)) this.#byRun.delete(first)
    const shared = Math.min(sharedIds, (sharedShare * maxBytes * 8) / bitsPerId)
    const filter = new IdFilter(isSettled ? Math.max(length, shared) : length)
    const bytes = this.#bytesWith(filter)
    if (bytes > mostShare * maxBytes) return undefined
    this.#cache.reserve(bytes)
    if (isSettled) this.#shared = filter
    return filter
  }

  #bytesWith(filter: IdFilter): number {
    let bytes = 0
    for (const { size } of new Set([...this.#byRun.values(), filter])) bytes += size
    return bytes
  }

  async #fill(filter: IdFilter, { adds: { pages } }: Run): Promise<void> {
    const { clears } = this.#cache
    for await (const page of this.#entries.inTurn(pages, { keep: false })) {
      for (let n = 0; n < page.length; n++) filter.add(page.key(n) as number)
    }
    if (clears !== this.#cache.clears) return
    this.#byRun.set(pages[0] as number, filter)
  }
}
