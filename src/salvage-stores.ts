// What is whole of damaged stores, written into empty partitions: each store by itself.

import { salvageFlows, type SalvagedFlows } from './flow/salvage.js'
import { salvageKnowledge, type SalvagedCores } from './knowledge/salvage.js'
import { salvageObjects, type SalvagedObjects } from './objects/salvage.js'
import type { Backend, PartitionName } from './storage.js'
import type { Finding, Source, VerifyOptions } from './verify/finding.js'
import { Report } from './verify/report.js'

export interface Salvaged extends SalvagedCores, SalvagedObjects, SalvagedFlows {
  /** What was left behind, and why. */
  readonly findings: readonly Finding[]
}

export async function salvageStores(
  from: Readonly<Record<PartitionName, Source>>,
  to: Backend,
  options: Omit<VerifyOptions, 'deep'>,
): Promise<Salvaged> {
  const report = new Report({ ...options, deep: true })
  const { cores, slices, objects, flows } = from
  const places = { cores: await to.open('cores'), slices: await to.open('slices') }
  const knowledge = await salvageKnowledge({ cores, slices }, places, report)
  const kept = await salvageObjects(objects, await to.open('objects'), report)
  const jobs = await salvageFlows(flows, await to.open('flows'), report)
  return { ...knowledge, ...kept, ...jobs, findings: report.take() }
}
