// Lists of jobs and documents, as pages and piece by piece.

import { allByLooks, pageByLooks, type Cursors } from '../paging.js'
import { isWithin, timeRange } from '../time-range.js'
import type { Reads } from '../reads.js'
import { isOwn, type Scope } from '../scope.js'
import { completionOf } from './document-status.js'
import type { JobSearch } from './queue/job-search.js'
import { states } from './queue/jobs.js'
import type { JobQueue } from './queue/queue.js'
import type {
  CompletedDocument,
  CompletedDocumentPage,
  DocumentQuery,
  Job,
  JobFilter,
  JobPage,
  JobQuery,
} from './types.js'

interface ListingsOptions {
  readonly queue: JobQueue
  readonly cursors: Cursors
  /** Of questions that do not say it. */
  readonly reads: Reads
}

/** What is read at once of a list of documents. */
const documentsPerLook = 512

type WholeDocumentQuery = DocumentQuery & Required<Pick<DocumentQuery, 'user'>>

export class Listings {
  readonly #options: ListingsOptions

  constructor(options: ListingsOptions) {
    this.#options = options
  }

  async jobPage(query: JobQuery): Promise<JobPage> {
    const { queue, cursors } = this.#options
    const search = searchOf(query, query.order === 'desc')
    const look = this.#jobLook(search, query)
    const { items, page } = await pageByLooks(look, query, cursors, nameOf(search))
    const total = await queue.countJobs(search)
    const jobs = items.map(({ job }) => job)
    return { jobs, ...page, ...(total !== undefined && { total }) }
  }

  async *jobs(query: JobQuery): AsyncGenerator<Job, void, undefined> {
    const search = searchOf(query, query.order === 'desc')
    const look = this.#jobLook(search, query)
    const all = allByLooks(look, query, this.#options.cursors, nameOf(search))
    for await (const { job } of all) yield job
  }

  async documentPage(query: WholeDocumentQuery): Promise<CompletedDocumentPage> {
    const list = documentList(query)
    const look = this.#documentLook(query)
    const { items, page } = await pageByLooks(look, query, this.#options.cursors, list)
    return { documents: items, ...page }
  }

  documents(query: WholeDocumentQuery): AsyncGenerator<CompletedDocument, void, undefined> {
    const look = this.#documentLook(query)
    return allByLooks(look, query, this.#options.cursors, documentList(query))
  }

  /** What is known is as new as it has to be when the first one is read. */
  #jobLook(search: JobSearch, { reads = this.#options.reads }: JobQuery) {
    const { queue } = this.#options
    let first: Reads | undefined = reads
    return async (after: number | undefined, most: number) => {
      const look = await queue.lookForJobs(search, after, most, first)
      first = undefined
      return look
    }
  }

  #documentLook({ user, prefix = '', flow, scope = {}, reads, ...query }: WholeDocumentQuery) {
    const { queue } = this.#options
    const completed = timeRange(query.completedFrom, query.completedTo)
    const { collection: asked } = query
    const isFiltered = [flow, asked, completed, scope.collections].some((one) => one !== undefined)
    let first: Reads | undefined = reads ?? this.#options.reads
    return async (after: string | undefined, most: number) => {
      if (first !== undefined) await queue.look(first)
      first = undefined
      if (scope.user !== undefined && scope.user !== user) return { found: [], next: undefined }
      // Where all that is read is wanted, no more is read.
      const size = isFiltered ? documentsPerLook : Math.min(most + 1, documentsPerLook)
      const { found, next } = await queue.completed(user, { prefix, after, size })
      const documents: CompletedDocument[] = []
      for (const [document, latest] of found) {
        const { collection } = latest
        if (!isOwn(scope, { user, collection }) || (flow ?? latest.flow) !== latest.flow) continue
        if ((query.collection ?? collection) !== collection) continue
        if (!isWithin(completed, latest.at)) continue
        if (documents.length === most) return { found: documents, next: documents.at(-1)?.document }
        documents.push({ user, document, completed: completionOf(latest) })
      }
      return { found: documents, next }
    }
  }
}

/** What a filter asks for, of what a scope has. */
export function searchOf(
  { state, error, scope = {}, ...filter }: JobFilter & { readonly scope?: Scope },
  isReverse: boolean,
): JobSearch {
  const { flow, user, document, collection } = filter
  return {
    flow,
    states: new Set(state === undefined ? states : [state].flat()),
    scope,
    user,
    document,
    collection,
    error: error === undefined || error === '' ? undefined : error.toLowerCase(),
    created: timeRange(filter.createdFrom, filter.createdTo),
    updated: timeRange(filter.updatedFrom, filter.updatedTo),
    isReverse,
  }
}

/** What collections somebody may see changes what is found, and not which place comes behind which. */
export function nameOf({ states, scope, ...search }: JobSearch, list = 'jobs'): readonly unknown[] {
  return [list, [...states].sort(), scope.user, search]
}

function documentList(query: WholeDocumentQuery): readonly unknown[] {
  const { user, prefix, flow, collection, completedFrom, completedTo, scope } = query
  const filter = { user, prefix, flow, collection, completedFrom, completedTo }
  return ['documents', scope?.user, filter]
}
