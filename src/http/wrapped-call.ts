// A call that goes by another one. What of it is another is said by who extends it.

import type { OutgoingHttpHeaders } from 'node:http'
import type { Body, BodyOptions, Call, Sink } from './call.js'

export class WrappedCall implements Call {
  protected readonly inner: Call

  constructor(inner: Call) {
    this.inner = inner
  }

  get method(): string {
    return this.inner.method
  }

  get path(): string {
    return this.inner.path
  }

  get queryText(): string {
    return this.inner.queryText
  }

  get headers(): Call['headers'] {
    return this.inner.headers
  }

  get isBodyPending(): boolean {
    return this.inner.isBodyPending
  }

  get hasGone(): boolean {
    return this.inner.hasGone
  }

  get hasBegun(): boolean {
    return this.inner.hasBegun
  }

  get status(): number {
    return this.inner.status
  }

  onGone(listener: () => void): () => void {
    return this.inner.onGone(listener)
  }

  openBody(options: BodyOptions): Uint8Array | AsyncIterable<Uint8Array> {
    return this.inner.openBody(options)
  }

  parsedBody(options: BodyOptions): object | undefined {
    return this.inner.parsedBody(options)
  }

  setHeader(name: string, value: string): void {
    this.inner.setHeader(name, value)
  }

  answer(status: number, headers: OutgoingHttpHeaders, body?: Body): Promise<void> {
    return this.inner.answer(status, headers, body)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Sink {
    return this.inner.begin(status, headers)
  }

  cut(): void {
    this.inner.cut()
  }
}
