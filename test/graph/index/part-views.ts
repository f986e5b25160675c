// Parts of some triples each, as a question sees them.

import assert from 'node:assert/strict'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { BlockCache } from '../../../src/graph/index/block-cache.js'
import { choose } from '../../../src/graph/index/chosen.js'
import { Part } from '../../../src/graph/index/part.js'
import { PartView } from '../../../src/graph/index/part-view.js'
import { PartsBuilder } from '../../../src/graph/index/parts-builder.js'
import type { Storage } from '../../../src/storage.js'
import type { Triple } from '../../../src/types.js'
import { messageOf } from '../asked.js'

/** One of each list, with a cache that nothing was read into. */
export async function partViews(
  storage: Storage,
  contents: readonly (readonly Triple[])[],
  cacheBytes: number,
  View = PartView,
): Promise<PartView[]> {
  const cache = new BlockCache(storage, cacheBytes)
  const views: PartView[] = []
  for (const [n, triples] of contents.entries()) {
    const source = { generation: n.toString(16).padStart(32, '0'), core: `core ${n}` }
    const builder = new PartsBuilder(storage, `index ${n}`, source)
    for (let at = 0; at < triples.length; at += 500) {
      builder.push(encodeMessage(messageOf(triples.slice(at, at + 500))))
    }
    const [record, ...others] = await builder.finish()
    assert.ok(record)
    assert.equal(others.length, 0)
    const part = new Part(cache, record)
    const chosen = await choose(part, {})
    assert.ok(chosen)
    views.push(new View(part, chosen))
  }
  return views
}
