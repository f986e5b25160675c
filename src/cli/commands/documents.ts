// `lorekeep documents`: what became of a document, and away with it.

import type { CoreStat } from '../../knowledge/types.js'
import { withFlows } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { note } from '../output/failure.js'
import { formatBytes, formatCounted, printable } from '../output/figures.js'
import { writeJson, writeOut } from '../output/output.js'

export interface DocumentsOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

export async function showDocument(id: string, options: DocumentsOptions): Promise<void> {
  const { user, json } = options
  const status = await withFlows(options, { create: false }, (flows) =>
    flows.document({ user, document: id }),
  )
  if (json) return writeJson(status)
  const { completed, core } = status
  const fields: readonly (readonly [string, string])[] = [
    ['document', status.document],
    ['user', status.user],
    ['done', completed === undefined ? 'never' : `${completed.at} as job ${completed.job}`],
    ['core', core === undefined ? 'none' : countsOf(core)],
    ...status.jobs.map((job) => ['job', `${job.id} ${job.state} in '${job.flow}'`] as const),
  ]
  for (const [name, value] of fields) await writeOut(`${name.padEnd(10)}${printable(value)}\n`)
}

export async function removeDocument(id: string, options: DocumentsOptions): Promise<void> {
  const { user } = options
  await withFlows(options, { create: false }, (flows) =>
    flows.removeDocument({ user, document: id }),
  )
  note(`removed '${id}': its jobs, its core and its objects`)
}

function countsOf({ triples, entities, bytes }: CoreStat): string {
  const counts = [
    formatCounted(triples, 'triple'),
    formatCounted(entities, 'entity', 'entities'),
    formatBytes(bytes),
  ]
  return counts.join(', ')
}
