// What is known of a document, as callers see it.

import { numberIn } from './queue/block.js'
import type { DocumentJobs } from './queue/jobs.js'
import type { LatestRecord } from './queue/records.js'
import type { Completion, DocumentRef, DocumentStatus, Job } from './types.js'

/** `undefined` where nothing is known of it. */
export function statusIn(
  { user, document }: Required<DocumentRef>,
  { jobs, latest }: DocumentJobs,
): DocumentStatus | undefined {
  if (jobs.length === 0 && latest === undefined) return undefined
  const newestFirst = [...jobs].sort((a, b) => numberOf(b) - numberOf(a))
  const completed = latest && completionOf(latest)
  return { user, document, jobs: newestFirst, ...(completed !== undefined && { completed }) }
}

function numberOf({ id }: Job): number {
  return numberIn(id) ?? 0
}

export function completionOf({ job, flow, collection, at }: LatestRecord): Completion {
  return { job, flow, collection, at: new Date(at).toISOString() }
}
