// A sorted list of entries in pages: where a key would stand, and what stands between two places.
// Positions are what counting rests on: how many entries a range holds is a difference of two.

import type { EntryPage } from './entries.js'
import type { Pages } from './pages.js'
import type { ListRecord } from './records.js'
import { compareScalars, type Scalar } from '../values/values.js'

export type EntryPages = Pages<EntryPage>

/** Pages that are at hand. */
export interface PageSource {
  peek(number: number): EntryPage | undefined
}

/**
 * Keeps the pages that one search has loaded until it ends, whatever the memory for pages lets go
 * of meanwhile.
 */
export class HeldPages implements PageSource {
  readonly #pages: EntryPages
  readonly #held = new Map<number, EntryPage>()

  constructor(pages: EntryPages) {
    this.#pages = pages
  }

  peek(number: number): EntryPage | undefined {
    return this.#held.get(number) ?? this.#pages.peek(number)
  }

  async load(number: number): Promise<void> {
    this.#held.set(number, await this.#pages.load(number))
  }

  /** With one read. */
  async loadMany(numbers: readonly number[]): Promise<void> {
    const pages = await this.#pages.loadMany(numbers)
    for (const [n, page] of pages.entries()) this.#held.set(numbers[n] as number, page)
  }
}

/** A place between entries: in front of all that are (key, ref) or more. */
export interface Bound {
  readonly key: Scalar
  readonly ref: number
}

/** A negative number for that of a page, and back: it may have more than 32 bits. */
export const lacking = (number: number): number => -1 - number

export class SortedList {
  readonly pages: readonly number[]
  readonly length: number
  /** Of each page: the position of its first entry, and that entry. */
  readonly #starts: Float64Array
  readonly #keys: Float64Array | readonly Scalar[]
  readonly #refs: readonly number[]

  constructor({ pages, counts, keys, refs }: ListRecord) {
    this.pages = pages
    this.#starts = new Float64Array(pages.length)
    let length = 0
    for (let n = 0; n < pages.length; n++) {
      this.#starts[n] = length
      length += counts[n] as number
    }
    this.length = length
    const numeric = keys.every((key) => typeof key === 'number')
    this.#keys = numeric ? Float64Array.from(keys as number[]) : (keys as readonly Scalar[])
    this.#refs = refs
  }

  /** The position of a bound. */
  async position(bound: Bound, entries: EntryPages): Promise<number> {
    const known = this.tryPosition(bound, entries)
    if (known >= 0) return known
    const n = this.pageOf(bound.key, bound.ref)
    const page = await entries.load(lacking(known))
    return (this.#starts[n] as number) + page.lowerBound(bound.key, bound.ref)
  }

  /** The same, or what lacking() makes of the number of a page that has to be had before. */
  tryPosition({ key, ref }: Bound, entries: PageSource): number {
    const n = this.pageOf(key, ref)
    if (n < 0) return 0
    const number = this.pages[n] as number
    const page = entries.peek(number)
    if (page === undefined) return lacking(number)
    return (this.#starts[n] as number) + page.lowerBound(key, ref)
  }

  /** The page that a bound lies in, if there is any. */
  pageWith({ key, ref }: Bound): number | undefined {
    return this.pages[this.pageOf(key, ref)]
  }

  /** The pages that may have something between two bounds: from, not including to. */
  pagesBetween(low: Bound, high: Bound): readonly [from: number, to: number] {
    const from = Math.max(0, this.pageOf(low.key, low.ref))
    const next = this.#keys[from + 1]
    // Of a word mostly one.
    const isOne = next === undefined || compareScalars(next, high.key) > 0
    return [
      from,
      isOne ? Math.min(from + 1, this.pages.length) : this.pageOf(high.key, high.ref) + 1,
    ]
  }

  /**
   * Adds the references of the entries with that key. Gives 0, or what lacking() makes of the
   * number of a page that has to be had before it can be told. No promise: it is asked for every
   * id.
   */
  tryCollect(key: Scalar, entries: PageSource, found: number[]): number {
    for (let n = Math.max(0, this.pageOf(key, -1)); n < this.pages.length; n++) {
      const number = this.pages[n] as number
      const page = entries.peek(number)
      if (page === undefined) return lacking(number)
      const { refs } = page
      let at = page.lowerBound(key, -1)
      for (; at < refs.length && page.key(at) === key; at++) found.push(refs[at] as number)
      if (at < refs.length) break
    }
    return 0
  }

  /**
   * Calls with the place of each of the keys (growing) that the list has. Gives the numbers of pages
   * that have to be had before; then it is to be asked again.
   */
  tryMatch(
    keys: Float64Array,
    entries: PageSource,
    found: (place: number) => void,
  ): readonly number[] {
    const firsts = this.#keys
    const pages = this.pages.length
    const missing: number[] = []
    if (pages === 0) return missing
    let n = -1
    let page: EntryPage | undefined
    for (let place = 0; place < keys.length; place++) {
      const key = keys[place] as number
      if (page === undefined || (n + 1 < pages && (firsts[n + 1] as number) < key)) {
        n = Math.max(0, n)
        while (n + 1 < pages && (firsts[n + 1] as number) < key) n++
        const number = this.pages[n] as number
        page = entries.peek(number)
        if (page === undefined) {
          if (missing.at(-1) !== number) missing.push(number)
          continue
        }
      }
      const at = page.lowerBound(key, -1)
      if ((at < page.refs.length ? page.key(at) : firsts[n + 1]) === key) found(place)
    }
    return missing
  }

  /** The page that holds a position, and where in it. */
  locate(position: number): { readonly n: number; readonly at: number } {
    let low = 0
    let high = this.pages.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if ((this.#starts[middle] as number) <= position) low = middle
      else high = middle - 1
    }
    return { n: low, at: position - (this.#starts[low] ?? 0) }
  }

  /** The last page that begins in front of the bound; -1 where none does. */
  pageOf(key: Scalar, ref: number): number {
    const keys = this.#keys
    let low = -1
    let high = keys.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      const found = keys[middle] as Scalar
      const order =
        (typeof found === 'number' && typeof key === 'number'
          ? found - key
          : compareScalars(found, key)) || (this.#refs[middle] as number) - ref
      if (order < 0) low = middle
      else high = middle - 1
    }
    return low
  }
}
