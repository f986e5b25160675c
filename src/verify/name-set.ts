import { hashNumber, hashText } from './hash.js'
import { Numbers } from './numbers.js'

/** So many names are held at a time, in 8 bytes each. */
export const namesAtOnce = 4_000_000

/**
 * A set of names, or one of several shares of it: what is not of this share is not held. One name in
 * 2^31 that was never added is taken for one that was, where the share is full.
 */
export class NameSet {
  readonly #share: number
  readonly #shares: number
  readonly #numbers = new Numbers()
  #sorted: Float64Array | undefined

  constructor(share = 0, shares = 1) {
    this.#share = share
    this.#shares = shares
  }

  add(name: string): void {
    if (!this.covers(name)) return
    this.#numbers.add(hashNumber())
    this.#sorted = undefined
  }

  /** Whether the name, if it were there, would be in this share. */
  covers(name: string): boolean {
    hashText(name)
    return hashNumber() % this.#shares === this.#share
  }

  /** Of a name that this share covers. */
  has(name: string): boolean {
    hashText(name)
    const number = hashNumber()
    const sorted = (this.#sorted ??= this.#numbers.sorted())
    let low = 0
    let high = sorted.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((sorted[middle] as number) < number) low = middle + 1
      else high = middle
    }
    return sorted[low] === number
  }
}
