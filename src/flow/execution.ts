// One delivery of a document: its steps from the first that is not recorded, to completion.

import { inspect } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { readable } from '../damage.js'
import { LorekeepError } from '../errors.js'
import type { Clock } from '../clock.js'
import { longestTimer } from '../door/rules.js'
import type { StructuredText } from './files/structured-text.js'
import { Outages } from './outages.js'
import { maxAskedWaitMs } from './queue/backoff.js'
import type { Claimed, JobQueue } from './queue/queue.js'
import { recordedPlaces } from './queue/records.js'
import { titleOf } from './steps/title.js'
import { termOf } from '../terms.js'
import { Trace } from '../tracing.js'
import type { Triple } from '../types.js'
import type { Flow, FlowDocument, JobFailure, JobState, Step, StepContext } from './types.js'

export interface ExecutionOptions {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly flow: Flow
  readonly steps: readonly Step[]
  readonly claimed: Claimed
  readonly stores: Pick<StepContext, 'knowledge' | 'objects' | 'base'>
  readonly readFile: (
    type: string,
    bytes: Uint8Array,
    signal: AbortSignal,
  ) => Promise<StructuredText>
  readonly onProgress: (step: string, done: number, total: number) => void
  /** A step is through whose output is not recorded. */
  readonly onStep: (step: string) => void
  /** The steps have ended, one way or another; what became of the job is yet to be written. */
  readonly onStepsEnded: () => void
}

/** Why a delivery is broken off from outside. */
export type Interruption = 'stopped' | 'lost'

const maxMessageLength = 1000

/** What failures say of a file that could not be read, before the first step. */
const readingName = 'read'

/** So often a job is given back for outages, one time after the other: what is too large is refused so, too. */
const mostReleased = 3

/** How much work of steps that need not be recorded a failure may cost. */
const maxRepeatedMs = 1000

export class Execution {
  /** Somebody breaks it off. */
  onInterrupted: () => void = () => {}
  readonly #options: ExecutionOptions
  readonly #outages: Outages
  #interruption: LorekeepError | undefined
  #step: RunningStep | undefined
  /** The step that ran, or was to run. */
  #stepName = ''
  /** Until the end of the step's function, which may go on after it was given up. */
  #work: Promise<unknown> = Promise.resolve()
  #isWorking = false
  #hasWorked = false
  /** What a step threw, as opposed to what the queue did. */
  #thrown: { readonly error: unknown } | undefined

  constructor(options: ExecutionOptions) {
    this.#options = options
    this.#outages = new Outages(options)
  }

  /** Resolves when the job is settled. @throws LorekeepError `LK_STORAGE_*` where that failed */
  async run(): Promise<void> {
    if (!processing.isHeard) {
      await this.#run()
      return
    }
    const operation = processing.operation(this.#fields(), this.#options.claimed.document.carrier)
    await processing.run(operation, async () => {
      operation['state'] = await this.#run()
    })
  }

  /** Of what is told of it. */
  #fields() {
    const { flow, claimed } = this.#options
    const { id: job, user, document, collection, attempts: attempt } = claimed.record
    return { flow: flow.id, job, user, document, collection, attempt }
  }

