import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { numberIn } from '../../src/flow/queue/block.js'
import { endingKey, outputKey, withheldKey } from '../../src/flow/queue/records.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { encodeKey, keyPrefix } from '../../src/keys.js'
import { memberKey } from '../../src/presence.js'
import { encodeRecord } from '../../src/record.js'
import type { Backend } from '../../src/storage.js'
import type { Partitions } from '../../src/lost-partitions.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { flowProblems } from '../fixtures/problems.js'
import { countOf, crowd } from '../flow/queue/crowd.js'
import { documentOf, drained, openQueue } from '../flow/queue/queues.js'
import { fill } from './filled.js'
import { salvage } from './salvaged.js'

async function partitionsOf(backend: Backend) {
  return {
    cores: await backend.open('cores'),
    slices: await backend.open('slices'),
    objects: await backend.open('objects'),
    flows: await backend.open('flows'),
  } satisfies Partitions
}

t.test('the flow default is there after a salvage, with its jobs', async (t) => {
  const source = new MemoryBackend()
  const keep = await createLorekeep({ backend: source })
  const document = { id: 'd', user: 'u', title: 'A title', content: 'a text' }
  const { job } = await keep.flows.load('default', document)
  const expected = await keep.flows.get('default')
  const { flows } = await partitionsOf(source)
  await flows.write([{ type: 'del', key: encodeKey('flow', 'default') }])
  const backend = new MemoryBackend()
  const { findings, jobs } = await salvage(await partitionsOf(source), backend)
  t.strictSame(
    findings.map(({ what, code }) => [what, code]),
    [['("flow", "default")', 'lost']],
  )
  t.equal(jobs, 1)
  await using salvaged = await createLorekeep({ backend })
  t.strictSame(await salvaged.flows.get('default'), expected)
  t.equal((await salvaged.flows.job(job))?.state, 'queued')
  salvaged.flows.run()
  for await (const event of salvaged.flows.watch({ job })) if (event.type === 'done') break
  const titled = { s: { v: 'http://trustgraph.ai/d/d', e: true }, o: { v: 'A title', e: false } }
  const found = salvaged.knowledge.graph({ user: 'u' }).match(titled)
  let named = 0
  for await (const _ of found) named++
  t.equal(named, 1)
  await keep.close()
})

t.test('what was posted and not taken in is there after a salvage', async (t) => {
  const { memory, queues, clock } = await crowd(t)
  const ids = [
    await queues[0]!.load('f', documentOf('a')),
    await queues[1]!.load('f', documentOf('b')),
  ]
  const source = memory.backend()
  const backend = new MemoryBackend()
  const from = await partitionsOf(source)
  t.ok((await countOf(from.flows, 'post')) > 0)
  const { findings, jobs } = await salvage(from, backend)
  // The others are empty.
  t.strictSame(
    findings.filter(({ partition }) => partition === 'flows'),
    [],
  )
  t.equal(jobs, 3)
  const flows = await backend.open('flows')
  t.strictSame(await flowProblems(flows), [])
  const queue = await openQueue(flows, { clock, isAlone: true })
  for (const id of ids) t.equal((await queue.job(id))?.state, 'queued')
  const documents = (await drained(queue, 'f')).map(({ document }) => document.document)
  t.strictSame(documents, ['first', 'a', 'b'])
  const later = await queue.load('f', documentOf('c'))
  t.ok(ids.every((id) => numberIn(id)! < numberIn(later)!))
})

t.test('a flow default that was removed comes back, and that is no damage', async (t) => {
  const source = new MemoryBackend()
  const keep = await createLorekeep({ backend: source })
  await keep.flows.remove('default')
  const backend = new MemoryBackend()
  const { findings } = await salvage(await partitionsOf(source), backend)
  t.strictSame(findings, [])
  await using salvaged = await createLorekeep({ backend })
  await t.resolves(salvaged.flows.load('default', { id: 'd', content: 'a text' }))
  await keep.close()
})

