// The library that speaks WebSocket: an optional peer.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { LorekeepError } from '../../errors.js'

/** Those parts of ws that are used. */
export interface Ws {
  readonly WebSocketServer: new (options: {
    readonly noServer: true
    readonly clientTracking: false
    readonly perMessageDeflate: false
    readonly maxPayload: number
  }) => WsServer
}

export interface WsServer {
  /** A handshake that is none it answers by itself, and does not call `done`. */
  handleUpgrade(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    done: (socket: WsSocket) => void,
  ): void
}

export interface WsSocket {
  on(event: 'message', listener: (data: Buffer) => void): void
  on(event: 'ping' | 'pong', listener: (data: Buffer) => void): void
  on(event: 'close' | 'error', listener: () => void): void
  send(
    data: Buffer,
    options: { readonly binary: false; readonly fin: boolean },
    done: (error?: Error | null) => void,
  ): void
  ping(): void
  pause(): void
  resume(): void
  close(code: number, reason: string): void
  terminate(): void
}

/** @throws LorekeepError `LK_PEER_MISSING` */
export async function loadWs(): Promise<Ws> {
  try {
    return (await import('ws')) as unknown as Ws
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    const detail = "sockets are spoken by 'ws': npm install ws"
    throw new LorekeepError('LK_PEER_MISSING', detail, { cause, details: { package: 'ws' } })
  }
}
