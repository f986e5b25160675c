// Processing on virtual time: what is delivered when, and what becomes of it.

import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { leaseKeys } from '../../src/flow/queue/records.js'
import t from 'tap'
import { createLorekeep } from '../../src/index.js'
import { LorekeepError } from '../../src/errors.js'
import { backoff } from '../../src/flow/queue/backoff.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { flowProblems } from '../fixtures/problems.js'
import { embed } from '../../src/flow/steps/index.js'
import type { Step, StepContext } from '../../src/flow/types.js'
import { decodeKey, keyPrefix } from '../../src/keys.js'
import { listed, never, Notes, running, watched } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const document = (id: string, user = 'alice') => ({ id, user, content: `text of ${id}` })
const fails = () => {
  throw new Error('on purpose')
}

t.test('a flow whose third step fails twice resumes there', async (t) => {
  const { flows, clock, backend } = await running(t)
  let failures = 0
  const inputs: unknown[] = []
  const notes = new Notes().on('c', (input) => {
    inputs.push(input)
    if (failures++ < 2) fails()
  })
  await flows.define({ id: 'f', steps: notes.steps('a', 'b', 'c', 'd') })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await clock.advance(10_000)
  t.strictSame(notes.runs, ['x a', 'x b', 'x c', 'x c', 'x c', 'x d'])
  t.strictSame(inputs, ['b', 'b', 'b'])
  const found = await flows.job(job)
  t.match(found, { state: 'done', attempts: 3, completedSteps: ['a', 'b', 'c', 'd'] })
  t.strictSame(
    found?.failures.map(({ attempt, step, cause }) => [attempt, step, cause]),
    [
      [1, 'c', 'failed'],
      [2, 'c', 'failed'],
    ],
  )
  t.strictSame(await flowProblems(await backend.open('flows')), [])
})

t.test('steps see the title of their document', async (t) => {
  const { flows, clock } = await running(t)
  const titles: unknown[] = []
  const tell = {
    name: 'tell',
    run: (_: unknown, { document }: StepContext) => void titles.push(document.title),
  }
  await flows.define({ id: 'f', concurrency: 1, steps: [tell] })
  const label = (v: string) => ({
    s: { v: 'urn:x', e: true },
    p: { v: 'http://www.w3.org/2000/01/rdf-schema#label', e: true },
    o: { v, e: false },
  })
  const content = '# Found\n\nSome text.'
  await flows.load('f', { id: 'urn:x', content, title: 'Given', metadata: [label('Said')] })
  await flows.load('f', { id: 'urn:y', content, title: 'a'.repeat(1000) })
  await flows.load('f', { id: 'urn:x', content, metadata: [label('Said')] })
  await flows.load('f', { id: 'urn:z', content })
  await flows.load('f', { id: 'urn:none', content: 'Some text.' })
  flows.run()
  await clock.advance(1000)
  t.strictSame(titles, ['Given', 'a'.repeat(1000), 'Said', 'Found', undefined])
})

t.test('a step that need not be recorded runs again with the one behind it', async (t) => {
  const { flows, clock, backend } = await running(t)
  const notes = new Notes()
    .on('c', (_, { attempt }) => (attempt === 1 ? fails() : 'c'))
    .on('e', (_, { attempt }) => (attempt === 2 ? fails() : 'e'))
  const steps = notes.steps('a', 'b', 'c', 'd', 'e')
  const cheap = steps.map((step) => ('ac'.includes(step.name) ? { ...step, record: false } : step))
  await flows.define({ id: 'f', steps: cheap })
  const { events } = watched(flows)
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await settled()
  t.match(await flows.job(job), { state: 'delayed', completedSteps: ['a', 'b'] })
  t.strictSame(await outputsIn(backend), [1])
  await clock.advance(1000)
  t.match(await flows.job(job), { state: 'delayed', completedSteps: ['a', 'b', 'c', 'd'] })
  t.strictSame(await outputsIn(backend), [1, 3])
  t.strictSame(await flowProblems(await backend.open('flows')), [])
  await clock.advance(10_000)
  t.strictSame(
    notes.runs.map((run) => run.slice(2)),
    ['a', 'b', 'c', 'c', 'd', 'e', 'e'],
  )
  t.match(await flows.job(job), { state: 'done', completedSteps: ['a', 'b', 'c', 'd', 'e'] })
  t.strictSame(
    events.flatMap((event) => (event.type === 'step' ? [event.step] : [])),
    ['a', 'b', 'c', 'd', 'e'],
  )
  t.strictSame(await outputsIn(backend), [])
  t.strictSame(await flowProblems(await backend.open('flows')), [])
})

t.test('what took longer than a second is recorded all the same', async (t) => {
  const { flows, clock, backend } = await running(t)
  const takes = (ms: number) => () => new Promise<void>((resolve) => clock.after(ms, resolve))
  const notes = new Notes().on('a', takes(600)).on('b', takes(400)).on('c', fails)
  const [a, b, c] = notes.steps('a', 'b', 'c')
  const cheap = { record: false }
  await flows.define({ id: 'f', steps: [{ ...a!, ...cheap }, { ...b!, ...cheap }, c!] })
  await flows.load('f', document('x'))
  flows.run()
  await clock.advance(60_000)
  t.strictSame(notes.runs.slice(0, 4), ['x a', 'x b', 'x c', 'x c'])
  t.strictSame(await outputsIn(backend), [1])
})

