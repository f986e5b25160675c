// How long to wait before a request is sent again, and the waiting.

import type { Clock } from '../clock.js'

/** The longest wait within a request: the queue waits longer, and holds nothing meanwhile. */
export const maxWaitMs = 60_000
const minWaitMs = 500

/** Resolves in so many milliseconds; rejects with the signal's reason once it is aborted. */
export function sleep(
  clock: Pick<Clock, 'after'>,
  delayMs: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    const abort = () => {
      takeBack()
      reject(signal.reason as Error)
    }
    const takeBack = clock.after(delayMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** 500 ms and twice as long each time, less up to half of it by chance. */
export function backOffMs(attempt: number, fraction: number): number {
  return Math.min(maxWaitMs, minWaitMs * 2 ** (attempt - 1)) * (1 - fraction / 2)
}

/** What the server asks for, in milliseconds: `retry-after-ms`, or `Retry-After` of RFC 9110. */
export function retryAfterMs(headers: Headers, now: number): number | undefined {
  const milliseconds = decimal(headers.get('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const text = headers.get('retry-after')
  if (text === null) return undefined
  const seconds = decimal(text)
  const wait = seconds === undefined ? Date.parse(text) - now : seconds * 1000
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

function decimal(text: string | null): number | undefined {
  return text !== null && /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined
}
