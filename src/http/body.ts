// Request bodies. `for await (const chunk of request)` destroys the socket when the loop is left
// early, and the client never sees why; this reader leaves the request as it is.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { LorekeepError } from '../errors.js'
import type { ErrorCode } from '../errors.js'

// How long an answered client may go on sending before the connection is cut. A client that
// writes its whole body before it reads (Python's requests) sees the answer only if it gets to
// the end of it; curl and undici read all along and stop by themselves.
const maxDrainBytes = 64 * 1024 * 1024
const drainTimeoutMs = 5_000
const drainIdleTimeoutMs = 1_000

interface BodyOptions {
  readonly content: 'core' | 'json' | 'query' | 'file'
  readonly maxBytes: number
  readonly idleTimeoutMs: number
}

/**
 * What a client has to send on average, over twice `idleTimeoutMs` of waiting for it: one that sends
 * a byte now and then would hold its place for ever. Time in which we are the slow ones is not counted.
 */
const minBytesPerSecond = 1024

interface Wording {
  readonly tooLarge: ErrorCode
  /** What bounds such a body, mostly an option of the handler. */
  readonly limit: string
  readonly unannounced: string
  readonly parser: string
}

const wordings: Readonly<Record<BodyOptions['content'], Wording>> = {
  core: {
    tooLarge: 'LK_CORE_TOO_LARGE',
    limit: 'maxCoreBytes',
    unannounced: '(a forgotten -T or --data-binary?); Content-Length: 0 imports an empty core',
    parser: "parse into bytes with express.raw({ type: '*/*' })",
  },
  json: {
    tooLarge: 'LK_HTTP_TOO_LARGE',
    limit: 'maxJsonBytes',
    unannounced: '(a forgotten --data?); send a JSON object',
    parser: 'parse JSON with express.json()',
  },
  file: {
    tooLarge: 'LK_HTTP_TOO_LARGE',
    limit: 'maxFileBytes',
    unannounced: '(a forgotten --data-binary @FILE?); send the file',
    parser: "parse into bytes with express.raw({ type: '*/*' })",
  },
  query: {
    tooLarge: 'LK_HTTP_TOO_LARGE',
    limit: 'maxQueryBytes',
    unannounced: '(a forgotten --data?); send the query',
    parser: "parse into bytes with express.raw({ type: '*/*' })",
  },
}

class Disconnect extends Error {}

/** True for the error of a body whose sender, or an answer whose reader, went away. */
export function isDisconnect(error: unknown): boolean {
  return error instanceof Disconnect
}

export function disconnect(): Error {
  return new Disconnect('the client closed the connection')
}

/**
 * The body: the bytes a parser before us left in `req.body`, or the stream, pulled
 * chunk by chunk. Nothing is read, and no `100 Continue` sent, before the first pull. No bytes are
 * a body only where the request announced one: who forgot it must not replace a core by nothing.
 * @throws LorekeepError at once `LK_CORE_TOO_LARGE` or `LK_HTTP_TOO_LARGE`, `LK_HTTP_BODY_CONSUMED`,
 * `LK_HTTP_ENCODING`, `LK_HTTP_REQUEST`; while iterating too large, `LK_HTTP_REQUEST`,
 * `LK_HTTP_TIMEOUT`, or what isDisconnect() tells
 */
export function openBody(
  request: IncomingMessage,
  response: ServerResponse,
  options: BodyOptions,
): Uint8Array | AsyncIterable<Uint8Array> {
  checkEncodings(request.headers)
  checkAnnouncedLength(request, options)
  const { body } = request as { body?: unknown }
  if (body instanceof Uint8Array) {
    if (body.byteLength > options.maxBytes) throw tooLarge(options)
    if (body.byteLength === 0 && !isBodyAnnounced(request)) throw unannounced(response, options)
    return body
  }
  if (wasRead(request)) {
    if (!isBodyAnnounced(request)) throw unannounced(response, options)
    const { parser } = wordings[options.content]
    throw new LorekeepError(
      'LK_HTTP_BODY_CONSUMED',
      `mount the handler before the body parser, or ${parser}`,
    )
  }
  return pull(request, response, options)
}

/**
 * What a parser before us made of the body, where it made an object of it (express.json()).
 * `undefined` where openBody() has to be asked. A form is never one: `a=1` is an object too, and
 * must not become a patch.
 * @throws LorekeepError too large
 */
export function parsedBody(request: IncomingMessage, options: BodyOptions): object | undefined {
  const { body } = request as { body?: unknown }
  if (typeof body !== 'object' || body === null || body instanceof Uint8Array) return undefined
  const type = request.headers['content-type'] ?? ''
  // Express 4 puts {} into req.body without reading: the stream knows, the property does not.
  if (!wasRead(request) || /^\s*application\/x-www-form-urlencoded/i.test(type)) return undefined
  checkAnnouncedLength(request, options)
  return body
}

function wasRead(request: IncomingMessage): boolean {
  return request.readableDidRead || request.readableEnded || request.readableFlowing === true
}

