// The body of a response that is made while it is read.

import { LorekeepError } from '../../errors.js'
import type { Sink } from '../call.js'

/** What waits for the reader before the writer does. */
const highWaterBytes = 64 * 1024

const encoder = new TextEncoder()

export class AnswerBody implements Sink {
  readonly stream: ReadableStream<Uint8Array>
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  #waiting: Uint8Array[] = []
  #bytes = 0
  /** The reader wants more than there is. */
  #isWanted = false
  /** No more will be written. */
  #isWhole = false
  #isOver = false
  /** Whoever waits for the reader. */
  #wake: (() => void) | undefined

  readonly #opening: string

  /** `onCancel`: the reader has gone. `opening` is what has to be sent where the head has to go at once. */
  constructor(onCancel: () => void, opening = '') {
    this.#opening = opening
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        pull: () => {
          this.#isWanted = true
          this.#pass()
        },
        cancel: () => {
          onCancel()
          this.leave()
        },
      },
      { highWaterMark: 0 },
    )
  }

  /** All of it was taken, or it was cut. */
  get hasEnded(): boolean {
    return this.#isOver
  }

  write(chunk: string | Uint8Array): boolean {
    if (this.#isOver) return true
    const bytes = typeof chunk === 'string' ? encoder.encode(chunk) : chunk
    // None would be taken for the end by some readers.
    if (bytes.byteLength > 0) {
      this.#waiting.push(bytes)
      this.#bytes += bytes.byteLength
      this.#pass()
    }
    return !this.isFull
  }

  flush(): void {
    // The head is on its way with begin(), for most.
    this.write(this.#opening)
  }

  get isFull(): boolean {
    return this.#bytes >= highWaterBytes
  }

  async drained(idleTimeoutMs: number): Promise<void> {
    await this.#until(() => !this.isFull, idleTimeoutMs)
  }

  async end(idleTimeoutMs: number): Promise<void> {
    this.#isWhole = true
    this.#pass()
    await this.#until(() => this.#waiting.length === 0, idleTimeoutMs)
  }

  /** The reader has gone. */
  leave(): void {
    this.#isOver = true
    this.#waiting = []
    this.#bytes = 0
    this.#wake?.()
  }

  /** Ends it with an error, so that it does not look whole. */
  cut(error: Error): void {
    if (this.#isOver) return
    this.leave()
    this.#controller?.error(error)
  }

  /** Gives the reader what it asked for. */
  #pass(): void {
    if (this.#isOver) return
    const next = this.#isWanted ? this.#waiting.shift() : undefined
    if (next !== undefined) {
      this.#isWanted = false
      this.#bytes -= next.byteLength
      this.#controller?.enqueue(next)
    }
    if (this.#isWhole && this.#waiting.length === 0) {
      this.#isOver = true
      this.#controller?.close()
    }
    this.#wake?.()
  }

  async #until(isSo: () => boolean, idleTimeoutMs: number): Promise<void> {
    while (!this.#isOver && !isSo()) {
      await new Promise<void>((resolve, reject) => {
        const idle = setTimeout(() => {
          reject(new LorekeepError('LK_HTTP_TIMEOUT', `nothing was read for ${idleTimeoutMs} ms`))
        }, idleTimeoutMs)
        this.#wake = () => {
          clearTimeout(idle)
          resolve()
        }
      })
    }
  }
}
