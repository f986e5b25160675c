// What a FlowQueue takes and gives.

import type { ChangeConditions } from '../conditions.js'
import type { KnowledgeStore } from '../knowledge/types.js'
import type { ObjectStore } from '../objects/types.js'
import type { NamedPageOptions, Page, PageOptions } from '../paging.js'
import type { Reads } from '../reads.js'
import type { Scope } from '../scope.js'
import type { JsonObject, Triple } from '../types.js'

// ── documents ────────────────────────────────────────────────────────────────

interface DocumentFields {
  /** Typically a URI. With the user it names the core: non-empty, well-formed, 1,024 bytes at most. */
  readonly id: string
  readonly metadata?: readonly Triple[]
  /** Whose knowledge it becomes. `defaultUser` where it is left out. */
  readonly user?: string
  /** `default` where it is left out. */
  readonly collection?: string
  /**
   * 1 to 1,000 characters. Where it is left out, what the metadata say of the document by `dcterms:title`,
   * `dc:title`, `schema:name` or `rdfs:label`, else a first line of the text that is a heading.
   */
  readonly title?: string
}

/** A text as endpoint 5 takes it: base64 of the text in a charset. */
export interface EncodedDocument extends DocumentFields {
  /** Any label of the WHATWG Encoding Standard; `utf-8` where it is left out. */
  readonly charset?: string
  /** Base64 (RFC 4648, section 4) with its padding; ASCII white space in it is skipped. */
  readonly text: string
}

/** A text as a program has it. */
export interface PlainDocument extends DocumentFields {
  readonly content: string
}

export type TextDocument = EncodedDocument | PlainDocument

/** A file as it is: Markdown, HTML, PDF, DOCX, EPUB, CSV, JSON, or a plain text. What it is of these is seen from its bytes. */
export interface FileDocument extends Omit<DocumentFields, 'id'> {
  /** The file's `name` where it is left out. */
  readonly id?: string
  readonly bytes: Uint8Array
  /** Its media type, if known: it tells texts apart. */
  readonly type?: string
  /** What it is called, such as `report.csv`: its ending tells texts apart where no type does. */
  readonly name?: string
  /**
   * Of a text that has no byte order mark. By default that of `type`, what HTML says, `utf-8` or `windows-1252`,
   * whichever fits.
   */
  readonly charset?: string
}

/** A heading of a document, and where in its text it stands, in UTF-16 code units. */
export interface DocumentHeading {
  readonly start: number
  readonly end: number
  readonly text: string
  /** 1 is the highest. */
  readonly level: number
}

/** Where in the text of a document a page of it begins, in UTF-16 code units. */
export interface DocumentPage {
  readonly start: number
  /** The first page of a file is 1, unless the file says what its pages are called. */
  readonly page: number
}

/** A document that was accepted, as steps see it. */
export interface FlowDocument {
  readonly id: string
  readonly user: string
  readonly collection: string
  /** As it was loaded, or as it was found in the metadata or the text; absent where it has none. */
  readonly title?: string
  readonly metadata: readonly Triple[]
  /** Of a file: what was read of it. */
  readonly text: string
  /** Of a file that is more than a plain text: its media type. */
  readonly type?: string
  /** Of such a file, in the order of the text. A step that puts another text in its place takes these away. */
  readonly headings?: readonly DocumentHeading[]
  /** Of a file that has pages, in the order of the text. */
  readonly pages?: readonly DocumentPage[]
}

// ── steps ────────────────────────────────────────────────────────────────────

/**
 * One stage of a flow. It gets what the step before it returned (the first one: the document), and
 * what it returns is recorded before the next one begins, so that a retry goes on from there, unless
 * `record` is false. It may be run again after a failure or a crash: running it twice has to leave
 * what running it once leaves.
 */
/** `Input` is what the step before it returns: the built-in ones say what that is. */
export interface Step<Input = unknown, Output = unknown> {
  /** Unique within the flow. */
  readonly name: string
  /** Over the flow's `stepTimeoutMs`. */
  readonly timeoutMs?: number
  /**
   * False where running it again costs less than recording what it returns. That is recorded all
   * the same where more than a second of work would be lost. True by default.
   */
  readonly record?: boolean
  /**
   * What it returns is copied by the structured clone algorithm: plain objects, arrays, typed
   * arrays, no functions. To give up without another attempt, throw a LorekeepError
   * `LK_STEP_UNRECOVERABLE`.
   */
  run(input: Input, context: StepContext): Output | Promise<Output>
}

