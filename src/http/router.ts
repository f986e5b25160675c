// What answers calls, whichever server they come by: finds the route, knows who asks, and turns errors
// into answers.

import hyperid from 'hyperid'
import { negotiate } from '../accept.js'
import { LorekeepError } from '../errors.js'
import { checkMayChange } from './access.js'
import { authenticated, createIdentify } from './auth.js'
import type { Identify, Principal } from './auth.js'
import { isDisconnect } from './body.js'
import { BodyMemory } from './body-memory.js'
import type { Call } from './call.js'
import { acceptedBy, codingsOfAnswers } from './coding/accepted.js'
import { EncodedCall } from './coding/encoded-call.js'
import { checkUnversioned } from './conditions.js'
import { Cors } from './cors.js'
import { maxBufferedBytesOf, routesOf } from './options.js'
import type { HandlerOptions, RequestInfo, Shared } from './options.js'
import { PacedCall } from './paced-call.js'
import { problemHeaders, problemOf } from './problem.js'
import type { Rates } from './rates.js'
import { answer, answerJson } from './reply.js'
import { isHeard, traceRequest } from './request-trace.js'
import { allowedMethods, compile, match } from './routes.js'
import type { Match, Pathways } from './routes.js'
import { Shares } from './shares.js'
import { parseQuery } from './target.js'

/** `Request` is what `authenticate` and `onError` are given: that of the server. */
export class Router<Request> {
  readonly identify: Identify<Request>
  readonly bodies: BodyMemory
  readonly createRequestId = hyperid({ urlSafe: true })
  readonly #shares: Shares | undefined
  readonly #rates: Shared['rates']
  readonly #pathways: Pathways
  readonly #cors: Cors | undefined
  readonly #onError: HandlerOptions<Request>['onError']

  /** Of options that were checked. */
  constructor(options: HandlerOptions<Request>, prefix: string, shared: Shared) {
    this.identify = createIdentify(options.authenticate)
    const hasUsers = options.authenticate !== 'none'
    this.bodies = new BodyMemory(maxBufferedBytesOf(options), hasUsers)
    this.#shares = hasUsers ? new Shares(shared.limits.maxUserRequests) : undefined
    this.#rates = shared.rates
    this.#pathways = compile(routesOf(options, prefix, shared))
    this.#cors = options.cors && new Cors(options.cors)
    this.#onError = options.onError
  }

  /** Whether a route has this path. */
  has(path: string): boolean {
    return match(this.#pathways, path) !== undefined
  }

  /**
   * Resolves with true when the answer has been made. Where the path is none of its own, and `pass` is
   * there, that is called, and it resolves with false. It never rejects: what `pass` throws is answered.
   */
  async answer(call: Call, request: Request, pass?: () => void): Promise<boolean> {
    const info = { requestId: this.createRequestId(), request }
    let found: Match | undefined
    try {
      found = match(this.#pathways, call.path)
      if (found === undefined && pass !== undefined) {
        pass()
        return false
      }
    } catch (error) {
      await this.#answerError(call, error, info)
      return true
    }
    await (isHeard() ? this.#told(call, info, found) : this.#answer(call, info, found))
    return true
  }

  async #answer(plain: Call, info: RequestInfo<Request>, found: Match | undefined): Promise<void> {
    const { coding, isIdentityRefused } = acceptedBy(plain.headers['accept-encoding'])
    const call = coding === undefined ? plain : new EncodedCall(plain, coding, isIdentityRefused)
    try {
      sign(call, info.requestId)
      call.setHeader('Vary', 'Accept-Encoding')
      this.#cors?.sign(call)
      if (found === undefined && isOfServer(call)) {
        call.setHeader('Allow', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
        await answer(call, 204)
        return
      }
      if (found === undefined) throw new LorekeepError('LK_HTTP_NOT_FOUND', 'unknown path')
      if (isIdentityRefused && coding === undefined) throw noCoding()
      await this.#serve(call, info, found)
    } catch (error) {
      await this.#answerError(call, error, info)
    }
  }

  /** The path itself may have names in it that are nobody's but the client's. */
  async #told(call: Call, info: RequestInfo<Request>, found: Match | undefined): Promise<void> {
    const { method, headers } = call
    const route = found?.pathway.segments.join('/')
    const told = { method, route, requestId: info.requestId }
    await traceRequest(told, headers, async (operation) => {
      await this.#answer(call, info, found)
      operation['status'] = call.status
    })
  }

  async #serve(
    call: Call,
    { request, requestId }: RequestInfo<Request>,
    found: Match,
  ): Promise<void> {
    const { pathway, parameters } = found
    const { method } = call
    if (method === 'OPTIONS') {
      call.setHeader('Allow', allowedMethods(pathway))
      this.#cors?.allow(call, allowedMethods(pathway))
      await answer(call, 204)
      return
    }
    const there = pathway.routes.get(method)
    if (there === undefined) {
      call.setHeader('Allow', allowedMethods(pathway))
      throw new LorekeepError(
        'LK_HTTP_METHOD',
        `${method} is not one of ${allowedMethods(pathway)}`,
      )
    }
    const { route, formats } = there
    if (formats.length > 1) call.setHeader('Vary', 'Accept')
    if (route.access === 'open') {
      checkAcceptable(call, formats)
      await route.run(call)
      return
    }
    const principal = await authenticated(this.identify, call, request)
    if (route.access === 'change') checkMayChange(principal)
    checkAcceptable(call, formats)
    if (route.versions !== true) checkUnversioned(call)
    this.#shares?.enter(principal)
    const memory = this.bodies.open(principal)
    try {
      await route.run({
        call: this.#rates === undefined ? call : await paced(call, this.#rates, principal),
        requestId,
        principal,
        memory,
        parameters: parameters(),
        query: parseQuery(call.queryText, route.query),
      })
    } finally {
      memory.release()
      this.#shares?.leave(principal)
    }
  }

  async #answerError(call: Call, error: unknown, info: RequestInfo<Request>): Promise<void> {
    try {
      await this.#refuse(call, error, info)
    } catch (thrown) {
      // A host can leave a response that takes no answer; its caller has nobody to catch this.
      this.report(thrown, info)
      call.cut()
    }
  }

