// How many requests of one user are under way at once: one user's load is not everyone's.

import { LorekeepError } from '../errors.js'
import type { Principal } from './auth.js'

export class Shares {
  readonly #most: number
  readonly #underWay = new Map<string, number>()

  constructor(most: number) {
    this.#most = most
  }

  /** @throws LorekeepError `LK_HTTP_RATE` where this user has as many as there may be */
  enter({ user }: Principal): void {
    const count = this.#underWay.get(user) ?? 0
    if (count >= this.#most) {
      const details = { maxUserRequests: this.#most }
      throw new LorekeepError('LK_HTTP_RATE', `${count} are under way`, { details })
    }
    this.#underWay.set(user, count + 1)
  }

  leave({ user }: Principal): void {
    const left = (this.#underWay.get(user) ?? 1) - 1
    if (left > 0) this.#underWay.set(user, left)
    else this.#underWay.delete(user)
  }
}
