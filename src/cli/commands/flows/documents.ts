// `lorekeep documents`: which there are, what became of one, and away with it.

import type { CompletedDocument, DocumentQuery } from '../../../flow/types.js'
import type { CoreStat } from '../../../knowledge/types.js'
import { withFlows } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { note } from '../../output/failure.js'
import { formatBytes, formatCounted, formatTime } from '../../output/figures.js'
import { printFields, printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { Pages, type PageTurning } from '../../output/pages.js'
import { left, whole } from '../../output/table.js'

interface DocumentsOptions extends AccessOptions {
  readonly user: string
  readonly json?: true
}

interface DocumentListOptions
  extends DocumentsOptions, PageTurning, Pick<DocumentQuery, (typeof filters)[number]> {
  readonly user: string
  readonly json?: true
}

const filters = ['prefix', 'collection', 'completedFrom', 'completedTo'] as const

const listing: Listing<CompletedDocument> = {
  columns: [whole('DOCUMENT'), left('FLOW'), left('COLLECTION'), left('DONE')],
  cellsOf,
}

export async function listDocuments(options: DocumentListOptions): Promise<void> {
  const { user, json } = options
  const given = filters.filter((name) => options[name] !== undefined)
  const query = { user, ...Object.fromEntries(given.map((name) => [name, options[name]])) }
  await withFlows(options, { create: false }, async (flows) => {
    const pages = new Pages(options, async (page) => {
      const { documents, next } = await flows.documentPage({ ...query, ...page })
      return { items: documents, next }
    })
    const count = await printList(pages, listing, json)
    pages.tellMore(formatCounted(count, 'document'))
    if (count > 0 || json || given.length > 0) return
    note(`no document of '${user}' is done; 'lorekeep jobs' has those that wait`)
  })
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
