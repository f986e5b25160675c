// FlowQueue: the queue, its runners and whoever watches them.

import { conditionRules, conditionsIn, versionOf, type ChangeConditions } from '../conditions.js'
import { hasCode, LorekeepError } from '../errors.js'
import { tellClosing } from '../closing.js'
import { InFlight } from '../in-flight.js'
import type { KnowledgeStore } from '../knowledge/types.js'
import type { ObjectStore } from '../objects/types.js'
import { aScope, copied, isOwn, outsideOf, scopeIn, type Scope } from '../scope.js'
import { aReads, type Reads } from '../reads.js'
import { refused, type Presence } from '../presence.js'
import type { Storage } from '../storage.js'
import type { Chance, Clock } from '../clock.js'
import { checkArgument, checkNoMore, checkOptions } from '../door/options.js'
import { aCount, aRule, aSignal, aString, oneOf } from '../door/rules.js'
import { aFlowId, checkDefinition, firstFlow, stepsOf } from './definition.js'
import { carrierOf, type Carrier } from './carrier.js'
import { acceptDocument, type AcceptedDocument } from './document.js'
import { EventHub, type Watcher } from './events.js'
import { lentStores } from './lent-stores.js'
import { Neighbours } from './neighbours.js'
import { FileReader } from './files/file-reader.js'
import { numberIn } from './queue/block.js'
import { eventOf, fieldsOf, newsOf } from './queue/job-view.js'
import { noFlow, noJob, states, type DocumentJobs } from './queue/jobs.js'
import { JobQueue, type WithheldDocument } from './queue/queue.js'
import type { LatestRecord } from './queue/records.js'
import { FlowRunner, type Delivery } from './runner.js'
import { liesElsewhere, removeKnowledge } from './steps/knowledge-removal.js'
import type {
  CompletedDocument,
  Completion,
  DocumentQuery,
  DocumentRef,
  DocumentStatus,
  FileDocument,
  Flow,
  FlowDefinition,
  FlowLimits,
  FlowQueue,
  FlowStats,
  Job,
  JobEvent,
  JobQuery,
  ReadOptions,
  Runner,
  RunOptions,
  ScopeOptions,
  Step,
  TextDocument,
  WatchQuery,
} from './types.js'
import { isRecord } from '../door/wording.js'
import { stringsIn, Trace, traceMethods } from '../tracing.js'

