import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import {
  blockKey,
  blockOf,
  jobKey,
  latestKey,
  leftKey,
  outputKey,
} from '../../../src/flow/queue/records.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import { LorekeepError } from '../../../src/errors.js'
import { decodeRecord } from '../../../src/record.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { flowProblems } from '../../fixtures/problems.js'
import { KeptBackend } from '../../objects/kept-backend.js'
import { Notes, running } from '../running.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, failureOf, flowOf, jobsOf, openQueue, drained, steps } from './queues.js'

const corrupt = { code: 'LK_STORAGE_CORRUPT' }

async function damageOf(storage: Storage, key: Uint8Array, damage: 'gone' | 'damaged') {
  const value = Buffer.from('no record')
  await storage.write([damage === 'gone' ? { type: 'del', key } : { type: 'put', key, value }])
}

t.test('documents that cannot be read are dead letters, and hold up no others', async (t) => {
  for (const damage of ['gone', 'damaged']) {
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage)
    const lost = await queue.load('f', documentOf('lost'))
    const sound = await queue.load('f', documentOf('sound'))
    const key = blockKey(blockOf(numberIn(lost) ?? 0))
    const value = Buffer.from('no block')
    await storage.write(damage === 'gone' ? [{ type: 'del', key }] : [{ type: 'put', key, value }])
    // Another one has nothing of it in memory.
    const other = await openQueue(storage)
    await t.rejects(jobsOf(other, { flow: 'f' }), corrupt, damage)
    if (damage === 'damaged') await t.rejects(other.job(lost), corrupt)
    t.equal((await other.job(sound))?.document, 'sound')
    const named = (document: string) => jobsOf(other, { flow: 'f', user: 'alice', document })
    t.equal((await named('sound')).length, 1)
    await t.rejects(named('lost'), corrupt)
    const delivered = await drained(other, 'f')
    t.strictSame(
      delivered.map(({ document }) => document.document),
      ['sound'],
      damage,
    )
    t.strictSame(other.stats('f'), { queued: 0, active: 0, delayed: 0, done: 1, dead: 1 })
    t.match(await jobsOf(other, { flow: 'f', state: 'dead' }), [
      { user: 'alice', flow: 'f', failures: [{ cause: 'failed', code: 'LK_STORAGE_CORRUPT' }] },
    ])
    // What is counted among the dead is not 404, though its own id is gone.
    await t.rejects(other.job(lost), corrupt)
    await t.rejects(other.jobsOf('alice', 'lost'), corrupt)
    t.equal((await other.jobsOf('alice', 'other')).jobs.length, 0)
    t.equal((await other.jobsOf('bob', 'lost')).jobs.length, 0)
    t.equal((await other.job(sound))?.state, 'done')
    const [dead] = await jobsOf(other, { flow: 'f', state: 'dead' })
    await other.cancel(dead!.id)
    // Of a damaged block the bytes stay, for whoever looks.
    if (damage === 'gone') t.equal(await other.job(lost), undefined)
    t.equal((await other.jobsOf('alice', 'lost')).jobs.length, 0)
  }
})

/** A queue with one document, whose job was claimed, and has come to this. */
async function claimedBefore(state: 'dead' | 'delayed' | 'queued') {
  const clock = new VirtualClock()
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage, { clock })
  const id = await queue.load('f', documentOf('lost'))
  const { jobs } = await queue.claim('f', 1)
  const claimed = jobs[0]!
  if (state === 'queued') await queue.release(claimed, failureOf(claimed))
  else await queue.fail(claimed, failureOf(claimed), { mayRetry: state === 'delayed' })
  return { clock, storage, queue, id }
}

t.test('of a job that has neither record nor document both are named', async (t) => {
  for (const state of ['delayed', 'queued'] as const) {
    for (const damage of ['gone', 'damaged'] as const) {
      const { clock, storage, id } = await claimedBefore(state)
      await damageOf(storage, jobKey(numberIn(id)!), damage)
      await damageOf(storage, blockKey(blockOf(numberIn(id)!)), damage)
      await clock.advance(1e9)
      // Another one has nothing of it in memory.
      const other = await openQueue(storage, { clock })
      t.strictSame(await drained(other, 'f'), [], state)
      const [dead] = await jobsOf(other, { flow: 'f', state: 'dead' })
      const message = /the document and the record of the job/
      t.match(dead?.failures, [{ code: 'LK_STORAGE_CORRUPT', message }], `${state}, ${damage}`)
    }
  }
})

