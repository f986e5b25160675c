// Two processes that have their flows in PostgreSQL: what they know of each other there, as over shared memory in
// neighbours.test.ts and members.test.ts. Their clocks are a minute apart, and pass as the test lets them.

import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { PostgresBackend } from '../../adapters/postgres/index.js'
import { flowProblems } from '../fixtures/problems.js'
import type { KeptBackend } from '../objects/kept-backend.js'
import { Cluster, skip } from '../adapters/postgres/cluster.js'
import { Notes, running, watched, type Running } from './running.js'
import { VirtualClock } from './virtual-clock.js'

const document = (id: string) => ({ id, user: 'alice', content: `text of ${id}` })

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  let places = 0

  const open = async (t: Test, count = 2) => {
    const schema = `flows_${places++}`
    const all: Running[] = []
    for (let n = 0; n < count; n++) {
      const backend = new PostgresBackend({ url: cluster.url, schema }) as unknown as KeptBackend
      const clock = new VirtualClock(Date.UTC(2026, 0, 1) + n * 60_000)
      all.push(await running(t, { backend, clock }))
    }
    /** Lets the clocks pass `stepMs` each 10 ms, until it holds. Gives how much that was. */
    const until = async (holds: () => unknown, stepMs = 2) => {
      for (let ms = 0; ; ms += stepMs) {
        if (await holds()) return ms
        await wait(10)
        await Promise.all(all.map(({ clock }) => clock.advance(stepMs)))
      }
    }
    return { all, until, one: all[0]!, two: all[1]! }
  }

  void t.test('what one loads and cancels the other begins and breaks off at once', async (t) => {
    const { one, two, until } = await open(t)
    let isAborted = false
    const notes = new Notes().on('b', async (_, { signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isAborted = true
    })
    await two.flows.define({ id: 'f', concurrency: 3, steps: notes.steps('a') })
    await two.flows.define({ id: 'g', steps: notes.steps('b') })
    t.match(await one.flows.get('f'), { concurrency: 3 })
    two.flows.run()
    const { job } = await one.flows.load('f', document('x'))
    const of = watched(one.flows, { job })
    const doneMs = await until(() => of.events.at(-1)?.type === 'done')
    t.ok(doneMs < 900, 'before anybody looks')
    await of.ended
    t.match(await one.flows.stats('f'), { done: 1, queued: 0, active: 0 })
    const { job: endless } = await one.flows.load('g', document('y'))
    await until(() => notes.runs.includes('y b'))
    await one.flows.cancel(endless)
    t.ok((await until(() => isAborted)) < 900, 'before anybody looks')
    t.match(await two.flows.stats('g'), { active: 0, queued: 0 })
  })

  void t.test('leases are kept, and a removal waits, whatever the clocks say', async (t) => {
    const { one, two, until } = await open(t)
    let go = (): void => undefined
    const notes = new Notes().on('a', () => new Promise<void>((resolve) => (go = resolve)))
    await two.flows.define({ id: 'f', steps: notes.steps('a') })
    await one.flows.define({ id: 'f', steps: notes.steps('a') })
    const { job } = await one.flows.load('f', document('x'))
    const first = two.flows.run()
    await until(() => notes.runs.length > 0)
    one.flows.run()
    let passed = 0
    await until(() => (passed += 500) > 45_000, 500)
    t.match(await one.flows.job(job), { state: 'active', attempts: 1 })
    t.strictSame(notes.runs, ['x a'])
    let removed: unknown
    void one.flows
      .removeDocument({ user: 'alice', document: 'x' })
      .then((value) => (removed = value))
    await until(async () => (await two.flows.job(job)) === undefined)
    passed = 0
    await until(() => (passed += 100) > 2000, 100)
    t.equal(removed, undefined, 'waits')
    go()
    await until(() => removed !== undefined, 20)
    t.equal(removed, true)
    void first
  })

  void t.test(
    'three that run at once each get something to do, and no document twice',
    async (t) => {
      const { all, one, until } = await open(t, 3)
      const notes: Notes[] = all.map(() => {
        return new Notes().on('a', async () => {
          // Whoever is first waits for the others.
          while (notes.some(({ runs }) => runs.length === 0)) await wait(5)
        })
      })
      for (const [n, { flows }] of all.entries()) {
        await flows.define({ id: 'f', concurrency: 8, steps: notes[n]!.steps('a') })
      }
      const count = 450
      await Promise.all(
        Array.from({ length: count }, (_, n) => one.flows.load('f', document(`${n}`))),
      )
      for (const { flows } of all) flows.run()
      await until(async () => (await one.flows.stats('f')).done === count, 10)
      const shares = notes.map(({ runs }) => runs.length)
      t.comment(String(shares))
      t.equal(
        shares.reduce((sum, share) => sum + share),
        count,
        'each document once',
      )
      t.ok(Math.min(...shares) > 0, `${String(shares)}`)
      const schema = `flows_${places - 1}`
      const backend = new PostgresBackend({ url: cluster.url, schema })
      t.teardown(() => backend.close())
      t.strictSame(await flowProblems(await backend.open('flows')), [])
    },
  )
}