t.test('what need not be recorded may be what cannot be copied', async (t) => {
  const { flows, clock } = await running(t)
  const given: unknown[] = []
  const notes = new Notes()
    .on('a', () => new Promise((resolve) => clock.after(5000, () => resolve(() => 'a'))))
    .on('b', (input) => given.push((input as () => string)()))
  const [a, b] = notes.steps('a', 'b')
  await flows.define({ id: 'f', steps: [{ ...a!, record: false }, b!] })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await clock.advance(10_000)
  t.match(await flows.job(job), { state: 'done', attempts: 1 })
  t.strictSame(given, ['a'])
})

t.test('the built-in steps leave no record, but of what a model gave', async (t) => {
  const { flows, backend } = await running(t)
  const embedder = (texts: readonly string[]) => texts.map(() => [1, 2])
  flows.run()
  for (const [second, places] of [
    ['embed', []],
    [embed({ embedder }), [1, 2]],
  ] as const) {
    const last = { name: 'last', run: fails }
    await flows.define({ id: 'f', steps: ['chunk', second, 'extract', 'store', last] })
    const { job } = await flows.load('f', document(`${places.length}`))
    for await (const { type } of flows.watch({ job })) if (type === 'failed') break
    t.strictSame(await outputsIn(backend), places)
  }
})

/** The places of the steps whose output is recorded, of all jobs. */
async function outputsIn(backend: KeptBackend): Promise<number[]> {
  const places: number[] = []
  for await (const page of (await backend.open('flows')).scan(keyPrefix('output'))) {
    for (const { key } of page) places.push(decodeKey(key)[2] as number)
  }
  return places
}

for (const fraction of [0, 0.37, 0.999]) {
  t.test(`attempts come when backoff() says with a fraction of ${fraction}`, async (t) => {
    const { flows, clock } = await running(t, { fraction })
    const waits = { minDelayMs: 1000, maxDelayMs: 5000 }
    const times: number[] = []
    const steps = [{ name: 'a', run: () => (times.push(clock.now()), fails()) }]
    await flows.define({ id: 'f', steps, maxAttempts: 6, ...waits })
    await flows.load('f', document('x'))
    flows.run()
    await clock.advance(60_000)
    const gaps = times.slice(1).map((time, n) => time - (times[n] as number))
    t.strictSame(
      gaps,
      [1, 2, 3, 4, 5].map((attempt) => backoff(waits, attempt, fraction)),
    )
    t.strictSame(
      gaps,
      [1000, 2000, 4000, 5000, 5000].map((most) => Math.ceil(most / 2 + (most / 2) * fraction)),
    )
    t.match(await flows.stats('f'), { dead: 1, active: 0, queued: 0, delayed: 0 })
  })
}

t.test('a poison document does not hold up the others, and can be retried', async (t) => {
  const { flows, clock } = await running(t)
  let isPoison = true
  const notes = new Notes().on('b', (_, { document }) => {
    if (document.id === 'poison' && isPoison) throw new LorekeepError('LK_STEP_INPUT', 'poison')
  })
  await flows.define({ id: 'f', steps: notes.steps('a', 'b'), concurrency: 1, maxAttempts: 3 })
  await flows.load('f', document('poison'))
  for (const id of ['x', 'y', 'z']) await flows.load('f', document(id))
  flows.run()
  await clock.advance(10)
  t.match(await flows.stats('f'), { done: 3, delayed: 1 })
  await clock.advance(60_000)
  const dead: unknown[] = []
  for await (const job of flows.deadLetters('f')) dead.push(job)
  t.match(dead, [{ document: 'poison', state: 'dead', attempts: 3, completedSteps: ['a'] }])
  const [{ id, failures } = { id: '', failures: [] }] = await listed(flows, 'dead')
  t.match(failures.at(-1), { step: 'b', cause: 'failed', code: 'LK_STEP_INPUT', attempt: 3 })
  isPoison = false
  notes.runs.length = 0
  t.match(await flows.retry(id), { state: 'queued', attempts: 0 })
  await clock.advance(10)
  t.strictSame(notes.runs, ['poison b'])
  t.match(await flows.job(id), { state: 'done', attempts: 1 })
})

t.test('LK_STEP_UNRECOVERABLE is a dead letter at once', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes().on('a', () => {
    throw new LorekeepError('LK_STEP_UNRECOVERABLE', 'no way')
  })
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await clock.advance(60_000)
  t.strictSame(notes.runs, ['x a'])
  t.match(await flows.job(job), { state: 'dead', failures: [{ code: 'LK_STEP_UNRECOVERABLE' }] })
})