/** `chunked` is how a body of unknown length travels; Node takes no other coding off. */
function checkEncodings(headers: IncomingHttpHeaders): void {
  const { 'content-encoding': content = '', 'transfer-encoding': transfer = 'chunked' } = headers
  const isIdentity = (coding: string) => ['', 'identity'].includes(coding.trim().toLowerCase())
  if (!content.split(',').every(isIdentity)) {
    throw new LorekeepError('LK_HTTP_ENCODING', `'${content}'; send the body as it is`)
  }
  if (transfer.trim().toLowerCase() !== 'chunked') {
    throw new LorekeepError('LK_HTTP_ENCODING', `'${transfer}'; only chunked is taken off`)
  }
}

function checkAnnouncedLength({ headers }: IncomingMessage, options: BodyOptions): void {
  if (Number(headers['content-length'] ?? 0) > options.maxBytes) throw tooLarge(options)
}

/** `Content-Length: 0` announces a body, of no bytes. */
function isBodyAnnounced({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || headers['content-length'] !== undefined
}

/** True while the client has more to send: its connection cannot be used again as it is. */
export function isBodyPending(request: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length } = request.headers
  return request.complete === false && (encoding !== undefined || Number(length ?? 0) > 0)
}

/** Reads on and forgets, until the client stops or the bounds above are reached. */
export async function drain(request: IncomingMessage): Promise<void> {
  if (request.destroyed || request.readableEnded) return
  await new Promise<void>((resolve) => {
    let left = maxDrainBytes
    const whole = setTimeout(done, drainTimeoutMs)
    const idle = setTimeout(done, drainIdleTimeoutMs)
    request.on('data', count).on('end', done).on('close', done).on('error', done)
    request.resume()

    function count(chunk: Uint8Array): void {
      left -= chunk.byteLength
      if (left < 0) done()
      else idle.refresh()
    }
    function done(): void {
      clearTimeout(whole)
      clearTimeout(idle)
      request.off('data', count).off('end', done).off('close', done).off('error', done)
      request.pause()
      resolve()
    }
  })
}

async function* pull(
  request: IncomingMessage,
  response: ServerResponse,
  options: BodyOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  // Events only wake the loop; what happened is read off the stream, so none can be missed.
  let wake = () => {}
  const onEvent = () => wake()
  const events = ['readable', 'end', 'error', 'close']
  for (const event of events) request.on(event, onEvent)
  // An answer that overtakes the body (the store was closed) is the only sign of its end.
  response.on('close', onEvent)
  try {
    sendContinue(request, response)
    let bytes = 0
    let waited = { sinceBytes: 0, ms: 0 }
    for (;;) {
      const chunk = request.read() as Uint8Array | null
      if (chunk !== null) {
        bytes += chunk.byteLength
        if (bytes > options.maxBytes) throw tooLarge(options)
        yield chunk
        continue
      }
      // A cut body is not `complete`, also where the cut falls between two messages. Requests that
      // a framework makes up for its own tests have no such property.
      if (request.readableEnded && request.complete !== false) {
        // Not asked before the first pull: those made up for tests may have a body unannounced.
        if (bytes === 0 && !isBodyAnnounced(request)) throw unannounced(response, options)
        return
      }
      if (request.destroyed || request.readableEnded) throw disconnect()
      if (response.destroyed && !request.complete) throw disconnect()
      const { sinceBytes, ms } = waited
      if (ms > 2 * options.idleTimeoutMs) {
        const atLeast = (minBytesPerSecond * ms) / 1000
        if (bytes - sinceBytes < atLeast) {
          const detail = `${bytes - sinceBytes} bytes in ${Math.round(ms)} ms; at least ${minBytesPerSecond} are expected in a second`
          throw new LorekeepError('LK_HTTP_TIMEOUT', detail)
        }
        waited = { sinceBytes: bytes, ms: 0 }
      }
      const since = performance.now()
      await new Promise<void>((resolve, reject) => {
        const idle = setTimeout(() => {
          const detail = `no byte for ${options.idleTimeoutMs} ms`
          reject(new LorekeepError('LK_HTTP_TIMEOUT', detail))
        }, options.idleTimeoutMs)
        wake = () => {
          clearTimeout(idle)
          resolve()
        }
      })
      waited.ms += performance.now() - since
    }
  } finally {
    for (const event of events) request.off(event, onEvent)
    response.off('close', onEvent)
  }
}

/** Node has sent it already unless the server listens to `checkContinue`. */
function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  const { _sent100: sent } = response as { _sent100?: boolean }
  if (sent !== true && /^100-continue$/i.test(request.headers.expect ?? '')) {
    response.writeContinue()
  }
}

function unannounced(response: ServerResponse, { content }: BodyOptions): LorekeepError {
  // What the client may yet send is no part of this request, and must not be read as the next one.
  response.setHeader('Connection', 'close')
  return new LorekeepError(
    'LK_HTTP_REQUEST',
    `no body was announced: neither Content-Length nor Transfer-Encoding ${wordings[content].unannounced}`,
  )
}

function tooLarge({ content, maxBytes }: BodyOptions): LorekeepError {
  const { tooLarge: code, limit } = wordings[content]
  return new LorekeepError(code, `more than ${maxBytes} bytes`, { details: { [limit]: maxBytes } })
}
