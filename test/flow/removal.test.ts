// What was removed stays away, and nobody waits for ever for that.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import type { FlowDocument } from '../../src/flow/types.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { flowProblems } from '../fixtures/problems.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { never, Notes, running } from './running.js'
import type { Running } from './running.js'
import { settled } from './virtual-clock.js'

const ref = { user: 'alice', document: 'x' }
const core = { user: 'alice', id: 'x' }
const document = { id: 'x', user: 'alice', content: 'text' }

/** Its knowledge, as a step writes it. */
const write = ({ keep }: Running) => keep.knowledge.write(core, [], { mode: 'replace' })

/** Whether a promise has been settled, and how. */
function outcomeOf(promise: Promise<unknown>) {
  const outcome: { value?: unknown; error?: unknown } = {}
  promise.then(
    (value) => (outcome.value = value),
    (error: unknown) => (outcome.error = error),
  )
  return outcome
}

t.test('a step that never ends is waited for 10 s', async (t) => {
  const { flows, clock } = await running(t)
  let end = (_: unknown) => {}
  const notes = new Notes().on('a', () => new Promise((resolve) => (end = resolve)))
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const { job } = await flows.load('f', document)
  flows.run()
  await settled()
  const first = outcomeOf(flows.removeDocument(ref))
  await clock.advance(9999)
  t.strictSame(first, {})
  await clock.advance(1)
  t.match(first, { error: { code: 'LK_JOB_STATE' } })
  t.equal(await flows.job(job), undefined, 'it is cancelled all the same')
  // It is still waited for by whoever tries again.
  const second = outcomeOf(flows.removeDocument(ref))
  await clock.advance(5000)
  t.strictSame(second, {})
  end('late')
  await settled()
  t.strictSame(second, { value: false }, 'nothing of it was there')
  // And the document may come again.
  const again = await flows.load('f', document)
  await settled()
  t.match(await flows.job(again.job), { state: 'active' })
})

t.test('close() does not wait for a removal that waits for a step', async (t) => {
  const { keep, flows, clock } = await running(t, { closeTimeoutMs: 50 })
  await flows.define({ id: 'f', steps: new Notes().on('a', never).steps('a') })
  await flows.load('f', document)
  flows.run()
  await settled()
  const removing = outcomeOf(flows.removeDocument(ref))
  await settled()
  const closing = keep.close()
  await clock.advance(50)
  await closing
  t.match(removing, { error: { code: 'LK_CLOSED' } })
})

t.test('a step that was given up at its timeout writes nothing behind a removal', async (t) => {
  const store = await running(t)
  const { keep, flows, clock } = store
  let go = (_: unknown) => {}
  const notes = new Notes().on('a', async () => {
    await new Promise((resolve) => (go = resolve))
    await write(store)
  })
  await flows.define({ id: 'f', steps: notes.steps('a'), stepTimeoutMs: 100, minDelayMs: 60_000 })
  const { job } = await flows.load('f', document)
  flows.run()
  await clock.advance(100)
  t.match(await flows.job(job), { state: 'delayed' })
  const removing = outcomeOf(flows.removeDocument(ref))
  await clock.advance(5000)
  t.strictSame(removing, {})
  go(undefined)
  await settled()
  t.strictSame(removing, { value: true })
  t.equal(await keep.knowledge.stat(core), undefined)
})

t.test('a load that comes during a removal is processed behind it', async (t) => {
  const store = await running(t)
  const { keep, flows, clock } = store
  const texts: string[] = []
  let end = (_: unknown) => {}
  const notes = new Notes().on('a', async (_, { document }: { document: FlowDocument }) => {
    texts.push(document.text)
    if (document.text === 'old') await new Promise((resolve) => (end = resolve))
    if (document.text === 'new') await write(store)
  })
  await flows.define({ id: 'f', steps: notes.steps('a') })
  await flows.load('f', { ...document, content: 'old' })
  flows.run()
  await settled()
  // Of two, the one that gives up first lets go of its own hold alone.
  const impatient = outcomeOf(flows.removeDocument(ref))
  await clock.advance(8000)
  const patient = outcomeOf(flows.removeDocument(ref))
  await settled()
  const { job } = await flows.load('f', { ...document, content: 'new' })
  const other = await flows.load('f', { ...document, id: 'y' })
  await clock.advance(3000)
  t.match(await flows.job(job), { state: 'queued' })
  t.match(await flows.job(other.job), { state: 'done' }, 'others do not wait')
  end(undefined)
  await settled()
  t.match(impatient, { error: { code: 'LK_JOB_STATE' } })
  t.match(patient, { value: false })
  t.match(await flows.job(job), { state: 'done' })
  t.strictSame(texts, ['old', 'text', 'new'])
  t.ok(await keep.knowledge.stat(core))
  t.match(await flows.document(ref), { completed: { job } })
})

t.test('a removal that failed half way is called again by whoever sees the document', async (t) => {
  const real = new MemoryBackend()
  const faulty = new FaultyBackend(new KeptBackend(real))
  const backend = new KeptBackend(real)
  // That of cores alone.
  backend.open = (partition) => (partition === 'cores' ? faulty : real).open(partition)
  const store = await running(t, { backend })
  const { keep, flows, clock } = store
  const notes = new Notes()
    .on('a', () => write(store))
    .on('b', () => Promise.reject(new Error('on purpose')))
  await flows.define({ id: 'f', steps: notes.steps('a', 'b'), maxAttempts: 1 })
  const { job } = await flows.load('f', document)
  flows.run()
  await clock.advance(5000)
  t.match(await flows.job(job), { state: 'dead' })
  const options = { scope: { user: 'alice', collections: ['default'] } }
  faulty.refusesWrites = true
  await t.rejects(flows.removeDocument(ref, options), { code: 'LK_STORAGE_UNAVAILABLE' })
  faulty.refusesWrites = false
  t.ok(await keep.knowledge.stat(core))
  t.match(await flows.document(ref, options), { jobs: [{ id: job, state: 'dead' }] })
  t.equal(await flows.removeDocument(ref, options), true)
  t.equal(await keep.knowledge.stat(core), undefined)
  t.equal(await flows.document(ref), undefined)
  t.strictSame(await flowProblems(await backend.open('flows')), [])
})
