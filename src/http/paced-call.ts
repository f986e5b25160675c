// A call of a user whose bytes are counted: bodies are read, and answers sent, no faster than they may.

import type { OutgoingHttpHeaders } from 'node:http'
import type { Principal } from './auth.js'
import type { Body, BodyOptions, Call, Sink } from './call.js'
import type { Rates } from './rates.js'
import { WrappedCall } from './wrapped-call.js'

/** What is in bodies and answers is counted, whatever coding it travels in. */
export class PacedCall extends WrappedCall {
  readonly #rates: Rates
  readonly #principal: Principal

  constructor(call: Call, rates: Rates, principal: Principal) {
    super(call)
    this.#rates = rates
    this.#principal = principal
  }

  override openBody(options: BodyOptions): Uint8Array | AsyncIterable<Uint8Array> {
    const body = this.inner.openBody(options)
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

  override parsedBody(options: BodyOptions): object | undefined {
    const parsed = this.inner.parsedBody(options)
    if (parsed !== undefined) this.take(this.#lengthOf(parsed))
    return parsed
  }

  /** Of what came encoded, or in chunks, no length was announced that tells how much it is. */
  #lengthOf(parsed: object): number {
    const { 'content-length': length, 'content-encoding': coding } = this.headers
    if (length !== undefined && coding === undefined) return Number(length)
    return Buffer.byteLength(JSON.stringify(parsed))
  }

  /** It is there, so it goes at once: what comes next waits for it. */
  override async answer(status: number, headers: OutgoingHttpHeaders, body?: Body): Promise<void> {
    this.take(body === undefined ? 0 : Buffer.byteLength(body))
    await this.inner.answer(status, headers, body)
  }

  override begin(status: number, headers: OutgoingHttpHeaders): Sink {
    return new PacedSink(this.inner.begin(status, headers), this)
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

  constructor(sink: Sink, call: PacedCall) {
    this.#sink = sink
    this.#call = call
  }

  write(chunk: string | Uint8Array): boolean {
    const waitMs = this.#call.take(Buffer.byteLength(chunk))
    return this.#sink.write(chunk) && waitMs === 0
  }

  flush(): void {
    this.#sink.flush()
  }

  /** Asked anew each time: time pays, whether somebody waits or not. */
  get isFull(): boolean {
    return this.#call.take(0) > 0 || this.#sink.isFull
  }

  async drained(idleTimeoutMs: number): Promise<void> {
    await this.#call.pause(this.#call.take(0))
    if (this.#sink.isFull) await this.#sink.drained(idleTimeoutMs)
  }

  async end(idleTimeoutMs: number): Promise<void> {
    // What was sent last is paid for by who comes next.
    await this.#sink.end(idleTimeoutMs)
  }
}
