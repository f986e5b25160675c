// Between whoever makes a backup and whoever takes it. A few blocks wait in memory, and then their
// maker waits; but where it must not wait any longer they go to a temporary file.

import { SavedValues } from '../snapshot/saved-values.js'
import type { SavedValue } from '../snapshot/saved-values.js'

const maxWaitingBytes = 4 * 1024 * 1024

/** How often a maker that waits asks whether it still may. */
const lookMs = 50

export class Spool {
  readonly #values = new SavedValues(maxWaitingBytes)
  readonly #waiting: { readonly value: SavedValue; readonly bytes: number }[] = []
  /** Wherever they lie. */
  #waitingBytes = 0
  readonly #mayWait: () => boolean
  #end: { readonly error?: unknown } | undefined
  #stopped: { readonly error: unknown } | undefined
  #onPush: (() => void) | undefined
  #onTake: (() => void) | undefined

  /** `mayWait` is asked again and again while the maker waits for the taker. */
  constructor(mayWait: () => boolean) {
    this.#mayWait = mayWait
  }

  /** Resolves when the bytes have a place. Rejects once the taker has stopped, with its reason. */
  async push(bytes: Uint8Array): Promise<void> {
    while (this.#isFull && this.#stopped === undefined && this.#mayWait()) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lookMs)
        this.#onTake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    if (this.#stopped !== undefined) throw this.#stopped.error
    this.#waitingBytes += bytes.length
    this.#waiting.push({ value: await this.#values.keep(bytes), bytes: bytes.length })
    this.#onPush?.()
  }

  /** Nothing more comes; with an error the taker gets that at once. */
  end(error?: unknown): void {
    this.#end ??= error === undefined ? {} : { error }
    this.#onPush?.()
  }

  /** Nothing is taken any more: a taker that comes back later gets the error. */
  stop(error: unknown): void {
    this.#stopped ??= { error }
    this.#onTake?.()
    this.#onPush?.()
  }

  async *take(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      if (this.#stopped !== undefined) throw this.#stopped.error
      if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error
      const next = this.#waiting.shift()
      if (next !== undefined) {
        const bytes = await this.#values.take(next.value)
        this.#waitingBytes -= next.bytes
        this.#onTake?.()
        yield bytes
      } else if (this.#end !== undefined) return
      else await new Promise<void>((resolve) => (this.#onPush = resolve))
    }
  }

  get #isFull(): boolean {
    return this.#waitingBytes >= maxWaitingBytes
  }

  async close(): Promise<void> {
    await this.#values.close()
  }
}
