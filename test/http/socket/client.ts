// A client of the socket, in the framing of the reference system's own, and what its commands make of
// cores: written from the descriptions of both.

import { once } from 'node:events'
import { decodeMulti, encode } from '@msgpack/msgpack'
import type { Test } from 'tap'
import { WebSocket } from 'ws'

export interface Answer {
  readonly id?: unknown
  readonly response?: Readonly<Record<string, unknown>>
  readonly error?: { readonly type: string; readonly message: string; readonly code: string }
  readonly complete?: boolean
  readonly type?: string
}

export class Client {
  readonly socket: WebSocket
  /** What came, and nobody has asked for yet. */
  readonly #waiting: string[] = []
  #wake = () => {}
  #next = 0

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('message', (data: Buffer) => {
      this.#waiting.push(data.toString())
      this.#wake()
    })
    socket.on('close', () => this.#wake())
    socket.on('error', () => {})
  }

  static async open(
    t: Test,
    url: string,
    { token, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
  ): Promise<Client> {
    const query = token === undefined ? '' : `?token=${encodeURIComponent(token)}`
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1/socket${query}`, { headers })
    t.teardown(() => socket.terminate())
    const client = new Client(socket)
    await once(socket, 'open')
    return client
  }

  send(message: object | string): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  async text(): Promise<string> {
    for (;;) {
      const text = this.#waiting.shift()
      if (text !== undefined) return text
      if (this.socket.readyState !== WebSocket.OPEN) throw new Error('closed')
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async receive(): Promise<Answer> {
    return JSON.parse(await this.text()) as Answer
  }

  /** All answers to one request, until the last. */
  async ask(request: object, envelope: object = { service: 'knowledge' }): Promise<Answer[]> {
    const id = `req-${++this.#next}`
    this.send({ id, ...envelope, request })
    const answers: Answer[] = []
    for (;;) {
      const answer = await this.receive()
      if (answer.id !== id) throw new Error(`an answer to ${String(answer.id)}, not to ${id}`)
      answers.push(answer)
      if (answer.complete === true) return answers
    }
  }

  /** The one answer there is to it. */
  async one(request: object, envelope?: object): Promise<Answer> {
    const [answer, ...more] = await this.ask(request, envelope)
    if (answer === undefined || more.length > 0) throw new Error(`${more.length + 1} answers`)
    return answer
  }

  async authenticate(token: string): Promise<Answer> {
    this.send({ type: 'auth', token })
    return this.receive()
  }

  /** The code that it was closed with. */
  async closed(): Promise<number> {
    if (this.socket.readyState === WebSocket.CLOSED) return 0
    const [code] = (await once(this.socket, 'close')) as [number]
    return code
  }
}

type Message = ['t' | 'ge', Record<string, never>]

/** The request of tg-put-kg-core of 1.x for each message of a core's file, as JSON. */
export function putsOf1x(core: Uint8Array, id: string, user: string): object[] {
  return [...decodeMulti(core)].map((message) => {
    const [type, { m, t, e }] = message as Message
    const metadata = { id, metadata: m?.['m'], user, collection: 'default' }
    const request = { operation: 'put-kg-core', user, id }
    if (type === 't') return { ...request, triples: { metadata, triples: t } }
    const entities = (e as unknown as { e: object; v: object }[]).map(({ e, v }) => {
      return { entity: e, vectors: v }
    })
    return { ...request, 'graph-embeddings': { metadata, entities } }
  })
}

/** What tg-get-kg-core of 1.x writes for an answer; a number with a point is a double there. */
export function fileOf1x(answers: readonly Answer[]): Buffer {
  const messages = answers.flatMap(({ response = {} }) => {
    const { triples, 'graph-embeddings': embeddings } = response as Record<string, Part | undefined>
    const m = (part: Part) => {
      const { id: i, metadata: m, user: u, collection: c } = part.metadata
      return { i, m, u, c }
    }
    return [
      ...(triples ? [['t', { m: m(triples), t: triples.triples }]] : []),
      ...(embeddings
        ? [
            [
              'ge',
              {
                m: m(embeddings),
                e: embeddings.entities?.map(({ entity, vectors }) => ({ e: entity, v: vectors })),
              },
            ],
          ]
        : []),
    ]
  })
  return Buffer.concat(messages.map((message) => encode(message, { forceIntegerToFloat: true })))
}

interface Part {
  readonly metadata: Readonly<Record<string, unknown>>
  readonly triples?: readonly object[]
  readonly entities?: readonly { readonly entity: object; readonly vectors: object }[]
}