interface FlowQueueOptions {
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

interface ClosableFlowQueue extends FlowQueue {
  /** Documents are processed. */
  readonly isRunning: boolean
  close(timeoutMs: number): Promise<void>
}

/** @throws LorekeepError `LK_STORAGE_*` */
export async function openFlowQueue(options: FlowQueueOptions): Promise<ClosableFlowQueue> {
  const hub = new EventHub()
  const runners = new Set<FlowRunner>()
  const running = new Set<Delivery>()
  const { flows, clock, chance, createId, leaseMs, isAlone, presence } = options
  let opened: JobQueue | undefined = undefined
  let hasHeard = false
  const neighbours = new Neighbours({
    sharing: flows.sharing,
    clock,
    isWatchedHere: () => hub.isWatched,
    onChange: ({ flows, cancelled }) => {
      // Others may speak before it is open.
      hasHeard = true
      opened?.outdate()
      for (const runner of runners) runner.noticeOthers(flows, cancelled)
    },
    onEvent: (event) => hub.emit(event),
  })
  const tell = (event: JobEvent) => {
    hub.emit(event)
    neighbours.tellEvent(event)
  }
  const isWatched = () => hub.isWatched || neighbours.isWatched
  const queue = await JobQueue.open({
    storage: flows,
    firstFlow: firstFlow(),
    clock,
    chance,
    createId,
    leaseMs,
    isAlone,
    presence,
    isWatched,
    onCommit: ({ events, queued, cancelled }) => {
      for (const event of events) tell(event)
      neighbours.tellChange(queued, cancelled)
      for (const runner of runners) {
        if (cancelled.length > 0) runner.interrupt(cancelled, 'lost')
        runner.wake(queued)
      }
    },
  })
  opened = queue
  if (hasHeard) queue.outdate()
  return new Flows({ ...options, queue, hub, neighbours, runners, running, tell, isWatched })
}

const runOptions = {
  signal: aSignal,
  flows: aRule<readonly string[]>(
    'an array of ids of flows',
    (flows) => Array.isArray(flows) && flows.every(aFlowId.holds),
  ),
}
const jobOptions = {
  flow: aFlowId,
  state: oneOf(...states),
  user: aString,
  document: aString,
  limit: aCount(),
  scope: aScope,
  reads: aReads,
}
const documentOptions = {
  user: aString,
  after: aString,
  limit: aCount(),
  scope: aScope,
  reads: aReads,
}
const readOptions = { scope: aScope, reads: aReads }
const watchOptions = {
  job: aString,
  flow: aFlowId,
  user: aString,
  document: aString,
  signal: aSignal,
  scope: aScope,
}
const aWellFormed = aRule<string>(
  'a string, well-formed',
  (value) => typeof value === 'string' && value.isWellFormed(),
)
const aRef = aRule<DocumentRef>('named by an object { user, document }', isRecord)
const documentMembers = { user: aWellFormed, document: aWellFormed }

/** With other members, too: what document() and watch() give names a document. */
function documentIn(call: string, ref: DocumentRef): DocumentRef {
  checkArgument(`the document of ${call}`, ref, aRef)
  const { user, document } = ref
  checkOptions(call, { user, document }, documentMembers, 'document')
  return ref
}

type WholeDocumentQuery = DocumentQuery & Required<Pick<DocumentQuery, 'user' | 'scope'>>

/** How soon, and then how often, what others may have done to what is watched is looked for. */
const firstLookMs = 100
const lookMs = 1000

/** How long removeDocument() waits for steps that were given up. */
const maxEndMs = 10_000

class Flows implements ClosableFlowQueue {
  readonly #options: FlowsParts
  readonly #queue: JobQueue
  readonly #hub: EventHub
  readonly #runners: Set<FlowRunner>
  readonly #inFlight = new InFlight()
  readonly #files: FileReader
  readonly #code = new Map<string, ReadonlyMap<string, Step>>()
  /** By definition: one that changes is another object. */
  readonly #steps = new WeakMap<Flow, readonly Step[]>()
  #cancelLook: (() => void) | undefined
  /** The version of the queue that watchers know. */
  #seen = 0
  /** Those that somebody was told of. */
  readonly #withoutCode = new WeakSet<Flow>()
  readonly #leaveOthers: (() => void) | undefined

  constructor(options: FlowsParts) {
    this.#options = options
    this.#queue = options.queue
    this.#hub = options.hub
    this.#runners = options.runners
    const { maxTextBytes: maxTextLength, ...limits } = options.limits
    this.#files = new FileReader({ ...limits, maxTextLength })
    tellClosing(this, this.#inFlight.closing)
    this.#leaveOthers = options.presence && this.#joinOthers(options.presence)
  }

  define(definition: FlowDefinition, given?: ChangeConditions, ...surplus: never[]): Promise<Flow> {
    return this.#inFlight.run(async () => {
      checkNoMore('define()', surplus)
      const { flow, code } = checkDefinition(definition)
      const conditions = conditionsIn(checkOptions('define()', given, conditionRules))
      const before = this.#code.get(flow.id)
      // Before anything can be claimed of it.
      this.#code.set(flow.id, code)
      try {
        await this.#queue.define(flow, conditions)
      } catch (error) {
        // The steps of the definition that stays.
        const isRefused = hasCode(error, 'LK_PRECONDITION') && this.#code.get(flow.id) === code
        if (isRefused && before === undefined) this.#code.delete(flow.id)
        else if (isRefused) this.#code.set(flow.id, before as ReadonlyMap<string, Step>)
        throw error
      }
      return structuredClone(flow)
    })
  }