t.test('a step that never returns is abandoned, and its late answer ignored', async (t) => {
  const { flows, clock, errors } = await running(t)
  const late: ((answer: string) => void)[] = []
  const signals: AbortSignal[] = []
  const notes = new Notes().on('a', (_, { signal, attempt }) => {
    signals.push(signal)
    return attempt === 1 ? new Promise((resolve) => late.push(resolve)) : 'second'
  })
  const given: unknown[] = []
  notes.on('b', (input) => given.push(input))
  const [a, b] = notes.steps('a', 'b')
  await flows.define({ id: 'f', steps: [{ ...a!, timeoutMs: 5000 }, b!] })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await clock.advance(4999)
  t.equal(signals[0]?.aborted, false)
  await clock.advance(1)
  t.equal(signals[0]?.aborted, true)
  t.match(await flows.job(job), { state: 'delayed', failures: [{ cause: 'timeout', step: 'a' }] })
  late[0]?.('late')
  await clock.advance(10_000)
  t.strictSame(given, ['second'])
  t.match(await flows.job(job), { state: 'done', attempts: 2 })
  t.strictSame(errors, [])
})

for (const [asked, waited] of [
  [60_000, 60_000],
  [1500.5, 1501],
  [10, 500],
  [-5, 500],
  [NaN, 500],
  [Infinity, 500],
  [1e12, 3_600_000],
] as const) {
  t.test(`details.retryAfterMs of ${asked}: the next attempt is ${waited} ms later`, async (t) => {
    const { flows, clock } = await running(t)
    const times: number[] = []
    const run = () => {
      times.push(clock.now())
      if (times.length > 1) return
      const details = { retryAfterMs: asked }
      throw new LorekeepError('LK_MODEL_UNAVAILABLE', 'busy', { details })
    }
    await flows.define({ id: 'f', steps: [{ name: 'a', run }], stepTimeoutMs: 1000 })
    await flows.load('f', document('x'))
    flows.run()
    await clock.advance(3_600_000)
    t.equal((times[1] ?? 0) - (times[0] ?? 0), waited)
    t.match(await flows.stats('f'), { done: 1 })
  })
}

t.test('whatever a step throws is a failure on record', async (t) => {
  const { flows, clock, errors } = await running(t)
  const thrown = [
    undefined,
    null,
    'text',
    Symbol('s'),
    Object.create(null),
    Object.assign(new Error(), { message: 7 }),
    Object.assign(new Error(), { message: Object.create(null) as unknown }),
    Object.defineProperty(new Error(), 'message', { get: fails }),
    { [inspect.custom]: fails },
    new Proxy({}, { getPrototypeOf: fails }),
    new LorekeepError('LK_LEASE_LOST', 'of a queue of its own'),
    new Error('\ud800 '.repeat(3000)),
  ]
  const run = (_: unknown, context: { document: { id: string } }) => {
    throw thrown[Number(context.document.id)]
  }
  await flows.define({ id: 'f', steps: [{ name: 'a', run }], maxAttempts: 1, concurrency: 20 })
  for (const n of thrown.keys()) await flows.load('f', document(String(n)))
  flows.run()
  await clock.advance(10)
  const dead = await listed(flows, 'dead')
  t.equal(dead.length, thrown.length)
  for (const { failures } of dead) {
    t.match(failures, [{ cause: 'failed', step: 'a', message: String }])
    t.ok(failures[0]?.message.isWellFormed() && failures[0].message.length <= 1000)
  }
  t.strictSame(errors, [])
})

t.test('run() after close() is refused', async (t) => {
  const { keep, flows } = await running(t)
  await keep.close()
  t.throws(() => flows.run(), { code: 'LK_CLOSED' })
})

t.test('a step that fails after another process took its job is nobody to tell of', async (t) => {
  const { flows, clock, errors, backend } = await running(t)
  let fail = (_: Error) => {}
  const notes = new Notes().on('a', () => new Promise((_, reject) => (fail = reject)))
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await clock.advance(10)
  t.strictSame(notes.runs, ['x a'])
  const other = await running(t, { backend, clock })
  await other.flows.cancel(job)
  fail(new Error('late'))
  await clock.advance(10)
  t.strictSame(errors, [])
  t.equal(await flows.job(job), undefined)
})

t.test('an output that cannot be copied is LK_STEP_OUTPUT', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes().on('a', () => ({ call: () => 1 })).on('b', () => () => 1)
  await flows.define({ id: 'f', steps: notes.steps('a', 'b'), maxAttempts: 1 })
  await flows.define({ id: 'last', steps: notes.steps('b') })
  const { job } = await flows.load('f', document('x'))
  await flows.load('last', document('y'))
  flows.run()
  await clock.advance(10)
  t.match(await flows.job(job), {
    state: 'dead',
    failures: [{ code: 'LK_STEP_OUTPUT', step: 'a' }],
  })
  // Nobody gets what the last one returns.
  t.match(await flows.stats('last'), { done: 1 })
})

t.test('outputs come back from the record as the step gave them', async (t) => {
  const { flows, clock } = await running(t)
  const value = {
    n: [1, undefined, NaN],
    when: new Date(5),
    f: Float32Array.of(1, 2),
    m: new Map([[1, { a: 1n }]]),
  }
  const inputs: unknown[] = []
  const notes = new Notes()
    .on('a', () => value)
    .on('b', (input, { attempt }) => {
      inputs.push(input)
      if (attempt === 1) fails()
    })
  await flows.define({ id: 'f', steps: notes.steps('a', 'b') })
  await flows.load('f', document('x'))
  flows.run()
  await clock.advance(10_000)
  t.strictSame(inputs, [value, value])
})

