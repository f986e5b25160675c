// Rows of a subject without those of predicates that nobody wants.

import assert from 'node:assert/strict'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { MergedView } from '../../../src/graph/index/merged-view.js'
import { withBlocks } from '../../../src/graph/miss.js'
import { ANY, UNION, type GraphView } from '../../../src/graph/view.js'
import type { Triple } from '../../../src/types.js'
import { entity, literal } from '../asked.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { partViews } from './part-views.js'

const s = entity('http://example.org/hub')
const predicates = Array.from({ length: 9 }, (_, n) => entity(`http://example.org/p${n}`))
const seed = pickSeed()
const random = new Random(seed)
t.comment(`SEED=${seed}`)
t.setTimeout(60_000)

/** Of each predicate none, one, or a run of rows. */
function triples(): Triple[] {
  return predicates.flatMap((p) => {
    const count = random.pick([0, 0, 1, 2, 3, 40, 600])
    return Array.from({ length: count }, () => ({ s, p, o: literal(`${random.below(1e6)}`) }))
  })
}

async function told(view: GraphView, unwanted?: ReadonlySet<number>) {
  const subject = await withBlocks(() => view.find(s))
  const rows = await withBlocks(() => view.rows(subject, ANY, ANY, UNION, unwanted))
  const found: (readonly [p: number, o: number])[] = []
  while (await withBlocks(() => rows.next())) found.push([rows.p, rows.o])
  return found
}

for (const cacheBytes of [1, Infinity]) {
  t.test(`those are passed over that lie together, with a cache of ${cacheBytes}`, async () => {
    for (let round = 0; round < 20; round++) {
      const storage = await new MemoryBackend().open('slices')
      const parts = [triples(), triples(), triples()].slice(0, 1 + random.below(3))
      const view = new MergedView(await partViews(storage, parts, cacheBytes))
      const ids = await Promise.all(predicates.map((p) => withBlocks(() => view.find(p))))
      const unwanted = new Set(ids.filter(() => random.chance(0.5)))
      const all = await told(view)
      const wanted = all.filter(([p]) => !unwanted.has(p))
      assert.deepEqual(await told(view, unwanted), wanted)
    }
  })
}
