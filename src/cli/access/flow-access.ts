// Where `load`, `flows`, `jobs` and `documents` work: in a data directory, or behind the HTTP
// interface of a running server, which has that directory to itself.

import type {
  CompletedDocument,
  CompletedDocumentPage,
  DocumentQuery,
  DocumentRef,
  DocumentStatus,
  EncodedDocument,
  FileDocument,
  Flow,
  FlowStats,
  Job,
  JobEvent,
  JobPage,
  JobQuery,
} from '../../flow/types.js'
import type { CoreStat } from '../../knowledge/types.js'

export interface KnownDocument extends DocumentStatus {
  /** What it became. */
  readonly core?: CoreStat
}

export interface JobWatch {
  readonly user?: string
  /** Ends the watching. */
  readonly signal: AbortSignal
  /** Called when events come from here on: at the start, and after each gap between them. */
  readonly onConnected: () => Promise<void>
  readonly onEvent: (event: JobEvent) => void
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

  /** A user's documents that are done. */
  documents(user: string, signal?: AbortSignal): AsyncIterable<CompletedDocument>
  documentPage(query: Omit<DocumentQuery, 'scope' | 'reads'>): Promise<CompletedDocumentPage>
  /** This one and the next fail where nothing is known of it. */
  document(ref: Required<DocumentRef>): Promise<KnownDocument>
  removeDocument(ref: Required<DocumentRef>): Promise<void>
  close(): Promise<void>
}