t.test('stop() waits for what is under way, and claims nothing more', async (t) => {
  const { flows, clock } = await running(t)
  let finish = (_: unknown) => {}
  const notes = new Notes().on('a', () => new Promise((resolve) => (finish = resolve)))
  await flows.define({ id: 'f', steps: notes.steps('a', 'b'), concurrency: 1 })
  for (const id of ['x', 'y']) await flows.load('f', document(id))
  const runner = flows.run()
  await settled()
  let isStopped = false
  const stopping = runner.stop().then(() => (isStopped = true))
  await clock.advance(9000)
  t.equal(isStopped, false)
  finish('a')
  await stopping
  t.strictSame(notes.runs, ['x a', 'x b'])
  t.match(await flows.stats('f'), { done: 1, queued: 1, active: 0 })
  t.equal(clock.pending, 0, 'no timer is left')
})

t.test('of several who stop a runner the least patient one counts', async (t) => {
  const { flows, clock } = await running(t)
  await flows.define({ id: 'f', steps: new Notes().on('a', never).steps('a') })
  const { job } = await flows.load('f', document('x'))
  const runner = flows.run()
  await settled()
  const stopping = Promise.all([
    runner.stop({ timeoutMs: 1e9 }),
    runner.stop({ timeoutMs: 200 }),
    runner.stop({ timeoutMs: 5000 }),
  ])
  await clock.advance(199)
  t.match(await flows.job(job), { state: 'active' })
  await clock.advance(1)
  await stopping
  t.match(await flows.job(job), { state: 'queued', attempts: 0 })
  t.equal(clock.pending, 0, 'no timer is left')
})

t.test('close() waits no longer than it may for a runner that is being stopped', async (t) => {
  const { keep, flows, clock } = await running(t, { closeTimeoutMs: 200 })
  await flows.define({ id: 'f', steps: new Notes().on('a', never).steps('a') })
  await flows.load('f', document('x'))
  const controller = new AbortController()
  flows.run({ signal: controller.signal })
  await settled()
  controller.abort()
  const closing = keep.close()
  await clock.advance(200)
  await closing
  t.equal(clock.pending, 0)
})

t.test('stop() aborts what does not end in time, which costs no attempt', async (t) => {
  const { flows, clock, backend } = await running(t)
  const signals: AbortSignal[] = []
  const notes = new Notes().on('b', (_, { signal }) => {
    signals.push(signal)
    return signals.length === 1 ? never() : 'b'
  })
  await flows.define({ id: 'f', steps: notes.steps('a', 'b'), maxAttempts: 1 })
  const { job } = await flows.load('f', document('x'))
  const runner = flows.run()
  await settled()
  const stopping = runner.stop({ timeoutMs: 500 })
  await clock.advance(499)
  t.equal(signals[0]?.aborted, false)
  await clock.advance(1)
  await stopping
  t.match(signals[0]?.reason, { code: 'LK_CLOSED' })
  const released = { state: 'queued', attempts: 0, failures: [{ cause: 'released', step: 'b' }] }
  t.match(await flows.job(job), released)
  t.strictSame(await flowProblems(await backend.open('flows')), [])
  flows.run()
  await settled()
  t.match(await flows.job(job), { state: 'done', attempts: 1 })
  t.strictSame(notes.runs, ['x a', 'x b', 'x b'])
})

t.test('what a claim brings when the time of stop() is up is given back', async (t) => {
  const clock = new VirtualClock()
  const real = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const slow = slowed(real)
  const { flows } = await running(t, { backend: slow.backend, clock })
  const notes = new Notes().on('a', never)
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const { job } = await flows.load('f', document('x'))
  slow.hold()
  const runner = flows.run()
  await settled()
  const stopping = runner.stop({ timeoutMs: 100 })
  await clock.advance(200)
  slow.free()
  await settled()
  const isStopped = await Promise.race([stopping.then(() => true), settled().then(() => false)])
  t.equal(isStopped, true)
  t.match(await flows.job(job), { state: 'queued', attempts: 0 })
})

t.test('the signal of run() stops it, also one that is aborted already', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes()
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const controller = new AbortController()
  flows.run({ signal: controller.signal })
  await flows.load('f', document('x'))
  await settled()
  controller.abort()
  await settled()
  await flows.load('f', document('y'))
  const second = flows.run({ signal: controller.signal })
  await clock.advance(5000)
  await second.stop()
  t.strictSame(notes.runs, ['x a'])
  t.equal(clock.pending, 0)
})

t.test('a step longer than its lease keeps it', async (t) => {
  const { flows, clock } = await running(t, { leaseMs: 3000 })
  let finish = (_: unknown) => {}
  const notes = new Notes().on('a', () => new Promise((resolve) => (finish = resolve)))
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  flows.run()
  await clock.advance(60_000)
  t.match(await flows.job(job), { state: 'active', attempts: 1, failures: [] })
  finish('a')
  await settled()
  t.match(await flows.job(job), { state: 'done', attempts: 1 })
  t.strictSame(notes.runs, ['x a'])
})

