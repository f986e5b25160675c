// `lorekeep serve`: the HTTP interface over a data directory, until it is told to stop.

import { referenceUser } from '../../../defaults.js'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { createServer, ServerResponse } from 'node:http'
import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { basename, delimiter, join } from 'node:path'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { LevelBackend } from '../../../../adapters/level/index.js'
import { createHandler } from '../../../http/index.js'
import type { Authenticate, Handler, Principal } from '../../../http/index.js'
import { ErrorReports } from '../../../error-reports.js'
import { hasCode, LorekeepError } from '../../../errors.js'
import type { FlowDefinition, FlowQueue } from '../../../flow/types.js'
import { createLorekeep } from '../../../lorekeep.js'
import type { ObjectStore } from '../../../objects/types.js'
import { createSparql } from '../../../sparql/index.js'
import { noConfig, readConfig, storeOptionsOf } from '../../config/config.js'
import { variable } from '../../config/environment.js'
import type { NamedFlow, NamedSchema } from '../../config/config.js'
import { isDatabase, resolvePlace, shownPlace } from '../../config/place.js'
import { describe, exitCodes, note, noteError, UsageError } from '../../output/failure.js'
import { formatCounted, printable } from '../../output/figures.js'
import { writeOut } from '../../output/output.js'
import { sampleId } from '../cores/sample.js'
import { checkLoopback, isForeign } from './open-access.js'

/**
 * Connections that the system takes while the event loop is at something else. One more than that has
 * to knock again, after 1, 3 and 7 s; with Node's 511 a thousand clients that came at once kept
 * /healthz waiting so long. The system has a bound of its own (net.core.somaxconn).
 */
const backlog = 4096

export interface ServeOptions {
  readonly config?: string
  readonly host?: string
  readonly port?: number
  readonly data?: string
  /** token → user; added to those of the configuration. */
  readonly token?: ReadonlyMap<string, string>
  /** Asks nobody for a token. */
  readonly open?: boolean
  /** Also where others reach it. */
  readonly force?: boolean
  readonly stopTimeoutMs: number
}

/** Resolves when a signal has stopped the server and everything is closed. */
export async function serve(options: ServeOptions): Promise<void> {
  const config = options.config === undefined ? noConfig : await readConfig(options.config)
  const { host = config.host ?? '127.0.0.1', port = config.port ?? 8088 } = options
  const data = options.data ?? config.data ?? variable('LOREKEEP_DATA') ?? 'lorekeep-data'
  const given = [...(options.token ?? [])].map(([token, user]) => [token, { user }] as const)
  const tokens = new Map<string, Principal>([...config.tokens, ...given])
  const { open: isOpen = false, force: isForced = false } = options
  if (isForced && !isOpen) throw new UsageError('--force is for --open, which is missing')
  if (isOpen && tokens.size > 0) {
    const count = formatCounted(tokens.size, 'token')
    throw new UsageError(
      `--open asks for no token, and there is ${count} in the configuration or --token: leave out one or the other`,
    )
  }
  if (isOpen && !isForced) await checkLoopback(host)

  // From here on a signal stops the server, also while the store is being opened.
  const stop = listenForSignals(options.stopTimeoutMs)
  const isTokenMade = tokens.size === 0 && !isOpen
  const made = isTokenMade ? randomBytes(24).toString('base64url') : undefined
  if (made !== undefined) tokens.set(made, { user: '*' })
  const { defaultUser, generate, cors, requireConditions } = config
  // Whoever sends no tokens is a client of the reference system, and those read JSON.
  const compat = { ...(isOpen && { emptyJson: true }), ...config.compat }
  const { knowledge, objects, flows, backup, health, close } = await createLorekeep({
    backend: isDatabase(data)
      ? (await import('../../access/database.js')).openDatabase(data)
      : new LevelBackend(data),
    ...storeOptionsOf(config),
    // By then the connections are closed, and what was under way with them.
    closeTimeoutMs: 1_000,
    onError: (error, { count }) => noteError('in the background', error, count),
  }).catch((error: unknown) => {
    if (!hasCode(error, 'LK_STORAGE_LOCKED')) throw error
    const advice = '--data names another place; other commands reach a running server with --url'
    throw new Error(`${error.message} (${advice})`, { cause: error })
  })
  const stopping = new AbortController()
  const requestErrors = new ErrorReports<string>((error, count, where) => {
    noteError(where, error, count)
  })
  try {
    await defineSchemas(objects, config.schemas)
    await defineFlows(flows, config.flows)
    const handler = createHandler({
      knowledge,
      objects,
      flows,
      backup,
      health,
      metrics: true,
      // Where its engine is not installed, a query is told so.
      sparql: createSparql(config.sparql),
      authenticate: isOpen ? 'none' : authenticator(tokens),
      ...(generate !== undefined && { generate }),
      ...(cors !== undefined && { cors }),
      ...(requireConditions !== undefined && { requireConditions }),
      ...config.handlerLimits,
      ...(defaultUser !== undefined && { defaultUser }),
      compat,
      signal: stopping.signal,
      // A line for each answer would fill the disk that an outage has left.
      onError: (error, { requestId, request }) => {
        const where = `${requestId} ${request.method} ${request.url?.split('?', 1)[0]}`
        requestErrors.report('http', error, where)
      },
    })
    const serving = new Serving(isOpen ? guarded(handler, isForced) : handler)
    const origin = await serving.listen(port, host)
    await writeOut(`lorekeep listening on ${origin}\n`).catch(() => {})
    explain(origin, data, { made, isOpen, tokens, defaultUser })
    const runner = flows.run()
    await stop
    stopping.abort()
    // Both at once, within the one time that they have.
    const timeoutMs = options.stopTimeoutMs
    await Promise.all([runner.stop({ timeoutMs }), serving.stop(timeoutMs)])
  } finally {
    requestErrors.close()
    await close()
  }
}

