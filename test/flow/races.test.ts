// Several queues over one storage, and much at once in one queue.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { serialize } from 'node:v8'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { hasCode } from '../../src/errors.js'
import { decodeKey } from '../../src/keys.js'
import type { Storage } from '../../src/storage.js'
import type { Claimed, JobQueue } from '../../src/flow/queue/queue.js'
import { altered } from '../fixtures/altered-storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { pickSeed, Random } from '../fixtures/random.js'
import { backends } from '../fixtures/stores.js'
import { flowProblems } from '../fixtures/problems.js'
import {
  documentOf,
  drained,
  failureOf,
  flowOf,
  jobsOf,
  leaseMs,
  openQueue,
  steps,
} from './queue/queues.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import { Notes, running } from './running.js'
import { settled, VirtualClock } from './virtual-clock.js'

const seed = pickSeed()

const names = (count: number, prefix = 'd') =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`)

t.test('of 4 queues over one storage that claim at once, one gets each job', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queues = await opened(4, storage)
  const [first] = queues as [JobQueue]
  await Promise.all(names(200).map((name, n) => first.load('f', documentOf(name, `u${n % 7}`))))
  const work = async (queue: JobQueue) => {
    const mine: Claimed[] = []
    for (let idle = 0; idle < 3; idle++) {
      await queue.refresh()
      const { jobs } = await queue.claim('f', 3)
      for (const job of jobs) await queue.complete(job, steps)
      mine.push(...jobs)
      if (jobs.length > 0) idle = 0
      // Whoever writes without a pause leaves the others no moment.
      await turn()
    }
    return mine
  }
  const found = await Promise.all(queues.map(work))
  const all = found.flat().map(({ document }) => document.document)
  t.strictSame(all.toSorted(), names(200).toSorted())
  t.ok(found.filter((some) => some.length > 0).length > 1, 'more than one queue got some')
  await first.refresh()
  t.strictSame(first.stats('f'), { queued: 0, active: 0, delayed: 0, done: 200, dead: 0 })
  t.strictSame(await flowProblems(storage), [])
})

t.test('what 3 queues load at once is all there', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queues = await opened(3, storage)
  const ids = await Promise.all(
    queues.flatMap((queue, q) =>
      names(100, `q${q}-`).map((name, n) => queue.load('f', documentOf(name, `u${n % 3}`))),
    ),
  )
  t.equal(new Set(ids).size, 300)
  for (const queue of queues) {
    await queue.refresh()
    t.strictSame(
      (await jobsOf(queue, { flow: 'f' })).map(({ id }) => id).toSorted(),
      ids.toSorted(),
    )
    t.equal(queue.stats('f')?.queued, 300)
  }
  t.strictSame(await flowProblems(storage), [])
})

t.test('two queues that claim in turns serve all users in turn', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queues = (await opened(2, storage)) as [JobQueue, JobQueue]
  const users = ['a', 'b', 'c', 'd', 'e', 'f']
  for (const user of users) {
    await Promise.all(names(10).map((name) => queues[0].load('f', documentOf(name, user))))
  }
  const served = new Map<string, number>()
  for (let n = 0; n < 24; n++) {
    const queue = queues[n % 2] as JobQueue
    await queue.refresh()
    const [job] = (await claimed(queue)) as [Claimed]
    served.set(job.document.user, (served.get(job.document.user) ?? 0) + 1)
    await queue.complete(job, steps)
  }
  for (const user of users) t.ok((served.get(user) ?? 0) >= 2, `${user}: ${served.get(user)}`)
})

t.test('a queue learns what another one changed before it refuses a document', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const [a, b] = (await opened(2, storage)) as [JobQueue, JobQueue]
  await b.define(flowOf('new', { maxQueued: 1 }))
  await a.load('new', documentOf('d0'))
  await t.rejects(a.load('new', documentOf('d1')), { code: 'LK_FLOW_FULL' })
  await drained(b, 'new')
  await a.load('new', documentOf('d2'))
  await drained(b, 'new')
  await b.setActive('new', false)
  await a.refresh()
  await t.rejects(a.load('new', documentOf('d3')), { code: 'LK_FLOW_INACTIVE' })
  await b.setActive('new', true)
  await a.load('new', documentOf('d4'))
  await drained(b, 'new')
  t.equal(await b.remove('new'), true)
  await t.rejects(a.load('new', documentOf('d5')), { code: 'LK_FLOW_NOT_FOUND' })
  t.strictSame(await flowProblems(storage), [])
})

for (const [engine, createBackend] of backends) {
  t.test(`${engine}: hundreds of loads, claims and completions at once`, async (t) => {
    const backend = createBackend(t)
    t.teardown(() => backend.close())
    const storage = await backend.open('flows')
    const queue = await openQueue(storage)
    const loading = names(500).map((name, n) => queue.load('f', documentOf(name, `u${n % 40}`)))
    const done: string[] = []
    const work = async () => {
      for (let idle = 0; idle < 3;) {
        const { jobs, more } = await queue.claim('f', 5)
        if (jobs.length === 0 && !more) idle++
        else idle = 0
        await Promise.all(jobs.map((job) => processed(queue, job)))
        done.push(...jobs.map(({ document }) => document.document))
      }
    }
    const working = names(6).map(work)
    const ids = await Promise.all(loading)
    await Promise.all(working)
    await work()
    t.equal(new Set(ids).size, 500)
    t.strictSame(done.toSorted(), names(500).toSorted())
    t.strictSame(queue.stats('f'), { queued: 0, active: 0, delayed: 0, done: 500, dead: 0 })
    t.strictSame(await flowProblems(storage), [])
  })
}

t.test('loads that are refused do not hurt those of the same moment', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  await queue.define(flowOf('full', { maxQueued: 3 }))
  await queue.define(flowOf('off', { active: false }))
  const outcomes = await Promise.allSettled(
    names(200).map((name, n) => {
      const flow = ['f', 'none', 'off', 'full'][n % 4] as string
      return queue.load(flow, documentOf(name))
    }),
  )
  const codes = outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as { code: string }).code,
  )
  for (const [n, code] of codes.entries()) {
    const last = n >= 12 ? 'LK_FLOW_FULL' : 'ok'
    t.equal(code, ['ok', 'LK_FLOW_NOT_FOUND', 'LK_FLOW_INACTIVE', last][n % 4])
  }
  t.equal(queue.stats('f')?.queued, 50)
  t.equal(queue.stats('full')?.queued, 3)
  t.strictSame(await flowProblems(storage), [])
})

t.test('a document whose block cannot be made is refused, and hurts no later one', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  // Stands for what is too long for a string.
  const impossible = { ...documentOf('x'), metadata: [1n] as never }
  const loading = [queue.load('f', impossible), queue.load('f', documentOf('y'))]
  const outcomes = await Promise.allSettled(loading)
  t.equal(outcomes[0]?.status, 'rejected')
  const ids = await Promise.all(names(3).map((name) => queue.load('f', documentOf(name))))
  t.equal(new Set(ids).size, 3)
  const accepted = outcomes.filter(({ status }) => status === 'fulfilled').length
  t.equal((await drained(queue, 'f')).length, 3 + accepted)
  t.match(queue.stats('f'), { queued: 0, done: 3 + accepted })
  t.strictSame(await flowProblems(storage), [])
})

t.test('documents with much metadata do not all share one commit', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const long = 'm'.repeat(300_000)
  const term = { v: long, e: false }
  const loading = names(20).map((name) => {
    const metadata = [{ s: { v: '', e: true }, p: { v: '', e: true }, o: term }]
    return queue.load('f', { ...documentOf(name), metadata, metadataLength: long.length })
  })
  await Promise.all(loading)
  let longest = 0
  for await (const page of storage.scan({})) {
    for (const { value } of page) longest = Math.max(longest, value.byteLength)
  }
  t.ok(longest > 300_000)
  t.ok(longest < 1_000_000, `${longest}`)
})

t.test('flows and users whose names run into each other keep to themselves', async (t) => {
  const pairs = [
    ['a', 'b\0c'],
    ['a\0b', 'c'],
    ['1', '1 x'],
    ['11', ' x'],
    ['1 1', 'x'],
  ] as const
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  for (const flow of new Set(pairs.map(([flow]) => flow))) await queue.define(flowOf(flow))
  await Promise.all(
    pairs.map(([flow, user], n) => queue.load(flow, documentOf(`d${n}`, user, `${n}`))),
  )
  for (const [n, [flow, user]] of pairs.entries()) {
    const found = (await drained(queue, flow)).map(({ document }) => document)
    t.match(found, [{ document: `d${n}`, user }])
    t.equal(found.length, 1)
    t.match(queue.stats(flow), { queued: 0, done: 1 })
  }
  t.strictSame(await flowProblems(storage), [])
})

t.test('a change that fails half way is made without what it did', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  await queue.load('f', documentOf('x'))
  const [x] = (await queue.claim('f', 1)).jobs as [Claimed]
  // Its time is none: the change throws when it has let go of the job.
  const failing = queue.fail(x, failureOf(x), { notBefore: NaN }).catch(() => 'thrown')
  const others = names(50).map((name) => queue.load('f', documentOf(name)))
  await failing
  t.equal(new Set(await Promise.all(others)).size, 50)
  t.strictSame(await flowProblems(storage), [])
  t.equal((await drained(queue, 'f')).length, 50)
})

t.test('a user whose only job was cancelled hides nobody', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const cancelled = await queue.load('f', documentOf('x', 'a'))
  await queue.load('f', documentOf('x', 'b'))
  await queue.cancel(cancelled)
  t.equal((await queue.claim('f', 3)).jobs.length, 1)
})

t.test('users do not wait for one whose document is under way', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  for (const name of ['same', 'same']) await queue.load('f', documentOf(name, 'a'))
  // In runs of one: not all of them are in memory at once.
  for (const name of names(150)) await queue.load('f', documentOf(name, 'b'))
  const [slow] = (await claimed(queue)) as [Claimed]
  t.equal(slow.document.document, 'same')
  const others = await drained(queue, 'f', 1)
  t.strictSame(
    others.map(({ document }) => document.document),
    names(150),
  )
  await queue.complete(slow, steps)
  t.equal((await drained(queue, 'f', 1)).length, 1)
  t.strictSame(await flowProblems(storage), [])
})

t.test(`everything at once over 3 queues loses nothing (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  for (let round = 0; round < 6; round++) {
    const storage = await new MemoryBackend().open('flows')
    const clock = new VirtualClock()
    const flow = flowOf('f', { maxAttempts: 3, minDelayMs: 1000, maxDelayMs: 1000 })
    const queues = await Promise.all(
      names(3).map(() => openQueue(storage, { clock, firstFlow: flow })),
    )
    const accepted = new Set<string>()
    const ended = new Map<string, string>()
    const work = async (queue: JobQueue) => {
      for (let n = 0; n < 25; n++) {
        const choice = random.next()
        const document = documentOf(`d${random.below(30)}`, `u${random.below(4)}`)
        if (choice < 0.5) accepted.add(await queue.load('f', document))
        else if (choice < 0.6) await clock.advance(random.below(leaseMs / 2))
        else if (choice < 0.7) await queue.reap()
        else {
          const { jobs } = await queue.claim('f', 1 + random.below(4))
          for (const job of jobs) await end(queue, job)
        }
      }
    }
    const end = async (queue: JobQueue, job: Claimed) => {
      const { id } = job.record
      const choice = random.next()
      try {
        if (choice < 0.5) {
          await queue.complete(job, steps)
          assert.equal(ended.get(id), undefined, `${id} is done a second time`)
          ended.set(id, 'done')
        } else if (choice < 0.7) await queue.fail(job, failureOf(job))
        else if (choice < 0.8) await queue.release(job, failureOf(job))
      } catch (error) {
        if (!hasCode(error, 'LK_LEASE_LOST')) throw error
      }
    }
    await Promise.all(queues.flatMap((queue) => [work(queue), work(queue)]))
    assert.deepEqual(await flowProblems(storage), [], `round ${round}`)
    const [queue] = queues as [JobQueue]
    await queue.refresh()
    const jobs = await jobsOf(queue, { flow: 'f' })
    assert.deepEqual(new Set(jobs.map(({ id }) => id)), accepted, `round ${round}`)
    for (const { id, state, attempts, failures } of jobs) {
      assert.ok(attempts <= 3)
      if (ended.get(id) === 'done') assert.equal(state, 'done')
      if (state === 'delayed' || state === 'dead') assert.ok(failures.length > 0)
    }
  }
  t.pass('6 rounds')
})