t.test('a step keeps its lease whatever somebody does to the clock', async (t) => {
  for (const jumpMs of [-3_600_000, 3_600_000]) {
    const { flows, clock, backend } = await running(t, { leaseMs: 3000 })
    const notes = new Notes().on('a', never)
    await flows.define({ id: 'f', steps: notes.steps('a') })
    const { job } = await flows.load('f', document('x'))
    flows.run()
    await settled()
    const leases = async () => {
      const found = []
      for await (const page of (await backend.open('flows')).scan(leaseKeys())) found.push(...page)
      return found.map(({ value }) => String(Buffer.from(value)))
    }
    const before = await leases()
    clock.jump(jumpMs)
    await clock.advance(1500)
    t.equal(before.length, 1)
    t.notSame(await leases(), before, 'renewed')
    t.match(await flows.job(job), { state: 'active', attempts: 1, failures: [] })
  }
})

t.test('a lease is renewed before it is half over, and not while it is young', async (t) => {
  const { flows, clock, backend } = await running(t, { leaseMs: 12_000 })
  const notes = new Notes().on('a', never)
  await flows.define({ id: 'f', steps: notes.steps('a') })
  flows.run()
  // Leases are looked at every 4000 ms from here on.
  await clock.advance(3500)
  await flows.load('f', document('x'))
  await settled()
  const first = await firstLease(backend)
  t.ok(first)
  await clock.advance(1000)
  t.equal(await firstLease(backend), first)
  await clock.advance(4000)
  t.not(await firstLease(backend), first)
})

t.test('a renewal that fails is asked for again with the next beat', async (t) => {
  const faulty = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const backend = faulty as unknown as KeptBackend
  const { flows, clock, errors } = await running(t, { backend, leaseMs: 12_000 })
  await flows.define({ id: 'f', steps: new Notes().on('a', never).steps('a') })
  flows.run()
  const { job } = await flows.load('f', document('x'))
  await settled()
  // All is away until right behind a renewal, which is asked for each 4000 ms.
  faulty.failAt = faulty.calls + 1
  faulty.lasting = true
  await clock.advance(12_500)
  t.ok(errors.length > 0)
  faulty.failAt = Infinity
  await clock.advance(1000)
  t.match(await flows.job(job), { state: 'active', attempts: 1, failures: [] })
})

async function firstLease(backend: KeptBackend): Promise<string | undefined> {
  for await (const page of (await backend.open('flows')).scan(leaseKeys())) {
    return String(Buffer.from(page[0]!.value))
  }
  return undefined
}

t.test('a lease that beats are far between for is renewed while it is young', async (t) => {
  const { flows, clock, backend } = await running(t, { leaseMs: 4000 })
  await flows.define({ id: 'f', steps: new Notes().on('a', never).steps('a') })
  flows.run()
  // With beats of 1000 ms every third of it is every 2000: the next one would find a third left.
  await clock.advance(1600)
  await flows.load('f', document('x'))
  await settled()
  const first = await firstLease(backend)
  t.ok(first)
  await clock.advance(500)
  t.not(await firstLease(backend), first)
})

t.test('what a process held that ended is delivered again, and says why', async (t) => {
  const clock = new VirtualClock()
  const backend = new KeptBackend(new MemoryBackend())
  const first = await running(t, { backend, clock: new VirtualClock() })
  const notes = new Notes().on('b', (_, { attempt }) => (attempt === 1 ? never() : 'b'))
  const steps = notes.steps('a', 'b')
  await first.flows.define({ id: 'f', steps })
  const { job } = await first.flows.load('f', document('x'))
  first.flows.run()
  // Its own time stands still: to the other it looks dead.
  await settled()
  const { flows } = await running(t, { backend, clock })
  await flows.define({ id: 'f', steps })
  flows.run()
  await clock.advance(29_000)
  t.match(await flows.job(job), { state: 'active', attempts: 1 })
  await clock.advance(4000)
  const done = { state: 'done', attempts: 2, failures: [{ cause: 'crashed', step: 'b' }] }
  t.match(await flows.job(job), done)
  t.strictSame(notes.runs, ['x a', 'x b', 'x b'])
  // The first one comes back to life, and leaves it alone.
  await first.clock.advance(40_000)
  t.match(await first.flows.job(job), done)
  t.match(await first.flows.stats('f'), { done: 1, active: 0, queued: 0 })
})

t.test('documents that wait go on with the steps of a new definition', async (t) => {
  const { flows, clock, backend } = await running(t)
  const before = new Notes().on('c', fails)
  const define = (notes: Notes, ...names: string[]) =>
    flows.define({ id: 'f', steps: notes.steps(...names), maxAttempts: 10 })
  const ids = ['same', 'longer', 'partly', 'shorter', 'other']
  const after: Record<string, readonly [string[], string[]]> = {
    same: [['a', 'b', 'c'], ['same c']],
    longer: [
      ['a', 'b', 'x', 'c'],
      ['longer x', 'longer c'],
    ],
    partly: [
      ['a', 'x', 'c'],
      ['partly x', 'partly c'],
    ],
    shorter: [['a', 'b'], ['shorter b']],
    other: [
      ['b', 'a'],
      ['other b', 'other a'],
    ],
  }
  const runner = flows.run()
  for (const id of ids) {
    await define(before, 'a', 'b', 'c')
    const { job } = await flows.load('f', document(id))
    await settled()
    t.match(await flows.job(job), { state: 'delayed', completedSteps: ['a', 'b'] })
    const notes = new Notes()
    const [names, runs] = after[id] as readonly [string[], string[]]
    await define(notes, ...names)
    await clock.advance(5000)
    t.strictSame(notes.runs, runs)
    t.match(await flows.job(job), { state: 'done', completedSteps: names })
    t.strictSame(await flowProblems(await backend.open('flows')), [], id)
  }
  await runner.stop()
})

