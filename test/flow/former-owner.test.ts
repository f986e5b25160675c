// What a process that ended left under way, where the backend has one owner: it is taken up at the
// next open, whatever the clocks say.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { Backend, PartitionName } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { flowProblems } from '../fixtures/problems.js'
import { listed, never, Notes, running, type Running } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const day = 86_400_000
const start = Date.UTC(2026, 0, 2)
const document = { id: 'd', content: 'text' }

/** The data as a process that ends here leaves it: nobody closes anything. */
async function leftBehind(real: Backend): Promise<KeptBackend> {
  const copy = new MemoryBackend()
  for (const name of ['cores', 'slices', 'objects', 'flows'] satisfies PartitionName[]) {
    const [from, to] = [await real.open(name), await copy.open(name)]
    for await (const page of from.scan({})) {
      await to.write(page.map(({ key, value }) => ({ type: 'put', key, value })))
    }
  }
  return new KeptBackend(copy)
}

/** A flow of three steps whose second never ends, and a document in it. */
async function stuck({ flows, clock }: Running, fields: object = {}): Promise<string> {
  const notes = new Notes().on('b', never)
  await flows.define({ id: 'f', steps: notes.steps('a', 'b', 'c'), minDelayMs: 1000, ...fields })
  flows.run()
  const { job } = await flows.load('f', document)
  await clock.advance(10)
  t.strictSame(notes.runs, ['d a', 'd b'])
  return job
}

for (const [name, shiftMs] of [
  ['at the same time', 0],
  ['with the clock a day back', -day],
  ['with the clock a day ahead', day],
] as const) {
  t.test(`a document under way goes on where it stood, ${name}`, async (t) => {
    const first = await running(t, { clock: new VirtualClock(start) })
    const id = await stuck(first)
    const backend = await leftBehind(first.backend)
    const clock = new VirtualClock(start + shiftMs)
    const { flows } = await running(t, { clock, backend })
    const [job] = await listed(flows)
    t.match(job, { id, state: 'delayed', attempts: 1, failures: [{ cause: 'crashed', step: 'b' }] })
    const notes = new Notes()
    await flows.define({ id: 'f', steps: notes.steps('a', 'b', 'c'), minDelayMs: 1000 })
    flows.run()
    await clock.advance(499)
    t.strictSame(notes.runs, [], 'as after any failure')
    await clock.advance(2)
    t.strictSame(notes.runs, ['d b', 'd c'], 'what was recorded is kept')
    t.match(await listed(flows, 'done'), [{ id, attempts: 2 }])
    t.strictSame(await flowProblems(await backend.open('flows')), [])
  })
}

t.test('the last attempt ends among the dead letters, with its document', async (t) => {
  const first = await running(t)
  const id = await stuck(first, { maxAttempts: 1 })
  const backend = await leftBehind(first.backend)
  const { flows, clock } = await running(t, { backend })
  t.match(await listed(flows), [{ id, state: 'dead', failures: [{ cause: 'crashed' }] }])
  t.strictSame(await flowProblems(await backend.open('flows')), [])
  const notes = new Notes()
  await flows.define({ id: 'f', steps: notes.steps('a', 'b', 'c') })
  await flows.retry(id)
  flows.run()
  await clock.advance(10)
  t.match(await listed(flows), [{ id, state: 'done' }])
})

t.test('delays of a clock that was ahead are waited for no longer than any', async (t) => {
  const first = await running(t, { clock: new VirtualClock(start) })
  const failing = new Notes().on('a', () => Promise.reject(new Error('not yet')))
  const flow = { id: 'f', minDelayMs: 1000, maxDelayMs: 60_000, concurrency: 300 }
  await first.flows.define({ ...flow, steps: failing.steps('a') })
  first.flows.run()
  for (let n = 0; n < 600; n++) await first.flows.load('f', { ...document, id: `d${n}` })
  await first.clock.advance(10)
  const delayed = async () => (await first.flows.stats('f')).delayed
  // A claim reads some of a lane that has many runs, and there are several.
  for (let n = 0; n < 100 && (await delayed()) < 600; n++) await settled()
  t.equal(await delayed(), 600)
  const backend = await leftBehind(first.backend)
  const clock = new VirtualClock(start - day)
  const { flows } = await running(t, { clock, backend })
  t.strictSame(await flowProblems(await backend.open('flows')), [])
  t.equal((await flows.stats('f')).delayed, 600)
  const notes = new Notes()
  await flows.define({ ...flow, steps: notes.steps('a') })
  flows.run()
  await clock.advance(1100)
  for (let n = 0; n < 100 && notes.runs.length < 600; n++) await settled()
  t.equal(notes.runs.length, 600)
  t.equal((await flows.stats('f')).done, 600)
})

t.test('a delay that fits to the clock stays as it is', async (t) => {
  const first = await running(t)
  const failing = new Notes().on('a', () => Promise.reject(new Error('not yet')))
  const flow = { id: 'f', minDelayMs: 3_000_000, maxDelayMs: 3_000_000 }
  await first.flows.define({ ...flow, steps: failing.steps('a') })
  first.flows.run()
  await first.flows.load('f', document)
  await first.clock.advance(10)
  const [before] = await listed(first.flows, 'delayed')
  const backend = await leftBehind(first.backend)
  const { flows } = await running(t, { backend })
  const [after] = await listed(flows, 'delayed')
  t.strictSame(after, before)
})

t.test('a second lorekeep over a backend in use takes nothing from the first', async (t) => {
  const first = await running(t)
  let end = () => {}
  const notes = new Notes().on('b', () => new Promise<void>((resolve) => (end = resolve)))
  await first.flows.define({ id: 'f', steps: notes.steps('a', 'b') })
  first.flows.run()
  await first.flows.load('f', document)
  await first.clock.advance(10)
  const second = await running(t, { backend: first.backend, clock: first.clock })
  t.match(await listed(second.flows), [{ state: 'active' }])
  end()
  await first.clock.advance(10)
  t.match(await listed(second.flows), [{ state: 'done', attempts: 1 }])
  t.strictSame(notes.runs, ['d a', 'd b'])
})

t.test('whoever opens a backend that was closed before is alone again', async (t) => {
  const faulty = new FaultyBackend(new KeptBackend(new MemoryBackend()))
  const backend = faulty as unknown as KeptBackend
  const first = await running(t, { backend })
  const id = await stuck(first)
  // The runner that stops cannot give it back.
  faulty.refusesWrites = true
  const closing = first.keep.close()
  await first.clock.advance(20_000)
  await closing
  faulty.refusesWrites = false
  const { flows } = await running(t, { backend, clock: first.clock })
  t.match(await listed(flows), [{ id, state: 'delayed', failures: [{ cause: 'crashed' }] }])
})

t.test('on a backend that others may share, leases are waited for', async (t) => {
  const first = await running(t)
  const id = await stuck(first)
  const left = await leftBehind(first.backend)
  const { flows, clock } = await running(t, { backend: new KeptBackend(left, true) })
  t.match(await listed(flows), [{ id, state: 'active' }])
  flows.run()
  await clock.advance(29_000)
  t.match(await listed(flows), [{ id, state: 'active' }])
  await clock.advance(2_000)
  t.match(await listed(flows), [{ id, state: 'delayed', failures: [{ cause: 'crashed' }] }])
})
