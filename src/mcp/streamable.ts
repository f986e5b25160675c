// The protocol over HTTP, a message at a time: nothing is kept between requests, so any server of several may answer.

import { loadSdk } from './peer.js'
import { createServer, type ServerOptions } from './server.js'

export interface Posted {
  readonly message: object
  /** Those of the request that the protocol reads: `mcp-…`. */
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

export interface Answered {
  readonly status: number
  /** JSON; empty where nothing is to be said to a notification. */
  readonly text: string
}

/** @throws LorekeepError `LK_PEER_MISSING` */
export async function answerMessage(
  { message, headers, signal }: Posted,
  options: ServerOptions,
): Promise<Answered> {
  const sdk = await loadSdk()
  // What the protocol asks of requests to a server was looked at by whoever calls this.
  const request = new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify(message),
    signal,
  })
  if (await sdk.isLegacyRequest(request.clone(), message)) {
    const server = createServer(sdk, options)
    const transport = new sdk.WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await server.connect(transport)
    try {
      return await answeredBy(transport.handleRequest(request, { parsedBody: message }))
    } finally {
      await server.close()
    }
  }
  const handler = sdk.createMcpHandler(() => createServer(sdk, options), {
    legacy: 'reject',
    // Nothing here changes that anybody could listen to.
    maxSubscriptions: 0,
    onerror: () => {},
  })
  try {
    return await answeredBy(handler.fetch(request, { parsedBody: message }))
  } finally {
    await handler.close()
  }
}

async function answeredBy(answer: Promise<Response>): Promise<Answered> {
  const response = await answer
  return { status: response.status, text: await response.text() }
}
