// Entries of an index: (key, reference) pairs in their order, and pages of them.

import { ColumnReader, ColumnWriter } from './columns.js'
import { orderOf } from '../../radix-sort.js'
import { tableSpan } from './ref.js'
import type { KeyList } from './key-list.js'
import { encodeWords, WordPage, type WordEntries } from './word-page.js'
import { compareScalars, type Scalar } from '../values/values.js'

/** In order of keys, then references; `keys` is a Float64Array where all keys are numbers. */
export interface Entries {
  readonly keys: Float64Array | readonly Scalar[]
  readonly refs: Float64Array
  /** Of words that were added: where in their rows they are, and how long these are. */
  readonly places?: readonly string[] | undefined
  readonly lengths?: ArrayLike<number> | undefined
}

export const noEntries: Entries = { keys: [], refs: new Float64Array(0) }

/** Sorts pairs; those of equal keys have to come with growing references. */
export function sortEntries(keys: readonly Scalar[], refs: readonly number[]): Entries {
  if (keys.every((key) => typeof key === 'number')) {
    const numbers = Float64Array.from(keys)
    const order = orderOf(numbers)
    return { keys: permuted(numbers, order), refs: permuted(refs, order) }
  }
  return sortGroups(keys, refs, 8) ?? sortByComparison(keys, refs)
}

/** As sortEntries(), where most keys come several times: words. */
export function sortWords({ keys, refs, places, lengths }: KeyList): Entries {
  return sortGroups(keys, refs, 1, { places, lengths }) as Entries
}

function sortByComparison(keys: readonly Scalar[], refs: readonly number[]): Entries {
  const order = Uint32Array.from(keys, (_, n) => n)
  order.sort((a, b) => compareScalars(keys[a] as Scalar, keys[b] as Scalar) || a - b)
  return { keys: Array.from(order, (n) => keys[n] as Scalar), refs: permuted(refs, order) }
}

/**
 * Categories and the like: the keys are sorted, and each takes its references. `undefined` where a key
 * comes fewer times than `least` on average.
 */
function sortGroups(
  keys: readonly Scalar[],
  refs: readonly number[],
  least: number,
  words?: Pick<KeyList, 'places' | 'lengths'>,
): Entries | undefined {
  const groups = new Map<Scalar, number[]>()
  for (let n = 0; n < keys.length; n++) {
    const key = keys[n] as Scalar
    const group = groups.get(key)
    if (group !== undefined) group.push(n)
    else if (groups.size * least > keys.length) return undefined
    else groups.set(key, [n])
  }
  const sortedKeys: Scalar[] = []
  const sortedRefs = new Float64Array(keys.length)
  const places: string[] = []
  const lengths: number[] = []
  for (const [key, group] of [...groups].sort(([a], [b]) => compareScalars(a, b))) {
    for (const n of group) {
      sortedRefs[sortedKeys.length] = refs[n] as number
      sortedKeys.push(key)
      if (words === undefined) continue
      places.push(words.places[n] as string)
      lengths.push(words.lengths[n] as number)
    }
  }
  return { keys: sortedKeys, refs: sortedRefs, ...(words && { places, lengths }) }
}

export function mergeEntries(a: Entries, b: Entries): Entries {
  if (a.refs.length === 0) return b
  if (b.refs.length === 0) return a
  if (a.keys instanceof Float64Array && b.keys instanceof Float64Array) {
    return mergeNumbers(a.keys, a.refs, b.keys, b.refs)
  }
  const [ak, ar, bk, br] = [a.keys, a.refs, b.keys, b.refs]
  const length = ar.length + br.length
  const keys = new Array<Scalar>(length)
  const refs = new Float64Array(length)
  // Lengths alone, of rows without words, have none.
  const places = a.places || b.places ? new Array<string>(length) : undefined
  const lengths = places && new Array<number>(length)
  let i = 0
  let j = 0
  for (let n = 0; n < length; n++) {
    const isFirst =
      j === br.length ||
      (i < ar.length &&
        (compareScalars(ak[i] as Scalar, bk[j] as Scalar) ||
          (ar[i] as number) - (br[j] as number)) < 0)
    const at = isFirst ? i++ : j++
    keys[n] = (isFirst ? ak : bk)[at] as Scalar
    refs[n] = (isFirst ? ar : br)[at] as number
    if (places === undefined || lengths === undefined) continue
    const from = isFirst ? a : b
    places[n] = from.places?.[at] ?? ''
    lengths[n] = from.lengths?.[at] ?? 0
  }
  return { keys, refs, places, lengths }
}

