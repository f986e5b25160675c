// Jobs whose records are damaged are listed and changed by what follows from elsewhere: they keep no other job from it.

import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { Bulk } from '../../../src/flow/bulk.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import { lookSizes } from '../../../src/flow/queue/job-search.js'
import type { JobQueue } from '../../../src/flow/queue/queue.js'
import {
  blockKey,
  blockOf,
  bodyKey,
  countsKey,
  flowKey,
  headKey,
  jobKey,
  leaseKey,
} from '../../../src/flow/queue/records.js'
import { Cursors } from '../../../src/paging.js'
import type { Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { flowProblems } from '../../fixtures/problems.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { UnreadableBackend } from '../../fixtures/unreadable-backend.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, drained, failureOf, jobsOf, openQueue, steps } from './queues.js'

const corrupt = { code: 'LK_STORAGE_CORRUPT' }
const told = [{ ...corrupt, message: /: the record of the job cannot be read/ }]

type State = 'dead' | 'delayed' | 'queued'

/** A job of alice whose record is damaged, one of bob in the same state, and one of carol that never ran. */
async function filled(state: State) {
  const clock = new VirtualClock()
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage, { clock })
  const loads = ['alice', 'bob', 'carol'].map((user) => queue.load('f', documentOf(user, user)))
  const [id, other, waiting] = (await Promise.all(loads)) as [string, string, string]
  for (const job of (await queue.claim('f', 2)).jobs) {
    if (state === 'queued') await queue.release(job, failureOf(job))
    else await queue.fail(job, failureOf(job), { mayRetry: state === 'delayed' })
  }
  await damage(storage, jobKey(numberIn(id)!))
  return { clock, storage, queue, id, other, waiting }
}

async function damage(storage: Storage, ...keys: Uint8Array[]): Promise<void> {
  const value = Buffer.from('no record')
  await storage.write(keys.map((key) => ({ type: 'put', key, value })))
}

const idsOf = async (...asked: Parameters<typeof jobsOf>) =>
  (await jobsOf(...asked)).map(({ id }) => id)

async function changeAll(queue: JobQueue, change: 'retry' | 'cancel'): Promise<number> {
  const bulk = new Bulk({ queue, cursors: new Cursors(() => ''), check: () => {} })
  return (await bulk.change(change, { flow: 'f' })).changed
}

for (const state of ['dead', 'delayed', 'queued'] as const) {
  t.test(`${state}: it is listed as what its document and the lists say`, async (t) => {
    const { queue, id, other, waiting } = await filled(state)
    const listed = { id, user: 'alice', document: 'alice', state, failures: told }
    for (const query of [{}, { flow: 'f' }, { state }, { user: 'alice' }, { document: 'alice' }]) {
      const [first, ...others] = await jobsOf(queue, query)
      t.match(first, listed, JSON.stringify(query))
      for (const { user } of others) t.not(user, 'alice')
    }
    t.strictSame(await idsOf(queue, {}), [id, other, waiting])
    t.strictSame(await idsOf(queue, { flow: 'f', order: 'desc' }), [waiting, other, id])
    t.strictSame(await idsOf(queue, { user: 'bob' }), [other])
    t.strictSame(await idsOf(queue, { error: 'Record of the job' }), [id])
    t.match(await queue.job(id), listed)
    t.match((await queue.jobsOf('alice', 'alice')).jobs, [listed])
  })

  for (const all of [false, true]) {
    t.test(`${state}: it is cancelled, ${all ? 'with all' : 'alone'}`, async (t) => {
      const { storage, queue, id, other, waiting } = await filled(state)
      if (all) t.equal(await changeAll(queue, 'cancel'), 3)
      else await queue.cancel(id)
      t.equal(await queue.job(id), undefined)
      t.strictSame(await idsOf(queue, {}), all ? [] : [other, waiting])
      t.strictSame(await flowProblems(storage), [])
      if (all) return
      // Its place in the block is given up once.
      t.equal((await drained(await openQueue(storage), 'f')).at(-1)?.record.id, waiting)
    })

    if (state === 'queued') continue
    t.test(`${state}: it is tried again, ${all ? 'with all' : 'alone'}`, async (t) => {
      const { storage, queue, id, other, waiting } = await filled(state)
      if (all) t.equal(await changeAll(queue, 'retry'), 2)
      else t.match(await queue.retry(id), { id, state: 'queued' })
      const ran = (await drained(queue, 'f')).map(({ record }) => record.id)
      // Users take turns.
      t.strictSame(ran.sort(), all ? [id, other, waiting] : [id, waiting])
      t.strictSame(await flowProblems(storage), [])
    })
  }
}