t.test('a flow whose code is not defined here waits, and says so once', async (t) => {
  const backend = new KeptBackend(new MemoryBackend())
  const first = await running(t, { backend })
  const notes = new Notes()
  const definition = { id: 'f', steps: notes.steps('a') }
  await first.flows.define(definition)
  const { job } = await first.flows.load('f', document('x'))
  await first.keep.close()
  const { flows, clock, errors } = await running(t, { backend })
  flows.run()
  await clock.advance(20_000)
  t.match(errors, [{ code: 'LK_FLOW_INVALID' }])
  t.equal(errors.length, 1)
  t.match(await flows.job(job), { state: 'queued' })
  await flows.define(definition)
  await settled()
  t.match(await flows.job(job), { state: 'done' })
})

t.test('a flow that is named and not there is told once, and waited for', async (t) => {
  const { flows, clock, errors } = await running(t)
  const notes = new Notes()
  flows.run({ flows: ['f', 'nope', 'late'] })
  await flows.define({ id: 'f', steps: notes.steps('a') })
  t.strictSame(errors, [])
  await clock.advance(1000)
  t.match(errors, [{ code: 'LK_FLOW_NOT_FOUND', details: { flow: 'nope' } }])
  t.match(errors, [{ message: "'nope', 'late'" }])
  await flows.define({ id: 'late', steps: notes.steps('a') })
  await flows.load('late', document('x'))
  await clock.advance(5000)
  t.strictSame(notes.runs, ['x a'])
  t.equal(errors.length, 1)
})

t.test('a job that is due and may not run yet costs no time', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes().on('a', (_, { document, attempt }) => {
    if (document.id === 'x' && attempt === 1) fails()
    return document.id === 'slow' ? never() : undefined
  })
  await flows.define({ id: 'f', steps: notes.steps('a'), concurrency: 1, minDelayMs: 100 })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await settled()
  await flows.load('f', document('slow'))
  // Would not end where timers of 0 ms follow each other.
  await clock.advance(20_000)
  t.match(await flows.job(job), { state: 'delayed' })
  await flows.stop('f')
  await clock.advance(20_000)
  t.match(await flows.job(job), { state: 'delayed' })
})

t.test('no more than `concurrency` documents are under way, and no document twice', async (t) => {
  const { flows, clock } = await running(t)
  const under = new Map<string, number>()
  let most = 0
  const done: string[] = []
  const run = async (_: unknown, context: { document: { id: string; text: string } }) => {
    const { id, text } = context.document
    under.set(id, (under.get(id) ?? 0) + 1)
    t.equal(under.get(id), 1, `${id} is under way once`)
    most = Math.max(most, under.size)
    await new Promise<void>((resolve) => clock.after(100, resolve))
    under.delete(id)
    done.push(text)
  }
  await flows.define({ id: 'f', steps: [{ name: 'a', run }], concurrency: 3 })
  for (let n = 0; n < 20; n++) {
    await flows.load('f', { id: `d${n % 5}`, content: String(n) })
  }
  flows.run()
  await clock.advance(5000)
  t.equal(most, 3)
  t.equal(done.length, 20)
  // Of each document in the order in which it came.
  for (let n = 0; n < 5; n++) {
    const ofOne = done.map(Number).filter((text) => text % 5 === n)
    t.strictSame(ofOne, [n, n + 5, n + 10, n + 15])
  }
})

t.test('many small documents are under way at once, and few large ones', async (t) => {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { flows } = keep
  for (const [length, check] of [
    [1000, (most: number) => most > 8 && most <= 32],
    // Eight, whose sizes are known when they are taken, and those that end meanwhile.
    [180_000, (most: number) => most <= 12],
  ] as const) {
    const { id } = await flows.define({ id: `of ${length}`, steps: ['chunk', 'extract'] })
    const content = 'of it '.repeat(length / 6)
    const count = 14
    for (let n = 0; n < count; n++) await flows.load(id, { id: `d${n}`, content })
    let [most, done] = [0, 0]
    const runner = flows.run({ flows: [id] })
    // Of a step that computes in a thread; what is written meanwhile is not under way any more.
    while (done < count) {
      await setImmediate()
      const stats = await flows.stats(id)
      most = Math.max(most, stats.active)
      done = stats.done
    }
    await runner.stop()
    t.ok(check(most), `${most} of ${length} characters`)
  }
})

t.test('a stopped flow takes nothing and runs nothing; started, it goes on', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes()
  await flows.define({ id: 'f', steps: notes.steps('a'), active: false })
  await t.rejects(flows.load('f', document('x')), { code: 'LK_FLOW_INACTIVE' })
  await flows.start('f')
  await flows.load('f', document('x'))
  await flows.stop('f')
  flows.run()
  await clock.advance(10_000)
  t.strictSame(notes.runs, [])
  await flows.start('f')
  await settled()
  t.strictSame(notes.runs, ['x a'])
})

