import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import t from 'tap'
import { sortInTurns } from '../../../src/objects/query/sort-in-turns.js'
import { pickSeed } from '../../fixtures/random.js'

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

function places(sorted: readonly { place: number }[]): number[] {
  return sorted.map(({ place }) => place)
}
