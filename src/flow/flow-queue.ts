// FlowQueue: the queue, its runners and whoever watches them.

import { tellClosing } from '../closing.js'
import { hasCode } from '../errors.js'
import type { Chance, Clock } from '../clock.js'
import { conditionRules, conditionsIn, versionOf, type ChangeConditions } from '../conditions.js'
import { checkArgument, checkNoMore, checkOptions } from '../door/options.js'
import { aString } from '../door/rules.js'
import { InFlight } from '../in-flight.js'
import type { KnowledgeStore } from '../knowledge/types.js'
import type { ObjectStore } from '../objects/types.js'
import { namedPageRules, pageOf, type Cursors, type NamedPageOptions } from '../paging.js'
import type { Presence } from '../presence.js'
import type { Reads } from '../reads.js'
import { copied, isOwn, scopeIn, type Scope } from '../scope.js'
import type { Storage } from '../storage.js'
import { stringsIn, Trace, traceMethods } from '../tracing.js'
import { Bulk } from './bulk.js'
import {
  documentIn,
  documentOptions,
  documentPageOptions,
  jobChangeOptions,
  jobOptions,
  jobPageOptions,
  readIn,
  runOptions,
  watchOptions,
} from './calls.js'
import { carrierOf, type Carrier } from './carrier.js'
import { aFlowId, checkDefinition } from './definition.js'
import { acceptDocument, type AcceptedDocument } from './document.js'
import { checkLoad, seenOf } from './document-access.js'
import { statusIn } from './document-status.js'
import type { EventHub } from './events.js'
import { FileReader } from './files/file-reader.js'
import { lentStores } from './lent-stores.js'
import { Listings } from './listings.js'
import { FlowMembership } from './membership.js'
import type { Neighbours } from './neighbours.js'
import { fieldsOf } from './queue/job-view.js'
import { noFlow, noJob } from './queue/jobs.js'
import { compareIds, type JobQueue } from './queue/queue.js'
import { Removal } from './removal.js'
import { FlowRunner, type Delivery } from './runner.js'
import { StepCode } from './step-code.js'
import type { JobChange } from './queue/job-changes.js'
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
  FlowLimits,
  FlowPage,
  FlowQueue,
  FlowStats,
  Job,
  JobChangeQuery,
  JobEvent,
  JobPage,
  JobQuery,
  ReadOptions,
  RetriedJobs,
  Runner,
  RunOptions,
  ScopeOptions,
  TextDocument,
  WatchQuery,
} from './types.js'
import { Watching } from './watching.js'

export interface FlowQueueOptions {
  readonly flows: Storage
  readonly knowledge: KnowledgeStore
  readonly objects: ObjectStore
  readonly limits: FlowLimits
  readonly defaultUser: string
  /** What URIs of documents and entities begin with. */
  readonly base: string
  readonly leaseMs: number
  /** Of questions that do not say it. */
  readonly reads: Reads
  readonly cursors: Cursors
  /** Nobody else has the storage open. */
  readonly isAlone: boolean
  /** Of those who share it. */
  readonly presence?: Presence | undefined
  readonly clock: Clock
  readonly chance: Chance
  readonly createId: () => string
  readonly onError: (error: unknown) => void
}

interface FlowsParts extends FlowQueueOptions {
  readonly queue: JobQueue
  readonly hub: EventHub
  readonly neighbours: Neighbours
  readonly runners: Set<FlowRunner>
  /** What runs here, of all runners. */
  readonly running: Set<Delivery>
  /** Whoever watches, here and elsewhere. */
  readonly tell: (event: JobEvent) => void
  readonly isWatched: () => boolean
}

export interface ClosableFlowQueue extends FlowQueue {
  /** Documents are processed. */
  readonly isRunning: boolean
  close(timeoutMs: number): Promise<void>
}

export class Flows implements ClosableFlowQueue {
  readonly #options: FlowsParts
  readonly #queue: JobQueue
  readonly #runners: Set<FlowRunner>
  readonly #inFlight = new InFlight()
  readonly #files: FileReader
  readonly #code: StepCode
  readonly #listings: Listings
  readonly #bulk: Bulk
  readonly #watching: Watching
  readonly #removal: Removal
  readonly #membership: FlowMembership

