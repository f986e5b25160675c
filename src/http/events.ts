// Server-sent events, at the reader's pace, with signs of life while nothing happens.

import { isPreferred } from '../accept.js'
import type { Call, Sink } from './call.js'
import type { Stopwatch } from './stream.js'

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

/** The head goes out at once, before the first event is asked for. */
export function beginEvents(call: Call, options: SendOptions): EventSending {
  return new EventSending(call.begin(200, eventHeaders), options)
}

export class EventSending {
  readonly #sink: Sink
  readonly #options: SendOptions

  constructor(sink: Sink, options: SendOptions) {
    this.#sink = sink
    this.#options = options
    sink.flush()
  }

  /** @param texts of events */
  async all(texts: AsyncIterable<string>): Promise<void> {
    const sink = this.#sink
    const { heartbeatMs, idleTimeoutMs, clock } = this.#options
    const heartbeat = setInterval(() => {
      if (!sink.isFull) sink.write(': still here\n\n')
    }, heartbeatMs).unref()
    try {
      let id = 0
      for await (const text of texts) {
        id++
        sink.write(`id: ${id}\n${text}`)
        if (!sink.isFull) continue
        clock?.pause()
        await sink.drained(idleTimeoutMs)
        clock?.go()
      }
    } finally {
      clearInterval(heartbeat)
    }
  }

  /** After a last event, which has no number. */
  async end(last?: string): Promise<void> {
    if (last !== undefined) this.#sink.write(last)
    await this.#sink.end(this.#options.idleTimeoutMs)
  }
}

/** But for its number, which is the stream's. */
export function eventText(type: string, data: unknown): string {
  return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`
}

/** Whether the client asks for events by name. */
export function wantsEvents({ headers }: Call): boolean {
  return isPreferred(headers.accept, eventsType, 'application/json')
}
