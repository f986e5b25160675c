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
import type { ChangePlace, JobChange } from '../../src/flow/queue/job-changes.js'
import type { JobSearch } from '../../src/flow/queue/job-search.js'
import type { JobQueue } from '../../src/flow/queue/queue.js'
import type { Job, JobFailure, JobState } from '../../src/flow/types.js'
import type { Backend, Storage } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
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

/** What the clocks of the queues are ahead of each other: minutes. */
const aheadMs = [0, 60_000, -60_000, 30_000]

class Real {
  readonly clock = new VirtualClock()
  readonly clocks = aheadMs.map((ms) => this.clock.shifted(ms))
  readonly queues: JobQueue[] = []
  readonly storages: readonly Storage[]
  /** Of every claim there was: number and token. */
  readonly holds: { readonly number: number; readonly token: string; readonly id: string }[] = []
  /** Changes of all that match, which have more to do. */
  readonly begun: Partial<Record<JobChange, Begun>> = {}
  readonly #backends: readonly FaultyBackend[]
  readonly #seen: ReadonlyMap<string, number>[] = []

  /** One for each queue, which all have the same content. */
  constructor(storages: readonly Storage[], backends: readonly FaultyBackend[]) {
    this.storages = storages
    this.#backends = backends
  }

  backendOf(queue: JobQueue): FaultyBackend {
    return this.#backends[this.queues.indexOf(queue) % this.#backends.length]!
  }

  async open(place: number): Promise<void> {
    const clock = this.clocks[place]!
    const chance = { fraction: () => fraction, token: () => `held${++tokens}` }
    this.queues[place] = await openQueue(this.storages[place]!, { clock, chance, firstFlow })
    this.#seen[place] = new Map()
  }

  /** What is stored of a flow, as whoever opens it finds it. */
  async jobs(flow: string): Promise<Job[]> {
    const observer = await openQueue(this.storages[0]!, { clock: this.clock, firstFlow })
    return jobsOf(observer, { flow })
  }

  now(queue: JobQueue): number {
    return this.clocks[this.queues.indexOf(queue)]!.now()
  }

  /** The latest that any of them says it is. */
  get latest(): number {
    return Math.max(...this.queues.map((queue) => this.now(queue)))
  }

