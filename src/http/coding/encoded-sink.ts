// A body that is encoded while it is sent.

import type { Sink } from '../call.js'
import type { Encoder } from './codings.js'

export class EncodedSink implements Sink {
  readonly #sink: Sink
  readonly #encoder: Encoder
  /** What is written goes out at once: whoever reads lines waits for each. */
  readonly #isPrompt: boolean
  #hasEnded = false
  #failure: Error | undefined
  #wake: () => void = () => {}

  constructor(sink: Sink, encoder: Encoder, isPrompt: boolean) {
    this.#sink = sink
    this.#encoder = encoder
    this.#isPrompt = isPrompt
    // However slow the reader is: held back it would take more memory, and somebody would have to let it go on.
    encoder.on('data', (chunk: Uint8Array) => {
      sink.write(chunk)
      this.#wake()
    })
    encoder.on('drain', () => this.#wake())
    encoder.on('end', () => this.#over())
    encoder.on('close', () => this.#over())
    encoder.on('error', (error) => {
      this.#failure = error
      this.#over()
    })
  }

  write(chunk: string | Uint8Array): boolean {
    // Whoever asked is gone.
    if (this.#encoder.destroyed) return true
    this.#encoder.write(chunk)
    if (this.#isPrompt) this.#encoder.flush()
    return !this.isFull
  }

  flush(): void {
    this.#sink.flush()
  }

  get isFull(): boolean {
    return this.#encoder.writableNeedDrain || this.#sink.isFull
  }

  async drained(idleTimeoutMs: number): Promise<void> {
    await this.#until(() => !this.isFull, idleTimeoutMs)
  }

  async end(idleTimeoutMs: number): Promise<void> {
    this.#encoder.end()
    await this.#until(() => false, idleTimeoutMs)
    await this.#sink.end(idleTimeoutMs)
  }

  #over(): void {
    this.#hasEnded = true
    this.#wake()
  }

  /** Encoding ends by itself: what may take too long is the reader. */
  async #until(isSo: () => boolean, idleTimeoutMs: number): Promise<void> {
    for (;;) {
      if (this.#sink.isFull) await this.#sink.drained(idleTimeoutMs)
      if (this.#failure !== undefined) throw this.#failure
      if (this.#hasEnded || isSo()) return
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
