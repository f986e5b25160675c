// How many of what takes long may be under way at once, in total and by one principal: nobody takes
// every place, and those that are taken hold a bounded amount together.

import { LorekeepError } from '../errors.js'
import type { Principal } from './auth.js'

export class Places {
  readonly #what: string
  readonly #total: number
  readonly #share: number
  readonly #held = new Map<string, number>()
  #count = 0

  /** `isShared` is false where there is one principal, which gets all of them. */
  constructor(what: string, total: number, isShared: boolean) {
    this.#what = what
    this.#total = total
    this.#share = isShared ? Math.ceil(total / 2) : total
  }

  /**
   * Runs work that takes a place.
   * @throws LorekeepError `LK_HTTP_BUSY` where all are taken, or as many as one user may have
   */
  async hold<T>({ user }: Principal, work: () => Promise<T>): Promise<T> {
    const held = this.#held.get(user) ?? 0
    if (this.#count >= this.#total) this.#refuse(`${this.#count} ${this.#what} are under way`)
    if (held >= this.#share) this.#refuse(`${held} ${this.#what} of this user are under way`)
    this.#held.set(user, held + 1)
    this.#count++
    try {
      return await work()
    } finally {
      this.#count--
      const left = (this.#held.get(user) ?? 1) - 1
      if (left > 0) this.#held.set(user, left)
      else this.#held.delete(user)
    }
  }

  #refuse(detail: string): never {
    throw new LorekeepError('LK_HTTP_BUSY', detail)
  }
}
