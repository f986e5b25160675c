// What createHandler takes, and the routes that come of it.

import { referenceUser } from '../defaults.js'
import { constants } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { closingOf } from '../closing.js'
import { limit, limitsOf, rulesOf } from '../door/limits.js'
import { checkOptions } from '../door/options.js'
import {
  aFlag,
  aFunction,
  aSignal,
  aText,
  longestTimer,
  optionsOf,
  aRule,
  withMethods,
} from '../door/rules.js'
import type { Backup } from '../backup/types.js'
import type { Health } from '../health.js'
import { aGenerator, generatorOf } from '../graph/answer/generator.js'
import { promptLengths } from '../graph/answer/query.js'
import type { AnswerQuery } from '../graph/types.js'
import type { FlowQueue } from '../flow/types.js'
import type { KnowledgeStore } from '../knowledge/types.js'
import type { ObjectStore } from '../objects/types.js'
import type { SparqlEngine } from '../sparql/types.js'
import type { Authenticate } from './auth.js'
import { readerIdleMs } from './call.js'
import { aCors, checkCors } from './cors.js'
import type { CorsOptions } from './cors.js'
import { aByteRate, Rates } from './rates.js'
import { Places } from './places.js'
import type { Route } from './routes.js'
import { answerRoutes } from './routes/answer.js'
import { assistantRoutes } from './routes/assistants.js'
import { backupRoutes } from './routes/backup.js'
import { collectionRoutes } from './routes/collections.js'
import { coreRoutes } from './routes/cores.js'
import { documentRoutes } from './routes/documents.js'
import { eventRoutes } from './routes/events.js'
import { flowServiceRoutes } from './routes/flow-services.js'
import { flowRoutes } from './routes/flows.js'
import { graphRoutes } from './routes/graph.js'
import { healthRoutes } from './routes/health.js'
import { inspectorRoutes } from './routes/inspector.js'
import { jobRoutes } from './routes/jobs.js'
import { knowledgeServiceRoutes } from './routes/knowledge-service.js'
import { metricsRoutes } from './routes/metrics.js'
import { objectRoutes } from './routes/objects.js'
import { openapiRoutes } from './routes/openapi.js'
import { schemaRoutes } from './routes/schemas.js'
import { sparqlRoutes } from './routes/sparql.js'
import { textRoutes } from './routes/texts.js'
import { whoamiRoutes } from './routes/whoami.js'
import { createServices } from './socket/services.js'
import { storeNames, storesIn } from './stores.js'

/** What `onError` is told beside the error. */
export interface RequestInfo<Request = IncomingMessage> {
  /** The X-Request-Id of the response. */
  readonly requestId: string
  readonly request: Request
}