t.test(
  'a record that cannot be read is damage where something says that it is there',
  async (t) => {
    for (const state of ['dead', 'delayed', 'queued'] as const) {
      for (const damage of ['gone', 'damaged'] as const) {
        const { clock, storage, queue, id } = await claimedBefore(state)
        const sound = ['sound', 'of bob', 'of carol']
        for (const name of sound) await queue.load('f', documentOf(name, name))
        await damageOf(storage, jobKey(numberIn(id)!), damage)
        if (damage === 'gone') {
          await t.rejects(jobsOf(queue, { flow: 'f', state }), corrupt, state)
          await t.rejects(jobsOf(queue, { flow: 'f' }), corrupt, state)
        }
        await clock.advance(1e9)
        // In one claim with the others, which it holds up neither here nor there.
        const delivered = await drained(queue, 'f')
        t.strictSame(delivered.map(({ document }) => document.document).sort(), [...sound].sort())
        t.match(queue.stats('f'), { queued: 0, active: 0, delayed: 0, done: 3, dead: 1 }, state)
        if (state === 'dead') continue
        // Its document tells whose it is, and is there for whoever tries again.
        const [dead] = await jobsOf(queue, { flow: 'f', state: 'dead' })
        t.match(dead, { id, document: 'lost', user: 'alice', collection: 'default' })
        t.match(dead?.failures, [{ code: 'LK_STORAGE_CORRUPT', message: /the record of the job/ }])
        await queue.retry(id)
        const [again] = await drained(queue, 'f')
        t.equal(again?.document.document, 'lost')
        t.match(queue.stats('f'), { queued: 0, done: 4, dead: 0 })
        t.strictSame(await flowProblems(storage), [])
      }
    }
  },
)

t.test('a document that lies by itself gives up its place in its block once', async (t) => {
  for (const state of ['queued', 'delayed'] as const) {
    for (const damage of ['gone', 'damaged'] as const) {
      for (const end of ['completed', 'cancelled'] as const) {
        const clock = new VirtualClock()
        const storage = await new MemoryBackend().open('flows')
        const queue = await openQueue(storage, { clock })
        // In one block, as they come in one write.
        const loads = ['lost', 'sound', 'late'].map((id) => queue.load('f', documentOf(id)))
        const [id] = await Promise.all(loads)
        const [first] = (await queue.claim('f', 1)).jobs
        await queue.fail(first!, failureOf(first!), { mayRetry: false })
        await queue.retry(id!)
        if (state === 'delayed') {
          const [again] = (await queue.claim('f', 1)).jobs
          await queue.fail(again!, failureOf(again!), { mayRetry: true })
        }
        await damageOf(storage, jobKey(numberIn(id!)!), damage)
        if (damage === 'gone' && state === 'queued') await t.rejects(queue.cancel(id!), corrupt)
        await clock.advance(1e9)
        const { jobs } = await queue.claim('f', 8)
        t.strictSame(
          jobs.map(({ document }) => document.document),
          ['sound', 'late'],
        )
        const [sound, late] = jobs
        await queue.complete(sound!, steps)
        t.match(await jobsOf(queue, { flow: 'f', state: 'dead' }), [{ id, document: 'lost' }])
        if (end === 'completed') {
          await queue.retry(id!)
          const [again] = (await queue.claim('f', 1)).jobs
          t.equal(again?.document.document, 'lost')
          await queue.complete(again!, steps)
        } else await queue.cancel(id!)
        await queue.release(late!, undefined)
        // It has no block in memory.
        const other = await openQueue(storage, { clock })
        t.strictSame(
          (await drained(other, 'f')).map(({ document }) => document.document),
          ['late'],
          `${state}, ${damage}, ${end}`,
        )
        t.strictSame(await flowProblems(storage), [])
      }
    }
  }
})

t.test('without a record and a document a job is a dead letter by its number', async (t) => {
  const clock = new VirtualClock()
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage, { clock })
  const id = await queue.load('f', documentOf('lost'))
  const { jobs } = await queue.claim('f', 1)
  await queue.fail(jobs[0]!, failureOf(jobs[0]!), { mayRetry: true })
  const number = numberIn(id)!
  await damageOf(storage, jobKey(number), 'damaged')
  await damageOf(storage, blockKey(blockOf(number)), 'damaged')
  await clock.advance(1e9)
  const other = await openQueue(storage, { clock })
  t.strictSame(await drained(other, 'f'), [])
  t.match(await jobsOf(other, { flow: 'f', state: 'dead' }), [
    { id: `lost.${number.toString(36)}`, document: '', failures: [{ message: /the document/ }] },
  ])
})