function mergeNumbers(
  ak: Float64Array,
  ar: Float64Array,
  bk: Float64Array,
  br: Float64Array,
): Entries {
  const length = ak.length + bk.length
  const keys = new Float64Array(length)
  const refs = new Float64Array(length)
  let i = 0
  let j = 0
  let n = 0
  while (i < ak.length && j < bk.length) {
    const x = ak[i] as number
    const y = bk[j] as number
    if (x < y || (x === y && (ar[i] as number) < (br[j] as number))) {
      keys[n] = x
      refs[n++] = ar[i++] as number
    } else {
      keys[n] = y
      refs[n++] = br[j++] as number
    }
  }
  keys.set(i < ak.length ? ak.subarray(i) : bk.subarray(j), n)
  refs.set(i < ar.length ? ar.subarray(i) : br.subarray(j), n)
  return { keys, refs }
}

/** What is left of each when entries that are in both are taken out of both. */
export function cancelEntries(adds: Entries, dels: Entries): { adds: Entries; dels: Entries } {
  if (adds.refs.length === 0 || dels.refs.length === 0) return { adds, dels }
  const keptAdds: number[] = []
  const keptDels: number[] = []
  let i = 0
  let j = 0
  while (i < adds.refs.length && j < dels.refs.length) {
    const order = compareEntries(adds, i, dels, j)
    if (order < 0) keptAdds.push(i++)
    else if (order > 0) keptDels.push(j++)
    else {
      i++
      j++
    }
  }
  while (i < adds.refs.length) keptAdds.push(i++)
  while (j < dels.refs.length) keptDels.push(j++)
  return { adds: chosen(adds, keptAdds), dels: chosen(dels, keptDels) }
}

/** Entries from, not including to. */
export function sliceEntries(entries: Entries, from: number, to: number): Entries {
  const { keys, refs, places, lengths } = entries
  return {
    keys: keys.slice(from, to),
    refs: refs.slice(from, to),
    places: places?.slice(from, to),
    lengths: lengths && Array.prototype.slice.call(lengths, from, to),
  }
}

export function concatEntries(pages: readonly EntryPage[]): Entries {
  const parts = pages.map((page) => page.entries())
  if (parts.length === 1) return parts[0] as Entries
  let length = 0
  for (const part of parts) length += part.refs.length
  const refs = new Float64Array(length)
  const numeric = parts.every((part) => part.keys instanceof Float64Array)
  const keys = numeric ? new Float64Array(length) : new Array<Scalar>(length)
  const hasPlaces = parts.some((part) => part.places !== undefined)
  const places = hasPlaces ? new Array<string>(length) : undefined
  const lengths = hasPlaces ? new Array<number>(length) : undefined
  let at = 0
  for (const part of parts) {
    refs.set(part.refs, at)
    for (let n = 0; places !== undefined && lengths !== undefined && n < part.refs.length; n++) {
      places[at + n] = part.places?.[n] ?? ''
      lengths[at + n] = part.lengths?.[n] ?? 0
    }
    if (keys instanceof Float64Array) keys.set(part.keys as Float64Array, at)
    else for (let n = 0; n < part.refs.length; n++) keys[at + n] = part.keys[n] as Scalar
    at += part.refs.length
  }
  return { keys, refs, places, lengths }
}

