// A call whose answers are encoded as its client accepts it, where that is worth it.

import type { OutgoingHttpHeaders } from 'node:http'
import type { BodyOptions, Call, Sink } from '../call.js'
import type { AnswerCoding } from './accepted.js'
import { EncodedSink } from './encoded-sink.js'

/** Less than a packet is not worth it. */
const leastBytes = 1024

/** What is read while it is made. */
const promptTypes = ['text/event-stream', 'application/x-ndjson']

export class EncodedCall implements Call {
  readonly #call: Call
  readonly #coding: AnswerCoding
  /** Everything has to be encoded. */
  readonly #isRequired: boolean

  constructor(call: Call, coding: AnswerCoding, isRequired: boolean) {
    this.#call = call
    this.#coding = coding
    this.#isRequired = isRequired
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
    const { headers } = this.#call
    // A range is one of what is not encoded.
    return this.#isRequired ? { ...headers, range: undefined } : headers
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
    return this.#call.openBody(options)
  }

  parsedBody(options: BodyOptions): object | undefined {
    return this.#call.parsedBody(options)
  }

  setHeader(name: string, value: string): void {
    this.#call.setHeader(name, value)
  }

  async answer(status: number, headers: OutgoingHttpHeaders, body?: Uint8Array): Promise<void> {
    const length = body?.byteLength ?? (this.method === 'HEAD' ? lengthIn(headers) : 0)
    if (!this.#isEncoded(status, headers, length)) {
      await this.#call.answer(status, headers, body)
      return
    }
    const encoded = body && (await this.#coding.encode.whole(body))
    const whole = this.#headersOf(headers)
    if (encoded !== undefined) whole['Content-Length'] = encoded.byteLength
    if (!this.hasGone) await this.#call.answer(status, whole, encoded)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Sink {
    if (!this.#isEncoded(status, headers, lengthIn(headers)))
      return this.#call.begin(status, headers)
    const sink = this.#call.begin(status, this.#headersOf(headers))
    const encoder = this.#coding.encode.createEncoder()
    const forget = this.onGone(() => encoder.destroy())
    encoder.once('close', forget)
    return new EncodedSink(sink, encoder, promptTypes.includes(typeIn(headers)))
  }

  cut(): void {
    this.#call.cut()
  }

  /** @param length of what is not encoded */
  #isEncoded(status: number, headers: OutgoingHttpHeaders, length: number): boolean {
    if (status === 206 || length === 0 || typeIn(headers) === '') return false
    if (this.#isRequired) return true
    // Events are small, and those who read them are near.
    return length >= leastBytes && typeIn(headers) !== 'text/event-stream'
  }

  /** Of the encoded answer, which is another one than that which is not (section 8.8.3.3). */
  #headersOf(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
    const { name } = this.#coding
    const coded: OutgoingHttpHeaders = { ...headers, 'Content-Encoding': name }
    // A range and a digest are of what is not encoded.
    delete coded['Content-Length']
    delete coded['Accept-Ranges']
    delete coded['Repr-Digest']
    const isRead = this.method === 'GET' || this.method === 'HEAD'
    // What a change answers names what is stored.
    if (isRead && typeof headers['ETag'] === 'string') {
      coded['ETag'] = headers['ETag'].replace(/"$/, `.${name}"`)
    }
    return coded
  }
}

function typeIn(headers: OutgoingHttpHeaders): string {
  return String(headers['Content-Type'] ?? '').split(';', 1)[0] ?? ''
}

function lengthIn(headers: OutgoingHttpHeaders): number {
  const { 'Content-Length': length } = headers
  return length === undefined ? Infinity : Number(length)
}
