// Who watches a job that was delayed by a clock that is ahead puts it back when it has waited enough.

import assert from 'node:assert/strict'
import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import { jobKey } from '../../../src/flow/queue/records.js'
import { flowProblems } from '../../fixtures/problems.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, failureOf, flowOf, jobsOf, openQueue } from './queues.js'

const dayMs = 86_400_000
const waitMs = 60_000
const firstFlow = flowOf('f', { minDelayMs: waitMs, maxDelayMs: waitMs })
const chance = { fraction: () => 1, token: () => `token${++tokens}` }
let tokens = 0

/** Two processes; the first one's clock is so much ahead of the second one's. */
async function apart(t: Test, aheadMs: number) {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const clock = new VirtualClock()
  const open = async (ms: number) => {
    const shifted = { clock: clock.shifted(ms), firstFlow, chance }
    return openQueue(await memory.backend().open('flows'), shifted)
  }
  const ahead = await open(aheadMs)
  const watcher = await open(0)
  const fail = async (...ids: readonly string[]) => {
    const loaded: string[] = []
    for (const id of ids) loaded.push(await ahead.load('f', documentOf(id)))
    const { jobs } = await ahead.claim('f', ids.length)
    assert.equal(jobs.length, ids.length)
    for (const job of jobs) await ahead.fail(job, failureOf(job))
    return loaded
  }
  const look = async () => {
    await watcher.refresh()
    await watcher.endWaits()
    return (await watcher.claim('f', 8)).jobs.length
  }
  const storage = await memory.backend().open('flows')
  const problems = () => flowProblems(storage)
  return { clock, ahead, watcher, fail, look, storage, problems }
}

for (const aheadMs of [60_000, dayMs]) {
  t.test(`by ${aheadMs} ms`, async (t) => {
    const { clock, watcher, fail, look, problems } = await apart(t, aheadMs)
    await fail('x', 'y')
    t.equal(await look(), 0)
    await clock.advance(waitMs / 2)
    // What others write meanwhile makes nobody wait from the beginning.
    await fail('z')
    t.equal(await look(), 0)
    await clock.advance(waitMs / 2 - 1)
    t.equal(await look(), 0)
    await clock.advance(1)
    t.equal(await look(), 2)
    t.match(watcher.stats('f'), { active: 2, delayed: 1, queued: 0 })
    await clock.advance(waitMs / 2)
    t.equal(await look(), 1)
    t.strictSame(await problems(), [])
  })
}

t.test('one whose record is damaged is told when it is due, and holds up no other', async (t) => {
  for (const isSeen of [false, true]) {
    const { clock, watcher, fail, look, storage, problems } = await apart(t, dayMs)
    const [lost] = await fail('x', 'y')
    if (isSeen) t.equal(await look(), 0)
    const key = jobKey(numberIn(lost!)!)
    await storage.write([{ type: 'put', key, value: Buffer.from('no record') }])
    if (!isSeen) t.equal(await look(), 0)
    await clock.advance(waitMs)
    t.equal(await look(), 1)
    t.match(watcher.stats('f'), { active: 1, delayed: 1, queued: 0 })
    await clock.advance(2 * dayMs)
    t.equal(await look(), 0)
    t.match(watcher.stats('f'), { delayed: 0, dead: 1 })
    t.match(await jobsOf(watcher, { flow: 'f', state: 'dead' }), [{ id: lost, document: 'x' }])
    t.strictSame(await problems(), [])
  }
})

t.test('one that others took on is left to them', async (t) => {
  const { clock, ahead, watcher, fail, look } = await apart(t, dayMs)
  await fail('x', 'y', 'z')
  t.equal(await look(), 0)
  await clock.advance(waitMs)
  // Due by its own clock, too.
  const [first, second, third] = (await ahead.claim('f', 3)).jobs
  assert.ok(first && second && third)
  await ahead.fail(first, failureOf(first))
  await ahead.complete(second, ['a', 'b', 'c'])
  // It has not seen that.
  await watcher.endWaits()
  t.equal((await watcher.claim('f', 8)).jobs.length, 0)
  const states = (await jobsOf(watcher, { flow: 'f' })).map(({ state }) => state)
  t.strictSame(states.toSorted(), ['active', 'delayed', 'done'])
})

t.test('whose own clock is set back waits no longer either', async (t) => {
  const clock = new VirtualClock()
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage, { clock, firstFlow, chance, isAlone: true })
  await queue.load('f', documentOf('x'))
  const [held] = (await queue.claim('f', 1)).jobs
  assert.ok(held)
  await queue.fail(held, failureOf(held))
  clock.jump(-dayMs)
  const look = async () => {
    await queue.endWaits()
    return (await queue.claim('f', 1)).jobs.length
  }
  t.equal(await look(), 0)
  await clock.advance(waitMs - 1)
  t.equal(await look(), 0)
  await clock.advance(1)
  t.equal(await look(), 1)
})
