// A call whose answers are encoded as its client accepts it, where that is worth it.

import type { OutgoingHttpHeaders } from 'node:http'
import type { Body, Call, Sink } from '../call.js'
import { WrappedCall } from '../wrapped-call.js'
import type { AnswerCoding } from './accepted.js'
import { EncodedSink } from './encoded-sink.js'

/** Less than a packet is not worth it. */
const leastBytes = 1024

/** What is read while it is made. */
const promptTypes = ['text/event-stream', 'application/x-ndjson']

export class EncodedCall extends WrappedCall {
  readonly #coding: AnswerCoding
  /** Everything has to be encoded. */
  readonly #isRequired: boolean

  constructor(call: Call, coding: AnswerCoding, isRequired: boolean) {
    super(call)
    this.#coding = coding
    this.#isRequired = isRequired
  }

  override get headers(): Call['headers'] {
    const { headers } = this.inner
    // A range is one of what is not encoded.
    return this.#isRequired ? { ...headers, range: undefined } : headers
  }

  override async answer(status: number, headers: OutgoingHttpHeaders, body?: Body): Promise<void> {
    const ofNone = this.method === 'HEAD' ? lengthIn(headers) : 0
    const length = body === undefined ? ofNone : Buffer.byteLength(body)
    if (!this.#isEncoded(status, headers, length)) {
      await this.inner.answer(status, headers, body)
      return
    }
    const encoded = body === undefined ? undefined : await this.#coding.encode.whole(bytesOf(body))
    const whole = this.#headersOf(headers)
    if (encoded !== undefined) whole['Content-Length'] = encoded.byteLength
    if (!this.hasGone) await this.inner.answer(status, whole, encoded)
  }

  override begin(status: number, headers: OutgoingHttpHeaders): Sink {
    if (!this.#isEncoded(status, headers, lengthIn(headers)))
      return this.inner.begin(status, headers)
    const sink = this.inner.begin(status, this.#headersOf(headers))
    const encoder = this.#coding.encode.createEncoder()
    const forget = this.onGone(() => encoder.destroy())
    encoder.once('close', forget)
    return new EncodedSink(sink, encoder, promptTypes.includes(typeIn(headers)))
  }

  /** @param length of what is not encoded */
  #isEncoded(status: number, headers: OutgoingHttpHeaders, length: number): boolean {
    if (status === 206 || length === 0 || typeIn(headers) === '') return false
    // Made ready before, in a coding that is accepted.
    if (headers['Content-Encoding'] !== undefined) return false
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

function bytesOf(body: Body): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body
}

function typeIn(headers: OutgoingHttpHeaders): string {
  return String(headers['Content-Type'] ?? '').split(';', 1)[0] ?? ''
}

function lengthIn(headers: OutgoingHttpHeaders): number {
  const { 'Content-Length': length } = headers
  return length === undefined ? Infinity : Number(length)
}
