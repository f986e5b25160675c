// Random sequences of everything a queue does, by several queues on one storage whose clocks differ by minutes, against plain loops.

import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { flowModelRuns } from '../torture/flows-model-run.js'

const seed = pickSeed()

// The long run is `npm run torture -- flows-model`.
const rounds = [
  { engine: 'memory', queues: 2, runs: 24 },
  { engine: 'level', queues: 2, runs: 4 },
  { engine: 'shared', queues: 2, runs: 6 },
  { engine: 'shared', queues: 4, runs: 6 },
] as const

for (const { engine, queues, runs } of rounds) {
  const name = `${engine}, ${queues} queues`
  t.test(`${name}: any sequence leaves what the model says (seed ${seed})`, async (t) => {
    const { steps, tally } = await flowModelRuns({ engine, runs, seed, queues })
    t.comment(`${steps} steps: ${JSON.stringify(tally)}`)
  })
}