  constructor(parts: FlowsParts) {
    const { signal, closing } = this.#inFlight
    // That the store is closed is no news to whoever closes it, whatever was on its way then.
    const onError = (error: unknown) => {
      if (!closing.aborted || !hasCode(error, 'LK_CLOSED')) parts.onError(error)
    }
    const options = { ...parts, onError }
    this.#options = options
    this.#queue = options.queue
    this.#runners = options.runners
    const { maxTextBytes: maxTextLength, ...limits } = options.limits
    this.#files = new FileReader({ ...limits, maxTextLength })
    tellClosing(this, closing)
    const stored = async (id: string) => {
      await options.queue.refresh()
      return options.queue.flow(id)
    }
    this.#code = new StepCode(stored, options.onError)
    this.#listings = new Listings(options)
    this.#bulk = new Bulk({ ...options, check: () => this.#inFlight.check() })
    this.#watching = new Watching({
      ...options,
      isShared: options.flows.sharing !== undefined,
      run: (work) => this.#inFlight.run(work),
      jobOf: (id, scope) => this.job(id, { scope }),
      documentOf: (ref, scope) => this.document(ref, { scope }),
    })
    const { knowledge, objects, base } = options
    this.#removal = new Removal({ ...options, stores: { knowledge, objects, base }, signal })
    this.#membership = new FlowMembership({ ...options, closing })
  }

  define(definition: FlowDefinition, given?: ChangeConditions, ...surplus: never[]): Promise<Flow> {
    return this.#inFlight.run(async () => {
      checkNoMore('define()', surplus)
      const { flow, code } = checkDefinition(definition)
      const conditions = conditionsIn(checkOptions('define()', given, conditionRules))
      await this.#code.define(flow, code, () => this.#queue.define(flow, conditions))
      return copyOf(flow)
    })
  }

  get(id: string, ...surplus: never[]): Promise<Flow | undefined> {
    return this.#inFlight.run(async () => {
      checkNoMore('get()', surplus)
      checkArgument('the id of a flow', id, aString)
      // Where nobody else writes, what is known is enough: whoever takes objects asks with each request.
      const isShared = this.#options.flows.sharing !== undefined
      if (isShared || this.#queue.flow(id) === undefined) await this.#look()
      const flow = this.#queue.flow(id)
      return flow && copyOf(flow)
    })
  }

  version(id: string, ...surplus: never[]): Promise<string | undefined> {
    checkNoMore('version()', surplus)
    return this.#inFlight.run(async () => {
      checkArgument('the id of a flow', id, aString)
      await this.#look()
      const flow = this.#queue.flow(id)
      return flow && versionOf(flow)
    })
  }

  list(...surplus: never[]): Promise<Flow[]> {
    return this.#inFlight.run(async () => {
      checkNoMore('list()', surplus)
      await this.#look()
      return this.#queue.flows().map(copyOf)
    })
  }

  flowPage(query?: NamedPageOptions, ...surplus: never[]): Promise<FlowPage> {
    checkNoMore('flowPage()', surplus)
    return this.#inFlight.run(async () => {
      const asked = checkOptions('flowPage()', query, namedPageRules) as NamedPageOptions
      await this.#look()
      const list = { all: this.#queue.flows(), nameOf: ({ id }: Flow) => id, compare: compareIds }
      const { items, page } = pageOf(list, asked, this.#options.cursors, 'flows')
      return { flows: items.map(copyOf), ...page }
    })
  }

  start(id: string, given?: ChangeConditions, ...surplus: never[]): Promise<Flow> {
    return this.#inFlight.run(async () => {
      checkNoMore('start()', surplus)
      checkArgument('the id of a flow', id, aString)
      const conditions = conditionsIn(checkOptions('start()', given, conditionRules))
      return copyOf(await this.#queue.setActive(id, true, conditions))
    })
  }

  stop(id: string, given?: ChangeConditions, ...surplus: never[]): Promise<Flow> {
    return this.#inFlight.run(async () => {
      checkNoMore('stop()', surplus)
      checkArgument('the id of a flow', id, aString)
      const conditions = conditionsIn(checkOptions('stop()', given, conditionRules))
      return copyOf(await this.#queue.setActive(id, false, conditions))
    })
  }

  remove(id: string, given?: ChangeConditions, ...surplus: never[]): Promise<boolean> {
    return this.#inFlight.run(async () => {
      checkNoMore('remove()', surplus)
      checkArgument('the id of a flow', id, aString)
      const conditions = conditionsIn(checkOptions('remove()', given, conditionRules))
      return this.#code.remove(id, () => this.#queue.remove(id, conditions))
    })
  }

  // Not through InFlight.run(), nor through another async function: each costs 3 to 6 % of the rate of loading.
  async load(
    flow: string,
    document: TextDocument | FileDocument,
    options?: ScopeOptions,
    ...surplus: never[]
  ): Promise<{ readonly job: string }> {
    checkNoMore('load()', surplus)
    checkArgument('the id of a flow', flow, aString)
    const scope = options === undefined ? undefined : scopeIn('load()', options)
    if (loading.isHeard) return this.#tellLoad(flow, document, scope)
    const end = this.#inFlight.begin()
    try {
      return { job: await this.#enqueue(flow, document, scope) }
    } finally {
      end()
    }
  }

  #tellLoad(
    flow: string,
    document: TextDocument | FileDocument,
    scope: Scope | undefined,
  ): Promise<{ readonly job: string }> {
    const named = stringsIn(document, { user: 'user', document: 'id', collection: 'collection' })
    const operation = loading.operation({ ...named, flow })
    return loading.run(operation, () =>
      this.#inFlight.run(async () => {
        const job = await this.#enqueue(flow, document, scope, carrierOf(operation))
        operation['job'] = job
        return { job }
      }),
    )
  }

  /** The id of its job. */
  #enqueue(
    flow: string,
    document: TextDocument | FileDocument,
    scope: Scope | undefined,
    carrier?: Carrier,
  ): Promise<string> {
    const { limits, defaultUser } = this.#options
    const accepted = acceptDocument(document, limits, scope?.user ?? defaultUser, carrier)
    return scope === undefined
      ? this.#queue.load(flow, accepted)
      : this.#enqueueIn(scope, flow, accepted)
  }

  async #enqueueIn(scope: Scope, flow: string, document: AcceptedDocument): Promise<string> {
    const { member } = this.#queue
    const check = await checkLoad(document, scope, this.#options)
    return this.#queue.load(flow, document, { check, member })
  }

  run(options: RunOptions = {}, ...surplus: never[]): Runner {
    checkNoMore('run()', surplus)
    this.#inFlight.check()
    const { signal, flows } = checkOptions('run()', options, runOptions)
    const { clock, leaseMs, knowledge, objects, base, presence } = this.#options
    const { tell, isWatched } = this.#options
    const stores = { knowledge, objects, base }
    const stop = () => void runner.stop()
    const runner = new FlowRunner({
      queue: this.#queue,
      clock,
      leaseMs,
      storesFor: ({ member }) => {
        if (presence === undefined) return stores
        return lentStores(stores, () => presence.id === member)
      },
      readFile: (type, bytes, signal) => this.#files.read(type, bytes, signal),
      running: this.#options.running,
      onEnded: () => void this.#membership.tidy(),
      flows: flows && new Set(flows),
      stepsOf: (flow) => this.#code.stepsOf(flow),
      onProgress: ({ record }, step, done, total) => {
        if (!isWatched()) return
        const fields = fieldsOf(record, clock.now())
        tell({ type: 'progress', ...fields, state: 'active', step, done, total })
      },
      onStep: ({ record }, step) => {
        if (!isWatched()) return
        tell({ type: 'step', ...fieldsOf(record, clock.now()), state: 'active', step })
      },
      onError: this.#options.onError,
      onStopped: () => {
        this.#runners.delete(runner)
        signal?.removeEventListener('abort', stop)
      },
    })
    this.#runners.add(runner)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted === true) stop()
    else runner.begin()
    return runner
  }

  job(id: string, options: ReadOptions = {}, ...surplus: never[]): Promise<Job | undefined> {
    checkNoMore('job()', surplus)
    return this.#inFlight.run(async () => {
      checkArgument('the id of a job', id, aString)
      const { scope = {}, reads } = readIn('job()', options)
      const job = await this.#queue.job(id, reads ?? this.#options.reads)
      return job !== undefined && isOwn(scope, job) ? job : undefined
    })
  }

  jobs(query: JobQuery = {}, ...surplus: never[]): AsyncGenerator<Job> {
    checkNoMore('jobs()', surplus)
    const { scope, ...asked } = checkOptions('jobs()', query, jobOptions)
    return this.#each(this.#listings.jobs({ ...(asked as JobQuery), scope: copied(scope) }))
  }

  jobPage(query: JobQuery = {}, ...surplus: never[]): Promise<JobPage> {
    checkNoMore('jobPage()', surplus)
    return this.#inFlight.run(async () => {
      const { scope, ...asked } = checkOptions('jobPage()', query, jobPageOptions)
      return this.#listings.jobPage({ ...(asked as JobQuery), scope: copied(scope) })
    })
  }

  async *#each<T>(found: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    this.#inFlight.check()
    for await (const item of found) {
      yield item
      this.#inFlight.check()
    }
  }

  deadLetters(flow: string, options: ReadOptions = {}, ...surplus: never[]): AsyncIterable<Job> {
    checkNoMore('deadLetters()', surplus)
    checkArgument('the id of a flow', flow, aFlowId)
    return this.jobs({ flow, state: 'dead', ...readIn('deadLetters()', options) })
  }

  stats(id: string, ...surplus: never[]): Promise<FlowStats> {
    return this.#inFlight.run(async () => {
      checkNoMore('stats()', surplus)
      checkArgument('the id of a flow', id, aString)
      await this.#look()
      const stats = this.#queue.stats(id)
      if (stats === undefined) throw noFlow(id)
      return stats
    })
  }

  watch(query: WatchQuery = {}, ...surplus: never[]): AsyncIterable<JobEvent> {
    checkNoMore('watch()', surplus)
    this.#inFlight.check()
    const { scope: given, ...asked } = checkOptions('watch()', query, watchOptions)
    const scope = copied(given)
    const { document, user = scope.user ?? this.#options.defaultUser } = asked
    const whole = { ...asked, scope, ...(document !== undefined && { user }) } as WatchQuery
    return this.#watching.watch(whole)
  }

  retry(job: string, options?: ScopeOptions, ...surplus: never[]): Promise<Job> {
    checkNoMore('retry()', surplus)
    return this.#inFlight.run(async () => {
      checkArgument('the id of a job', job, aString)
      const { member } = this.#queue
      if (options !== undefined) await this.#checkJob(job, scopeIn('retry()', options))
      return this.#queue.retry(job, member)
    })
  }

  cancel(job: string, options?: ScopeOptions, ...surplus: never[]): Promise<void> {
    checkNoMore('cancel()', surplus)
    return this.#inFlight.run(async () => {
      checkArgument('the id of a job', job, aString)
      const { member } = this.#queue
      if (options !== undefined) await this.#checkJob(job, scopeIn('cancel()', options))
      return this.#queue.cancel(job, member)
    })
  }

  async retryAll(query: JobChangeQuery = {}, ...surplus: never[]): Promise<RetriedJobs> {
    checkNoMore('retryAll()', surplus)
    const { changed: retried, next } = await this.#changeAll('retry', 'retryAll()', query)
    return { retried, ...(next !== undefined && { next }) }
  }

  async cancelAll(query: JobChangeQuery = {}, ...surplus: never[]): Promise<CancelledJobs> {
    checkNoMore('cancelAll()', surplus)
    const { changed: cancelled, next } = await this.#changeAll('cancel', 'cancelAll()', query)
    return { cancelled, ...(next !== undefined && { next }) }
  }

  #changeAll(change: JobChange, call: string, query: JobChangeQuery) {
    return this.#inFlight.run(async () => {
      const { scope, ...asked } = checkOptions(call, query, jobChangeOptions)
      return this.#bulk.change(change, { ...(asked as JobChangeQuery), scope: copied(scope) })
    })
  }

  document(
    ref: DocumentRef,
    options: ReadOptions = {},
    ...surplus: never[]
  ): Promise<DocumentStatus | undefined> {
    checkNoMore('document()', surplus)
    return this.#inFlight.run(async () => {
      const { scope = {}, reads } = readIn('document()', options)
      const named = this.#named('document()', ref, scope)
      const { user, document } = named
      const known = await this.#queue.jobsOf(user, document, reads ?? this.#options.reads)
      const status = statusIn(named, known)
      return status && seenOf(status, scope)
    })
  }

  documents(query: DocumentQuery = {}, ...surplus: never[]): AsyncGenerator<CompletedDocument> {
    checkNoMore('documents()', surplus)
    const { scope, ...asked } = checkOptions('documents()', query, documentOptions)
    return this.#each(this.#listings.documents(this.#withUser(asked as DocumentQuery, scope)))
  }

  documentPage(query: DocumentQuery = {}, ...surplus: never[]): Promise<CompletedDocumentPage> {
    checkNoMore('documentPage()', surplus)
    return this.#inFlight.run(async () => {
      const { scope, ...asked } = checkOptions('documentPage()', query, documentPageOptions)
      return this.#listings.documentPage(this.#withUser(asked as DocumentQuery, scope))
    })
  }

  #withUser(asked: DocumentQuery, given: Scope | undefined) {
    const scope = copied(given)
    return { ...asked, user: asked.user ?? scope.user ?? this.#options.defaultUser, scope }
  }

  removeDocument(
    ref: DocumentRef,
    options: ScopeOptions = {},
    ...surplus: never[]
  ): Promise<boolean> {
    checkNoMore('removeDocument()', surplus)
    return this.#inFlight.run(async () => {
      const scope = scopeIn('removeDocument()', options)
      // A load that comes meanwhile waits until all is gone, and brings it anew.
      const named = this.#named('removeDocument()', ref, scope)
      const withheld = await this.#queue.withhold(named)
      try {
        return await this.#removal.remove(named, withheld, scope)
      } finally {
        await withheld.release()
        const flows = this.#queue.flows().map(({ id }) => id)
        for (const runner of this.#runners) runner.wake(flows)
      }
    })
  }

  /** Sees to it that what is known is as new as it has to be. */
  #look(reads: Reads = this.#options.reads): Promise<void> {
    return this.#queue.look(reads)
  }

  #named(call: string, ref: DocumentRef, scope: Scope): Required<DocumentRef> {
    const { user = scope.user ?? this.#options.defaultUser, document } = documentIn(call, ref)
    return { user, document }
  }

  /** @throws LorekeepError `LK_JOB_NOT_FOUND` */
  async #checkJob(id: string, scope: Scope): Promise<void> {
    const job = await this.#queue.job(id)
    if (job === undefined || !isOwn(scope, job)) throw noJob(id)
  }

  get isRunning(): boolean {
    return this.#runners.size > 0
  }

  async close(timeoutMs: number): Promise<void> {
    // From here on nothing begins any more.
    const calls = this.#inFlight.close(timeoutMs)
    await Promise.all([...this.#runners].map((runner) => runner.stop({ timeoutMs })))
    await this.#files.close()
    this.#watching.close()
    await calls
    await this.#membership.tidy()
    this.#membership.leave()
    await this.#queue.drained()
  }
}

const loading = new Trace('flows.load')

/** Who changes it changes nothing here. Not by structuredClone(), which takes 10 us where hardly any step has options. */
function copyOf(flow: Flow): Flow {
  const steps = flow.steps.map(({ options, ...step }) =>
    options === undefined ? step : { ...step, options: structuredClone(options) },
  )
  return { ...flow, steps }
}

const ofFlow = (flow: unknown) => stringsIn({ flow }, { flow: 'flow' })
const ofJob = (job: unknown) => stringsIn({ job }, { job: 'job' })
const ofDocument = (ref: unknown) => stringsIn(ref, { user: 'user', document: 'document' })
const ofQuery = (query: unknown) =>
  stringsIn(query, { flow: 'flow', job: 'job', user: 'user', document: 'document' })

// load() tells of itself.
traceMethods(Flows, 'flows', {
  define: (definition) => stringsIn(definition, { flow: 'id' }),
  get: ofFlow,
  version: ofFlow,
  list: () => ({}),
  flowPage: () => ({}),
  start: ofFlow,
  stop: ofFlow,
  remove: ofFlow,
  job: ofJob,
  jobs: ofQuery,
  jobPage: ofQuery,
  deadLetters: ofFlow,
  stats: ofFlow,
  watch: ofQuery,
  retry: ofJob,
  cancel: ofJob,
  retryAll: ofQuery,
  cancelAll: ofQuery,
  document: ofDocument,
  documents: ofQuery,
  documentPage: ofQuery,
  removeDocument: ofDocument,
})
