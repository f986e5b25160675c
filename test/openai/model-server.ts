// An OpenAI-compatible server that says what a test tells it to, and a clock that does not wait.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { Test } from 'tap'
import type { Clock } from '../../src/clock.js'

export interface ModelRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, but for strings, which are sent as they are. */
  readonly body?: unknown
}

/** An answer in pieces, which are sent one by one; at its end it is whole, or broken off, or hangs. */
export interface Stream {
  readonly pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>
  readonly type?: string
  readonly end?: 'cut' | 'hang'
}

/** `hang` never answers, `cut` breaks off in the middle of an answer. */
export type Answer = Reply | Stream | 'hang' | 'cut'

export class FakeModelServer {
  readonly requests: ModelRequest[] = []
  /** For the request of that number, from 0. */
  answer: (request: ModelRequest, number: number) => Answer = () => ({ status: 404 })
  /** Called when a request came that gets no answer. */
  onHang: () => void = () => {}
  #port = 0
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as ModelRequest['body']
      const came = { path: request.url ?? '', headers: request.headers, body }
      const answer = this.answer(came, this.requests.push(came) - 1)
      if (answer === 'hang') return this.onHang()
      if (answer === 'cut') {
        response.writeHead(200, { 'Content-Length': '1000' })
        response.write('{"data":[', () => response.destroy())
        return
      }
      if ('pieces' in answer) return void this.#stream(answer, response)
      response.writeHead(answer.status ?? 200, answer.headers)
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
  })

  /** Connections that a client closed before their answer was whole. */
  left = 0
  /** Called when a client has closed one. */
  onLeave: () => void = () => {}

  async #stream({ pieces, type = 'text/event-stream', end }: Stream, response: ServerResponse) {
    response.once('close', () => {
      if (response.writableFinished) return
      this.left++
      this.onLeave()
    })
    response.writeHead(200, { 'Content-Type': type }).flushHeaders()
    try {
      await pipeline(oneByOne(pieces), response, { end: false })
    } catch {
      return
    }
    if (end === 'cut') response.destroy()
    else if (end === 'hang') this.onHang()
    else response.end()
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/v1`
  }

  /** At the port that it had, if it had one. */
  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Connections are refused from now on. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    this.#server.close()
    this.#server.closeAllConnections()
    await once(this.#server, 'close')
  }
}

/** Each is a chunk of its own. */
async function* oneByOne<T>(pieces: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T> {
  for await (const piece of pieces) {
    yield piece
    await new Promise((resolve) => setImmediate(resolve))
  }
}

export async function startModelServer(t: Test): Promise<FakeModelServer> {
  const server = new FakeModelServer()
  await server.start()
  t.teardown(() => server.stop())
  return server
}

/** The vector of a text is its length, so that a test sees which one it got. */
export function embeddings({ body }: ModelRequest): Reply {
  const data = (body['input'] as string[]).map((text, index) => ({
    index,
    embedding: [text.length, 0.5],
  }))
  return { body: { data } }
}

export function completion(content: unknown, finishReason = 'stop'): Reply {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return { body: { choices: [{ message: { content: text }, finish_reason: finishReason }] } }
}

/** Events of a completion with these texts; `finish` null leaves out why it ended. */
export function events(texts: readonly string[], finish: string | null = 'stop'): string[] {
  const event = (choice: object) => `data: ${JSON.stringify({ choices: [choice] })}\n\n`
  return [
    event({ delta: { role: 'assistant', content: '' }, finish_reason: null }),
    ...texts.map((content) => event({ delta: { content }, finish_reason: null })),
    ...(finish === null ? [] : [event({ delta: {}, finish_reason: finish })]),
    'data: [DONE]\n\n',
  ]
}

/** Waits end at once and are written down; a wait of `timeoutMs` is a timeout, which a test ends. */
export class VirtualClock implements Pick<Clock, 'now' | 'after'> {
  static readonly timeoutMs = 45_678
  readonly waits: number[] = []
  /** Timeouts that run. */
  readonly timeouts = new Set<() => void>()
  /** Called with the number of each wait, from 1, before it ends. */
  onWait: (number: number) => unknown = () => {}
  #now = Date.UTC(2026, 0, 1)

  now(): number {
    return this.#now
  }

  after(delayMs: number, call: () => void): () => void {
    if (delayMs === VirtualClock.timeoutMs) {
      this.timeouts.add(call)
      return () => this.timeouts.delete(call)
    }
    let taken = false
    this.#now += delayMs
    void Promise.resolve(this.onWait(this.waits.push(delayMs))).then(() => taken || call())
    return () => (taken = true)
  }
}

/** Options of a model at that server. `fraction` 0 is the whole back-off. */
export function modelAt(server: FakeModelServer, clock = new VirtualClock()) {
  const { timeoutMs } = VirtualClock
  return { model: 'm', url: server.url, timeoutMs, clock, chance: { fraction: () => 0 } }
}
