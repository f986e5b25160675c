// Verifies all stores over their partitions, one after the other.

import { verifyFlows } from './flow/verify.js'
import { verifyKnowledge } from './knowledge/verify.js'
import { verifyObjects } from './objects/verify/verify.js'
import type { PartitionName } from './storage.js'
import type { Finding, Source, VerifyOptions } from './verify/finding.js'
import { Report } from './verify/report.js'

export interface Sources {
  readonly partitions: Readonly<Record<PartitionName, Source>>
  /** The partition will not be read any more. */
  pass(partition: PartitionName): void
  close(): Promise<void>
}

/**
 * `open` is called at the first step.
 * @throws TypeError for options that cannot be, at the call
 */
export function verifyStores(
  open: () => Sources,
  options: VerifyOptions = {},
): AsyncGenerator<Finding, void, undefined> {
  const { deep = false, signal, onProgress, ...unknown } = options
  for (const name of Object.keys(unknown)) throw new TypeError(`there is no option '${name}'`)
  if (typeof deep !== 'boolean') throw new TypeError(`deep is true or false, not ${String(deep)}`)
  return verifyAll(open, new Report({ deep, signal, onProgress }))
}

async function* verifyAll(
  open: () => Sources,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  report.signal?.throwIfAborted()
  const sources = open()
  const { cores, slices, objects, flows } = sources.partitions
  try {
    yield* verifyKnowledge({ cores, slices }, report)
    sources.pass('cores')
    sources.pass('slices')
    yield* verifyObjects(objects, report)
    sources.pass('objects')
    yield* verifyFlows(flows, report)
    report.signal?.throwIfAborted()
    report.end('flows')
  } finally {
    await sources.close()
  }
}