/** What a step may use beside its input. */
export interface StepContext {
  readonly document: FlowDocument
  /** The job's id. */
  readonly job: string
  readonly flow: string
  /** Deliveries so far, this one among them. */
  readonly attempt: number
  /** Aborted at the step's timeout, when the lease is lost, and when the runner stops. */
  readonly signal: AbortSignal
  readonly knowledge: KnowledgeStore
  readonly objects: ObjectStore
  /** What URIs are made of where a step has no base of its own: that of createLorekeep(). */
  readonly base: string
  /** Told to whoever watches, as `done` of `total` (chunks, mostly). */
  readonly progress: (done: number, total: number) => void
}

/** A built-in step by its name, with options of its own (docs/flows.md). */
export interface NamedStep {
  readonly name: string
  readonly options?: JsonObject
}

// ── flows ────────────────────────────────────────────────────────────────────

export interface FlowDefinition {
  /** Non-empty, well-formed, 256 bytes at most. */
  readonly id: string
  /** False: loads are refused, and nothing is processed. True by default. */
  readonly active?: boolean
  /**
   * Built-in steps by name, and steps of your own as code. Code is not stored: after a restart the
   * flow accepts documents, and processes them once it was defined again. By default `chunk`,
   * `embed`, `extract`, `store`, `index`.
   */
  // Which step comes behind which is not for the type to say.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly steps?: readonly (string | NamedStep | Step<any>)[]
  /**
   * Documents under way at once, in each runner. 32 by default where all steps are built in and ask no model; then
   * no more than 4 while their texts have a megabyte together. Otherwise 4.
   */
  readonly concurrency?: number
  /** Deliveries of a document before it is a dead letter. 5 by default. */
  readonly maxAttempts?: number
  /** How long a step may take before it is abandoned. 600,000 by default. */
  readonly stepTimeoutMs?: number
  /**
   * The wait before attempt n + 1 is random between half of and all of
   * min(maxDelayMs, minDelayMs * 2^(n-1)). 1,000 and 300,000 by
   * default; where one is given, the default of the other gives way.
   */
  readonly minDelayMs?: number
  readonly maxDelayMs?: number
  /** Documents that may wait (queued and delayed); one more is refused. 10,000,000 by default. */
  readonly maxQueued?: number
  /** Records of completed jobs that are kept, the newest. 10,000 by default. */
  readonly keepDone?: number
}

/** A flow as it is stored: every default filled in, steps of code by their name alone. */
export interface Flow {
  readonly id: string
  readonly active: boolean
  readonly steps: readonly FlowStep[]
  readonly concurrency: number
  readonly maxAttempts: number
  readonly stepTimeoutMs: number
  readonly minDelayMs: number
  readonly maxDelayMs: number
  readonly maxQueued: number
  readonly keepDone: number
}

export interface FlowPage extends Page {
  readonly flows: readonly Flow[]
  readonly total: number
}

export interface FlowStep {
  readonly name: string
  readonly options?: JsonObject
  /** True for a step of code, which a process has to define before it can run the flow. */
  readonly code?: true
}

// ── jobs ─────────────────────────────────────────────────────────────────────

/**
 * `queued` waits for its turn, `delayed` for its next attempt, `active` is being processed, `done`
 * and `dead` are ends; a dead letter can be retried.
 */
export type JobState = 'queued' | 'delayed' | 'active' | 'done' | 'dead'

/** Why a delivery did not end in completion. */
export interface JobFailure {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly attempt: number
  /** The step that ran, or was to run. */
  readonly step: string
  /**
   * `failed`: it threw; `timeout`: it was abandoned; `crashed`: its lease ran out; `released`: the
   * runner stopped, or the storage was away when what the steps had done was to be written, or read
   * again; that costs no attempt.
   */
  readonly cause: 'failed' | 'timeout' | 'crashed' | 'released'
  /** Of a LorekeepError. */
  readonly code?: string
  readonly message: string
}

