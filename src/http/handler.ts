// createHandler: the door of node:http.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { LorekeepError } from '../errors.js'
import { answered, NodeCall } from './node/call.js'
import { checkHandlerOptions, endingsOf, sharedBy, socketPartsOf } from './options.js'
import type { HandlerOptions } from './options.js'
import { Router } from './router.js'
import { pathOf } from './target.js'
import { createUpgrade } from './socket/upgrade.js'
import type { Upgrade } from './socket/upgrade.js'

/**
 * For node:http, `server.on('checkContinue', …)`, Connect and Express; docs/http.md shows Fastify,
 * Koa and Hono. Resolves once the response is finished or its socket closed, or when it has called
 * `next` because the path is none of its own; it never rejects. What `next` throws is answered with
 * 500 where that is possible yet, and goes to `onError`.
 */
export interface Handler {
  (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void>
  /** For `server.on('upgrade', handler.upgrade)`: the socket of the reference system's clients. */
  readonly upgrade: Upgrade
}

/** Mounts the stores under `/api/v1` (see `prefix`). */
export function createHandler(options: HandlerOptions): Handler {
  checkHandlerOptions('createHandler()', options)
  const { prefix = '/api/v1' } = options
  const shared = sharedBy(options)
  const router = new Router(options, prefix, shared)

  const handler = async (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> => {
    const call = new NodeCall(request, response, () => pathOf(request, prefix))
    const isOurs = await router.answer(call, request, next && (() => pass(next)))
    if (isOurs) await answered(response, shared.limits.exportIdleTimeoutMs)
  }
  const upgrade = createUpgrade({
    ...socketPartsOf(options, shared),
    prefix,
    cors: options.cors,
    identify: router.identify,
    bodies: router.bodies,
    endings: endingsOf(options),
    createRequestId: router.createRequestId,
    report: (error, info) => router.report(error, info),
  })
  return Object.assign(handler, { upgrade })
}

/** What comes after us is the host's, and so is what it throws: a 500, whatever its code. */
function pass(next: () => void): void {
  try {
    next()
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error
    throw new Error('next failed', { cause: error })
  }
}