t.test("nobody gets another's document", async (t) => {
  for (const [id, user, flow] of [
    ['other', 'alice', 'f'],
    ['mine', 'bob', 'f'],
    ['mine', 'alice', 'g'],
  ] as const) {
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage)
    await queue.define(flowOf('g'))
    const job = await queue.load('f', documentOf('mine'))
    const key = blockKey(blockOf(numberIn(job)!))
    const another = await queue.load(flow, documentOf(id, user))
    const value = await storage.get(blockKey(blockOf(numberIn(another)!)))
    await storage.write([{ type: 'put', key, value: value! }])
    const other = await openQueue(storage)
    const { jobs } = await other.claim('f', 1)
    t.strictSame(jobs, [], `${id} of ${user} in ${flow}`)
    t.match(await jobsOf(other, { flow: 'f', state: 'dead' }), [
      { user: 'alice', failures: [{ code: 'LK_STORAGE_CORRUPT', message: /the document/ }] },
    ])
  }
})

t.test('a delay that is too far ahead, of a job without a record, is no delay', async (t) => {
  for (const damage of ['gone', 'damaged'] as const) {
    const clock = new VirtualClock()
    const storage = await new MemoryBackend().open('flows')
    const ahead = await openQueue(storage, { clock: clock.shifted(1e10) })
    const id = await ahead.load('f', documentOf('lost'))
    const { jobs } = await ahead.claim('f', 1)
    await ahead.fail(jobs[0]!, failureOf(jobs[0]!), { mayRetry: true })
    await damageOf(storage, jobKey(numberIn(id)!), damage)
    const alone = await openQueue(storage, { clock, isAlone: true })
    t.match(alone.stats('f'), { queued: 0, delayed: 0, dead: 1 }, damage)
    t.match(await jobsOf(alone, { flow: 'f', state: 'dead' }), [{ id, document: 'lost' }])
    t.strictSame(await flowProblems(storage), [])
  }
})

t.test(
  'where it is not known which load was the last one, a retry says that this is',
  async (t) => {
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage)
    await queue.load('f', documentOf('twice'))
    await drained(queue, 'f')
    await damageOf(storage, latestKey('alice', 'twice'), 'damaged')
    const id = await queue.load('f', documentOf('twice'))
    await queue.load('f', documentOf('sound', 'bob'))
    const delivered = await drained(queue, 'f')
    t.strictSame(
      delivered.map(({ document }) => document.document),
      ['sound'],
    )
    const [dead] = await jobsOf(queue, { flow: 'f', state: 'dead' })
    t.match(dead, { id, document: 'twice', failures: [{ code: 'LK_STORAGE_CORRUPT' }] })
    t.match(dead?.failures[0]?.message, /which load of the document was processed last/)
    await queue.retry(id)
    t.equal((await drained(queue, 'f'))[0]?.document.document, 'twice')
    t.equal((await queue.jobsOf('alice', 'twice')).latest?.job, id)
    t.strictSame(await flowProblems(storage), [])
  },
)

t.test('one retry is enough for a job of which nothing but its document is known', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const id = await queue.load('f', documentOf('both'))
  const { jobs } = await queue.claim('f', 1)
  await queue.release(jobs[0]!, failureOf(jobs[0]!))
  await damageOf(storage, jobKey(numberIn(id)!), 'damaged')
  await damageOf(storage, latestKey('alice', 'both'), 'damaged')
  t.strictSame(await drained(queue, 'f'), [])
  const [dead] = await jobsOf(queue, { flow: 'f', state: 'dead' })
  t.equal(
    dead?.failures[0]?.message,
    'stored data is damaged: the record of the job and which load of the document was processed last cannot be read',
  )
  await queue.retry(id)
  t.equal((await drained(queue, 'f'))[0]?.document.document, 'both')
  t.strictSame(await flowProblems(storage), [])
})

t.test('where it is not known how many documents of a block are needed, it stays', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  const loads = ['a', 'b', 'c'].map((name) => queue.load('f', documentOf(name, name)))
  const [id] = await Promise.all(loads)
  const block = blockOf(numberIn(id!)!)
  const { jobs } = await queue.claim('f', 1)
  await queue.complete(jobs[0]!, steps)
  await damageOf(storage, leftKey(block), 'damaged')
  const other = await openQueue(storage)
  t.equal((await drained(other, 'f')).length, 2)
  t.match(other.stats('f'), { queued: 0, done: 3, dead: 0 })
  t.ok(await storage.get(blockKey(block)))
  await t.rejects(async () => decodeRecord((await storage.get(leftKey(block)))!), corrupt)
})

