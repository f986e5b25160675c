// Errors on their way to a host: an outage meets every piece of work, and is told once a second.

import { LorekeepError } from './errors.js'

/** The most kinds that are kept apart at a time; what else comes is one more kind. */
const maxKinds = 100
const periodMs = 1000

interface Kind<Context> {
  /** Errors since the last call. */
  count: number
  latest: { readonly error: unknown; readonly context: Context } | undefined
  readonly cancel: () => void
}

/**
 * Hands on the first error of a kind at once, and what follows of it within a second as one call at
 * the second's end, with the last error and how many there were. A kind is a place and a code; of
 * errors that are not ours, their name and message. Nothing is dropped: close() tells what waits.
 */
export class ErrorReports<Context = undefined> {
  readonly #tell: (error: unknown, count: number, context: Context) => void
  readonly #after: (delayMs: number, call: () => void) => () => void
  readonly #kinds = new Map<string, Kind<Context>>()
  #closed = false

  /** `tell` may not throw. `after` calls once, and returns what takes that back. */
  constructor(
    tell: (error: unknown, count: number, context: Context) => void,
    after: (delayMs: number, call: () => void) => () => void = afterUnheld,
  ) {
    this.#tell = tell
    this.#after = after
  }

  report(where: string, error: unknown, context: Context): void {
    if (this.#closed) {
      this.#tell(error, 1, context)
      return
    }
    const name = this.#nameOf(where, error)
    const kind = this.#kinds.get(name)
    if (kind === undefined) {
      this.#begin(name)
      this.#tell(error, 1, context)
    } else {
      kind.count++
      kind.latest = { error, context }
    }
  }

  /** Tells at once what waits for the end of its second, and whatever is reported from now on. */
  close(): void {
    this.#closed = true
    for (const { cancel, count, latest } of this.#kinds.values()) {
      cancel()
      if (latest !== undefined) this.#tell(latest.error, count, latest.context)
    }
    this.#kinds.clear()
  }

  #begin(name: string): void {
    const cancel = this.#after(periodMs, () => this.#end(name))
    this.#kinds.set(name, { count: 0, latest: undefined, cancel })
  }

  #end(name: string): void {
    const kind = this.#kinds.get(name)
    this.#kinds.delete(name)
    if (kind?.latest === undefined) return
    // It goes on: the next second begins.
    this.#begin(name)
    this.#tell(kind.latest.error, kind.count, kind.latest.context)
  }

  #nameOf(where: string, error: unknown): string {
    const name = `${where} ${kindOf(error)}`
    return this.#kinds.has(name) || this.#kinds.size < maxKinds ? name : 'others'
  }
}

function kindOf(error: unknown): string {
  if (error instanceof LorekeepError) return error.code
  try {
    return String(error).slice(0, 200)
  } catch {
    return typeof error
  }
}

/** A timer that does not hold the process: what waits is lost with it, unless it is closed first. */
function afterUnheld(delayMs: number, call: () => void): () => void {
  const timer = setTimeout(call, delayMs).unref()
  return () => clearTimeout(timer)
}
