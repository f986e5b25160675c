// Records of jobs that contradict themselves or others, the newest load of a document among them,
// and what a removal of the document leaves.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import { latestKey, jobKey } from '../../src/flow/queue/records.js'
import type { JobRecord, LatestRecord } from '../../src/flow/queue/records.js'
import { numberIn } from '../../src/flow/queue/block.js'
import { decodeRecord, encodeRecord } from '../../src/record.js'

const flow = { id: 'f', steps: [{ name: 'nothing', run: () => undefined }] }

/** A store in which the document `d` was loaded twice, and `other` once. */
async function opened(): Promise<{ backend: MemoryBackend; keep: Lorekeep; job: string }> {
  const backend = new MemoryBackend()
  const keep = await createLorekeep({ backend })
  await keep.flows.define(flow)
  keep.flows.run()
  let job = ''
  for (const id of ['d', 'd', 'other']) {
    const loaded = await keep.flows.load('f', { id, user: 'u', content: 'a text' })
    for await (const { type } of keep.flows.watch({ job: loaded.job })) if (type === 'done') break
    if (id === 'd') job = loaded.job
  }
  return { backend, keep, job }
}

async function errorsIn(keep: Lorekeep, deep: boolean): Promise<string[]> {
  const errors: string[] = []
  for await (const { severity, what, message } of keep.verify({ deep })) {
    if (severity === 'error') errors.push(`${what} ${message}`)
  }
  return errors
}

t.test('the removal of a document that was loaded twice leaves nothing wrong', async (t) => {
  const { keep } = await opened()
  t.ok(await keep.flows.removeDocument({ user: 'u', document: 'd' }))
  for (const deep of [false, true]) t.strictSame(await errorsIn(keep, deep), [])
  await keep.close()
})

t.test('a record of a newest load that names another job is found at both depths', async (t) => {
  const { backend, keep, job } = await opened()
  const flows = await backend.open('flows')
  const key = latestKey('u', 'd')
  const value = (await flows.get(key))!
  const latest = decodeRecord<LatestRecord>(value)
  const number = numberIn(job)!
  const other = decodeRecord<LatestRecord>((await flows.get(latestKey('u', 'other')))!)
  const ofNumber = (n: number) => ({ number: n, job: job.replace(/[^.]*$/, n.toString(36)) })
  const wrong: readonly (readonly [string, object])[] = [
    ['of another document', other],
    ['of an older load', { ...latest, ...ofNumber(number - 1) }],
    ['of a number that was never given', { ...latest, ...ofNumber(number + 4096 * 100) }],
    ['whose id is of another number', { ...latest, job: other.job }],
    ['without a flow', { ...latest, flow: null }],
    ['of another flow', { ...latest, flow: 'g' }],
  ]
  for (const [what, record] of wrong) {
    await flows.write([{ type: 'put', key, value: encodeRecord(record) }])
    for (const deep of [false, true]) t.ok((await errorsIn(keep, deep)).length > 0, what)
  }
  await flows.write([{ type: 'put', key, value }])
  t.strictSame(await errorsIn(keep, true), [])
  await keep.close()
})

t.test('a job that is not done is no newest load', async (t) => {
  const { backend, keep, job } = await opened()
  const flows = await backend.open('flows')
  const key = jobKey(numberIn(job)!)
  const record = decodeRecord<JobRecord>((await flows.get(key))!)
  await flows.write([{ type: 'put', key, value: encodeRecord({ ...record, superseded: true }) }])
  const errors = await errorsIn(keep, false)
  t.ok(
    errors.some((error) => error.startsWith('("latest"')),
    errors.join('\n'),
  )
  await keep.close()
})

t.test('a record that contradicts itself is told with what is wrong of it', async (t) => {
  const { backend, keep, job } = await opened()
  const flows = await backend.open('flows')
  const number = numberIn(job)!
  const key = jobKey(number)
  const value = (await flows.get(key))!
  const record = decodeRecord<JobRecord>(value)
  const changes: readonly (readonly [RegExp, Partial<JobRecord>])[] = [
    [/is done, and due at 5$/, { dueAt: 5 }],
    [/is done, and says that it has a body$/, { ownBody: true }],
    [/its id '.*' is of another number$/, { id: job.replace(/[^.]*$/, (number + 1).toString(36)) }],
  ]
  for (const [message, change] of changes) {
    const changed = encodeRecord({ ...record, ...change })
    await flows.write([{ type: 'put', key, value: changed }])
    for (const deep of [false, true]) {
      const errors = await errorsIn(keep, deep)
      t.ok(
        errors.some((error) => error.startsWith('("job"') && message.test(error)),
        `${String(message)}: ${errors.join('; ')}`,
      )
    }
  }
  const unknown = number + 4096 * 100
  await flows.write([
    { type: 'put', key, value },
    { type: 'put', key: jobKey(unknown), value: encodeRecord(record) },
  ])
  t.match((await errorsIn(keep, false)).join('\n'), 'the head has not given that number yet')
  await keep.close()
})
