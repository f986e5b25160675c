// A storage error at any call: what was acknowledged is there, what was refused is not half there,
// and the queue goes on once the storage works again, with or without being opened anew.

import assert from 'node:assert/strict'
import { serialize } from 'node:v8'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError, type ErrorCode } from '../../src/errors.js'
import type { Claimed, JobQueue } from '../../src/flow/queue/queue.js'
import { latestKey } from '../../src/flow/queue/records.js'
import { decodeKey } from '../../src/keys.js'
import type { Operation as Write, Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { backends } from '../fixtures/stores.js'
import { flowProblems } from '../fixtures/problems.js'
import {
  documentOf,
  drained,
  failureOf,
  flowOf,
  jobsOf,
  leaseMs,
  openQueue,
  steps,
} from './queue/queues.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { Notes, running } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

/** A queue with jobs in every state. */
interface Scene {
  readonly queue: JobQueue
  readonly clock: VirtualClock
  readonly backend: FaultyBackend
  readonly storage: Storage
  readonly flow: ReturnType<typeof flowOf>
  /** Under way. */
  readonly held: Claimed
  readonly other: Claimed
  readonly ids: { readonly dead: string; readonly delayed: string; readonly queued: string }
}

interface Operation {
  readonly run: (scene: Scene) => Promise<unknown>
  /** In several steps: an error may leave some of them done, and the next try does the rest. */
  readonly inSteps?: boolean
  /** What has to happen first. */
  readonly after?: (scene: Scene) => Promise<unknown>
}

const output = serialize('output')

const operations: Readonly<Record<string, Operation>> = {
  load: { run: ({ queue }) => queue.load('f', documentOf('new', 'carol')) },
  'load of many': {
    run: ({ queue }) =>
      Promise.all(['1', '2', '3'].map((id) => queue.load('f', documentOf(id, `u${id}`)))),
  },
  claim: { run: ({ queue }) => queue.claim('f', 3) },
  'claim of delayed': {
    after: ({ clock }) => clock.advance(5000),
    run: ({ queue }) => queue.claim('f', 9),
  },
  renew: { run: ({ queue, held }) => queue.renew(held) },
  record: { run: ({ queue, held }) => queue.record(held, ['a'], output) },
  complete: { run: ({ queue, held }) => queue.complete(held, steps) },
  'complete behind a step': {
    after: ({ queue, held }) => queue.record(held, ['a'], output),
    run: ({ queue, held }) => queue.complete(held, steps),
  },
  fail: { run: ({ queue, held }) => queue.fail(held, failureOf(held)) },
  'fail for good': {
    run: ({ queue, held }) => queue.fail(held, failureOf(held), { mayRetry: false }),
  },
  release: { run: ({ queue, held }) => queue.release(held, failureOf(held)) },
  reap: { after: ({ clock }) => clock.advance(leaseMs), run: ({ queue }) => queue.reap() },
  'retry of a dead letter': { run: ({ queue, ids }) => queue.retry(ids.dead) },
  'retry of a delayed job': { run: ({ queue, ids }) => queue.retry(ids.delayed) },
  'cancel of a queued job': { run: ({ queue, ids }) => queue.cancel(ids.queued) },
  'cancel of an active job': { run: ({ queue, held }) => queue.cancel(held.record.id) },
  'cancel of a dead letter': { run: ({ queue, ids }) => queue.cancel(ids.dead) },
  setActive: { run: ({ queue }) => queue.setActive('f', false) },
  define: { run: ({ queue }) => queue.define(flowOf('f', { concurrency: 9 })) },
  'define of a new one': { run: ({ queue }) => queue.define(flowOf('g')) },
  remove: { inSteps: true, run: ({ queue }) => queue.remove('old') },
  'much at once': {
    inSteps: true,
    run: ({ queue, held, other }) =>
      Promise.all([
        queue.load('f', documentOf('1', 'dora')),
        queue.record(held, ['a'], output),
        queue.fail(other, failureOf(other)),
        queue.claim('f', 1),
        queue.load('f', documentOf('2', 'emil')),
        queue.complete(held, steps),
      ]),
  },
}

const modes = [
  { name: 'before each call', when: 'before', lasting: false },
  { name: 'after each call', when: 'after', lasting: false },
  { name: 'from each call on', when: 'before', lasting: true },
  { name: 'from each call on, which happens', when: 'after', lasting: true },
] as const

for (const [engine, createBackend] of backends) {
  for (const { name: mode, when, lasting } of modes) {
    if (engine === 'level' && lasting) continue
    t.test(`${engine}: failing ${mode}`, async (t) => {
      for (const [name, operation] of Object.entries(operations)) {
        if (engine === 'level' && !['load', 'claim', 'complete', 'fail'].includes(name)) continue
        const after = await outcomeOf(operation)
        let calls = Infinity
        // The first round fails nowhere and counts the calls.
        for (let failAt = 0; failAt <= calls; failAt++) {
          const real = createBackend(t)
          const scene = await begun(new FaultyBackend(real))
          const { queue, backend, storage } = scene
          await operation.after?.(scene)
          const before = await stateOf(queue)
          const start = backend.calls
          if (failAt > 0) Object.assign(backend, { failAt: start + failAt, when, lasting })
          const { error } = await settle(operation.run(scene))
          await queue.drained()
          if (failAt === 0) calls = backend.calls - start
          backend.failAt = Infinity
          const place = `${name}, call ${failAt} of ${calls}`
          if (error !== undefined) assert.ok(error instanceof LorekeepError, `${place}: ${error}`)
          await queue.refresh()
          const found = await stateOf(queue)
          if (error === undefined) assert.deepEqual(found, after, `${place}: acknowledged`)
          else if (operation.inSteps !== true && when === 'before') {
            assert.deepEqual(found, before, `${place}: nothing happened`)
          } else if (operation.inSteps !== true) {
            // The write may have happened, and nobody could find out.
            const isBefore = JSON.stringify(found) === JSON.stringify(before)
            assert.deepEqual(found, isBefore ? before : after, `${place}: old or new`)
          }
          assert.deepEqual(await flowProblems(storage), [], `${place}: at once`)
          const opened = await openQueue(storage, { clock: scene.clock, firstFlow: scene.flow })
          assert.deepEqual(await stateOf(opened), found, `${place}: in the storage`)
          // It goes on without being opened anew, and with it.
          await goesOn(scene, queue, place)
          await opened.refresh()
          await goesOn(scene, opened, place)
          await real.close()
        }
        t.ok(calls >= 1, `${name}: ${calls} calls`)
      }
    })
  }
}

t.test('a read that fails while lanes are filled keeps nobody waiting', async (t) => {
  let calls = Infinity
  for (let failAt = 0; failAt <= calls; failAt++) {
    const backend = new FaultyBackend(new MemoryBackend())
    const storage = await backend.open('flows')
    const first = await openQueue(storage)
    for (const user of ['a', 'b', 'c', 'd']) await first.load('f', documentOf('x', user))
    const queue = await openQueue(storage)
    const start = backend.calls
    if (failAt > 0) Object.assign(backend, { failAt: start + failAt })
    await settle(queue.claim('f', 3))
    if (failAt === 0) calls = backend.calls - start
    backend.failAt = Infinity
    // Those of the claim that failed come back when their leases have run out, if it happened.
    const users = (await drained(queue, 'f')).map(({ document }) => document.user)
    const { active } = queue.stats('f') ?? {}
    t.equal(users.length + (active ?? 0), 4, `call ${failAt} of ${calls}: ${users.join()}`)
  }
})

t.test('a load that was refused while the storage failed is not there later', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const queue = await openQueue(await backend.open('flows'))
  Object.assign(backend, { failAt: backend.calls + 1, lasting: true })
  const loads = Array.from({ length: 50 }, (_, n) => queue.load('f', documentOf(`d${n}`)))
  for (const { status } of await Promise.allSettled(loads)) t.equal(status, 'rejected')
  backend.failAt = Infinity
  await queue.load('f', documentOf('last'))
  t.strictSame(
    (await jobsOf(queue, { flow: 'f' })).map(({ document }) => document),
    ['last'],
  )
})

