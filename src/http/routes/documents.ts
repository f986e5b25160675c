// Documents: which there are, what became of them, and taking that away.

import { LorekeepError } from '../../errors.js'
import type { CompletedDocument, DocumentStatus, FlowQueue } from '../../flow/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import { checkAllCollections, maySee, mayTouch } from '../access.js'
import { actingUser } from '../auth.js'
import { disconnect } from '../body.js'
import { answer, answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { limitIn } from '../target.js'

export interface DocumentRoutesOptions {
  readonly prefix: string
  readonly flows: FlowQueue
  readonly knowledge: KnowledgeStore | undefined
}

export function documentRoutes(options: DocumentRoutesOptions): readonly Route[] {
  const { prefix, flows, knowledge } = options
  const single = `${prefix}/flow/{flow}/documents/{document}`

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/documents`,
      query: ['user', 'limit', 'after'],
      run: listDocuments,
    },
    { access: 'read', method: 'GET', path: single, query: ['user'], run: showDocument },
    { access: 'change', method: 'DELETE', path: single, query: ['user'], run: removeDocument },
  ]

  async function listDocuments({ request, response, principal, query }: Exchange): Promise<void> {
    const user = actingUser(principal, query.get('user'))
    const limit = limitIn(query)
    const after = query.get('after')
    const documents: CompletedDocument[] = []
    let next: string | undefined
    for await (const found of flows.documents({ user, ...(after !== undefined && { after }) })) {
      if (response.destroyed) throw disconnect()
      if (!mayTouch(principal, found.completed.collection)) continue
      // One more than asked for tells that there is a next page.
      if (documents.length === limit) {
        next = documents.at(-1)?.document
        break
      }
      documents.push(found)
    }
    await answerJson(request, response, 200, { documents, ...(next !== undefined && { next }) })
  }

  async function showDocument(exchange: Exchange): Promise<void> {
    const { shown } = await statusOf(exchange)
    const core = await knowledge?.stat({ user: shown.user, id: shown.document })
    await answerJson(exchange.request, exchange.response, 200, { ...shown, core })
  }

  async function removeDocument(exchange: Exchange): Promise<void> {
    const { principal, request, response } = exchange
    const { all, shown } = await statusOf(exchange)
    const { user, document } = all
    // Its core and its objects go with it, in whatever collection and from whatever flow they are.
    if (!all.jobs.every((job) => maySee(principal, job)) || all.completed !== shown.completed) {
      checkAllCollections(principal)
    }
    if (!(await flows.removeDocument({ user, document }))) notFound(user, document)
    await answer(request, response, 204)
  }

  /** All there is of a document, and of that what is of this flow and for the principal's eyes. */
  async function statusOf(
    exchange: Exchange,
  ): Promise<{ readonly all: DocumentStatus; readonly shown: DocumentStatus }> {
    const { principal, parameters, query } = exchange
    const user = actingUser(principal, query.get('user'))
    const document = parameters.get('document') ?? ''
    const flow = parameters.get('flow') ?? ''
    const all = (await flows.document({ user, document })) ?? notFound(user, document)
    const { completed, ...rest } = all
    const visible = all.jobs.filter((job) => maySee(principal, job))
    const jobs = visible.filter((job) => job.flow === flow)
    const isVisible = completed !== undefined && mayTouch(principal, completed.collection)
    const shown = { ...rest, jobs, ...(isVisible && { completed }) }
    if (jobs.length === 0 && shown.completed?.flow !== flow) notFound(user, document)
    return { all, shown }
  }
}

function notFound(user: string, document: string): never {
  throw new LorekeepError(
    'LK_DOCUMENT_NOT_FOUND',
    `the flow has no '${document}' of user '${user}'`,
  )
}