/** As they lie in a page. */
interface StoredEntries {
  readonly columns: ColumnReader
  readonly keyAt: (n: number) => string
  readonly compareKey: (n: number, key: string) => number
  readonly refs: Float64Array
  readonly bytes: number
}

/** A page of entries as it is kept in memory. */
export class EntryPage {
  readonly size: number
  readonly length: number
  /** Where its keys are words that were added. */
  readonly words: WordPage | undefined
  readonly #refs: Float64Array | undefined
  readonly #keys: Float64Array | readonly Scalar[] | undefined
  readonly #stored: StoredEntries | undefined

  constructor(entries: Entries | StoredEntries | WordPage) {
    this.words = entries instanceof WordPage ? entries : undefined
    if (entries instanceof WordPage) {
      this.length = entries.length
      this.size = entries.size
      return
    }
    const { refs } = entries
    this.#refs = refs
    this.length = refs.length
    if ('columns' in entries) {
      this.#stored = entries
      this.size = 1024 + entries.bytes + 12 * refs.length
      return
    }
    const { keys } = entries
    this.#keys = keys
    // Strings: some 40 bytes each beside their text.
    let size = 256 + 16 * refs.length
    if (!(keys instanceof Float64Array)) {
      for (const key of keys) if (typeof key === 'string') size += 40 + key.length
    }
    this.size = size
  }

  /** As it will be read again. */
  static of(entries: Entries): EntryPage {
    const words = wordsIn(entries)
    return new EntryPage(words === undefined ? entries : new WordPage(encodeWords(words)))
  }

  static decode(bytes: Uint8Array): EntryPage {
    if (WordPage.isOne(bytes)) return new EntryPage(new WordPage(bytes))
    const columns = new ColumnReader(bytes)
    const offsets = columns.column('ref') as ArrayLike<number>
    const base = columns.value('base', 0) as number
    const unit = columns.value('unit', 0) as number
    const refs = new Float64Array(columns.rows)
    for (let n = 0; n < refs.length; n++) refs[n] = base + unit * (offsets[n] as number)
    const keyAt = columns.stringReader('key')
    const compareKey = columns.stringComparer('key')
    if (keyAt !== undefined && compareKey !== undefined) {
      return new EntryPage({ columns, keyAt, compareKey, refs, bytes: bytes.length })
    }
    const keys = columns.column('key')
    return new EntryPage({
      keys: keys instanceof Float64Array ? keys : Array.from(keys as ArrayLike<Scalar>),
      refs,
    })
  }

  static encode(entries: EntryPage | Entries): Uint8Array {
    const page = entries instanceof EntryPage ? entries : EntryPage.of(entries)
    if (page.words !== undefined) return page.words.bytes
    const { keys, refs } = page.entries()
    const writer = new ColumnWriter(refs.length)
    writer.add('key', keys)
    const { base, unit, offsets } = offsetsOf(refs)
    writer.addConstant('base', base)
    writer.addConstant('unit', unit)
    writer.add('ref', offsets)
    return writer.finish()
  }

  /** All of it; keys that are strings are made anew each time, and what words have too. */
  entries(): Entries {
    const { words } = this
    if (words !== undefined) return words.entries()
    const keys = this.#keys ?? (this.#stored?.columns.decoded('key') as readonly Scalar[])
    return { keys, refs: this.refs }
  }

  /** Of a page of words made anew each time. */
  get refs(): Float64Array {
    return this.#refs ?? (this.words as WordPage).entries().refs
  }