/** A store whose storage is away with a code from a step on, until it goes on. */
async function failingAt(
  t: Test,
  code: 'LK_STORAGE_UNAVAILABLE' | 'LK_STORAGE_FAILED',
  step: string,
  act = () => Promise.resolve(step),
) {
  const backend = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const store = await running(t, { backend: backend as never })
  const notes = new Notes().on(step, () => {
    if (code === 'LK_STORAGE_UNAVAILABLE') backend.refusesWrites = true
    else Object.assign(backend, { failAt: backend.calls + 1, lasting: true })
    return act()
  })
  await store.flows.define({ id: 'f', steps: notes.steps('a', 'b'), maxAttempts: 1 })
  const { job } = await store.flows.load('f', { id: 'x', content: 'text' })
  const runner = store.flows.run()
  await settled()
  const goOn = () => void Object.assign(backend, { failAt: Infinity, refusesWrites: false })
  return { ...store, notes, job, runner, goOn }
}

const endKey = String(latestKey('alice', 'x'))

/** A store whose queue refuses the ends of jobs, so often, with a code. */
async function refusingEnds(
  t: Test,
  code: ErrorCode,
  times: number,
  isEnd = ({ key }: Write) => String(key) === endKey,
) {
  const left = { times }
  const real = new MemoryBackend()
  const open = real.open.bind(real)
  real.open = async (partition) => {
    const storage = await open(partition)
    const write: Storage['write'] = async (operations, options) => {
      if (operations.some(isEnd) && left.times-- > 0) throw new LorekeepError(code, 'on purpose')
      await storage.write(operations, options)
    }
    return altered(storage, { write })
  }
  const store = await running(t, { backend: new KeptBackend(real) })
  const notes = new Notes()
  await store.flows.define({ id: 'f', steps: notes.steps('a', 'b'), maxAttempts: 1 })
  const { job } = await store.flows.load('f', { id: 'x', user: 'alice', content: 'text' })
  const runner = store.flows.run()
  return { ...store, runner, notes, job, left }
}

