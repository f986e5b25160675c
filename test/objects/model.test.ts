// Random sequences of everything an ObjectStore does, against a model of maps and plain loops.

import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { modelRuns } from '../torture/objects-model-run.js'

const seed = pickSeed()

// The long run is `npm run torture -- objects-model`.
const rounds = [
  { engine: 'memory', stores: 1, runs: 10, cacheBytes: 64 * 1024 ** 2 },
  { engine: 'memory', stores: 1, runs: 5, cacheBytes: 1 },
  { engine: 'level', stores: 1, runs: 3, cacheBytes: 64 * 1024 },
  // As processes share a database.
  { engine: 'memory', stores: 2, runs: 3, cacheBytes: 64 * 1024 ** 2 },
  { engine: 'memory', stores: 4, runs: 2, cacheBytes: 1 },
] as const

for (const { engine, stores, runs, cacheBytes } of rounds) {
  t.test(
    `${engine}, ${stores} at once, ${cacheBytes} bytes for pages: any sequence leaves what the model says (seed ${seed})`,
    async (t) => {
      const { steps, tally } = await modelRuns({ engine, stores, runs, seed, cacheBytes })
      t.comment(`${steps} steps: ${JSON.stringify(tally)}`)
    },
  )
}
