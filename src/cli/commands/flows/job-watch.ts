// Following jobs to their ends.

import { setTimeout as sleep } from 'node:timers/promises'
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

/** How often jobs that have not ended are looked up, as the event of an end may be lost. In tests more often. */
export const looks = { everyMs: 5000 }
/** Looking up takes no larger part of the time: there may be thousands. */
const mostLooking = 1 / 20

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
    if (pending.size === 0) finished.abort()
    onEnd(job, ending)
  }
  const watching = AbortSignal.any([signal, finished.signal])
  const lookUpAll = async () => {
    for (const job of [...pending.values()]) {
      const ending = await lookUp(flows, job)
      if (watching.aborted) return
      settle(job.id, ending)
    }
  }
  let isLooking = false
  const watched = flows.watch({
    ...(jobs[0] && { user: jobs[0].user }),
    signal: watching,
    // Whatever happened before the events began, or while there were none.
    onConnected: async () => {
      await lookUpAll()
      if (!isLooking) void repeat(lookUpAll, watching)
      isLooking = true
    },
    onEvent: (event) => {
      if (!pending.has(event.job)) return
      onEvent(event)
      settle(event.job, endingOf(event))
    },
  })
  await watched.finally(() => finished.abort())
  signal.throwIfAborted()
}

/** Until the signal. */
async function repeat(look: () => Promise<void>, signal: AbortSignal): Promise<void> {
  for (let ms = looks.everyMs; !signal.aborted;) {
    await sleep(ms, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    const start = performance.now()
    // Whoever watches is told of what lasts, and looks again once it is over.
    await look().catch(() => undefined)
    ms = Math.max(looks.everyMs, (performance.now() - start) / mostLooking)
  }
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
