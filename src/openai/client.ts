// Requests to an OpenAI-compatible server: JSON there, JSON or events back, a timeout for each, and the
// waiting and asking again that a busy or absent server calls for.

import { LorekeepError } from '../errors.js'
import { parseJson } from '../json-text.js'
import { systemChance, systemClock } from '../clock.js'
import type { Chance, Clock } from '../clock.js'
import { aCount, aFunction, aText, longestTimer, withMethods } from '../door/rules.js'
import { isRecord } from '../door/wording.js'
import { readEventStream } from '../event-stream.js'
import { begunBody, bounded, readBody, textOf } from './body.js'
import { ModelServer } from './server.js'
import { serverRules, type ServerOptions } from './server.js'
import { backOffMs, maxWaitMs, retryAfterMs, sleep } from './waiting.js'

/** A wall clock and timers. */
type ModelClock = Pick<Clock, 'now' | 'after'>

export interface ModelOptions extends ServerOptions {
  /** As the server knows it. */
  readonly model: string
  /** For one request and its answer; of a stream, how long nothing may come. 60,000 by default. */
  readonly timeoutMs?: number
  /** Requests for one answer, the first among them. 4 by default. */
  readonly maxAttempts?: number
  /** Instead of the global one: for a proxy, or headers of your own. */
  readonly fetch?: typeof globalThis.fetch
  readonly clock?: ModelClock
  readonly chance?: Pick<Chance, 'fraction'>
}

export const modelRules = {
  ...serverRules,
  model: aText,
  timeoutMs: aCount(1, longestTimer),
  maxAttempts: aCount(1),
  fetch: aFunction,
  clock: withMethods<ModelClock>('a clock', 'now', 'after'),
  chance: withMethods<Pick<Chance, 'fraction'>>('a source of chance', 'fraction'),
}

export interface RequestOptions {
  readonly signal: AbortSignal
  readonly maxAnswerBytes: number
}

export interface StreamOptions extends RequestOptions {
  /** Makes what reads one answer: each attempt has its own. */
  readonly reader: () => StreamReader
}

/** Reads the JSON values of an answer that comes in pieces. */
export interface StreamReader {
  /** Whether the server has said that the answer is whole, or why it is not. */
  readonly isFinished: boolean
  /** The text that a value has, maybe none. What it throws ends the request. */
  read(value: unknown): string
  /** The server says that there is no more. */
  end(): void
}

/** Thrown where a request has no answer, when another one may have. */
class Miss extends Error {
  readonly error: LorekeepError
  readonly waitMs: number | undefined

  constructor(error: LorekeepError, waitMs?: number) {
    super(error.message)
    this.error = error
    this.waitMs = waitMs
  }
}

const maxErrorBytes = 64 * 1024
const maxErrorLength = 300

