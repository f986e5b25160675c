import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { sharedRuns } from '../fixtures/shared-runs.js'
import { sharedFlowsRun } from './shared-model.js'

const seed = pickSeed()

// The long run is `npm run torture -- shared`.
for (const [processes, runs] of [
  [2, 3],
  [4, 2],
] as const) {
  t.test(`${processes} processes over one storage, seed ${seed}`, async (t) => {
    await sharedRuns('flows', { runs, processes, seed }, async (run) => {
      const tally = await sharedFlowsRun({ ...run, steps: 20 })
      t.ok((tally['asked'] ?? 0) > 10, JSON.stringify(tally))
      return tally
    })
  })
}
