// A graph whose questions go on until somebody ends them.

import { once } from 'node:events'
import type { UserGraph } from '../../src/mcp/stores.js'

interface Question {
  /** Resolves when it is told to end. */
  readonly ended: Promise<unknown>
}

export class Working {
  readonly #waiting: ((question: Question) => void)[] = []

  readonly graph = {
    retrieve: async ({ signal }: { readonly signal?: AbortSignal }) => {
      if (signal === undefined) throw new Error('nobody could end it')
      const ended = once(signal, 'abort')
      for (const tell of this.#waiting.splice(0)) tell({ ended })
      await ended
      throw signal.reason
    },
  } as unknown as UserGraph

  /** The next one, when it has begun. */
  next(): Promise<Question> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