for (const code of ['LK_STORAGE_UNAVAILABLE', 'LK_STORAGE_FAILED'] as const) {
  t.test(`an outage of the queue costs no attempt and no step: ${code}`, async (t) => {
    const { flows, clock, notes, job, left } = await refusingEnds(t, code, 3)
    await clock.advance(20_000)
    t.ok(left.times < 0)
    t.strictSame(notes.runs, ['x a', 'x b'])
    t.match(await flows.job(job), { state: 'done', attempts: 1, failures: [] })
  })

  t.test(`an outage while outputs are recorded costs neither: ${code}`, async (t) => {
    const { flows, clock, notes, job, goOn } = await failingAt(t, code, 'a')
    await clock.advance(1000)
    goOn()
    await clock.advance(20_000)
    t.strictSame(notes.runs, ['x a', 'x b'])
    t.match(await flows.job(job), { state: 'done', attempts: 1, failures: [] })
  })

  for (const step of ['a', 'b']) {
    t.test(`nor does an outage behind ${step} that is longer than a lease: ${code}`, async (t) => {
      const store = await failingAt(t, code, step)
      await store.clock.advance(300_000)
      store.goOn()
      await store.clock.advance(20_000)
      t.strictSame(store.notes.runs, ['x a', 'x b'])
      t.match(await store.flows.job(store.job), { state: 'done', attempts: 1, failures: [] })
    })
  }
}

t.test('what a step has thrown is written once the storage is there again', async (t) => {
  const why = new LorekeepError('LK_STEP_UNRECOVERABLE', 'on purpose')
  const store = await failingAt(t, 'LK_STORAGE_UNAVAILABLE', 'a', () => Promise.reject(why))
  await store.clock.advance(300_000)
  store.goOn()
  await store.clock.advance(20_000)
  t.strictSame(store.notes.runs, ['x a'])
  const failures = [{ cause: 'failed', code: 'LK_STEP_UNRECOVERABLE' }]
  t.match(await store.flows.job(store.job), { state: 'dead', attempts: 1, failures })
})