/** @throws LorekeepError `LK_CONFIG` at the first schema that the store refuses */
async function defineSchemas(objects: ObjectStore, schemas: readonly NamedSchema[]): Promise<void> {
  for (const [index, schema] of schemas.entries()) {
    const name = `schemas[${index}] ('${schema.name}')`
    await configured(name, () => objects.defineSchema(schema))
  }
}

/**
 * A flow that was stopped stays so, unless the configuration says otherwise: it tells how a flow
 * works, and whoever stopped it had a reason.
 * @throws LorekeepError `LK_CONFIG` at the first flow that the store refuses
 */
async function defineFlows(flows: FlowQueue, configuredFlows: readonly NamedFlow[]): Promise<void> {
  for (const [index, flow] of configuredFlows.entries()) {
    await configured(`flows[${index}] ('${flow.id}')`, async () => {
      const stored = flow.active === undefined ? await flows.get(flow.id) : undefined
      const { active } = stored ?? flow
      await flows.define({ ...flow, ...(active !== undefined && { active }) } as FlowDefinition)
    })
  }
}

async function configured(name: string, define: () => Promise<unknown>): Promise<void> {
  try {
    await define()
  } catch (cause) {
    throw new LorekeepError('LK_CONFIG', `${name}: ${describe(cause)}`, { cause })
  }
}

/** A server that knows what it is answering, so that it can finish it. */
class Serving {
  readonly #server: Server
  readonly #answering = new Set<Promise<void>>()
  /** Those that were upgraded, which the server does not count among its connections. */
  readonly #sockets = new Set<Duplex>()
  #stopping = false

