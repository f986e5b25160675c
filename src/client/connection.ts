// Requests to a server, by the fetch of whatever runs this: no module of Node is imported in this room.

import type { ChangeConditions } from '../conditions.js'
import { parseJson } from '../json-text.js'
import { catalogue, hasCode, LorekeepError } from '../errors.js'
import type { ErrorCode } from '../errors.js'
import { checkOptions, isText } from './options.js'
import type { ConnectOptions, Fetch } from './options.js'
import { upload } from './upload.js'
import type { Sent } from './upload.js'

/** An error that the server answered with. */
export class ServerError extends LorekeepError {
  /** Of the answer. */
  readonly status: number
  readonly requestId: string

  constructor(problem: Problem) {
    const { type: _, title: __, kind: ___, error: ____, code, status, ...told } = problem
    const { detail, requestId, ...details } = told
    // The sentence of the code comes first there, and here.
    const { message } = catalogue[code]
    const found = detail === message ? undefined : detail.replace(`${message}: `, '')
    super(code, found, { details })
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
  readonly code: ErrorCode
  readonly kind: string
  readonly requestId: string
  readonly error: unknown
}

export interface Asking {
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly accept?: string | undefined
  readonly type?: string | undefined
  readonly body?: RequestInit['body']
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Asks again where the server was not reached, or is busy: it changes nothing. */
  readonly isSafe?: boolean
  /** Any of them ends it. */
  readonly signal?: AbortSignal | readonly AbortSignal[] | undefined
  /** Of a body that is no stream; called where `tellsSent`. */
  readonly onSent?: ((sent: Sent) => void) | undefined
}

const tries = 4
const longestWaitMs = 10_000

export class Connection {
  readonly #base: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #fetch: Fetch
  /** Whether it is told how much of a body has gone. */
  readonly tellsSent: boolean
  readonly #closing = new AbortController()
  /**
   * What close() ends. Not listeners of one signal: fetch adds its own to whatever it is given, and lets go of them
   * when garbage is collected, which Node warns of after 1,500 requests.
   */
  readonly #underWay = new Set<() => void>()