  async #refuse(call: Call, error: unknown, info: RequestInfo<Request>): Promise<void> {
    if (isDisconnect(error)) {
      call.cut()
      return
    }
    const problem = problemOf(error, info.requestId)
    if (problem.status >= 500 || call.hasBegun) this.report(error, info)
    if (call.hasBegun) {
      // Too late for a status: a cut stream must not look whole. One that told of the error is.
      call.cut()
      return
    }
    sign(call, info.requestId)
    await answerJson(call, problem.status, problem, problemHeaders(problem))
  }

  /** Not awaited: the client's answer does not depend on the host's log. */
  report(error: unknown, info: RequestInfo<Request>): void {
    if (this.#onError !== undefined) void tell(this.#onError, error, info)
  }
}

/** @throws LorekeepError `LK_HTTP_RATE` */
async function paced(call: Call, rates: Rates, principal: Principal): Promise<Call> {
  const waitMs = rates.waitOf(principal)
  const paced = new PacedCall(call, rates, principal)
  await paced.pause(waitMs)
  return paced
}

/** What the server can do, whatever the resource (section 9.3.7). Where there is a host, that is for it to say. */
function isOfServer({ method, path }: Call): boolean {
  return method === 'OPTIONS' && path === '*'
}

/** @throws LorekeepError `LK_HTTP_NOT_ACCEPTABLE` */
function checkAcceptable(
  { headers: { accept } }: Call,
  formats: readonly { readonly mediaType: string }[],
): void {
  if (accept === undefined || accept === '*/*' || formats.length === 0) return
  if (negotiate(accept, formats) !== undefined) return
  const offered = formats.map(({ mediaType }) => mediaType).join(', ')
  throw new LorekeepError('LK_HTTP_NOT_ACCEPTABLE', `there is ${offered}`)
}

function noCoding(): LorekeepError {
  const names = codingsOfAnswers.join(', ')
  return new LorekeepError('LK_HTTP_NOT_ACCEPTABLE', `answers are ${names}, or not encoded`)
}

function sign(call: Call, requestId: string): void {
  call.setHeader('X-Request-Id', requestId)
  call.setHeader('X-Content-Type-Options', 'nosniff')
}

async function tell<Request>(
  onError: NonNullable<HandlerOptions<Request>['onError']>,
  error: unknown,
  info: RequestInfo<Request>,
): Promise<void> {
  try {
    await onError(error, info)
  } catch (thrown) {
    // A broken log must take down neither the server nor the answer, and not stay unseen.
    process.emitWarning(thrown instanceof Error ? thrown : String(thrown))
  }
}
