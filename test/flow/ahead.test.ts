// Where a claim takes its time, jobs are claimed ahead of those that run. Time stands still unless a test moves it.

import t, { type Test } from 'tap'
import type { Backend, Storage } from '../../src/storage.js'
import { flowProblems } from '../fixtures/problems.js'
import { altered } from '../fixtures/altered-storage.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import { listed, Notes, running } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const writeMs = 40
const stepMs = 10

/** Each write takes so long, once it is `far`. */
function farOf(real: Backend, clock: VirtualClock, is: { far: boolean }): KeptBackend {
  const wrapped = {
    shared: true,
    open: async (partition: 'flows') => {
      const storage = await real.open(partition)
      if (partition !== 'flows') return storage
      const write: Storage['write'] = async (...asked) => {
        if (is.far) await new Promise<void>((resolve) => clock.after(writeMs, resolve))
        return storage.write(...asked)
      }
      return altered(storage, { write })
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  return wrapped as unknown as KeptBackend
}

/** A process whose steps take 10 ms until they are `held`, two of them at once, and another one. */
async function twoOf(t: Test) {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const other = await running(t, { backend: memory.backend() as KeptBackend, clock })
  const is = { far: false }
  const one = await running(t, { backend: farOf(memory.backend(), clock, is), clock })
  let isHeld = false
  const freed: (() => void)[] = []
  const notes = new Notes().on('a', async () => {
    if (isHeld) await new Promise<void>((resolve) => freed.push(resolve))
    else await new Promise<void>((resolve) => clock.after(stepMs, resolve))
  })
  for (const { flows } of [other, one]) {
    await flows.define({ id: 'f', steps: notes.steps('a'), concurrency: 2 })
  }
  await Promise.all(
    Array.from({ length: 60 }, (_, n) => {
      return other.flows.load('f', { id: `d${n}`, user: 'alice', content: 'text' })
    }),
  )
  is.far = true
  const runner = one.flows.run()
  await clock.advance(6 * (writeMs + stepMs))
  const hold = async () => {
    isHeld = true
    await clock.advance(4 * writeMs)
  }
  const free = () => {
    isHeld = false
    for (const end of freed.splice(0)) end()
  }
  const storage = await memory.backend().open('flows')
  return { one, other, clock, notes, runner, hold, free, freed, storage }
}

t.test('more are claimed than run, and no more run than may', async (t) => {
  const { other, clock, hold, free, freed, storage } = await twoOf(t)
  await hold()
  t.equal(freed.length, 2)
  const { active } = await other.flows.stats('f')
  t.ok(active > 2 && active <= 18, `${active} are claimed`)
  free()
  await clock.advance(2000)
  const { done, queued } = await other.flows.stats('f')
  t.equal(done, 60, `${queued} wait`)
  t.strictSame(await flowProblems(storage), [])
})

t.test('what was not begun goes back when the runner stops, as if nothing had been', async (t) => {
  const { other, clock, notes, runner, hold, free, freed, storage } = await twoOf(t)
  await hold()
  const before = notes.runs.length
  const stopping = runner.stop()
  await clock.advance(2 * writeMs)
  t.equal((await other.flows.stats('f')).active, 2, 'those that run')
  t.equal(freed.length, 2)
  free()
  await clock.advance(2 * writeMs)
  await stopping
  t.equal(notes.runs.length, before)
  const queued = await listed(other.flows, 'queued')
  t.ok(queued.length > 10)
  t.ok(queued.every(({ attempts, failures }) => attempts === 0 && failures.length === 0))
  other.flows.run()
  await clock.advance(2000)
  const done = await listed(other.flows, 'done')
  t.equal(done.length, 60)
  t.ok(done.every(({ attempts }) => attempts === 1))
  t.equal(notes.runs.length, 60, 'each has run once')
  t.strictSame(await flowProblems(storage), [])
})

t.test('what was not begun and is taken away never begins', async (t) => {
  const { one, other, clock, notes, hold, free, freed, storage } = await twoOf(t)
  await hold()
  const active = await listed(other.flows, 'active')
  const begun = new Set(notes.runs.map((run) => run.split(' ')[0]))
  const waiting = active.filter(({ document }) => !begun.has(document))
  t.ok(waiting.length > 0)
  for (const { id } of waiting) await other.flows.cancel(id)
  await clock.advance(1000)
  t.equal(freed.length, 2)
  free()
  await clock.advance(3000)
  await settled()
  const runs = new Set(notes.runs.map((run) => run.split(' ')[0]))
  for (const { document } of waiting) t.notOk(runs.has(document), document)
  t.equal((await other.flows.stats('f')).done, 60 - waiting.length)
  t.strictSame(one.errors, [])
  t.strictSame(await flowProblems(storage), [])
})
