// What is whole of damaged stores, written into empty partitions: each store by itself. Until all of
// it is there, it cannot be opened as a store.

import { markerKey, markerOf } from './backup/marker.js'
import { salvageFlows, type SalvagedFlows } from './flow/salvage.js'
import { salvageKnowledge, type SalvagedCores } from './knowledge/salvage.js'
import { salvageObjects, type SalvagedObjects } from './objects/salvage.js'
import type { Backend, PartitionName } from './storage.js'
import type { Finding, Source, VerifyOptions } from './verify/finding.js'
import { Report } from './verify/report.js'
import { tellMissing } from './verifiers.js'

export interface Salvaged extends SalvagedCores, SalvagedObjects, SalvagedFlows {}

/** Gives out what is left behind, or corrected, and why, as it comes to it; ends with what was kept. */
export async function* salvageStores(
  from: Readonly<Record<PartitionName, Source>>,
  to: Backend,
  options: Omit<VerifyOptions, 'deep'>,
): AsyncGenerator<Finding, Salvaged, undefined> {
  const report = new Report({ ...options, deep: true })
  await tellMissing(from, report)
  yield* report.take()
  const places = { cores: await to.open('cores'), slices: await to.open('slices') }
  const { cores, slices, objects, flows } = from
  const marker = markerOf(Date.now(), 'salvaging')
  await places.cores.write([{ type: 'put', key: markerKey, value: marker }], { durable: true })
  const knowledge = yield* salvageKnowledge({ cores, slices }, places, report)
  const kept = yield* salvageObjects(objects, await to.open('objects'), report)
  const jobs = yield* salvageFlows(flows, await to.open('flows'), report)
  // Everything else is durable by now.
  await places.cores.write([{ type: 'del', key: markerKey }], { durable: true })
  return { ...knowledge, ...kept, ...jobs }
}
