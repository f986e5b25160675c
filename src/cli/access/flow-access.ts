// Where `load`, `flows`, `jobs` and `documents` work: in a data directory, or behind the HTTP
// interface of a running server, which has that directory to itself.

import { LorekeepError, hasCode } from '../../errors.js'
import type {
  CompletedDocument,
  CompletedDocumentPage,
  DocumentQuery,
  DocumentRef,
  DocumentStatus,
  EncodedDocument,
  FileDocument,
  Flow,
  FlowDefinition,
  FlowStats,
  Job,
  JobFilter,
  JobPage,
  JobQuery,
} from '../../flow/types.js'
import type { CoreStat } from '../../knowledge/types.js'
import { telling, tellingAll } from './loss.js'
import type { JobWatch, Stores } from './stores.js'
import { untilAborted, untilAbortedEach } from './until-aborted.js'

export interface KnownDocument extends DocumentStatus {
  /** What it became. */
  readonly core?: CoreStat
}

/** Jobs and documents are those of one flow, the command's `--flow`. */
export interface FlowAccess {
  /** What it is given is for the store to check. */
  define(id: string, definition: object): Promise<Flow>
  list(): Promise<readonly Flow[]>
  /** This one and the next three fail where there is no such flow. */
  get(id: string, signal?: AbortSignal): Promise<Flow>
  /** `undefined` where a server counts for those alone who may see everybody's jobs. */
  stats(id: string): Promise<FlowStats | undefined>
  setActive(id: string, active: boolean): Promise<Flow>
  remove(id: string): Promise<void>

  /** Resolves when it is durable. */
  load(
    document: EncodedDocument | FileDocument,
    signal?: AbortSignal,
  ): Promise<{ readonly job: string }>
  /** Processes the flow's documents until the runner is stopped; a server does so by itself. */
  run(): { stop(options?: { readonly timeoutMs: number }): Promise<void> }
  /** Events of jobs, until the signal. */
  watch(watch: JobWatch): Promise<void>

  jobs(query: Omit<JobQuery, 'flow' | 'scope'>, signal?: AbortSignal): AsyncIterable<Job>
  jobPage(query: Omit<JobQuery, 'flow' | 'scope' | 'reads'>): Promise<JobPage>
  /** This one and the next two fail where there is no such job. */
  job(id: string): Promise<Job>
  retry(job: string): Promise<Job>
  cancel(job: string): Promise<void>
  /** All that match; how many there were. */
  retryAll(query: JobFilter): Promise<number>
  cancelAll(query: JobFilter): Promise<number>

  /** A user's documents that are done. */
  documents(user: string, signal?: AbortSignal): AsyncIterable<CompletedDocument>
  documentPage(query: Omit<DocumentQuery, 'scope' | 'reads'>): Promise<CompletedDocumentPage>
  /** This one and the next fail where nothing is known of it. */
  document(ref: Required<DocumentRef>): Promise<KnownDocument>
  removeDocument(ref: Required<DocumentRef>): Promise<void>
  close(): Promise<void>
}

const defining = {
  sending: 'the flow is as it was',
  sent: 'whether the flow was defined is not known; defining it again is safe',
}
const loading = {
  sending: 'the document was not loaded',
  sent: 'whether the document was loaded is not known; loading it again is safe',
}

const changing = {
  sending: 'the jobs are as they were',
  sent: 'whether all were changed is not known; saying it again goes on with those that are left',
}

export function flowsIn(stores: Stores, flow: string): FlowAccess {
  const { flows, knowledge, close } = stores
  const found = async (id: string) => {
    const job = await flows.job(id)
    if (job?.flow === flow) return job
    throw new LorekeepError('LK_JOB_NOT_FOUND', `'${id}' in the flow '${flow}'`)
  }

  return {
    define: (_id, definition) => telling(defining, flows.define(definition as FlowDefinition)),
    list: () => flows.list(),
    get: async (id, signal) => (await untilAborted(flows.get(id), signal)) ?? noFlow(id),
    async stats(id) {
      try {
        return await flows.stats(id)
      } catch (error) {
        if (hasCode(error, 'LK_HTTP_FORBIDDEN')) return undefined
        throw error
      }
    },
    setActive: (id, active) => (active ? flows.start(id) : flows.stop(id)),
    async remove(id) {
      if (!(await flows.remove(id))) noFlow(id)
    },

    load: (document, signal) => tellingAll(loading, stores.load(flow, document, signal), signal),
    run: () => stores.run(flow),
    watch: (watch) => stores.watch(flow, watch),

    jobs: (query, signal) => untilAbortedEach(flows.jobs({ flow, ...query }), signal),
    jobPage: (query) => flows.jobPage({ flow, ...query }),
    job: found,
    retry: async (id) => flows.retry((await found(id)).id),
    cancel: async (id) => flows.cancel((await found(id)).id),

    retryAll: async (query) =>
      (await telling(changing, flows.retryAll({ flow, ...query }))).retried,
    cancelAll: async (query) =>
      (await telling(changing, flows.cancelAll({ flow, ...query }))).cancelled,

    documents: (user, signal) => untilAbortedEach(flows.documents({ user }), signal),
    documentPage: (query) => flows.documentPage(query),
    async document(ref) {
      const status = (await flows.document(ref)) ?? noDocument(ref)
      const core = await knowledge.stat({ user: ref.user, id: ref.document })
      return { ...status, ...(core !== undefined && { core }) }
    },
    async removeDocument(ref) {
      if (!(await flows.removeDocument(ref))) noDocument(ref)
    },
    close,
  }
}

function noFlow(id: string): never {
  throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${id}'`)
}

function noDocument({ user, document }: DocumentRef): never {
  const detail = `user '${user}' has no document '${document}'`
  throw new LorekeepError('LK_DOCUMENT_NOT_FOUND', detail, { details: { document } })
}
