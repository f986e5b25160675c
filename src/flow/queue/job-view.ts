// Jobs and events as callers see them.

import type { Job, JobEvent, JobFailure } from '../types.js'
import type { StoredDocument, Ticket } from './block.js'
import type { JobRecord } from './records.js'

export function jobOf(record: JobRecord): Job {
  const { steps, createdAt, updatedAt, dueAt, superseded } = record
  return {
    id: record.id,
    flow: record.flow,
    user: record.user,
    document: record.document,
    collection: record.collection,
    state: record.state,
    attempts: record.attempts,
    completedSteps: steps,
    failures: record.failures,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    ...(dueAt !== undefined && { dueAt: new Date(dueAt).toISOString() }),
    ...(superseded === true && { superseded }),
  }
}

/** A job that was never claimed. */
export function queuedJobOf(stored: StoredDocument): Job {
  const at = new Date(stored.createdAt).toISOString()
  return {
    id: stored.job,
    flow: stored.flow,
    user: stored.user,
    document: stored.document,
    collection: stored.collection,
    state: 'queued',
    attempts: 0,
    completedSteps: [],
    failures: [],
    createdAt: at,
    updatedAt: at,
  }
}

type Known = Pick<Job, 'id' | 'flow' | 'user' | 'document' | 'collection' | 'state' | 'attempts'>

export function fieldsOf(job: Known, at: number) {
  const { id, flow, user, document, collection, state, attempts } = job
  const time = new Date(at).toISOString()
  return { job: id, flow, user, document, collection, at: time, state, attempts }
}

export function eventOf(
  type: 'state' | 'queued' | 'active' | 'done' | 'cancelled',
  job: Known,
  at: number,
): JobEvent {
  return { type, ...fieldsOf(job, at) }
}

export function loadEventOf({ id, document }: Ticket, flow: string, at: number): JobEvent {
  const { user, collection } = document
  const known = { id, flow, user, document: document.id, collection, attempts: 0 }
  return eventOf('queued', { ...known, state: 'queued' }, at)
}

export function failureEventOf(job: Known, failure: JobFailure, at: number): JobEvent {
  return { type: job.state === 'dead' ? 'dead' : 'failed', ...fieldsOf(job, at), failure }
}

/** How a job stands, as the event that it came to that by. */
export function newsOf(job: Job): JobEvent {
  const at = Date.parse(job.updatedAt)
  const failure = job.failures.at(-1)
  switch (job.state) {
    case 'delayed':
    case 'dead':
      // Neither comes without one.
      return failure === undefined ? eventOf('state', job, at) : failureEventOf(job, failure, at)
    default:
      return eventOf(job.state, job, at)
  }
}
