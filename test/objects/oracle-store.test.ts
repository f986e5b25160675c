// Random collections and filters through the whole store, whatever way the planner takes: the ids
// and the total that mingo gives.

import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { compareWithOracle } from '../torture/objects-oracle.js'

const seed = pickSeed()

// The long run is `npm run torture -- objects-oracle`.
t.test(`queries give what mingo gives (seed ${seed})`, async (t) => {
  const report = await compareWithOracle({ pairs: 6000, seed })
  t.comment(JSON.stringify(report))
  t.ok(report.leftOut < 0.4 * report.pairs, `left out: ${report.leftOut}`)
  const kinds = ['scan', 'index', 'intersection', 'union', 'none', 'counted', 'not counted']
  for (const kind of [...kinds, 'sort index', 'sort memory', 'sort none', 'filtered']) {
    t.ok((report.plans[kind] ?? 0) >= 20, `${kind}: ${report.plans[kind] ?? 0}`)
  }
})
