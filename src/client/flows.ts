// The flows of a server, their jobs and documents.

import { hasCode } from '../errors.js'
import type {
  CancelledJobs,
  CompletedDocument,
  CompletedDocumentPage,
  DocumentQuery,
  DocumentRef,
  DocumentStatus,
  FileDocument,
  Flow,
  FlowDefinition,
  FlowPage,
  FlowQueue,
  FlowStats,
  Job,
  JobChangeQuery,
  JobEvent,
  JobPage,
  JobQuery,
  NamedStep,
  RetriedJobs,
  TextDocument,
  WatchQuery,
} from '../flow/types.js'
import {
  allOf,
  inJson,
  isFinal,
  leave,
  maybe,
  nameIn,
  onCondition,
  pagesOf,
  part,
  ServerError,
  waitMs,
} from './connection.js'
import type { Asking, Connection, RemoteConditions } from './connection.js'
import { eventsOf } from './events.js'

type RemoteJobQuery = Omit<JobQuery, 'scope' | 'reads'>

/** A FlowQueue whose scope is the token's, and whose steps are built in: the server runs it. */
export interface RemoteFlows extends Pick<FlowQueue, 'get' | 'version' | 'list' | 'flowPage'> {
  define(
    definition: Omit<FlowDefinition, 'steps'> & {
      readonly steps?: readonly (string | NamedStep)[]
    },
    conditions?: RemoteConditions,
  ): Promise<Flow>
  start(id: string, conditions?: RemoteConditions): Promise<Flow>
  stop(id: string, conditions?: RemoteConditions): Promise<Flow>
  remove(id: string, conditions?: RemoteConditions): Promise<boolean>
  load(
    flow: string,
    document: TextDocument | RemoteFileDocument,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<{ readonly job: string }>
  job(id: string): Promise<Job | undefined>
  jobs(query?: RemoteJobQuery): AsyncIterable<Job>
  jobPage(query?: RemoteJobQuery): Promise<JobPage>
  deadLetters(flow: string): AsyncIterable<Job>
  stats(flow: string): Promise<FlowStats>
  /**
   * Goes on after a connection that broke, for as long as the server is not away for a minute: with
   * the state, where a job or a document is named; what happened meanwhile is not told otherwise.
   */
  watch(query?: RemoteWatchQuery): AsyncIterable<JobEvent>
  retry(job: string): Promise<Job>
  cancel(job: string): Promise<void>
  /** Asks again and again, until all that match are changed, or `limit`. */
  retryAll(query?: Omit<JobChangeQuery, 'scope'>): Promise<RetriedJobs>
  /** As retryAll(). */
  cancelAll(query?: Omit<JobChangeQuery, 'scope'>): Promise<CancelledJobs>
  document(ref: DocumentRef): Promise<DocumentStatus | undefined>
  documents(query?: Omit<DocumentQuery, 'scope' | 'reads'>): AsyncIterable<CompletedDocument>
  documentPage(query?: Omit<DocumentQuery, 'scope' | 'reads'>): Promise<CompletedDocumentPage>
  removeDocument(ref: DocumentRef): Promise<boolean>
}

/** A file whose bytes may be those of a Blob or File, too: they go out without being read before. */
export interface RemoteFileDocument extends Omit<FileDocument, 'bytes'> {
  readonly bytes: Uint8Array | Blob
}

export interface RemoteWatchQuery extends Omit<WatchQuery, 'scope'> {
  /** Called when events come from here on: at first, and after each gap between them. They wait for it. */
  readonly onConnected?: () => void | Promise<void>
}

/** How long a server may be away while its events are watched: enough for a restart. */
const patienceMs = 60_000
/** A connection without events that lasted as long was one. */
const settledMs = 5_000
/** Jobs that a server changes in one request. */
const mostChanged = 10_000

export function createFlows(connection: Connection): RemoteFlows {
  const single = (id: string) => `flows/${part(id)}`

  /** Saying it again changes nothing. */
  const change = async (
    method: string,
    path: string,
    conditions: RemoteConditions | undefined,
    body: Asking = {},
  ) => {
    return connection.json<Flow>(method, path, { ...body, ...onCondition(conditions) })
  }

  const ofJobs = ({ flow, state, limit: _, ...query }: RemoteJobQuery) => {
    const path = flow === undefined ? 'jobs' : `flow/${part(flow)}/jobs`
    return [path, { ...query, state: state && String(state) }] as const
  }

  async function changeAll<Counted extends 'retried' | 'cancelled'>(
    change: 'retry' | 'cancel',
    counted: Counted,
    { signal, limit = Infinity, ...query }: Omit<JobChangeQuery, 'scope'> = {},
  ) {
    const [path, asked] = ofJobs(query)
    let [changed, after] = [0, query.after]
    do {
      const left = Math.min(limit - changed, mostChanged)
      const done = await connection.json<Partial<RetriedJobs & CancelledJobs>>(
        'POST',
        `${path}/${change}`,
        { query: { ...asked, after, limit: left }, signal },
      )
      changed += done[counted] ?? 0
      after = done.next
    } while (after !== undefined && changed < limit)
    const all = { [counted]: changed, ...(after !== undefined && { next: after }) }
    return all as Readonly<Record<Counted, number>> & { readonly next?: string }
  }

  function jobs(query: RemoteJobQuery = {}) {
    const [path, asked] = ofJobs(query)
    return pagesOf<Job>(connection, path, 'jobs', asked, query.limit)
  }

  function watch(watched: RemoteWatchQuery = {}): AsyncGenerator<JobEvent> {
    const leaving = new AbortController()
    const events = eventsUntilLeft(leaving.signal, watched)
    // A generator that waits ends when what it waits for has come, which may be never.
    const end = events.return
    events.return = (value) => {
      leaving.abort()
      return end.call(events, value)
    }
    return events
  }

  async function* eventsUntilLeft(
    left: AbortSignal,
    { flow, user, document, job, signal = left, onConnected }: RemoteWatchQuery,
  ): AsyncGenerator<JobEvent, undefined> {
    const path = flow === undefined ? 'events' : `flow/${part(flow)}/events`
    const asking = {
      query: { user, document, job },
      accept: 'text/event-stream',
      isSafe: true,
      signal: [left, signal],
    }
    let away = 0
    let lostAt = Date.now()
    let last: JobEvent | undefined
    for (;;) {
      try {
        const response = await connection.ask('GET', path, asking)
        try {
          await onConnected?.()
        } catch (error) {
          void leave(response)
          throw error
        }
        let since = Date.now()
        try {
          for await (const { data } of eventsOf(response)) {
            since = 0
            yield (last = data as JobEvent)
          }
        } finally {
          lostAt = Date.now()
          // A server that ends each answer as it begins is there, and asked as seldom as one that is away.
          if (lostAt - since > settledMs) away = 0
        }
      } catch (error) {
        if (asking.signal.some(({ aborted }) => aborted)) return
        if (!isOver(error) || Date.now() - lostAt > patienceMs) throw error
      }
      // A server that is stopped ends its answers, too, whatever becomes of the job.
      if (job !== undefined && isLast(last)) return
      // Of who has left meanwhile it rejects, as what is asked next does.
      await connection.pause(waitMs(Math.min(++away, 4)), asking.signal).catch(() => undefined)
    }
  }

  return {
    async define(definition, conditions) {
      const id = nameIn(definition, 'id', 'LK_FLOW_INVALID')
      return change('PUT', single(id), conditions, inJson(definition))
    },
    get: (id) => maybe('LK_FLOW_NOT_FOUND', connection.get<Flow>(single(id))),
    list: () => allOf<Flow>(connection, 'flows'),
    flowPage: (query = {}) => connection.get<FlowPage>('flows', { ...query }),
    version: (id) => connection.version(single(id), 'LK_FLOW_NOT_FOUND'),
    start: (id, conditions) => change('POST', `${single(id)}/start`, conditions),
    stop: (id, conditions) => change('POST', `${single(id)}/stop`, conditions),
    remove: (id, conditions) => connection.remove(single(id), 'LK_FLOW_NOT_FOUND', conditions),
    async load(flow, document, { signal } = {}) {
      // What is neither goes as a text: the server says what is wrong with it.
      const isFile = 'bytes' in document && document.bytes != null
      const path = `flow/${part(flow)}/service/${isFile ? 'file' : 'text'}-load`
      const asking = isFile ? ofFile(document) : inJson(document)
      const response = await connection.ask('POST', path, { ...asking, signal })
      await leave(response)
      return { job: response.headers.get('Lorekeep-Job') ?? '' }
    },
    job: (id) => maybe('LK_JOB_NOT_FOUND', connection.get<Job>(`jobs/${part(id)}`)),
    jobs,
    jobPage(query = {}) {
      const [path, asked] = ofJobs(query)
      return connection.get<JobPage>(path, { ...asked, limit: query.limit })
    },
    deadLetters: (flow) => jobs({ flow, state: 'dead' }),
    stats: (flow) => connection.get<FlowStats>(`flow/${part(flow)}/stats`),
    watch,
    retry: (job) => connection.json<Job>('POST', `jobs/${part(job)}/retry`),
    async cancel(job) {
      await connection.ask('DELETE', `jobs/${part(job)}`)
    },
    retryAll: (query) => changeAll('retry', 'retried', query),
    cancelAll: (query) => changeAll('cancel', 'cancelled', query),
    async document({ user, document }) {
      const asked = connection.get<DocumentStatus & { core?: unknown }>(
        `documents/${part(document)}`,
        {
          user,
        },
      )
      const found = await maybe('LK_DOCUMENT_NOT_FOUND', asked)
      if (found === undefined) return undefined
      const { core: _, ...status } = found
      return status
    },
    documents: ({ limit, ...query } = {}) =>
      pagesOf<CompletedDocument>(connection, 'documents', 'documents', query, limit),
    documentPage: (query = {}) => connection.get<CompletedDocumentPage>('documents', { ...query }),
    removeDocument: ({ user, document }) =>
      connection.remove(`documents/${part(document)}`, 'LK_DOCUMENT_NOT_FOUND', undefined, {
        user,
      }),
  }
}

/** As a server ends the events of one job. */
function isLast(event: JobEvent | undefined): boolean {
  return event?.type === 'cancelled' || event?.state === 'done' || event?.state === 'dead'
}

/** What another connection may not meet again. */
function isOver(error: unknown): boolean {
  if (error instanceof ServerError && error.status >= 500) return true
  return hasCode(error, 'LK_STORAGE_UNAVAILABLE') && !isFinal((error as Error).cause)
}

/** As a form where there is more to say than a query has. */
function ofFile({ bytes, type, metadata, ...told }: RemoteFileDocument): Asking {
  const query = told as Record<string, string | undefined>
  // What is null is not told, as in JSON.
  for (const name in query) query[name] ??= undefined
  if (metadata == null) {
    return { query, type: type ?? 'application/octet-stream', body: bytes as never }
  }
  const body = new FormData()
  body.set('metadata', JSON.stringify(metadata))
  if (type != null) body.set('type', type)
  body.set('file', new Blob([bytes as never]), query['name'] ?? '')
  return { query, body }
}
