import { hashNumber, hashText } from './hash.js'
import { Numbers, placeOf } from './numbers.js'

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
    const { sorted, at, number } = this.#find(name)
    return sorted[at] === number
  }

  /** Of a name that this share covers: whether it was added more than once. */
  isTwice(name: string): boolean {
    const { sorted, at, number } = this.#find(name)
    return sorted[at] === number && sorted[at + 1] === number
  }

  /** Whether any name was added more than once. */
  get hasTwice(): boolean {
    const sorted = this.#inOrder()
    return sorted.some((number, at) => at > 0 && number === sorted[at - 1])
  }

  #find(name: string): { sorted: Float64Array; at: number; number: number } {
    hashText(name)
    const number = hashNumber()
    const sorted = this.#inOrder()
    return { sorted, at: placeOf(number, sorted), number }
  }

  #inOrder(): Float64Array {
    return (this.#sorted ??= this.#numbers.sorted())
  }
}
