// Server-sent events, at the reader's pace, with signs of life while nothing happens.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { reached } from './reply.js'
import { accepts } from './stream.js'
import type { Stopwatch } from './stream.js'

export interface SentEvent {
  readonly type: string
  readonly data: unknown
}

interface SendOptions {
  readonly heartbeatMs: number
  readonly idleTimeoutMs: number
  /** Stands still while the reader is waited for. */
  readonly clock?: Stopwatch
}

export const eventsType = 'text/event-stream'

export const eventHeaders = {
  'Content-Type': eventsType,
  'Cache-Control': 'no-store',
  // nginx would keep events until it has a buffer full of them.
  'X-Accel-Buffering': 'no',
}

/** The head goes out before the first event is asked for. */
export async function sendEvents(
  response: ServerResponse,
  events: AsyncIterable<SentEvent>,
  { heartbeatMs, idleTimeoutMs, clock }: SendOptions,
): Promise<void> {
  response.writeHead(200, eventHeaders).flushHeaders()
  const heartbeat = setInterval(() => {
    if (!response.writableNeedDrain) response.write(': still here\n\n')
  }, heartbeatMs).unref()
  try {
    let id = 0
    for await (const { type, data } of events) {
      id++
      response.write(`id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
      if (!response.writableNeedDrain) continue
      clock?.pause()
      await reached(response, 'drain', idleTimeoutMs)
      clock?.go()
    }
  } finally {
    clearInterval(heartbeat)
  }
}

/** Whether the client asks for events by name. */
export function wantsEvents(request: IncomingMessage): boolean {
  return accepts(request, eventsType)
}
