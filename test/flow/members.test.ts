// Processes that share a backend: documents are removed wherever their steps run, and whoever stands still, or ends,
// holds nothing any more. Each has its own time, which stands still unless a test moves it.

import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { keyPrefix } from '../../src/keys.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { flowProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import type { CoreMessage } from '../../src/types.js'
import type { LorekeepOptions } from '../../src/lorekeep.js'
import type { PartitionName } from '../../src/storage.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import { listed, never, Notes, running, type Running } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const ref = { user: 'alice', document: 'x' }
const core = { user: 'alice', id: 'x' }
const document = { id: 'x', user: 'alice', content: 'text' }

interface Two {
  readonly memory: SharedMemory
  readonly one: Running
  readonly two: Running
}

/** Their wall clocks are a minute apart, unless it says more. */
async function twoOver(t: Test, aheadMs = 60_000): Promise<Two> {
  const memory = new SharedMemory()
  const open = (now: number) => {
    return running(t, { backend: memory.backend() as KeptBackend, clock: new VirtualClock(now) })
  }
  const start = Date.UTC(2026, 0, 1)
  return { memory, one: await open(start), two: await open(start + aheadMs) }
}

/** Time passes for both, in small steps. */
async function pass({ one, two }: Two, ms: number, step = 50): Promise<void> {
  for (let at = 0; at < ms; at += step) {
    await one.clock.advance(step)
    await two.clock.advance(step)
  }
}

function outcomeOf<T>(work: Promise<T>): { value?: T; error?: unknown } {
  const outcome: { value?: T; error?: unknown } = {}
  work.then(
    (value) => (outcome.value = value),
    (error: unknown) => (outcome.error = error),
  )
  return outcome
}

const messages: CoreMessage[] = [
  [
    't',
    {
      m: { i: 'x', m: [], u: 'alice', c: 'default' },
      t: [{ s: { v: 'urn:x', e: true }, p: { v: 'urn:p', e: true }, o: { v: 'o', e: false } }],
    },
  ],
]

function write({ keep }: Running): Promise<unknown> {
  return keep.knowledge.write(core, messages)
}

/** Keys of this kind in the partition of flows. */
async function keysOf(memory: SharedMemory, kind: string): Promise<number> {
  let count = 0
  const flows = await memory.backend().open('flows')
  for await (const page of flows.scan({ ...keyPrefix(kind), keysOnly: true })) count += page.length
  return count
}

/** A flow whose step, in `place`, ends when it is told to, and then writes the core. */
async function slow(place: Running, other: Running, fields: object = {}): Promise<() => void> {
  let go = (): void => undefined
  const notes = new Notes().on('a', async () => {
    await new Promise<void>((resolve) => (go = resolve))
    await write(place)
  })
  const definition = { id: 'f', steps: notes.steps('a'), ...fields }
  await other.flows.define(definition)
  await place.flows.define(definition)
  place.flows.run()
  return () => go()
}

t.test('a removal waits for a step in another process, which leaves nothing', async (t) => {
  const both = await twoOver(t)
  const { one, two, memory } = both
  const go = await slow(two, one)
  await one.flows.load('f', document)
  await pass(both, 100)
  t.match(await listed(one.flows), [{ state: 'active' }])
  const removing = outcomeOf(one.flows.removeDocument(ref))
  await pass(both, 5000)
  t.strictSame(removing, {}, 'waits')
  go()
  await pass(both, 1000)
  t.strictSame(removing, { value: true })
  t.equal(await one.keep.knowledge.stat(core), undefined)
  t.equal(await keysOf(memory, 'ending'), 0)
  t.equal(await keysOf(memory, 'withheld'), 0)
  t.strictSame(await flowProblems(await memory.backend().open('flows')), [])
})

