// A collection that is deleted and made anew may lie in another lane, whose changes somebody may follow first.

import t from 'tap'
import { CollectionRecords, collectionsFor } from '../../src/objects/engine/collection-records.js'

const record = (lane: number, n: number) => ({
  created_at: `made ${n}`,
  ...(lane > 0 && { lane }),
  schemas: {},
})

/** Made in lane 3, deleted, made in lane 0, deleted, made in lane 5; by lanes. */
const said: Readonly<Record<number, readonly (ReturnType<typeof record> | null)[]>> = {
  3: [record(3, 1), null],
  0: [record(0, 2), null],
  5: [record(5, 3)],
}

t.test('in whatever order lanes are followed, the end is the same', async (t) => {
  for (const order of [
    [3, 3, 0, 0, 5],
    [5, 3, 3, 0, 0],
    [5, 0, 3, 0, 3],
    [0, 0, 5, 3, 3],
    [0, 3, 5, 3, 0],
  ]) {
    const known = new CollectionRecords()
    const at: Record<number, number> = {}
    for (const lane of order) {
      const n = (at[lane] = (at[lane] ?? -1) + 1)
      known.set('c', lane, said[lane]?.[n] ?? null)
      const own = collectionsFor(known, lane).get('c')
      t.same(
        own?.lane ?? 0,
        said[lane]?.[n] === null ? (known.collections.get('c')?.lane ?? 0) : lane,
      )
    }
    t.same([...known.collections], [['c', record(5, 3)]], String(order))
    t.equal(known.elsewhere.size, 0)
  }
})