/** `Request` is what the server gives: of `node:http`, or of the Fetch standard. */
export interface HandlerOptions<Request = IncomingMessage> {
  /** The stores to mount, at least one. */
  readonly knowledge?: KnowledgeStore
  readonly objects?: ObjectStore
  /** Also says which flows there are for objects and graphs; without it there is `default` alone. */
  readonly flows?: FlowQueue
  /**
   * What answers questions in words, as that of `graph.answer()`: a function, or a model behind an
   * OpenAI-compatible server. Without it the passages are the answer.
   */
  readonly generate?: AnswerQuery['generate']
  /** Answers SPARQL over `knowledge`; without it that is a 501. */
  readonly sparql?: SparqlEngine
  /** `backup` of a Lorekeep: for those who act for every user, on every collection. */
  readonly backup?: Backup
  /** `health` of a Lorekeep: for `/readyz`, and what `/metrics` tells of it. */
  readonly health?: () => Promise<Health>
  /**
   * Whether there is `/metrics`: for those who act for every user, on every collection, or with `'open'` for
   * everyone. What is counted is counted for all of the process. Off by default.
   */
  readonly metrics?: boolean | 'open'
  /**
   * Whether there is a page to look at what is stored, at `inspector` behind the prefix. It is open to everyone, and
   * shows what the token of whoever looks may see. Off by default.
   */
  readonly inspector?: boolean
  /**
   * Whether assistants are answered at `/mcp` by the Model Context Protocol, with the optional peer
   * `@modelcontextprotocol/server`: by tools that ask, or with `'write'` also by one that loads texts, for whoever may
   * change things. It takes all three stores. Off by default.
   */
  readonly mcp?: boolean | 'write'
  /** Who may come in; `'none'` lets everyone act for every user. There is no default. */
  readonly authenticate: Authenticate<Request> | 'none'
  /** In front of every path but /healthz, /readyz, /metrics and /mcp. Default `/api/v1`; may be empty. */
  readonly prefix?: string
  /** Which pages of other origins may read answers. Default: none. */
  readonly cors?: CorsOptions
  /**
   * Whoever replaces or deletes a core, an object, a schema or a flow says which version it read
   * (`If-Match`), or that there is none (`If-None-Match: *`); else it is a 428. Default false.
   */
  readonly requireConditions?: boolean
  /**
   * Requests of one user under way at once, streams that are open among them; one more is answered with 429. With
   * `authenticate: 'none'` there is no such bound. Default 1,000.
   */
  readonly maxUserRequests?: number
  /**
   * Bytes of one user that go in and out in a second, as they are in bodies and answers, one second's worth at once;
   * what is more waits. A request that would wait for over 10 seconds is answered with 429. At least 128 KiB; with
   * `authenticate: 'none'`, and by default, there is no such bound.
   */
  readonly maxUserBytesPerSecond?: number
  /** Bytes of one import. Default 4 GiB. The store has a limit of its own; the lower one counts. */
  readonly maxCoreBytes?: number
  /**
   * Imports under way at once; one more is answered with 503. One user has half of them at the most,
   * as of all places below, unless `authenticate` is `'none'`. Default 64.
   */
  readonly maxConcurrentImports?: number
  /** Exports of cores under way at once; each holds up to 1 MiB where its reader pauses. Default 64. */
  readonly maxConcurrentExports?: number
  /** Questions about cores, SPARQL included, under way at once. Default 64. */
  readonly maxConcurrentQueries?: number
  /** Streams of events that are open at once. Default 1,000. */
  readonly maxEventStreams?: number
  /** Sockets that are open at once. Those that have not sent a token are of one user. Default 1,000. */
  readonly maxSockets?: number
  /** Requests of one socket under way at once; further ones are not read meanwhile. Default 16. */
  readonly maxSocketRequests?: number
  /** Bytes of one JSON body, or of one message of a socket. Default 16 MiB. */
  readonly maxJsonBytes?: number
  /** Bytes of one file. Default 32 MiB. The store has a limit of its own; the lower one counts. */
  readonly maxFileBytes?: number
  /**
   * Bytes of JSON bodies, queries and files that are read or worked on at once, one more of which is answered
   * with 503; one alone is always taken. Parsed, they take some ten times as much. Default 64 MiB, or
   * four times `maxJsonBytes`.
   */
  readonly maxBufferedBytes?: number
  /**
   * The most results of one question about cores, where they come as one JSON. Default 10,000. What
   * comes in lines has no limit.
   */
  readonly maxGraphResults?: number
  /**
   * How long one question about cores may be worked on, SPARQL included, in milliseconds; then
   * `LK_QUERY_BUDGET`. What its reader takes to read is not counted. Default 30,000, as that of the
   * store is for queries of objects.
   */
  readonly maxQueryMs?: number
  /** Questions that are answered in words, under way at once. Default 64. */
  readonly maxConcurrentAnswers?: number
  /**
   * How long `generate` may take for one of them, in milliseconds; then `LK_MODEL_UNAVAILABLE`. What its
   * reader takes to read is not counted. Default 300,000.
   */
  readonly maxAnswerMs?: number
  /**
   * The most that passages and triples may take in a prompt, in UTF-16 code units; a question may ask for
   * less. Default 12,000.
   */
  readonly maxPromptLength?: number
  /**
   * Whose cores are asked where a client of the reference system names no user, and its token is for
   * any; whoever asks `whoami` with such a token is told. Default `trustgraph`, as that of createLorekeep().
   */
  readonly defaultUser?: string
  /** How long a body may keep us waiting for its next byte; then 408. Default 30,000. */
  readonly idleTimeoutMs?: number
  /**
   * How long an export, or another answer, waits for a reader that takes nothing before it hangs
   * up. Default 120,000.
   */
  readonly exportIdleTimeoutMs?: number
  /** How often a stream of events shows that it is alive. Default 15,000. */
  readonly heartbeatMs?: number
  /** Ends streams of events and sockets when aborted: a server that is to stop would wait for them. */
  readonly signal?: AbortSignal
  readonly compat?: {
    /** Answers text-load and file-load with `{}` in place of no body. Default false. */
    readonly emptyJson?: boolean
  }
  /**
   * Gets every error that left as a 5xx, or that broke an answer under way, as it was thrown:
   * clients see neither messages nor causes of those. What it throws becomes a process warning.
   */
  readonly onError?: (error: unknown, info: RequestInfo<Request>) => void | Promise<void>
}