  /** A queue looks at all leases that there are: since when it has known each, at the latest. */
  async look(queue: JobQueue, model: FlowModel): Promise<ReadonlyMap<string, number>> {
    await queue.refresh()
    const place = this.queues.indexOf(queue)
    const seen = this.#seen[place]
    const known = model.active.map((job) => {
      return [leaseOf(job), seen?.get(leaseOf(job)) ?? this.clock.elapsed()] as const
    })
    return (this.#seen[place] = new Map(known))
  }
}

interface Begun {
  readonly search: JobSearch
  /** All jobs that there were. */
  readonly ids: ReadonlySet<string>
  readonly place: ChangePlace | undefined
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
  claim: async (queue, model, real, { flow, size }) => {
    const id = flowIds[flow] as string
    // Without a look at what others wrote, a claim may find too little, and never too much.
    const isFresh = size > 2
    if (isFresh) await real.look(queue, model)
    const now = real.now(queue)
    let left = size
    for (;;) {
      const { jobs, more } = await queue.claim(id, left)
      model.claim(id, left, jobs, { now, elapsed: real.clock.elapsed() })
      await tellSuperseded(model, real, id)
      real.holds.push(
        ...jobs.map(({ number, token, record }) => ({ number, token, id: record.id })),
      )
      left -= jobs.length
      if (left === 0 || !more) break
    }
    const missed = model.flows.get(id)?.active === true ? model.eligible(id, now) : []
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
        model.beat(job, real.clock.elapsed())
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
        model.beat(job, real.clock.elapsed())
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
    const perform = async (hold: Hold) => {
      await queue.fail(hold, failure('failed'), { mayRetry })
    }
    return withHold(model, real, act, perform, (job) => {
      model.fail(job, 'failed', real.now(queue), mayRetry)
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
  wait: async (queue, model, real, { pick }) => {
    await real.clock.advance(pick * 300)
    await real.look(queue, model)
    return 'ok'
  },
  reap: async (queue, model, real) => {
    const known = await real.look(queue, model)
    const { active } = model
    const count = await queue.reap()
    const elapsed = real.clock.elapsed()
    const left = await activeIn(queue)
    const reaped = active.filter(({ id }) => !left.has(id))
    assert.equal(reaped.length, count)
    for (const job of active) {
      const hasLapsed = elapsed - job.beatAt >= leaseMs
      const isKnownToHave = elapsed - known.get(leaseOf(job))! >= leaseMs
      assert.ok(left.has(job.id) || hasLapsed, `${job.id} was taken back too early`)
      assert.ok(!left.has(job.id) || !isKnownToHave, `${job.id} was not taken back`)
    }
    for (const job of reaped) model.fail(job, 'crashed', real.now(queue))
    return count > 0 ? 'some' : 'none'
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
  retryAll: async (queue, model, real, act) => {
    return changeSome('retry', queue, model, real, act, (job) => {
      if (job.state !== 'dead' && job.state !== 'delayed') return false
      if (job.state === 'dead') job.attempts = 0
      job.state = 'queued'
      job.dueAt = undefined
      return true
    })
  },
  cancelAll: async (queue, model, real, act) => {
    return changeSome('cancel', queue, model, real, act, ({ id, state }) => {
      return state !== 'done' && model.jobs.delete(id)
    })
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
  // A load while calls of the storage fail, one of them or all from there on, before or after they happen.
  outage: async (queue, model, real, { flow, user, pick, size }) => {
    const id = flowIds[flow] as string
    const faulty = real.backendOf(queue)
    const when = size % 2 === 0 ? 'before' : 'after'
    const failAt = faulty.calls + 1 + (pick % 5)
    Object.assign(faulty, { when, failAt, lasting: size > 3 })
    const document = documentOf(`d${pick % 7}`, users[user])
    const { code, value } = await coded(queue.load(id, document))
    Object.assign(faulty, { failAt: Infinity, lasting: false })
    const { user: whose } = document
    if (value !== undefined) {
      assert.equal(model.refusal(id), 'ok')
      model.load(value, id, whose, document.id)
      return `ok ${when}`
    }
    if (code !== 'LK_STORAGE_FAILED') assert.equal(code, model.refusal(id))
    // Whoever is told of a failure may find it stored, where that is not known.
    const stored = model.flows.has(id) ? await real.jobs(id) : []
    const unknown = stored.filter((job) => !model.jobs.has(job.id))
    assert.ok(unknown.length <= (when === 'after' && code === 'LK_STORAGE_FAILED' ? 1 : 0))
    for (const job of unknown) model.load(job.id, id, whose, document.id)
    return `${code} ${when}${unknown.length > 0 ? ', stored' : ''}`
  },
  // So many at once that records of done jobs go.
  bulk: async (queue, model, real, { pick }) => {
    // It empties the queue: not too often.
    if (!model.flow('f').active || pick % 8 > 0) return 'none'
    const documents = Array.from({ length: 150 }, (_, n) => documentOf(`bulk${n}`, `v${n % 7}`))
    const ids = await Promise.all(documents.map((document) => queue.load('f', document)))
    for (const [n, { user, id }] of documents.entries()) model.load(ids[n] as string, 'f', user, id)
    await real.look(queue, model)
    const times = { now: real.now(queue), elapsed: real.clock.elapsed() }
    for (;;) {
      const { jobs, more } = await queue.claim('f', 16)
      model.claim('f', 16, jobs, times)
      await tellSuperseded(model, real, 'f')
      for (const job of jobs) await queue.complete(job, stepNames)
      for (const { record } of jobs) model.complete(model.jobs.get(record.id) as ModelJob)
      if (jobs.length === 0 && !more) break
    }
    await queue.prune('f')
    return 'ok'
  },
} satisfies Record<string, Perform>

type Hold = Real['holds'][number]

/** What a claim found superseded is known from the record alone: told at once, so that the model has the order in which jobs were done. */
async function tellSuperseded(model: FlowModel, real: Real, flow: string): Promise<void> {
  if (model.flows.has(flow)) model.compare(flow, await real.jobs(flow), real.latest)
}

/** As whoever watches it tells one from another. */
function leaseOf({ token, beat }: ModelJob): string {
  return `${token} ${beat}`
}

async function activeIn(queue: JobQueue): Promise<ReadonlySet<string>> {
  const ids = new Set<string>()
  for (const flow of ['f', 'g']) {
    for (const { id } of await jobsOf(queue, { flow, state: 'active' })) ids.add(id)
  }
  return ids
}

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
async function check(model: FlowModel, real: Real, n: number): Promise<void> {
  const [storage] = real.storages as [Storage]
  const queue = real.queues[n] as JobQueue
  // The others stay as they are: they have to notice by themselves.
  const observer = n === 0 ? queue : await openQueue(storage, { clock: real.clock, firstFlow })
  if (n === 0) await real.look(queue, model)
  for (const { id } of observer.flows()) {
    model.compare(id, await jobsOf(observer, { flow: id }), real.latest)
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

/** The queues that are open at the same time; where they share it, each over a backend of its own. */
type Engine = 'memory' | 'level' | 'shared'

function backendsOf(engine: Engine, count: number, directory: string): Backend[] {
  if (engine === 'level') return [new LevelBackend(directory)]
  if (engine === 'memory') return [new MemoryBackend()]
  const memory = new SharedMemory()
  return Array.from({ length: count }, () => memory.backend())
}

export async function flowModelRuns(options: {
  readonly engine: Engine
  readonly runs: number
  readonly seed: number
  /** Two by default, four at most. */
  readonly queues?: number
}): Promise<{ readonly steps: number; readonly tally: Tally }> {
  const { engine, runs, seed, queues = 2 } = options
  const tally: Tally = {}
  const act = fc.record({
    type: fc.constantFrom(
      ...types,
      ...types.filter((type) => type !== 'bulk'),
      ...(often as 'load'[]),
    ),
    queue: fc.nat({ max: queues - 1 }),
    flow: fc.constantFrom(0, 0, 0, 0, 1, 1, 2),
    user: fc.nat({ max: 2 }),
    pick: fc.nat({ max: 40 }),
    size: fc.integer({ min: 1, max: 6 }),
  })
  const commands = act.map((act) => new Command(act, tally))
  const property = fc.asyncProperty(
    fc.commands([commands], { maxCommands: 60, size: 'max' }),
    async (sequence) => {
      const directory = engine === 'level' ? mkdtempSync(join(tmpdir(), 'lorekeep-model-')) : ''
      const reals = backendsOf(engine, queues, directory)
      const backends = reals.map((real) => new FaultyBackend(real))
      try {
        const storages = await Promise.all(
          Array.from({ length: queues }, (_, n) => backends[n % backends.length]!.open('flows')),
        )
        const real = new Real(storages, backends)
        for (let n = 0; n < queues; n++) await real.open(n)
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
          await acts.load(real.queues[n % queues] as JobQueue, model, real, begun)
        }
        await fc.asyncModelRun(() => ({ model, real }), sequence)
      } finally {
        await Promise.all(backends.map((backend) => backend.close()))
        if (directory) rmSync(directory, { recursive: true })
      }
    },
  )
  const stepsOf = () => Object.values(tally).reduce((sum, n) => sum + n, 0)
  // A sequence may be short, and a few all are in one seed of 100: as many more until they are not.
  for (let n = 0; stepsOf() < 5 * runs; n++) {
    await fc.assert(property, { seed: (seed + n) | 0, numRuns: runs })
  }
  return { steps: stepsOf(), tally }
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

/** One go of a change of all that match; the next one, by any of the queues, goes on where it came to. */
async function changeSome(
  change: JobChange,
  queue: JobQueue,
  model: FlowModel,
  real: Real,
  act: Act,
  /** False where its state does not allow it. */
  changeIt: (job: ModelJob) => boolean,
): Promise<string> {
  const begun = real.begun[change] ?? begin(change, model, act)
  const { search, ids, place } = begun
  const { code, value } = await coded(queue.change(change, search, place, act.size))
  const isThere = search.flow === undefined || model.flows.has(search.flow)
  assert.equal(code, isThere ? 'ok' : 'LK_FLOW_NOT_FOUND')
  if (value === undefined) return code
  const { changed, next } = value
  const [after] = place ?? [-1]
  const [end] = next ?? [Infinity]
  const passed = [...model.jobs.values()].filter((job) => {
    const { id, number, flow, user, document, state } = job
    if (!ids.has(id) || number <= after || number > end) return false
    if (!search.states.has(state) || (search.flow ?? flow) !== flow) return false
    if ((search.user ?? user) !== user || (search.scope.user ?? user) !== user) return false
    return (search.document ?? document) === document
  })
  assert.equal(passed.filter(changeIt).length, changed, `jobs up to ${end}`)
  assert.ok(changed <= act.size)
  if (next === undefined) delete real.begun[change]
  else real.begun[change] = { search, ids, place: next }
  return `${changed === 0 ? 'none' : 'some'}${next === undefined ? ' to the end' : ''}`
}

function begin(change: JobChange, model: FlowModel, { flow, user, pick, size }: Act): Begun {
  // All of a queue is not to go too often.
  const isNarrow = pick % 8 > (change === 'cancel' ? 0 : 6)
  const search: JobSearch = {
    flow: flow === 0 && size === 1 ? undefined : flowIds[flow],
    states: new Set<JobState>(statesOf[pick % statesOf.length]),
    scope: pick % 3 === 1 ? { user: users[user] as string } : {},
    user: isNarrow ? users[user] : undefined,
    document: pick % 5 === 1 ? `d${pick % 7}` : undefined,
    isReverse: false,
  }
  return { search, ids: new Set(model.jobs.keys()), place: undefined }
}

const statesOf: readonly (readonly JobState[])[] = [
  ['dead'],
  ['delayed', 'done'],
  ['dead', 'delayed', 'queued'],
  ['queued'],
  ['active', 'queued', 'delayed', 'dead', 'done'],
]

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
