// Fast-check commands over two queues on one storage and their model, on virtual time.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { serialize } from 'node:v8'
import { join } from 'node:path'
import fc from 'fast-check'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import type { JobQueue } from '../../src/flow/queue/queue.js'
import type { JobFailure } from '../../src/flow/types.js'
import type { Storage } from '../../src/storage.js'
import { flowProblems } from '../fixtures/problems.js'
import { documentOf, flowOf, jobsOf, leaseMs, openQueue } from '../flow/queue/queues.js'
import { VirtualClock } from '../flow/virtual-clock.js'
import { FlowModel, fraction, stepNames, type ModelJob } from './flows-model.js'

/** How often what came of which kind of command. */
type Tally = Record<string, number>

const firstFlow = flowOf('f', { maxAttempts: 3, minDelayMs: 1000, maxDelayMs: 6000, keepDone: 4 })
const secondFlow = flowOf('g', { maxAttempts: 2, minDelayMs: 500, maxQueued: 5 })
const flowIds = ['f', 'g', 'none'] as const
const users = ['u0', 'u1', 'u2'] as const
const output = serialize('output')
let tokens = 0

class Real {
  readonly clock = new VirtualClock()
  readonly queues: JobQueue[] = []
  readonly storage: Storage
  /** Of every claim there was: number and token. */
  readonly holds: { readonly number: number; readonly token: string; readonly id: string }[] = []

  constructor(storage: Storage) {
    this.storage = storage
  }

  async open(place: number): Promise<void> {
    const { clock } = this
    const chance = { fraction: () => fraction, token: () => `held${++tokens}` }
    this.queues[place] = await openQueue(this.storage, { clock, chance, firstFlow })
  }
}

interface Act {
  readonly type: keyof typeof acts
  /** Which of the queues. */
  readonly queue: number
  readonly flow: number
  readonly user: number
  readonly pick: number
  readonly size: number
}

type Perform = (queue: JobQueue, model: FlowModel, real: Real, act: Act) => Promise<string>

