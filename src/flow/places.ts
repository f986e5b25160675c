// Where documents of a flow are processed, so many at once: who comes when all are taken waits, in the order of coming.

interface Waiting {
  /** Not to be waited for any longer. */
  readonly go: () => void
  /** Resolves when there is a place, or go() was called. */
  readonly had: Promise<void>
}

export class Places {
  #taken = 0
  /** As many as there were when the newest came. */
  #most = 0
  #waiting: (() => void)[] = []

  /** `undefined` where there is one at once. Whoever goes on, with one or without, calls leave() in the end. */
  take(most: number): Waiting | undefined {
    this.#most = most
    if (this.#taken < most) {
      this.#taken++
      return undefined
    }
    let go = () => {}
    const had = new Promise<void>((resolve) => {
      go = () => {
        const place = this.#waiting.indexOf(go)
        if (place < 0) return
        this.#waiting.splice(place, 1)
        this.#taken++
        resolve()
      }
    })
    this.#waiting.push(go)
    return { go, had }
  }

  leave(): void {
    this.#taken--
    if (this.#taken < this.#most) this.#waiting[0]?.()
  }
}
