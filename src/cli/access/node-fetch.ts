// The fetch of the command, by node:http: its timeouts are ours to set (that of Node gives up after
// 300 s without a word, as an import or a long question may be), an answer that comes before the upload
// has ended can be read, and what a broken connection means is known by when it broke. Of a Response it
// has what the client reads: the class of Node takes 24 ms to load.

import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { ConnectOptions } from '../../client/index.js'
import { ConnectionError, interruptions } from '../output/connection-error.js'
import type { Phase } from '../output/connection-error.js'
import { describe } from '../output/failure.js'

export interface FetchLimits {
  /** The longest answer in JSON that is read: a page of objects may be long. */
  readonly maxJsonBytes: number
  /** Events come with signs of life between them: who is silent for so long may be gone. */
  readonly silenceMs: number
}

const fetchLimits: FetchLimits = { maxJsonBytes: 256 * 1024 * 1024, silenceMs: 60_000 }
/** So much is written before a refusal is looked for. */
const pieceBytes = 64 * 1024

const phases: readonly Phase[] = ['connecting', 'sending', 'sent']

type Fetch = NonNullable<ConnectOptions['fetch']>

export function createFetch(limits: FetchLimits = fetchLimits): Fetch {
  // Of what is tried again: an attempt before may have been done, whatever becomes of the last.
  const before = new Map<string, Phase>()
  // An address at which nobody has ever been is misspelt sooner than it is that of a server about to start.
  let wasReached = false

  const fetch = async (url: string, init: RequestInit) => {
    const { origin } = new URL(url)
    const name = `${init.method} ${url}`
    const request = requestTo(url, init)
    let [isConnected, isSent] = [false, false]
    request.on('socket', (socket) =>
      socket.once('connect', () => (isConnected = wasReached = true)),
    )
    const lost = (cause: unknown): never => {
      const { signal } = init
      const own = !isConnected ? 'connecting' : isSent ? 'sent' : 'sending'
      const phase = laterOf(own, before.get(name))
      if (signal?.aborted) {
        interruptions.set(signal.reason as object, phase)
        throw signal.reason
      }
      before.set(name, phase)
      const found = describe(cause)
      throw new ConnectionError(
        phase === 'connecting'
          ? `cannot reach ${origin}: ${found}`
          : `the connection to ${origin} broke (${found})`,
        phase,
        cause,
        !wasReached,
      )
    }
    const answered = answerOf(request)
    const sending = send(request, init.body).then(() => void (isSent = true))
    try {
      const response = await Promise.race([
        answered.catch(lost),
        sending.then(() => answered.catch(lost)),
      ])
      before.delete(name)
      return responseOf(request, response, origin, limits)
    } catch (error) {
      sending.catch(() => {})
      request.destroy()
      throw error
    }
  }
  return Object.assign(fetch, { isLiteral: true as const })
}

function laterOf(phase: Phase, other: Phase | undefined): Phase {
  return other !== undefined && phases.indexOf(other) > phases.indexOf(phase) ? other : phase
}

function requestTo(url: string, { method = 'GET', headers, signal }: RequestInit): ClientRequest {
  const { origin, protocol, hostname, port } = new URL(url)
  return (protocol === 'https:' ? httpsRequest : httpRequest)({
    method,
    host: hostname.replace(/^\[|\]$/g, ''),
    port,
    // As it is: a URL object takes the ids `.` and `..` for directories.
    path: url.slice(origin.length),
    headers: headers as Record<string, string>,
    agent: false,
    ...(signal && { signal }),
  })
}

function answerOf(request: ClientRequest): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  // A failure may come before anyone waits for it.
  answered.catch(() => {})
  return answered
}

/** Resolves when all was written; or before, where the request has ended. */
async function send(request: ClientRequest, body: RequestInit['body']): Promise<void> {
  if (body != null) {
    const isText = typeof body === 'string'
    const pieces =
      !isText && body instanceof ReadableStream
        ? (body as AsyncIterable<Uint8Array>)
        : piecesOf(await bytesOf(request, body))
    for await (const piece of pieces) {
      if (request.destroyed) return
      if (!request.write(piece)) await writable(request)
    }
  }
  request.end()
}

async function bytesOf(request: ClientRequest, body: NonNullable<RequestInit['body']>) {
  let bytes: Buffer
  if (typeof body === 'string') bytes = Buffer.from(body)
  else if (body instanceof Uint8Array) {
    bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  } else {
    // A form, whose type names what stands between its parts.
    const form = new Response(body)
    const type = form.headers.get('Content-Type')
    if (type !== null && !request.hasHeader('Content-Type')) request.setHeader('Content-Type', type)
    bytes = Buffer.from(await form.arrayBuffer())
  }
  request.setHeader('Content-Length', bytes.byteLength)
  return bytes
}

/** Piece by piece: a server that refuses it is heard before all of it was sent. */
function* piecesOf(body: Buffer): Generator<Uint8Array, void, undefined> {
  for (let at = 0; at < body.byteLength; at += pieceBytes) yield body.subarray(at, at + pieceBytes)
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

/** What of it was not sent when the answer has ended is not sent any more. */
function responseOf(
  request: ClientRequest,
  response: IncomingMessage,
  origin: string,
  { maxJsonBytes, silenceMs }: FetchLimits,
): Response {
  const { statusCode = 0, statusMessage = '', headers } = response
  const type = headers['content-type']?.split(';', 1)[0]
  if (type === 'text/event-stream') response.setTimeout(silenceMs, () => response.destroy())
  const mostBytes = /^application\/(?:problem\+)?json$/.test(type ?? '') ? maxJsonBytes : Infinity
  const length = headers['content-length']
  const end = length === undefined ? 'the end of the answer' : `all of ${length} bytes had come`

  async function* chunks() {
    let bytes = 0
    try {
      for await (const chunk of response as AsyncIterable<Buffer>) {
        bytes += chunk.byteLength
        if (bytes > mostBytes) break
        yield chunk
      }
    } catch (cause) {
      const message = `the connection to ${origin} broke before ${end} (${describe(cause)})`
      throw new ConnectionError(message, 'sent', cause)
    } finally {
      request.destroy()
    }
    if (bytes > mostBytes) throw new ConnectionError(`the answer of ${origin} is too long`, 'sent')
  }

  const iterator = chunks()
  const cancel = async () => void request.destroy()
  return {
    ok: statusCode >= 200 && statusCode < 300,
    status: statusCode,
    statusText: statusMessage,
    headers: {
      get: (name: string) => valueOf(headers[name.toLowerCase()]),
      has: (name: string) => headers[name.toLowerCase()] !== undefined,
    },
    body: { cancel, getReader: () => ({ read: () => iterator.next(), cancel }) },
    async text() {
      const all: Buffer[] = []
      for await (const chunk of iterator) all.push(chunk)
      return Buffer.concat(all).toString()
    },
  } as unknown as Response
}

function valueOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : String(value)
}