  key(n: number): Scalar {
    const { words } = this
    if (words !== undefined) return words.keyOf(words.groupOf(n))
    const stored = this.#stored
    return stored === undefined ? ((this.#keys as readonly Scalar[])[n] as Scalar) : stored.keyAt(n)
  }

  /** How many entries come before that one. */
  lowerBound(key: Scalar, ref: number): number {
    const { words } = this
    if (words !== undefined) {
      if (typeof key === 'string') return words.lowerBound(key, ref)
      return compareScalars('', key) < 0 ? words.length : 0
    }
    const refs = this.#refs as Float64Array
    const keys = this.#keys
    if (keys instanceof Float64Array && typeof key === 'number') {
      return numericLowerBound(keys, refs, key, ref)
    }
    let low = 0
    let high = refs.length
    const compareKey = typeof key === 'string' ? this.#stored?.compareKey : undefined
    while (low < high) {
      const middle = (low + high) >>> 1
      const order =
        (compareKey?.(middle, key as string) ?? compareScalars(this.key(middle), key)) ||
        (refs[middle] as number) - ref
      if (order < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

/**
 * References as distances from the least, in rows where all are of one table: mostly numbers of 32
 * bits then, half of what they take.
 */
function offsetsOf(refs: Float64Array) {
  let base = refs[0] ?? 0
  let last = base
  for (let n = 1; n < refs.length; n++) {
    const ref = refs[n] as number
    if (ref < base) base = ref
    else if (ref > last) last = ref
  }
  let unit = tableSpan
  for (let n = 0; n < refs.length && unit > 1; n++) {
    if (((refs[n] as number) - base) % tableSpan !== 0) unit = 1
  }
  const isShort = (last - base) / unit < 2 ** 31
  const offsets = isShort ? new Int32Array(refs.length) : new Float64Array(refs.length)
  for (let n = 0; n < refs.length; n++) offsets[n] = ((refs[n] as number) - base) / unit
  return { base, unit, offsets }
}

/**
 * Hashes are spread evenly: where one is can be guessed to some places, and a search around there
 * touches a third of the memory that a search of the whole page does.
 */
function numericLowerBound(
  keys: Float64Array,
  refs: Float64Array,
  key: number,
  ref: number,
): number {
  const isBefore = (n: number) =>
    (keys[n] as number) < key || (keys[n] === key && (refs[n] as number) < ref)
  let low = 0
  let high = refs.length
  const [first, last] = [keys[0] as number, keys[high - 1] as number]
  // Some lie so far apart that nothing can be guessed: what is between them is more than a number can be.
  if (key > first && key < last && last - first < Infinity) {
    const guess = Math.floor(((key - first) / (last - first)) * (high - 1))
    if (isBefore(guess)) {
      low = guess + 1
      for (let step = 8; low + step < high; step *= 2) {
        if (isBefore(low + step)) low += step + 1
        else high = low + step
      }
    } else {
      high = guess
      for (let step = 8; high - step > low; step *= 2) {
        if (isBefore(high - step)) low = high - step + 1
        else high -= step
      }
    }
  }
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}

function compareEntries(a: Entries, i: number, b: Entries, j: number): number {
  return (
    compareScalars(a.keys[i] as Scalar, b.keys[j] as Scalar) ||
    (a.refs[i] as number) - (b.refs[j] as number)
  )
}

function chosen({ keys, refs, places, lengths }: Entries, which: readonly number[]): Entries {
  return {
    keys:
      keys instanceof Float64Array
        ? Float64Array.from(which, (n) => keys[n] as number)
        : which.map((n) => keys[n] as Scalar),
    refs: Float64Array.from(which, (n) => refs[n] as number),
    places: places && which.map((n) => places[n] as string),
    lengths: lengths && which.map((n) => lengths[n] as number),
  }
}

/** Entries as a page of words has them. */
function wordsIn({ keys, refs, places, lengths }: Entries): WordEntries | undefined {
  if (places === undefined || lengths === undefined || typeof keys[0] !== 'string') return undefined
  return { keys: keys as readonly string[], refs, places, lengths }
}

function permuted(values: ArrayLike<number>, order: Uint32Array): Float64Array {
  const result = new Float64Array(order.length)
  for (let n = 0; n < result.length; n++) result[n] = values[order[n] as number] as number
  return result
}
