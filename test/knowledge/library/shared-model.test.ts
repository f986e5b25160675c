import t from 'tap'
import { pace } from '../../../src/knowledge/library/policy.js'
import { pickSeed } from '../../fixtures/random.js'
import { sharedRuns } from '../../fixtures/shared-runs.js'
import { sharedRun } from './shared-model.js'

const seed = pickSeed()
Object.assign(pace, { manySegments: 8, quietMs: 1, idleMs: 5, fanOut: 3 })

// The long run is `npm run torture -- shared`.
for (const [processes, runs] of [
  [2, 2],
  [4, 1],
] as const) {
  t.test(`${processes} processes over one storage, seed ${seed}`, async (t) => {
    await sharedRuns('cores', { runs, processes, seed }, async (run) => {
      const tally = await sharedRun({ ...run, steps: 15 })
      t.ok((tally['asked'] ?? 0) > 10, JSON.stringify(tally))
      return tally
    })
  })
}
