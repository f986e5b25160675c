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
    return new Held(this, user)
  }

  /** @param taken by the one who asks for more @throws LorekeepError `LK_HTTP_BUSY` */
  check(user: string, bytes: number, taken: number): void {
    // One alone has its own limit: it would be refused for ever.
    const isOver = (held: number, most: number) => held + bytes > most && held > taken
    const isShareOver = isOver(this.#held.get(user) ?? 0, this.#share)
    if (!isShareOver && !isOver(this.#bytes, this.#total)) return
    const whose = isShareOver ? 'bodies of this user' : 'bodies'
    throw new LorekeepError('LK_HTTP_BUSY', `${whose} take all the memory there is for them`)
  }

  add(user: string, bytes: number): void {
    this.#bytes += bytes
    const held = (this.#held.get(user) ?? 0) + bytes
    if (held > 0) this.#held.set(user, held)
    else this.#held.delete(user)
  }
}

export interface HeldBody {
  /** @throws LorekeepError `LK_HTTP_BUSY` where so much more is not to be had */
  take(bytes: number): void
  release(): void
}

class Held implements HeldBody {
  readonly #memory: BodyMemory
  readonly #user: string
  #taken = 0

  constructor(memory: BodyMemory, user: string) {
    this.#memory = memory
    this.#user = user
  }

  take(bytes: number): void {
    this.#memory.check(this.#user, bytes, this.#taken)
    this.#memory.add(this.#user, bytes)
    this.#taken += bytes
  }

  release(): void {
    // Most requests have no body.
    if (this.#taken > 0) this.#memory.add(this.#user, -this.#taken)
    this.#taken = 0
  }
}
