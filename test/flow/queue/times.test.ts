// A job says when it was loaded, and when anything was last done with it.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import type { Claimed } from '../../../src/flow/queue/queue.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, failureOf, jobsOf, openQueue, steps } from './queues.js'

t.test('each change of a job is one of its time', async (t) => {
  const clock = new VirtualClock()
  const queue = await openQueue(await new MemoryBackend().open('flows'), { clock })
  const loadedAt = clock.now()
  const id = await queue.load('f', documentOf('d'))
  const claim = async () => {
    const [job] = (await queue.claim('f', 1)).jobs
    assert.ok(job)
    return job
  }
  let held: Claimed | undefined
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    active: async () => (held = await claim()),
    delayed: async () => held && queue.fail(held, failureOf(held)),
    queued: () => queue.retry(id),
    done: async () => queue.complete(await claim(), steps),
  }
  for (const [state, change] of Object.entries(changes)) {
    await clock.advance(1000)
    await change()
    const [job] = await jobsOf(queue, { flow: 'f' })
    t.match(job, {
      state,
      createdAt: new Date(loadedAt).toISOString(),
      updatedAt: new Date(clock.now()).toISOString(),
    })
  }
})
