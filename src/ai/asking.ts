// How models of the AI SDK are asked: a time for each request, and the asking again that a busy or absent one calls
// for, in place of the SDK's own, which neither knows the queue nor tells it how long to wait.

import { APICallError, EmptyResponseBodyError, InvalidResponseDataError } from 'ai'
import { systemChance, systemClock, type Chance, type Clock } from '../clock.js'
import { aCount, longestTimer, withMethods } from '../door/rules.js'
import { hasCode, LorekeepError } from '../errors.js'
import { backOffMs, maxWaitMs, retryAfterMs, sleep } from '../openai/waiting.js'

export interface AiOptions {
  /** For one request and its answer; of a stream, how long nothing may come. 60,000 by default. */
  readonly timeoutMs?: number
  /** Requests for one answer, the first among them. 4 by default. */
  readonly maxAttempts?: number
  readonly clock?: Pick<Clock, 'now' | 'after'>
  readonly chance?: Pick<Chance, 'fraction'>
}

export const aiRules = {
  timeoutMs: aCount(1, longestTimer),
  maxAttempts: aCount(1),
  clock: withMethods<Pick<Clock, 'now' | 'after'>>('a clock', 'now', 'after'),
  chance: withMethods<Pick<Chance, 'fraction'>>('a source of chance', 'fraction'),
}

export class Asking {
  readonly #timeoutMs: number
  readonly #maxAttempts: number
  readonly #clock: Pick<Clock, 'now' | 'after'>
  readonly #chance: Pick<Chance, 'fraction'>

  constructor({ timeoutMs, maxAttempts, clock, chance }: Partial<AiOptions>) {
    this.#timeoutMs = timeoutMs ?? 60_000
    this.#maxAttempts = maxAttempts ?? 4
    this.#clock = clock ?? systemClock
    this.#chance = chance ?? systemChance
  }

  /**
   * @throws LorekeepError `LK_MODEL_UNAVAILABLE`, `LK_MODEL_REFUSED`, `LK_MODEL_ANSWER`; the signal's reason once it is aborted; what else
   *   the model throws
   */
  async once<T>(signal: AbortSignal, ask: (signal: AbortSignal) => PromiseLike<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      const ended = new AbortController()
      try {
        return await this.#inTime(signal, ended, ask(AbortSignal.any([signal, ended.signal])))
      } catch (cause) {
        await this.#wait(attempt, this.#errorOf(cause, signal), signal)
      }
    }
  }

  /**
   * The pieces of a stream; asked for again as long as none has come. One that is empty is not given on: it says that
   * the model is at work, for which `timeoutMs` begins anew. @throws as once()
   */
  async *stream(
    signal: AbortSignal,
    ask: (signal: AbortSignal) => AsyncIterable<string>,
  ): AsyncGenerator<string, void, undefined> {
    for (let attempt = 1; ; attempt++) {
      signal.throwIfAborted()
      const ended = new AbortController()
      let hasBegun = false
      try {
        const pieces = ask(AbortSignal.any([signal, ended.signal]))[Symbol.asyncIterator]()
        for (;;) {
          const { done, value } = await this.#inTime(signal, ended, pieces.next())
          if (done === true) return
          if (value === '') continue
          hasBegun = true
          yield value
        }
      } catch (cause) {
        const error = this.#errorOf(cause, signal)
        if (hasBegun) throw error
        await this.#wait(attempt, error, signal)
      } finally {
        // A reader that leaves, too, ends the request.
        ended.abort()
      }
    }
  }

  /** Whether or not the model looks at its signal. */
  #inTime<T>(signal: AbortSignal, ended: AbortController, work: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const abort = () => {
        settled()
        reject(signal.reason as Error)
      }
      const takeBack = this.#clock.after(this.#timeoutMs, () => {
        settled()
        reject(new LorekeepError('LK_MODEL_UNAVAILABLE', `no answer in ${this.#timeoutMs} ms`))
        ended.abort()
      })
      // What never answers would keep both.
      const settled = () => {
        takeBack()
        signal.removeEventListener('abort', abort)
      }
      signal.addEventListener('abort', abort, { once: true })
      work.then(resolve, reject).then(settled, settled)
    })
  }

  #errorOf(cause: unknown, signal: AbortSignal): unknown {
    if (signal.aborted) return signal.reason
    if (InvalidResponseDataError.isInstance(cause) || EmptyResponseBodyError.isInstance(cause)) {
      return new LorekeepError('LK_MODEL_ANSWER', cause.message, { cause })
    }
    if (!APICallError.isInstance(cause)) return cause
    const { message, statusCode: status, isRetryable, responseHeaders = {} } = cause
    if (!isRetryable) {
      const details = status === undefined ? {} : { status }
      return new LorekeepError('LK_MODEL_REFUSED', message, { cause, details })
    }
    const waitMs = retryAfterMs(new Headers(responseHeaders), this.#clock.now())
    const details = {
      ...(status !== undefined && { status }),
      ...(waitMs !== undefined && { retryAfterMs: waitMs }),
    }
    return new LorekeepError('LK_MODEL_UNAVAILABLE', message, { cause, details })
  }

  /** @throws what another request would not mend */
  async #wait(attempt: number, error: unknown, signal: AbortSignal): Promise<void> {
    if (!hasCode(error, 'LK_MODEL_UNAVAILABLE')) throw error
    const { retryAfterMs: told } = error.details as { readonly retryAfterMs?: number }
    const waitMs = told ?? backOffMs(attempt, this.#chance.fraction())
    // The queue waits longer, and holds nothing meanwhile.
    if (attempt >= this.#maxAttempts || waitMs > maxWaitMs) throw error
    await sleep(this.#clock, waitMs, signal)
  }
}
