// A queue of many documents and users, most of which are not in memory.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import type { Claimed } from '../../../src/flow/queue/claiming.js'
import { decodeKey } from '../../../src/keys.js'
import type { Storage } from '../../../src/storage.js'
import { flowProblems } from '../../fixtures/problems.js'
import { documentOf, drained, jobsOf, openQueue, steps } from './queues.js'

t.test('5,000 documents of 300 users that came one by one', async (t) => {
  const real = await new MemoryBackend().open('flows')
  const loading = await openQueue(real)
  const users = Array.from({ length: 300 }, (_, n) => `u${String(n).padStart(3, '0')}`)
  // The first user has most of them.
  for (let n = 0; n < 5000; n++) {
    const user = users[n % 2 === 0 ? 0 : (n * 7) % 300] as string
    await loading.load('f', documentOf(`d${n}`, user))
  }
  const { storage, read } = counted(real)
  const queue = await openQueue(storage)
  t.notOk(read.has('run') || read.has('block') || read.has('job'), 'opening reads no jobs')
  const [first] = (await queue.claim('f', 1)).jobs
  assert.ok(first)
  t.ok((read.get('run') ?? 0) < 100, `the first claim reads ${read.get('run')} runs`)
  const served = [first]
  const { size: waiting } = new Set((await jobsOf(loading, { flow: 'f' })).map(({ user }) => user))
  while (served.length < waiting) served.push(...(await queue.claim('f', 1)).jobs)
  t.equal(new Set(served.map(({ document }) => document.user)).size, waiting, 'each had a turn')
  for (const job of served) await queue.complete(job, steps)
  const all = [...served, ...(await drained(queue, 'f', 7))].map(({ document }) => document)
  t.equal(new Set(all.map(({ document }) => document)).size, 5000)
  const places = new Map<string, number>()
  for (const { user, document } of all) {
    const place = Number(document.slice(1))
    assert.ok(place > (places.get(user) ?? -1), `${document} of ${user} comes too late`)
    places.set(user, place)
  }
  t.strictSame(await flowProblems(real), [])
})

t.test('what a turn each of many users reads', async (t) => {
  const real = await new MemoryBackend().open('flows')
  const loading = await openQueue(real)
  const users = Array.from({ length: 100 }, (_, n) => `u${n}`)
  for (let n = 0; n < 40; n++) {
    for (const user of users) await loading.load('f', documentOf(`d${n}`, user))
  }
  const { storage, read } = counted(real)
  const queue = await openQueue(storage)
  const served: Claimed[] = []
  while (served.length < users.length) served.push(...(await queue.claim('f', 20)).jobs)
  t.equal(new Set(served.map(({ document }) => document.user)).size, users.length)
  const runs = read.get('run') ?? 0
  t.ok(runs <= 10 * users.length, `${runs} runs are read, of 4,000`)
  for (const job of served) await queue.complete(job, steps)
  t.equal((await drained(queue, 'f', 20)).length, 39 * users.length)
  t.ok((read.get('run') ?? 0) < 3 * 4000, `${read.get('run')} are read for all`)
})

t.test('more users than there is room for', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const load = (user: number, document: string) => {
    return queue.load('f', documentOf(document, `u${user}`))
  }
  const users = Array.from({ length: 10_200 }, (_, n) => n)
  await Promise.all(users.map((user) => load(user, 'first')))
  await Promise.all(users.filter((user) => user % 50 === 0).map((user) => load(user, 'second')))
  const seen = new Set<string>()
  let claims = 0
  for (;;) {
    const { jobs, more } = await queue.claim('f', 100)
    for (const { document, record } of jobs) {
      assert.ok(!seen.has(record.id), `${record.id} comes twice`)
      seen.add(record.id)
      const isFair = document.document === 'first' || seen.size > 10_200 - 1000
      assert.ok(isFair, `${document.user} had its second turn after ${seen.size}`)
    }
    await Promise.all(jobs.map((job) => queue.complete(job, steps)))
    if (++claims % 40 === 0) await Promise.all([1, 2, 3].map((n) => load(n, `late${claims}`)))
    if (claims > 5000 || (jobs.length === 0 && !more)) break
  }
  t.equal(queue.stats('f')?.queued, 0)
  t.ok(seen.size >= 10_404)
  t.strictSame(await flowProblems(storage), [])
})

/** Counts the records of each kind that are read. */
function counted(real: Storage) {
  const read = new Map<string, number>()
  const count = (key: Uint8Array) => {
    const [kind] = decodeKey(key) as [string]
    read.set(kind, (read.get(kind) ?? 0) + 1)
  }
  const storage: Storage = {
    get: (key) => {
      count(key)
      return real.get(key)
    },
    getBytes: (key, from, to) => {
      count(key)
      return real.getBytes(key, from, to)
    },
    getMany: (keys) => {
      keys.forEach(count)
      return real.getMany(keys)
    },
    scan: (range) => ({
      async *[Symbol.asyncIterator]() {
        for await (const page of real.scan(range)) {
          for (const { key } of page) count(key)
          yield page
        }
      },
    }),
    write: (operations, options) => real.write(operations, options),
    close: () => real.close(),
    [Symbol.asyncDispose]: () => real.close(),
  }
  return { storage, read }
}

t.test('of users who bring more, what they had before is read once', async (t) => {
  const real = await new MemoryBackend().open('flows')
  const loading = await openQueue(real)
  const users = Array.from({ length: 100 }, (_, n) => `u${n}`)
  for (let n = 0; n < 20; n++) {
    for (const user of users) await loading.load('f', documentOf(`d${n}`, user))
  }
  const { storage, read } = counted(real)
  const queue = await openQueue(storage)
  for (const user of users) await queue.load('f', documentOf('d20', user))
  const served: Claimed[] = []
  while (served.length < 2 * users.length) served.push(...(await queue.claim('f', 20)).jobs)
  const runs = read.get('run') ?? 0
  t.ok(runs <= 10 * users.length, `${runs} runs are read, of 2,000`)
  const names = served.map(({ document }) => `${document.user} ${document.document}`).sort()
  t.strictSame(names, users.flatMap((user) => [`${user} d0`, `${user} d1`]).sort())
  for (const job of served) await queue.complete(job, steps)
  t.equal((await drained(queue, 'f', 20)).length, 19 * users.length)
  t.strictSame(await flowProblems(real), [])
})
