import t from 'tap'
import { pace } from '../../../src/knowledge/library/policy.js'
import { pickSeed } from '../../fixtures/random.js'
import { SharedMemory } from '../../fixtures/shared-memory.js'
import { sharedRun } from './shared-model.js'

const seed = pickSeed()
Object.assign(pace, { manySegments: 8, quietMs: 1, idleMs: 5, fanOut: 3 })

for (const [processes, runs] of [
  [2, 2],
  [4, 1],
] as const) {
  t.test(`${processes} processes over one storage, seed ${seed}`, async (t) => {
    for (let run = 0; run < runs; run++) {
      const memory = new SharedMemory()
      const backend = () => memory.backend()
      const tally = await sharedRun({ backend, seed: seed + run, processes, workers: 3, steps: 15 })
      t.ok((tally['asked'] ?? 0) > 10, JSON.stringify(tally))
      await memory.close()
    }
  })
}
