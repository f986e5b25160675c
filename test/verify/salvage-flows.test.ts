import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { encodeKey } from '../../src/keys.js'
import type { Partitions } from '../../src/verify-stores.js'
import { salvage } from './salvaged.js'

async function partitionsOf(backend: MemoryBackend) {
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
  const { job } = await keep.flows.load('default', { id: 'd', user: 'u', content: 'a text' })
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
  await keep.close()
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
