import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { blockKey, blockOf } from '../../../src/flow/queue/records.js'
import { numberIn } from '../../../src/flow/queue/block.js'
import { documentOf, jobsOf, openQueue, drained } from './queues.js'

t.test('documents that cannot be read are dead letters, and hold up no others', async (t) => {
  for (const damage of ['gone', 'damaged']) {
    const storage = await new MemoryBackend().open('flows')
    const queue = await openQueue(storage)
    const lost = await queue.load('f', documentOf('lost'))
    await queue.load('f', documentOf('sound'))
    const key = blockKey(blockOf(numberIn(lost) ?? 0))
    const value = Buffer.from('no block')
    await storage.write(damage === 'gone' ? [{ type: 'del', key }] : [{ type: 'put', key, value }])
    // Another one has nothing of it in memory.
    const other = await openQueue(storage)
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
  }
})
