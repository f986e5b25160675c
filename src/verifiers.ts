// What verifies all stores, one after the other.

import { verifyFlows } from './flow/verify/verify.js'
import { verifyKnowledge } from './knowledge/verify.js'
import { verifyObjects } from './objects/verify/verify.js'
import { holds, unformatted, type Partitions } from './lost-partitions.js'
import type { PartitionName } from './storage.js'
import type { Finding } from './verify/finding.js'
import { tupleText, type Report } from './verify/report.js'

export interface Sources {
  readonly partitions: Partitions
  /** The partition will not be read any more. */
  pass(partition: PartitionName): void
  close(): Promise<void>
}

export async function* verifyAll(
  open: () => Sources | Promise<Sources>,
  report: Report,
): AsyncGenerator<Finding, void, undefined> {
  report.signal?.throwIfAborted()
  const sources = await open()
  const { cores, slices, objects, flows } = sources.partitions
  try {
    await tellMissing(sources.partitions, report)
    yield* report.take()
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

/** Tells the partitions that are gone as a whole. */
export async function tellMissing(partitions: Partitions, report: Report): Promise<void> {
  for (const name of await unformatted(partitions)) {
    // Where it holds anything at all, its own verifier misses the format.
    if (await holds(partitions[name], () => true)) continue
    const message = 'it is empty, and other partitions hold content: it is gone'
    report.error(name, 'missing', tupleText('format'), message)
  }
}
