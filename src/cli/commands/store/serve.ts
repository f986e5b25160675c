// `lorekeep serve`: the HTTP interface over a data directory, until it is told to stop.

import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LevelBackend } from '../../../../adapters/level/index.js'
import { createHandler } from '../../../http/index.js'
import type { Authenticate, Handler, Principal } from '../../../http/index.js'
import { answered } from '../../../http/node/call.js'
import { ErrorReports } from '../../../error-reports.js'
import { hasCode, LorekeepError } from '../../../errors.js'
import type { FlowDefinition, FlowQueue } from '../../../flow/types.js'
import { createLorekeep } from '../../../lorekeep.js'
import { loadSdk } from '../../../mcp/peer.js'
import type { ObjectStore } from '../../../objects/types.js'
import { createSparql } from '../../../sparql/index.js'
import { Trace } from '../../../tracing.js'
import { handlerOptionsOf, noConfig, readConfig, storeOptionsOf } from '../../config/config.js'
import { variable } from '../../config/environment.js'
import type { NamedFlow, NamedSchema } from '../../config/config.js'
import { isDatabase } from '../../config/place.js'
import { describe, exitCodes, UsageError } from '../../output/failure.js'
import { formatCounted } from '../../output/figures.js'
import { writeOut } from '../../output/output.js'
import { inspectorPath, openBrowser, withFrontDoor } from './front-door.js'
import { checkLoopback, isForeign } from './open-access.js'
import { EventLog, quietLog, type LogFormat, type ServerLog } from './server-log.js'
import { Serving } from './serving.js'
import { callable, explain, whereText } from './trials.js'

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
  /** False: without the page to look at what is stored. */
  readonly inspector?: boolean
  /** Opens that page. */
  readonly openBrowser?: boolean
  /** Answers assistants at `/mcp`; true: reading only. */
  readonly mcp?: true | 'write'
  /** A line for all that happens; true: as a terminal wants it, or whatever else stderr is. */
  readonly log?: LogFormat | true
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
  const hasInspector = options.inspector !== false && config.inspector !== false
  if (options.openBrowser === true && !hasInspector) {
    throw new UsageError('--open-browser opens the inspector, which --no-inspector leaves out')
  }

  const mcp = options.mcp ?? config.mcp ?? false
  // Now, while somebody looks, and not at the first question.
  if (mcp !== false) await loadSdk()

  const format = formatOf(options.log ?? config.log)
  const log = format === undefined ? quietLog : new EventLog(format)
  // From here on a signal stops the server, also while the store is being opened.
  const stop = listenForSignals(options.stopTimeoutMs, log)
  const isTokenMade = tokens.size === 0 && !isOpen
  const made = isTokenMade ? randomBytes(24).toString('base64url') : undefined
  if (made !== undefined) tokens.set(made, { user: '*' })
  const { knowledge, objects, flows, backup, health, close } = await createLorekeep({
    backend: isDatabase(data)
      ? (await import('../../access/database.js')).openDatabase(data)
      : new LevelBackend(data),
    ...storeOptionsOf(config),
    // By then the connections are closed, and what was under way with them.
    closeTimeoutMs: 1_000,
    onError: (error, { count }) => log.error('in the background', error, count),
  }).catch((error: unknown) => {
    if (!hasCode(error, 'LK_STORAGE_LOCKED')) throw error
    const advice = '--data names another place; other commands reach a running server with --url'
    throw new Error(`${error.message} (${advice})`, { cause: error })
  })
  const stopping = new AbortController()
  const requestErrors = new ErrorReports<string>((error, count, where) => {
    log.error(where, error, count)
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
      ...handlerOptionsOf(config),
      inspector: hasInspector,
      mcp,
      // Whoever sends no tokens is a client of the reference system, and those read JSON.
      compat: { ...(isOpen && { emptyJson: true }), ...config.compat },
      signal: stopping.signal,
      // A line for each answer would fill the disk that an outage has left.
      onError: (error, { requestId, request }) => {
        const where = `${requestId} ${request.method} ${request.url?.split('?', 1)[0]}`
        requestErrors.report('http', error, where)
      },
    })
    const whole = hasInspector ? withFrontDoor(handler) : handler
    const serving = new Serving(isOpen ? guarded(whole, isForced) : whole, log)
    const origin = await serving.listen(port, host)
    await writeOut(`lorekeep listening on ${origin}\n`).catch(() => {})
    if (format === 'json') log.note('listening', `${origin}, ${whereText(data)}`)
    // Whoever reads JSON line by line gets others only where he could not go on without them.
    if (format !== 'json' || made !== undefined || isOpen) {
      const { defaultUser } = config
      explain(origin, data, { made, isOpen, tokens, defaultUser, hasInspector, mcp })
    }
    if (options.openBrowser === true) {
      const failed = await openBrowser(`${callable(origin)}${inspectorPath}`)
      if (failed !== undefined) log.note('no browser', `no browser was opened: ${failed}`)
    }
    const runner = flows.run()
    await stop
    stopping.abort()
    // Both at once, within the one time that they have.
    const timeoutMs = options.stopTimeoutMs
    await Promise.all([runner.stop({ timeoutMs }), serving.stop(timeoutMs)])
  } finally {
    requestErrors.close()
    await close()
    log.close()
  }
}

