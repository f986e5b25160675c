// A sorted map over bytes, in memory.

import type { Range } from './storage.js'

// Entries lie in sorted chunks of at most this many. An insert moves a part of one chunk, never
// of the whole list, and 1,000,000 keys are about 4,000 chunks: two binary searches find a key.
const chunkEntries = 512

/** Parallel arrays rather than entry objects: half the memory, and a search touches only keys. */
interface Chunk<Value> {
  readonly keys: Uint8Array[]
  readonly values: Value[]
}

export class SortedEntries<Value> {
  /** In order; never empty, and only a lone chunk may be empty. */
  readonly #chunks: Chunk<Value>[] = [{ keys: [], values: [] }]

  get(key: Uint8Array): Value | undefined {
    const { keys, values } = this.#chunks[this.#chunkOf(key)]!
    const at = lowerBound(keys, key)
    return isAt(keys, at, key) ? values[at] : undefined
  }

  set(key: Uint8Array, value: Value): void {
    const index = this.#chunkOf(key)
    const { keys, values } = this.#chunks[index]!
    const at = lowerBound(keys, key)
    if (isAt(keys, at, key)) {
      values[at] = value
      return
    }
    keys.splice(at, 0, key)
    values.splice(at, 0, value)
    if (keys.length > chunkEntries) {
      // Keys that only grow leave full chunks behind instead of half-filled ones.
      const from = at === keys.length - 1 ? at : keys.length >>> 1
      this.#chunks.splice(index + 1, 0, { keys: keys.splice(from), values: values.splice(from) })
    }
  }

  delete(key: Uint8Array): void {
    const index = this.#chunkOf(key)
    const { keys, values } = this.#chunks[index]!
    const at = lowerBound(keys, key)
    if (!isAt(keys, at, key)) return
    keys.splice(at, 1)
    values.splice(at, 1)
    if (keys.length === 0 && this.#chunks.length > 1) this.#chunks.splice(index, 1)
  }

  /** Deletes every key up to and with this one; gives what lay there. */
  deleteThrough(last: Uint8Array): Value[] {
    const gone = [...this.between({ lte: last })]
    for (const [key] of gone) this.delete(key)
    return gone.map(([, value]) => value)
  }

  /** The entries of a range in its direction; not to be continued after a change. */
  *between(range: Range): Generator<readonly [Uint8Array, Value]> {
    const { gte, gt, lte, lt, reverse = false } = range
    const within = (key: Uint8Array) =>
      reverse
        ? !(gte && compare(key, gte) < 0) && !(gt && compare(key, gt) <= 0)
        : !(lte && compare(key, lte) > 0) && !(lt && compare(key, lt) >= 0)
    // Both bounds of a side may be given. Starting at the outer one and skipping would read what
    // lies between, so the side's start is the tighter of the two.
    const [including, excluding] = reverse ? [lte, lt] : [gte, gt]
    let [chunk, at] = reverse ? this.#end() : [0, 0]
    for (const [bound, exclusive] of [
      [including, false],
      [excluding, true],
    ] as const) {
      if (bound === undefined) continue
      const found = this.#chunkOf(bound)
      const position = lowerBound(this.#chunks[found]!.keys, bound)
      const equal = isAt(this.#chunks[found]!.keys, position, bound)
      const start = reverse
        ? position - (equal && !exclusive ? 0 : 1)
        : position + (equal && exclusive ? 1 : 0)
      const tighter = found === chunk ? start > at : found > chunk
      if (reverse ? !tighter : tighter) [chunk, at] = [found, start]
    }
    const step = reverse ? -1 : 1
    for (; chunk >= 0 && chunk < this.#chunks.length; chunk += step) {
      const { keys, values } = this.#chunks[chunk]!
      for (; at >= 0 && at < keys.length; at += step) {
        const key = keys[at]!
        if (!within(key)) return
        yield [key, values[at] as Value]
      }
      at = reverse ? (this.#chunks[chunk - 1]?.keys.length ?? 0) - 1 : 0
    }
  }

  #end(): [number, number] {
    const chunk = this.#chunks.length - 1
    return [chunk, this.#chunks[chunk]!.keys.length - 1]
  }

  /** The last chunk whose first key is not above the key: where it is, or belongs. */
  #chunkOf(key: Uint8Array): number {
    let low = 0
    let high = this.#chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (compare(this.#chunks[middle]!.keys[0]!, key) <= 0) low = middle
      else high = middle - 1
    }
    return low
  }
}

function lowerBound(keys: readonly Uint8Array[], key: Uint8Array): number {
  let low = 0
  let high = keys.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(keys[middle]!, key) < 0) low = middle + 1
    else high = middle
  }
  return low
}

function isAt(keys: readonly Uint8Array[], at: number, key: Uint8Array): boolean {
  const found = keys[at]
  return found !== undefined && compare(found, key) === 0
}

const compare = Buffer.compare