t.test('without a document, too, a dead letter is listed by its number', async (t) => {
  const { storage, queue, id, other, waiting } = await filled('dead')
  const number = numberIn(id)!
  await damage(storage, bodyKey(number))
  const name = `lost.${number.toString(36)}`
  const listed = { id: name, user: '', document: '', state: 'dead', failures: [corrupt] }
  t.match(await jobsOf(queue, { state: 'dead' }), [listed, { id: other }])
  t.match((await jobsOf(queue, {}))[0], listed)
  // Somebody has given that id to a job that is there.
  await t.rejects(queue.job(id), corrupt)
  await queue.cancel(name)
  t.strictSame(await idsOf(queue, {}), [other, waiting])
  // Under the name of its document, which nobody knows.
  t.match(await flowProblems(storage), [/^unreferenced \("document", "alice"/])
})

t.test('what has become of a job is not guessed', async (t) => {
  const { storage, id } = await filled('queued')
  await damage(storage, blockKey(blockOf(numberIn(id)!)))
  const other = await openQueue(storage)
  await t.rejects(jobsOf(other, { state: 'queued' }), corrupt)
  await t.rejects(other.job(id), corrupt)
})

t.test('a job whose lease is damaged is a dead letter for who opens the store', async (t) => {
  for (const lacks of ['nothing', 'the document']) {
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage)
    for (const user of ['alice', 'bob']) await queue.load('f', documentOf(user, user))
    const [first] = (await queue.claim('f', 2)).jobs
    await damage(storage, leaseKey(first!.number))
    if (lacks !== 'nothing') await damage(storage, blockKey(blockOf(first!.number)))
    const other = await openQueue(storage, { isAlone: true })
    t.match(other.stats('f'), { queued: 0, active: 0, delayed: 1, dead: 1 })
    const [dead] = await jobsOf(other, { state: 'dead' })
    t.match(dead?.failures, [{ ...corrupt, message: /the lease of the job cannot be read/ }])
    if (lacks !== 'nothing') continue
    t.match(dead, { id: first!.record.id, user: 'alice', document: 'alice' })
    await other.retry(dead!.id)
    t.strictSame(
      (await drained(other, 'f')).map(({ document }) => document.document),
      ['alice'],
    )
    t.strictSame(await flowProblems(storage), [])
  }
})

t.test(
  'where processes share it a damaged lease is refused: its holder may be there',
  async (t) => {
    const memory = new SharedMemory()
    const storage = await memory.backend().open('flows')
    const queue = await openQueue(storage)
    await queue.load('f', documentOf('alice'))
    const [job] = (await queue.claim('f', 1)).jobs
    await damage(storage, leaseKey(job!.number))
    await t.rejects(openQueue(await memory.backend().open('flows')), corrupt)
    // Whoever has it ends it.
    await queue.complete(job!, steps)
    t.match((await openQueue(await memory.backend().open('flows'))).stats('f'), { done: 1 })
  },
)

t.test(
  'a job that waits for another turn, and has no record any more, is not taken for a new one',
  async (t) => {
    for (const backend of [new MemoryBackend(), new SharedMemory().backend()]) {
      const storage = await backend.open('flows')
      const queue = await openQueue(storage)
      const id = await queue.load('f', documentOf('alice'))
      const [job] = (await queue.claim('f', 1)).jobs
      await queue.release(job!, failureOf(job!))
      await storage.write([{ type: 'del', key: jobKey(job!.number) }])
      await t.rejects(queue.job(id), { ...corrupt, message: /is queued without a record/ })
    }
  },
)

for (const [name, key] of [
  ['flow', flowKey('f')],
  ['counts', countsKey('f')],
  ['head', headKey()],
] as const) {
  t.test(`a damaged ${name} refuses the store`, async (t) => {
    const backend = new UnreadableBackend(new MemoryBackend())
    const storage = await backend.open('flows')
    const queue = await openQueue(storage)
    await queue.load('f', documentOf('alice'))
    const whole = await storage.get(key)
    await damage(storage, key)
    await t.rejects(openQueue(storage), corrupt)
    await storage.write([{ type: 'put', key, value: whole! }])
    backend.lose('flows', key)
    await t.rejects(openQueue(storage), corrupt)
  })
}

t.test(
  'a list goes on behind a damaged record, also where a job is forgotten meanwhile',
  async (t) => {
    const backend = new UnreadableBackend(new MemoryBackend())
    const storage = await backend.open('flows')
    const queue = await openQueue(storage)
    for (let n = 0; n < 6; n++) await queue.load('f', documentOf(`d${n}`))
    const ids = (await drained(queue, 'f')).map(({ record }) => record.id)
    const [first, second, ...others] = ids
    backend.lose('flows', jobKey(numberIn(second!)!))
    const forgotten = Buffer.from(jobKey(numberIn(first!)!))
    const get: Storage['get'] = async (key) => {
      return forgotten.equals(key) ? undefined : storage.get(key)
    }
    const sizes = { ...lookSizes, entries: 3 }
    const other = await openQueue(altered(storage, { get }), { lookSizes: sizes })
    const listed = await idsOf(other, { state: 'done' })
    t.strictSame(listed, [`lost.${numberIn(second!)!.toString(36)}`, ...others])
  },
)

t.test('what is done is known by its number alone when its document is gone', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const loads = ['done', 'sound'].map((name) => queue.load('f', documentOf(name)))
  const [id, sound] = await Promise.all(loads)
  const { jobs } = await queue.claim('f', 2)
  await queue.complete(jobs[0]!, steps)
  await damage(storage, jobKey(numberIn(id!)!))
  t.match(await jobsOf(queue, { state: 'done' }), [{ id, document: 'done', failures: told }])
  await t.rejects(queue.cancel(id!), { code: 'LK_JOB_STATE' })
  await queue.complete(jobs[1]!, steps)
  const other = await openQueue(storage)
  const name = `lost.${numberIn(id!)!.toString(36)}`
  t.match(await jobsOf(other, { state: 'done' }), [{ id: name, user: '' }, { id: sound }])
  t.match(await jobsOf(other, { user: 'alice' }), [{ id: sound }])
  await t.rejects(other.job(id!), corrupt)
})