export class ModelClient {
  readonly #server: ModelServer
  readonly #timeoutMs: number
  readonly #maxAttempts: number
  readonly #fetch: typeof globalThis.fetch
  readonly #clock: ModelClock
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
      const request = this.#begin(path, options.signal)
      try {
        const response = await this.#send(request, json)
        return parsed(request.url, await readBody(response, options.maxAnswerBytes))
      } catch (cause) {
        await this.#wait(attempt, failure(request, cause), options.signal)
      } finally {
        request.patience.end()
      }
    }
  }

  /**
   * The text of an answer that comes in server-sent events, as it comes, and at the reader's pace: a
   * reader that leaves ends the request. A server that streams nothing may answer with one JSON. As
   * long as there was no text the server is asked again, as post() does; `timeoutMs` is then how long
   * nothing may come, a comment that shows that it is alive being something.
   *
   * @throws LorekeepError as post(), and `LK_MODEL_UNAVAILABLE` for an answer that breaks off
   */
  async *stream(
    path: string,
    body: object,
    options: StreamOptions,
  ): AsyncGenerator<string, void, undefined> {
    const json = JSON.stringify(body)
    for (let attempt = 1; ; attempt++) {
      const request = this.#begin(path, options.signal)
      let hasBegun = false
      try {
        const response = await this.#send(request, json)
        const reader = options.reader()
        for await (const value of this.#values(request, response, options.maxAnswerBytes)) {
          if (value === endOfStream) reader.end()
          const text = value === endOfStream ? '' : reader.read(value)
          if (text === '') continue
          hasBegun = true
          yield text
        }
        if (reader.isFinished) return
        throw unavailable(`${request.url}: the answer broke off`)
      } catch (cause) {
        const failed = failure(request, cause)
        if (hasBegun && failed instanceof Miss) throw failed.error
        await this.#wait(attempt, failed, options.signal)
      } finally {
        request.patience.end()
      }
    }
  }

  #begin(path: string, signal: AbortSignal): ModelRequest {
    signal.throwIfAborted()
    const patience = new Patience(this.#clock, this.#timeoutMs)
    return { url: this.#server.url(path), key: this.#server.key(), signal, patience }
  }

  /** The head of an answer that is one. @throws Miss */
  async #send({ url, key, signal, patience }: ModelRequest, body: string): Promise<Response> {
    patience.begin()
    const response = await this.#fetch(url, {
      method: 'POST',
      headers: {
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      body,
      // Followed, it would take the key and the text to wherever the answer says.
      redirect: 'manual',
      signal: AbortSignal.any([signal, patience.signal]),
    })
    if (response.ok) return response
    const words = errorMessage(await readBody(response, maxErrorBytes, 'cut'))
    throw this.#refusal(`${url} answered ${response.status}`, {
      key,
      words,
      status: response.status,
      waitMs: retryAfterMs(response.headers, this.#clock.now()),
    })
  }

  /** The JSON of each event, up to that which says that there are no more. */
  async *#values(
    { url, key, patience }: ModelRequest,
    response: Response,
    maxAnswerBytes: number,
  ): AsyncGenerator<unknown, void, undefined> {
    const body = await begunBody(patience.with(bounded(response, maxAnswerBytes)))
    // Whatever type it says that it is of: no event begins so.
    if (body.first === '{') {
      yield this.#checked(url, key, parsed(url, await textOf(body.chunks)))
      return
    }
    for await (const data of readEventStream(body.chunks)) {
      if (data.trim() === '[DONE]') return void (yield endOfStream)
      yield this.#checked(url, key, parsed(url, data))
    }
  }

  /** Once an answer has begun, this is how a server says that it failed. */
  #checked(url: string, key: string | undefined, value: unknown): unknown {
    const { error, object } = (value ?? {}) as { error?: unknown; object?: unknown }
    if ((error ?? undefined) === undefined && object !== 'error') return value
    const { code, status } = (isRecord(error) ? error : value) as Record<string, unknown>
    const found = [status, code].map(Number).find((one) => one >= 400 && one < 600)
    const words = errorMessage(JSON.stringify(value))
    throw this.#refusal(`${url} broke off`, { key, words, status: found, waitMs: undefined })
  }

  /** @throws what is no miss, the miss's error where that was the last attempt, the signal's reason */
  async #wait(attempt: number, failed: unknown, signal: AbortSignal): Promise<void> {
    if (!(failed instanceof Miss)) throw failed
    const waitMs = failed.waitMs ?? backOffMs(attempt, this.#chance.fraction())
    if (attempt >= this.#maxAttempts || waitMs > maxWaitMs) throw failed.error
    await sleep(this.#clock, waitMs, signal)
  }

  /** A Miss, or `LK_MODEL_REFUSED` where asking again is of no use. */
  #refusal(what: string, { key, words, status, waitMs }: Refusal): Miss | LorekeepError {
    // Servers repeat a key that they do not know.
    const safe = key === undefined ? words : words.replaceAll(key, '***')
    const said = safe.replace(/\s+/g, ' ').trim().slice(0, maxErrorLength).toWellFormed()
    const answer = what + (said && `: ${said}`)
    if (status === undefined || status === 408 || status === 429 || status >= 500) {
      const details = {
        ...(status !== undefined && { status }),
        ...(waitMs !== undefined && { retryAfterMs: waitMs }),
      }
      return new Miss(new LorekeepError('LK_MODEL_UNAVAILABLE', answer, { details }), waitMs)
    }
    const advice =
      status === 401 || status === 403
        ? ` (${this.#server.keySource()})`
        : status < 400
          ? ' (a redirect, which is not followed: set the URL that it leads to)'
          : ''
    return new LorekeepError('LK_MODEL_REFUSED', answer + advice, { details: { status } })
  }
}

const endOfStream = Symbol('end of stream')

interface ModelRequest {
  readonly url: string
  readonly key: string | undefined
  readonly signal: AbortSignal
  readonly patience: Patience
}

interface Refusal {
  readonly key: string | undefined
  readonly words: string
  readonly status: number | undefined
  readonly waitMs: number | undefined
}

/** How long a server is waited for: the time in which its answer waits for the reader is not its own. */
class Patience {
  readonly #clock: ModelClock
  readonly #timeoutMs: number
  readonly #over = new AbortController()
  #takeBack: (() => void) | undefined

  constructor(clock: ModelClock, timeoutMs: number) {
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  /** Aborts when nothing has come in time. */
  get signal(): AbortSignal {
    return this.#over.signal
  }

  get limit(): string {
    return `${this.#timeoutMs} ms`
  }

  begin(): void {
    this.end()
    this.#takeBack = this.#clock.after(this.#timeoutMs, () => this.#over.abort())
  }

  end(): void {
    this.#takeBack?.()
    this.#takeBack = undefined
  }

  /** Waits anew for each chunk. */
  async *with(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      this.end()
      yield chunk
      this.begin()
    }
  }
}

/** What a request has come to: a Miss where another one may fare better. */
function failure({ url, signal, patience }: ModelRequest, cause: unknown): unknown {
  if (signal.aborted) return signal.reason
  if (cause instanceof LorekeepError || cause instanceof Miss) return cause
  const why = patience.signal.aborted ? `no answer in ${patience.limit}` : reason(cause)
  return unavailable(`${url}: ${why}`, cause)
}

function unavailable(what: string, cause?: unknown): Miss {
  return new Miss(
    new LorekeepError('LK_MODEL_UNAVAILABLE', what, cause === undefined ? {} : { cause }),
  )
}

/** An answer that is no JSON at all is a gateway's page, mostly: gone by the next time. @throws Miss */
function parsed(url: string, text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    throw new Miss(new LorekeepError('LK_MODEL_ANSWER', `${url} answered what is not JSON`))
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
