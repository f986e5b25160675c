// Retries and cancellations of all jobs that match. test/torture/flows-model.ts has them among everything else.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Lorekeep } from '../../src/index.js'
import type { JobEvent, JobState } from '../../src/flow/types.js'
import { longest } from '../../src/turns.js'
import { countTurns } from '../fixtures/turns.js'

/** Of two users each so many documents, the first ones of which fail for good. */
async function filled(t: Test, count: number, dead: number): Promise<Lorekeep> {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(keep.close)
  const run = (_: unknown, { document }: { document: { id: string } }) => {
    throw new Error(`no ${document.id}`)
  }
  await keep.flows.define({ id: 'f', steps: [{ name: 'fail', run }], maxAttempts: 1 })
  const load = async (from: number, to: number) => {
    const all = Array.from({ length: to - from }, (_, n) => `d${from + n}`)
    for (const user of ['alice', 'bob']) {
      await Promise.all(all.map((id) => keep.flows.load('f', { id, user, content: 'x' })))
    }
  }
  await load(0, dead)
  const runner = keep.flows.run({ flows: ['f'] })
  const seen = keep.flows.watch({ flow: 'f' })
  let left = 2 * dead
  if (left > 0) for await (const { state } of seen) if (state === 'dead' && --left === 0) break
  await runner.stop()
  await load(dead, count)
  return keep
}

t.test('all that match are retried, whatever they are', async (t) => {
  const { flows } = await filled(t, 3, 2)
  const misspelt = flows.retryAll({ flow: 'f', state: ['dead', 'x'] as JobState[] })
  await t.rejects(misspelt, {
    name: 'TypeError',
    message: /not an array with the string "x" in it/,
  })
  t.strictSame(await flows.retryAll({ flow: 'f', state: ['queued', 'active', 'done'] }), {
    retried: 0,
  })
  t.strictSame(await flows.retryAll({ user: 'alice', error: 'NO D1' }), { retried: 1 })
  t.match(await flows.stats('f'), { queued: 3, dead: 3 })
  t.strictSame(await flows.retryAll({ scope: { user: 'alice' } }), { retried: 1 })
  t.strictSame(await flows.retryAll({ user: 'bob', scope: { user: 'alice' } }), { retried: 0 })
  t.strictSame(await flows.retryAll(), { retried: 2 })
  t.match(await flows.stats('f'), { queued: 6, dead: 0 })
  for await (const { attempts } of flows.jobs({ flow: 'f' })) t.equal(attempts, 0)
  for (const flow of ['none', '', 'x'.repeat(257)]) {
    await t.rejects(flows.retryAll({ flow }), { code: 'LK_FLOW_NOT_FOUND' })
  }
  await t.rejects(flows.retryAll({ limit: 0 }), TypeError)
})

t.test('all that match are cancelled, more than one step takes', async (t) => {
  const { flows } = await filled(t, 700, 3)
  const events: JobEvent[] = []
  const stop = new AbortController()
  const watched = (async () => {
    for await (const event of flows.watch({ flow: 'f', signal: stop.signal })) events.push(event)
  })()
  t.strictSame(await flows.cancelAll({ document: 'd600' }), { cancelled: 2 })
  t.strictSame(await flows.cancelAll({ flow: 'f', user: 'bob', state: ['queued', 'done'] }), {
    cancelled: 696,
  })
  t.match(await flows.stats('f'), { queued: 696, dead: 6 })
  t.strictSame(await flows.cancelAll({ flow: 'f' }), { cancelled: 702 })
  t.match(await flows.stats('f'), { queued: 0, dead: 0 })
  await new Promise(setImmediate)
  stop.abort()
  await watched
  t.equal(events.filter(({ type }) => type === 'cancelled').length, 1400)
  t.ok(await flows.remove('f'), 'nothing is left of them')
})

t.test('with a limit there is a cursor for the rest, of those that were there', async (t) => {
  const { flows } = await filled(t, 4, 0)
  const first = await flows.cancelAll({ flow: 'f', limit: 3 })
  t.match(first, { cancelled: 3, next: String })
  await flows.load('f', { id: 'late', user: 'alice', content: 'x' })
  const { next: after = '' } = first
  for (const other of [{ user: 'bob' }, { state: 'queued' as const }]) {
    await t.rejects(flows.cancelAll({ flow: 'f', after, ...other }), { code: 'LK_CURSOR' })
  }
  await t.rejects(flows.retryAll({ flow: 'f', after }), { code: 'LK_CURSOR' })
  t.strictSame(await flows.cancelAll({ flow: 'f', after }), { cancelled: 5 })
  t.match(await flows.stats('f'), { queued: 1 })
})

t.test('one with a limit that finds little ends, and can go on', async (t) => {
  const { flows } = await filled(t, 6000, 0)
  await flows.load('f', { id: 'last', user: 'bob', content: 'x', collection: 'other' })
  let [calls, cancelled] = [0, 0]
  let after: string | undefined
  do {
    const query = { flow: 'f', collection: 'other', limit: 1 }
    const page = await flows.cancelAll({ ...query, ...(after !== undefined && { after }) })
    cancelled += page.cancelled
    after = page.next
    calls++
  } while (after !== undefined && cancelled === 0)
  t.equal(cancelled, 1)
  t.ok(calls > 1, `${calls} calls`)
})

t.test('an abort ends it, and so does closing the store', async (t) => {
  const keep = await filled(t, 600, 0)
  const { flows } = keep
  const reason = new Error('enough')
  await t.rejects(flows.cancelAll({ signal: AbortSignal.abort(reason) }), reason)
  t.match(await flows.stats('f'), { queued: 1200 })
  const stop = new AbortController()
  const aborted = flows.cancelAll({ flow: 'f', signal: stop.signal })
  for await (const { type } of flows.watch()) if (type === 'cancelled') break
  stop.abort(reason)
  await t.rejects(aborted, reason)
  const { queued } = await flows.stats('f')
  t.ok(queued > 0 && queued < 1200, `${queued} are left`)
  const closed = flows.cancelAll({ flow: 'f' })
  await keep.close()
  await t.rejects(closed, { code: 'LK_CLOSED' })
})

t.test('others have their turns of the event loop, also where the storage is memory', async (t) => {
  const { flows } = await filled(t, 600, 600)
  const before = longest.ms
  longest.ms = -1
  t.teardown(() => (longest.ms = before))
  const retrying = countTurns()
  // 256 in a commit.
  t.strictSame(await flows.retryAll({ state: 'dead' }), { retried: 1200 })
  const retried = retrying()
  t.ok(retried >= 4, `${retried} turns while 1,200 jobs were retried`)
  await flows.define({ id: 'f', steps: [{ name: 'pass', run: (input) => input }] })
  const running = countTurns()
  const seen = flows.watch({ flow: 'f' })
  const runner = flows.run({ flows: ['f'] })
  let left = 1200
  for await (const { state } of seen) if (state === 'done' && --left === 0) break
  const run = running()
  t.ok(run >= 4, `${run} turns while 1,200 jobs were run`)
  await runner.stop()
})