const acts = {
  load: async (queue, model, _, { flow, user, pick, size }) => {
    const id = flowIds[flow] as string
    const loads = Array.from({ length: size }, (_, n) => {
      const document = documentOf(`d${(pick + n) % 7}`, users[(user + n) % 3])
      return coded(queue.load(id, document)).then((result) => ({ document, result }))
    })
    let code = ''
    for (const { document, result } of await Promise.all(loads)) {
      code = model.refusal(id)
      assert.equal(result.code, code)
      if (result.value !== undefined) model.load(result.value, id, document.user, document.id)
    }
    return code
  },
  claim: async (queue, model, { clock, holds }, { flow, size }) => {
    const id = flowIds[flow] as string
    // Without a look at what others wrote, a claim may find too little, and never too much.
    const isFresh = size > 2
    if (isFresh) await queue.refresh()
    let left = size
    for (;;) {
      const { jobs, more } = await queue.claim(id, left)
      model.claim(id, left, jobs, clock.now())
      holds.push(...jobs.map(({ number, token, record }) => ({ number, token, id: record.id })))
      left -= jobs.length
      if (left === 0 || !more) break
    }
    const missed = model.flows.get(id)?.active === true ? model.eligible(id, clock.now()) : []
    if (isFresh && left > 0) assert.deepEqual(missed, [], 'there was more to claim')
    return left === size ? 'nothing' : 'some'
  },
  renew: async (queue, model, real, act) =>
    withHold(
      model,
      real,
      act,
      (hold) => queue.renew(hold),
      (job) => {
        job.deadline = real.clock.now() + leaseMs
      },
    ),
  record: async (queue, model, real, act) => {
    const { id } = holdOf(model, real, act) ?? {}
    const job = id === undefined ? undefined : model.jobs.get(id)
    const steps = stepNames.slice(0, Math.min((job?.steps.length ?? 0) + 1, 2))
    return withHold(
      model,
      real,
      act,
      (hold) => queue.record(hold, steps, output),
      (job) => {
        job.steps = steps
        job.deadline = real.clock.now() + leaseMs
      },
    )
  },
  complete: async (queue, model, real, act) =>
    withHold(
      model,
      real,
      act,
      (hold) => queue.complete(hold, stepNames),
      (job) => model.complete(job),
    ),
  fail: async (queue, model, real, act) => {
    const mayRetry = act.size > 1
    const { clock } = real
    const perform = (hold: Hold) => queue.fail(hold, failure('failed'), { mayRetry })
    return withHold(model, real, act, perform, (job) => {
      model.fail(job, 'failed', clock.now(), mayRetry)
    })
  },
  release: async (queue, model, real, act) =>
    withHold(
      model,
      real,
      act,
      (hold) => queue.release(hold, failure('released')),
      (job) => {
        job.state = 'queued'
        job.attempts--
        job.failures = [...job.failures, 'released' as const].slice(-20)
      },
    ),
  wait: async (_, __, { clock }, { pick }) => {
    await clock.advance(pick * 300)
    return 'ok'
  },
  reap: async (queue, model, { clock }) => {
    await queue.refresh()
    const expected = model.reap(clock.now())
    assert.equal(await queue.reap(), expected)
    return expected > 0 ? 'some' : 'none'
  },
  retry: async (queue, model, _, act) => {
    const job = jobOf(model, act, ['dead', 'delayed'])
    if (job === undefined) return 'none'
    const { state } = job
    const { code } = await coded(queue.retry(job.id))
    assert.equal(code, state === 'dead' || state === 'delayed' ? 'ok' : 'LK_JOB_STATE')
    if (code !== 'ok') return code
    if (state === 'dead') job.attempts = 0
    job.state = 'queued'
    job.dueAt = undefined
    return state
  },
  cancel: async (queue, model, _, act) => {
    const job = jobOf(model, act, [])
    if (job === undefined) return 'none'
    const { code } = await coded(queue.cancel(job.id))
    assert.equal(code, job.state === 'done' ? 'LK_JOB_STATE' : 'ok')
    if (code !== 'ok') return code
    model.jobs.delete(job.id)
    assert.equal(await queue.job(job.id), undefined)
    return job.state
  },
  setActive: async (queue, model, _, { flow, size }) => {
    const id = flowIds[flow] as string
    // More often on than off.
    const active = size > 1
    const { code } = await coded(queue.setActive(id, active))
    const known = model.flows.get(id)
    assert.equal(code, known === undefined ? 'LK_FLOW_NOT_FOUND' : 'ok')
    if (known !== undefined) model.flows.set(id, { ...known, active })
    return code
  },
  reopen: async (_, __, real, { queue }) => {
    await real.open(queue)
    return 'ok'
  },
  // So many at once that records of done jobs go.
  bulk: async (queue, model, { clock }, { pick }) => {
    // It empties the queue: not too often.
    if (!model.flow('f').active || pick % 8 > 0) return 'none'
    const documents = Array.from({ length: 150 }, (_, n) => documentOf(`bulk${n}`, `v${n % 7}`))
    const ids = await Promise.all(documents.map((document) => queue.load('f', document)))
    for (const [n, { user, id }] of documents.entries()) model.load(ids[n] as string, 'f', user, id)
    await queue.refresh()
    for (;;) {
      const { jobs, more } = await queue.claim('f', 16)
      model.claim('f', 16, jobs, clock.now())
      for (const job of jobs) await queue.complete(job, stepNames)
      for (const { record } of jobs) model.complete(model.jobs.get(record.id) as ModelJob)
      if (jobs.length === 0 && !more) break
    }
    // Older loads that were superseded on the way are known from the record alone.
    model.compare('f', await jobsOf(queue, { flow: 'f' }), clock.now())
    model.order('f', await jobsOf(queue, { flow: 'f', state: 'done' }))
    await queue.prune('f')
    return 'ok'
  },
} satisfies Record<string, Perform>

type Hold = Real['holds'][number]

class Command implements fc.AsyncCommand<FlowModel, Real> {
  readonly act: Act
  readonly tally: Tally

  constructor(act: Act, tally: Tally) {
    this.act = act
    this.tally = tally
  }

  check = () => true

  async run(model: FlowModel, real: Real): Promise<void> {
    const { type, queue } = this.act
    const perform: Perform = acts[type]
    const outcome = await perform(real.queues[queue] as JobQueue, model, real, this.act)
    const name = `${type} ${outcome}`
    this.tally[name] = (this.tally[name] ?? 0) + 1
    await check(model, real, (queue + 1) % real.queues.length)
  }

  toString = () => JSON.stringify(this.act)
}

