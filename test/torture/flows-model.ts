// What the queue of flows does, as plain loops over a list of jobs; and what it may not do.

import assert from 'node:assert/strict'
import { backoff } from '../../src/flow/queue/backoff.js'
import { numberIn } from '../../src/flow/queue/block.js'
import type { Claimed } from '../../src/flow/queue/queue.js'
import type { Flow, FlowStats, Job, JobFailure, JobState } from '../../src/flow/types.js'

export interface ModelJob {
  readonly id: string
  /** Of its place in the order of all. */
  readonly number: number
  readonly flow: string
  readonly user: string
  readonly document: string
  state: JobState
  attempts: number
  steps: readonly string[]
  failures: readonly JobFailure['cause'][]
  token?: string | undefined
  /** Another one with each renewal; and when it was. */
  beat: number
  beatAt: number
  dueAt?: number | undefined
  superseded?: true
}

/** Between half and all of the longest wait. */
export const fraction = 0.5
export const stepNames = ['a', 'b', 'c']

export class FlowModel {
  readonly jobs = new Map<string, ModelJob>()
  readonly flows: Map<string, Flow>
  /** The newest load of a document that was completed. */
  readonly latest = new Map<string, number>()
  /** Of each flow, in order of completion; records of the first ones may be gone. */
  readonly done = new Map<string, string[]>()
  readonly leaseMs: number

  constructor(flows: readonly Flow[], leaseMs: number) {
    this.flows = new Map(flows.map((flow) => [flow.id, flow]))
    this.leaseMs = leaseMs
  }

  flow(id: string): Flow {
    const flow = this.flows.get(id)
    assert.ok(flow)
    return flow
  }

  /** Why a load is refused; `ok` where it is not. */
  refusal(id: string): string {
    const flow = this.flows.get(id)
    if (flow === undefined) return 'LK_FLOW_NOT_FOUND'
    if (!flow.active) return 'LK_FLOW_INACTIVE'
    const { queued, delayed } = this.stats(id)
    return queued + delayed >= flow.maxQueued ? 'LK_FLOW_FULL' : 'ok'
  }

  load(id: string, flow: string, user: string, document: string): void {
    const number = numberIn(id)
    assert.ok(number !== undefined && !this.jobs.has(id), `${id} is given twice`)
    const fresh = {
      state: 'queued',
      attempts: 0,
      steps: [],
      failures: [],
      beat: 0,
      beatAt: 0,
    } as const
    this.jobs.set(id, { id, number, flow, user, document, ...fresh })
  }

  /** Checks what a claim brought, and takes it over. */
  claim(
    flow: string,
    turns: number,
    claimed: readonly Claimed[],
    { now, elapsed }: { readonly now: number; readonly elapsed: number },
  ): void {
    assert.ok(claimed.length <= turns, 'more than was asked for')
    if (claimed.length > 0) assert.ok(this.flow(flow).active, `${flow} is stopped`)
    for (const { number, token, record, document } of claimed) {
      const job = this.jobs.get(record.id)
      assert.ok(job, `${record.id} was never accepted, or cancelled`)
      assert.equal(number, job.number)
      const isDue = job.state === 'delayed' && (job.dueAt ?? 0) <= now
      assert.ok(job.state === 'queued' || isDue, `${job.id} is ${job.state}, and was delivered`)
      assert.ok(!this.isBusy(job), `${job.document} is under way twice`)
      assert.ok(!this.isSuperseded(job), `${job.id} is delivered behind a newer one`)
      const earlier = this.eligible(flow, now).filter((other) => {
        const { user, number } = other
        return user === job.user && number < job.number && !this.isBehindSuperseded(other)
      })
      assert.deepEqual(earlier, [], `${job.id} goes before others of ${job.user}`)
      assert.equal(Buffer.from(document.text).toString(), `text of ${job.document}`)
      assert.equal(document.document, job.document)
      job.state = 'active'
      job.attempts++
      job.dueAt = undefined
      job.token = token
      this.beat(job, elapsed)
      assert.equal(record.attempts, job.attempts)
      assert.ok(job.attempts <= this.flow(flow).maxAttempts, `${job.id}: ${job.attempts} attempts`)
      const again = job.attempts > 1 || job.failures.length > 0
      assert.equal(record.failures.length > 0, again, `${job.id} comes again and nothing says why`)
    }
  }