export const handlerLimits = {
  maxUserRequests: limit(1000),
  maxCoreBytes: limit(4 * 1024 ** 3),
  maxConcurrentImports: limit(64),
  maxConcurrentExports: limit(64),
  maxConcurrentQueries: limit(64),
  maxConcurrentAnswers: limit(64),
  maxEventStreams: limit(1000),
  maxSockets: limit(1000),
  maxSocketRequests: limit(16),
  // A body of JSON becomes one string, and the engine bounds those.
  maxJsonBytes: limit(16 * 1024 ** 2, 1, constants.MAX_STRING_LENGTH),
  maxFileBytes: limit(32 * 1024 ** 2),
  // Otherwise it is four times maxJsonBytes where that is more.
  maxBufferedBytes: limit(64 * 1024 ** 2),
  maxGraphResults: limit(10_000),
  maxQueryMs: limit(30_000, 1, longestTimer),
  maxAnswerMs: limit(300_000, 1, longestTimer),
  maxPromptLength: limit(12_000, ...promptLengths),
  idleTimeoutMs: limit(30_000, 1, longestTimer),
  exportIdleTimeoutMs: limit(readerIdleMs, 1, longestTimer),
  heartbeatMs: limit(15_000, 1, longestTimer),
}

/** What `mcp` may be. */
export const whetherAssistants = aRule<boolean | 'write'>("true, false or 'write'", (value) =>
  [true, false, 'write'].includes(value as 'write'),
)