/** One document on its way through a flow. */
export interface Job {
  readonly id: string
  readonly flow: string
  readonly user: string
  /** The document's id. */
  readonly document: string
  readonly collection: string
  readonly state: JobState
  /** Deliveries that count against `maxAttempts`. */
  readonly attempts: number
  /** Steps up to the last one whose output is recorded, or, where it is done, all of them. */
  readonly completedSteps: readonly string[]
  /** The newest 20, oldest first. */
  readonly failures: readonly JobFailure[]
  /** ISO 8601, UTC, as the other times. */
  readonly createdAt: string
  readonly updatedAt: string
  /** Of a delayed job: when it is due. */
  readonly dueAt?: string
  /** Of a done job that left the knowledge alone, because a newer load of the document was done. */
  readonly superseded?: true
}

/** What of the jobs and documents there is for whoever asks: what lies outside is not there. */
export interface ScopeOptions {
  readonly scope?: Scope
}

export interface ReadOptions extends ScopeOptions {
  /** How new it has to be where several processes share the backend. That of createLorekeep() by default. */
  readonly reads?: Reads
}

/** Which jobs: those that fit all of it. */
export interface JobFilter {
  /** Of every flow where it is left out. */
  readonly flow?: string
  readonly state?: JobState | readonly JobState[]
  readonly user?: string
  /** The document's id. */
  readonly document?: string
  readonly collection?: string
  /** Some of the code or the message of the last failure, in letters of any size. */
  readonly error?: string
  /** From one time and before the other, in ISO 8601. */
  readonly createdFrom?: string
  readonly createdTo?: string
  /** Of the last change. */
  readonly updatedFrom?: string
  readonly updatedTo?: string
}

export interface JobQuery extends JobFilter, ReadOptions, PageOptions {
  /** `asc`, the default, is the order in which they came; `desc` has the newest first. */
  readonly order?: 'asc' | 'desc'
}

/** Which jobs are to be changed, of those there are at the call: the ones that come later are left alone. */
export interface JobChangeQuery extends JobFilter, ScopeOptions {
  /** `next` of a call that left some, asked with the same filters. */
  readonly after?: string
  /**
   * How many are changed at most. Then it may end with fewer, and `next` for those that are left; without it, all of
   * them are changed.
   */
  readonly limit?: number
  /** Ends it: what was changed until then stays changed. */
  readonly signal?: AbortSignal
}

export interface RetriedJobs {
  readonly retried: number
  /** Where more may be left: what to pass as `after`. */
  readonly next?: string
}

export interface CancelledJobs {
  readonly cancelled: number
  /** Where more may be left: what to pass as `after`. */
  readonly next?: string
}

export interface JobPage extends Page {
  readonly jobs: readonly Job[]
  /** Of all that match, exact; only where flows and states alone are asked for, without `done`. */
  readonly total?: number
}

export interface FlowStats {
  readonly queued: number
  readonly active: number
  readonly delayed: number
  /** All that were ever completed, also those whose record is gone (`keepDone`). */
  readonly done: number
  readonly dead: number
}

/** What is known of a document: its jobs, and what became of it. */
export interface DocumentStatus {
  readonly user: string
  readonly document: string
  /** The newest first: those that are under way, wait or are dead, and the newest that is done. */
  readonly jobs: readonly Job[]
  /** Of the newest load that was completed, whether or not its job is still on record. */
  readonly completed?: Completion
}

export interface Completion {
  readonly job: string
  readonly flow: string
  readonly collection: string
  /** ISO 8601, UTC. */
  readonly at: string
}

/** A document that became knowledge. */
export interface CompletedDocument {
  readonly user: string
  readonly document: string
  readonly completed: Completion
}

export interface DocumentQuery extends ReadOptions, PageOptions {
  /** The scope's, or `defaultUser`, where it is left out. */
  readonly user?: string
  /** What their ids begin with. */
  readonly prefix?: string
  /** Of what was completed last. */
  readonly flow?: string
  readonly collection?: string
  /** From one time and before the other, in ISO 8601. */
  readonly completedFrom?: string
  readonly completedTo?: string
}

export interface CompletedDocumentPage extends Page {
  readonly documents: readonly CompletedDocument[]
}

interface JobEventFields {
  readonly job: string
  readonly flow: string
  readonly user: string
  readonly document: string
  readonly collection: string
  /** ISO 8601, UTC. */
  readonly at: string
  readonly state: JobState
  readonly attempts: number
}