t.test('so it does for one that was given up there at its timeout', async (t) => {
  const both = await twoOver(t)
  const { one, two, memory } = both
  const go = await slow(two, one, { stepTimeoutMs: 100, minDelayMs: 90_000, maxDelayMs: 90_000 })
  await one.flows.load('f', document)
  await pass(both, 300)
  t.match(await listed(one.flows), [{ state: 'delayed', failures: [{ cause: 'timeout' }] }])
  t.equal(await keysOf(memory, 'ending'), 1)
  const removing = outcomeOf(one.flows.removeDocument(ref))
  await pass(both, 3000)
  t.strictSame(removing, {}, 'waits')
  go()
  await pass(both, 1000)
  t.strictSame(removing, { value: true })
  t.equal(await two.keep.knowledge.stat(core), undefined)
  t.equal(await keysOf(memory, 'ending'), 0)
})

t.test('no process claims a document that another removes', async (t) => {
  const both = await twoOver(t)
  const { one, two, memory } = both
  const go = await slow(two, one)
  await one.flows.load('f', document)
  await pass(both, 100)
  const removing = outcomeOf(one.flows.removeDocument(ref))
  await pass(both, 500)
  const { job } = await one.flows.load('f', document)
  const other = await two.flows.load('f', { ...document, id: 'y' })
  await pass(both, 2000)
  t.equal(await keysOf(memory, 'withheld'), 1)
  t.match(await one.flows.job(job), { state: 'queued' })
  t.match(await one.flows.job(other.job), { state: 'active' }, 'others do not wait')
  t.strictSame(removing, {})
  await pass(both, 10_000, 500)
  t.match(removing, { error: { code: 'LK_JOB_STATE' } }, 'not for ever')
  t.match(await one.flows.job(job), { state: 'active' })
  go()
})

t.test('who ends while he removes withholds nothing', async (t) => {
  const both = await twoOver(t)
  const { one, two, memory } = both
  await slow(two, one)
  await one.flows.load('f', document)
  await pass(both, 100)
  void one.flows.removeDocument(ref).catch(() => undefined)
  await pass(both, 500)
  const { job } = await two.flows.load('f', document)
  // From here on nothing is heard of him.
  await two.clock.advance(20_000)
  t.equal(await keysOf(memory, 'withheld'), 1)
  t.match(await two.flows.job(job), { state: 'queued' })
  await two.clock.advance(30_000)
  t.equal(await keysOf(memory, 'withheld'), 0)
  t.match(await two.flows.job(job), { state: 'active' })
})

t.test('who stands still loses his job, and can write nothing of it', async (t) => {
  const both = await twoOver(t)
  const { one, two, memory } = both
  let go = (): void => undefined
  let written: unknown
  const steps = ({ keep }: Running, isSlow: boolean) =>
    new Notes()
      .on('a', async () => {
        if (!isSlow) return
        await new Promise<void>((resolve) => (go = resolve))
        written = await keep.objects.createCollection('c').catch((error: unknown) => error)
      })
      .steps('a')
  await two.flows.define({ id: 'f', steps: steps(two, false), minDelayMs: 100, maxDelayMs: 100 })
  await one.flows.define({ id: 'f', steps: steps(one, true), minDelayMs: 100, maxDelayMs: 100 })
  one.flows.run()
  const { job } = await one.flows.load('f', document)
  await settled()
  t.match(await one.flows.job(job), { state: 'active', attempts: 1 })
  two.flows.run()
  await two.clock.advance(25_000)
  t.match(await two.flows.job(job), { state: 'active', attempts: 1 })
  await two.clock.advance(15_000)
  const done = { state: 'done', attempts: 2, failures: [{ cause: 'crashed' }] }
  t.match(await two.flows.job(job), done)
  // He wakes: what he had under way ends, and then he is there again.
  go()
  await settled()
  t.match(written, { code: 'LK_STORAGE_UNAVAILABLE' })
  await one.clock.advance(11_000)
  t.match(await two.flows.job(job), done)
  const again = await one.flows.load('f', { ...document, id: 'z' })
  await pass(both, 1000)
  t.not(await one.flows.job(again.job), undefined)
  t.strictSame(await flowProblems(await memory.backend().open('flows')), [])
})