  /** Jobs that could be claimed, but for those whose document is busy. */
  eligible(flow: string, now: number): ModelJob[] {
    return [...this.jobs.values()].filter((job) => {
      if (job.flow !== flow || this.isBusy(job) || this.isSuperseded(job)) return false
      return job.state === 'queued' || (job.state === 'delayed' && (job.dueAt ?? 0) <= now)
    })
  }

  isBusy({ user, document }: ModelJob): boolean {
    return [...this.jobs.values()].some((job) => {
      return job.state === 'active' && job.user === user && job.document === document
    })
  }

  isSuperseded({ user, document, number }: ModelJob): boolean {
    return (this.latest.get(`${user} ${document}`) ?? 0) > number
  }

  /** A claim that finds a load superseded may leave the one behind it, of the same document, to the next claim. */
  isBehindSuperseded({ flow, user, document, number }: ModelJob): boolean {
    return [...this.jobs.values()].some((job) => {
      const isWaiting = job.state === 'queued' || job.state === 'delayed'
      const isOlder = job.user === user && job.document === document && job.number < number
      return isWaiting && isOlder && job.flow === flow && this.isSuperseded(job)
    })
  }

  /** The job that a token holds. */
  held(token: string): ModelJob | undefined {
    const jobs = [...this.jobs.values()]
    return jobs.find((job) => job.state === 'active' && job.token === token)
  }

  complete(job: ModelJob): void {
    const name = `${job.user} ${job.document}`
    assert.ok(!this.isSuperseded(job), `${job.id} writes behind a newer one`)
    this.latest.set(name, job.number)
    this.finish(job)
    job.steps = stepNames
  }

  finish(job: ModelJob): void {
    job.state = 'done'
    job.dueAt = undefined
    this.done.set(job.flow, [...(this.done.get(job.flow) ?? []), job.id])
  }

  fail(job: ModelJob, cause: JobFailure['cause'], now: number, mayRetry = true): void {
    const flow = this.flow(job.flow)
    job.failures = [...job.failures, cause].slice(-20)
    if (!mayRetry || job.attempts >= flow.maxAttempts) job.state = 'dead'
    else {
      job.state = 'delayed'
      job.dueAt = now + backoff(flow, job.attempts, fraction)
    }
  }

  beat(job: ModelJob, elapsed: number): void {
    job.beat++
    job.beatAt = elapsed
  }

  get active(): ModelJob[] {
    return [...this.jobs.values()].filter(({ state }) => state === 'active')
  }

  stats(flow: string): FlowStats {
    const stats = { queued: 0, active: 0, delayed: 0, done: 0, dead: 0 }
    for (const job of this.jobs.values()) if (job.flow === flow) stats[job.state]++
    return { ...stats, done: this.done.get(flow)?.length ?? 0 }
  }

  /** Compares with all jobs on record. A claim may have changed what nobody was told of. */
  compare(flow: string, found: readonly Job[], now: number): void {
    const expected = new Map([...this.jobs].filter(([, job]) => job.flow === flow))
    for (const job of found) {
      const model = expected.get(job.id)
      assert.ok(model, `${job.id} is there, and should not be`)
      expected.delete(job.id)
      if (job.superseded === true && model.superseded !== true) {
        assert.ok(this.isSuperseded(model), `${job.id} is superseded by nothing`)
        this.finish(model)
        model.superseded = true
      }
      if (job.state === 'queued' && model.state === 'delayed' && (model.dueAt ?? 0) <= now) {
        model.state = 'queued'
        model.dueAt = undefined
      }
      const { state, attempts, superseded } = job
      const due = job.dueAt === undefined ? undefined : Date.parse(job.dueAt)
      const causes = job.failures.map(({ cause }) => cause)
      assert.deepEqual(
        { state, attempts, steps: [...job.completedSteps], causes, due, superseded },
        {
          ...{ state: model.state, attempts: model.attempts, steps: [...model.steps] },
          ...{ causes: model.failures, due: model.dueAt, superseded: model.superseded },
        },
        `${job.id} of ${flow}`,
      )
    }
    // Records of done jobs go, the oldest first.
    const order = this.done.get(flow) ?? []
    const missing = [...expected.keys()]
    const oldest = order.filter((id) => this.jobs.has(id)).slice(0, missing.length)
    assert.deepEqual(missing.toSorted(), oldest.toSorted(), `jobs of ${flow} are lost`)
    for (const id of missing) this.jobs.delete(id)
  }
}
