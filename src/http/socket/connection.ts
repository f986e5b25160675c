// One socket: whose it is, what is under way on it, and what is sent back in turn.

import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setMaxListeners } from 'node:events'
import { isRecord } from '../../door/wording.js'
import { LorekeepError } from '../../errors.js'
import type { JsonObject, JsonValue } from '../../types.js'
import type { Identify, Principal } from '../auth.js'
import type { RequestInfo } from '../options.js'
import type { BodyMemory, HeldBody } from '../body-memory.js'
import { disconnect, isDisconnect } from '../body.js'
import { parseBody } from '../json.js'
import { problemOf } from '../problem.js'
import type { ProblemDetails } from '../problem.js'
import { requestError } from '../target.js'
import { Intake } from './intake.js'
import type { WsSocket } from './peer.js'
import { Puts } from './puts.js'
import type { FindService } from './services.js'

export interface ConnectionParts {
  readonly identify: Identify<IncomingMessage>
  readonly bodies: BodyMemory
  readonly findService: FindService
  readonly maxSocketRequests: number
  readonly idleTimeoutMs: number
  readonly exportIdleTimeoutMs: number
  readonly heartbeatMs: number
  /** What a client is told that its workspace is, where its token is for any user. */
  readonly defaultUser: string
  readonly createRequestId: () => string
  /** Told of errors that are not the client's. */
  readonly report: (error: unknown, info: RequestInfo) => void
}

/** Whom a socket belongs to whose client has not said yet who it is. */
export const nobody: Principal = { user: '' }

/** What is written at once; each has to be taken in time. */
const writeStep = 512 * 1024
/** How long a client may take to say goodbye. */
const closeMs = 1_000

interface Incoming {
  readonly data: Buffer
  readonly memory: HeldBody
}

export class Connection {
  readonly #parts: ConnectionParts
  readonly #request: IncomingMessage
  readonly #intake: Intake
  readonly #gone = new AbortController()
  readonly #queue: Incoming[] = []
  #socket: WsSocket | undefined
  #principal: Principal | undefined
  /** It has sent its token in a message. */
  #isNewer = false
  #isAuthenticating = false
  #inFlight = 0
  #ending: { readonly code: number; readonly reason: string } | undefined
  #isClosed = false
  /** Something has come since the last ping. */
  #isHeard = true
  /** When the system last took a part of an answer. */
  #takenAt = -Infinity
  #sending: Promise<unknown> = Promise.resolve()
  readonly #puts = new Puts()
  #settle: (() => void) | undefined

