// A list as pages: so many of it as were asked for, and how to go on.

import { note } from './failure.js'

export interface PageTurning {
  readonly limit: number
  /** Where a list before this one ended. */
  readonly after?: string
  readonly json?: true
}

interface AskedPage {
  readonly limit: number
  readonly after?: string
}

interface FoundPage<T> {
  readonly items: readonly T[]
  readonly next?: string | undefined
}

/** What one request may ask for. */
const maxPage = 1000

export class Pages<T> implements AsyncIterable<T> {
  readonly #options: PageTurning
  readonly #ask: (page: AskedPage) => Promise<FoundPage<T>>
  #next: string | undefined

  constructor(options: PageTurning, ask: (page: AskedPage) => Promise<FoundPage<T>>) {
    this.#options = options
    this.#ask = ask
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    const { limit, after } = this.#options
    this.#next = after
    for (let left = limit; left > 0;) {
      const behind = this.#next
      const page = {
        limit: Math.min(left, maxPage),
        ...(behind !== undefined && { after: behind }),
      }
      const { items, next } = await this.#ask(page)
      this.#next = next
      yield* items
      left -= items.length
      if (next === undefined) return
    }
  }

  /** What is printed for programs is the list alone. */
  tellMore(count: string): void {
    if (this.#next === undefined || this.#options.json === true) return
    note(`${count}, and there may be more: --limit shows more, --after ${this.#next} what follows`)
  }
}
