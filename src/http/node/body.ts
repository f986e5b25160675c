// Request bodies of node:http. `for await (const chunk of request)` destroys the socket when the loop is
// left early, and the client never sees why; this reader leaves the request as it is.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LorekeepError } from '../../errors.js'
import {
  BodyWatch,
  checkAnnouncedLength,
  disconnect,
  isBodyAnnounced,
  tooLarge,
  unannounced,
  wordings,
} from '../body.js'
import type { BodyOptions } from '../call.js'
import { openCoded } from '../coding/decoded-body.js'

// How long an answered client may go on sending before the connection is cut. A client that
// writes its whole body before it reads (Python's requests) sees the answer only if it gets to
// the end of it; curl and undici read all along and stop by themselves.
const maxDrainBytes = 64 * 1024 * 1024
const drainTimeoutMs = 5_000
const drainIdleTimeoutMs = 1_000

/** As Call has it: the bytes a parser before us left in `req.body`, or the stream. */
export function openBody(
  request: IncomingMessage,
  response: ServerResponse,
  options: BodyOptions,
): Uint8Array | AsyncIterable<Uint8Array> {
  const { body } = request as { body?: unknown }
  // Whoever has read it has decoded it.
  if (body instanceof Uint8Array) {
    if (body.byteLength > options.maxBytes) throw tooLarge(options)
    if (body.byteLength === 0 && !isBodyAnnounced(request)) throw forgotten(response, options)
    return body
  }
  if (wasRead(request)) {
    if (!isBodyAnnounced(request)) throw forgotten(response, options)
    const { parser } = wordings[options.content]
    throw new LorekeepError(
      'LK_HTTP_BODY_CONSUMED',
      `mount the handler before the body parser, or ${parser}`,
    )
  }
  return openCoded(request, options, (options) => pull(request, response, options))
}

/** As Call has it, of express.json(). A form is never one: `a=1` is an object too, and must not become a patch. */
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
  const watch = new BodyWatch(options)
  try {
    sendContinue(request, response)
    for (;;) {
      const chunk = request.read() as Uint8Array | null
      if (chunk !== null) {
        watch.take(chunk)
        yield chunk
        continue
      }
      // A cut body is not `complete`, also where the cut falls between two messages. Requests that
      // a framework makes up for its own tests have no such property.
      if (request.readableEnded && request.complete !== false) {
        // Not asked before the first pull: those made up for tests may have a body unannounced.
        if (watch.bytes === 0 && !isBodyAnnounced(request)) throw forgotten(response, options)
        return
      }
      if (request.destroyed || request.readableEnded) throw disconnect()
      if (response.destroyed && !request.complete) throw disconnect()
      await watch.wait(new Promise<void>((resolve) => (wake = resolve)))
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

function forgotten(response: ServerResponse, options: BodyOptions): LorekeepError {
  // What the client may yet send is no part of this request, and must not be read as the next one.
  response.setHeader('Connection', 'close')
  return unannounced(options)
}
