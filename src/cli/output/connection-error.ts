// What a server answered, and what became of the way to it.

import { hasCode, LorekeepError } from '../../errors.js'

/** How far a request had come: that decides what its end means. */
export type Phase = 'connecting' | 'sending' | 'sent'

/** A server that is not reached, or a connection that broke. */
export class ConnectionError extends Error {
  readonly phase: Phase
  /** Asking again would be in vain: the client does not. */
  readonly isFinal: boolean

  constructor(message: string, phase: Phase, cause?: unknown, isFinal = false) {
    super(message, { cause })
    this.phase = phase
    this.isFinal = isFinal
  }
}

/** How far requests had come that a signal ended, by its reason. */
export const interruptions = new WeakMap<object, Phase>()

/** That which the client met, whose own sentence says less. */
export function connectionErrorIn(error: unknown): ConnectionError | undefined {
  if (!hasCode(error, 'LK_STORAGE_UNAVAILABLE')) return undefined
  return error.cause instanceof ConnectionError ? error.cause : undefined
}

/** The client's class, which most commands have no need to load. */
interface ServerError extends LorekeepError {
  readonly requestId: string
}

export function isServerError(error: unknown): error is ServerError {
  return error instanceof LorekeepError && 'requestId' in error
}
