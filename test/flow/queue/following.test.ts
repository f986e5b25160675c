// States that come up to the newest head by what commits tell of themselves.

import assert from 'node:assert/strict'
import { serialize } from 'node:v8'
import t from 'tap'
import { hasCode, LorekeepError } from '../../../src/errors.js'
import { keyPrefix } from '../../../src/keys.js'
import { changesBehind, followTo } from '../../../src/flow/queue/following.js'
import { keptChanges, leftKey } from '../../../src/flow/queue/records.js'
import { leasesOf, loadState, type State } from '../../../src/flow/queue/state.js'
import type { Claimed, JobQueue } from '../../../src/flow/queue/queue.js'
import type { Entry, Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { CountedBackend } from '../../fixtures/counted-backend.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { flowProblems } from '../../fixtures/problems.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { VirtualClock } from '../virtual-clock.js'
import { crowd, countOf as recordsOf } from './crowd.js'
import { documentOf, drained, failureOf, flowOf, jobsOf, openQueue, steps } from './queues.js'

const seed = pickSeed()

t.test(`what is followed is what is read anew (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  let followed = 0
  for (let run = 0; run < 10; run++) {
    const memory = new SharedMemory()
    const [one, two] = [await memory.backend().open('flows'), await memory.backend().open('flows')]
    const clock = new VirtualClock()
    const first = await openQueue(one, { clock })
    await first.define(flowOf('f', { maxAttempts: 2 }))
    const work = new Work(random, clock, [first, await openQueue(two, { clock })])
    const states: State[] = []
    for (let n = 0; n < 60; n++) {
      if (n % 6 === 0) {
        const state = await loadState(one, clock)
        // Some lanes are known, to some depth.
        for (const { lanes } of state.flows.values()) {
          if (random.chance(0.7)) await lanes.fill(reading(one), random.below(4))
        }
        states.push(state)
      }
      await work.step()
      if (!random.chance(0.3)) continue
      const place = random.below(states.length)
      const state = states[place] as State
      if (await isFollowed(one, state)) followed++
      else states[place] = await loadState(one, clock, { before: state })
    }
    const newest = await loadState(one, clock)
    const jobs = await contentOf(one, newest)
    for (const state of states) {
      if (!(await isFollowed(one, state))) continue
      followed++
      t.strictSame(factsOf(state), factsOf(newest))
      for (const [block, left] of state.left) {
        const record = await one.get(leftKey(block))
        if (record !== undefined) t.strictSame(JSON.parse(String(Buffer.from(record))), { left })
      }
      t.strictSame(await contentOf(one, state), jobs)
    }
    t.strictSame(await flowProblems(one), [])
    await memory.close()
  }
  t.ok(followed > 50, `${followed} times`)
})

t.test('whoever is too far behind reads all anew, and changes are not kept for ever', async (t) => {
  const { one, first, second } = await openTwo(t)
  const state = await loadState(one, new VirtualClock())
  for (let n = 0; n < keptChanges; n++) await first.load('f', documentOf(`d${n}`))
  t.ok(await isFollowed(one, state), 'as far as they are kept')
  for (let n = 0; n <= keptChanges; n++) await first.load('f', documentOf(`e${n}`))
  t.notOk(await isFollowed(one, state))
  t.equal(await countOf(one), keptChanges)
  await second.refresh()
  t.equal(second.stats('f')?.queued, 2 * keptChanges + 1)
})

t.test('changes of another history are not followed', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const one = await memory.backend().open('flows')
  const queue = await openQueue(one)
  await queue.load('f', documentOf('d'))
  const state = await loadState(one, new VirtualClock())
  state.head = { ...state.head, token: 'lost' }
  await queue.load('f', documentOf('e'))
  t.notOk(await isFollowed(one, state))
})

t.test('documents of a lost history are forgotten, though others have their numbers', async (t) => {
  const { one, first, second } = await openTwo(t)
  const before = await entriesIn(one)
  await first.load('f', documentOf('lost', 'bob'))
  await failOver(one, before)
  const id = await second.load('f', documentOf('found', 'bob'))
  const query = { flow: 'f', user: 'bob' }
  t.match(await jobsOf(first, query), [{ id, document: 'found' }])
  const { jobs } = await first.claim('f', 1)
  t.match(jobs, [{ record: { id, document: 'found' } }])
  t.equal(String(Buffer.from(jobs[0]!.document.text)), 'text of found')
})

t.test('what is written again behind a lost history is another commit', async (t) => {
  const { one, first, second } = await openTwo(t)
  const before = await entriesIn(one)
  await first.load('f', documentOf('lost'))
  await second.refresh()
  t.match(await jobsOf(second, { flow: 'f' }), [{ document: 'lost' }])
  await failOver(one, before)
  const id = await first.load('f', documentOf('found'))
  await second.refresh()
  t.match(await jobsOf(second, { flow: 'f' }), [{ id, document: 'found' }])
})

t.test(
  'documents of a lost history are forgotten, also by who finds out when he writes',
  async (t) => {
    const { one, first, second, meanwhile } = await openTwo(t)
    const before = await entriesIn(one)
    await first.load('f', documentOf('lost', 'bob'))
    meanwhile(async () => {
      await failOver(one, before)
      await second.load('f', documentOf('found', 'bob'))
    })
    await first.load('f', documentOf('own', 'carol'))
    const { jobs } = await first.claim('f', 2)
    t.same(textsOf(jobs).sort(), ['text of found', 'text of own'])
  },
)

t.test('documents of lost posts are forgotten, though others have their numbers', async (t) => {
  const { queues, storages } = await crowd(t)
  const [one] = storages as [Storage]
  const [first, second] = queues as [JobQueue, JobQueue]
  await drained(first, 'f')
  const before = await entriesIn(one)
  await first.load('f', documentOf('lost', 'bob'))
  t.equal(await recordsOf(one, 'post'), 1)
  await failOver(one, before)
  await second.load('f', documentOf('found', 'bob'))
  t.equal(await recordsOf(one, 'post'), 1)
  t.strictSame(textsOf(await drained(first, 'f')), ['text of found'])
})

t.test('documents of posts that were lost while they were taken in are forgotten', async (t) => {
  const { queues, storages, memory, clock } = await crowd(t)
  const [one, two] = storages as [Storage, Storage]
  const [first, second] = queues as [JobQueue, JobQueue]
  let failing = false
  const own = await memory.backend().open('flows')
  const write: Storage['write'] = async (operations, options) => {
    if (!failing) return own.write(operations, options)
    failing = false
    await failOver(two, kept)
    throw new LorekeepError('LK_STORAGE_FAILED', 'the connection is lost')
  }
  const third = await openQueue(altered(own, { write }), { clock })
  // What is queued is known from here on: a claim reads documents in the draft that takes them in.
  await drained(third, 'f')
  const kept = await entriesIn(one)
  await first.load('f', documentOf('lost', 'bob'))
  t.equal(await recordsOf(one, 'post'), 1)
  failing = true
  // A turn of its own begins with a look at what was posted.
  ;(await two.sharing!.turn('head'))()
  await t.rejects(third.claim('f', 1), { code: 'LK_STORAGE_FAILED' })
  await first.load('f', documentOf('found', 'bob'))
  await second.refresh()
  t.equal(await recordsOf(one, 'post'), 0)
  t.strictSame(textsOf(await drained(third, 'f')), ['text of found'])
})

t.test('a write in doubt has happened where others have gone on from it', async (t) => {
  const { one, first, second, behind } = await openTwo(t)
  const dead = await deadLetterOf(first)
  const goOn = async () => {
    await second.load('f', documentOf('b', 'carol'))
    throw new LorekeepError('LK_STORAGE_FAILED', 'the answer is lost')
  }
  behind(goOn)
  const id = await first.load('f', documentOf('a', 'bob'))
  t.match(await jobsOf(second, { flow: 'f', user: 'bob' }), [{ id, state: 'queued' }])
  behind(goOn)
  await first.retry(dead)
  t.match(await jobsOf(second, { flow: 'f', user: 'alice' }), [{ id: dead, state: 'queued' }])
  behind(goOn)
  await first.cancel(dead)
  t.strictSame(await jobsOf(second, { flow: 'f', user: 'alice' }), [])
  t.strictSame(await flowProblems(one), [])
  t.equal((await drained(first, 'f')).length, 4)
})

t.test('what was made of a write in doubt is made again where others came between', async (t) => {
  const { one, first, second, meanwhile, behind } = await openTwo(t)
  let next: Promise<string> | undefined
  behind(async () => {
    const between = second.load('f', documentOf('b', 'carol'))
    meanwhile(async () => void (await between))
    next = first.load('f', documentOf('c', 'bob'))
    await between
    throw new LorekeepError('LK_STORAGE_FAILED', 'the answer is lost')
  })
  const ids = [await first.load('f', documentOf('a', 'bob')), await next]
  const found = await jobsOf(second, { flow: 'f', user: 'bob' })
  t.strictSame(
    found.map(({ id }) => id),
    ids,
  )
  t.strictSame(await flowProblems(one), [])
})

t.test('a write in doubt has failed where others have gone on without it', async (t) => {
  const { one, first, second, meanwhile } = await openTwo(t)
  meanwhile(async () => {
    await second.load('f', documentOf('b', 'carol'))
    throw new LorekeepError('LK_STORAGE_FAILED', 'on purpose')
  })
  await t.rejects(first.load('f', documentOf('a', 'bob')), { code: 'LK_STORAGE_FAILED' })
  t.strictSame(textsOf(await drained(first, 'f')), ['text of b'])
  t.strictSame(await flowProblems(one), [])
})

t.test('whoever is refused because others have written knows the documents yet', async (t) => {
  const { first, second, counted, meanwhile } = await openTwo(t)
  const long = 'x'.repeat(100_000)
  await first.load('f', documentOf('a', 'bob', long))
  let isRefused = false
  meanwhile(async () => {
    await second.load('f', documentOf('b', 'carol'))
    isRefused = true
  })
  const { bytes } = counted
  await first.load('f', documentOf('c', 'dan'))
  const { jobs } = await first.claim('f', 3)
  t.ok(isRefused)
  t.same(jobs.map(({ record: { document } }) => document).sort(), ['a', 'b', 'c'])
  t.ok(counted.bytes - bytes < long.length, `${counted.bytes - bytes} bytes were read`)
})

t.test('whoever has the storage alone leaves no changes', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const one = await memory.backend().open('flows')
  await (await openQueue(one)).load('f', documentOf('d'))
  t.equal(await countOf(one), 1)
  await openQueue(one, { isAlone: true })
  t.equal(await countOf(one), 0)
})

/** Two processes, the second of which waits for no turn. */
async function openTwo(t: { teardown(fn: () => unknown): unknown }) {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const counted = new CountedBackend(memory.backend())
  const [one, two] = [await counted.open('flows'), await memory.backend().open('flows')]
  const nothing = () => Promise.resolve()
  let [before, after] = [nothing, nothing]
  const written: Storage['write'] = async (operations, options) => {
    const [first, last] = [before, after]
    before = after = nothing
    await first()
    await one.write(operations, options)
    await last()
  }
  const hasty = { ...two.sharing!, turn: () => Promise.resolve(() => undefined) }
  return {
    one,
    counted,
    first: await openQueue(altered(one, { write: written })),
    second: await openQueue(altered(two, { sharing: hasty })),
    /** Happens before the next write of the first one is carried out. */
    meanwhile: (happen: () => Promise<void>) => (before = happen),
    /** Happens before the next write of the first one is answered. */
    behind: (happen: () => Promise<void>) => (after = happen),
  }
}

async function deadLetterOf(queue: JobQueue): Promise<string> {
  const id = await queue.load('f', documentOf('d'))
  const { jobs } = await queue.claim('f', 1)
  for (const job of jobs) await queue.fail(job, failureOf(job), { mayRetry: false })
  return id
}

/** What processes do, one thing after another. */
class Work {
  readonly #random: Random
  readonly #clock: VirtualClock
  readonly #queues: readonly JobQueue[]
  readonly #claimed: { readonly queue: JobQueue; readonly job: Claimed }[] = []
  #loaded = 0
  readonly #ids: string[] = []

  constructor(random: Random, clock: VirtualClock, queues: readonly JobQueue[]) {
    this.#random = random
    this.#clock = clock
    this.#queues = queues
  }

  async step(): Promise<void> {
    const random = this.#random
    const queue = random.pick(this.#queues)
    const dice = random.below(20)
    if (dice < 6) {
      const loads = Array.from({ length: 1 + random.below(6) }, () => {
        // Some documents come again.
        const id = `d${this.#loaded++ % 40}`
        return queue.load('f', documentOf(id, `user ${random.below(4)}`))
      })
      this.#ids.push(...(await Promise.all(loads)))
    } else if (dice < 11) {
      const { jobs } = await queue.claim('f', 1 + random.below(6))
      this.#claimed.push(...jobs.map((job) => ({ queue, job })))
    } else if (dice < 17) {
      const count = Math.min(this.#claimed.length, 1 + random.below(4))
      await Promise.all(this.#claimed.splice(0, count).map((one) => this.#end(one)))
    } else if (dice === 17) {
      for (const one of this.#claimed.slice(0, 2)) await unlessLost(one.queue.renew(one.job))
    } else if (dice === 18) {
      // Not of every state.
      const id = random.pick(this.#ids.length > 0 ? this.#ids : ['none.1'])
      const change = random.chance(0.5) ? queue.cancel(id) : queue.retry(id)
      await Promise.allSettled([change])
    } else await this.#clock.advance(random.below(20_000))
  }

  async #end({ queue, job }: { queue: JobQueue; job: Claimed }): Promise<void> {
    const dice = this.#random.below(10)
    const end = () => {
      if (dice < 6) return queue.complete(job, steps)
      if (dice < 8) return queue.fail(job, failureOf(job))
      if (dice < 9) return queue.release(job, undefined)
      return queue.record(job, ['a'], serialize('output'))
    }
    await unlessLost(end())
  }
}

/** It may have been cancelled. */
async function unlessLost(settled: Promise<unknown>): Promise<void> {
  await settled.catch((error: unknown) => {
    assert.ok(hasCode(error, 'LK_LEASE_LOST'), String(error))
  })
}

async function isFollowed(storage: Storage, state: State): Promise<boolean> {
  const { head, changes } = await changesBehind(storage, state, undefined)
  return changes !== undefined && followTo(state, head, changes, 0)
}

/** But for lanes. */
function factsOf(state: State) {
  const leases = leasesOf(state).map(({ number, user, hash, token, beat, leaseMs }) => {
    return { number, user, hash, token, beat, leaseMs }
  })
  return {
    head: state.head,
    nextBlock: state.nextBlock,
    flows: [...state.flows.values()].map(({ flow, counts }) => ({ flow, counts })),
    leases: leases.sort((a, b) => a.number - b.number),
    busy: [...state.busy].sort(),
  }
}

/** The numbers of each user's queued jobs with their hashes, in the order in which they are given out. */
async function contentOf(storage: Storage, { flows }: State) {
  const found = new Map<string, Set<string>>()
  for (const { lanes } of flows.values()) {
    // What was taken stays in storage, and may come again.
    for (let idle = 0; idle < 10;) {
      if (lanes.lacks) await lanes.fill(reading(storage), 5)
      let isNew = false
      for (const { user, number, hash, again } of lanes.take(5, () => true)) {
        const jobs = found.get(user) ?? new Set()
        found.set(user, jobs)
        const job = `${number} ${hash} ${again}`
        isNew ||= !jobs.has(job)
        jobs.add(job)
      }
      idle = isNew ? 0 : idle + 1
    }
  }
  return [...found]
    .map(([user, jobs]) => [user, ...jobs])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
}

/** Storage that stays as it is. */
const reading = (storage: Storage) => ({
  scan: storage.scan.bind(storage),
  putRun: () => undefined,
  deleteRun: () => undefined,
})

async function entriesIn(storage: Storage): Promise<Entry[]> {
  const entries: Entry[] = []
  for await (const page of storage.scan({})) entries.push(...page)
  return entries
}

/** To a standby that has this much. */
async function failOver(storage: Storage, kept: readonly Entry[]): Promise<void> {
  const lost = await entriesIn(storage)
  await storage.write([
    ...lost.map(({ key }) => ({ type: 'del', key }) as const),
    ...kept.map(({ key, value }) => ({ type: 'put', key, value }) as const),
  ])
}

const textsOf = (jobs: readonly Claimed[]) =>
  jobs.map(({ document: { text } }) => String(Buffer.from(text)))

async function countOf(storage: Storage): Promise<number> {
  let count = 0
  for await (const page of storage.scan(keyPrefix('change'))) count += page.length
  return count
}
