import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { limitsOf } from '../../../src/door/limits.js'
import { Committer } from '../../../src/objects/engine/committer.js'
import { openState } from '../../../src/objects/engine/opening.js'
import { objectLimits } from '../../../src/objects/limits.js'
import { runQuery } from '../../../src/objects/query/query.js'
import { parseQuery } from '../../../src/objects/query/query-request.js'
import { Meter } from '../../../src/objects/query/rows.js'
import { sortInTurns } from '../../../src/objects/query/sort-in-turns.js'
import { refsOfText } from '../../../src/objects/query/text-query.js'
import type { ObjectQuery } from '../../../src/objects/types.js'
import { Cursors } from '../../../src/paging.js'
import { pickSeed } from '../../fixtures/random.js'
import { openStore } from '../../fixtures/stores.js'

t.test(
  'what is sorted in turns is sorted as at once, and the same stay in their order',
  async (t) => {
    const seed = pickSeed()
    t.comment(`SEED=${seed}`)
    const lengths = fc.constantFrom(0, 1, 2, 8191, 8192, 8193, 16_384, 16_385, 24_577, 40_000)
    const kinds = fc.integer({ min: 1, max: 50_000 })
    const factors = fc.integer({ min: 1, max: 2 ** 20 })
    await fc.assert(
      fc.asyncProperty(lengths, kinds, factors, async (length, kinds, factor) => {
        const values = Array.from({ length }, (_, place) => ({
          key: (place * factor) % kinds,
          place,
        }))
        const compare = (a: { key: number }, b: { key: number }) => a.key - b.key
        const sorted = await sortInTurns(values, compare, () => Promise.resolve())
        return isDeepStrictEqual(places(sorted), places([...values].sort(compare)))
      }),
      { seed, numRuns: 30 },
    )
  },
)

t.test('others have their turn while very much is sorted', async (t) => {
  const values = Array.from({ length: 200_000 }, (_, n) => (n * 7919) % 200_003)
  let compared = 0
  let most = 0
  const compare = (a: number, b: number) => {
    compared++
    return a - b
  }
  const sorted = await sortInTurns(values, compare, async () => {
    most = Math.max(most, compared)
    compared = 0
  })
  most = Math.max(most, compared)
  t.ok(most < values.length, `${most} comparisons in one step`)
  t.equal(
    sorted.findIndex((value, n) => n > 0 && value < (sorted[n - 1] as number)),
    -1,
  )
})

/** Counts how often others could have had their turn. */
class CountingMeter extends Meter {
  breaths = 0

  override async breathe(): Promise<void> {
    this.breaths++
    await super.breathe()
  }
}

t.test('a page far behind in an order that no index has is looked for in turns', async (t) => {
  const backend = new MemoryBackend()
  const { objects } = await openStore(t, backend)
  const fields = { id: { type: 'string' }, n: { type: 'number' }, text: { type: 'text' } }
  await objects.defineSchema({ name: 's', fields, indexes: [{ text: ['text'] }] })
  const count = 20_000
  const values = Array.from({ length: count }, (_, n) => ({
    id: `${n}`,
    n: (n * 7919) % 20_011,
    text: 'a word '.repeat(1 + ((n * 7919) % 5)),
  }))
  for (let at = 0; at < count; at += 4000) {
    const metadata = { id: 'b', user: 'u', collection: 'c' }
    await objects.import({ schema_name: 's', metadata, values: values.slice(at, at + 4000) })
  }
  const storage = await backend.open('objects')
  const state = await openState(storage, true)
  const { memory } = new Committer(storage, state, {
    cacheBytes: 64 * 1024 ** 2,
    isShared: false,
    presence: undefined,
    reads: 'fresh',
    elapsed: () => 0,
    now: Date.now,
  })
  const limits = limitsOf(objectLimits, undefined)
  const requestOf = (query: ObjectQuery) =>
    parseQuery(query, state, limits, {}, new Cursors(() => 'secret'))
  const ask = async (query: ObjectQuery) => {
    const { table, request } = await requestOf({ ...query, limit: 10 })
    const meter = new CountingMeter(limits)
    const { places, total } = await runQuery(table, memory, request, meter)
    t.equal(total, count)
    return { ids: places.map(({ block, n }) => block.field('id')[n]), breaths: meter.breaths }
  }
  const byNumber = values.toSorted((a, b) => a.n - b.n)
  const sorted: ObjectQuery = { schema_name: 's', sort: { n: 'asc' } }
  const search: ObjectQuery = { schema_name: 's', filters: { $text: { $search: 'word' } } }
  // The best first, all of them in turns.
  const { table, request } = await requestOf(search)
  const meter = new CountingMeter(limits)
  const { refs, matches } = await refsOfText(table, memory, request, request.text!, meter)
  const scores = Array.from(refs, (ref) => matches.scoreOf(ref))
  t.equal(scores.length, count)
  t.equal(
    scores.findIndex((score, n) => n > 0 && score > (scores[n - 1] as number)),
    -1,
  )
  const idOf = new Map<number, unknown>()
  for (const { page } of table.blocks) {
    const block = await memory.blocks.get(page)
    for (let n = 0; n < block.rows; n++) idOf.set(block.refs[n] as number, block.field('id')[n])
  }
  const best = Array.from(refs, (ref) => idOf.get(ref))
  for (const [query, ids] of [
    [sorted, byNumber.map(({ id }) => id)],
    [search, best],
  ] as const) {
    const first = await ask(query)
    t.strictSame(first.ids, ids.slice(0, 10))
    for (const offset of [9000, 15_000]) {
      const far = await ask({ ...query, offset })
      t.strictSame(far.ids, ids.slice(offset, offset + 10))
      t.ok(far.breaths >= first.breaths + 3, `${far.breaths} breaths, ${first.breaths} at first`)
    }
    if (query === search) t.ok(meter.breaths >= first.breaths + 3, `${meter.breaths} breaths`)
  }
})

function places(sorted: readonly { place: number }[]): number[] {
  return sorted.map(({ place }) => place)
}
