import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { blockBytes, layoutOf } from '../../src/graph/index/layout.js'
import { GraphVersion } from '../../src/graph/version.js'
import type { Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { withBlocks } from '../../src/graph/miss.js'
import { BlockCache } from '../../src/graph/index/block-cache.js'
import { Part } from '../../src/graph/index/part.js'
import { PartsBuilder } from '../../src/graph/index/parts-builder.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import { entity, literal, messageOf } from './asked.js'
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

t.test(
  'whoever does not want near things any more is asked while they are looked up',
  async (t) => {
    const storage = await new MemoryBackend().open('slices')
    const terms = Array.from({ length: 4000 }, (_, n) => entity(`e${n}`))
    const m = { i: '', u: '', m: [], c: 'c' }
    const builder = new PartsBuilder(storage, 'index', { generation: '0'.repeat(32), core: 'c' })
    const triples = terms.map((s) => ({ s, p: entity('p'), o: entity('o') }))
    for (let at = 0; at < terms.length; at += 500) {
      builder.push(encodeMessage(messageOf(triples.slice(at, at + 500))))
    }
    builder.push(encodeMessage(['ge', { m, e: terms.map((e) => ({ e, v: [[1, 0]] })) }]))
    const cache = new BlockCache(storage, 1024 ** 2)
    const parts = (await builder.finish()).map((record) => ({ part: new Part(cache, record) }))
    const version = await GraphVersion.of(parts, undefined)
    const entities = new Set<number>()
    for (const term of terms) entities.add(await withBlocks(() => version.view.find(term)))
    let asked = 0
    const check = () => {
      if (++asked === 3) throw new Error('enough')
    }
    await t.rejects(version.vectors(2, entities, check), { message: 'enough' })
    const sets = await version.vectors(2, entities, () => undefined)
    t.strictSame(
      sets.map(({ count }) => count),
      [4000],
    )
  },
)

t.test('where there is little room nothing is brought before it is needed', async (t) => {
  const { version, blocks, taken } = await versionOf(2 * blockBytes)
  t.ok(blocks > 4)
  version.bring()
  t.equal(taken(), 0)
})
