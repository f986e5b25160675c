import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { followJobs, looks } from '../../src/cli/commands/flows/job-watch.js'
import type { Ending } from '../../src/cli/commands/flows/job-watch.js'
import { flowsIn, type FlowAccess } from '../../src/cli/access/flow-access.js'
import { openLocalStores } from '../../src/cli/access/local-stores.js'

const { signal } = new AbortController()

async function open(t: Test, flow: string) {
  return flowsIn(await openLocalStores(join(t.testdir(), 'data'), true, undefined), flow)
}

t.test('jobs that ended before anyone watched are looked up', async (t) => {
  const flows = await open(t, 'brief')
  t.teardown(() => flows.close())
  await flows.define('brief', { id: 'brief', steps: ['chunk'] })
  const load = async (id: string) => {
    const { job } = await flows.load({ id, text: 'QQ==' })
    return { id: job, user: 'trustgraph', document: id }
  }
  const follow = async (...jobs: Parameters<typeof followJobs>[1]) => {
    const endings: (readonly [string, Ending['state']])[] = []
    const onEnd = (job: string, { state }: Ending) => void endings.push([job, state])
    await followJobs(flows, jobs, { signal, onEvent() {}, onEnd })
    return endings
  }
  const away = await load('away')
  await flows.cancel(away.id)
  const done = await load('done')
  const runner = flows.run()
  t.strictSame(await follow(done), [[done.id, 'done']])
  t.strictSame(await follow(done), [[done.id, 'done']], 'its record says so')
  await runner.stop()
  await flows.remove('brief')
  await t.rejects(flows.job(done.id), { code: 'LK_JOB_NOT_FOUND' }, 'its record is gone')
  t.strictSame(await follow(away, done), [
    [away.id, 'cancelled'],
    [done.id, 'done'],
  ])
})

t.test('a job whose end no event tells is looked up again', async (t) => {
  const { everyMs } = looks
  t.teardown(() => (looks.everyMs = everyMs))
  looks.everyMs = 1
  const flows = await open(t, 'default')
  t.teardown(() => flows.close())
  const { job } = await flows.load({ id: 'silent', text: 'QQ==' })
  let lookedUp = 0
  const silent: FlowAccess = {
    ...flows,
    job: (id) => (lookedUp++ === 1 ? Promise.reject(new Error('for a moment')) : flows.job(id)),
    async watch({ signal, onConnected }) {
      await onConnected()
      await flows.cancel(job)
      await once(signal, 'abort')
    },
  }
  const endings: string[] = []
  const onEnd = (id: string, { state }: Ending) => void endings.push(`${id} ${state}`)
  const watched = { id: job, user: 'trustgraph', document: 'silent' }
  await followJobs(silent, [watched], { signal, onEvent() {}, onEnd })
  t.strictSame(endings, [`${job} cancelled`])
})

t.test('watching ends when it is interrupted', async (t) => {
  const flows = await open(t, 'default')
  t.teardown(() => flows.close())
  const { job } = await flows.load({ id: 'waits', text: 'QQ==' })
  const controller = new AbortController()
  const watched = { id: job, user: 'trustgraph', document: 'waits' }
  const following = followJobs(flows, [watched], {
    signal: controller.signal,
    onEvent() {},
    onEnd() {},
  })
  const reason = new Error('enough')
  controller.abort(reason)
  await t.rejects(following, reason)
})