  get(id: string, ...surplus: never[]): Promise<Flow | undefined> {
    return this.#inFlight.run(async () => {
      checkNoMore('get()', surplus)
      checkArgument('the id of a flow', id, aString)
      // Where nobody else writes, what is known is enough: whoever takes objects asks with each request.
      const isShared = this.#options.flows.sharing !== undefined
      if (isShared || this.#queue.flow(id) === undefined) await this.#look()
      return structuredClone(this.#queue.flow(id))
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
      return structuredClone(this.#queue.flows())
    })
  }

  start(id: string, given?: ChangeConditions, ...surplus: never[]): Promise<Flow> {
    return this.#inFlight.run(async () => {
      checkNoMore('start()', surplus)
      checkArgument('the id of a flow', id, aString)
      const conditions = conditionsIn(checkOptions('start()', given, conditionRules))
      return structuredClone(await this.#queue.setActive(id, true, conditions))
    })
  }

  stop(id: string, given?: ChangeConditions, ...surplus: never[]): Promise<Flow> {
    return this.#inFlight.run(async () => {
      checkNoMore('stop()', surplus)
      checkArgument('the id of a flow', id, aString)
      const conditions = conditionsIn(checkOptions('stop()', given, conditionRules))
      return structuredClone(await this.#queue.setActive(id, false, conditions))
    })
  }

  remove(id: string, given?: ChangeConditions, ...surplus: never[]): Promise<boolean> {
    return this.#inFlight.run(async () => {
      checkNoMore('remove()', surplus)
      checkArgument('the id of a flow', id, aString)
      const conditions = conditionsIn(checkOptions('remove()', given, conditionRules))
      const removed = await this.#queue.remove(id, conditions)
      if (removed) this.#code.delete(id)
      return removed
    })
  }

  // Not through InFlight.run(): a promise and an async function more cost 6 % of the rate of loading.
  async load(
    flow: string,
    document: TextDocument | FileDocument,
    options?: ScopeOptions,
    ...surplus: never[]
  ): Promise<{ readonly job: string }> {
    checkNoMore('load()', surplus)
    checkArgument('the id of a flow', flow, aString)
    const scope = options === undefined ? undefined : scopeIn('load()', options)
    if (!loading.isHeard) return this.#load(flow, document, scope)
    const named = stringsIn(document, { user: 'user', document: 'id', collection: 'collection' })
    const operation = loading.operation({ ...named, flow })
    return loading.run(operation, async () => {
      const loaded = await this.#load(flow, document, scope, () => carrierOf(operation))
      operation['job'] = loaded.job
      return loaded
    })
  }

  async #load(
    flow: string,
    document: TextDocument | FileDocument,
    scope: Scope | undefined,
    carrier?: () => Carrier | undefined,
  ): Promise<{ readonly job: string }> {
    const end = this.#inFlight.begin()
    try {
      const { limits } = this.#options
      const defaultUser = scope?.user ?? this.#options.defaultUser
      const accepted = acceptDocument(document, { ...limits, defaultUser }, carrier?.())
      if (scope === undefined) return { job: await this.#queue.load(flow, accepted) }
      const check = await this.#checkLoad(accepted, scope)
      return { job: await this.#queue.load(flow, accepted, check) }
    } finally {
      end()
    }
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
      onEnded: () => void this.#tidy(),
      flows: flows && new Set(flows),
      stepsOf: (flow) => this.#stepsOf(flow),
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

  jobs(query: JobQuery, ...surplus: never[]): AsyncGenerator<Job> {
    checkNoMore('jobs()', surplus)
    const { scope, ...asked } = checkOptions('jobs()', query, jobOptions, 'flow')
    return this.#jobs({ ...(asked as JobQuery), scope: copied(scope) })
  }

  async *#jobs(query: JobQuery): AsyncGenerator<Job> {
    this.#inFlight.check()
    const { reads = this.#options.reads } = query
    for await (const job of this.#queue.jobs({ ...query, reads })) {
      yield job
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
    const events = this.#hub.watch(whole, () => this.#inFlight.run(() => this.#known(whole)))
    this.#options.neighbours.announce()
    this.#seen = 0
    this.#lookAfter(firstLookMs)
    return events
  }

  retry(job: string, options?: ScopeOptions, ...surplus: never[]): Promise<Job> {
    checkNoMore('retry()', surplus)
    return this.#inFlight.run(async () => {
      checkArgument('the id of a job', job, aString)
      if (options !== undefined) await this.#checkJob(job, scopeIn('retry()', options))
      return this.#queue.retry(job)
    })
  }

  cancel(job: string, options?: ScopeOptions, ...surplus: never[]): Promise<void> {
    checkNoMore('cancel()', surplus)
    return this.#inFlight.run(async () => {
      checkArgument('the id of a job', job, aString)
      if (options !== undefined) await this.#checkJob(job, scopeIn('cancel()', options))
      return this.#queue.cancel(job)
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
      const status = await this.#statusOf(this.#named('document()', ref, scope), reads)
      return status && seenOf(status, scope)
    })
  }

  documents(query: DocumentQuery = {}, ...surplus: never[]): AsyncGenerator<CompletedDocument> {
    checkNoMore('documents()', surplus)
    const { scope: given, ...asked } = checkOptions('documents()', query, documentOptions)
    const scope = copied(given)
    const { user = scope.user ?? this.#options.defaultUser } = asked
    return this.#documents({ ...(asked as DocumentQuery), user, scope })
  }

  async *#documents(query: WholeDocumentQuery): AsyncGenerator<CompletedDocument> {
    this.#inFlight.check()
    const { user, scope, after, limit = Infinity, reads } = query
    await this.#look(reads)
    let count = 0
    for await (const [document, latest] of this.#queue.completed(user, after)) {
      if (!isOwn(scope, { user, collection: latest.collection })) continue
      if (count++ >= limit) return
      yield { user, document, completed: completionOf(latest) }
      this.#inFlight.check()
    }
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
        return await this.#removeWithheld(named, withheld, scope)
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

  async #statusOf(
    { user, document }: Required<DocumentRef>,
    reads?: Reads,
  ): Promise<DocumentStatus | undefined> {
    const known = await this.#queue.jobsOf(user, document, reads ?? this.#options.reads)
    return statusIn({ user, document }, known)
  }

  /** @throws LorekeepError `LK_JOB_NOT_FOUND` */
  async #checkJob(id: string, scope: Scope): Promise<void> {
    const job = await this.#queue.job(id)
    if (job === undefined || !isOwn(scope, job)) throw noJob(id)
  }

  /**
   * What a document became is replaced, in whatever collection it is. What comes back is for the moment
   * of the load, when what others load at the same time is known.
   */
  async #checkLoad(
    loaded: AcceptedDocument,
    scope: Scope,
  ): Promise<((known: DocumentJobs) => void) | undefined> {
    const { user, id: document, collection } = loaded
    const outside = outsideOf(scope, { user, collection })
    if (outside !== undefined) throw noAccess(document, outside)
    if (scope.collections === undefined) return undefined
    await this.#checkKnowledge({ user, document }, scope)
    return (known) => {
      const status = statusIn({ user, document }, known)
      if (status !== undefined && !isWhole(status, scope)) throw noAccess(document, isElsewhere)
    }
  }

  /** Of older loads there may be more than jobs tell. */
  async #checkKnowledge(ref: Required<DocumentRef>, { collections }: Scope): Promise<void> {
    if (collections === undefined) return
    const isOutside = await liesElsewhere(ref, this.#options, collections)
    if (isOutside) throw noAccess(ref.document, isElsewhere)
  }

  async #removeWithheld(
    { user, document }: Required<DocumentRef>,
    { isOwn }: WithheldDocument,
    scope: Scope,
  ): Promise<boolean> {
    // Others may have removed it since, and loaded it anew.
    const stores = lentStores(this.#options, isOwn)
    const assertOwn = () => {
      if (!isOwn()) throw refused()
    }
    const status = await this.#statusOf({ user, document }, 'fresh')
    // Its core and its objects go with it, in whatever collection and from whatever flow they are.
    if (!isWhole(status ?? { user, jobs: [] }, scope)) {
      if (status === undefined || seenOf(status, scope) === undefined) return false
      throw noAccess(document, isElsewhere)
    }
    await this.#checkKnowledge({ user, document }, scope)
    const done: string[] = []
    for (const { id, state } of status?.jobs ?? []) {
      assertOwn()
      if (state === 'done' || !(await this.#cancelIfThere(id))) done.push(id)
    }
    // What was cancelled under way must not write any more.
    await this.#ended({ user, document })
    const removed = await removeKnowledge({ user, document }, stores)
    assertOwn()
    if (status !== undefined) await this.#queue.forget(user, document, done)
    return removed || status !== undefined
  }

  get isRunning(): boolean {
    return this.#runners.size > 0
  }

  async close(timeoutMs: number): Promise<void> {
    // From here on nothing begins any more.
    const calls = this.#inFlight.close(timeoutMs)
    await Promise.all([...this.#runners].map((runner) => runner.stop({ timeoutMs })))
    await this.#files.close()
    this.#hub.close()
    this.#cancelLook?.()
    this.#options.neighbours.close()
    await calls
    await this.#tidy()
    this.#leaveOthers?.()
    await this.#queue.drained()
  }

  /** False where it ended meanwhile. */
  async #cancelIfThere(id: string): Promise<boolean> {
    try {
      await this.#queue.cancel(id)
      return true
    } catch (error) {
      const code = error instanceof LorekeepError ? error.code : undefined
      if (code !== 'LK_JOB_NOT_FOUND' && code !== 'LK_JOB_STATE') throw error
      return false
    }
  }

  /** @throws LorekeepError `LK_JOB_STATE` where a step of the document does not end */
  async #ended(ref: Required<DocumentRef>): Promise<void> {
    const { signal } = this.#inFlight
    const { clock } = this.#options
    let isOver = false
    let stopWaiting = () => {}
    const givenUp = new Promise<never>((_resolve, reject) => {
      const abort = () => reject(signal.reason as Error)
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort, { once: true })
      const cancel = clock.after(maxEndMs, () => {
        const detail = `a step of '${ref.document}' still runs after ${maxEndMs} ms; its jobs are cancelled: try again later`
        reject(new LorekeepError('LK_JOB_STATE', detail, { details: { state: 'active' } }))
      })
      stopWaiting = () => {
        isOver = true
        cancel()
        signal.removeEventListener('abort', abort)
      }
    })
    try {
      await Promise.race([this.#endedHere(ref), givenUp])
      // Elsewhere it has been told, or is found at the next look there.
      for (let waitMs = 20; ; waitMs = Math.min(2 * waitMs, 500)) {
        await this.#queue.refresh()
        if (isOver || !this.#queue.isEnding(ref)) return
        await Promise.race([waited(clock, waitMs), givenUp])
      }
    } finally {
      stopWaiting()
    }
  }

  /** Resolves when nothing runs here of a document whose jobs were cancelled, abandoned steps too. */
  async #endedHere({ user, document }: Required<DocumentRef>): Promise<void> {
    const ofDocument = [...this.#options.running].filter(({ claimed: { record } }) => {
      return record.user === user && record.document === document
    })
    await Promise.all(ofDocument.map(({ execution }) => execution.ended()))
  }

  /** Takes away what others wait for, and is over. */
  async #tidy(): Promise<void> {
    try {
      await this.#queue.tidy(({ number, token }) => {
        return [...this.#options.running].some(({ claimed }) => {
          return claimed.number === number && claimed.token === token
        })
      })
    } catch (error) {
      this.#options.onError(error)
    }
  }

  /** What a member is asked to do, and what is done about those who are none any more. */
  #joinOthers(presence: Presence): () => void {
    const leave = [
      presence.onExpelled(() => this.#endAll(presence)),
      presence.onGone((id) => this.#queue.takeFrom(new Set([id]))),
      presence.onLook(() => void this.#lookAtOthers()),
    ]
    return () => leave.forEach((end) => end())
  }

  async #lookAtOthers(): Promise<void> {
    try {
      await this.#queue.refresh()
      await this.#tidy()
    } catch (error) {
      const { closing } = this.#inFlight
      if (!closing.aborted || !hasCode(error, 'LK_CLOSED')) this.#options.onError(error)
    }
  }

  /**
   * Others have what runs here. A step that does not end writes nothing to the stores that it was lent; for whatever
   * else it may do when this process has joined anew, others are told of it then.
   */
  async #endAll(presence: Presence): Promise<void> {
    const { clock, leaseMs, running, onError } = this.#options
    for (const { execution } of running) execution.interrupt('lost')
    const ends = [...running].map(({ execution }) => execution.ended())
    await Promise.race([Promise.all(ends), waited(clock, leaseMs)])
    const steps = [...running].map(({ claimed: { number, token, record } }) => {
      return { number, token, user: record.user, document: record.document }
    })
    void presence
      .ready()
      .then(() => this.#queue.leaveEndings(steps))
      .catch(onError)
  }

  #stepsOf(flow: Flow): readonly Step[] | undefined {
    const known = this.#steps.get(flow)
    if (known !== undefined) return known
    const steps = stepsOf(flow, this.#code.get(flow.id))
    if (steps !== undefined) this.#steps.set(flow, steps)
    else if (!this.#withoutCode.has(flow)) {
      this.#withoutCode.add(flow)
      const detail = `'${flow.id}' has steps of code, and waits until they are defined in this process`
      this.#options.onError(new LorekeepError('LK_FLOW_INVALID', detail))
    }
    return steps
  }

  /** Where others process what is watched, what they tell may be lost on the way: it is looked for, too. */
  #lookAfter(delayMs: number): void {
    const { clock, flows } = this.#options
    if (flows.sharing === undefined || this.#hub.named.length === 0) return
    this.#cancelLook?.()
    this.#cancelLook = clock.after(delayMs, () => {
      this.#cancelLook = undefined
      void this.#lookForWatchers().finally(() => this.#lookAfter(lookMs))
    })
  }

  async #lookForWatchers(): Promise<void> {
    try {
      await this.#queue.refresh()
      if (this.#queue.version === this.#seen) return
      const { version } = this.#queue
      let areAllTold = true
      for (const watcher of this.#hub.named) {
        areAllTold = watcher.look(await this.#newsFor(watcher)) && areAllTold
      }
      if (areAllTold) this.#seen = version
    } catch (error) {
      this.#options.onError(error)
    }
  }

  async #newsFor({ query, told }: Watcher): Promise<readonly JobEvent[]> {
    const { job: id, user, document } = query
    const jobs: Job[] = []
    if (id !== undefined) {
      const job = await this.#queue.job(id)
      if (job !== undefined) jobs.push(job)
    } else if (user !== undefined && document !== undefined) {
      jobs.push(...(await this.#queue.jobsOf(user, document)).jobs)
    }
    const news = jobs.map(newsOf)
    for (const last of told.values()) {
      if (last.state === 'done' || jobs.some((job) => job.id === last.job)) continue
      // It is gone: with the records of those that are done, or because somebody took it away.
      const { latest } = await this.#queue.jobsOf(last.user, last.document)
      const at = this.#options.clock.now()
      const fields = { ...last, id: last.job }
      const isDone = latest?.job === last.job
      news.push(
        eventOf(isDone ? 'done' : 'cancelled', isDone ? { ...fields, state: 'done' } : fields, at),
      )
    }
    return news
  }

  /** The state of a watched job, or of the jobs of a watched document. */
  async #known({
    job: id,
    flow,
    user,
    document,
    scope = {},
  }: WatchQuery): Promise<readonly JobEvent[]> {
    if (flow !== undefined && this.#queue.flow(flow) === undefined) {
      await this.#queue.refresh()
      if (this.#queue.flow(flow) === undefined) throw noFlow(flow)
    }
    if (id !== undefined) {
      const job = await this.job(id, { scope })
      if (job === undefined) throw noJob(id)
      return [stateEventOf(job)]
    }
    if (user === undefined || document === undefined) return []
    const status = await this.document({ user, document }, { scope })
    return (status?.jobs ?? [])
      .filter((job) => flow === undefined || job.flow === flow)
      .reverse()
      .map(stateEventOf)
  }
}