t.test('run() of some flows leaves the others alone', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes()
  for (const id of ['f', 'g']) {
    await flows.define({ id, steps: notes.steps('a') })
    await flows.load(id, document(id))
  }
  flows.run({ flows: ['g'] })
  await clock.advance(5000)
  t.strictSame(notes.runs, ['g a'])
  t.throws(() => flows.run({ flows: 'g' as never }), TypeError)
})

t.test('cancel() breaks off what runs, and nothing comes of it', async (t) => {
  const { flows, clock, backend } = await running(t)
  const signals: AbortSignal[] = []
  const notes = new Notes().on('a', (_, { signal }) => (signals.push(signal), never()))
  await flows.define({ id: 'f', steps: notes.steps('a', 'b') })
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await settled()
  await flows.cancel(job)
  t.match(signals[0]?.reason, { code: 'LK_LEASE_LOST' })
  await clock.advance(60_000)
  t.equal(await flows.job(job), undefined)
  t.strictSame(notes.runs, ['x a'])
  await t.rejects(flows.cancel(job), { code: 'LK_JOB_NOT_FOUND' })
  t.strictSame(await flowProblems(await backend.open('flows')), [])
})

t.test('removeDocument() waits for a step that does not listen', async (t) => {
  const { flows, keep, clock } = await running(t)
  const ref = { user: 'alice', id: 'x' }
  const run = async () => {
    await new Promise<void>((resolve) => clock.after(3000, resolve))
    await keep.knowledge.write(ref, [], { mode: 'replace' })
  }
  await flows.define({ id: 'f', steps: [{ name: 'a', run }] })
  for (let n = 0; n < 5; n++) await flows.load('f', document('x'))
  flows.run()
  await settled()
  let removed: boolean | undefined
  const removing = flows.removeDocument({ user: 'alice', document: 'x' })
  void removing.then((found) => (removed = found))
  await clock.advance(2000)
  t.equal(removed, undefined)
  await clock.advance(2000)
  t.equal(await removing, true)
  t.equal(await keep.knowledge.stat(ref), undefined)
  t.equal(await flows.document({ user: 'alice', document: 'x' }), undefined)
})

t.test('what a step does to its document changes nothing that is stored', async (t) => {
  const { flows, clock } = await running(t)
  const term = { v: 'urn:a', e: true }
  const triple = { s: term, p: term, o: term }
  const seen: unknown[] = []
  const notes = new Notes().on('a', (_, context) => {
    const { metadata } = context.document
    seen.push(structuredClone(metadata))
    const triples = metadata as (typeof triple)[]
    triples.push(triple)
    triples[0]!.s.v = 'urn:changed'
    fails()
  })
  const steps = notes.steps('a')
  await flows.define({ id: 'f', steps, maxAttempts: 2 })
  const { job } = await flows.load('f', { ...document('x'), metadata: [triple] })
  flows.run()
  await clock.advance(5000)
  // What a dead letter is retried with is a copy, made where it became one.
  await flows.retry(job)
  await settled()
  t.strictSame(seen, [[triple], [triple], [triple]])
})

t.test('a document that is busy holds up no other one, however often it waits', async (t) => {
  for (const loads of [70, 1500]) {
    for (const isTogether of [true, false]) {
      const { flows, clock } = await running(t)
      const notes = new Notes().on('a', (_, { document }) => {
        return document.id === 'x' ? never() : undefined
      })
      await flows.define({ id: 'f', steps: notes.steps('a'), concurrency: 4 })
      const loading: Promise<unknown>[] = []
      for (let n = 0; n < loads; n++) {
        loading.push(flows.load('f', document('x')))
        if (!isTogether) await loading.at(-1)
      }
      await Promise.all(loading)
      for (const id of ['y', 'z']) await flows.load('f', document(id))
      flows.run()
      await clock.advance(5000)
      t.strictSame(notes.runs, ['x a', 'y a', 'z a'], `${loads} loads, together: ${isTogether}`)
    }
  }
})

t.test('of two loads in one turn the later one wins, also in another flow', async (t) => {
  const { flows, clock } = await running(t)
  const texts: string[] = []
  const run = (_: unknown, { document }: { document: { id: string; text: string } }) => {
    if (document.id === 'x') texts.push(document.text)
  }
  for (const id of ['f', 'g']) await flows.define({ id, steps: [{ name: 'a', run }] })
  const loading = [
    flows.load('f', document('first of this flow')),
    flows.load('g', { ...document('x'), content: 'earlier' }),
    flows.load('f', { ...document('x'), content: 'later' }),
  ]
  const [, earlier, later] = await Promise.all(loading)
  flows.run({ flows: ['g'] })
  await clock.advance(5000)
  flows.run()
  await clock.advance(5000)
  t.strictSame(texts, ['earlier', 'later'])
  t.match(await flows.job(earlier?.job ?? ''), { state: 'done' })
  const job = await flows.job(later?.job ?? '')
  t.match(job, { state: 'done' })
  t.notOk(job?.superseded)
})

