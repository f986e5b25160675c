// Request bodies. `for await (const chunk of request)` destroys the socket when the loop is left
// early, and the client never sees why; this reader leaves the request as it is.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LorekeepError } from '../errors.js'

const stepBytes = 128 * 1024

// How long an answered client may go on sending before the connection is cut. A client that
// writes its whole body before it reads (Python's requests) sees the answer only if it gets to
// the end of it; curl and undici read all along and stop by themselves.
const maxDrainBytes = 64 * 1024 * 1024
const drainTimeoutMs = 5_000
const drainIdleTimeoutMs = 1_000

export interface BodyLimits {
  readonly maxBytes: number
  readonly idleTimeoutMs: number
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
 * The body: the bytes a parser before us left in `req.body`, or the stream, pulled in steps of
 * 128 KiB at most. Nothing is read, and no `100 Continue` sent, before the first pull. No bytes are
 * a body only where the request announced one: who forgot it must not replace a core by nothing.
 * @throws LorekeepError at once `LK_CORE_TOO_LARGE`, `LK_HTTP_BODY_CONSUMED`, `LK_HTTP_REQUEST`;
 * while iterating `LK_CORE_TOO_LARGE`, `LK_HTTP_REQUEST`, `LK_HTTP_TIMEOUT`, or what isDisconnect()
 * tells
 */
export function openBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Uint8Array | AsyncIterable<Uint8Array> {
  if (Number(request.headers['content-length'] ?? 0) > limits.maxBytes) throw tooLarge(limits)
  const { body } = request as { body?: unknown }
  if (body instanceof Uint8Array) {
    if (body.byteLength > limits.maxBytes) throw tooLarge(limits)
    if (body.byteLength === 0 && !isBodyAnnounced(request)) throw unannounced(response)
    return body
  }
  // Express 4 puts {} into req.body without reading: the stream knows, the property does not.
  if (request.readableDidRead || request.readableEnded || request.readableFlowing === true) {
    if (!isBodyAnnounced(request)) throw unannounced(response)
    throw new LorekeepError(
      'LK_HTTP_BODY_CONSUMED',
      "mount the handler before the body parser, or parse into bytes with express.raw({ type: '*/*' })",
    )
  }
  return pull(request, response, limits)
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
  limits: BodyLimits,
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
    for (;;) {
      const chunk = request.read() as Uint8Array | null
      if (chunk !== null) {
        bytes += chunk.byteLength
        if (bytes > limits.maxBytes) throw tooLarge(limits)
        for (let at = 0; at < chunk.byteLength; at += stepBytes) {
          yield chunk.subarray(at, at + stepBytes)
        }
        continue
      }
      // A cut body is not `complete`, also where the cut falls between two messages. Requests that
      // a framework makes up for its own tests have no such property.
      if (request.readableEnded && request.complete !== false) {
        // Not asked before the first pull: those made up for tests may have a body unannounced.
        if (bytes === 0 && !isBodyAnnounced(request)) throw unannounced(response)
        return
      }
      if (request.destroyed || request.readableEnded) throw disconnect()
      if (response.destroyed && !request.complete) throw disconnect()
      await new Promise<void>((resolve, reject) => {
        const idle = setTimeout(() => {
          const detail = `no byte for ${limits.idleTimeoutMs} ms`
          reject(new LorekeepError('LK_HTTP_TIMEOUT', detail))
        }, limits.idleTimeoutMs)
        wake = () => {
          clearTimeout(idle)
          resolve()
        }
      })
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

function unannounced(response: ServerResponse): LorekeepError {
  // What the client may yet send is no part of this request, and must not be read as the next one.
  response.setHeader('Connection', 'close')
  return new LorekeepError(
    'LK_HTTP_REQUEST',
    'no body was announced: neither Content-Length nor Transfer-Encoding (a forgotten -T or --data-binary?); Content-Length: 0 imports an empty core',
  )
}

function tooLarge({ maxBytes }: BodyLimits): LorekeepError {
  return new LorekeepError('LK_CORE_TOO_LARGE', `more than ${maxBytes} bytes`, {
    details: { maxCoreBytes: maxBytes },
  })
}
