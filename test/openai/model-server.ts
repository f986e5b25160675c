// An OpenAI-compatible server that says what a test tells it to, and a clock that does not wait.

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
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

/** `hang` never answers, `cut` breaks off in the middle of an answer. */
export type Answer = Reply | 'hang' | 'cut'

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
      response.writeHead(answer.status ?? 200, answer.headers)
      response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
    })
  })

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

/** Waits end at once and are written down; a wait of `timeoutMs` is a timeout, which a test ends. */
export class VirtualClock implements Clock {
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