t.test('a job is not held for ever whose lease can be renewed and not ended', async (t) => {
  // Five times as done, and five times as released.
  const isEnd = ({ type, key }: Write) => type === 'del' && decodeKey(key)[0] === 'lease'
  const store = await refusingEnds(t, 'LK_STORAGE_UNAVAILABLE', 10, isEnd)
  await store.clock.advance(60_000)
  t.strictSame(store.notes.runs, ['x a', 'x b'])
  t.match(await store.flows.job(store.job), { state: 'dead', failures: [{ cause: 'crashed' }] })
})

t.test('a runner that is stopped does not wait for the end of an outage', async (t) => {
  for (const waitedMs of [0, 60_000]) {
    const { clock, runner } = await failingAt(t, 'LK_STORAGE_UNAVAILABLE', 'b')
    await clock.advance(waitedMs)
    const stopping = runner.stop({ timeoutMs: 50 })
    await clock.advance(50)
    await stopping
    t.equal(clock.pending, 0, 'no timer is left')
  }
})

t.test('a job whose end cannot be written goes back as it was', async (t) => {
  const { flows, clock, notes, job } = await refusingEnds(t, 'LK_STORAGE_UNAVAILABLE', 5)
  await clock.advance(20_000)
  t.strictSame(notes.runs, ['x a', 'x b', 'x b'])
  const failures = [{ cause: 'released', step: 'b', code: 'LK_STORAGE_UNAVAILABLE' }]
  t.match(await flows.job(job), { state: 'done', attempts: 1, failures })
})

t.test('what the storage refuses again and again is no outage', async (t) => {
  const { flows, clock, notes, job } = await refusingEnds(t, 'LK_STORAGE_FAILED', Infinity)
  await clock.advance(20_000)
  t.strictSame(notes.runs, ['x a', 'x b'])
  const failures = [{ cause: 'failed', code: 'LK_STORAGE_FAILED' }]
  t.match(await flows.job(job), { state: 'dead', attempts: 1, failures })
})

t.test('a job whose end is refused for ever is not given back for ever', async (t) => {
  const { flows, clock, notes, job } = await refusingEnds(t, 'LK_STORAGE_UNAVAILABLE', Infinity)
  await clock.advance(300_000)
  t.strictSame(notes.runs, ['x a', 'x b', 'x b', 'x b', 'x b'])
  const [released, failed] = ['released', 'failed'].map((cause) => {
    return { cause, code: 'LK_STORAGE_UNAVAILABLE', attempt: 1 }
  })
  const failures = [released, released, released, failed]
  t.match(await flows.job(job), { state: 'dead', attempts: 1, failures })
})

/** A job whose first output is recorded, and never read by another delivery: it is in the second one. */
async function refusingOutput(t: Test) {
  const real = new MemoryBackend()
  const open = real.open.bind(real)
  real.open = async (partition) => {
    const storage = await open(partition)
    const get: Storage['get'] = async (key) => {
      const isOutput = partition === 'flows' && decodeKey(key)[0] === 'output'
      if (isOutput) throw new LorekeepError('LK_STORAGE_UNAVAILABLE', 'on purpose')
      return storage.get(key)
    }
    return altered(storage, { get })
  }
  const store = await running(t, { backend: new KeptBackend(real) })
  const notes = new Notes().on('b', () => Promise.reject(new Error('on purpose')))
  const steps = notes.steps('a', 'b')
  await store.flows.define({ id: 'f', steps, maxAttempts: 2, minDelayMs: 1000, maxDelayMs: 1000 })
  const { job } = await store.flows.load('f', { id: 'x', content: 'text' })
  const runner = store.flows.run()
  await store.clock.advance(1000)
  t.strictSame(notes.runs, ['x a', 'x b'])
  return { ...store, runner, notes, job }
}

t.test('a job whose output is never read is not given back for ever', async (t) => {
  const { flows, clock, notes, job } = await refusingOutput(t)
  await clock.advance(300_000)
  t.strictSame(notes.runs, ['x a', 'x b'])
  const [released, failed] = ['released', 'failed'].map((cause) => {
    return { cause, code: 'LK_STORAGE_UNAVAILABLE', step: 'b', attempt: 2 }
  })
  const failures = [{ cause: 'failed', attempt: 1 }, released, released, released, failed]
  t.match(await flows.job(job), { state: 'dead', attempts: 2, failures })
})

