// What a queue reads when others had their turn: much of it at once, as each read is a round trip.

import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { numberIn } from '../../../src/flow/queue/block.js'
import type { Draft } from '../../../src/flow/queue/draft.js'
import { Lanes } from '../../../src/flow/queue/lanes.js'
import { hashOf } from '../../../src/flow/queue/state.js'
import type { Range, Storage } from '../../../src/storage.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { flowProblems } from '../../fixtures/problems.js'
import { documentOf, drained, jobsOf, openQueue, steps } from './queues.js'

const users = Array.from({ length: 12 }, (_, n) => `user ${n}`)

t.test(
  'behind the turns of others a claim takes a few round trips, whatever they did',
  async (t) => {
    const memory = new SharedMemory()
    t.teardown(() => memory.close())
    const [first, second] = [
      await memory.backend().open('flows'),
      await memory.backend().open('flows'),
    ]
    const { storage, rounds } = timed(second)
    const [one, two] = [await openQueue(first), await openQueue(storage)]
    // Each in a block of its own.
    for (let n = 0; n < 6; n++) {
      for (const user of users) await one.load('f', documentOf(`${user} ${n}`, user))
    }
    const seen = new Set<string>()
    const take = async (queue: typeof one) => {
      const { jobs } = await queue.claim('f', users.length)
      assert.deepEqual(jobs.map(({ document }) => document.user).sort(), [...users].sort())
      for (const { record } of jobs) {
        assert.ok(!seen.has(record.id))
        seen.add(record.id)
      }
      return jobs
    }
    for (let turns = 0; turns < 2; turns++) {
      await take(one)
      // The first time it looks for users one after the other.
      const before = rounds()
      const jobs = await take(two)
      const count = rounds() - before
      if (turns > 0)
        t.ok(
          count <= 5,
          `${count}: the head with what has changed, other users, the blocks, what is known of each, and what is read ahead`,
        )
      await Promise.all(jobs.map((job) => two.complete(job, steps)))
    }
    t.strictSame(await flowProblems(first), [])
  },
)

t.test(
  'users who came meanwhile are found, and those who have nothing left are not missed',
  async (t) => {
    const memory = new SharedMemory()
    t.teardown(() => memory.close())
    const [first, second] = [
      await memory.backend().open('flows'),
      await memory.backend().open('flows'),
    ]
    const [one, two] = [await openQueue(first), await openQueue(second)]
    for (const user of ['b', 'd', 'f']) {
      for (let n = 0; n < 3; n++) await one.load('f', documentOf(`${user} ${n}`, user))
    }
    assert.equal((await two.claim('f', 4)).jobs.length, 4)
    for (const user of ['a', 'c', 'e', 'g']) await one.load('f', documentOf(user, user))
    await drained(one, 'f', 2)
    for (const user of ['a', 'd', 'z']) await one.load('f', documentOf(`${user} last`, user))
    const found = await drained(two, 'f')
    t.strictSame(found.map(({ document }) => document.document).sort(), [
      'a last',
      'd last',
      'z last',
    ])
    t.strictSame((await jobsOf(two, { flow: 'f', state: 'queued' })).length, 0)
    t.strictSame(await flowProblems(first), [])
  },
)

t.test('of a user whose runs a commit has put and cut, all that is left is found', async (t) => {
  const memory = new SharedMemory()
  t.teardown(() => memory.close())
  const storage = await memory.backend().open('flows')
  const queue = await openQueue(storage)
  const lanes = new Lanes('f')
  const draft = { scan: (range: Range) => storage.scan(range) } as Draft
  // There is nobody: what comes is told.
  while (lanes.lacks) await lanes.fill(draft, 8)
  const [first, second] = [
    numberIn(await queue.load('f', documentOf('d')))!,
    numberIn(await queue.load('f', documentOf('e')))!,
  ]
  // The rest of the one that was claimed from comes last.
  lanes.follow(
    'alice',
    [],
    [
      { first: second, length: 1, hashes: Uint32Array.of(hashOf('e')), again: false },
      { first, length: 1, hashes: undefined, again: false },
    ],
  )
  while (lanes.lacks) await lanes.fill(draft, 8)
  t.strictSame(
    lanes.take(8, () => true).map(({ number }) => number),
    [first, second],
  )
})

t.test(
  'of a user whom the search has behind it, what others leave of a run is found',
  async (t) => {
    const memory = new SharedMemory()
    t.teardown(() => memory.close())
    const storage = await memory.backend().open('flows')
    const queue = await openQueue(storage)
    for (const user of users) await queue.load('f', documentOf('d', user))
    const lanes = new Lanes('f')
    const draft = { scan: (range: Range) => storage.scan(range) } as Draft
    await lanes.fill(draft, 1)
    // All that is known of it: a commit has put some jobs of one who is before all others, and claimed the first of them.
    const id = await queue.load('f', documentOf('d', 'a user'))
    const left = { first: numberIn(id)!, length: 1, hashes: undefined, again: false }
    lanes.follow('a user', [], [left])
    const found = new Set<string>()
    for (let n = 0; n < 50; n++) {
      await lanes.fill(draft, 8)
      for (const { user } of lanes.take(8, () => true)) found.add(user)
    }
    t.strictSame([...found].sort(), ['a user', ...users].sort())
  },
)

/** Counts how often something is read, where what is asked for at once is one time. */
function timed(real: Storage) {
  let rounds = 0
  let open = 0
  const read = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (open++ === 0) rounds++
    try {
      await turn()
      return await work()
    } finally {
      open--
    }
  }
  const storage: Storage = {
    get: (key) => read(() => real.get(key)),
    getBytes: (key, from, to) => read(() => real.getBytes(key, from, to)),
    getMany: (keys) => read(() => real.getMany(keys)),
    scan: (range) => {
      const pages = real.scan(range)[Symbol.asyncIterator]()
      const first = read(() => pages.next())
      return {
        async *[Symbol.asyncIterator]() {
          for (let page = await first; page.done !== true; page = await read(() => pages.next())) {
            yield page.value
            // As engines that know it, without another read.
            if (page.value.length < 1000) return
          }
        },
      }
    },
    write: (operations, options) => real.write(operations, options),
    sharing: real.sharing,
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  return { storage, rounds: () => rounds }
}
