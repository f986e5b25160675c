import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { blockBytes, layoutOf } from '../../src/graph/index/layout.js'
import { GraphVersion } from '../../src/graph/version.js'
import type { Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { entity, literal } from './asked.js'
import { partViews } from './index/part-views.js'

/** A version of two parts, and how many blocks are read meanwhile. */
async function versionOf(cacheBytes: number) {
  const inner = await new MemoryBackend().open('slices')
  let reads = 0
  const getBytes: Storage['getBytes'] = (key, from, to) => {
    reads++
    return inner.getBytes(key, from, to)
  }
  const storage = altered(inner, { getBytes })
  const contents = [12_000, 100].map((count) =>
    Array.from({ length: count }, (_, n) => ({
      s: entity(`s${n}`),
      p: entity(`p${n % 3}`),
      o: literal(`${n}`),
    })),
  )
  const parts = (await partViews(storage, contents, cacheBytes)).map(({ part }) => ({ part }))
  const blocks = parts.map(({ part }) => Math.ceil(layoutOf(part.record).end / blockBytes))
  const version = await GraphVersion.of(parts, undefined)
  const taken = () => {
    const taken = reads
    reads = 0
    return taken
  }
  taken()
  return { version, blocks: blocks.reduce((sum, count) => sum + count), taken }
}

t.test('where there is room, all blocks are asked for at once', async (t) => {
  const { version, blocks, taken } = await versionOf(64 * blockBytes)
  t.ok(blocks > 4)
  version.bring()
  t.equal(taken(), blocks)
  version.bring()
  t.equal(taken(), 0)
})

t.test('where there is little room nothing is brought before it is needed', async (t) => {
  const { version, blocks, taken } = await versionOf(2 * blockBytes)
  t.ok(blocks > 4)
  version.bring()
  t.equal(taken(), 0)
})
