// createHandler: options, the table of routes, and the shell that turns errors into answers.

import type { IncomingMessage, ServerResponse } from 'node:http'
import hyperid from 'hyperid'
import { LorekeepError } from '../errors.js'
import type { KnowledgeStore } from '../knowledge/types.js'
import { createAuthenticator } from './auth.js'
import type { Authenticate } from './auth.js'
import { isDisconnect } from './body.js'
import { problemHeaders, problemOf } from './problem.js'
import { answer, answerJson, answered } from './reply.js'
import { allowedMethods, compile, match } from './routes.js'
import type { Exchange, Pathway } from './routes.js'
import { coreRoutes } from './routes/cores.js'
import { healthRoutes } from './routes/health.js'
import { parseQuery, pathOf } from './target.js'

/** What `onError` is told beside the error. */
export interface RequestInfo {
  /** The X-Request-Id of the response. */
  readonly requestId: string
  readonly request: IncomingMessage
}

export interface HandlerOptions {
  readonly knowledge: KnowledgeStore
  /** Who may come in; `'none'` lets everyone act for every user. There is no default. */
  readonly authenticate: Authenticate | 'none'
  /** In front of every path but /healthz. Default `/api/v1`; may be empty. */
  readonly prefix?: string
  /** Bytes of one import. Default 4 GiB. The store has a limit of its own; the lower one counts. */
  readonly maxCoreBytes?: number
  /** Imports under way at once; one more is answered with 503. Default 64. */
  readonly maxConcurrentImports?: number
  /** How long an import waits for the next byte before it answers 408. Default 30,000. */
  readonly idleTimeoutMs?: number
  /** How long an export waits for a reader that takes nothing before it hangs up. Default 120,000. */
  readonly exportIdleTimeoutMs?: number
  /**
   * Gets every error that left as a 5xx, or that broke an answer under way, as it was thrown:
   * clients see neither messages nor causes of those. What it throws becomes a process warning.
   */
  readonly onError?: (error: unknown, info: RequestInfo) => void | Promise<void>
}

/**
 * For node:http, `server.on('checkContinue', …)`, Connect and Express; docs/http.md shows Fastify,
 * Koa and Hono. Resolves once the response is finished or its socket closed, or when it has called
 * `next` because the path is none of its own; it never rejects. What `next` throws is answered with
 * 500 where that is possible yet, and goes to `onError`.
 */
export type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/** Mounts the stores under `/api/v1` (see `prefix`). */
export function createHandler(options: HandlerOptions): Handler {
  if (options?.knowledge === undefined) throw new TypeError('createHandler needs a knowledge store')
  const authenticate = createAuthenticator(options.authenticate)
  const prefix = checkPrefix(options.prefix ?? '/api/v1')
  const { knowledge, onError } = options
  const pathways = compile([
    ...healthRoutes(),
    ...coreRoutes({
      prefix,
      knowledge,
      maxCoreBytes: checkLimit('maxCoreBytes', options.maxCoreBytes ?? 4 * 1024 ** 3),
      maxConcurrentImports: checkLimit('maxConcurrentImports', options.maxConcurrentImports ?? 64),
      idleTimeoutMs: checkTimeout('idleTimeoutMs', options.idleTimeoutMs ?? 30_000),
      exportIdleTimeoutMs: checkTimeout(
        'exportIdleTimeoutMs',
        options.exportIdleTimeoutMs ?? 120_000,
      ),
    }),
  ])
  const createRequestId = hyperid({ urlSafe: true })

  return async (request, response, next) => {
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
    const principal = await authenticate(request, response)
    const exchange: Exchange = {
      request,
      response,
      principal,
      parameters: parameters(),
      query: parseQuery(request),
    }
    await route.run(exchange)
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
      // Too late for a status: a cut stream must not look whole.
      response.destroy()
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

function checkPrefix(prefix: string): string {
  if (prefix === '' || /^(\/[^/?#]+)+$/.test(prefix)) return prefix
  throw new TypeError(`prefix is '' or starts with a slash and ends without: '${prefix}'`)
}

function checkLimit(name: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value
  throw new TypeError(`${name} is a whole number above 0: ${value}`)
}

/** Timers past 2^31 - 1 ms fire at once. */
function checkTimeout(name: string, value: number): number {
  if (checkLimit(name, value) < 2 ** 31) return value
  throw new TypeError(`${name} is less than 2^31: ${value}`)
}
