// Server-sent events of an answer.

import { linesOf, parsed } from './connection.js'

export interface SentEvent {
  readonly type: string
  readonly data: unknown
}

/** Servers tell more often that they are there: one that does not is gone, and its events have ended. */
const silenceMs = 60_000

export async function* eventsOf(response: Response): AsyncGenerator<SentEvent, void, undefined> {
  let type = ''
  let data = ''
  for await (const line of linesOf(response, silenceMs)) {
    if (line.startsWith('event: ')) type = line.slice(7)
    else if (line.startsWith('data: ')) data += line.slice(6)
    else if (line === '' && data !== '') {
      yield { type, data: parsed(response, data) }
      data = ''
    }
  }
}
