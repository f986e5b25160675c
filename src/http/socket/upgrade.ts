// The handshake of sockets, and how many there may be.

import { STATUS_CODES } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { hasCode, LorekeepError } from '../../errors.js'
import { forbidden } from '../access.js'
import { bearerToken } from '../auth.js'
import { isDisconnect, disconnect } from '../body.js'
import type { CorsOptions } from '../cors.js'
import { isFamiliar, isOwn } from '../pages.js'
import type { Places } from '../places.js'
import { problemHeaders, problemOf } from '../problem.js'
import { beginRequest } from '../request-trace.js'
import { aText } from '../parameters.js'
import { parseQuery, pathOf, splitTarget } from '../target.js'
import { Connection, nobody } from './connection.js'
import type { ConnectionParts } from './connection.js'
import { loadWs } from './peer.js'
import type { WsServer, WsSocket } from './peer.js'

/**
 * For `server.on('upgrade', …)`. Resolves when the socket is closed, or when it has called `next`
 * because the path is none of its own; it never rejects. What `next` throws is told to `onError`, and the socket closed.
 */
export type Upgrade = (
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  next?: () => void,
) => Promise<void>

export interface UpgradeParts extends ConnectionParts {
  readonly prefix: string
  readonly maxJsonBytes: number
  readonly sockets: Places
  /** Pages of these may open one, with cookies where `credentials` says so. */
  readonly cors: CorsOptions | undefined
  /** Each ends the sockets when it aborts. */
  readonly endings: readonly AbortSignal[]
}

const socketQuery = { token: aText('In place of the header Authorization.') }

export function createUpgrade(parts: UpgradeParts): Upgrade {
  const { maxJsonBytes, sockets, endings, identify, createRequestId, report } = parts
  const path = `${parts.prefix}/socket`
  const connections = new Set<Connection>()
  let server: WsServer | undefined
  for (const signal of endings) {
    signal.addEventListener('abort', () => {
      for (const connection of connections) connection.end(1001, 'the server stops')
    })
  }

  return async (request, socket, head, next) => {
    const isOurs = pathOf(request, parts.prefix) === path
    const requestId = createRequestId()
    if (!isOurs && next !== undefined) {
      try {
        return next()
      } catch (error) {
        report(error, { requestId, request })
        return void socket.destroy()
      }
    }
    // Until the library has it, a socket that breaks has nobody who listens.
    socket.on('error', () => {})
    const { method = 'GET', headers } = request
    const route = isOurs ? path : undefined
    const answered = beginRequest({ method, route, requestId }, headers)
    try {
      if (!isOurs) throw new LorekeepError('LK_HTTP_NOT_FOUND', 'unknown path')
      await accept(request, socket, head, () => answered(101))
      // Where it was not opened, the library has refused what is no handshake.
      answered(method === 'GET' ? 400 : 405)
    } catch (error) {
      if (isDisconnect(error) || socket.destroyed) {
        answered(0)
        return void socket.destroy()
      }
      const problem = problemOf(error, requestId)
      answered(problem.status)
      if (problem.status >= 500) report(error, { requestId, request })
      await refuse(socket, problem)
    }
  }

  /** Resolves when the socket is closed. */
  async function accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    onOpen: () => void,
  ): Promise<void> {
    checkPage(request, parts.cors)
    if (endings.some(({ aborted }) => aborted)) throw new LorekeepError('LK_CLOSED')
    // Browsers, and clients before 2.5, have no other place for a token.
    const named = parseQuery(splitTarget(request.url ?? '/').query, socketQuery).get('token')
    const token = bearerToken(request) ?? (named === '' ? undefined : named)
    const principal = await identify(token, request)
    if (principal === undefined && token !== undefined) {
      throw new LorekeepError('LK_HTTP_UNAUTHORIZED', 'the token is not accepted')
    }
    server ??= new (await loadWs()).WebSocketServer({
      noServer: true,
      clientTracking: false,
      // It would take memory for every socket, and let a small message become a large one.
      perMessageDeflate: false,
      maxPayload: maxJsonBytes,
    })
    if (socket.destroyed) throw disconnect()
    const ws = server
    const begun: { connection?: Connection } = {}
    await sockets.hold(principal ?? nobody, async () => {
      const connection = new Connection(socket, request, principal, parts)
      begun.connection = connection
      connections.add(connection)
      ws.handleUpgrade(request, socket, head, (opened: WsSocket) => {
        onOpen()
        connection.open(opened)
      })
      await connection.settled()
    })
    const { connection } = begun
    if (connection === undefined) return
    try {
      // Its place is among those of whom it belongs to now.
      while (!connection.isClosed) {
        await sockets.hold(connection.principal, () => connection.settled())
      }
    } catch (error) {
      if (!hasCode(error, 'LK_HTTP_BUSY')) throw error
      connection.end(1013, error.message.slice(0, 100))
      await connection.settled()
    } finally {
      connections.delete(connection)
    }
  }
}

/**
 * A browser opens sockets for pages of any origin and asks nobody first. So pages may open one whose requests CORS
 * would let them read, with the cookies that would go with those.
 * @throws LorekeepError `LK_HTTP_FORBIDDEN`
 */
function checkPage({ headers }: IncomingMessage, cors: CorsOptions | undefined): void {
  const { origins = [], credentials = false } = cors ?? {}
  const { origin, host } = headers
  if (!isFamiliar({ origin, host }, origins)) {
    throw forbidden(`Origin is '${origin}', which is none of cors.origins`)
  }
  const maySendCookies = credentials && origins.includes(origin ?? '')
  if (origin !== undefined && !isOwn({ origin, host }) && !maySendCookies) delete headers.cookie
}

/** There is no ServerResponse for an upgrade. */
async function refuse(socket: Duplex, problem: ReturnType<typeof problemOf>): Promise<void> {
  const body = JSON.stringify(problem)
  const headers = {
    ...problemHeaders(problem),
    ...(problem.status === 401 && {
      'WWW-Authenticate': 'Bearer realm="lorekeep", error="invalid_token"',
    }),
    'X-Request-Id': problem.requestId,
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n`
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.end(head + body, () => socket.destroy())
  })
}
