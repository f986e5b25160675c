// Documents: which there are, what became of them, and taking that away.

import { LorekeepError } from '../../errors.js'
import type { DocumentRef, FlowQueue } from '../../flow/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import { scopeOf } from '../access.js'
import { actingUser } from '../auth.js'
import {
  after,
  aText,
  aTimeParameter,
  collection,
  filtersIn,
  limit,
  pageIn,
  prefix,
  user,
} from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'

const filters = {
  prefix,
  flow: aText('Only what this flow completed last.'),
  collection,
  completedFrom: aTimeParameter(
    'Documents that were done then, or later: a date or time of ISO 8601.',
  ),
  completedTo: aTimeParameter('Documents that were done before.'),
}

interface DocumentRoutesOptions {
  readonly prefix: string
  readonly flows: FlowQueue
  readonly knowledge: KnowledgeStore | undefined
}

export function documentRoutes(options: DocumentRoutesOptions): readonly Route[] {
  const { prefix: base, flows, knowledge } = options
  const single = `${base}/flow/{flow}/documents/{document}`
  const anywhere = `${base}/documents/{document}`

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${base}/documents`,
      operation: 'listDocuments',
      query: { user, ...filters, limit, after },
      run: listDocuments,
    },
    {
      access: 'read',
      method: 'GET',
      path: single,
      operation: 'showDocument',
      query: { user },
      run: showDocument,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: single,
      operation: 'removeDocument',
      media: [],
      query: { user },
      run: removeDocument,
    },
    {
      access: 'read',
      method: 'GET',
      path: anywhere,
      operation: 'showAnyDocument',
      query: { user },
      run: showDocument,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: anywhere,
      operation: 'removeAnyDocument',
      media: [],
      query: { user },
      run: removeDocument,
    },
  ]

  async function listDocuments({ call, principal, query }: Exchange): Promise<void> {
    const page = await flows.documentPage({
      user: actingUser(principal, query.get('user')),
      ...filtersIn(query, filters),
      ...pageIn(query),
      scope: scopeOf(principal),
    })
    await answerJson(call, 200, page)
  }

  async function showDocument(exchange: Exchange): Promise<void> {
    const { ref, status, jobs, isOfFlow } = await askedFor(exchange)
    if (!isOfFlow) notFound(exchange, ref)
    const core = await knowledge?.stat({ user: ref.user, id: ref.document })
    await answerJson(exchange.call, 200, { ...status, jobs, core })
  }

  async function removeDocument(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    const { ref, isOfFlow } = await askedFor(exchange)
    const options = { scope: scopeOf(principal) }
    // A core that no flow made has the name of a document, and is none.
    if (!isOfFlow || !(await flows.removeDocument(ref, options))) notFound(exchange, ref)
    await answer(call, 204)
  }

  /** What there is of a document for the principal's eyes, and its jobs of this flow, or of all. */
  async function askedFor({ principal, parameters, query }: Exchange) {
    const user = actingUser(principal, query.get('user'))
    const ref = { user, document: parameters.get('document') ?? '' }
    const status = await flows.document(ref, { scope: scopeOf(principal) })
    const flow = parameters.get('flow')
    const isMeant = (named: string | undefined) => (flow ?? named) === named
    const jobs = status?.jobs.filter((job) => isMeant(job.flow)) ?? []
    const { completed } = status ?? {}
    const isOfFlow = jobs.length > 0 || (completed !== undefined && isMeant(completed.flow))
    return { ref, status, jobs, isOfFlow }
  }
}

function notFound({ parameters }: Exchange, { user, document }: Required<DocumentRef>): never {
  const flow = parameters.get('flow')
  const detail =
    flow === undefined
      ? `no flow has '${document}' of user '${user}'`
      : `the flow '${flow}' has no '${document}' of user '${user}'`
  throw new LorekeepError('LK_DOCUMENT_NOT_FOUND', detail, { details: { document } })
}
