// A salvage to its end: what was kept, and all that was told.

import { salvageStores, type Salvaged } from '../../src/salvage-stores.js'
import type { Backend } from '../../src/storage.js'
import type { Finding } from '../../src/verify/finding.js'
import type { Partitions } from '../../src/verify-stores.js'

export async function salvage(
  from: Partitions,
  to: Backend,
): Promise<Salvaged & { readonly findings: readonly Finding[] }> {
  const findings: Finding[] = []
  const salvaging = salvageStores(from, to, {})
  for (;;) {
    const step = await salvaging.next()
    if (step.done === true) return { ...step.value, findings }
    findings.push(step.value)
  }
}