const loading = new Trace('flows.load')

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
  start: ofFlow,
  stop: ofFlow,
  remove: ofFlow,
  job: ofJob,
  jobs: ofQuery,
  deadLetters: ofFlow,
  stats: ofFlow,
  watch: ofQuery,
  retry: ofJob,
  cancel: ofJob,
  document: ofDocument,
  documents: ofQuery,
  removeDocument: ofDocument,
})

/** Options of a question, whose scope stays as it is. */
function readIn(call: string, options: ReadOptions): ReadOptions {
  const { scope, reads } = checkOptions(call, options, readOptions)
  return { scope: copied(scope), ...(reads !== undefined && { reads }) }
}

function waited(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve, false))
}

/** What a scope has of a document; `undefined` where that is nothing. */
function seenOf(status: DocumentStatus, scope: Scope): DocumentStatus | undefined {
  const { user, document, completed } = status
  const jobs = status.jobs.filter((job) => isOwn(scope, job))
  const isCompleted = completed !== undefined && isOwn(scope, { user, ...completed })
  if (jobs.length === 0 && !isCompleted) return undefined
  return { user, document, jobs, ...(isCompleted && { completed }) }
}

/** Whether a scope has all of a document. What no job tells of may lie in any collection. */
function isWhole(
  { user, jobs, completed }: Omit<DocumentStatus, 'document'>,
  scope: Scope,
): boolean {
  const parts = completed === undefined ? jobs : [...jobs, completed]
  if (parts.length === 0 && scope.collections !== undefined) return false
  if (scope.user !== undefined && scope.user !== user) return false
  return parts.every(({ collection }) => isOwn(scope, { user, collection }))
}

const isElsewhere = 'there is some of it in a collection that is not one of those allowed'

function noAccess(document: string, reason: string): LorekeepError {
  const detail = `'${document}': ${reason}`
  return new LorekeepError('LK_DOCUMENT_ACCESS', detail, { details: { document } })
}

/** Of the time that it is the state since. */
function stateEventOf(job: Job): JobEvent {
  return eventOf('state', job, Date.parse(job.updatedAt))
}

/** `undefined` where nothing is known of it. */
function statusIn(
  { user, document }: Required<DocumentRef>,
  { jobs, latest }: DocumentJobs,
): DocumentStatus | undefined {
  if (jobs.length === 0 && latest === undefined) return undefined
  const newestFirst = [...jobs].sort((a, b) => numberOf(b) - numberOf(a))
  const completed = latest && completionOf(latest)
  return { user, document, jobs: newestFirst, ...(completed !== undefined && { completed }) }
}

function numberOf({ id }: Job): number {
  return numberIn(id) ?? 0
}

function completionOf({ job, flow, collection, at }: LatestRecord): Completion {
  return { job, flow, collection, at: new Date(at).toISOString() }
}