t.test(
  'steps that were not recorded run again after a salvage where those behind are lost',
  async (t) => {
    const source = new MemoryBackend()
    const keep = await createLorekeep({ backend: source })
    const names = ['a', 'b', 'c', 'd', 'e']
    const steps = names.map((name) => ({
      name,
      record: name === 'b' || name === 'd',
      run: () => {
        if (name === 'e') throw new LorekeepError('LK_STEP_UNRECOVERABLE', 'on purpose')
      },
    }))
    await keep.flows.define({ id: 'f', steps })
    const { job } = await keep.flows.load('f', { id: 'd', content: 'a text' })
    keep.flows.run()
    for await (const { type } of keep.flows.watch({ job })) if (type === 'dead') break
    const completedSteps = async (backend: MemoryBackend) => {
      await using salvaged = await createLorekeep({ backend })
      return (await salvaged.flows.job(job))?.completedSteps
    }
    const whole = new MemoryBackend()
    t.strictSame((await salvage(await partitionsOf(source), whole)).findings, [])
    t.strictSame(await flowProblems(await whole.open('flows')), [])
    t.strictSame(await completedSteps(whole), ['a', 'b', 'c', 'd'])

    const { flows } = await partitionsOf(source)
    const number = numberIn(job) as number
    await flows.write([{ type: 'del', key: outputKey(number, 3) }])
    const part = new MemoryBackend()
    t.equal((await salvage(await partitionsOf(source), part)).findings.length, 1)
    t.strictSame(await flowProblems(await part.open('flows')), [])
    t.strictSame(await completedSteps(part), ['a', 'b'])
    await keep.close()
  },
)

t.test('a salvage that was broken off, wherever, leaves nothing that opens', async (t) => {
  const source = new MemoryBackend()
  await fill(source)
  const partitions = await partitionsOf(source)
  const whole = new FaultyBackend(new MemoryBackend())
  await salvage(partitions, whole)
  const { calls } = whole
  t.ok(calls > 20, `${calls} calls`)
  for (const when of ['before', 'after'] as const) {
    for (let failAt = 1; failAt <= calls; failAt++) {
      // The first call marks it, and the last one takes the mark away.
      if (failAt === (when === 'before' ? 1 : calls)) continue
      const memory = new MemoryBackend()
      const backend = new FaultyBackend(memory)
      Object.assign(backend, { failAt, lasting: true, when })
      await t.rejects(salvage(partitions, backend), { code: 'LK_STORAGE_FAILED' })
      await t.rejects(
        createLorekeep({ backend: memory }),
        { code: 'LK_BACKUP_UNFINISHED', message: /part of a salvage/ },
        `call ${failAt} of ${calls}, ${when}`,
      )
    }
  }
})

t.test('what members of a shared store held is no damage, and does not come along', async (t) => {
  const source = new MemoryBackend()
  const keep = await createLorekeep({ backend: source })
  const { job } = await keep.flows.load('default', { id: 'd', user: 'u', content: 'a text' })
  const { flows } = await partitionsOf(source)
  const ending = { member: 'm', user: 'u', document: 'other' }
  await flows.write([
    { type: 'put', key: memberKey('m'), value: encodeRecord({}) },
    { type: 'put', key: withheldKey('u', 'd', 'm'), value: new Uint8Array(0) },
    { type: 'put', key: endingKey(4096, 'token'), value: encodeRecord(ending) },
  ])
  t.strictSame(await flowProblems(flows), [])
  const backend = new MemoryBackend()
  const { findings, jobs } = await salvage(await partitionsOf(source), backend)
  t.strictSame(findings, [])
  t.equal(jobs, 1)
  const salvaged = await backend.open('flows')
  for (const kind of ['member', 'withheld', 'ending']) {
    for await (const page of salvaged.scan(keyPrefix(kind))) t.strictSame(page, [], kind)
  }
  t.strictSame(await flowProblems(salvaged), [])
  await using again = await createLorekeep({ backend })
  t.equal((await again.flows.job(job))?.state, 'queued')
  await keep.close()
})