  constructor(handler: Handler) {
    const listener = (request: IncomingMessage, response: ServerResponse) => {
      if (this.#stopping) response.setHeader('Connection', 'close')
      this.#track(handler(request, response))
    }
    this.#server = createServer({ shouldUpgradeCallback: isWebSocket } as ServerOptions, listener)
    this.#server.on('checkContinue', listener)
    this.#server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
      if (!isWebSocket(request)) return withoutUpgrade(request, socket, listener)
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
      this.#track(handler.upgrade(request, socket, head))
    })
    // Node's 300 s would cut a long upload. The handler waits at most idleTimeoutMs for each next
    // byte, and headersTimeout still bounds the head of a request.
    this.#server.requestTimeout = 0
  }

  #track(answered: Promise<void>): void {
    const answering = answered.finally(() => {
      this.#answering.delete(answering)
      // server.close() has closed the connections that were idle then.
      if (this.#stopping) setImmediate(() => this.#server.closeIdleConnections())
    })
    this.#answering.add(answering)
  }

  async listen(port: number, host: string): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      const fail = (cause: NodeJS.ErrnoException) => {
        const reason =
          cause.code === 'EADDRINUSE'
            ? 'the address is in use (--port names another port)'
            : describe(cause)
        reject(new Error(`cannot listen on ${hostAndPort(host, port)}: ${reason}`, { cause }))
      }
      this.#server.once('error', fail).listen({ port, host, backlog }, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
    const { address, port: found } = this.#server.address() as AddressInfo
    return `http://${hostAndPort(address, found)}`
  }

  /** Takes no new connections, and waits for the answers under way. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping = true
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    const timeout = new AbortController()
    const late = sleep(timeoutMs, undefined, { signal: timeout.signal }).catch(() => {})
    await Promise.race([late, this.#settle()])
    timeout.abort()
    if (this.#answering.size > 0) {
      const requests = formatCounted(this.#answering.size, 'request')
      note(`${requests} not finished after ${timeoutMs / 1000} s: cut off`)
      this.#server.closeAllConnections()
      for (const socket of this.#sockets) socket.destroy()
      await this.#settle()
    }
    // What is left has sent no request, or has its answer and takes long to close.
    const hasten = setTimeout(() => this.#server.closeAllConnections(), 250)
    this.#server.closeIdleConnections()
    await closed
    clearTimeout(hasten)
  }

  async #settle(): Promise<void> {
    while (this.#answering.size > 0) await Promise.all(this.#answering)
  }
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Some clients offer HTTP/2 by an Upgrade with every request, and go on without. From Node 24.9 on the
 * server is asked which upgrades it wants; before, it hands over all of them, and what follows is
 * no longer parsed: a request with a body is lost.
 */
function withoutUpgrade(
  request: IncomingMessage,
  socket: Socket,
  listener: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const { headers } = request
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  socket.on('error', () => {})
  response.on('finish', () => socket.end())
  if (headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0) {
    listener(request, response)
    return
  }
  response.writeHead(426, { Upgrade: 'websocket', Connection: 'upgrade, close' })
  response.end('send it again without an Upgrade\n')
}

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process where it stands. */
function listenForSignals(timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
      if (stopping) process.exit(exitCodes[signal])
      stopping = true
      note(`${signal}: finishing what is under way, for ${timeoutMs / 1000} s at most`)
      resolve()
    }
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
    if (process.env['npm_lifecycle_event'] !== undefined) onOrphaned(() => onSignal('SIGTERM'))
  })
}

/** `npm start` that gets a SIGTERM ends without passing it on, and would leave a server behind. */
function onOrphaned(act: () => void): void {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    act()
  }, 250).unref()
}

/** Looks tokens up by their digests, so that the time it takes tells nothing of them. */
function authenticator(tokens: ReadonlyMap<string, Principal>): Authenticate {
  const digest = (token: string) => createHash('sha256').update(token).digest('base64')
  const principals = new Map([...tokens].map(([token, principal]) => [digest(token), principal]))
  return (token) => (token === undefined ? null : principals.get(digest(token)))
}

/** Of an open server: what comes from a page in a browser is refused before it is looked at. */
function guarded(handler: Handler, isForced: boolean): Handler {
  const guard = async (
    request: IncomingMessage,
    response: ServerResponse,
    next?: (error?: unknown) => void,
  ): Promise<void> => {
    if (!isForeign(request, isForced)) return handler(request, response, next)
    response.writeHead(403, { 'Content-Type': 'text/plain', Connection: 'close' })
    response.end(`${foreignDetail}\n`)
    await once(response, 'close')
  }
  const upgrade: Handler['upgrade'] = async (request, socket, head, next) => {
    if (!isForeign(request, isForced)) return handler.upgrade(request, socket, head, next)
    socket.on('error', () => {})
    const headers = 'Content-Type: text/plain\r\nConnection: close\r\n'
    socket.end(`HTTP/1.1 403 Forbidden\r\n${headers}\r\n${foreignDetail}\n`, () => socket.destroy())
  }
  return Object.assign(guard, { upgrade })
}

const foreignDetail =
  'this server is open to programs of its own machine: what comes from elsewhere, by its Host or Origin, is refused'

const sampleText = 'Mary Shelley wrote Frankenstein in Geneva.'
const sampleQuestion = 'Who wrote Frankenstein?'

/**
 * How to try it, in lines for a shell that the token they are for may run. A token of the configuration
 * is not repeated.
 */
