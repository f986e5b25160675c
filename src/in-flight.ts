import { setMaxListeners } from 'node:events'
import { LorekeepError } from './errors.js'

/**
 * The work under way in a store, so that close() can refuse new work, wait for what runs, and
 * after a while abort what does not end.
 */
export class InFlight {
  readonly #stop = new AbortController()
  readonly #closing = new AbortController()
  #count = 0
  #closed = false
  #idle: (() => void) | undefined

  constructor() {
    // One listener per import and export under way, and per socket.
    setMaxListeners(0, this.#stop.signal, this.#closing.signal)
  }

  /** Aborts, with an `LK_CLOSED` error as reason, when close() has waited long enough. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Aborts as soon as close() is called. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** @throws LorekeepError `LK_CLOSED` once close() was called */
  check(): void {
    if (this.#closed) throw new LorekeepError('LK_CLOSED')
  }

  /** Announces work; call what it returns when the work has ended. */
  begin(): () => void {
    this.check()
    this.#count++
    let ended = false
    return () => {
      if (ended) return
      ended = true
      if (--this.#count === 0) this.#idle?.()
    }
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    const end = this.begin()
    try {
      return await work()
    } finally {
      end()
    }
  }

  /** Resolves when nothing runs any more. Work that is still under way after `timeoutMs` is aborted. */
  async close(timeoutMs: number): Promise<void> {
    this.#closed = true
    this.#closing.abort()
    if (this.#count === 0) return
    const reason = new LorekeepError(
      'LK_CLOSED',
      `the work was aborted ${timeoutMs} ms after close()`,
    )
    const timer =
      timeoutMs === Infinity ? undefined : setTimeout(() => this.#stop.abort(reason), timeoutMs)
    await new Promise<void>((resolve) => (this.#idle = resolve))
    clearTimeout(timer)
  }
}

/** Aborts when the store gives up waiting, or the asker does. */
export function eitherOf(closing: AbortSignal, asked: AbortSignal | undefined): AbortSignal {
  return asked === undefined ? closing : AbortSignal.any([closing, asked])
}

/**
 * What somebody's function gives, who may never notice the signal: without it from the moment on that the
 * signal is aborted. @throws the signal's reason
 */
export async function untilAborted<T>(
  work: (signal: AbortSignal) => T | Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted()
  const settled = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const leave = () => reject(signal.reason as Error)
    signal.addEventListener('abort', leave, { once: true, signal: settled.signal })
  })
  try {
    const found = await Promise.race([work(signal), aborted])
    signal.throwIfAborted()
    return found
  } finally {
    settled.abort()
  }
}
