// Processes documents: as many of each flow at once as it allows, until it is stopped.

import { hasCode } from '../errors.js'
import type { Clock } from '../clock.js'
import { onlyCompute } from './definition.js'
import { Execution } from './execution.js'
import type { ExecutionOptions, Interruption } from './execution.js'
import { Turns } from '../turns.js'
import { Pace } from './pace.js'
import { Places } from './places.js'
import { noFlow } from './queue/jobs.js'
import type { Claimed, JobQueue } from './queue/queue.js'
import type { Flow, Runner, Step, StepContext } from './types.js'
import { checkOptions } from '../door/options.js'
import { aTimeout } from '../door/rules.js'

interface FlowRunnerOptions {
  readonly queue: JobQueue
  readonly clock: Clock
  readonly leaseMs: number
  /** For the steps of one delivery. */
  readonly storesFor: (claimed: Claimed) => Pick<StepContext, 'knowledge' | 'objects' | 'base'>
  readonly readFile: ExecutionOptions['readFile']
  /** What runs in this process, of all runners: until its end, also where it was given up. */
  readonly running: Set<Delivery>
  /** Some of it has come to its end. */
  readonly onEnded: () => void
  /** The flows that it is for; undefined: all. */
  readonly flows?: ReadonlySet<string> | undefined
  /** The steps of a flow; `undefined` where some are of code that this process has not. */
  readonly stepsOf: (flow: Flow) => readonly Step[] | undefined
  readonly onProgress: (claimed: Claimed, step: string, done: number, total: number) => void
  /** A step is through, and nothing of it is written. */
  readonly onStep: (claimed: Claimed, step: string) => void
  /** May not throw. */
  readonly onError: (error: unknown) => void
  readonly onStopped: () => void
}

export interface Delivery {
  readonly claimed: Claimed
  readonly flow: string
  readonly execution: Execution
  /** When it was claimed, of the clock's elapsed(). */
  readonly claimedAt: number
}

/** How soon what other processes queue is found, and how soon storage that failed is tried again. */
const pollMs = 1000
const defaultStopMs = 10_000

// Steps that only compute gain nothing from many large documents at once, and hold some forty times
// their texts: beyond a few, only small ones are taken, and not many before their sizes are known.
const fewDocuments = 4
const largeBytes = 1024 * 1024
const takenAtOnce = 8

const stopOptions = { timeoutMs: aTimeout }

export class FlowRunner implements Runner {
  readonly #options: FlowRunnerOptions
  readonly #deliveries = new Set<Delivery>()
  readonly #counts = new Map<string, number>()
  /** Of the documents that are counted. */
  readonly #bytes = new Map<string, number>()
  readonly #paces = new Map<string, Pace>()
  readonly #places = new Map<string, Places>()
  /** Claimed ahead of those that run. */
  readonly #waiting = new Set<Execution>()
  readonly #claiming = new Set<string>()
  /** Flows that something came for while they were being claimed from. */
  readonly #again = new Set<string>()
  readonly #timers = new Map<string, () => void>()
  /** Flows that were asked for by name, and not seen so far. */
  #missing: readonly string[]
  #renewAt: number
  #stopping: Promise<void> | undefined
  #isOutOfPatience = false
  #isPolling = false
  #pollAgain = false
  /** Then the next one is that of the next beat, or of somebody who speaks. */
  #hasPollFailed = false
  #idle: (() => void) | undefined

  constructor(options: FlowRunnerOptions) {
    this.#options = options
    this.#missing = [...(options.flows ?? [])]
    this.#renewAt = options.clock.elapsed() + options.leaseMs / 3
    this.#startTimer('beat', Math.min(options.leaseMs / 3, pollMs), () => this.#beat())
  }

  begin(): void {
    const { queue, onError } = this.#options
    const wakeAll = () => this.wake(queue.flows().map(({ id }) => id))
    wakeAll()
    // What others have loaded may not be known here.
    if (queue.isShared) queue.refresh().then(wakeAll, onError)
  }

  /** Something may be there to claim in these flows. */
  wake(ids: Iterable<string>): void {
    const { flows } = this.#options
    for (const id of ids) if (flows === undefined || flows.has(id)) void this.#claimFrom(id)
  }

  /** Breaks off what runs here of these jobs. */
  interrupt(numbers: readonly number[], why: Interruption): void {
    for (const { claimed, execution } of this.#deliveries) {
      if (numbers.includes(claimed.number)) execution.interrupt(why)
    }
  }

