import type { Flow } from '../types.js'

/** No wait is longer that something else than a flow asks for, such as a model that is busy. */
export const maxAskedWaitMs = 3_600_000

/**
 * How long to wait after the n-th attempt, in milliseconds: exponential, with the "equal jitter" of
 * https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/ (half of it for sure).
 */
export function backoff(
  { minDelayMs, maxDelayMs }: Pick<Flow, 'minDelayMs' | 'maxDelayMs'>,
  attempt: number,
  fraction: number,
): number {
  const most = Math.min(maxDelayMs, minDelayMs * 2 ** Math.min(attempt - 1, 50))
  return Math.ceil(most / 2 + (most / 2) * fraction)
}
