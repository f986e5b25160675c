// Several stores over one backend, as processes have it: each store in a function of its own.

import { pace } from '../../src/knowledge/library/policy.js'
import type { Backend } from '../../src/storage.js'
import { SharedMemory } from '../fixtures/shared-memory.js'
import { sharedFlowsRun } from '../flow/shared-model.js'
import { sharedRun } from '../knowledge/library/shared-model.js'
import { sharedObjectsRun } from '../objects/shared-model.js'

interface SharedRuns {
  readonly runs: number
  readonly processes: number
  readonly seed: number
}

interface OneRun {
  readonly backend: () => Backend
  readonly seed: number
  readonly processes: number
  readonly workers: number
}

type Tally = Readonly<Record<string, number>>

/** Cores, changed and asked through processes that fail, stand still, wake, end and come anew. Gives what happened. */
export async function sharedCores(runs: SharedRuns): Promise<Tally> {
  const usual = { ...pace }
  Object.assign(pace, { manySegments: 8, quietMs: 1, idleMs: 5, fanOut: 3 })
  const all = await repeated('cores', runs, (one) => sharedRun({ ...one, steps: 25 }))
  Object.assign(pace, usual)
  return all
}

/** The same with objects. */
export function sharedObjects(runs: SharedRuns): Promise<Tally> {
  return repeated('objects', runs, (one) => sharedObjectsRun({ ...one, steps: 40 }))
}

/** The same with documents that flows process. */
export function sharedFlows(runs: SharedRuns): Promise<Tally> {
  return repeated('flows', runs, (one) => sharedFlowsRun({ ...one, steps: 25 }))
}

async function repeated(
  what: string,
  { runs, processes, seed }: SharedRuns,
  work: (one: OneRun) => Promise<Tally>,
): Promise<Tally> {
  const all: Record<string, number> = { runs }
  for (let run = 0; run < runs; run++) {
    const memory = new SharedMemory()
    const one = {
      ...{ backend: () => memory.backend(), processes, workers: 3 },
      seed: (seed + run) % 2 ** 32,
    }
    const tally = await work(one).catch((cause: unknown) => {
      throw new Error(`${what}, SEED=${one.seed}`, { cause })
    })
    for (const [name, count] of Object.entries(tally)) all[name] = (all[name] ?? 0) + count
    await memory.close()
  }
  return all
}
