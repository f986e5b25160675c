import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { MemoryBackend } from '../../../adapters/memory.js'
import { blockKey, blockOf, jobKey } from '../../../src/flow/queue/records.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Storage } from '../../../src/storage.js'
import { altered } from '../../fixtures/altered-storage.js'
import { VirtualClock } from '../virtual-clock.js'
import { documentOf, failureOf, jobsOf, openQueue, drained } from './queues.js'

const corrupt = { code: 'LK_STORAGE_CORRUPT' }

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

t.test('a record that is gone is damage where something says that it is there', async (t) => {
  for (const state of ['dead', 'delayed', 'queued'] as const) {
    const clock = new VirtualClock()
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage, { clock })
    const id = await queue.load('f', documentOf('lost'))
    await queue.load('f', documentOf('sound'))
    const { jobs } = await queue.claim('f', 1)
    const claimed = jobs[0]!
    if (state === 'queued') await queue.release(claimed, failureOf(claimed))
    else await queue.fail(claimed, failureOf(claimed), { mayRetry: state === 'delayed' })
    await storage.write([{ type: 'del', key: jobKey(numberIn(id)!) }])
    await t.rejects(jobsOf(queue, { flow: 'f', state }), corrupt, state)
    await t.rejects(jobsOf(queue, { flow: 'f' }), corrupt, state)
    await clock.advance(1e9)
    const delivered = await drained(queue, 'f')
    t.strictSame(
      delivered.map(({ document }) => document.document),
      ['sound'],
    )
    t.match(queue.stats('f'), { queued: 0, active: 0, delayed: 0, dead: 1 }, state)
  }
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
