// What a salvage says of content whose records are lost as a whole: nothing else speaks of it.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { keyPrefix } from '../../src/keys.js'
import type { PartitionName } from '../../src/storage.js'
import { KeptBackend } from '../objects/kept-backend.js'
import { fill } from './filled.js'
import { contentOf, salvage } from './salvaged.js'

const names: readonly PartitionName[] = ['cores', 'slices', 'objects', 'flows']

async function filled(backend = new MemoryBackend()) {
  await fill(backend)
  const open = names.map(async (name) => [name, await backend.open(name)] as const)
  const entries = await Promise.all(open)
  return Object.fromEntries(entries) as Record<
    PartitionName,
    Awaited<ReturnType<MemoryBackend['open']>>
  >
}

t.test('of a whole store nothing is left behind', async (t) => {
  const original = new MemoryBackend()
  const target = new MemoryBackend()
  const { findings, objects, jobs } = await salvage(await filled(original), target)
  t.strictSame(findings, [])
  t.ok(objects > 0 && jobs > 0)
  const expected = await contentOf(new KeptBackend(original))
  t.match([...expected.keys()].join('\n'), /^message alice[^]*^product shop[^]*^single shop one$/m)
  t.strictSame(await contentOf(target), expected)
})

const losses: readonly (readonly [PartitionName, string, RegExp])[] = [
  ['objects', 'block', /^\("page", \d+\) \d+ objects, the record of whose block is lost$/],
  ['flows', 'run', /^\("block", \d+\) \d+ documents, of whose jobs every record is lost$/],
  ['flows', 'lease', /^\("block", \d+\) \d+ documents, of whose jobs every record is lost$/],
]
for (const [partition, kind, message] of losses) {
  t.test(`${kind}s that are lost in '${partition}' are told`, async (t) => {
    const partitions = await filled()
    const whole = await salvage(partitions, new MemoryBackend())
    for await (const page of partitions[partition].scan(keyPrefix(kind))) {
      await partitions[partition].write(page.map(({ key }) => ({ type: 'del', key })))
    }
    const { findings, objects, jobs } = await salvage(partitions, new MemoryBackend())
    t.ok(objects + jobs < whole.objects + whole.jobs)
    const told = findings.map(({ what, message }) => `${what} ${message}`)
    t.ok(
      told.some((line) => message.test(line)),
      told.join('\n'),
    )
  })
}
