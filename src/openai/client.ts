// Requests to an OpenAI-compatible server: JSON there and back, a timeout for each, and the waiting
// and asking again that a busy or absent server calls for.

import { LorekeepError } from '../errors.js'
import { parseJson } from '../json-text.js'
import { systemChance, systemClock } from '../clock.js'
import type { Chance, Clock } from '../clock.js'
import { aCount, aFunction, aText, longestTimer, withMethods } from '../door/rules.js'
import { readBody } from './body.js'
import { ModelServer } from './server.js'
import { serverRules, type ServerOptions } from './server.js'
import { backOffMs, maxWaitMs, retryAfterMs, sleep } from './waiting.js'

export interface ModelOptions extends ServerOptions {
  /** As the server knows it. */
  readonly model: string
  /** For one request and its answer. 60,000 by default. */
  readonly timeoutMs?: number
  /** Requests for one answer, the first among them. 4 by default. */
  readonly maxAttempts?: number
  /** Instead of the global one: for a proxy, or headers of your own. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: Clock
  readonly chance?: Pick<Chance, 'fraction'>
}

export const modelRules = {
  ...serverRules,
  model: aText,
  timeoutMs: aCount(1, longestTimer),
  maxAttempts: aCount(1),
  fetch: aFunction,
  clock: withMethods<Clock>('a clock', 'now', 'after'),
  chance: withMethods<Pick<Chance, 'fraction'>>('a source of chance', 'fraction'),
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly maxAnswerBytes: number
}

/** Why a request has no answer, when another one may have. */
interface Miss {
  readonly error: LorekeepError
  readonly waitMs?: number | undefined
}

const maxErrorBytes = 64 * 1024
const maxErrorLength = 300

export class ModelClient {
  readonly #server: ModelServer
  readonly #timeoutMs: number
  readonly #maxAttempts: number
  readonly #fetch: typeof globalThis.fetch
  readonly #clock: Clock
  readonly #chance: Pick<Chance, 'fraction'>

  constructor(options: ModelOptions) {
    const { timeoutMs = 60_000, maxAttempts = 4 } = options
    this.#server = new ModelServer(options)
    this.#timeoutMs = timeoutMs
    this.#maxAttempts = maxAttempts
    this.#fetch = options.fetch ?? fetch
    this.#clock = options.clock ?? systemClock
    this.#chance = options.chance ?? systemChance
  }

  /**
   * @throws LorekeepError `LK_MODEL_UNAVAILABLE`, `LK_MODEL_REFUSED`, `LK_MODEL_ANSWER` for one that
   *   is not JSON or too long, `LK_CONFIG`; the signal's reason once it is aborted
   */
  async post(path: string, body: object, options: RequestOptions): Promise<unknown> {
    const json = JSON.stringify(body)
    for (let attempt = 1; ; attempt++) {
      const { answer, miss } = await this.#ask(path, json, options)
      if (!miss) return answer
      const waitMs = miss.waitMs ?? backOffMs(attempt, this.#chance.fraction())
      if (attempt >= this.#maxAttempts || waitMs > maxWaitMs) throw miss.error
      await sleep(this.#clock, waitMs, options.signal)
    }
  }

  async #ask(
    path: string,
    body: string,
    { signal, maxAnswerBytes }: RequestOptions,
  ): Promise<{ readonly answer?: unknown; readonly miss?: Miss }> {
    signal.throwIfAborted()
    const url = this.#server.url(path)
    const key = this.#server.key()
    const headers = {
      Accept: 'application/json',
      'Content-Type': 'application/json',
      ...(key !== undefined && { Authorization: `Bearer ${key}` }),
    }
    const timeout = new AbortController()
    const stopTimer = this.#clock.after(this.#timeoutMs, () => timeout.abort())
    try {
      const response = await this.#fetch(url, {
        method: 'POST',
        headers,
        body,
        // Followed, it would take the key and the text to wherever the answer says.
        redirect: 'manual',
        signal: AbortSignal.any([signal, timeout.signal]),
      })
      if (!response.ok) return { miss: await this.#refusal(url, key, response) }
      return parsed(url, await readBody(response, maxAnswerBytes))
    } catch (cause) {
      signal.throwIfAborted()
      if (cause instanceof LorekeepError) throw cause
      const why = timeout.signal.aborted ? `no answer in ${this.#timeoutMs} ms` : reason(cause)
      return {
        miss: { error: new LorekeepError('LK_MODEL_UNAVAILABLE', `${url}: ${why}`, { cause }) },
      }
    } finally {
      stopTimer()
    }
  }

  /** @throws LorekeepError `LK_MODEL_REFUSED` where asking again is of no use */
  async #refusal(url: string, key: string | undefined, response: Response): Promise<Miss> {
    const { status, headers } = response
    const words = errorMessage(await readBody(response, maxErrorBytes, 'cut'))
    // Servers repeat a key that they do not know.
    const safe = key === undefined ? words : words.replaceAll(key, '***')
    const said = safe.replace(/\s+/g, ' ').trim().slice(0, maxErrorLength)
    const answer = `${url} answered ${status}${said && `: ${said}`}`
    if (status === 408 || status === 429 || status >= 500) {
      const waitMs = retryAfterMs(headers, this.#clock.now())
      const details = { status, ...(waitMs !== undefined && { retryAfterMs: waitMs }) }
      return { error: new LorekeepError('LK_MODEL_UNAVAILABLE', answer, { details }), waitMs }
    }
    const advice =
      status === 401 || status === 403
        ? ` (${this.#server.keySource()})`
        : status < 400
          ? ' (a redirect, which is not followed: set the URL that it leads to)'
          : ''
    throw new LorekeepError('LK_MODEL_REFUSED', answer + advice, { details: { status } })
  }
}

/** An answer that is no JSON at all is a gateway's page, mostly: gone by the next time. */
function parsed(url: string, text: string): { readonly answer?: unknown; readonly miss?: Miss } {
  try {
    return { answer: parseJson(text) }
  } catch {
    return {
      miss: { error: new LorekeepError('LK_MODEL_ANSWER', `${url} answered what is not JSON`) },
    }
  }
}

/** `{ "error": { "message" } }` as OpenAI has it, and the plainer forms of others. */
function errorMessage(text: string): string {
  try {
    const { error, message } = parseJson(text) as Record<string, unknown>
    const inner = (error as { message?: unknown } | undefined)?.message
    const found = [inner, error, message].find((value) => typeof value === 'string')
    return (found as string | undefined) ?? ''
  } catch {
    return text
  }
}

/** fetch says 'fetch failed', and why in the cause. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error as { cause?: { code?: unknown; message?: unknown } | null }
  return String(cause?.code ?? cause?.message ?? error.message)
}
