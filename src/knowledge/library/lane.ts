/** Work that is done in turn: so many at once, in the order in which they came. */
export class Lane {
  readonly #width: number
  #running = 0
  readonly #waiting: (() => void)[] = []
  readonly #works = new Set<Promise<unknown>>()

  constructor(width: number) {
    this.#width = width
  }

  /** Rejects with the signal's reason where that aborts before its turn. */
  async run<T>(signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted()
    if (this.#running >= this.#width) await this.#turn(signal)
    else this.#running++
    const working = (async () => work())()
    this.#works.add(working)
    try {
      return await working
    } finally {
      this.#works.delete(working)
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  /** Nothing is under way. */
  get isIdle(): boolean {
    return this.#running === 0
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running > 0) await Promise.allSettled(this.#works)
  }

  async #turn(signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal?.reason as Error)
      }
      this.#waiting.push(begin)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
