import fc from 'fast-check'
import t from 'tap'
import { Batches, inBatches } from '../src/batches.js'
import { pickSeed } from './fixtures/random.js'

const seed = pickSeed()

t.test(`all comes in its order, and no batch has more than it may (SEED=${seed})`, async (t) => {
  const groups = fc.array(fc.array(fc.nat({ max: 12 }), { maxLength: 5 }), { maxLength: 40 })
  const property = fc.property(
    groups,
    fc.integer({ min: 1, max: 8 }),
    fc.integer({ min: 1, max: 30 }),
    (groups, most, mostWeight) => {
      const bounds = { most, mostWeight, weigh: (item: number) => item }
      const batches = new Batches(bounds)
      const found = groups.map((group) => batches.add(group)).concat([batches.end()])
      const all = found.filter((batch) => batch !== undefined)
      t.strictSame(all.flat(), groups.flat())
      const isBounded = (batch: readonly number[]) =>
        batch.length <= most && batch.reduce((sum, item) => sum + item, 0) <= mostWeight
      for (const batch of all) t.ok(batch.length > 0 && (isBounded(batch) || isIn(groups, batch)))
      t.equal(batches.end(), undefined)

      const one = [...inBatches(groups.flat(), bounds)]
      t.strictSame(one.flat(), groups.flat())
      for (const [n, batch] of one.entries()) {
        t.ok(isBounded(batch) || batch.length === 1)
        const next = one[n + 1]?.[0]
        if (next !== undefined) t.notOk(isBounded([...batch, next]), 'as few as may be')
      }
    },
  )
  fc.assert(property, { seed, numRuns: 300 })
})

/** Whether it is one group that is more than a batch may have, behind others that weigh nothing. */
function isIn(groups: readonly (readonly number[])[], batch: readonly number[]): boolean {
  return groups.some((group) => String(group) === String(batch))
}
