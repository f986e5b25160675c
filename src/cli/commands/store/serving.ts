// A server of node:http that stops without cutting off what it is answering.

import { createServer, ServerResponse } from 'node:http'
import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Handler } from '../../../http/index.js'
import { describe } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import type { ServerLog } from './server-log.js'

/**
 * Connections that the system takes while the event loop is at something else. One more than that has
 * to knock again, after 1, 3 and 7 s; with Node's 511 a thousand clients that came at once kept
 * /healthz waiting so long. The system has a bound of its own (net.core.somaxconn).
 */
const backlog = 4096

/** A server that knows what it is answering, so that it can finish it. */
export class Serving {
  readonly #server: Server
  readonly #log: ServerLog
  readonly #answering = new Set<Promise<void>>()
  /** Those that were upgraded, which the server does not count among its connections. */
  readonly #sockets = new Set<Duplex>()
  #stopping = false

  constructor(handler: Handler, log: ServerLog) {
    this.#log = log
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      if (this.#stopping) response.setHeader('Connection', 'close')
      this.#track(handler(request, response))
    }
    this.#server = createServer({ shouldUpgradeCallback: isWebSocket } as ServerOptions, listener)
    this.#server.on('checkContinue', listener)
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (!isWebSocket(request)) return withoutUpgrade(request, socket, listener)
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      this.#track(handler.upgrade(request, socket, head))
    })
    // Node's 300 s would cut a long upload. The handler waits at most idleTimeoutMs for each next
    // byte, and headersTimeout still bounds the head of a request.
    this.#server.requestTimeout = 0
  }

  #track(answered: Promise<void>): void {
    const answering = answered.finally(() => {
      this.#answering.delete(answering)
      // server.close() has closed the connections that were idle then.
      if (this.#stopping) setImmediate(() => this.#server.closeIdleConnections())
    })
    this.#answering.add(answering)
  }

  async listen(port: number, host: string): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: NodeJS.ErrnoException) => {
        const reason =
          cause.code === 'EADDRINUSE'
            ? 'the address is in use (--port names another port)'
            : describe(cause)
        reject(new Error(`cannot listen on ${hostAndPort(host, port)}: ${reason}`, { cause }))
      }
      this.#server.once('error', fail).listen({ port, host, backlog }, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
    const { address, port: found } = this.#server.address() as AddressInfo
    return `http://${hostAndPort(address, found)}`
  }

  /** Takes no new connections, and waits for the answers under way. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const timeout = new AbortController()
    const late = sleep(timeoutMs, undefined, { signal: timeout.signal }).catch(() => {})
    await Promise.race([late, this.#settle()])
    timeout.abort()
    if (this.#answering.size > 0) {
      const requests = formatCounted(this.#answering.size, 'request')
      this.#log.note('cut off', `${requests} not finished after ${timeoutMs / 1000} s: cut off`)
      this.#server.closeAllConnections()
      for (const socket of this.#sockets) socket.destroy()
      await this.#settle()
    }
    // What is left has sent no request, or has its answer and takes long to close.
    const hasten = setTimeout(() => this.#server.closeAllConnections(), 250)
    this.#server.closeIdleConnections()
    await closed
    clearTimeout(hasten)
  }

  async #settle(): Promise<void> {
    while (this.#answering.size > 0) await Promise.all(this.#answering)
  }
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Some clients offer HTTP/2 by an Upgrade with every request, and go on without. From Node 24.9 on the
 * server is asked which upgrades it wants; before, it hands over all of them, and what follows is
 * no longer parsed: a request with a body is lost.
 */
function withoutUpgrade(
  request: IncomingMessage,
  socket: Socket,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const { headers } = request
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  socket.on('error', () => {})
  response.on('finish', () => socket.end())
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    listener(request, response)
    return
  }
  response.writeHead(426, { Upgrade: 'websocket', Connection: 'upgrade, close' })
  response.end('send it again without an Upgrade\n')
}

function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
