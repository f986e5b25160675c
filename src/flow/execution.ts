// One delivery of a document: its steps from the first that is not recorded, to completion.

import { inspect } from 'node:util'
import { deserialize, serialize } from 'node:v8'
import { LorekeepError } from '../errors.js'
import type { Clock } from './clock.js'
import type { Claimed, JobQueue } from './queue/queue.js'
import type { Flow, FlowDocument, JobFailure, Step, StepContext } from './types.js'

export interface ExecutionOptions {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly flow: Flow
  readonly steps: readonly Step[]
  readonly claimed: Claimed
  readonly stores: Pick<StepContext, 'knowledge' | 'objects'>
  readonly onProgress: (step: string, done: number, total: number) => void
}

/** Why a delivery is broken off from outside. */
export type Interruption = 'stopped' | 'lost'

const maxMessageLength = 1000
const maxWaitMs = 3_600_000

export class Execution {
  readonly #options: ExecutionOptions
  #interruption: LorekeepError | undefined
  #step: RunningStep | undefined
  /** The step's function, which may go on after it was given up. */
  #work: Promise<unknown> = Promise.resolve()

  constructor(options: ExecutionOptions) {
    this.#options = options
  }

  /** Resolves when the job is settled. @throws LorekeepError `LK_STORAGE_*` where that failed */
  async run(): Promise<void> {
    const { queue, claimed, steps } = this.#options
    try {
      await this.#runSteps()
      await queue.complete(
        claimed,
        steps.map(({ name }) => name),
      )
    } catch (error) {
      await this.#settle(error)
    }
  }

  interrupt(why: Interruption): void {
    this.#interruption ??=
      why === 'lost'
        ? new LorekeepError('LK_LEASE_LOST', 'its lease ran out, or it was cancelled')
        : new LorekeepError('LK_CLOSED', 'the runner was stopped')
    this.#step?.giveUp(this.#interruption)
  }

  get isInterrupted(): boolean {
    return this.#interruption !== undefined
  }

  /** Resolves when nothing of it runs any more, its abandoned step included. */
  async ended(): Promise<void> {
    await this.#work.catch(() => {})
  }

  async #runSteps(): Promise<void> {
    const { queue, claimed, steps } = this.#options
    const { number, record } = claimed
    const document = documentOf(claimed)
    // A flow may have been given other steps since.
    const isSame = record.steps.every((name, place) => name === steps[place]?.name)
    let place = isSame ? Math.min(record.steps.length, steps.length - 1) : 0
    let input: unknown = document
    if (place > 0) {
      const recorded = await queue.output(number, place - 1)
      if (recorded === undefined) place = 0
      else input = deserialize(recorded)
    }
    for (; place < steps.length; place++) {
      // place < length
      const step = steps[place] as Step
      const output = await this.#runStep(step, input, document)
      if (place === steps.length - 1) return
      const names = steps.slice(0, place + 1).map(({ name }) => name)
      await queue.record(claimed, names, encode(step, output))
      input = output
    }
  }

  async #runStep(step: Step, input: unknown, document: FlowDocument): Promise<unknown> {
    const { clock, flow, claimed } = this.#options
    const running = new RunningStep(step.name, document, this.#options)
    this.#step = running
    if (this.#interruption !== undefined) throw this.#interruption
    const timeoutMs = step.timeoutMs ?? flow.stepTimeoutMs
    const cancel = clock.after(timeoutMs, () => {
      const detail = `'${step.name}' of job ${claimed.record.id} was given up after ${timeoutMs} ms`
      running.giveUp(new LorekeepError('LK_STEP_TIMEOUT', detail))
    })
    try {
      return await new Promise((resolve, reject) => {
        running.onGivenUp = reject
        this.#work = (async () => step.run(input, running))()
        this.#work.then(resolve, reject)
      })
    } finally {
      cancel()
      running.isOver = true
    }
  }

  async #settle(error: unknown): Promise<void> {
    const { queue, claimed, clock } = this.#options
    const failure = this.#failureOf(error)
    try {
      if (isCode(error, 'LK_LEASE_LOST')) return
      if (failure.cause === 'released') await queue.release(claimed, failure)
      else {
        const wait = error instanceof LorekeepError ? error.details['retryAfterMs'] : undefined
        await queue.fail(claimed, failure, {
          mayRetry: !isCode(error, 'LK_STEP_UNRECOVERABLE'),
          ...(Number.isFinite(wait) && {
            notBefore: clock.now() + Math.min(Math.max(Math.ceil(Number(wait)), 0), maxWaitMs),
          }),
        })
      }
    } catch (thrown) {
      // Whoever has it now says what becomes of it.
      if (!isCode(thrown, 'LK_LEASE_LOST')) throw thrown
    }
  }

  #failureOf(error: unknown): JobFailure {
    const { claimed, clock } = this.#options
    const message: unknown = error instanceof Error ? error.message : inspect(error)
    return {
      at: new Date(clock.now()).toISOString(),
      attempt: claimed.record.attempts,
      step: this.#step?.name ?? '',
      cause: this.isInterrupted
        ? 'released'
        : isCode(error, 'LK_STEP_TIMEOUT')
          ? 'timeout'
          : 'failed',
      ...(error instanceof LorekeepError && { code: error.code }),
      message: String(message).slice(0, maxMessageLength).toWellFormed(),
    }
  }
}

/** What a step is given of its surroundings. */
class RunningStep implements StepContext {
  readonly name: string
  readonly document: FlowDocument
  onGivenUp: (reason: Error) => void = () => {}
  isOver = false
  readonly #options: ExecutionOptions
  #controller: AbortController | undefined
  #reason: Error | undefined

  constructor(name: string, document: FlowDocument, options: ExecutionOptions) {
    this.name = name
    this.document = document
    this.#options = options
  }

  get job(): string {
    return this.#options.claimed.record.id
  }

  get flow(): string {
    return this.#options.flow.id
  }

  get attempt(): number {
    return this.#options.claimed.record.attempts
  }

  get knowledge(): StepContext['knowledge'] {
    return this.#options.stores.knowledge
  }

  get objects(): StepContext['objects'] {
    return this.#options.stores.objects
  }

  // Made when it is asked for: one costs 4 us, a tenth of all that a step without work takes.
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    return this.#controller.signal
  }

  readonly progress = (done: number, total: number): void => {
    if (!this.isOver) this.#options.onProgress(this.name, done, total)
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

function documentOf({ document: stored }: Claimed): FlowDocument {
  const { document: id, user, collection, metadata, text } = stored
  return { id, user, collection, metadata, text: decoder.decode(text) }
}

function encode(step: Step, output: unknown): Uint8Array {
  try {
    return serialize(output)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const detail = `what '${step.name}' returned cannot be recorded: ${reason}`
    throw new LorekeepError('LK_STEP_OUTPUT', detail, { cause })
  }
}

function isCode(error: unknown, code: LorekeepError['code']): boolean {
  return error instanceof LorekeepError && error.code === code
}
