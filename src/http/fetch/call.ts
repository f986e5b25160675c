// A request of the Fetch standard, and the response to it: https://fetch.spec.whatwg.org

import type { OutgoingHttpHeaders } from 'node:http'
import { LorekeepError } from '../../errors.js'
import { BodyWatch, disconnect, isBodyAnnounced, missing, unannounced, wordings } from '../body.js'
import type { Body, BodyOptions, Call, Sink } from '../call.js'
import { openCoded } from '../coding/decoded-body.js'
import { AnswerBody } from './answer-body.js'

/** Statuses whose responses have no body, as the standard has them. */
const withoutBody = new Set([101, 204, 205, 304])

/** It sends no head before the first bytes: a comment for those who wait for events (1.4.5). */
const isBun = process.versions['bun'] !== undefined

export class FetchCall implements Call {
  readonly path: string
  readonly queryText: string
  readonly headers: Call['headers']
  /** Resolves when the head of the answer is known. */
  readonly response: Promise<Response>

  readonly #request: Request
  readonly #ofAll: [string, string][] = []
  readonly #leaving = new Set<() => void>()
  #respond: (response: Response) => void = () => {}
  #body: AnswerBody | undefined
  #status = 0
  #hasGone = false
  /** The body was read to its end, or there is none. */
  #isRead: boolean

  constructor(request: Request) {
    const { pathname, search } = new URL(request.url)
    this.path = pathname
    this.queryText = search.slice(1)
    this.headers = Object.fromEntries(request.headers)
    this.response = new Promise((resolve) => (this.#respond = resolve))
    this.#request = request
    this.#isRead = request.body === null
    const { signal } = request
    if (signal.aborted) this.#hasGone = true
    else signal.addEventListener('abort', this.#abort, { once: true })
  }

  get method(): string {
    return this.#request.method
  }

  get isBodyPending(): boolean {
    return !this.#isRead
  }

  get hasGone(): boolean {
    return this.#hasGone
  }

  get hasBegun(): boolean {
    return this.#status > 0
  }

  get status(): number {
    return this.#status
  }

  onGone(listener: () => void): () => void {
    this.#leaving.add(listener)
    return () => this.#leaving.delete(listener)
  }

  readonly #abort = (): void => {
    if (this.#body?.hasEnded === true) return
    this.#body?.cut(this.#request.signal.reason as Error)
    this.#leave()
  }

  readonly #leave = (): void => {
    if (this.#hasGone) return
    this.#hasGone = true
    for (const listener of [...this.#leaving]) listener()
  }

  openBody(options: BodyOptions): Uint8Array | AsyncIterable<Uint8Array> {
    const { body, bodyUsed } = this.#request
    if (body === null) {
      if (!isBodyAnnounced(this)) throw unannounced(options)
      // What was announced and is not there must not pass for something of no bytes.
      const length = this.headers['content-length']
      if (length !== '0') throw missing(length, 0)
      return openCoded(this, options, none)
    }
    if (bodyUsed || body.locked) {
      const { content } = options
      const what = content === 'core' || content === 'file' ? 'a body' : `a body (${content})`
      throw new LorekeepError(
        'LK_HTTP_BODY_CONSUMED',
        `${what} can be read once: give the handler the request before anything reads it, or request.clone(); ${wordings[content].limit} bounds it here`,
      )
    }
    return openCoded(this, options, (options) => this.#pull(body, options))
  }

  async *#pull(
    body: ReadableStream<Uint8Array>,
    options: BodyOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const watch = new BodyWatch(options)
    const reader = body.getReader()
    // A signal need not end a body, which would be waited for until it has been silent for too long.
    const forget = this.onGone(() => void reader.cancel().catch(() => {}))
    try {
      for (;;) {
        if (this.#hasGone) throw disconnect()
        const { done, value } = await watch.wait(reader.read().catch(cutOff))
        if (this.#hasGone) throw disconnect()
        if (done) break
        watch.take(value)
        yield value
      }
      this.#isRead = true
      // More is no loss: somebody may have decoded it. JSON says itself where it ends, and may have been written anew.
      const length = this.headers['content-length']
      const isWhole = options.content === 'json' || watch.bytes >= Number(length ?? 0)
      if (!isWhole) throw missing(length, watch.bytes)
    } finally {
      forget()
      // What is left of it nobody reads.
      if (!this.#isRead) reader.cancel().catch(() => {})
      reader.releaseLock()
    }
  }

  /** There is no parser before us that would leave what it made. */
  parsedBody(): undefined {
    return undefined
  }

  setHeader(name: string, value: string): void {
    // What is said of `Vary` adds up.
    const place = name === 'Vary' ? -1 : this.#ofAll.findIndex(([known]) => known === name)
    if (place < 0) this.#ofAll.push([name, value])
    else this.#ofAll[place] = [name, value]
  }

  async answer(status: number, headers: OutgoingHttpHeaders, body?: Body): Promise<void> {
    this.#send(status, headers, withoutBody.has(status) ? undefined : body)
    this.#request.signal.removeEventListener('abort', this.#abort)
  }

  begin(status: number, headers: OutgoingHttpHeaders): Sink {
    const isPlain = headers['Content-Encoding'] === undefined
    const isEvents = isPlain && headers['Content-Type'] === 'text/event-stream'
    const body = new AnswerBody(this.#leave, isEvents && isBun ? ':\n\n' : '')
    this.#body = body
    this.#send(status, headers, body.stream)
    return body
  }

  #send(
    status: number,
    headers: OutgoingHttpHeaders,
    body: Body | ReadableStream<Uint8Array> | undefined,
  ): void {
    const all = new Headers(this.#ofAll)
    for (const [name, value] of Object.entries(headers)) {
      for (const one of Array.isArray(value) ? value : [value]) {
        if (one === undefined) continue
        // What was said of every answer before goes for this one, too.
        if (name === 'Vary') all.append(name, String(one))
        else all.set(name, String(one))
      }
    }
    this.#status = status
    this.#respond(new Response(body ?? null, { status, headers: all }))
  }

  cut(): void {
    if (this.#body !== undefined) this.#body.cut(disconnect())
    // Whoever asked has gone: what it is answered nobody sees.
    else if (!this.hasBegun) this.#send(499, {}, undefined)
  }
}

async function* none(): AsyncGenerator<Uint8Array, void, undefined> {}

/** What a body says of its end before its end: that its sender has gone. */
function cutOff(): never {
  throw disconnect()
}
