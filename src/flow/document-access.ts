// What of a document a scope has, and what it may do about it: a document that lies in several collections is
// replaced and removed as a whole.

import { LorekeepError } from '../errors.js'
import { isOwn, outsideOf, type Scope } from '../scope.js'
import type { AcceptedDocument } from './document.js'
import { statusIn } from './document-status.js'
import type { DocumentJobs } from './queue/jobs.js'
import { liesElsewhere } from './steps/knowledge-removal.js'
import type { DocumentRef, DocumentStatus, StepContext } from './types.js'

type Stores = Pick<StepContext, 'knowledge' | 'objects'>

/**
 * What a document became is replaced, in whatever collection it is. What comes back is for the moment
 * of the load, when what others load at the same time is known.
 */
export async function checkLoad(
  loaded: AcceptedDocument,
  scope: Scope,
  stores: Stores,
): Promise<((known: DocumentJobs) => void) | undefined> {
  const { user, id: document, collection } = loaded
  const outside = outsideOf(scope, { user, collection })
  if (outside !== undefined) throw noAccess(document, outside)
  if (scope.collections === undefined) return undefined
  await checkKnowledge({ user, document }, scope, stores)
  return (known) => {
    const status = statusIn({ user, document }, known)
    if (status !== undefined && !isWhole(status, scope)) throw noAccess(document, isElsewhere)
  }
}

/** Of older loads there may be more than jobs tell. */
export async function checkKnowledge(
  ref: Required<DocumentRef>,
  { collections }: Scope,
  stores: Stores,
): Promise<void> {
  if (collections === undefined) return
  const isOutside = await liesElsewhere(ref, stores, collections)
  if (isOutside) throw noAccess(ref.document, isElsewhere)
}

/** What a scope has of a document; `undefined` where that is nothing. */
export function seenOf(status: DocumentStatus, scope: Scope): DocumentStatus | undefined {
  const { user, document, completed } = status
  const jobs = status.jobs.filter((job) => isOwn(scope, job))
  const isCompleted = completed !== undefined && isOwn(scope, { user, ...completed })
  if (jobs.length === 0 && !isCompleted) return undefined
  return { user, document, jobs, ...(isCompleted && { completed }) }
}

/** Whether a scope has all of a document. What no job tells of may lie in any collection. */
export function isWhole(
  { user, jobs, completed }: Omit<DocumentStatus, 'document'>,
  scope: Scope,
): boolean {
  const parts = completed === undefined ? jobs : [...jobs, completed]
  if (parts.length === 0 && scope.collections !== undefined) return false
  if (scope.user !== undefined && scope.user !== user) return false
  return parts.every(({ collection }) => isOwn(scope, { user, collection }))
}

export const isElsewhere = 'there is some of it in a collection that is not one of those allowed'

export function noAccess(document: string, reason: string): LorekeepError {
  const detail = `'${document}': ${reason}`
  return new LorekeepError('LK_DOCUMENT_ACCESS', detail, { details: { document } })
}
