// What a salvage says of content whose records are lost as a whole: nothing else speaks of it.

import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { decodeKey, encodeKey, keyPrefix } from '../../src/keys.js'
import { createLorekeep } from '../../src/lorekeep.js'
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
  ['objects', 'blocks', /^\("page", \d+\) \d+ objects, the record of whose block is lost$/],
  ['flows', 'run', /^\("block", \d+\) \d+ documents, of whose jobs every record is lost$/],
  ['flows', 'lease', /^\("block", \d+\) \d+ documents, of whose jobs every record is lost$/],
]
for (const [partition, kind, message] of losses) {
  t.test(`records of '${kind}' that are lost in '${partition}' are told`, async (t) => {
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

t.test('objects whose blocks have a damaged record are found by their pages', async (t) => {
  const original = new MemoryBackend()
  const partitions = await filled(original)
  const storage = partitions.objects
  const pages = new Map<number, Uint8Array>()
  for await (const page of storage.scan(keyPrefix('page'))) {
    for (const { key, value } of page) pages.set(decodeKey(key)[1] as number, value)
  }
  const keep = await createLorekeep({ backend: new KeptBackend(original) })
  t.ok(await keep.objects.delete('shop', 'p5'))
  await keep.close()
  const expected = await contentOf(new KeptBackend(original))
  // Pages that a find still had when it ended: what was in them is not taken for lost.
  for (const [number, value] of pages) {
    if ((await storage.get(encodeKey('page', number))) !== undefined) continue
    const retired = new Uint8Array(Buffer.from(JSON.stringify({ pages: [number] })))
    await storage.write([
      { type: 'put', key: encodeKey('page', number), value },
      { type: 'put', key: encodeKey('retired', number), value: retired },
    ])
  }
  for (const damaged of ['x', '{}', '{"firsts":[0]}']) {
    for await (const page of storage.scan(keyPrefix('blocks'))) {
      const value = new Uint8Array(Buffer.from(damaged))
      await storage.write(page.map(({ key }) => ({ type: 'put', key, value })))
    }
    const target = new MemoryBackend()
    const { findings } = await salvage(partitions, target)
    const blocks = findings.filter(({ what }) => what.startsWith('("blocks", '))
    t.ok(blocks.length > 0)
    t.equal(new Set(blocks.map(({ what }) => what)).size, blocks.length, 'each is told once')
    t.strictSame([...new Set(findings.map(({ code }) => code))], ['damaged'], 'nothing is lost')
    t.strictSame(await contentOf(target), expected, damaged)
  }
})
