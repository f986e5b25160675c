// What one socket has put into cores: in turn, and how often each message.

import type { CoreRef, KnowledgeStore } from '../../knowledge/types.js'
import type { CoreMessage } from '../../types.js'

/** Of so many messages it is known that they came before; of older ones it is not. */
const maxKnown = 65_536

export class Puts {
  #last: Promise<unknown> = Promise.resolve()
  /** By core and digest: how often it came. */
  readonly #counts = new Map<string, number>()

  /** Messages of a core keep the order in which they are sent, also where none is waited for. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }

  /**
   * Files of cores have messages that are the same, and give the same file again only where each is
   * kept. A client that lost its connection sends all of a file again, and that must add nothing. So a
   * message that comes for the nth time on a socket is to be there n times, whoever brought it.
   */
  async write(
    knowledge: KnowledgeStore,
    ref: CoreRef,
    messages: readonly CoreMessage[],
  ): Promise<void> {
    const { digest, duplicate } = await knowledge.write(ref, messages)
    const key = `${ref.user}\0${ref.id}\0${digest}`
    const copies = (this.#counts.get(key) ?? 0) + 1
    // Behind all others: the first key is the oldest then.
    this.#counts.delete(key)
    this.#counts.set(key, copies)
    if (this.#counts.size > maxKnown) {
      for (const oldest of this.#counts.keys()) {
        this.#counts.delete(oldest)
        break
      }
    }
    if (duplicate && copies > 1) await knowledge.write(ref, messages, { copies })
  }
}