const handlerOptions = {
  ...rulesOf(handlerLimits),
  maxUserBytesPerSecond: aByteRate,
  knowledge: withMethods<KnowledgeStore>('a KnowledgeStore', 'import', 'export'),
  objects: withMethods<ObjectStore>('an ObjectStore', 'import', 'query'),
  flows: withMethods<FlowQueue>('a FlowQueue', 'load', 'run'),
  generate: aGenerator,
  sparql: withMethods<SparqlEngine>(
    "an engine, such as 'lorekeep/sparql' makes",
    'execute',
    'isInstalled',
  ),
  backup: aFunction,
  health: aFunction,
  metrics: aRule<boolean | 'open'>("true, false or 'open'", (value) =>
    [true, false, 'open'].includes(value as 'open'),
  ),
  inspector: aFlag,
  mcp: whetherAssistants,
  authenticate: aRule<HandlerOptions['authenticate']>(
    "a function (token, request) => ({ user }) or null, or 'none' to let everyone act for every user",
    (value) => typeof value === 'function' || value === 'none',
  ),
  prefix: aRule<string>(
    "'', or a path that begins with a slash and ends without",
    (prefix) => typeof prefix === 'string' && /^(\/[^/?#]+)*$/.test(prefix),
  ),
  defaultUser: aText,
  signal: aSignal,
  requireConditions: aFlag,
  cors: aCors,
  compat: optionsOf<NonNullable<HandlerOptions['compat']>>({ emptyJson: aFlag }),
  onError: aFunction,
}

/** @throws TypeError for options that cannot be */
export function checkHandlerOptions<Request>(
  called: string,
  options: HandlerOptions<Request>,
): void {
  checkOptions(called, options, handlerOptions, 'authenticate')
  const { cors, mcp = false } = options
  if (cors !== undefined) checkCors(`${called}: cors`, cors)
  const stores = storesIn(options)
  const all = storeNames.join(', ')
  if (mcp !== false && stores.length < storeNames.length) {
    throw new TypeError(`${called}: mcp needs all stores: ${all}`)
  }
  if (stores.length > 0) return
  throw new TypeError(`${called} needs a store: one or several of ${all}`)
}

export type Shared = ReturnType<typeof sharedBy>

/** What routes and sockets have together, of options that were checked. */
export function sharedBy<Request>(options: HandlerOptions<Request>) {
  const { flows, defaultUser = referenceUser, maxUserBytesPerSecond: perSecond } = options
  const limits = limitsOf(handlerLimits, options)
  const places = (total: number, what: string) =>
    new Places(what, total, options.authenticate !== 'none')
  return {
    limits,
    places,
    imports: places(limits.maxConcurrentImports, 'imports'),
    exports: places(limits.maxConcurrentExports, 'exports'),
    questions: places(limits.maxConcurrentQueries, 'questions'),
    hasFlow: async (id: string) =>
      flows === undefined ? id === 'default' : (await flows.get(id)) !== undefined,
    defaultUser,
    rates:
      perSecond === undefined || options.authenticate === 'none' ? undefined : new Rates(perSecond),
  }
}

/** Of options that were checked. */
export function routesOf<Request>(
  options: HandlerOptions<Request>,
  prefix: string,
  shared: Shared = sharedBy(options),
): readonly Route[] {
  const { knowledge, objects, flows, sparql, signal, requireConditions = false } = options
  const { limits, places, imports, exports, questions, hasFlow, defaultUser } = shared
  const { idleTimeoutMs, exportIdleTimeoutMs } = limits
  const ofCores = {
    prefix,
    requireConditions,
    maxCoreBytes: limits.maxCoreBytes,
    imports,
    exports,
    idleTimeoutMs,
    exportIdleTimeoutMs,
  }
  const ofBodies = { prefix, requireConditions, maxJsonBytes: limits.maxJsonBytes, idleTimeoutMs }
  const ofObjects = { ...ofBodies, hasFlow }
  const ofGraphs = {
    ...ofBodies,
    maxGraphResults: limits.maxGraphResults,
    exportIdleTimeoutMs,
    maxQueryMs: limits.maxQueryMs,
    questions,
  }
  const ofAnswers = {
    ...ofGraphs,
    generate: options.generate && generatorOf('createHandler(): generate', options.generate),
    maxPromptLength: limits.maxPromptLength,
    maxAnswerMs: limits.maxAnswerMs,
    answers: places(limits.maxConcurrentAnswers, 'answers'),
    heartbeatMs: limits.heartbeatMs,
  }
  const ofEvents = {
    prefix,
    streams: places(limits.maxEventStreams, 'streams of events'),
    exportIdleTimeoutMs,
    heartbeatMs: limits.heartbeatMs,
    signal,
  }
  const emptyJson = options.compat?.emptyJson ?? false
  const { health, metrics = false, mcp = false } = options
  const routes: Route[] = [
    ...healthRoutes({ health }),
    ...openapiRoutes({ prefix, all: () => routes }),
    ...whoamiRoutes({ prefix, defaultUser, sparql, stores: storesIn(options) }),
  ]
  if (options.inspector === true)
    routes.push(...inspectorRoutes({ prefix, isOpen: options.authenticate === 'none' }))
  if (mcp !== false && knowledge && objects && flows) {
    routes.push(
      ...assistantRoutes({
        ...ofGraphs,
        stores: { knowledge, objects, flows },
        mayWrite: mcp === 'write',
        isOpen: options.authenticate === 'none',
        origins: options.cors?.origins ?? [],
        defaultUser,
      }),
    )
  }
  if (metrics !== false) routes.push(...metricsRoutes({ access: metrics, health, flows }))
  if (options.backup !== undefined) {
    routes.push(...backupRoutes({ prefix, backup: options.backup, exportIdleTimeoutMs }))
  }
  if (knowledge !== undefined) {
    routes.push(
      ...coreRoutes({ ...ofCores, knowledge }),
      ...graphRoutes({ ...ofGraphs, knowledge }),
      ...answerRoutes({ ...ofAnswers, knowledge }),
      ...flowServiceRoutes({ ...ofGraphs, knowledge, hasFlow, defaultUser }),
      ...knowledgeServiceRoutes({ ...ofBodies, knowledge, hasFlow, defaultUser }),
      ...sparqlRoutes({ ...ofGraphs, knowledge, sparql }),
    )
  }
  if (objects !== undefined) {
    routes.push(
      ...objectRoutes({ ...ofObjects, objects }),
      ...schemaRoutes({ ...ofObjects, objects }),
      ...collectionRoutes({ ...ofObjects, objects }),
    )
  }
  if (flows !== undefined) {
    const ofFlows = { ...ofBodies, flows }
    routes.push(
      ...textRoutes({ ...ofFlows, emptyJson, maxFileBytes: limits.maxFileBytes }),
      ...flowRoutes(ofFlows),
      ...jobRoutes(ofFlows),
      ...documentRoutes({ ...ofFlows, knowledge }),
      ...eventRoutes({ ...ofEvents, flows }),
    )
  }
  return routes
}

export function socketPartsOf({ knowledge, flows }: HandlerOptions, shared: Shared) {
  const { limits, places, defaultUser } = shared
  const { maxGraphResults, maxQueryMs, maxJsonBytes, maxSockets, maxSocketRequests } = limits
  const { idleTimeoutMs, exportIdleTimeoutMs } = limits
  const services = { ...shared, knowledge, flows, maxGraphResults, maxQueryMs }
  return {
    findService: createServices(services),
    sockets: places(maxSockets, 'sockets'),
    maxSocketRequests,
    maxJsonBytes,
    idleTimeoutMs,
    exportIdleTimeoutMs,
    heartbeatMs: limits.heartbeatMs,
    defaultUser,
  }
}

/** What ends a socket that has nothing under way: the host's signal, and the end of a store. */
export function endingsOf({ knowledge, flows, signal }: HandlerOptions): readonly AbortSignal[] {
  const signals = [signal, closingOf(knowledge), closingOf(flows)]
  return signals.filter((signal) => signal !== undefined)
}

export function maxBufferedBytesOf<Request>(options: HandlerOptions<Request>): number {
  const { maxJsonBytes, maxBufferedBytes } = limitsOf(handlerLimits, options)
  return options.maxBufferedBytes ?? Math.max(maxBufferedBytes, 4 * maxJsonBytes)
}
