// What a change is refused for is true of the queue as it is, and costs whoever waits behind it no time.

import assert from 'node:assert/strict'
import t from 'tap'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { documentOf, drained, flowOf, openQueue, steps } from './queues.js'

t.test('many that are refused at once are looked at once', async (t) => {
  const backend = new FaultyBackend(new SharedMemory().backend())
  const queue = await openQueue(await backend.open('flows'))
  await Promise.all(Array.from({ length: 200 }, (_, n) => queue.load('f', documentOf(`d${n}`))))
  const { jobs } = await queue.claim('f', 200)
  t.equal(jobs.length, 200)
  await Promise.all(jobs.map((job) => queue.complete(job, steps)))
  const before = backend.calls
  const renewed = await Promise.allSettled(jobs.map((job) => queue.renew(job)))
  const codes = renewed.map(
    (one) => one.status === 'rejected' && (one.reason as { code: string }).code,
  )
  t.strictSame(new Set(codes), new Set(['LK_LEASE_LOST']))
  t.ok(backend.calls - before <= 4, `${backend.calls - before} calls`)
})

t.test(
  'who is refused for what others ask for at the same time hears of it when that is written',
  async (t) => {
    const backend = new FaultyBackend(new SharedMemory().backend())
    const queue = await openQueue(await backend.open('flows'))
    await queue.define(flowOf('f', { maxQueued: 1 }))
    backend.refusesWrites = true
    const codes = async () => {
      const both = ['a', 'b'].map((id) => queue.load('f', documentOf(id)))
      const settled = await Promise.allSettled(both)
      return settled.map(
        (one) => one.status === 'rejected' && (one.reason as { code: string }).code,
      )
    }
    // Nothing is in the way of either.
    t.strictSame(await codes(), ['LK_STORAGE_UNAVAILABLE', 'LK_STORAGE_UNAVAILABLE'])
    backend.refusesWrites = false
    t.strictSame(await codes(), [false, 'LK_FLOW_FULL'])
  },
)

t.test('who would be refused for what is so no more is not', async (t) => {
  const memory = new SharedMemory()
  const backend = new FaultyBackend(memory.backend())
  const queue = await openQueue(await backend.open('flows'))
  const storage = await new FaultyBackend(memory.backend()).open('flows')
  assert.ok(storage.sharing)
  // Whose turn was taken from it, and who does not know that yet.
  const sharing = { ...storage.sharing, turn: () => Promise.resolve(() => undefined) }
  const other = await openQueue({ ...storage, sharing })
  await queue.define(flowOf('f', { maxQueued: 1 }))
  await queue.load('f', documentOf('first'))
  const before = backend.calls
  backend.beforeCall = async (call) => {
    // It looks whether it may refuse them.
    if (call !== before + 1) return
    t.equal((await drained(other, 'f')).length, 1)
  }
  const settled = await Promise.allSettled(['a', 'b'].map((id) => queue.load('f', documentOf(id))))
  t.ok(backend.calls > before)
  t.strictSame(
    settled.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  )
})
