import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { sharedFlowsRun } from './shared-model.js'

const seed = pickSeed()

// The long run is `npm run torture -- shared`.
for (const [processes, runs] of [
  [2, 3],
  [4, 2],
] as const) {
  t.test(`${processes} processes over one storage, seed ${seed}`, async (t) => {
    for (let run = 0; run < runs; run++) {
      const memory = new SharedMemory()
      const backend = () => memory.backend()
      const one = { backend, seed: seed + run, processes, workers: 3, steps: 20 }
      const tally = await sharedFlowsRun(one)
      t.ok((tally['asked'] ?? 0) > 10, JSON.stringify(tally))
      await memory.close()
    }
  })
}
