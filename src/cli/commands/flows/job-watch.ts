// Following jobs to their ends.

import { hasCode } from '../../../errors.js'
import type { ErrorCode } from '../../../errors.js'
import type { Job, JobEvent, JobFailure } from '../../../flow/types.js'
import type { FlowAccess } from '../../access/flow-access.js'

export interface Ending {
  readonly state: 'done' | 'dead' | 'cancelled'
  /** Of a dead letter. */
  readonly failure?: JobFailure
}

export interface WatchedJob {
  readonly id: string
  readonly user: string
  readonly document: string
}

interface Followers {
  readonly signal: AbortSignal
  readonly onEvent: (event: JobEvent) => void
  readonly onEnd: (job: string, ending: Ending) => void
}

/** Resolves when all of these jobs of one user have ended. */
export async function followJobs(
  flows: FlowAccess,
  jobs: readonly WatchedJob[],
  { signal, onEvent, onEnd }: Followers,
): Promise<void> {
  const pending = new Map(jobs.map((job) => [job.id, job]))
  const finished = new AbortController()
  const settle = (job: string, ending: Ending | undefined) => {
    if (ending === undefined || !pending.delete(job)) return
    onEnd(job, ending)
    if (pending.size === 0) finished.abort()
  }
  await flows.watch({
    ...(jobs[0] && { user: jobs[0].user }),
    signal: AbortSignal.any([signal, finished.signal]),
    // Whatever happened before the events began, or while there were none.
    onConnected: async () => {
      for (const job of [...pending.values()]) settle(job.id, await lookUp(flows, job))
    },
    onEvent: (event) => {
      if (!pending.has(event.job)) return
      onEvent(event)
      settle(event.job, endingOf(event))
    },
  })
  signal.throwIfAborted()
}

function endingOf(event: JobEvent): Ending | undefined {
  if (event.type === 'dead') return { state: 'dead', failure: event.failure }
  return event.type === 'done' || event.type === 'cancelled' ? { state: event.type } : undefined
}

async function lookUp(
  flows: FlowAccess,
  { id, user, document }: WatchedJob,
): Promise<Ending | undefined> {
  const job = await findJob(flows, id)
  if (job === undefined) {
    // Cancelled; or done, and the flow keeps no record of it.
    const status = await orMissing(flows.document({ user, document }), 'LK_DOCUMENT_NOT_FOUND')
    return { state: status?.completed?.job === id ? 'done' : 'cancelled' }
  }
  const failure = job.failures.at(-1)
  if (job.state === 'dead') return { state: 'dead', ...(failure !== undefined && { failure }) }
  return job.state === 'done' ? { state: 'done' } : undefined
}

/** Undefined for one that there is no record of. */
export async function findJob(flows: FlowAccess, id: string): Promise<Job | undefined> {
  return orMissing(flows.job(id), 'LK_JOB_NOT_FOUND')
}

async function orMissing<T>(answer: Promise<T>, code: ErrorCode): Promise<T | undefined> {
  try {
    return await answer
  } catch (error) {
    if (hasCode(error, code)) return undefined
    throw error
  }
}