t.test('what another process has changed meanwhile is not damage', async (t) => {
  const storage = await new MemoryBackend().open('flows')
  const queue = await openQueue(storage)
  await queue.load('f', documentOf('a'))
  const { jobs } = await queue.claim('f', 1)
  await queue.fail(jobs[0]!, failureOf(jobs[0]!), { mayRetry: false })
  const [dead] = await jobsOf(queue, { flow: 'f' })
  const other = await openQueue(storage)
  // Between the page of dead letters and their records.
  let cancelled = false
  const getMany: Storage['getMany'] = async (keys) => {
    if (!cancelled) await other.cancel(dead!.id)
    cancelled = true
    return storage.getMany(keys)
  }
  const reader = await openQueue(altered(storage, { getMany }))
  t.strictSame(await jobsOf(reader, { flow: 'f', state: 'dead' }), [])
  t.ok(cancelled)
})

t.test('a damaged value file of a document is told by every read of its job', async (t) => {
  const directory = t.testdir()
  const backend = new LevelBackend(directory)
  const keep = await createLorekeep({ backend })
  t.teardown(() => keep.close())
  const { flows } = keep
  const text = 'x'.repeat(100_000)
  const { job } = await flows.load('default', { id: 'lost', content: text })
  await flows.load('default', { id: 'sound', content: 'y' })
  await keep.close()
  const values = join(directory, 'flows', 'values')
  const [name] = await readdir(values)
  const content = await readFile(join(values, name!))
  content[50_000]! ^= 4
  await writeFile(join(values, name!), content)

  const again = await createLorekeep({ backend: new LevelBackend(directory) })
  t.teardown(() => again.close())
  const ofLost = { document: 'lost' }
  t.equal((await again.flows.stats('default')).queued, 2)
  await t.rejects(again.flows.job(job), corrupt)
  await t.rejects(again.flows.document(ofLost), corrupt)
  t.equal((await again.flows.document({ document: 'sound' }))?.jobs.length, 1)
  const runner = again.flows.run()
  for await (const event of again.flows.watch({ document: 'sound' })) {
    if (event.type === 'done') break
  }
  await runner.stop()
  t.match(await again.flows.stats('default'), { queued: 0, done: 1, dead: 1 })
  await t.rejects(again.flows.job(job), corrupt)
  await t.rejects(again.flows.document(ofLost), corrupt)
})

t.test('a recorded output that is damaged is made again, from the last sound one', async (t) => {
  for (const [damaged, again] of [
    [[1], ['b']],
    [[0], []],
    [
      [0, 1],
      ['a', 'b'],
    ],
  ] as const) {
    for (const how of ['its bytes', 'its reading'] as const) {
      const keys = new Set<string>()
      const real = new MemoryBackend()
      const open = real.open.bind(real)
      real.open = async (partition) => {
        const storage = await open(partition)
        const get: Storage['get'] = async (key) => {
          if (!keys.has(String(key))) return storage.get(key)
          throw new LorekeepError('LK_STORAGE_CORRUPT', 'on purpose')
        }
        return altered(storage, { get })
      }
      const { flows, clock, backend } = await running(t, { backend: new KeptBackend(real) })
      let job = ''
      const notes = new Notes().on('c', async (input) => {
        if (notes.runs.length > 3) return input
        const storage = await backend.open('flows')
        for (const place of damaged) {
          const key = outputKey(numberIn(job)!, place)
          if (how === 'its reading') keys.add(String(key))
          else await storage.write([{ type: 'put', key, value: Buffer.from('no output') }])
        }
        throw new Error('on purpose')
      })
      // What was written anew can be read.
      for (const [place, name] of ['a', 'b'].entries()) {
        notes.on(name, () => {
          keys.delete(String(outputKey(numberIn(job)!, place)))
          return name
        })
      }
      await flows.define({ id: 'f', steps: notes.steps('a', 'b', 'c', 'd'), maxAttempts: 2 })
      job = (await flows.load('f', { id: 'x', content: 'text' })).job
      flows.run()
      await clock.advance(10_000)
      const runs = ['a', 'b', 'c', ...again, 'c', 'd'].map((step) => `x ${step}`)
      t.strictSame(notes.runs, runs, `${how} of ${damaged.join()}`)
      t.match(await flows.job(job), { state: 'done', attempts: 2, failures: [{ step: 'c' }] })
      t.strictSame(await flowProblems(await backend.open('flows')), [])
    }
  }
})