/** A look at everything, with the eyes of one of the queues. */
async function check(model: FlowModel, { queues, clock, storage }: Real, n: number): Promise<void> {
  const queue = queues[n] as JobQueue
  // The other one stays as it is: it has to notice by itself.
  const observer = n === 0 ? queue : await openQueue(storage, { clock, firstFlow })
  await observer.refresh()
  for (const { id } of observer.flows()) {
    model.compare(id, await jobsOf(observer, { flow: id }), clock.now())
    assert.deepEqual(observer.stats(id), model.stats(id), `stats of ${id}`)
  }
  assert.deepEqual(await flowProblems(storage), [])
}

const types = Object.keys(acts) as (keyof typeof acts)[]
const often = [
  'load',
  'load',
  'load',
  'claim',
  'claim',
  'claim',
  'complete',
  'fail',
  'wait',
  'reap',
]

export async function flowModelRuns(options: {
  readonly engine: 'memory' | 'level'
  readonly runs: number
  readonly seed: number
}): Promise<{ readonly steps: number; readonly tally: Tally }> {
  const { engine, runs, seed } = options
  const tally: Tally = {}
  const act = fc.record({
    type: fc.constantFrom(
      ...types,
      ...types.filter((type) => type !== 'bulk'),
      ...(often as 'load'[]),
    ),
    queue: fc.nat({ max: 1 }),
    flow: fc.constantFrom(0, 0, 0, 0, 1, 1, 2),
    user: fc.nat({ max: 2 }),
    pick: fc.nat({ max: 40 }),
    size: fc.integer({ min: 1, max: 6 }),
  })
  const commands = act.map((act) => new Command(act, tally))
  await fc.assert(
    fc.asyncProperty(
      fc.commands([commands], { maxCommands: 60, size: 'max' }),
      async (sequence) => {
        const directory = engine === 'level' ? mkdtempSync(join(tmpdir(), 'lorekeep-model-')) : ''
        const backend = engine === 'level' ? new LevelBackend(directory) : new MemoryBackend()
        try {
          const real = new Real(await backend.open('flows'))
          await real.open(0)
          await real.open(1)
          await (real.queues[0] as JobQueue).define(secondFlow)
          const model = new FlowModel([firstFlow, secondFlow], leaseMs)
          for (let n = 0; n < 10; n++) {
            const begun: Act = {
              type: 'load',
              queue: 0,
              flow: n % 2,
              user: n,
              pick: n * 3,
              size: 2,
            }
            await acts.load(real.queues[n % 2] as JobQueue, model, real, begun)
          }
          await fc.asyncModelRun(() => ({ model, real }), sequence)
        } finally {
          await backend.close()
          if (directory) rmSync(directory, { recursive: true })
        }
      },
    ),
    { seed: seed | 0, numRuns: runs },
  )
  return { steps: Object.values(tally).reduce((sum, n) => sum + n, 0), tally }
}

function holdOf(model: FlowModel, { holds }: Real, { pick }: Act): Hold | undefined {
  const live = holds.filter(({ token }) => model.held(token) !== undefined)
  const some = live.length > 0 && pick % 4 > 0 ? live : holds.slice(-12)
  return some[pick % (some.length || 1)]
}

/** Settles a job that a token holds, or held: then that is refused. */
async function withHold(
  model: FlowModel,
  real: Real,
  act: Act,
  perform: (hold: Hold) => Promise<void>,
  change: (job: ModelJob) => void,
): Promise<string> {
  const hold = holdOf(model, real, act)
  if (hold === undefined) return 'none'
  const { code } = await coded(perform(hold))
  const job = model.held(hold.token)
  assert.equal(code, job === undefined ? 'LK_LEASE_LOST' : 'ok')
  if (job !== undefined) change(job)
  return code
}

function jobOf(model: FlowModel, { pick }: Act, states: readonly string[]): ModelJob | undefined {
  const jobs = [...model.jobs.values()]
  const wanted = jobs.filter(({ state }) => states.includes(state))
  const some = wanted.length > 0 && pick % 4 > 0 ? wanted : jobs
  return some[pick % (some.length || 1)]
}

const failure = (cause: JobFailure['cause']): JobFailure => ({
  ...{ at: new Date(0).toISOString(), attempt: 1, step: 'a', cause, message: 'on purpose' },
})

async function coded<T>(work: Promise<T>): Promise<{ readonly code: string; readonly value?: T }> {
  try {
    return { code: 'ok', value: await work }
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error
    return { code: error.code }
  }
}