  /** @throws TypeError for an option that is wrong */
  constructor(options: ConnectOptions) {
    checkOptions(options)
    const { url, prefix = '/api/v1', token, fetch: given } = options
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
    for (const leave of [...this.#underWay]) leave()
  }

  /** Ends with the connection, and with any of the signals, until it is let go of. */
  #hold(given: Asking['signal']): Hold {
    const leaving = new AbortController()
    const signals = [given ?? []].flat()
    const ended = () => [...signals, this.#closing.signal].find(({ aborted }) => aborted)
    const leave = () => {
      release()
      leaving.abort(ended()?.reason)
    }
    const release = () => {
      for (const signal of signals) signal.removeEventListener('abort', leave)
      this.#underWay.delete(leave)
    }
    for (const signal of signals) signal.addEventListener('abort', leave)
    this.#underWay.add(leave)
    if (ended()) leave()
    return { signal: leaving.signal, release }
  }

  /**
   * An answer with a status of success. It is to be read, by chunksOf() or textOf(), or to be left, by leave().
   * @throws ServerError, or the reason of the signal
   */
  async ask(method: string, path: string, asking: Asking = {}): Promise<Response> {
    checkTexts([path, ...Object.values(asking.query ?? {})])
    if (this.#fetch.isLiteral !== true) checkPath(path)
    const hold = this.#hold(asking.signal)
    try {
      const response = await this.#answer(method, path, asking, hold.signal)
      holds.set(response, hold)
      if (response.body === null) hold.release()
      return response
    } catch (error) {
      hold.release()
      throw error
    }
  }

  async #answer(
    method: string,
    path: string,
    asking: Asking,
    signal: AbortSignal,
  ): Promise<Response> {
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
      const told = response.headers.get('Retry-After')
      const isBusy = [429, 503].includes(response.status) && told !== null
      if (!isBusy || asking.isSafe !== true || at === tries) throw error
      await pause(toldMs(told) ?? waitMs(at), signal)
    }
  }

  async json<T>(method: string, path: string, asking: Asking = {}): Promise<T> {
    return this.read(await this.ask(method, path, { accept: json, ...asking }))
  }

  /** json() of what is there. */
  async get<T>(path: string, query: Asking['query'] = {}, signal?: AbortSignal): Promise<T> {
    return this.json('GET', path, { query, isSafe: true, signal })
  }

  /** The version of what is there, by the head of its answer; undefined where the server says that there is none. */
  async version(path: string, none: ErrorCode): Promise<string | undefined> {
    const response = await maybe(none, this.ask('GET', path, { isSafe: true }))
    if (response === undefined) return undefined
    await leave(response)
    return versionIn(response)
  }

  /** False where the server says that there is none. */
  async remove(
    path: string,
    none: ErrorCode,
    conditions?: RemoteConditions,
    query: Asking['query'] = {},
  ): Promise<boolean> {
    const { headers } = onCondition(conditions)
    return (await maybe(none, this.ask('DELETE', path, { headers, query }))) !== undefined
  }

  /** What an answer in JSON says. */
  async read<T>(response: Response): Promise<T> {
    return parsed(response, await textOf(response)) as T
  }

  /** Rejects at once when the connection is closed, or with the reason of the signal. */
  async pause(ms: number, given: Asking['signal']): Promise<void> {
    const { signal, release } = this.#hold(given)
    try {
      await pause(ms, signal)
    } finally {
      release()
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
      // One that is followed would bring the token, or a change, to where nobody asked for it.
      redirect: 'manual' as const,
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
    const page = await connection.get<Record<string, T[]> & { next?: string }>(path, asked)
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

/** @throws LorekeepError `LK_HTTP_REQUEST` as finite() does */
export function inJson(value: unknown): Pick<Asking, 'type' | 'body'> {
  const body = JSON.stringify(value)
  // It would be null, which takes a field away. A text without that is spared asking for every member.
  if (body?.includes('null')) JSON.stringify(value, finite)
  return { type: json, body }
}

/** For JSON.stringify. @throws LorekeepError `LK_HTTP_REQUEST` for a number that JSON does not have */
export function finite(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value
  throw new LorekeepError('LK_HTTP_REQUEST', `${name} is ${value}, which JSON does not have`)
}

/** @throws LorekeepError `code` for a definition that has no such member, by which its path is named */
export function nameIn(definition: unknown, path: 'id' | 'name', code: ErrorCode): string {
  const name = (Object(definition) as Readonly<Record<string, unknown>>)[path]
  if (isText(name)) return name
  const message = 'must be a text'
  throw new LorekeepError(code, `${path} ${message}`, { details: { errors: [{ path, message }] } })
}

/** A time cannot be among them: HTTP has whole seconds, and a change within the one would be taken for none. */
export type RemoteConditions = Omit<ChangeConditions, 'ifUnmodifiedSince'>

/**
 * A change on condition, as headers (RFC 9110, section 13). It is sent once: said again after it was made, it would
 * be refused. `isSafe` is for changes that are the same when they are said again. @throws TypeError for
 * `ifUnmodifiedSince`
 */
export function onCondition(
  conditions: RemoteConditions | undefined,
): Pick<Asking, 'headers'> & { readonly isSafe: boolean } {
  const { ifVersion, ifNotVersion, ifUnmodifiedSince } = (conditions ?? {}) as ChangeConditions
  if (ifUnmodifiedSince !== undefined) {
    throw new TypeError('ifUnmodifiedSince cannot be asked of a server: use ifVersion')
  }
  const headers = {
    ...(ifVersion != null && { 'If-Match': tagsOf(ifVersion) }),
    ...(ifNotVersion !== undefined && { 'If-None-Match': tagsOf(ifNotVersion) }),
    ...(ifVersion === null && { 'If-None-Match': '*' }),
  }
  return { headers, isSafe: Object.keys(headers).length === 0 }
}

/** Of no version there is no tag; none has the empty one. */
function tagsOf(versions: string | readonly string[]): string {
  if (versions === '*') return versions
  const list = typeof versions === 'string' ? [versions] : versions
  return list.length === 0 ? '""' : list.map((version) => `"${version}"`).join(', ')
}

/**
 * The version that an answer names. What stands in between and encodes an answer makes its tag a weak one, or names the
 * encoding behind it, as in `"…-gzip"`; the server does so, or names a dialect. No version has a dot or a dash.
 */
export function versionIn(response: Response): string {
  return (response.headers.get('ETag') ?? '').replace(/^(?:W\/)?"|[.-].*|"$/g, '')
}

/** One part of a path. What cannot be one ask() refuses: whoever asks is told by a promise. */
export function part(id: string | number): string {
  const text = String(id)
  return text.isWellFormed() ? encodeURIComponent(text) : text
}

/**
 * Half of a surrogate pair has no UTF-8: URLs and forms have U+FFFD in its place, which is another name.
 * @throws LorekeepError `LK_HTTP_REQUEST`
 */
export function checkTexts(texts: readonly unknown[]): void {
  const broken = texts.find((text) => typeof text === 'string' && !text.isWellFormed())
  if (broken === undefined) return
  const shown = String(broken).toWellFormed()
  throw new LorekeepError('LK_HTTP_REQUEST', `'${shown}' has half of a surrogate pair`)
}

/**
 * URLs take `.` and `..` for folders, however they are written: jobs of the flow `..` would be those of every flow.
 * @throws LorekeepError `LK_HTTP_REQUEST`
 */
function checkPath(path: string): void {
  const folder = path.split('/').find((part) => part === '.' || part === '..')
  if (folder === undefined) return
  throw new LorekeepError(
    'LK_HTTP_REQUEST',
    `'${folder}' is no id in a path: URLs take it for a folder`,
  )
}

/** What there is; undefined where the server has none of it. */
export async function maybe<T>(code: ErrorCode, asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (hasCode(error, code)) return undefined
    throw error
  }
}

interface Hold {
  readonly signal: AbortSignal
  release(): void
}

/** What ends answers that have not been read. */
const holds = new WeakMap<Response, Hold>()

/** Reads some of an answer; its error is the signal's reason where that was aborted. */
async function some<T>(response: Response, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    holds.get(response)?.signal.throwIfAborted()
    throw unreachable(error)
  }
}

/** All of an answer. */
export async function textOf(response: Response): Promise<string> {
  try {
    return await some(response, () => response.text())
  } finally {
    holds.get(response)?.release()
  }
}

/** Of an answer whose head has said it all. */
export async function leave(response: Response): Promise<void> {
  holds.get(response)?.release()
  await response.body?.cancel().catch(() => undefined)
}

/**
 * The chunks of an answer. One that breaks off rejects, and one that is silent for as long as is given ends. Leaving the
 * loop ends the answer.
 */
export async function* chunksOf(
  response: Response,
  silenceMs?: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const end = () => reader.cancel().catch(() => undefined)
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    for (;;) {
      if (silenceMs) timer = setTimeout(end, silenceMs)
      const { done, value } = await some(response, () => reader.read())
      clearTimeout(timer)
      if (done) return
      yield value as Uint8Array
    }
  } finally {
    clearTimeout(timer)
    holds.get(response)?.release()
    void end()
  }
}

/** The lines of an answer, without their ends. */
export async function* linesOf(
  response: Response,
  silenceMs?: number,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(response, silenceMs)) {
    // Only what is new is looked through: an answer of many megabytes may be one line.
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n')
    rest += first
    for (const line of others) {
      yield rest
      rest = line
    }
  }
}

async function problemIn(response: Response): Promise<Problem | undefined> {
  try {
    return parseJson(await response.text()) as Problem
  } catch {
    return undefined
  }
}

/** What a server says of an error; undefined for what no server of this version says. */
export function toldError(problem: Problem | undefined): ServerError | undefined {
  if (!Object.hasOwn(catalogue, problem?.code ?? '')) return undefined
  return new ServerError(problem as Problem)
}

async function errorOf(response: Response): Promise<LorekeepError> {
  const told = toldError(await problemIn(response))
  if (told !== undefined) return told
  // Browsers tell no more of it than that, with the status 0.
  if (response.status < 400) {
    const place = response.headers.get('Location') ?? 'elsewhere'
    return new LorekeepError('LK_INTERNAL', `the server redirects to ${place}: connect there`)
  }
  // What stands before a server that is away says so.
  const isAway = [502, 503, 504].includes(response.status)
  return notOurs(response, isAway ? 'LK_STORAGE_UNAVAILABLE' : 'LK_INTERNAL')
}

/** What a text of an answer says in JSON. @throws LorekeepError `LK_INTERNAL` */
export function parsed(response: Response, text: string): unknown {
  try {
    return parseJson(text)
  } catch (cause) {
    throw notOurs(response, 'LK_INTERNAL', cause)
  }
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
  return (error as { readonly isFinal?: unknown } | undefined)?.isFinal === true
}

/** Nothing is known of what was sent: whether it was done, too. */
function unreachable(cause: unknown): LorekeepError {
  return new LorekeepError('LK_STORAGE_UNAVAILABLE', 'the server was not reached, or left', {
    cause,
  })
}

/** Seconds or a date, by our clock (RFC 9110, section 10.2.3); undefined where it is neither, or over. */
function toldMs(told: string): number | undefined {
  const ms = /^\d+$/.test(told) ? 1000 * +told : Date.parse(told) - Date.now()
  return ms > 0 ? Math.min(ms, longestWaitMs) : undefined
}

/** Twice as long each time, and by chance not all at once. */
export function waitMs(at: number): number {
  return 100 * 2 ** at * (0.5 + Math.random() / 2)
}

/** Rejects at once with the reason of the signal. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
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
