// A running server. node:http rather than fetch: its timeouts are ours to set (there are none), and
// an answer that comes before the upload has ended can be read.

import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { parseJson } from '../../json-text.js'
import { variable } from '../config/environment.js'
import { CutShort, describe } from '../output/failure.js'
import { ServerError } from '../output/server-error.js'

/** The longest answer in JSON that is read: a page of objects may be long. */
const maxJsonBytes = 256 * 1024 * 1024

export type Parameters = Readonly<Record<string, string | undefined>>

/** What a broken connection means, by when it broke. */
export interface Loss {
  readonly sending: string
  readonly sent: string
}

export class ServerClient {
  readonly origin: string
  readonly #url: URL
  readonly #token: string | undefined
  readonly #base: string

  constructor(url: URL, token: string | undefined) {
    this.origin = url.origin
    this.#url = url
    this.#token = token
    this.#base = url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')
  }

  /** A request for the caller to write and end. */
  start(method: string, path: string, parameters: Parameters, signal?: AbortSignal): ClientRequest {
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
    const query = given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`
    return (this.#url.protocol === 'https:' ? httpsRequest : httpRequest)({
      method,
      host: this.#url.hostname.replace(/^\[|\]$/g, ''),
      port: this.#url.port,
      // As it is: a URL object would take the ids `.` and `..` for directories.
      path: `${this.#base}/api/v1/${path}${query}`,
      headers: {
        Accept: 'application/json, application/octet-stream, text/event-stream',
        ...(this.#token !== undefined && { Authorization: `Bearer ${this.#token}` }),
      },
      agent: false,
      ...(signal && { signal }),
    })
  }

  /** @throws ServerError and others for everything but success, as all methods do */
  async ask(method: string, path: string, parameters: Parameters = {}, signal?: AbortSignal) {
    const request = this.start(method, path, parameters, signal)
    const response = responseOf(request)
    request.end()
    const lost = (error: unknown) => {
      signal?.throwIfAborted()
      return this.#unreachable(error)
    }
    return accepted(await response.catch(lost))
  }

  async askJson(
    method: string,
    path: string,
    parameters?: Parameters,
    signal?: AbortSignal,
  ): Promise<unknown> {
    return readJson(await this.ask(method, path, parameters, signal))
  }

  /** All of a list, page by page. */
  async *pages<T>(
    name: string,
    path: string,
    parameters: Parameters,
    limit = Infinity,
    signal?: AbortSignal,
  ): AsyncGenerator<T, void, undefined> {
    let { after } = parameters
    for (let left = limit; left > 0;) {
      const asked = { ...parameters, after, limit: String(Math.min(left, 1000)) }
      const page = (await this.askJson('GET', path, asked, signal)) as Record<string, T[]> & {
        readonly next?: string
      }
      const items = page[name] as T[]
      yield* items
      left -= items.length
      after = page.next
      if (after === undefined) return
    }
  }

  /** All of a list that is small. */
  async all<T>(name: string): Promise<T[]> {
    const all: T[] = []
    for await (const item of this.pages<T>(name, name, {})) all.push(item)
    return all
  }

  /** The token's user; for a token that may act for any, whoever the server takes for it. */
  async ownUser(): Promise<string> {
    const { user, defaultUser = user } = (await this.askJson('GET', 'whoami')) as {
      readonly user: string
      readonly defaultUser?: string
    }
    return defaultUser
  }

  /** Sends a text of JSON, and reads one. */
  sendJson(
    method: string,
    path: string,
    parameters: Parameters,
    json: string,
    loss: Loss,
  ): Promise<unknown> {
    return this.send(method, path, parameters, json, loss, readJson)
  }

  /** Sends a text of JSON; `read` takes what it needs of the answer. */
  async send<T>(
    method: string,
    path: string,
    parameters: Parameters,
    json: string,
    loss: Loss,
    read: (response: IncomingMessage) => T | Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const body = { type: 'application/json', bytes: Buffer.from(json) }
    return this.sendBody(method, path, parameters, body, loss, read, signal)
  }

  async sendBody<T>(
    method: string,
    path: string,
    parameters: Parameters,
    { type, bytes }: { readonly type: string; readonly bytes: Buffer },
    loss: Loss,
    read: (response: IncomingMessage) => T | Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const request = this.start(method, path, parameters, signal)
    request.setHeader('Content-Type', type)
    request.setHeader('Content-Length', bytes.byteLength)
    try {
      return await read(await this.upload(request, piecesOf(bytes), loss, signal))
    } catch (error) {
      if (signal?.aborted && !(error instanceof CutShort)) throw interrupted(signal, loss.sent)
      throw error
    } finally {
      request.destroy()
    }
  }

