// Two processes over one backend: what one does with flows and jobs the other hears of, by a message
// where one arrives, and else when it looks. Time stands still unless a test moves it.

import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { headKey } from '../../src/flow/queue/records.js'
import type { Backend, Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import { listed, never, Notes, running, watched, type Running } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const document = (id: string) => ({ id, user: 'alice', content: `text of ${id}` })

interface Two {
  readonly one: Running
  readonly two: Running
  readonly clock: VirtualClock
}

async function twoOver(t: Test, alter = (backend: Backend): Backend => backend): Promise<Two> {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const open = async () => {
    const backend = alter(memory.backend()) as KeptBackend
    return running(t, { backend, clock })
  }
  return { one: await open(), two: await open(), clock }
}

/** Nothing that is published arrives, but who waits for a turn: without that, it takes a while in which time stands still. */
const silent = altering(({ sharing }) => ({
  sharing: {
    ...sharing!,
    publish: (message) => {
      if (Buffer.from(message).includes('"turn"')) sharing!.publish(message)
    },
  },
}))

/** The event loop goes round with each read. */
const slow = altering((storage) => ({
  get: async (key) => {
    for (let n = 0; n < 3; n++) await turn()
    return storage.get(key)
  },
}))

/** With members of its storages in place of theirs. */
function altering(membersOf: (storage: Storage) => Partial<Storage>) {
  return (real: Backend): Backend => ({
    shared: real.shared,
    open: async (partition) => {
      const storage = await real.open(partition)
      return altered(storage, membersOf(storage))
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  })
}

/** Calls with each look at the head of the queue. */
function counted(real: Backend, onLook: () => void): Backend {
  return {
    shared: real.shared,
    open: async (partition) => {
      const storage = await real.open(partition)
      return new Proxy(storage, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name)
          if (typeof member !== 'function') return member
          return (...asked: readonly [Uint8Array]) => {
            const isLook = name === 'get' && Buffer.compare(asked[0], headKey()) === 0
            if (isLook && partition === 'flows') onLook()
            return member.apply(target, asked) as unknown
          }
        },
      })
    },
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
}

/** What follows from one another, in this process and by messages, which go out each 20 ms. */
async function quiet(clock: VirtualClock): Promise<void> {
  for (let n = 0; n < 4; n++) {
    for (let turn = 0; turn < 5; turn++) await settled()
    await clock.advance(20)
  }
}

t.test('what one loads the other begins, and whoever watches hears all of it', async (t) => {
  const { one, two, clock } = await twoOver(t)
  const notes = new Notes().on('a', (_, { progress }) => progress(1, 2))
  await two.flows.define({ id: 'f', steps: notes.steps('a', 'b') })
  two.flows.run()
  await quiet(clock)
  const ofFlow = watched(one.flows, { flow: 'f' })
  await quiet(clock)
  const { job } = await one.flows.load('f', document('x'))
  const ofJob = watched(one.flows, { job })
  const ofDocument = watched(one.flows, { user: 'alice', document: 'x' })
  await quiet(clock)
  await ofJob.ended
  t.strictSame(notes.runs, ['x a', 'x b'])
  t.equal(ofJob.events.at(-1)?.type, 'done')
  const types = ['queued', 'active', 'progress', 'step', 'step', 'done']
  t.strictSame(
    ofFlow.events.map(({ type }) => type),
    types,
  )
  t.equal(ofDocument.events.filter(({ type }) => type === 'done').length, 1, 'told once')
})

t.test('who begins to run looks for what others have loaded', async (t) => {
  const { one, two } = await twoOver(t, silent)
  const notes = new Notes()
  await two.flows.define({ id: 'f', steps: notes.steps('a') })
  await one.flows.load('f', document('x'))
  two.flows.run()
  await settled()
  await settled()
  t.strictSame(notes.runs, ['x a'])
})

t.test('what one cancels the other breaks off', async (t) => {
  const { one, two, clock } = await twoOver(t)
  let ended = false
  const notes = new Notes().on('a', async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended = true
  })
  await two.flows.define({ id: 'f', steps: notes.steps('a') })
  two.flows.run()
  const { job } = await one.flows.load('f', document('x'))
  await quiet(clock)
  t.strictSame(notes.runs, ['x a'])
  await one.flows.cancel(job)
  await quiet(clock)
  t.ok(ended)
  t.strictSame(await listed(two.flows), [])
})

t.test('a flow is as it was defined last, by whomever', async (t) => {
  const { one, two, clock } = await twoOver(t)
  const notes = new Notes().on('a', never)
  await one.flows.define({ id: 'f', concurrency: 3, steps: notes.steps('a') })
  const running = two.flows.run()
  await two.flows.define({ id: 'f', concurrency: 3, steps: notes.steps('a') })
  await one.flows.define({ id: 'f', concurrency: 9, steps: notes.steps('a') })
  t.equal((await two.flows.get('f'))?.concurrency, 9)
  for (let n = 0; n < 12; n++) await one.flows.load('f', document(`x${n}`))
  await quiet(clock)
  t.equal(notes.runs.length, 9)
  void running
  await one.flows.define({ id: 'g', steps: notes.steps('a') })
  t.ok(await two.flows.get('g'))
  await one.flows.remove('g')
  t.equal(await two.flows.get('g'), undefined)
})

