// `lorekeep documents`: which there are, what became of one, and away with it.

import type { CompletedDocument } from '../../../flow/types.js'
import type { CoreStat } from '../../../knowledge/types.js'
import { withFlows } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { note } from '../../output/failure.js'
import { formatBytes, formatCounted, formatTime } from '../../output/figures.js'
import { printFields, printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { left, whole } from '../../output/table.js'

interface DocumentsOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

interface DocumentListOptions extends DocumentsOptions {
  readonly limit: number
}

const listing: Listing<CompletedDocument> = {
  columns: [whole('DOCUMENT'), left('FLOW'), left('COLLECTION'), left('DONE')],
  cellsOf,
}

export async function listDocuments(options: DocumentListOptions): Promise<void> {
  const { user, limit, json } = options
  await withFlows(options, { create: false }, async (flows) => {
    const count = await printList(upTo(limit, flows.documents(user), json), listing, json)
    if (count > 0 || json) return
    note(`no document of '${user}' is done; 'lorekeep jobs' has those that wait`)
  })
}

/** Says so where there are more. */
async function* upTo(
  limit: number,
  documents: AsyncIterable<CompletedDocument>,
  json: true | undefined,
): AsyncGenerator<CompletedDocument, void, undefined> {
  let count = 0
  for await (const found of documents) {
    if (count++ < limit) {
      yield found
      continue
    }
    if (!json) note(`${formatCounted(limit, 'document')}, and there are more; --limit shows them`)
    return
  }
}

function cellsOf({ document, completed }: CompletedDocument, isTerminal: boolean): string[] {
  const { flow, collection, at } = completed
  return [document, flow, collection, isTerminal ? formatTime(at) : at]
}

export async function showDocument(id: string, options: DocumentsOptions): Promise<void> {
  const { user, json } = options
  const status = await withFlows(options, { create: false }, (flows) =>
    flows.document({ user, document: id }),
  )
  if (json) return writeJson(status)
  const { completed, core } = status
  await printFields([
    ['document', status.document],
    ['user', status.user],
    ['done', completed === undefined ? 'never' : `${completed.at} as job ${completed.job}`],
    ['core', core === undefined ? 'none' : countsOf(core)],
    ...status.jobs.map((job) => ['job', `${job.id} ${job.state} in '${job.flow}'`] as const),
  ])
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