  /**
   * Sends a body and gives the answer, which may come before the body has ended: after a refusal
   * there may be more to send than the server is going to read, and the request is the caller's to
   * destroy. With the signal of the request, an abort says what it means, too.
   */
  async upload(
    request: ClientRequest,
    source: AsyncIterable<Uint8Array>,
    loss: Loss,
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const response = responseOf(request)
    let connected = false
    let sent = false
    request.on('socket', (socket) => socket.once('connect', () => (connected = true)))
    const lost = (error: unknown): never => {
      const outcome = sent ? loss.sent : loss.sending
      if (signal?.aborted) throw interrupted(signal, outcome)
      if (!connected) this.#unreachable(error)
      throw new Error(`the connection to ${this.origin} broke (${describe(error)}): ${outcome}`, {
        cause: error,
      })
    }
    const send = async () => {
      for await (const chunk of source) {
        if (request.destroyed) return
        if (!request.write(chunk)) await writable(request)
      }
      sent = true
      request.end()
    }
    const sending = send()
    sending.catch(() => {})
    const answer = Promise.race([response.catch(lost), sending.then(() => response.catch(lost))])
    return accepted(await answer)
  }

  #unreachable(cause: unknown): never {
    throw new Error(`cannot reach ${this.origin}: ${describe(cause)}`, { cause })
  }
}

function interrupted({ reason }: AbortSignal, outcome: string): CutShort {
  return new CutShort(`${describe(reason)}: ${outcome}`, reason)
}

export async function readJson(response: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength
      if (bytes > maxJsonBytes) throw new Error('it is too long')
      chunks.push(chunk)
    }
    return parseJson(Buffer.concat(chunks).toString('utf8'))
  } catch (cause) {
    throw new Error(`the server's answer can not be read: ${describe(cause)}`, { cause })
  }
}

function responseOf(request: ClientRequest): Promise<IncomingMessage> {
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  // A failure may come before anyone waits for the response.
  response.catch(() => {})
  return response
}

async function writable(request: ClientRequest): Promise<void> {
  if (request.destroyed) return
  await new Promise<void>((resolve) => {
    request.on('drain', settle).on('close', settle)

    function settle(): void {
      request.off('drain', settle).off('close', settle)
      resolve()
    }
  })
}

/** Piece by piece: a server that refuses it is heard before all of it was sent. */
async function* piecesOf(body: Buffer): AsyncGenerator<Uint8Array, void, undefined> {
  const size = 64 * 1024
  for (let at = 0; at < body.byteLength; at += size) yield body.subarray(at, at + size)
}

/** The response where it is a success. Else the server's own words, which are those of a local run. */
async function accepted(response: IncomingMessage): Promise<IncomingMessage> {
  const { statusCode = 0, statusMessage = '' } = response
  if (statusCode >= 200 && statusCode < 300) return response
  const problem = await readJson(response).catch(() => undefined)
  const details = (problem ?? {}) as Readonly<Record<string, unknown>>
  const { detail, code } = details
  if (typeof detail !== 'string' || typeof code !== 'string') {
    throw new Error(`the server answered ${statusCode} ${statusMessage}; is it a lorekeep server?`)
  }
  const advice = adviceFor(code, detail)
  throw new ServerError(advice === undefined ? detail : `${detail} (${advice})`, code, details)
}

function adviceFor(code: string, detail: string): string | undefined {
  switch (code) {
    case 'LK_HTTP_UNAUTHORIZED':
      return 'give the token with --token or LOREKEEP_TOKEN'
    case 'LK_HTTP_FORBIDDEN':
      // It may be about a collection, or about what no user of one's own can do.
      if (!detail.includes("user'")) return undefined
      // Who has it in the environment may not know that it was asked for.
      return variable('LOREKEEP_USER') === undefined
        ? '--user names the user'
        : '--user names the user, or else LOREKEEP_USER, which is set'
    case 'LK_FLOW_NOT_FOUND':
      return '--flow names the flow'
    case 'LK_STORAGE_FAILED':
    case 'LK_STORAGE_UNAVAILABLE':
    case 'LK_STORAGE_CORRUPT':
    case 'LK_STORAGE_FORMAT':
    case 'LK_INTERNAL':
      // What can hold names of files stays there.
      return `${code}: the server's log says more`
    default:
      return undefined
  }
}