t.test('nothing has happened to a job that is broken off before it has begun', async (t) => {
  const { flows, clock, runner, job } = await refusingOutput(t)
  t.match(await flows.job(job), { state: 'active', attempts: 2 })
  const stopping = runner.stop({ timeoutMs: 50 })
  await clock.advance(50)
  await stopping
  const found = await flows.job(job)
  t.match(found, { state: 'queued', attempts: 1 })
  t.equal(found?.failures.length, 1)
})

t.test('a runner that is stopped waits for no outage', async (t) => {
  const store = await refusingEnds(t, 'LK_STORAGE_UNAVAILABLE', Infinity)
  const { flows, clock, runner, job } = store
  await settled()
  const stopping = runner.stop({ timeoutMs: 50 })
  await clock.advance(50)
  await stopping
  t.match(await flows.job(job), { state: 'queued', attempts: 0 })
  t.equal(clock.pending, 0, 'no timer is left')
})

async function begun(backend: FaultyBackend): Promise<Scene> {
  const clock = new VirtualClock()
  const flow = flowOf('f', { maxAttempts: 3, minDelayMs: 4000, maxDelayMs: 4000 })
  const storage = await backend.open('flows')
  let ids = 0
  const createId = () => `id${++ids}`
  const chance = { fraction: () => 0.5, token: () => `token${++ids}` }
  const queue = await openQueue(storage, { clock, firstFlow: flow, createId, chance })
  await queue.define(flowOf('old'))
  await queue.load('old', documentOf('old'))
  await drained(queue, 'old')
  const load = (id: string, user: string) => queue.load('f', documentOf(id, user))
  await Promise.all([load('a1', 'alice'), load('a2', 'alice'), load('a3', 'alice')])
  await Promise.all([load('b1', 'bob'), load('b2', 'bob'), load('a1', 'alice')])
  const { jobs } = await queue.claim('f', 4)
  const [dead, delayed, held, other] = jobs as [Claimed, Claimed, Claimed, Claimed]
  await queue.record(delayed, ['a'], output)
  await queue.fail(dead, failureOf(dead), { mayRetry: false })
  await queue.fail(delayed, failureOf(delayed))
  const [queued] = await jobsOf(queue, { flow: 'f', state: 'queued' })
  assert.ok(queued)
  const known = { dead: dead.record.id, delayed: delayed.record.id, queued: queued.id }
  return { queue, clock, backend, storage, flow, held, other, ids: known }
}

/** What there is when nothing has failed. */
async function outcomeOf(operation: Operation): Promise<unknown> {
  const scene = await begun(new FaultyBackend(new MemoryBackend()))
  await operation.after?.(scene)
  await operation.run(scene)
  return stateOf(scene.queue)
}

async function stateOf(queue: JobQueue): Promise<unknown> {
  const found: unknown[] = []
  for (const { id: flow, active, concurrency } of queue.flows()) {
    const jobs = await jobsOf(queue, { flow })
    const rows = jobs.map(
      ({ user, document, state, attempts, completedSteps, failures, dueAt }) => {
        return [
          user,
          document,
          state,
          attempts,
          completedSteps.join(),
          failures.length,
          dueAt,
        ].join()
      },
    )
    found.push({ flow, active, concurrency, stats: queue.stats(flow), jobs: rows.toSorted() })
  }
  return found
}

/** Takes documents, and brings everything to an end. */
async function goesOn({ clock, storage }: Scene, queue: JobQueue, place: string): Promise<void> {
  await queue.setActive('f', true)
  await queue.load('f', documentOf('later', 'zoe'))
  for (let n = 0; n < 4; n++) {
    await drained(queue, 'f')
    await clock.advance(leaseMs)
    await queue.reap()
  }
  assert.deepEqual(await flowProblems(storage), [], `${place}: when it goes on`)
  const { queued, active, delayed } = queue.stats('f') ?? {}
  assert.deepEqual({ queued, active, delayed }, { queued: 0, active: 0, delayed: 0 }, place)
}

async function settle(work: Promise<unknown>): Promise<{ error?: unknown }> {
  try {
    await work
    return {}
  } catch (error) {
    return { error }
  }
}
