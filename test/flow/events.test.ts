// Who watches hears of everything once, in its order, and of no more than memory has room for.

import t from 'tap'
import { EventHub } from '../../src/flow/events.js'
import type { JobEvent } from '../../src/flow/types.js'
import { never, Notes, running, watched } from './running.js'
import { settled } from './virtual-clock.js'

const document = (id: string, user = 'alice') => ({ id, user, content: `text of ${id}` })
const kinds = (events: readonly JobEvent[]) => {
  return events.map((event) => ('step' in event ? `${event.type} ${event.step}` : event.type))
}

t.test('a document from its load to its end', async (t) => {
  const { flows, clock } = await running(t)
  const notes = new Notes()
    .on('a', (_, { progress }) => {
      progress(1, 2)
      progress(2, 2)
    })
    .on('b', (_, { attempt }) => {
      if (attempt === 1) throw new Error('on purpose')
    })
  await flows.define({ id: 'f', steps: notes.steps('a', 'b') })
  const { events } = watched(flows)
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await clock.advance(5000)
  // What is told in one turn of the event loop is known by its newest progress.
  const all = ['queued', 'active', 'progress a', 'step a', 'failed', 'active', 'step b', 'done']
  t.strictSame(kinds(events), all)
  for (const event of events) {
    t.match(event, { job, flow: 'f', user: 'alice', document: 'x', collection: 'default' })
  }
  t.match(events[4], { state: 'delayed', attempts: 1, failure: { cause: 'failed', step: 'b' } })
  t.match(events[7], { state: 'done', attempts: 2 })
})

t.test('the state comes first, then what happens', async (t) => {
  const { flows } = await running(t)
  await flows.define({ id: 'f', steps: new Notes().steps('a') })
  await flows.load('f', document('x'))
  await flows.load('f', document('x'))
  await flows.load('f', document('y'))
  const { events } = watched(flows, { user: 'alice', document: 'x' })
  flows.run()
  await settled()
  t.equal(kinds(events)[0], 'state')
  t.strictSame(new Set(events.map(({ document }) => document)), new Set(['x']))
  // The state may be the end already, and then stands for all before it.
  const ended = events.filter(({ state }) => state === 'done').map(({ job }) => job)
  t.equal(new Set(ended).size, 2)
  t.equal(ended.length, 2, 'told once each')
})

t.test('a watcher hears of what it asked for alone', async (t) => {
  const { flows } = await running(t)
  for (const id of ['f', 'g']) await flows.define({ id, steps: new Notes().steps('a') })
  const ofG = watched(flows, { flow: 'g' })
  const ofBob = watched(flows, { user: 'bob' })
  await flows.load('f', document('x'))
  await flows.load('g', document('x'))
  await flows.load('f', document('x', 'bob'))
  await settled()
  t.match(ofG.events, [{ flow: 'g', user: 'alice' }])
  t.match(ofBob.events, [{ flow: 'f', user: 'bob' }])
})

t.test('dead letters, retries and cancellations are told', async (t) => {
  const { flows } = await running(t)
  let isBad = true
  const notes = new Notes().on('a', () => {
    if (isBad) throw new Error('on purpose')
    return never()
  })
  await flows.define({ id: 'f', steps: notes.steps('a'), maxAttempts: 1 })
  const { events } = watched(flows)
  const { job } = await flows.load('f', document('x'))
  flows.run()
  await settled()
  isBad = false
  await flows.retry(job)
  await settled()
  await flows.cancel(job)
  await settled()
  t.strictSame(kinds(events), ['queued', 'active', 'dead', 'queued', 'active', 'cancelled'])
})

t.test('nothing is told behind the end of a step', async (t) => {
  const { flows } = await running(t)
  let late = (_: number, __: number) => {}
  const notes = new Notes().on('a', (_, { progress }) => void (late = progress))
  await flows.define({ id: 'f', steps: notes.steps('a') })
  const { events } = watched(flows)
  await flows.load('f', document('x'))
  flows.run()
  await settled()
  late(1, 2)
  await settled()
  t.equal(kinds(events).at(-1), 'done')
})

t.test('progress is two numbers; a step that tells something else has failed', async (t) => {
  const { flows } = await running(t)
  const bad: unknown[] = [1n, {}, '1', undefined, NaN, Infinity]
  const thrown: unknown[] = []
  const notes = new Notes().on('a', (_, { progress }) => {
    for (const value of bad) {
      for (const pair of [[value, 2] as const, [2, value] as const]) {
        try {
          progress(...(pair as [number, number]))
        } catch (error) {
          thrown.push(error)
        }
      }
    }
    progress(bad[0] as number, 2)
  })
  await flows.define({ id: 'f', steps: notes.steps('a'), maxAttempts: 1 })
  const { events } = watched(flows)
  await flows.load('f', document('x'))
  flows.run()
  await settled()
  t.equal(thrown.filter((error) => error instanceof TypeError).length, 2 * bad.length)
  t.strictSame(kinds(events), ['queued', 'active', 'dead'])
})

