// What was posted, as whoever takes it in has seen it.

import t from 'tap'
import { inboxes, postKey } from '../../../src/flow/queue/records.js'
import type { JobQueue } from '../../../src/flow/queue/queue.js'
import { encodeRecord } from '../../../src/record.js'
import type { Operation, Storage } from '../../../src/storage.js'
import { flowProblems } from '../../fixtures/problems.js'
import { crowd } from './crowd.js'
import { documentOf, drained } from './queues.js'

t.test('what a fail-over has lost is not looked for', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  const before = await entriesOf(storages[0]!)
  await first.load('f', documentOf('lost'))
  await second.refresh()
  await first.load('f', documentOf('lost, too'))
  await second.refresh()
  await restoreTo(storages[0]!, before)
  await second.setActive('f', true)
  const documents = (await drained(second, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['first'])
  t.strictSame(await flowProblems(storages[0]!), [])
})

t.test('whoever needs what is damaged is told', async (t) => {
  const { queues, storages } = await crowd(t)
  const [first, second] = queues as [JobQueue, JobQueue]
  await first.load('f', documentOf('a'))
  const keys = Array.from({ length: inboxes }, (_, inbox) => postKey(inbox, 1))
  const place = (await storages[0]!.getMany(keys)).findIndex((value) => value !== undefined)
  await storages[0]!.write([
    { type: 'put', key: keys[place]!, value: encodeRecord({ runs: [[]] }) },
  ])
  await t.rejects(second.refresh(), { code: 'LK_STORAGE_CORRUPT' })
  await storages[0]!.write([
    { type: 'put', key: keys[place]!, value: encodeRecord({ runs: [['f', 'alice', 1, 2]] }) },
  ])
  await t.rejects(second.refresh())
  await storages[0]!.write([{ type: 'del', key: keys[place]! }])
  await t.rejects(second.refresh(), { code: 'LK_STORAGE_CORRUPT' })
  await t.rejects(first.claim('f', 1), { code: 'LK_STORAGE_CORRUPT' })
})

async function entriesOf(storage: Storage): Promise<Operation[]> {
  const puts: Operation[] = []
  for await (const page of storage.scan({})) {
    for (const { key, value } of page) puts.push({ type: 'put', key, value })
  }
  return puts
}

async function restoreTo(storage: Storage, before: readonly Operation[]): Promise<void> {
  const now = await entriesOf(storage)
  await storage.write([...now.map(({ key }): Operation => ({ type: 'del', key })), ...before])
}
