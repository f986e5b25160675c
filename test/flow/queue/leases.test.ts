// Leases are counted in beats that whoever watches has seen, on his own clock: no two clocks have to agree.

import assert from 'node:assert/strict'
import t from 'tap'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import type { Claimed, JobQueue } from '../../../src/flow/queue/queue.js'
import type { Presence } from '../../../src/presence.js'
import { VirtualClock } from '../virtual-clock.js'
import { members } from './crowd.js'
import { documentOf, failureOf, jobsOf, leaseMs, openQueue, steps } from './queues.js'

interface Watched {
  readonly clock: VirtualClock
  /** Has the job. */
  readonly holder: JobQueue
  /** Another process, with its own clock. */
  readonly watcher: JobQueue
  readonly held: Claimed
}

async function watched(aheadMs: number, holderLeaseMs = leaseMs): Promise<Watched> {
  const memory = new SharedMemory()
  const clock = new VirtualClock()
  const open = async (ms: number, lease: number) =>
    openQueue(await memory.backend().open('flows'), { clock: clock.shifted(ms), leaseMs: lease })
  const holder = await open(0, holderLeaseMs)
  const watcher = await open(aheadMs, leaseMs)
  await holder.load('f', documentOf('d'))
  const [held] = (await holder.claim('f', 1)).jobs
  assert.ok(held)
  return { clock, holder, watcher, held }
}

const states = async (queue: JobQueue) =>
  (await jobsOf(queue, { flow: 'f' })).map(({ state }) => state)

for (const aheadMs of [60_000, -60_000]) {
  t.test(`a lease is kept under a clock that is ${aheadMs} ms ahead`, async (t) => {
    const { clock, holder, watcher, held } = await watched(aheadMs)
    for (let n = 0; n < 10; n++) {
      await watcher.refresh()
      t.equal(await watcher.reap(), 0)
      await clock.advance(leaseMs / 3)
      await holder.renew(held)
    }
    await holder.complete(held, steps)
    t.strictSame(await states(holder), ['done'])
  })

  t.test(`one that nobody renews is taken back, ${aheadMs} ms ahead`, async (t) => {
    const { clock, watcher } = await watched(aheadMs)
    await clock.advance(5000)
    // From here on it is known there.
    await watcher.refresh()
    const since = clock.elapsed()
    await clock.advance(leaseMs - 1)
    t.equal(await watcher.reap(), 0)
    await clock.advance(1)
    t.equal(clock.elapsed() - since, leaseMs)
    t.equal(await watcher.reap(), 1)
    const [job] = await jobsOf(watcher, { flow: 'f' })
    t.match(job, { state: 'delayed', failures: [{ cause: 'crashed' }] })
  })
}

for (const jumpMs of [3_600_000, -3_600_000]) {
  t.test(`a wall clock that jumps by ${jumpMs} ms changes nothing`, async (t) => {
    const { clock, holder, watcher, held } = await watched(0)
    await watcher.refresh()
    clock.jump(jumpMs)
    t.equal(await watcher.reap(), 0)
    t.equal(await holder.reap(), 0)
    await clock.advance(leaseMs - 1)
    t.equal(await watcher.reap(), 0)
    await clock.advance(1)
    t.equal(await watcher.reap(), 1)
    await t.rejects(holder.renew(held), { code: 'LK_LEASE_LOST' })
  })
}

t.test('how long a lease is good for is for the holder to say', async (t) => {
  const { clock, watcher } = await watched(0, 5 * leaseMs)
  await watcher.refresh()
  await clock.advance(5 * leaseMs - 1)
  t.equal(await watcher.reap(), 0)
  await clock.advance(1)
  t.equal(await watcher.reap(), 1)
})

t.test('what was seen is known on when the state is read anew', async (t) => {
  const { clock, holder, watcher } = await watched(0)
  await watcher.refresh()
  for (let n = 0; n < 9; n++) {
    await clock.advance(leaseMs / 10)
    await holder.load('f', documentOf(`other${n}`))
    await watcher.refresh()
    t.equal(await watcher.reap(), 0)
  }
  await clock.advance(leaseMs / 10)
  t.equal(await watcher.reap(), 1)
})

t.test('who stood still can do nothing with what was taken from him', async (t) => {
  const { clock, holder, watcher, held } = await watched(0)
  await watcher.refresh()
  await clock.advance(leaseMs)
  t.equal(await watcher.reap(), 1)
  const lost = { code: 'LK_LEASE_LOST' }
  await t.rejects(holder.record(held, ['a'], new Uint8Array(1)), lost)
  await t.rejects(holder.fail(held, failureOf(held)), lost)
  await t.rejects(holder.release(held, failureOf(held)), lost)
  await t.rejects(holder.complete(held, steps), lost)
  t.strictSame(await states(watcher), ['delayed'])
})

t.test('nobody is taken for dead for a time in which nobody could look', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const clock = new VirtualClock()
  const [one, other] = await members(t, { memory, clock })
  const open = async (presence: Presence) =>
    openQueue(await memory.backend().open('flows'), { clock, presence })
  const [holder, watcher] = [await open(one), await open(other)]
  await holder.load('f', documentOf('d'))
  const [held] = (await holder.claim('f', 1)).jobs
  assert.ok(held)
  const looked = async () => {
    await watcher.refresh()
    return watcher.reap()
  }
  const self = one.id
  t.equal(await looked(), 0)
  await clock.advance(3 * leaseMs)
  t.equal(await looked(), 0)
  t.equal(one.id, self)
  // Who could renew since, and does not, has ended or stands still.
  let reaped = 0
  for (let n = 0; n < 7; n++) {
    await clock.advance(leaseMs / 4)
    reaped += await looked()
  }
  t.equal(reaped, 0)
  await clock.advance(leaseMs / 4)
  t.equal(await looked(), 1)
})
