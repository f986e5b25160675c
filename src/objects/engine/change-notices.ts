// What processes that share the objects tell each other: that something has changed. It makes the next look
// earlier of those who do not look each time, and nothing rests on it.

import type { Sharing } from '../../storage.js'

/** Changes that follow each other sooner are told together: each message wakes everybody. */
const pauseMs = 100

export class ChangeNotices {
  readonly #sharing: Sharing | undefined
  readonly #unsubscribe: (() => void) | undefined
  #pause: NodeJS.Timeout | undefined
  #isChanged = false

  /** @param onChange of others; it may not throw */
  constructor(sharing: Sharing | undefined, onChange: () => void) {
    this.#sharing = sharing
    this.#unsubscribe = sharing?.subscribe((message) => {
      // What is longer is for others, such as those who take turns.
      if (message.length === 0) onChange()
    })
  }

  /** The first at once, the next together. */
  tell(): void {
    if (this.#sharing === undefined) return
    this.#isChanged = true
    if (this.#pause !== undefined) return
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      if (this.#isChanged) this.tell()
    }, pauseMs).unref()
    this.#send()
  }

  close(): void {
    this.#unsubscribe?.()
    clearTimeout(this.#pause)
    if (this.#isChanged) this.#send()
  }

  #send(): void {
    this.#isChanged = false
    this.#sharing?.publish(new Uint8Array())
  }
}
