// Random sequences of everything a queue does, by two queues on one storage, against plain loops.

import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { flowModelRuns } from '../torture/flows-model-run.js'

const seed = pickSeed()

// The long run is `npm run torture -- flows-model`.
const rounds = [
  { engine: 'memory', runs: 24 },
  { engine: 'level', runs: 4 },
] as const

for (const { engine, runs } of rounds) {
  t.test(`${engine}: any sequence leaves what the model says (seed ${seed})`, async (t) => {
    const { steps, tally } = await flowModelRuns({ engine, runs, seed })
    t.comment(JSON.stringify(tally))
    t.ok(steps > 5 * runs, `${steps} steps`)
  })
}
