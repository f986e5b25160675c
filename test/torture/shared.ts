// Several stores over one backend, as processes have it: each store in a function of its own.

import { pace } from '../../src/knowledge/library/policy.js'
import { sharedRuns, type SharedRuns, type Tally } from '../fixtures/shared-runs.js'
import { sharedFlowsRun } from '../flow/shared-model.js'
import { sharedRun } from '../knowledge/library/shared-model.js'
import { sharedObjectsRun } from '../objects/shared-model.js'

/** Cores, changed and asked through processes that fail, stand still, wake, end and come anew. Gives what happened. */
export async function sharedCores(runs: SharedRuns): Promise<Tally> {
  const usual = { ...pace }
  Object.assign(pace, { manySegments: 8, quietMs: 1, idleMs: 5, fanOut: 3 })
  const all = await sharedRuns('cores', runs, (one) => sharedRun({ ...one, steps: 25 }))
  Object.assign(pace, usual)
  return all
}

/** The same with objects. */
export function sharedObjects(runs: SharedRuns): Promise<Tally> {
  return sharedRuns('objects', runs, (one) => sharedObjectsRun({ ...one, steps: 40 }))
}

/** The same with documents that flows process. */
export function sharedFlows(runs: SharedRuns): Promise<Tally> {
  return sharedRuns('flows', runs, (one) => sharedFlowsRun({ ...one, steps: 25 }))
}