  /** Gives what the job is then; undefined where others say. */
  async #run(): Promise<JobState | undefined> {
    const { queue, claimed, steps, onStepsEnded } = this.#options
    try {
      try {
        await this.#runSteps()
      } finally {
        onStepsEnded()
      }
      const names = steps.map(({ name }) => name)
      await this.#outages.asked(() => queue.complete(claimed, names))
      return 'done'
    } catch (error) {
      return this.#settle(error)
    }
  }

  interrupt(why: Interruption): void {
    this.#interruption ??=
      why === 'lost'
        ? new LorekeepError('LK_LEASE_LOST', 'its lease ran out, or it was cancelled')
        : new LorekeepError('LK_CLOSED', 'the runner was stopped')
    this.#step?.giveUp(this.#interruption)
    this.#outages.interrupt()
    this.onInterrupted()
  }

  get isInterrupted(): boolean {
    return this.#interruption !== undefined
  }

  /** A step's function has not come to its end. */
  get isWorking(): boolean {
    return this.#isWorking
  }

  /** Resolves when nothing of it runs any more, its abandoned step included. */
  ended(): Promise<unknown> {
    return this.#work
  }

  async #runSteps(): Promise<void> {
    const { queue, clock, claimed, steps, stores, onStep } = this.#options
    const { number, record } = claimed
    const { type, text } = claimed.document
    const document =
      type === undefined
        ? documentOf(claimed, stores.base, decoder.decode(text))
        : await this.#readDocument(type, text)
    // A flow may have been given other steps since.
    const other = record.steps.findIndex((name, place) => name !== steps[place]?.name)
    const same = other < 0 ? record.steps.length : other
    const places = recordedPlaces(record).filter(
      (place) => place < Math.min(same, steps.length - 1),
    )
    let place = 0
    let input: unknown = document
    // Damage costs the work of a step, and not the document: what cannot be read is made again.
    for (const last of places.reverse()) {
      // place < length - 1
      this.#stepName = (steps[last + 1] as Step).name
      const recorded = await this.#recorded(number, last)
      if (recorded === undefined) continue
      place = last + 1
      input = recorded.output
      break
    }
    let since = clock.elapsed()
    for (; place < steps.length; place++) {
      // place < length
      const step = steps[place] as Step
      const output = await this.#runStep(step, input, document)
      if (place === steps.length - 1) return
      const isCheap = step.record === false && clock.elapsed() - since < maxRepeatedMs
      const bytes = isCheap ? undefined : encode(step, output)
      if (bytes === undefined) onStep(step.name)
      else {
        const names = steps.slice(0, place + 1).map(({ name }) => name)
        await this.#outages.asked(() => queue.record(claimed, names, bytes))
        since = clock.elapsed()
      }
      input = output
    }
  }

  /** What a step returned; `undefined` where it is not there, or damaged. */
  async #recorded(number: number, step: number): Promise<{ readonly output: unknown } | undefined> {
    const { queue } = this.#options
    const bytes = await readable(() => this.#outages.asked(() => queue.output(number, step)))
    if (bytes === undefined) return undefined
    try {
      return { output: deserialize(bytes) }
    } catch {
      return undefined
    }
  }

  /** A file is read first, again at each delivery: its text is not written, and may be large. */
  async #readDocument(type: string, bytes: Uint8Array): Promise<FlowDocument> {
    const { claimed, stores, readFile } = this.#options
    const reading: Step = {
      name: readingName,
      // It has a bound of its own, `maxFileMs`, and that others are read before is no fault of this one.
      timeoutMs: longestTimer,
      run: (_, { signal }) => readFile(type, bytes, signal),
    }
    const blank = documentOf(claimed, stores.base, '')
    const read = (await this.#runStep(reading, undefined, blank)) as StructuredText
    return documentOf(claimed, stores.base, read.text, read)
  }

  async #runStep(step: Step, input: unknown, document: FlowDocument): Promise<unknown> {
    const { clock, flow, claimed } = this.#options
    const running = new RunningStep(step.name, this.#options)
    this.#step = running
    this.#stepName = step.name
    if (this.#interruption !== undefined) throw this.#interruption
    const timeoutMs = step.timeoutMs ?? flow.stepTimeoutMs
    const cancel = clock.after(timeoutMs, () => {
      const detail = `'${step.name}' of job ${claimed.record.id} was given up after ${timeoutMs} ms`
      running.giveUp(new LorekeepError('LK_STEP_TIMEOUT', detail))
    })
    try {
      return await new Promise((resolve, reject) => {
        running.onGivenUp = reject
        this.#isWorking = true
        this.#hasWorked = true
        const work = async () => step.run(input, running.context(document))
        const told = stepping.isHeard
          ? stepping.run(stepping.operation({ ...this.#fields(), step: step.name }), work)
          : work()
        // One promise, which does not fail: of 200 jobs at once each object more is copied by collections of garbage.
        this.#work = told.then(
          (output) => {
            this.#isWorking = false
            resolve(output)
          },
          (thrown: unknown) => {
            this.#isWorking = false
            const error = presentable(thrown)
            this.#thrown ??= { error }
            reject(error as Error)
          },
        )
      })
    } finally {
      cancel()
      running.isOver = true
    }
  }

  async #settle(error: unknown): Promise<JobState | undefined> {
    const { queue, claimed, clock } = this.#options
    // A step that happens to throw this has failed.
    const isLost = isCode(this.#interruption ?? error, 'LK_LEASE_LOST')
    if (isLost && this.#thrown?.error !== error) return undefined
    const failure = this.#failureOf(error)
    // Nothing has happened to what was broken off before it was begun. What is refused is counted, begun or not.
    const isAsBefore = this.isInterrupted && !this.#hasWorked
    const wait = error instanceof LorekeepError ? error.details['retryAfterMs'] : undefined
    const terms = {
      mayRetry: !isFinal(error),
      ...(Number.isFinite(wait) && {
        notBefore: clock.now() + Math.min(Math.max(Math.ceil(Number(wait)), 0), maxAskedWaitMs),
      }),
    }
    try {
      return await this.#outages.asked(async () => {
        // Abandoned, it goes on for a while, and whoever removes the document waits for it.
        const isWorking = this.#isWorking
        if (failure.cause !== 'released') {
          return queue.fail(claimed, failure, { ...terms, isWorking })
        }
        await queue.release(claimed, isAsBefore ? undefined : failure, isWorking)
        return 'queued'
      })
    } catch (thrown) {
      // Whoever has it now says what becomes of it.
      if (!isCode(thrown, 'LK_LEASE_LOST')) throw thrown
      return undefined
    }
  }

  /** Nothing is wrong with the document. What a storage refuses that is there it may refuse for what it is. */
  #isReleased(error: unknown): boolean {
    if (this.isInterrupted) return true
    if (!isCode(error, 'LK_STORAGE_UNAVAILABLE') || this.#thrown?.error === error) return false
    const before = this.#options.claimed.record.failures.slice(-mostReleased)
    return (
      before.length < mostReleased ||
      before.some(({ cause, code }) => {
        return cause !== 'released' || code !== 'LK_STORAGE_UNAVAILABLE'
      })
    )
  }

  #failureOf(error: unknown): JobFailure {
    const { claimed, clock } = this.#options
    return {
      at: new Date(clock.now()).toISOString(),
      attempt: claimed.record.attempts,
      step: this.#stepName,
      cause: this.#isReleased(error)
        ? 'released'
        : isCode(error, 'LK_STEP_TIMEOUT')
          ? 'timeout'
          : 'failed',
      ...(error instanceof LorekeepError && { code: error.code }),
      message: messageOf(error).slice(0, maxMessageLength).toWellFormed(),
    }
  }
}

