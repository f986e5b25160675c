import t from 'tap'
import { RowSet } from '../../src/graph/row-set.js'
import { pickSeed, Random } from '../fixtures/random.js'

const seed = pickSeed()

t.test(`each row is new once, however many there are (SEED=${seed})`, async (t) => {
  const random = new Random(seed)
  for (const width of [1, 2, 3]) {
    const rows = new RowSet(width)
    const known = new Set<string>()
    const ids = new Float64Array(width + 1)
    const wrong: string[] = []
    for (let n = 0; n < 5000; n++) {
      // Ids above 32 bits, some of which have the same low bits.
      for (let i = 1; i <= width; i++) ids[i] = random.below(40) * 2 ** 20 * (1 + random.below(50))
      const key = ids.subarray(1).join()
      if (rows.add(ids, 1) === known.has(key)) wrong.push(key)
      known.add(key)
    }
    t.strictSame(wrong, [], `${known.size} rows of ${width}`)
  }
})
