// Two sides of a book that have to be equal, without holding either: that an index has what the rows
// say, that each document is as often needed as it is counted. Each entry is hashed into one of some
// buckets, with a weight: what one side adds the other takes away. Where all buckets come to zero the
// sides are equal (but for a chance of 2^-64). Where not, the entries of some buckets are held while
// both sides are walked once more, which names them.

import { hash, hashNumber, hashText } from './hash.js'

const buckets = 256

/** Entries that are held at a time while those that differ are looked for. */
const maxHeld = 100_000

/** So much of an entry is shown. */
const maxShown = 300

interface Difference {
  readonly text: string
  /** Above 0: more of it was added than taken away. */
  readonly weight: number
}

export class Balance {
  readonly #a = new Int32Array(buckets)
  readonly #b = new Int32Array(buckets)
  readonly #counts = new Float64Array(buckets)
  /** Buckets whose entries are held now. */
  #listed: Uint8Array | undefined
  /** How many buckets were looked into. */
  #done = 0
  readonly #held = new Map<number, { readonly text: string; weight: number }>()

  add(text: string, weight: number): void {
    hashText(text)
    const [a, b] = [hash[0] as number, hash[1] as number]
    const bucket = a & (buckets - 1)
    if (this.#listed === undefined) {
      this.#a[bucket] = (this.#a[bucket] as number) + Math.imul(a | 1, weight)
      this.#b[bucket] = (this.#b[bucket] as number) + Math.imul(b, weight)
      this.#counts[bucket] = (this.#counts[bucket] as number) + 1
      return
    }
    if (this.#listed[bucket] === 0) return
    const id = hashNumber()
    const held = this.#held.get(id)
    if (held === undefined) this.#held.set(id, { text: text.slice(0, maxShown), weight })
    else {
      held.weight += weight
      if (held.weight === 0) this.#held.delete(id)
    }
  }

  /** Whether there are entries that differ, and that were not listed yet. */
  get isOpen(): boolean {
    for (let bucket = this.#done; bucket < buckets; bucket++) {
      if (this.#a[bucket] !== 0 || this.#b[bucket] !== 0) return true
    }
    return false
  }

  /** From here on entries of some more buckets are held: all entries are to be added once more. */
  list(): void {
    this.#held.clear()
    const listed = new Uint8Array(buckets)
    this.#listed = listed
    let room = maxHeld
    for (; this.#done < buckets; this.#done++) {
      if (this.#a[this.#done] === 0 && this.#b[this.#done] === 0) continue
      const count = this.#counts[this.#done] as number
      if (count > room && room < maxHeld) break
      room -= count
      listed[this.#done] = 1
    }
  }

  /** Those that differ, after list() and one more round of all. */
  *differences(): Generator<Difference> {
    for (const { text, weight } of this.#held.values()) if (weight !== 0) yield { text, weight }
  }
}