t.test('before he is there again, his steps have ended', async (t) => {
  const both = await twoOver(t)
  const { one, two } = both
  let isAborted = false
  let end = (): void => undefined
  const notes = new Notes().on('a', async (_, { signal }) => {
    signal.addEventListener('abort', () => (isAborted = true))
    await new Promise<void>((resolve) => (end = resolve))
  })
  await one.flows.define({ id: 'f', steps: notes.steps('a') })
  one.flows.run()
  await one.flows.load('f', document)
  await settled()
  await two.clock.advance(50_000)
  // His beat is refused.
  await one.clock.advance(6000)
  t.ok(isAborted)
  await t.rejects(one.flows.load('f', { ...document, id: 'y' }), { code: 'LK_STORAGE_UNAVAILABLE' })
  end()
  await settled()
  await settled()
  t.ok(await one.flows.load('f', { ...document, id: 'y' }))
  end()
})

t.test('who was taken for dead closes as soon as anybody, whatever his steps do', async (t) => {
  const { one, two } = await twoOver(t)
  await one.flows.define({ id: 'f', steps: new Notes().on('a', never).steps('a') })
  one.flows.run()
  await one.flows.load('f', document)
  await settled()
  await two.clock.advance(50_000)
  // His beat is refused.
  await one.clock.advance(6000)
  let closedAfter: number | undefined
  const began = one.clock.elapsed()
  const closing = one.keep.close().then(() => (closedAfter = one.clock.elapsed() - began))
  // Threads know but real time.
  while (closedAfter === undefined && one.clock.elapsed() - began < 100_000) {
    await one.clock.advance(500)
    await wait(5)
  }
  await closing
  t.ok(closedAfter! < 15_000, `closed after ${closedAfter} ms`)
})

t.test('a step of before writes nothing when he is there again', async (t) => {
  const { one, two } = await twoOver(t)
  let end = (): void => undefined
  const written: unknown[] = []
  const notes = new Notes().on('a', async (_, { knowledge, objects }) => {
    const graph = knowledge.graph({ user: 'alice' })
    await new Promise<void>((resolve) => (end = resolve))
    const codeOf = async (work: () => Promise<unknown>) => {
      written.push(await work().catch(({ code }: { code: string }) => code))
    }
    await codeOf(async () => knowledge.write(core, messages))
    await codeOf(async () => objects.createCollection('c'))
    await codeOf(async () => graph.merge({ v: 'urn:a', e: true }, { v: 'urn:b', e: true }))
  })
  await two.flows.define({ id: 'f', steps: new Notes().steps('a') })
  await one.flows.define({ id: 'f', steps: notes.steps('a') })
  const runner = one.flows.run()
  await one.flows.load('f', document)
  await settled()
  await two.clock.advance(50_000)
  t.ok(await two.flows.removeDocument(ref), 'nobody has it any more')
  // His beat is refused, and after a lease he is there again, though the step goes on.
  await one.clock.advance(40_000)
  await one.flows.define({ id: 'g', steps: notes.steps('a') })
  end()
  await settled()
  t.strictSame(written, Array(3).fill('LK_STORAGE_UNAVAILABLE'))
  t.equal(await two.keep.knowledge.stat(core), undefined)
  t.strictSame(await two.keep.objects.collections(), [])
  // What he claims from here on writes.
  await one.flows.load('f', document)
  await one.clock.advance(2000)
  end()
  await settled()
  t.ok(await two.keep.knowledge.stat(core))
  t.notOk(written.slice(3).includes('LK_STORAGE_UNAVAILABLE'))
  void runner
})