  /** Others have made these flows such that something can be claimed, and have taken these jobs away. */
  noticeOthers(flows: readonly string[], cancelled: readonly number[]): void {
    const { queue } = this.#options
    const isMine = [...this.#deliveries].some(({ claimed }) => cancelled.includes(claimed.number))
    const mayClaim = flows.some((id) => {
      if (this.#options.flows?.has(id) === false) return false
      const flow = queue.flow(id)
      return flow === undefined || this.#room(flow) > 0
    })
    if (isMine || mayClaim) void this.#poll()
  }

  stop(options: { readonly timeoutMs?: number } = {}): Promise<void> {
    const { timeoutMs = defaultStopMs } = checkOptions('stop()', options, stopOptions)
    this.#stopping ??= this.#stop()
    // The least patient of all who stop it counts.
    const cancel = this.#options.clock.after(timeoutMs, () => {
      this.#isOutOfPatience = true
      for (const { execution } of this.#deliveries) execution.interrupt('stopped')
    })
    return this.#stopping.finally(cancel)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #stop(): Promise<void> {
    // Others go on with what was not begun.
    for (const execution of this.#waiting) execution.interrupt('stopped')
    while (this.#deliveries.size > 0 || this.#claiming.size > 0) {
      await new Promise<void>((resolve) => (this.#idle = resolve))
    }
    for (const cancelTimer of this.#timers.values()) cancelTimer()
    this.#options.onStopped()
  }

  /** Claims until nothing is left, or as much runs as may run. One at a time for each flow. */
  async #claimFrom(id: string): Promise<void> {
    this.#again.add(id)
    if (this.#claiming.has(id)) return
    this.#claiming.add(id)
    try {
      // Steps that end in one turn are followed by as many, claimed together.
      await undefined
      // A storage in memory answers within the turn of the event loop, in which nobody else has one.
      const turns = new Turns(undefined)
      while (this.#again.delete(id) && this.#stopping === undefined) {
        await this.#claimOnce(id)
        await turns.pass()
      }
      this.#waitForDue(id)
    } catch (error) {
      this.#options.onError(error)
      this.#startTimer(`due ${id}`, pollMs, () => this.wake([id]))
    } finally {
      this.#claiming.delete(id)
      this.#noticeIdle()
    }
  }

  async #claimOnce(id: string): Promise<void> {
    const { queue, clock, stepsOf } = this.#options
    const flow = queue.flow(id)
    if (flow === undefined || !flow.active) return
    const free = this.#room(flow)
    const queued = queue.stats(id)?.queued ?? 0
    if (free <= 0) return
    if (queued === 0 && queue.nextDue(id) > clock.now()) {
      if (queue.mayHavePosts && !this.#hasPollFailed) void this.#poll()
      return
    }
    const steps = stepsOf(flow)
    if (steps === undefined) return
    const since = clock.elapsed()
    // As many as there is room for when its turn has come.
    const { jobs, more } = await queue.claim(id, () => this.#roomOf(id))
    this.#paceOf(id).claimed(clock.elapsed() - since)
    for (const claimed of jobs) void this.#deliver(claimed, flow, steps)
    if (more) this.#again.add(id)
  }

  #roomOf(id: string): number {
    const flow = this.#options.queue.flow(id)
    return flow === undefined || this.#stopping !== undefined ? 0 : this.#room(flow)
  }

  #room({ id, steps, concurrency }: Flow): number {
    const count = this.#counts.get(id) ?? 0
    const free = concurrency - count
    if (!onlyCompute(steps)) {
      // Who is alone with the storage claims in no time.
      return this.#options.queue.isShared ? free + this.#paceOf(id).ahead(concurrency) : free
    }
    const isLarge = (this.#bytes.get(id) ?? 0) >= largeBytes
    return Math.min(free, isLarge ? fewDocuments - count : takenAtOnce)
  }

  #paceOf(id: string): Pace {
    const pace = this.#paces.get(id) ?? new Pace()
    this.#paces.set(id, pace)
    return pace
  }

  #placesOf(id: string): Places {
    const places = this.#places.get(id) ?? new Places()
    this.#places.set(id, places)
    return places
  }

  #count({ flow, claimed }: Delivery, sign: 1 | -1): void {
    const bytes = claimed.document.text.byteLength
    this.#counts.set(flow, (this.#counts.get(flow) ?? 0) + sign)
    this.#bytes.set(flow, (this.#bytes.get(flow) ?? 0) + sign * bytes)
  }

  async #deliver(claimed: Claimed, flow: Flow, steps: readonly Step[]): Promise<void> {
    const { queue, clock, running, storesFor, readFile } = this.#options
    const { onProgress, onStep, onError } = this.#options
    const execution = new Execution({
      queue,
      clock,
      flow,
      steps,
      claimed,
      stores: storesFor(claimed),
      readFile,
      onProgress: (step, done, total) => onProgress(claimed, step, done, total),
      onStep: (step) => onStep(claimed, step),
      // The next one is claimed while this one's end is written: both share a commit.
      onStepsEnded: () => {
        places.leave()
        this.#paceOf(flow.id).ended(clock.elapsed() - since)
        this.#count(delivery, -1)
        this.wake([flow.id])
      },
    })
    const delivery = { claimed, flow: flow.id, execution, claimedAt: clock.elapsed() }
    this.#deliveries.add(delivery)
    running.add(delivery)
    this.#count(delivery, 1)
    const places = this.#placesOf(flow.id)
    const place = places.take(flow.concurrency)
    if (place !== undefined) {
      this.#waiting.add(execution)
      execution.onInterrupted = place.go
      if (this.#stopping !== undefined) execution.interrupt('stopped')
      await place.had
      this.#waiting.delete(execution)
    }
    const since = clock.elapsed()
    // It may have been taken away before anybody knew that it runs here.
    if (!queue.holds(claimed)) execution.interrupt('lost')
    if (this.#isOutOfPatience) execution.interrupt('stopped')
    try {
      await execution.run()
    } catch (error) {
      // Nothing could be written of it: when its lease has run out, it is delivered again.
      onError(error)
    } finally {
      this.#deliveries.delete(delivery)
      void execution.ended().then(() => {
        running.delete(delivery)
        this.#options.onEnded()
      })
      this.#noticeIdle()
      queue.prune(flow.id).catch(onError)
    }
  }

  #waitForDue(id: string): void {
    const { queue, clock } = this.#options
    const due = queue.nextDue(id)
    // What is due and was not claimed waits for a delivery to end, or for its flow: both wake us.
    if (due === Infinity || due <= clock.now() || this.#stopping !== undefined) return
    this.#startTimer(`due ${id}`, due - clock.now(), () => this.wake([id]))
  }

  #beat(): void {
    this.#startTimer('beat', this.#beatMs, () => this.#beat())
    this.#renew()
    void this.#poll()
  }

  get #beatMs(): number {
    return Math.min(this.#options.leaseMs / 3, pollMs)
  }

  #renew(): void {
    const { queue, clock, leaseMs, onError } = this.#options
    const now = clock.elapsed()
    if (now < this.#renewAt) return
    this.#renewAt = now + leaseMs / 3
    // A renewal waits for a beat.
    const nextMs = leaseMs / 3 + this.#beatMs
    for (const { claimed, execution, claimedAt } of this.#deliveries) {
      // The next one comes while half of its lease is left. Most end before, and a renewal would come behind that.
      if (now - claimedAt + nextMs <= leaseMs / 2) continue
      queue.renew(claimed).catch((error: unknown) => {
        if (hasCode(error, 'LK_LEASE_LOST')) execution.interrupt('lost')
        else {
          // With the next beat, before what has lapsed is taken back.
          this.#renewAt = clock.elapsed()
          onError(error)
        }
      })
    }
  }

  /** What others have left or brought, in this process or another. One look at a time, and one behind it. */
  async #poll(): Promise<void> {
    if (this.#isPolling) {
      this.#pollAgain = true
      return
    }
    this.#isPolling = true
    do {
      this.#pollAgain = false
      await this.#pollOnce()
    } while (this.#pollAgain && this.#stopping === undefined)
    this.#isPolling = false
  }

  async #pollOnce(): Promise<void> {
    const { queue, onError } = this.#options
    try {
      await queue.refresh()
      for (const { claimed, execution } of this.#deliveries) {
        if (execution.isWorking && !queue.holds(claimed)) execution.interrupt('lost')
      }
      // Behind the renewals of this very moment, which come first.
      await queue.reap()
      await queue.endWaits()
      this.#hasPollFailed = false
    } catch (error) {
      this.#hasPollFailed = true
      onError(error)
    }
    this.#tellMissing()
    this.wake(queue.flows().map(({ id }) => id))
  }

  /** Once, and not at the call: a flow may be defined right behind it. */
  #tellMissing(): void {
    const [first, ...others] = this.#missing.filter((id) => {
      return this.#options.queue.flow(id) === undefined
    })
    this.#missing = []
    if (first === undefined) return
    const also = others.map((id) => `, '${id}'`).join('')
    // One for all: of several at once, not each would be told.
    this.#options.onError(noFlow(first, `${also}: run() waits until it is defined`))
  }

  #noticeIdle(): void {
    this.#idle?.()
  }

  #startTimer(name: string, delayMs: number, call: () => void): void {
    this.#timers.get(name)?.()
    this.#timers.set(name, this.#options.clock.after(delayMs, call))
  }
}
