// createFetchHandler: the door of servers that speak the Fetch standard.

import { FetchCall } from './fetch/call.js'
import { checkHandlerOptions, sharedBy } from './options.js'
import type { HandlerOptions } from './options.js'
import { Router } from './router.js'

/**
 * For Hono, Next.js route handlers, SvelteKit, `Bun.serve`, `Deno.serve` and whatever else answers a
 * `Request` with a `Response`; docs/http.md shows them. Bodies stream both ways, at the pace of who
 * reads; `request.signal`, and a body that is cancelled, end the work. Never rejects.
 */
export type FetchHandler = (request: Request) => Promise<Response>

/** The same routes and options as createHandler(), without the socket. */
export function createFetchHandler(options: HandlerOptions<Request>): FetchHandler {
  checkHandlerOptions('createFetchHandler()', options)
  const { prefix = '/api/v1' } = options
  const router = new Router(options, prefix, sharedBy(options))
  return async (request) => {
    const call = new FetchCall(request)
    void router.answer(call, request).then(() => {
      // Whoever has gone was answered nothing.
      if (!call.hasBegun) call.cut()
    })
    return call.response
  }
}
