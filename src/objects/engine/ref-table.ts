// References by the order in which they were first met: a hash table of numbers, open, as a search
// meets some ten thousand of them and a Map takes five times as long.

import { tableSpan } from './ref.js'

export class RefTable {
  count = 0
  #refs: Float64Array
  /** By hash: the place of a reference, and 1. */
  #slots: Int32Array
  #shift: number

  /** @param expected so many before it grows */
  constructor(expected: number) {
    let bits = 4
    while (2 ** bits < 2 * expected && bits < 28) bits++
    this.#slots = new Int32Array(2 ** bits)
    this.#refs = new Float64Array(2 ** (bits - 1))
    this.#shift = 32 - bits
  }

  /** In the order of their places. Not to be changed. */
  get refs(): Float64Array {
    return this.#refs.subarray(0, this.count)
  }

  /** The place of a reference; -1 where it is not there. */
  find(ref: number): number {
    return (this.#slots[this.#slotOf(ref)] as number) - 1
  }

  /** The place of a reference, which is given the next one where it has none. */
  place(ref: number): number {
    let slot = this.#slotOf(ref)
    const found = this.#slots[slot] as number
    if (found > 0) return found - 1
    if (this.count === this.#refs.length) {
      this.#grow()
      slot = this.#slotOf(ref)
    }
    this.#refs[this.count++] = ref
    this.#slots[slot] = this.count
    return this.count - 1
  }

  /** The slot that has the reference, or where it would be put. */
  #slotOf(ref: number): number {
    const slots = this.#slots
    const mask = slots.length - 1
    let slot = Math.imul((ref / tableSpan) | 0, 0x9e3779b1) >>> this.#shift
    for (;;) {
      const found = slots[slot] as number
      if (found === 0 || this.#refs[found - 1] === ref) return slot
      slot = (slot + 1) & mask
    }
  }

  #grow(): void {
    const refs = this.#refs
    this.#refs = new Float64Array(2 * refs.length)
    this.#refs.set(refs)
    this.#slots = new Int32Array(2 * this.#slots.length)
    this.#shift--
    for (let n = 0; n < this.count; n++) this.#slots[this.#slotOf(refs[n] as number)] = n + 1
  }
}