/** Claims one, as often as there may be more. */
async function claimed(queue: JobQueue): Promise<readonly Claimed[]> {
  for (;;) {
    const { jobs, more } = await queue.claim('f', 1)
    if (jobs.length > 0 || !more) return jobs
  }
}

async function processed(queue: JobQueue, job: Claimed): Promise<void> {
  await queue.record(job, ['a'], serialize('a'))
  await queue.record(job, ['a', 'b'], serialize('b'))
  await queue.complete(job, steps)
}

function opened(count: number, storage: Parameters<typeof openQueue>[0]): Promise<JobQueue[]> {
  const clock = new VirtualClock()
  return Promise.all(names(count).map(() => openQueue(storage, { clock })))
}

t.test('done jobs of a flow that was made anew are not taken for those of before', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const flow = flowOf('g', { keepDone: 0 })
  let read = (): void => undefined
  const isRead = new Promise<void>((resolve) => (read = resolve))
  let goOn = (): void => undefined
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const scan: Storage['scan'] = async function* (range) {
    for await (const page of storage.scan(range)) {
      yield page
      if (!page.some(({ key }) => decodeKey(key)[0] === 'done')) continue
      read()
      await held
    }
  }
  const complete = async (queue: JobQueue) => {
    await Promise.all(names(131).map((name) => queue.load('g', documentOf(name))))
    // Each in a commit of its own.
    await drained(queue, 'g', 1)
  }
  const [slow, other] = await Promise.all([
    openQueue(altered(storage, { scan })),
    openQueue(storage),
  ])
  await other.define(flow)
  await slow.refresh()
  await complete(slow)
  const pruning = slow.prune('g')
  await isRead
  await other.refresh()
  t.equal(await other.remove('g'), true)
  await other.define({ ...flow, keepDone: 20 })
  await complete(other)
  goOn()
  await pruning
  t.equal((await jobsOf(other, { flow: 'g', state: 'done' })).length, 131)
  t.strictSame(await flowProblems(storage), [])
})

t.test('a flow that is defined while it is removed has its code', async (t) => {
  let defining: Promise<unknown> | undefined
  for (let at = 1; at === 1 || defining !== undefined; at++) {
    const backend = new FaultyBackend(new MemoryBackend())
    const { flows } = await running(t, { backend: backend as unknown as KeptBackend })
    const define = () => flows.define({ id: 'g', steps: new Notes().steps('a') })
    await define()
    defining = undefined
    const call = backend.calls + at
    backend.beforeCall = async (made) => {
      if (made === call) defining = define()
    }
    await flows.remove('g')
    backend.beforeCall = undefined
    await (defining ?? define())
    flows.run()
    const { job } = await flows.load('g', { id: 'x', content: 'text' })
    await settled()
    t.match(await flows.job(job), { state: 'done' }, `before call ${at}`)
  }
})