/** Something happened to a job. The last of one job is `done`, `dead` or `cancelled`. */
export type JobEvent =
  /** `state`: what was known when the watching began, of a watched job or document. */
  | (JobEventFields & { readonly type: 'state' | 'queued' | 'active' | 'done' | 'cancelled' } & No<
        'step' | 'done' | 'total' | 'failure'
      >)
  | (JobEventFields & {
      readonly type: 'progress'
      readonly step: string
      readonly done: number
      readonly total: number
    } & No<'failure'>)
  /** A step is through, and its output was recorded where it has to be. */
  | (JobEventFields & { readonly type: 'step'; readonly step: string } & No<
        'done' | 'total' | 'failure'
      >)
  /** A delivery ended without completion; the state says what follows. */
  | (JobEventFields & { readonly type: 'failed' | 'dead'; readonly failure: JobFailure } & No<
        'step' | 'done' | 'total'
      >)

/** Members that other events have: to take an event apart before its type is asked. */
type No<Names extends string> = { readonly [Name in Names]?: undefined }

export interface WatchQuery extends ScopeOptions {
  /** This job alone: the iteration ends by itself after its last event. */
  readonly job?: string
  readonly flow?: string
  /** Where a document is named and no user, the scope's or the default one. */
  readonly user?: string
  /** The document's id. */
  readonly document?: string
  /** Ends the iteration when aborted. */
  readonly signal?: AbortSignal
}

// ── the store ────────────────────────────────────────────────────────────────

export interface RunOptions {
  /** Stops the runner when aborted, as stop() does. */
  readonly signal?: AbortSignal
  /** Only these flows; by default all there are, and those that come. */
  readonly flows?: readonly string[]
}

/** Something that processes documents until it is stopped. */
export interface Runner {
  /**
   * Claims nothing more and waits for what is under way, at most `timeoutMs` (10,000 by default);
   * then signals are aborted, and what does not end goes back to the queue. Idempotent.
   */
  stop(options?: { readonly timeoutMs?: number }): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export interface FlowLimits {
  /** Bytes of a document's text before decoding from its charset. 10 MiB by default. */
  readonly maxTextBytes: number
  /** 1,000 by default. */
  readonly maxMetadataTriples: number
  /** Bytes of a file. 32 MiB by default. What is read of it has `maxTextBytes` at most. */
  readonly maxFileBytes: number
  /** Pages of a file, or chapters. 5,000 by default. */
  readonly maxFilePages: number
  /** How long reading a file may take. 60,000 by default. */
  readonly maxFileMs: number
  /** What the thread that reads it may have. 256 by default. */
  readonly maxFileMemoryMb: number
}

/** Durable queues of documents, and their processing. Methods reject with `LK_CLOSED` after close(). */
export interface FlowQueue {
  /**
   * Makes or replaces a flow. Documents under way go on with the new steps, from the last recorded
   * output whose steps are still the first ones.
   * @throws LorekeepError `LK_FLOW_INVALID` with `details.errors`, a list of `{ path, message }`
   */
  define(definition: FlowDefinition, conditions?: ChangeConditions): Promise<Flow>
  get(id: string): Promise<Flow | undefined>
  /**
   * What `ifVersion` takes: it changes with what `get()` gives alone, which says of steps of code no
   * more than their names. `undefined` where there is no such flow.
   */
  version(id: string): Promise<string | undefined>
  /** In the byte order of their ids. */
  list(): Promise<Flow[]>
  /** One page of them. @throws LorekeepError `LK_CURSOR` */
  flowPage(query?: NamedPageOptions): Promise<FlowPage>
  /** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
  start(id: string, conditions?: ChangeConditions): Promise<Flow>
  /** Loads are refused from now on; what is under way ends, what waits stays. */
  stop(id: string, conditions?: ChangeConditions): Promise<Flow>
  /**
   * Removes a flow and its records of done jobs. False where there was none.
   * @throws LorekeepError `LK_FLOW_IN_USE` while it has documents that wait, are under way or dead
   */
  remove(id: string, conditions?: ChangeConditions): Promise<boolean>