  /** Before the handshake, so that every byte behind it is counted. */
  constructor(
    raw: Duplex,
    request: IncomingMessage,
    principal: Principal | undefined,
    parts: ConnectionParts,
  ) {
    this.#parts = parts
    this.#request = request
    this.#principal = principal
    // One listener for each request under way.
    setMaxListeners(0, this.#gone.signal)
    this.#intake = new Intake(raw, {
      idleTimeoutMs: parts.idleTimeoutMs,
      open: () => parts.bodies.open(this.principal),
      isKnown: () => this.#principal !== undefined,
      refuse: (code, reason) => this.#refuse(code, reason),
    })
    raw.on('data', () => (this.#isHeard = true))
    raw.on('close', () => this.#close())
  }

  /** Whose place it takes. */
  get principal(): Principal {
    return this.#principal ?? nobody
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The handshake is done. */
  open(socket: WsSocket): void {
    this.#socket = socket
    socket.on('message', (data) => {
      // Until it has said goodbye, too, the other side may go on.
      if (this.#isClosed) return
      this.#queue.push({ data, memory: this.#intake.take() })
      this.#pump()
    })
    socket.on('ping', (data) => this.#intake.control(data))
    socket.on('pong', (data) => this.#intake.control(data))
    // 'close' follows.
    socket.on('error', () => {})
    socket.on('close', () => this.#close())
    if (this.#ending !== undefined) this.#closeWhenIdle()
    const { idleTimeoutMs, heartbeatMs } = this.#parts
    // What has come is read before it is looked at whether something has.
    const beats = setInterval(() => setImmediate(() => this.#beat()), heartbeatMs).unref()
    this.#gone.signal.addEventListener('abort', () => clearInterval(beats))
    if (this.#principal !== undefined) return
    const timer = setTimeout(() => {
      if (this.#principal === undefined) this.#refuse(1008, `no token came for ${idleTimeoutMs} ms`)
    }, idleTimeoutMs)
    this.#gone.signal.addEventListener('abort', () => clearTimeout(timer))
  }

  /** A client that has vanished says no goodbye, and would keep its place for ever. */
  #beat(): void {
    const socket = this.#socket
    if (socket === undefined || this.#isClosed) return
    // Meanwhile its pong may not be read here, or the ping not there yet: who does not read is left by #writePart().
    const isAtWork = this.#inFlight > 0
    // What the system has taken may be megabytes, which the ping waits behind.
    const mayRead = performance.now() - this.#takenAt < this.#parts.exportIdleTimeoutMs
    if (!this.#isHeard && !isAtWork && !mayRead) return socket.terminate()
    this.#isHeard = isAtWork || mayRead
    socket.ping()
  }

  /** Resolves when it is closed, or has become somebody else's. */
  async settled(): Promise<void> {
    if (this.#isClosed) return
    await new Promise<void>((resolve) => (this.#settle = resolve))
  }

  /** Takes nothing more, and closes when what is under way is answered. */
  end(code: number, reason: string): void {
    this.#ending ??= { code, reason }
    this.#closeWhenIdle()
  }

  #closeWhenIdle(): void {
    if (this.#inFlight > 0 || this.#isAuthenticating || this.#socket === undefined) return
    const { code, reason } = this.#ending ?? { code: 1000, reason: '' }
    for (const { memory } of this.#queue.splice(0)) memory.release()
    // One that is paused would not see the goodbye of the other side.
    this.#socket.resume()
    this.#socket.close(code, reason)
    setTimeout(() => this.#socket?.terminate(), closeMs).unref()
  }

  /** Without waiting for anything. */
  #refuse(code: number, reason: string): void {
    this.#socket?.close(code, reason)
    setTimeout(() => this.#socket?.terminate(), closeMs).unref()
    this.#close()
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#intake.end()
    for (const { memory } of this.#queue.splice(0)) memory.release()
    this.#gone.abort(disconnect())
    this.#settle?.()
  }

  /** Works on what has come. Where there is more than may be under way at once, no more is read. */
  #pump(): void {
    const { maxSocketRequests } = this.#parts
    const isBusy = () => this.#isAuthenticating || this.#inFlight >= maxSocketRequests
    while (this.#ending === undefined && !this.#isClosed && !isBusy()) {
      const next = this.#queue.shift()
      if (next === undefined) break
      this.#inFlight++
      void this.#work(next)
    }
    if (this.#isClosed) return
    if (isBusy()) {
      this.#socket?.pause()
      this.#intake.pause()
    } else {
      this.#socket?.resume()
      this.#intake.resume()
    }
  }

  async #work({ data, memory }: Incoming): Promise<void> {
    try {
      await this.#handle(data)
    } catch (error) {
      // Nobody is left to be told; what else there was has been reported.
      if (!isDisconnect(error)) this.#socket?.terminate()
    } finally {
      memory.release()
      this.#inFlight--
      if (this.#ending === undefined) this.#pump()
      else this.#closeWhenIdle()
    }
  }

  async #handle(data: Buffer): Promise<void> {
    let id: JsonValue | undefined
    const requestId = this.#parts.createRequestId()
    try {
      const message = parseBody(data)
      if (message['type'] === 'auth') {
        await this.#authenticate(message, requestId)
        return
      }
      id = idOf(message)
      const text = await this.#serve(message, id)
      await this.#send(`{"id":${JSON.stringify(id)},"response":${text},"complete":true}`)
    } catch (error) {
      if (isDisconnect(error)) throw error
      const problem = problemOf(error, requestId)
      if (problem.status >= 500) this.#report(error, requestId)
      await this.#send(JSON.stringify(refusal(id, problem, this.#isNewer)))
      if (problem.code === 'LK_CLOSED') this.end(1001, 'the store is closed')
    }
  }

  async #serve(message: JsonObject, id: JsonValue): Promise<string> {
    const { service, flow, workspace, request } = message
    const principal = this.#principal
    if (principal === undefined) {
      const detail = 'there is no token yet: send { "type": "auth", "token": … } first'
      throw new LorekeepError('LK_HTTP_UNAUTHORIZED', detail)
    }
    if (typeof service !== 'string') throw requestError('service', 'must be the name of a service')
    const run = this.#parts.findService(service)
    if (!isRecord(request)) throw requestError('request', 'must be an object')
    const body = request as JsonObject
    return run({
      principal,
      flow,
      // What stands in the request is what the client was told of before it knew its workspace.
      body: workspace === undefined || workspace === null ? body : { ...body, workspace },
      isNewer: this.#isNewer,
      gone: this.#gone.signal,
      puts: this.#puts,
      answer: (text) =>
        this.#send(`{"id":${JSON.stringify(id)},"response":${text},"complete":false}`),
    })
  }

  /** Whoever it was before, it stays until another token is good. */
  async #authenticate({ token }: JsonObject, requestId: string): Promise<void> {
    const { identify, defaultUser } = this.#parts
    this.#isNewer = true
    this.#isAuthenticating = true
    let principal: Principal | undefined
    try {
      const given = typeof token === 'string' && token !== '' ? token : undefined
      principal = await identify(given, this.#request)
    } catch (error) {
      this.#report(error, requestId)
    } finally {
      this.#isAuthenticating = false
    }
    if (principal === undefined) {
      await this.#send('{"type":"auth-failed","error":"auth failure"}')
      return
    }
    this.#principal = principal
    const workspace = principal.user === '*' ? defaultUser : principal.user
    await this.#send(JSON.stringify({ type: 'auth-ok', default_workspace: workspace }))
    this.#settle?.()
  }

  #report(error: unknown, requestId: string): void {
    this.#parts.report(error, { requestId, request: this.#request })
  }

  /** Resolves when the system has taken it: who reads slowly is answered slowly. */
  #send(text: string): Promise<void> {
    const sent = this.#sending.then(() => this.#write(Buffer.from(text)))
    this.#sending = sent.catch(() => {})
    return sent
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.byteLength; at += writeStep) {
      const part = bytes.subarray(at, at + writeStep)
      await this.#writePart(part, at + writeStep >= bytes.byteLength)
    }
  }

  async #writePart(part: Buffer, isLast: boolean): Promise<void> {
    const socket = this.#socket
    if (socket === undefined || this.#isClosed) throw disconnect()
    const { exportIdleTimeoutMs } = this.#parts
    await new Promise<void>((resolve, reject) => {
      const idle = setTimeout(() => socket.terminate(), exportIdleTimeoutMs)
      socket.send(part, { binary: false, fin: isLast }, (error) => {
        clearTimeout(idle)
        this.#takenAt = performance.now()
        if (error) reject(disconnect())
        else resolve()
      })
    })
  }
}

function idOf({ id }: JsonObject): string | number {
  if (typeof id === 'string' || typeof id === 'number') return id
  throw requestError('id', 'must be a string, which the answers have, too')
}

/** In the words of the reference system, where it has any. */
const types: Partial<Record<ProblemDetails['code'], string>> = {
  LK_HTTP_UNAUTHORIZED: 'auth-required',
  LK_HTTP_FORBIDDEN: 'access-denied',
  LK_HTTP_NOT_FOUND: 'unknown-service',
}

function refusal(id: JsonValue | undefined, problem: ProblemDetails, isNewer: boolean): object {
  const { code, requestId } = problem
  const { type, message } = problem.error
  const error = { type: types[code] ?? type, message, code, requestId }
  return {
    ...(id !== undefined && { id }),
    error,
    // Older clients look for it in the response alone, and take what has none for done.
    ...(!isNewer && { response: { error } }),
    complete: true,
  }
}