t.test('what is asked for is the newest, or a second old where that will do', async (t) => {
  let reads = 0
  const { one, two, clock } = await twoOver(t, (real) => counted(silent(real), () => reads++))
  await one.flows.define({ id: 'f', steps: new Notes().steps('a') })
  t.match(await two.flows.stats('f'), { queued: 0 })
  const { job } = await one.flows.load('f', document('x'))
  const recent = { reads: 'recent' } as const
  t.match(await two.flows.job(job, recent), { state: 'queued' }, 'nobody is told that it is none')
  const before = reads
  await two.flows.job(job, recent)
  t.equal(reads, before, 'nobody has looked')
  await one.flows.load('f', document('y'))
  // In one turn one look does.
  const stats = await Promise.all(Array.from({ length: 20 }, () => two.flows.stats('f')))
  t.ok(stats.every(({ queued }) => queued === 2))
  t.equal(reads - before, 2, 'one that finds it, one behind what it tells that finds nothing more')
  await clock.advance(1000)
  const after = reads
  await two.flows.job(job, recent)
  t.equal(reads - after, 1, 'after a second')
  await two.flows.job(job)
  t.equal(reads - after, 2)
})

t.test('without a single message it is found by looking', async (t) => {
  const { one, two, clock } = await twoOver(t, silent)
  let ended = false
  const notes = new Notes().on('b', async (_, { signal }) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended = true
  })
  await two.flows.define({ id: 'f', steps: notes.steps('a') })
  await two.flows.define({ id: 'g', steps: notes.steps('b') })
  two.flows.run()
  await quiet(clock)
  const { job } = await one.flows.load('f', document('x'))
  const { job: endless } = await one.flows.load('g', document('y'))
  const ofJob = watched(one.flows, { job })
  const ofDocument = watched(one.flows, { user: 'alice', document: 'y' })
  await quiet(clock)
  t.strictSame(notes.runs, [], 'nobody knows yet')
  await clock.advance(2500)
  await ofJob.ended
  t.equal(ofJob.events.at(-1)?.type, 'done')
  t.match(ofDocument.events.at(-1), { type: 'active', state: 'active', job: endless })
  await one.flows.cancel(endless)
  await clock.advance(2500)
  t.ok(ended)
  t.equal(ofDocument.events.at(-1)?.type, 'cancelled')
})

t.test('whoever watches one after the other puts no look off', async (t) => {
  const { one, two, clock } = await twoOver(t, silent)
  await two.flows.define({ id: 'f', steps: new Notes().steps('a') })
  const { job } = await one.flows.load('f', document('x'))
  const ofJob = watched(one.flows, { job })
  two.flows.run()
  for (let n = 0; n < 60; n++) {
    watched(one.flows, { job })
    await clock.advance(50)
  }
  t.equal(ofJob.events.at(-1)?.type, 'done')
})

t.test('a job that another cancels, or whose record is gone, has ended', async (t) => {
  const { one, two, clock } = await twoOver(t, silent)
  const notes = new Notes()
  await one.flows.define({ id: 'f', steps: notes.steps('a'), keepDone: 0 })
  await two.flows.define({ id: 'f', steps: notes.steps('a'), keepDone: 0 })
  const jobs = []
  for (let n = 0; n < 120; n++) jobs.push((await one.flows.load('f', document(`x${n}`))).job)
  const [first = '', last = ''] = [jobs[0], jobs.at(-1)]
  const done = watched(one.flows, { job: first })
  const cancelled = watched(one.flows, { job: last })
  await quiet(clock)
  await two.flows.cancel(last)
  await clock.advance(1500)
  await cancelled.ended
  t.equal(cancelled.events.at(-1)?.type, 'cancelled')
  two.flows.run()
  await clock.advance(3000)
  t.equal(await one.flows.job(first), undefined, 'forgotten')
  await done.ended
  t.equal(done.events.at(-1)?.type, 'done')
})

t.test('others may speak while it opens', async (t) => {
  const memory = new SharedMemory()
  const speaking = await memory.backend().open('flows')
  const backend = slow(memory.backend()) as KeptBackend
  let isOpen = false
  const opened = running(t, { backend, clock: new VirtualClock() }).finally(() => (isOpen = true))
  const message = Buffer.from(JSON.stringify({ type: 'changed', flows: ['f'], cancelled: [] }))
  for (; !isOpen; await turn()) speaking.sharing!.publish(message)
  await t.resolves(opened)
})
