// Several stores over one backend, as processes have it: each store in a function of its own.

import { pace } from '../../src/knowledge/library/policy.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { sharedRun } from '../knowledge/library/shared-model.js'
import { sharedObjectsRun } from '../objects/shared-model.js'

interface SharedRuns {
  readonly runs: number
  readonly processes: number
  readonly seed: number
}

/** Cores, changed and asked through processes that fail, stand still, wake, end and come anew. Gives what happened. */
export async function sharedCores({ runs, processes, seed }: SharedRuns) {
  const usual = { ...pace }
  Object.assign(pace, { manySegments: 8, quietMs: 1, idleMs: 5, fanOut: 3 })
  const all: Record<string, number> = { runs }
  for (let run = 0; run < runs; run++) {
    const memory = new SharedMemory()
    const backend = () => memory.backend()
    const one = { backend, seed: (seed + run) % 2 ** 32, processes, workers: 3, steps: 25 }
    const tally = await sharedRun(one).catch((cause: unknown) => {
      throw new Error(`cores, SEED=${one.seed}`, { cause })
    })
    for (const [what, count] of Object.entries(tally)) all[what] = (all[what] ?? 0) + count
    await memory.close()
  }
  Object.assign(pace, usual)
  return all
}

/** The same with objects. */
export async function sharedObjects({ runs, processes, seed }: SharedRuns) {
  const all: Record<string, number> = { runs }
  for (let run = 0; run < runs; run++) {
    const memory = new SharedMemory()
    const backend = () => memory.backend()
    const one = { backend, seed: (seed + run) % 2 ** 32, processes, workers: 3, steps: 40 }
    const tally = await sharedObjectsRun(one).catch((cause: unknown) => {
      throw new Error(`objects, SEED=${one.seed}`, { cause })
    })
    for (const [what, count] of Object.entries(tally)) all[what] = (all[what] ?? 0) + count
    await memory.close()
  }
  return all
}