t.test('a job that failed under a clock a day ahead comes again in time', async (t) => {
  const both = await twoOver(t, 86_400_000)
  const { one, two } = both
  const notes = new Notes().on('a', () => Promise.reject(new Error('on purpose')))
  const waits = { minDelayMs: 10_000, maxDelayMs: 10_000 }
  await one.flows.define({ id: 'f', steps: new Notes().steps('a'), ...waits })
  await two.flows.define({ id: 'f', steps: notes.steps('a'), ...waits })
  const runner = two.flows.run()
  const { job } = await one.flows.load('f', document)
  await pass(both, 100)
  await runner.stop()
  t.match(await one.flows.job(job), { state: 'delayed' })
  one.flows.run()
  await pass(both, 4000)
  t.match(await one.flows.job(job), { state: 'delayed' })
  await pass(both, 3000)
  t.match(await one.flows.job(job), { state: 'done', attempts: 2 })
})

t.test('a look at the queue that fails is told, and no other', async (t) => {
  const memory = new SharedMemory()
  const real = memory.backend()
  const faulty = new FaultyBackend(real)
  const backend = {
    ...{ shared: true, close: () => real.close(), [Symbol.asyncDispose]: () => real.close() },
    open: (partition: PartitionName) => (partition === 'flows' ? faulty : real).open(partition),
  }
  const told: string[] = []
  const onError: LorekeepOptions['onError'] = (error, { where }) => {
    told.push(`${where}: ${(error as { code: string }).code}`)
  }
  const { clock, keep } = await running(t, { backend: backend as unknown as KeptBackend, onError })
  await clock.advance(20_000)
  t.strictSame(told, [])
  Object.assign(faulty, { failAt: faulty.calls + 1, lasting: true })
  await clock.advance(6000)
  t.strictSame(told, ['flows: LK_STORAGE_FAILED'])
  faulty.failAt = Infinity
  await clock.advance(20_000)
  await keep.close()
  await clock.advance(20_000)
  t.strictSame(told, ['flows: LK_STORAGE_FAILED'])
})

/** As twoOver(), and the storage may be one that takes no writes. */
async function faultyOver(t: Test): Promise<Two & { readonly backends: readonly FaultyBackend[] }> {
  const memory = new SharedMemory()
  const backends = [new FaultyBackend(memory.backend()), new FaultyBackend(memory.backend())]
  const open = (backend: unknown) => running(t, { backend: backend as KeptBackend })
  return { memory, one: await open(backends[0]), two: await open(backends[1]), backends }
}

const areDead = ({ errors }: Running) => {
  return errors.some((error) => String(error).includes('took this process for dead'))
}

t.test('who has no runner takes back what he could not release', async (t) => {
  const both = await faultyOver(t)
  const { one, two, backends } = both
  const notes = new Notes().on('a', never)
  await one.flows.define({ id: 'f', steps: notes.steps('a'), minDelayMs: 0, maxDelayMs: 0 })
  const { job } = await one.flows.load('f', document)
  const runner = one.flows.run()
  await pass(both, 200)
  t.match(await one.flows.job(job), { state: 'active' })
  backends[0]!.refusesWrites = true
  const stopping = runner.stop({ timeoutMs: 50 })
  await one.clock.advance(100)
  await stopping
  backends[0]!.refusesWrites = false
  await two.flows.define({
    id: 'f',
    steps: new Notes().steps('a'),
    minDelayMs: 0,
    maxDelayMs: 0,
  })
  two.flows.run()
  await pass(both, 40_000, 500)
  t.match(await two.flows.job(job), { state: 'done', failures: [{ cause: 'crashed' }] })
  await pass(both, 40_000, 500)
  t.notOk(areDead(one))
})

t.test('nobody is taken for dead for a time in which nobody could write', async (t) => {
  const both = await faultyOver(t)
  const { one, two, backends } = both
  const go = await slow(one, two)
  two.flows.run()
  const { job } = await one.flows.load('f', document)
  await pass(both, 200)
  t.match(await one.flows.job(job), { state: 'active' })
  for (const backend of backends) backend.refusesWrites = true
  await pass(both, 90_000, 500)
  for (const backend of backends) backend.refusesWrites = false
  await two.clock.advance(10_000)
  await pass(both, 10_000, 500)
  t.notOk(areDead(one))
  go()
  await pass(both, 1000)
  t.match(await two.flows.job(job), { state: 'done', attempts: 1 })
})