  /**
   * Accepts a document. Resolves when it is durable.
   * @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_FLOW_INACTIVE`, `LK_FLOW_FULL`,
   *   `LK_DOCUMENT_INVALID` (`details.errors`: a list of `{ path, message }`),
   *   `LK_DOCUMENT_TOO_LARGE`, `LK_DOCUMENT_TYPE` (a file of which nothing is read; `details.found` is
   *   what it looks like), `LK_STORAGE_*`, and `LK_DOCUMENT_ACCESS` where it lies outside the
   *   scope, or would replace what does; nothing is queued then
   */
  load(
    flow: string,
    document: TextDocument | FileDocument,
    options?: ScopeOptions,
  ): Promise<{ readonly job: string }>

  /**
   * Begins to process. A flow that is named and not there is waited for; after a moment `onError` of
   * createLorekeep() gets a `LK_FLOW_NOT_FOUND` for it.
   */
  run(options?: RunOptions): Runner

  job(id: string, options?: ReadOptions): Promise<Job | undefined>
  /**
   * In the order in which they came, whatever their state: each job once that is there all the time and
   * fits, although it goes from one state to another meanwhile. All of them, read piece by piece; `limit`
   * bounds it only where it is given. An `error` is looked for in all that fits otherwise.
   * @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_CURSOR`
   */
  jobs(query?: JobQuery): AsyncIterable<Job>
  /** One page of them. @throws LorekeepError as jobs() */
  jobPage(query?: JobQuery): Promise<JobPage>
  /** jobs() in state `dead`. */
  deadLetters(flow: string, options?: ReadOptions): AsyncIterable<Job>
  /** @throws LorekeepError `LK_FLOW_NOT_FOUND` */
  stats(flow: string): Promise<FlowStats>
  /**
   * Events of this process from the call on; where a job or a document is named, first the state of
   * the job, or of each of the document's. Whoever reads slowly loses progress events first.
   * @throws LorekeepError `LK_JOB_NOT_FOUND`, `LK_FLOW_NOT_FOUND`, while iterating
   */
  watch(query?: WatchQuery): AsyncIterable<JobEvent>

  /**
   * A dead letter goes back to its queue with its attempts at 0, a delayed one is due at once. Both
   * go on at the step that failed.
   * @throws LorekeepError `LK_JOB_NOT_FOUND`, `LK_JOB_STATE` for any other state
   */
  retry(job: string, options?: ScopeOptions): Promise<Job>
  /**
   * Takes a job away, whatever waits or runs of it.
   * @throws LorekeepError `LK_JOB_NOT_FOUND`, `LK_JOB_STATE` where it is done
   */
  cancel(job: string, options?: ScopeOptions): Promise<void>
  /**
   * retry() of all jobs that fit and are dead or delayed, each once: 256 in one step, between which others have their
   * turns. One that fails halfway, or is aborted, leaves those changed that it has come to.
   * @throws LorekeepError `LK_FLOW_NOT_FOUND`, `LK_CURSOR`
   */
  retryAll(query?: JobChangeQuery): Promise<RetriedJobs>
  /** cancel() of all jobs that fit and are not done, as retryAll(). @throws LorekeepError as retryAll() */
  cancelAll(query?: JobChangeQuery): Promise<CancelledJobs>

  /** What is known of a document in any flow; `undefined` for one that never came, or was removed. */
  document(ref: DocumentRef, options?: ReadOptions): Promise<DocumentStatus | undefined>
  /**
   * A user's documents that were done at least once, of any flow, in the order of their ids' bytes.
   * Those that wait for that are known by jobs() alone.
   * @throws LorekeepError `LK_CURSOR`
   */
  documents(query?: DocumentQuery): AsyncIterable<CompletedDocument>
  /** One page of them. @throws LorekeepError as documents() */
  documentPage(query?: DocumentQuery): Promise<CompletedDocumentPage>
  /**
   * Deletes what a document became: its jobs, its core, and its objects. False where there was
   * nothing of it.
   * @throws LorekeepError `LK_DOCUMENT_ACCESS` where a part of it lies outside the scope
   */
  removeDocument(ref: DocumentRef, options?: ScopeOptions): Promise<boolean>
}

/** The name of a document, and of the core that it becomes. */
export interface DocumentRef {
  /** The scope's, or `defaultUser`, where it is left out. */
  readonly user?: string
  readonly document: string
}
