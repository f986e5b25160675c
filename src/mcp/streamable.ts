// The protocol over HTTP, a message at a time: nothing is kept between requests, so any server of several may answer.

import type { Server } from '@modelcontextprotocol/server'
import { LorekeepError } from '../errors.js'
import { overfull } from './flaws.js'
import { loadSdk, type Sdk } from './peer.js'
import { createServer, type ServerOptions } from './server.js'

const eventsType = 'text/event-stream'

export interface Posted {
  readonly message: object
  /** Those of the request that the protocol reads: `mcp-…`. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether whoever asks reads events, in which progress comes before the answer. */
  readonly takesEvents: boolean
  /** Ends the work. */
  readonly signal: AbortSignal
}

export type Answered =
  /** JSON; empty where nothing is to be said to a notification. */
  | { readonly status: number; readonly text: string }
  /** Of `text/event-stream`. */
  | { readonly status: number; readonly events: AsyncIterable<Uint8Array> }

/**
 * `send` gets the answer, of which events come while the work goes on.
 * @throws LorekeepError `LK_PEER_MISSING`, and `LK_HTTP_REQUEST` for a notification of too many values
 */
export async function answerMessage(
  posted: Posted,
  options: ServerOptions,
  send: (answered: Answered) => Promise<void>,
): Promise<void> {
  const sdk = await loadSdk()
  const { message, headers, signal } = posted
  const flaw = overfull(sdk, message)
  if (flaw !== undefined) {
    // Nobody waits for the answer to a notification: it is refused as any other request.
    if (flaw.id === null) throw new LorekeepError('LK_HTTP_REQUEST', flaw.error.message)
    // Who waits reads it, and clients of the older era read no other status.
    await send({ status: 200, text: JSON.stringify({ jsonrpc: '2.0', ...flaw }) })
    return
  }
  // What the protocol asks of requests to a server was looked at by whoever calls this.
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: `application/json, ${eventsType}`,
    },
    signal,
  })
  // Nobody reads a body of it: the message is passed as it is.
  const isOlder = await sdk.isLegacyRequest(request, message)
  const own = { ...options, tellsProgress: posted.takesEvents }
  const answering = isOlder
    ? await olderServer(sdk, own, posted.takesEvents && asksForProgress(message))
    : newerServer(sdk, own)
  try {
    const answer = answering.answer(request, { parsedBody: message })
    await send(await answeredBy(await Promise.race([answer, aborted(signal)])))
  } finally {
    // Also of what is still at work.
    await answering.close()
  }
}

interface Answering {
  answer(request: Request, options: { readonly parsedBody: unknown }): Promise<Response>
  close(): Promise<void>
}

/** Of the era of `initialize`. */
async function olderServer(
  sdk: Sdk,
  options: ServerOptions,
  hasEvents: boolean,
): Promise<Answering> {
  const server: Server = createServer(sdk, options)
  const transport = new sdk.WebStandardStreamableHTTPServerTransport({
    enableJsonResponse: !hasEvents,
  })
  await server.connect(transport)
  return {
    answer: (request, given) => transport.handleRequest(request, given),
    close: () => server.close(),
  }
}

/** Of 2026-07-28, in which each request says all that there is to know. */
function newerServer(sdk: Sdk, options: ServerOptions): Answering {
  const handler = sdk.createMcpHandler(() => createServer(sdk, options), {
    legacy: 'reject',
    // Nothing here changes that anybody could listen to.
    maxSubscriptions: 0,
    onerror: () => {},
  })
  return {
    answer: (request, given) => handler.fetch(request, given),
    close: () => handler.close(),
  }
}

function asksForProgress(message: object): boolean {
  const { params } = message as { readonly params?: { readonly _meta?: object | null } | null }
  return params?._meta != null && 'progressToken' in params._meta
}

async function answeredBy(response: Response): Promise<Answered> {
  const { status, headers, body } = response
  const isStream = headers.get('content-type')?.startsWith(eventsType) === true
  return isStream && body !== null
    ? { status, events: body }
    : { status, text: await response.text() }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const leave = () => reject(signal.reason as Error)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  })
}