t.test(
  'what waits for the same document in another flow begins when that is through',
  async (t) => {
    const { flows, clock } = await running(t)
    let letOn = () => {}
    const notes = new Notes()
      .on('a', () => new Promise<void>((resolve) => (letOn = resolve)))
      .on('b', () => undefined)
    await flows.define({ id: 'f', steps: notes.steps('a') })
    await flows.define({ id: 'g', steps: notes.steps('b') })
    flows.run()
    await flows.load('f', document('x'))
    await clock.advance(5000)
    await flows.load('g', document('x'))
    await clock.advance(5000)
    t.strictSame(notes.runs, ['x a'])
    letOn()
    // Without any time that passes.
    for (let n = 0; n < 10; n++) await settled()
    t.strictSame(notes.runs, ['x a', 'x b'])
  },
)

t.test('of several definitions at once that are refused none leaves its code behind', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes()
  const define = (name: string, options?: { readonly ifVersion: null }) => {
    const [step] = notes.steps(name)
    return flows.define({ id: 'f', steps: [{ ...step, name: 'a' } as Step] }, options)
  }
  await define('right')
  const refused = ['first', 'second', 'third'].map((name) => define(name, { ifVersion: null }))
  for (const each of await Promise.allSettled(refused)) {
    t.match(each, { status: 'rejected', reason: { code: 'LK_PRECONDITION' } })
  }
  await flows.load('f', document('x'))
  flows.run()
  await clock.advance(5000)
  t.strictSame(notes.runs, ['x right'])
})

for (const [how, when, calls, expected] of [
  ['was not stored', 'before', 1, 'old'],
  ['was not stored, and nobody can look', 'before', 3, 'old'],
  ['was stored all the same', 'after', 2, 'new'],
  ['was stored, and nobody can look', 'after', 3, 'new'],
] as const) {
  t.test(`documents go on with the code of what is defined: the new one ${how}`, async (t) => {
    const backend = new FaultyBackend(new KeptBackend(new MemoryBackend()))
    const { flows, clock } = await running(t, { backend: backend as never })
    const notes = new Notes()
    const define = (name: string, concurrency: number) => {
      const [step] = notes.steps(name)
      return flows.define({ id: 'f', steps: [{ ...step, name: 'a' } as Step], concurrency })
    }
    await define('old', 1)
    const last = backend.calls + calls
    Object.assign(backend, { failAt: backend.calls + 1, lasting: true, when })
    backend.beforeCall = async (call) => {
      if (call === last) backend.failAt = Infinity
    }
    await t.rejects(define('new', 2), { code: 'LK_STORAGE_FAILED' })
    t.equal(backend.failAt, Infinity)
    await flows.load('f', document('x'))
    t.equal((await flows.get('f'))?.concurrency, expected === 'old' ? 1 : 2)
    flows.run()
    await clock.advance(5000)
    t.strictSame(notes.runs, [`x ${expected}`])
  })
}

t.test('a file may be read for longer than a step may take', async (t) => {
  await using keep = await createLorekeep({ backend: new MemoryBackend() })
  const { flows } = keep
  const texts: string[] = []
  const run = (_: unknown, { document }: StepContext) => void texts.push(document.text)
  const steps = [{ name: 'a', timeoutMs: 60_000, run }]
  await flows.define({ id: 'f', steps, stepTimeoutMs: 1, maxAttempts: 1 })
  const bytes = Buffer.from('<!doctype html><title>A</title><p>Read in a thread.')
  const { job } = await flows.load('f', { id: 'x', name: 'a.html', bytes })
  const runner = flows.run()
  for await (const { type } of flows.watch({ job })) {
    if (type === 'done' || type === 'dead') break
  }
  await runner.stop()
  t.match(texts, [/Read in a thread/])
})

t.test('storage that fails for a while is tried again', async (t) => {
  const faulty = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const { flows, clock, errors } = await running(t, { backend: faulty as never })
  const notes = new Notes()
  await flows.define({ id: 'f', steps: notes.steps('a', 'b') })
  for (const id of ['x', 'y', 'z']) await flows.load('f', document(id))
  Object.assign(faulty, { failAt: faulty.calls + 3, lasting: true })
  flows.run()
  await clock.advance(10_000)
  faulty.failAt = Infinity
  await clock.advance(120_000)
  t.match(await flows.stats('f'), { done: 3, active: 0, delayed: 0, queued: 0 })
  t.ok(errors.length > 0)
  for (const { failures, attempts } of await listed(flows)) t.equal(failures.length, attempts - 1)
})

/** Writes that wait until they are let go. */
function slowed(real: FaultyBackend) {
  let gate = Promise.resolve()
  let open = () => {}
  const backend = {
    open: async (partition: 'flows') => {
      const storage = await real.open(partition)
      return {
        get: (key: Uint8Array) => storage.get(key),
        getMany: (keys: readonly Uint8Array[]) => storage.getMany(keys),
        scan: (range: object) => storage.scan(range),
        write: async (...args: Parameters<typeof storage.write>) => {
          await gate
          await storage.write(...args)
        },
        close: () => storage.close(),
        [Symbol.asyncDispose]: () => storage.close(),
      }
    },
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  }
  return {
    backend: backend as never,
    hold: () => void (gate = new Promise((resolve) => (open = resolve))),
    free: () => open(),
  }
}
