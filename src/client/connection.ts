// Requests to a server, by the fetch of whatever runs this: no module of Node is imported in this room.

import type { ChangeConditions } from '../conditions.js'
import { parseJson } from '../json-text.js'
import { catalogue, LorekeepError } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import { upload } from './upload.js'
import type { Sent } from './upload.js'

export interface ConnectOptions {
  /** Of the server: `https://example.com`, with a path in front of `/api/v1` where it is mounted so. */
  readonly url: string | URL
  /** What stands in front of every path, as createHandler() was told. `/api/v1` by default. */
  readonly prefix?: string
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string
  /** One that the server has, for the paths of objects: they say nothing else of it. By default `default`. */
  readonly flow?: string
  /** In place of the global one. What it rejects with is asked again where that is safe, unless it says `isFinal: true`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** An error that the server answered with. */
export class ServerError extends LorekeepError {
  /** Of the answer. */
  readonly status: number
  readonly requestId: string

  constructor(code: ErrorCode, problem: Problem) {
    const {
      type: _,
      title: __,
      status,
      detail,
      kind: ___,
      requestId,
      error: ____,
      code: _____,
      ...details
    } = problem
    // The sentence of the code comes first there, and here.
    const { message } = catalogue[code]
    const more = detail.startsWith(`${message}: `) ? detail.slice(message.length + 2) : undefined
    super(code, more ?? (detail === message ? undefined : detail), { details })
    this.status = status
    this.requestId = requestId
  }
}

/** What an error's answer has (RFC 9457). */
interface Problem {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail: string
  readonly code: string
  readonly kind: string
  readonly requestId: string
  readonly error: unknown
}

export interface Asking {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly accept?: string
  readonly type?: string | undefined
  readonly body?: RequestInit['body']
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Asks again where the server was not reached, or is busy: it changes nothing. */
  readonly isSafe?: boolean
  readonly signal?: AbortSignal | undefined
  /** Of a body that is no stream; called where `tellsSent`. */
  readonly onSent?: ((sent: Sent) => void) | undefined
}

const tries = 4
const longestWaitMs = 10_000

export class Connection {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #fetch: NonNullable<ConnectOptions['fetch']>
  /** Whether it is told how much of a body has gone. */
  readonly tellsSent: boolean
  readonly #closing = new AbortController()

  constructor({ url, prefix = '/api/v1', token, fetch: given }: ConnectOptions) {
    const { origin, pathname } = new URL(url)
    const before = pathname.replace(/\/+$/, '')
    const isThere = prefix !== '' && before.endsWith(prefix)
    this.#base = `${origin}${isThere ? before : before + prefix}/`
    this.#headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
    this.tellsSent = given === undefined && upload !== undefined
    this.#fetch = given ?? ((url, init) => fetch(url, init))
  }

  /** What is under way ends with `LK_CLOSED`, and so does what comes later. */
  close(): void {
    this.#closing.abort(new LorekeepError('LK_CLOSED'))
  }

  /** Aborted by the caller's signal, and when the connection is closed. */
  signalOf(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closing.signal
    return signal === undefined ? closing : AbortSignal.any([signal, closing])
  }

  /** An answer with a status of success. @throws ServerError, or the reason of the signal */
  async ask(method: string, path: string, asking: Asking = {}): Promise<Response> {
    const signal = this.signalOf(asking.signal)
    for (let at = 1; ; at++) {
      signal.throwIfAborted()
      let response: Response
      try {
        response = await this.#send(method, path, asking, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (asking.isSafe !== true || at === tries || isFinal(error)) throw unreachable(error)
        await pause(waitMs(at), signal)
        continue
      }
      if (response.ok) return response
      const error = await errorOf(response)
      signal.throwIfAborted()
      const isBusy = [429, 503].includes(response.status) && response.headers.has('Retry-After')
      if (!isBusy || asking.isSafe !== true || at === tries) throw error
      const told = Number(response.headers.get('Retry-After')) * 1000
      await pause(Math.min(told || waitMs(at), longestWaitMs), signal)
    }
  }

  async json<T>(method: string, path: string, asking: Asking = {}): Promise<T> {
    const signal = this.signalOf(asking.signal)
    const response = await this.ask(method, path, { accept: json, ...asking })
    const text = await whole(() => response.text(), signal)
    try {
      return parseJson(text) as T
    } catch (cause) {
      throw notOurs(response, 'LK_INTERNAL', cause)
    }
  }

  /** json() of a question in JSON. */
  async post<T>(path: string, value: unknown, asking: Asking = {}): Promise<T> {
    return this.json('POST', path, { ...inJson(value), isSafe: true, ...asking })
  }

  #send(
    method: string,
    path: string,
    { query = {}, accept = '*/*', type, body, headers, onSent }: Asking,
    signal: AbortSignal,
  ): Promise<Response> {
    const given = Object.entries(query).filter(([, value]) => value !== undefined)
    const text = new URLSearchParams(given as [string, string][]).toString()
    const url = `${this.#base}${path}${text && `?${text}`}`
    const init = {
      method,
      headers: {
        ...this.#headers,
        Accept: accept,
        ...(type && { 'Content-Type': type }),
        ...headers,
      },
      signal,
      redirect: 'error' as const,
      ...(body !== undefined && { body }),
      // A body that is made while it is sent; the types of Node know the member, those of browsers do not.
      ...(typeof body === 'object' &&
        body instanceof ReadableStream &&
        ({ duplex: 'half' } as object)),
    }
    return onSent !== undefined && this.tellsSent
      ? upload!(url, init, onSent)
      : this.#fetch(url, init)
  }
}