function formatOf(asked: LogFormat | true | undefined): LogFormat | undefined {
  return asked === true ? (process.stderr.isTTY ? 'text' : 'json') : asked
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
    await configured(`flows[${index}] ('${flow.id}')`, () => defineFlow(flows, flow))
  }
}

export async function defineFlow(flows: FlowQueue, flow: NamedFlow): Promise<void> {
  while (flow.active === undefined) {
    const version = await flows.version(flow.id)
    const stored = await flows.get(flow.id)
    const active = stored && { active: stored.active }
    try {
      // Another server may stop it meanwhile.
      await flows.define({ ...flow, ...active } as FlowDefinition, { ifVersion: version ?? null })
      return
    } catch (error) {
      if (!hasCode(error, 'LK_PRECONDITION')) throw error
    }
  }
  await flows.define(flow as FlowDefinition)
}

async function configured(name: string, define: () => Promise<unknown>): Promise<void> {
  try {
    await define()
  } catch (cause) {
    throw new LorekeepError('LK_CONFIG', `${name}: ${describe(cause)}`, { cause })
  }
}

/** Resolves at the first SIGTERM or SIGINT; the second one ends the process where it stands. */
function listenForSignals(timeoutMs: number, log: ServerLog): Promise<void> {
  return new Promise((resolve) => {
    let stopping = false
    const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
      if (stopping) process.exit(exitCodes[signal])
      stopping = true
      log.note(
        'stopping',
        `${signal}: finishing what is under way, for ${timeoutMs / 1000} s at most`,
      )
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
    tellRefused(request)
    response.writeHead(403, { 'Content-Type': 'text/plain', Connection: 'close' })
    response.end(`${foreignDetail}\n`)
    await answered(response)
  }
  const upgrade: Handler['upgrade'] = async (request, socket, head, next) => {
    if (!isForeign(request, isForced)) return handler.upgrade(request, socket, head, next)
    tellRefused(request)
    socket.on('error', () => {})
    const headers = 'Content-Type: text/plain\r\nConnection: close\r\n'
    socket.end(`HTTP/1.1 403 Forbidden\r\n${headers}\r\n${foreignDetail}\n`, () => socket.destroy())
  }
  return Object.assign(guard, { upgrade })
}

const requests = new Trace('http.request')

/** As the handler tells of what it answers. Nobody has looked which path it is. */
function tellRefused({ method }: IncomingMessage): void {
  if (requests.isHeard)
    void requests.run(requests.operation({ method, status: 403 }), async () => {})
}

const foreignDetail =
  'this server is open to programs of its own machine: what comes from elsewhere, by its Host or Origin, is refused'
