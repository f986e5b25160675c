// A salvage to its end: what was kept, and all that was told.

import { createLorekeep } from '../../src/lorekeep.js'
import { salvageStores, type Salvaged } from '../../src/salvage-stores.js'
import type { Backend } from '../../src/storage.js'
import type { Finding } from '../../src/verify/finding.js'
import type { Partitions } from '../../src/lost-partitions.js'

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

/** What there is, by name. */
export async function contentOf(backend: Backend): Promise<Map<string, string>> {
  const content = new Map<string, string>()
  const keep = await createLorekeep({ backend })
  for (const user of ['alice', 'bob']) {
    for await (const { id } of keep.knowledge.list({ user })) {
      for await (const [type, data] of keep.knowledge.messages({ user, id })) {
        const text = JSON.stringify([type, data])
        content.set(`message ${user} ${id} ${text.slice(0, 200)}`, text)
      }
    }
  }
  for (const schema of ['product', 'note', 'single']) {
    const { objects } = await keep.objects
      .query({ schema_name: schema, limit: 1000 })
      .catch(() => ({ objects: [] }))
    for (const { _version, ...object } of objects) {
      // It is another store, with versions of its own.
      content.set(`${schema} ${object._collection} ${object._id}`, JSON.stringify(object))
    }
  }
  await keep.close()
  return content
}
