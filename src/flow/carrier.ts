// What a trace's context is kept in while a document waits: names and values, stored with it
// (https://www.w3.org/TR/trace-context/ has two, `traceparent` and `tracestate`).

import type { Operation } from '../tracing.js'
import { isPlainObject } from '../door/wording.js'

export type Carrier = Readonly<Record<string, string>>

const mostNames = 8
/** In UTF-16 code units. `tracestate` may have 512 and more. */
const mostLength = 4096

/**
 * What a subscriber has put into it, as far as it can be kept: of what is none, or too much, nothing. A document
 * is not refused for its trace.
 */
export function carrierOf({ carrier }: Operation): Carrier | undefined {
  return isCarrier(carrier) ? { ...carrier } : undefined
}

export function isCarrier(value: unknown): value is Carrier {
  if (!isPlainObject(value)) return false
  const entries = Object.entries(value)
  if (entries.length === 0 || entries.length > mostNames) return false
  let length = 0
  for (const [name, text] of entries) {
    if (typeof text !== 'string' || !text.isWellFormed() || !name.isWellFormed()) return false
    length += name.length + text.length
  }
  return length <= mostLength
}
