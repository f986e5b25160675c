// Short answers, and when an answer is over.

import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { LorekeepError } from '../errors.js'
import { drain, isBodyPending } from './body.js'

/** Answers with these bytes, or with no body at all. */
export async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: OutgoingHttpHeaders = {},
  body?: Buffer,
): Promise<void> {
  // Whoever asked has gone.
  if (response.destroyed) return
  const bytes = request.method === 'HEAD' ? undefined : body
  if (!isBodyPending(request)) {
    response.writeHead(status, headers).end(bytes)
    return
  }
  // The client is still sending. Closing now would reset the connection under its hands, and the
  // answer would be lost on the way; end() closes, so it comes last.
  response.writeHead(status, { ...headers, Connection: 'close' })
  if (bytes === undefined) response.flushHeaders()
  else response.write(bytes)
  await drain(request)
  response.end()
}

/** JSON that no cache may keep; `Content-Type` may be overridden. */
export async function answerJson(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: OutgoingHttpHeaders = {},
): Promise<void> {
  await answerJsonText(request, response, status, JSON.stringify(value), headers)
}

/** answerJson() of JSON that was made before. */
export async function answerJsonText(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): Promise<void> {
  const body = Buffer.from(text)
  await answer(
    request,
    response,
    status,
    {
      'Content-Type': 'application/json',
      'Content-Length': body.byteLength,
      'Cache-Control': 'no-store',
      ...headers,
    },
    body,
  )
}

/** Resolves when the response is finished or its socket closed. */
export async function answered(response: ServerResponse): Promise<void> {
  if (response.writableFinished || response.destroyed) return
  await new Promise<void>((resolve) => {
    response.once('finish', resolve).once('close', resolve)
  })
}

/** Waits until the response takes more, or has all, or is closed. */
export async function reached(
  response: ServerResponse,
  event: 'drain' | 'finish',
  idleTimeoutMs: number,
): Promise<void> {
  if (response.destroyed || response.writableFinished) return
  await new Promise<void>((resolve, reject) => {
    const idle = setTimeout(() => {
      reject(new LorekeepError('LK_HTTP_TIMEOUT', `nothing was read for ${idleTimeoutMs} ms`))
      settle()
    }, idleTimeoutMs)
    response.on(event, settle).on('close', settle)

    function settle(): void {
      clearTimeout(idle)
      response.off(event, settle).off('close', settle)
      resolve()
    }
  })
}
