// `lorekeep documents`: which there are, what became of one, and away with it.

import type { CoreStat } from '../../knowledge/types.js'
import { withFlows } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { note } from '../output/failure.js'
import { formatBytes, formatCounted, printable } from '../output/figures.js'
import { writeJson, writeOut } from '../output/output.js'
import { Table } from '../output/table.js'

export interface DocumentsOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

export interface DocumentListOptions extends DocumentsOptions {
  readonly limit: number
}

const columns = [
  { head: 'DOCUMENT', isRight: false, isWhole: true },
  { head: 'FLOW', isRight: false },
  { head: 'COLLECTION', isRight: false },
  { head: 'DONE', isRight: false },
]

/** One JSON object per line, a table on a terminal, else tabs. */
export async function listDocuments(options: DocumentListOptions): Promise<void> {
  const { user, limit, json } = options
  await withFlows(options, { create: false }, async (flows) => {
    const rows: string[][] = []
    let count = 0
    for await (const found of flows.documents(user)) {
      if (count === limit) {
        if (!json) note(`${formatCounted(limit, 'document')} of more; --limit shows more`)
        break
      }
      count++
      const { document, completed } = found
      const row = [document, completed.flow, completed.collection].map(printable)
      if (json) await writeJson(found)
      else if (process.stdout.isTTY) {
        rows.push([...row, completed.at.slice(0, 16).replace('T', ' ')])
      } else await writeOut(`${[...row, completed.at].join('\t')}\n`)
    }
    if (rows.length > 0) {
      const table = new Table(columns, rows, process.stdout.columns || 80)
      await writeOut(table.head() + table.rows(rows))
    } else if (count === 0 && !json) {
      note(`no document of '${user}' is done; 'lorekeep jobs' has those that wait`)
    }
  })
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