const processing = new Trace('flows.process')
const stepping = new Trace('flows.step')

/** A step under way, which may be given up. */
class RunningStep {
  readonly name: string
  onGivenUp: (reason: Error) => void = () => {}
  isOver = false
  readonly #options: ExecutionOptions
  #controller: AbortController | undefined
  #reason: Error | undefined

  constructor(name: string, options: ExecutionOptions) {
    this.name = name
    this.#options = options
  }

  /** What the step is given of its surroundings: members of its own, which a copy has as well. */
  context(document: FlowDocument): StepContext {
    const { claimed, flow, stores, onProgress } = this.#options
    const signal = () => this.#signal()
    return {
      document,
      job: claimed.record.id,
      flow: flow.id,
      attempt: claimed.record.attempts,
      knowledge: stores.knowledge,
      objects: stores.objects,
      base: stores.base,
      get signal() {
        return signal()
      },
      progress: (done, total) => {
        if (!Number.isFinite(done) || !Number.isFinite(total)) {
          throw new TypeError(`progress is two numbers, not ${typeof done} and ${typeof total}`)
        }
        if (!this.isOver) onProgress(this.name, done, total)
      },
    }
  }

  // Made when it is asked for: one costs 4 us, a tenth of all that a step without work takes.
  #signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  giveUp(reason: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.#reason = reason
    this.#controller?.abort(reason)
    this.onGivenUp(reason)
  }
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function documentOf(
  { document: stored }: Claimed,
  base: string,
  text: string,
  read?: StructuredText,
): FlowDocument {
  const { document: id, user, collection, type } = stored
  const title = titleOf({ ...stored, id, text }, base, read)
  // A step may change what it gets; what is stored, and kept in memory, stays.
  const metadata = stored.metadata.map(copyOf)
  return {
    id,
    user,
    collection,
    ...(title !== undefined && { title }),
    metadata,
    text,
    ...(type !== undefined && { type }),
    ...(read !== undefined && { headings: read.headings }),
    ...(read !== undefined && read.pages.length > 0 && { pages: read.pages }),
  }
}

/** Not by structuredClone(), which takes 3 us for one triple, where a job takes 70. */
function copyOf({ s, p, o, g }: Triple): Triple {
  const copy = { s: termOf(s), p: termOf(p), o: termOf(o) }
  return g === undefined ? copy : { ...copy, g }
}

/** Whether another attempt is of no use: the step says so, or the file or the package is not there to read. */
function isFinal(error: unknown): boolean {
  return finalCodes.some((code) => isCode(error, code))
}

const finalCodes = ['LK_STEP_UNRECOVERABLE', 'LK_DOCUMENT_UNREADABLE', 'LK_PEER_MISSING'] as const

/** `undefined` where that cannot be, and need not. */
function encode(step: Step, output: unknown): Uint8Array | undefined {
  try {
    return serialize(output)
  } catch (cause) {
    if (step.record === false) return undefined
    const reason = cause instanceof Error ? cause.message : String(cause)
    const detail = `what '${step.name}' returned cannot be recorded: ${reason}`
    throw new LorekeepError('LK_STEP_OUTPUT', detail, { cause })
  }
}

function isCode(error: unknown, code: LorekeepError['code']): boolean {
  return error instanceof LorekeepError && error.code === code
}

/** Itself, unless it is a proxy that cannot even be asked what it is. */
function presentable(thrown: unknown): unknown {
  try {
    void (thrown instanceof Error)
    return thrown
  } catch {
    return new Error('it threw something that cannot be looked at')
  }
}

/** Steps throw what they like, also what cannot be shown. */
function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : inspect(error)
  } catch {
    return 'it threw something that cannot be shown'
  }
}
