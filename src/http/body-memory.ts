// What bodies that are read as a whole may hold of the memory, all together and those of one
// principal: each has a limit of its own, but a thousand of them come at once, or never end.

import { LorekeepError } from '../errors.js'
import type { Principal } from './auth.js'

export class BodyMemory {
  readonly #total: number
  readonly #share: number
  readonly #held = new Map<string, number>()
  #bytes = 0

  /** `isShared` is false where there is one principal, which gets all of it. */
  constructor(total: number, isShared: boolean) {
    this.#total = total
    this.#share = isShared ? Math.ceil(total / 2) : total
  }

  /** What one request takes, until its answer has been made: what was parsed is larger still. */
  open({ user }: Principal): HeldBody {
    let taken = 0
    const add = (bytes: number) => {
      this.#bytes += bytes
      taken += bytes
      const held = (this.#held.get(user) ?? 0) + bytes
      if (held > 0) this.#held.set(user, held)
      else this.#held.delete(user)
    }
    return {
      take: (bytes) => {
        // One alone has its own limit: it would be refused for ever.
        const isOver = (held: number, most: number) => held + bytes > most && held > taken
        const isShareOver = isOver(this.#held.get(user) ?? 0, this.#share)
        if (isShareOver || isOver(this.#bytes, this.#total)) {
          const whose = isShareOver ? 'bodies of this user' : 'bodies'
          throw new LorekeepError('LK_HTTP_BUSY', `${whose} take all the memory there is for them`)
        }
        add(bytes)
      },
      release: () => add(-taken),
    }
  }
}

export interface HeldBody {
  /** @throws LorekeepError `LK_HTTP_BUSY` where so much more is not to be had */
  take(bytes: number): void
  release(): void
}
