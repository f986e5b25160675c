// Loads beside the head, as whoever uses two stores over one backend sees them.

import { setImmediate as turn } from 'node:timers/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { createLorekeep, restore } from '../../src/index.js'
import type { Backend } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { flowProblems } from '../fixtures/problems.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { countOf } from './queue/crowd.js'
import { Notes, running, watched } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const document = (id: string) => ({ id, user: 'alice', content: `text of ${id}` })

/** Two stores that post: one of them has waited long for its turn, to load the document `first` for the flow `f`. */
async function posting(t: Test, alter = (backend: Backend): Backend => backend) {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const open = () => running(t, { backend: alter(memory.backend()) as KeptBackend, clock })
  const [one, two] = [await open(), await open()]
  const notes = new Notes()
  for (const { flows } of [one, two]) await flows.define({ id: 'f', steps: notes.steps('a') })
  const storage = await memory.backend().open('flows')
  const release = await storage.sharing!.turn('head')
  const loading = two.flows.load('f', document('first'))
  await quiet(clock)
  release()
  await loading
  for (const { flows } of [one, two]) await flows.stats('f')
  t.equal(await countOf(storage, 'gate'), 1)
  return { one, two, clock, storage, notes }
}

/** What follows from one another, in this process and by messages, which go out each 20 ms. */
async function quiet(clock: VirtualClock): Promise<void> {
  for (let n = 0; n < 5; n++) {
    for (let n = 0; n < 5; n++) await settled()
    await clock.advance(20)
    await turn()
  }
}

t.test('what is asked for behind a load knows it, here and elsewhere', async (t) => {
  const { one, two, storage } = await posting(t)
  let queued = 1
  for (const { flows } of [one, two]) {
    const { job } = await one.flows.load('f', document('a'))
    t.equal(await countOf(storage, 'post'), 1)
    t.equal((await flows.stats('f')).queued, ++queued)
    await one.flows.load('f', document('b'))
    t.match(await flows.document({ user: 'alice', document: 'b' }), { jobs: [{ state: 'queued' }] })
    await flows.cancel(job)
    await one.flows.load('f', document('c'))
    t.equal((await flows.jobPage({ flow: 'f', state: 'queued' })).total, queued + 1)
    await one.flows.load('f', document('d'))
    await t.rejects(flows.remove('f'), { code: 'LK_FLOW_IN_USE' })
    await one.flows.load('f', document('e'))
    t.equal(await flows.removeDocument({ user: 'alice', document: 'e' }), true)
    await one.flows.load('f', document('f'))
    t.equal((await flows.cancelAll({ flow: 'f' })).cancelled, queued + 3)
    queued = 0
  }
})

t.test('whoever watches hears of each load once, before it is taken in', async (t) => {
  const { one, two, clock, storage, notes } = await posting(t)
  const heard = [watched(one.flows, { flow: 'f' }), watched(two.flows, { flow: 'f' })]
  await quiet(clock)
  await one.flows.load('f', document('x'))
  await quiet(clock)
  t.equal(await countOf(storage, 'post'), 1)
  const types = () => heard.map(({ events }) => events.map(({ type }) => type))
  t.strictSame(types(), [['queued'], ['queued']])
  two.flows.run()
  for (let n = 0; n < 3; n++) await quiet(clock)
  t.strictSame(notes.runs, ['first a', 'x a'])
  for (const events of types()) t.equal(events.filter((type) => type === 'queued').length, 1)
})

t.test('a backup that was taken while loads are posted has them', async (t) => {
  const { one, storage } = await posting(t)
  const { job } = await one.flows.load('f', document('a'))
  t.equal(await countOf(storage, 'post'), 1)
  const file = join(t.testdir(), 'a.backup')
  await one.keep.backup(file)
  const backend = new LevelBackend(`${file}.data`)
  t.teardown(() => backend.close())
  await restore(backend, file)
  const restored = await backend.open('flows')
  t.equal(await countOf(restored, 'post'), 1)
  t.strictSame(await flowProblems(restored), [])
  const keep = await createLorekeep({ backend: new KeptBackend(backend) })
  t.teardown(() => keep.close())
  t.equal((await keep.flows.stats('f')).queued, 2)
  t.equal((await keep.flows.job(job))?.document, 'a')
  t.equal(await countOf(restored, 'post'), 0)
  t.strictSame(await flowProblems(restored), [])
})

t.test('while the storage is gone, a runner looks with its beat alone', async (t) => {
  const backends: FaultyBackend[] = []
  const { one, clock } = await posting(t, (backend) => {
    backends.push(new FaultyBackend(backend))
    return backends.at(-1)!
  })
  one.flows.run()
  await quiet(clock)
  const [backend] = backends as [FaultyBackend]
  backend.failAt = backend.calls + 1
  backend.lasting = true
  await clock.advance(2500)
  const before = backend.calls
  for (let n = 0; n < 500; n++) await turn()
  // That of the last beat, at most.
  t.ok(backend.calls - before < 50, `${backend.calls - before} calls`)
  backend.failAt = Infinity
})