t.test('it ends when its signal is aborted, also where it was before', async (t) => {
  const { flows } = await running(t)
  const controller = new AbortController()
  const before = watched(flows, { signal: controller.signal })
  await flows.define({ id: 'f', steps: new Notes().steps('a') })
  await flows.load('f', document('x'))
  await settled()
  controller.abort()
  await before.ended
  t.strictSame(kinds(before.events), ['queued'])
  const after = watched(flows, { signal: controller.signal })
  await after.ended
  t.strictSame(after.events, [])
})

t.test('it ends when the store is closed', async (t) => {
  const { flows, keep } = await running(t)
  const one = watched(flows)
  const two = watched(flows, { document: 'x', user: 'alice' })
  await settled()
  await keep.close()
  await Promise.all([one.ended, two.ended])
  t.throws(() => flows.watch(), { code: 'LK_CLOSED' })
})

t.test('it ends when it is left, and nobody is told then', async (t) => {
  const hub = new EventHub()
  const iterator = hub.watch({}, async () => [])[Symbol.asyncIterator]()
  t.equal(hub.isWatched, true)
  const waiting = iterator.next()
  await iterator.return?.()
  t.equal((await waiting).done, true)
  t.equal(hub.isWatched, false)
})

t.test('where the state cannot be read, the watcher gets the error', async (t) => {
  const hub = new EventHub()
  const failing = hub.watch({}, () => Promise.reject(new Error('on purpose')))
  await t.rejects(
    (async () => {
      for await (const _ of failing) t.fail('an event')
    })(),
    { message: 'on purpose' },
  )
  t.equal(hub.isWatched, false)
})

t.test('a flow that is not there is an error while iterating', async (t) => {
  const { flows } = await running(t)
  await t.rejects(watched(flows, { flow: 'nope' }).ended, {
    code: 'LK_FLOW_NOT_FOUND',
    details: { flow: 'nope' },
  })
  await flows.define({ id: 'f' })
  const stop = new AbortController()
  const { ended } = watched(flows, { flow: 'f', signal: stop.signal })
  await settled()
  stop.abort()
  await ended
})

t.test('of progress that was not read the newest of each job stays', async (t) => {
  const hub = new EventHub()
  const iterator = hub.watch({}, async () => [])[Symbol.asyncIterator]()
  await settled()
  for (let done = 1; done <= 100; done++) {
    for (const job of ['x', 'y']) hub.emit(progressOf(job, done))
  }
  hub.emit({ ...progressOf('x', 0), type: 'done' } as JobEvent)
  const found = [await iterator.next(), await iterator.next(), await iterator.next()]
  t.match(
    found.map(({ value }) => value as unknown),
    [
      { job: 'x', done: 100 },
      { job: 'y', done: 100 },
      { job: 'x', type: 'done' },
    ],
  )
})

t.test('who does not read loses progress first, and then the oldest', async (t) => {
  const hub = new EventHub()
  const iterator = hub.watch({}, async () => [])[Symbol.asyncIterator]()
  await settled()
  const most = 10_000
  const done = (job: string) => ({ ...progressOf(job, 0), type: 'done' }) as JobEvent
  for (let n = 0; n < 100; n++) hub.emit(progressOf(`p${n}`, 1))
  for (let n = 0; n < most; n++) hub.emit(done(`d${n}`))
  t.match((await iterator.next()).value, { type: 'done', job: 'd0' })
  for (let n = 0; n < 11; n++) hub.emit(done(`e${n}`))
  let unread = 0
  let first: string | undefined
  hub.close()
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    first ??= next.value.job
    unread++
  }
  t.equal(unread, most)
  t.equal(first, 'd11')
})

t.test('a hundred watchers that stand still hold up nobody', async (t) => {
  const { flows } = await running(t)
  await flows.define({ id: 'f', steps: new Notes().steps('a'), concurrency: 50 })
  for (let n = 0; n < 100; n++) flows.watch()
  for (let n = 0; n < 50; n++) await flows.load('f', document(`d${n}`))
  flows.run()
  await settled()
  t.match(await flows.stats('f'), { done: 50 })
})

function progressOf(job: string, done: number): JobEvent {
  return {
    ...{ type: 'progress', job, flow: 'f', user: 'u', document: 'd', collection: 'c' },
    ...{ at: '', state: 'active', attempts: 1, step: 'a', done, total: 100 },
  } as JobEvent
}
