// A call of a user whose bytes are counted: bodies are read, and answers sent, no faster than they may.

import type { OutgoingHttpHeaders } from 'node:http'
import type { Principal } from './auth.js'
import type { BodyOptions, Call, Sink } from './call.js'
import type { Rates } from './rates.js'

/** What is in bodies and answers is counted, whatever coding it travels in. */
export class PacedCall implements Call {
  readonly #call: Call
  readonly #rates: Rates
  readonly #principal: Principal

  constructor(call: Call, rates: Rates, principal: Principal) {
    this.#call = call
    this.#rates = rates
    this.#principal = principal
  }

  get method(): string {
    return this.#call.method
  }

  get path(): string {
    return this.#call.path
  }

  get queryText(): string {
    return this.#call.queryText
  }

  get headers(): Call['headers'] {
    return this.#call.headers
  }

  get isBodyPending(): boolean {
    return this.#call.isBodyPending
  }

  get hasGone(): boolean {
    return this.#call.hasGone
  }

  get hasBegun(): boolean {
    return this.#call.hasBegun
  }

  get status(): number {
    return this.#call.status
  }

  onGone(listener: () => void): () => void {
    return this.#call.onGone(listener)
  }

  openBody(options: BodyOptions): Uint8Array | AsyncIterable<Uint8Array> {
    const body = this.#call.openBody(options)
    if (!(body instanceof Uint8Array)) return this.#paced(body)
    this.take(body.byteLength)
    return body
  }

  async *#paced(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of body) {
      const waitMs = this.take(chunk.byteLength)
      yield chunk
      await this.pause(waitMs)
    }
  }

  parsedBody(options: BodyOptions): object | undefined {
    const parsed = this.#call.parsedBody(options)
    if (parsed !== undefined) this.take(Number(this.headers['content-length'] ?? 0))
    return parsed
  }

  setHeader(name: string, value: string): void {
    this.#call.setHeader(name, value)
  }

  /** It is there, so it goes at once: what comes next waits for it. */
  async answer(status: number, headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<void> {
    this.take(body?.byteLength ?? 0)
    await this.#call.answer(status, headers, body)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Sink {
    return new PacedSink(this.#call.begin(status, headers), this)
  }

  cut(): void {
    this.#call.cut()
  }

  take(bytes: number): number {
    return this.#rates.take(this.#principal, bytes)
  }

  /** Until then, or until whoever asked has gone. */
  async pause(waitMs: number): Promise<void> {
    if (waitMs === 0 || this.hasGone) return
    await new Promise<void>((resolve) => {
      const forget = this.onGone(() => {
        stop()
        resolve()
      })
      const stop = this.#rates.clock.after(waitMs, () => {
        forget()
        resolve()
      })
    })
  }
}

class PacedSink implements Sink {
  readonly #sink: Sink
  readonly #call: PacedCall
  /** What was written has to be waited for. */
  #waitMs = 0

  constructor(sink: Sink, call: PacedCall) {
    this.#sink = sink
    this.#call = call
  }

  write(chunk: string | Uint8Array): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.byteLength(chunk) : chunk.byteLength
    this.#waitMs = this.#call.take(bytes)
    return this.#sink.write(chunk) && this.#waitMs === 0
  }

  flush(): void {
    this.#sink.flush()
  }

  get isFull(): boolean {
    return this.#waitMs > 0 || this.#sink.isFull
  }

  async drained(idleTimeoutMs: number): Promise<void> {
    await this.#paid()
    if (this.#sink.isFull) await this.#sink.drained(idleTimeoutMs)
  }

  async end(idleTimeoutMs: number): Promise<void> {
    // What was sent last is paid for by who comes next.
    await this.#sink.end(idleTimeoutMs)
  }

  async #paid(): Promise<void> {
    const waitMs = this.#waitMs
    this.#waitMs = 0
    await this.#call.pause(waitMs)
  }
}