function explain(
  origin: string,
  data: string,
  { made, isOpen, tokens, defaultUser }: Access,
): void {
  const url = new URL(origin)
  // Any address is for listening; one of this machine is for calling.
  if (url.hostname === '0.0.0.0') url.hostname = '127.0.0.1'
  if (url.hostname === '[::]') url.hostname = '[::1]'
  const principal: Principal = isOpen ? { user: '*' } : ablest([...tokens.values()])
  const lines = [
    `# data in ${shownPlace(resolvePlace('', data))}`,
    ...(isOpen
      ? [
          `# OPEN: nobody is asked for a token. Whoever reaches ${origin} reads, changes and deletes`,
          '# everything of every user. Start it without --open for anything that matters. Try it:',
        ]
      : made === undefined
        ? [`# try it, with ${tokenOf(principal)} in LOREKEEP_TOKEN:`]
        : [
            '# no token is configured: this one, good for every user, is made anew at each start',
            `export LOREKEEP_TOKEN=${quote(made)}`,
          ]),
    ...trials(url.origin, principal, { isOpen, defaultUser: defaultUser ?? referenceUser }),
  ]
  process.stderr.write(lines.map((line) => `${line}\n`).join(''))
}

interface Access {
  /** The token that was made, where none was given. */
  readonly made: string | undefined
  readonly isOpen: boolean
  readonly tokens: ReadonlyMap<string, Principal>
  readonly defaultUser: string | undefined
}

/** Who may do most of what there is to try. */
function ablest(principals: readonly Principal[]): Principal {
  const rank = ({ access, collections, user }: Principal) =>
    (access === 'read' ? 0 : 4) +
    (collections === undefined ? 2 : Math.min(collections.length, 1)) +
    (user === '*' ? 0.5 : 0)
  return principals.reduce((best, other) => (rank(other) > rank(best) ? other : best))
}

/** Which of the tokens is meant. */
function tokenOf({ user, collections, access }: Principal): string {
  const whose = user === '*' ? 'that acts for any user' : `of the user ${printable(user)}`
  const names = collections?.map(printable).join(', ') || 'none'
  const where = collections === undefined ? '' : ` (collections: ${names})`
  return `a token ${whose}${where}${access === 'read' ? ', which may only read,' : ''}`
}

function trials(
  origin: string,
  principal: Principal,
  { isOpen, defaultUser }: { readonly isOpen: boolean; readonly defaultUser: string },
): readonly string[] {
  const { access, collections } = principal
  const user = principal.user === '*' ? defaultUser : principal.user
  const api = `${origin}/api/v1`
  const query = new URLSearchParams({ id: sampleId, user })
  const curl = isOpen ? 'curl -sS' : 'curl -sS -H "Authorization: Bearer $LOREKEEP_TOKEN"'
  const mayChange = access !== 'read'
  // Texts and questions go to a collection; of a token for none, to none.
  const collection = collections === undefined ? undefined : collections[0]
  const hasCollection = collections === undefined || collection !== undefined
  const where = [
    ...(collection === undefined ? [] : [`--collection ${quote(collection)}`]),
    `--user ${quote(user)} --url ${quote(origin)}`,
  ].join(' ')
  const own = ownCommand()
  const text = `echo ${quote(sampleText)} | ${own} load - --id urn:lorekeep:text --wait ${where}`
  return [
    mayChange && `${own} sample > sample.core`,
    mayChange && `${curl} -X POST -T sample.core ${quote(`${api}/import-core?${query}`)}; echo`,
    mayChange && hasCollection && text,
    hasCollection && `${own} ask ${quote(sampleQuestion)} ${where}`,
    `${curl} ${quote(`${api}/cores?${new URLSearchParams({ user })}`)}; echo`,
    `${curl} ${quote(`${api}/schemas`)}; echo`,
    mayChange && `${curl} -f -o exported.core ${quote(`${api}/export-core?${query}`)}`,
    mayChange && user === referenceUser && "cmp sample.core exported.core && echo 'the same bytes'",
  ].filter((line) => line !== false)
}

/**
 * What starts this program in another shell: `lorekeep` where that is on the PATH for good (npm
 * puts it there for its own children alone), else this very file.
 */
function ownCommand(): string {
  const script = realpathSync(process.argv[1] ?? '')
  const isOwn = (directory: string) => {
    try {
      return realpathSync(join(directory, 'lorekeep')) === script
    } catch {
      return false
    }
  }
  const { PATH = '', npm_command: npm } = process.env
  if (npm === undefined && PATH.split(delimiter).some(isOwn)) return 'lorekeep'
  const node = basename(process.execPath) === 'node' ? 'node' : quote(process.execPath)
  return `${node} ${quote(script)}`
}

/** For a POSIX shell. */
function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
