// createHandler: the shell that turns errors into answers.

import type { IncomingMessage, ServerResponse } from 'node:http'
import hyperid from 'hyperid'
import { LorekeepError } from '../errors.js'
import { checkMayChange } from './access.js'
import { authenticated, createIdentify } from './auth.js'
import { isDisconnect } from './body.js'
import { BodyMemory } from './body-memory.js'
import {
  checkHandlerOptions,
  endingsOf,
  maxBufferedBytesOf,
  routesOf,
  sharedBy,
  socketPartsOf,
} from './options.js'
import type { HandlerOptions, RequestInfo } from './options.js'
import { problemHeaders, problemOf } from './problem.js'
import { answer, answerJson, answered } from './reply.js'
import { allowedMethods, compile, match } from './routes.js'
import type { Exchange, Pathway } from './routes.js'
import { createUpgrade } from './socket/upgrade.js'
import type { Upgrade } from './socket/upgrade.js'
import { parseQuery, pathOf } from './target.js'

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
  checkHandlerOptions(options)
  const { prefix = '/api/v1', onError } = options
  const identify = createIdentify(options.authenticate)
  const shared = sharedBy(options)
  const pathways = compile(routesOf(options, prefix, shared))
  const bodies = new BodyMemory(maxBufferedBytesOf(options), options.authenticate !== 'none')
  const createRequestId = hyperid({ urlSafe: true })

  const handler = async (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> => {
    const requestId = createRequestId()
    try {
      const found = match(pathways, pathOf(request, prefix))
      if (found === undefined && next !== undefined) {
        pass(next)
        return
      }
      sign(response, requestId)
      if (found === undefined) throw new LorekeepError('LK_HTTP_NOT_FOUND', 'unknown path')
      await serve(request, response, found.pathway, found.parameters)
    } catch (error) {
      try {
        await refuse(error, request, response, requestId)
      } catch (thrown) {
        // A host can leave a response that takes no answer; its caller has nobody to catch this.
        if (onError !== undefined) void report(onError, thrown, { requestId, request })
        response.destroy()
      }
    }
    await answered(response)
  }
  const upgrade = createUpgrade({
    ...socketPartsOf(options, shared),
    prefix,
    identify,
    bodies,
    endings: endingsOf(options),
    createRequestId,
    report: (error, info) => {
      if (onError !== undefined) void report(onError, error, info)
    },
  })
  return Object.assign(handler, { upgrade })

  async function serve(
    request: IncomingMessage,
    response: ServerResponse,
    pathway: Pathway,
    parameters: () => ReadonlyMap<string, string>,
  ): Promise<void> {
    const method = request.method ?? 'GET'
    if (method === 'OPTIONS') {
      response.setHeader('Allow', allowedMethods(pathway))
      await answer(request, response, 204)
      return
    }
    const route = pathway.routes.get(method)
    if (route === undefined) {
      response.setHeader('Allow', allowedMethods(pathway))
      throw new LorekeepError(
        'LK_HTTP_METHOD',
        `${method} is not one of ${allowedMethods(pathway)}`,
      )
    }
    if (route.access === 'open') {
      await route.run(request, response)
      return
    }
    const principal = await authenticated(identify, request, response)
    if (route.access === 'change') checkMayChange(principal)
    const memory = bodies.open(principal)
    const exchange: Exchange = {
      request,
      response,
      principal,
      memory,
      parameters: parameters(),
      query: parseQuery(request, route.query, route.repeatable),
    }
    try {
      await route.run(exchange)
    } finally {
      memory.release()
    }
  }

  async function refuse(
    error: unknown,
    request: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): Promise<void> {
    if (isDisconnect(error)) {
      response.destroy()
      return
    }
    const problem = problemOf(error, requestId)
    if (onError !== undefined && (problem.status >= 500 || response.headersSent)) {
      // Not awaited: the client's answer does not depend on the host's log.
      void report(onError, error, { requestId, request })
    }
    if (response.headersSent) {
      // Too late for a status: a cut stream must not look whole. One that told of the error is.
      if (!response.writableFinished) response.destroy()
      return
    }
    sign(response, requestId)
    await answerJson(request, response, problem.status, problem, problemHeaders(problem.code))
  }
}

function sign(response: ServerResponse, requestId: string): void {
  response.setHeader('X-Request-Id', requestId)
  response.setHeader('X-Content-Type-Options', 'nosniff')
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

async function report(
  onError: NonNullable<HandlerOptions['onError']>,
  error: unknown,
  info: RequestInfo,
): Promise<void> {
  try {
    await onError(error, info)
  } catch (thrown) {
    // A broken log must take down neither the server nor the answer, and not stay unseen.
    process.emitWarning(thrown instanceof Error ? thrown : String(thrown))
  }
}