/** All of a list, page by page. */
export async function* pagesOf<T>(
  connection: Connection,
  path: string,
  name: string,
  query: Asking['query'] & { readonly after?: string | undefined },
  limit = Infinity,
): AsyncGenerator<T, void, undefined> {
  let [left, after] = [limit, query.after]
  while (left > 0) {
    const asked = { ...query, after, limit: Math.min(left, 1000) }
    const page = await connection.json<Record<string, T[]> & { next?: string }>('GET', path, {
      query: asked,
      isSafe: true,
    })
    const items = page[name] as T[]
    yield* items
    left -= items.length
    after = page.next
    if (after === undefined) return
  }
}

/** All of a list that is small. */
export async function allOf<T>(connection: Connection, path: string): Promise<T[]> {
  const all: T[] = []
  for await (const item of pagesOf<T>(connection, path, path, {})) all.push(item)
  return all
}

export const json = 'application/json'

export function inJson(value: unknown): Pick<Asking, 'type' | 'body'> {
  return { type: json, body: JSON.stringify(value) }
}

/** A time cannot be among them: HTTP has whole seconds, and a change within the one would be taken for none. */
export type RemoteConditions = Omit<ChangeConditions, 'ifUnmodifiedSince'>

/**
 * A change on condition, as headers (RFC 9110, section 13). It is sent once: said again after it was made, it would
 * be refused. @throws TypeError for `ifUnmodifiedSince`
 */
export function onCondition(
  conditions: RemoteConditions | undefined,
): Pick<Asking, 'headers'> & { readonly isConditional: boolean } {
  const { ifVersion, ifNotVersion, ifUnmodifiedSince } = (conditions ?? {}) as ChangeConditions
  if (ifUnmodifiedSince !== undefined) {
    throw new TypeError(
      'ifUnmodifiedSince cannot be asked of a server: name the version, ifVersion',
    )
  }
  const headers = {
    ...(ifVersion != null && { 'If-Match': tagsOf(ifVersion) }),
    ...(ifNotVersion !== undefined && { 'If-None-Match': tagsOf(ifNotVersion) }),
    ...(ifVersion === null && { 'If-None-Match': '*' }),
  }
  return { headers, isConditional: Object.keys(headers).length > 0 }
}

/** Of no version there is no tag; none has the empty one. */
function tagsOf(versions: string | readonly string[]): string {
  if (versions === '*') return versions
  const list = typeof versions === 'string' ? [versions] : versions
  return list.length === 0 ? '""' : list.map((version) => `"${version}"`).join(', ')
}

/** The version that an answer names. */
export function versionIn(response: Response): string {
  return (response.headers.get('ETag') ?? '').replace(/^"|"$/g, '')
}

/** One part of a path. Servers, and URLs, take `.` and `..` for folders however they are written. */
export function part(id: string | number): string {
  return encodeURIComponent(String(id))
}

/** What there is; undefined where the server has none of it. */
export async function maybe<T>(code: ErrorCode, asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof LorekeepError && error.code === code) return undefined
    throw error
  }
}

/** Reads an answer; its error is the signal's reason where that was aborted. */
async function whole<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await read()
  } catch (error) {
    signal.throwIfAborted()
    throw unreachable(error)
  }
}

/** The chunks of an answer. One that breaks off rejects. Leaving the loop ends the answer. */
export async function* chunksOf(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  try {
    for (;;) {
      const { done, value } = await whole(() => reader.read(), signal)
      if (done) return
      yield value as Uint8Array
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}

/** The lines of an answer, without their ends. */
export async function* linesOf(
  response: Response,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(response, signal)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

async function problemIn(response: Response): Promise<Problem | undefined> {
  try {
    return parseJson(await response.text()) as Problem
  } catch {
    return undefined
  }
}

async function errorOf(response: Response): Promise<LorekeepError> {
  const problem = await problemIn(response)
  const code = problem?.code ?? ''
  if (problem !== undefined && Object.hasOwn(catalogue, code)) {
    return new ServerError(code as ErrorCode, problem)
  }
  // What stands before a server that is away says so.
  const isAway = response.status >= 502 && response.status <= 504
  return notOurs(response, isAway ? 'LK_STORAGE_UNAVAILABLE' : 'LK_INTERNAL')
}

function notOurs(
  { status, statusText }: Response,
  code: 'LK_STORAGE_UNAVAILABLE' | 'LK_INTERNAL',
  cause?: unknown,
): LorekeepError {
  const found = `the server answered ${status} ${statusText}, and is no lorekeep server, or another version`
  return new LorekeepError(code, found, cause === undefined ? {} : { cause })
}

/** A fetch that was given may say that asking again would be in vain. */
export function isFinal(error: unknown): boolean {
  return error instanceof Error && 'isFinal' in error && error.isFinal === true
}

/** Nothing is known of what was sent: whether it was done, too. */
function unreachable(cause: unknown): LorekeepError {
  return new LorekeepError('LK_STORAGE_UNAVAILABLE', 'the server was not reached, or left', {
    cause,
  })
}

/** Twice as long each time, and by chance not all at once. */
export function waitMs(at: number): number {
  return 100 * 2 ** at * (0.5 + Math.random() / 2)
}

/** Rejects at once with the reason of the signal. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave)
      resolve()
    }, ms)
    const leave = () => {
      clearTimeout(timer)
      reject(signal.reason as Error)
    }
    signal.addEventListener('abort', leave, { once: true })
  })
}
