// JobQueues over a storage, as tests want them.

import { checkDefinition } from '../../../src/flow/definition.js'
import type { AcceptedDocument } from '../../../src/flow/document.js'
import type { Chance } from '../../../src/clock.js'
import { Listings } from '../../../src/flow/listings.js'
import { JobQueue } from '../../../src/flow/queue/queue.js'
import type { Claimed, Committed, JobQueueOptions } from '../../../src/flow/queue/queue.js'
import type { Flow, FlowDefinition, Job, JobFailure, JobQuery } from '../../../src/flow/types.js'
import { Cursors } from '../../../src/paging.js'
import type { Storage } from '../../../src/storage.js'
import { Random } from '../../fixtures/random.js'
import { VirtualClock } from '../virtual-clock.js'

export const leaseMs = 10_000
export const steps = ['a', 'b', 'c']

/** A flow of three steps of code. */
export function flowOf(id: string, fields: Partial<FlowDefinition> = {}): Flow {
  const code = steps.map((name) => ({ name, run: () => undefined }))
  return checkDefinition({ id, steps: code, ...fields }).flow
}

export function documentOf(id: string, user = 'alice', text = `text of ${id}`): AcceptedDocument {
  return {
    id,
    user,
    collection: 'default',
    metadata: [],
    metadataLength: 0,
    text: Buffer.from(text),
  }
}

let ids = 0

/** Opens a queue whose first flow is `f`. */
export function openQueue(
  storage: Storage,
  options: Partial<JobQueueOptions> = {},
): Promise<JobQueue> {
  return JobQueue.open({
    storage,
    firstFlow: flowOf('f'),
    clock: new VirtualClock(),
    chance: chanceOf(new Random(ids)),
    createId: () => `id${++ids}`,
    leaseMs,
    isAlone: false,
    isWatched: () => false,
    onCommit: (_: Committed) => {},
    ...options,
  })
}

/** Tokens that never repeat, and fractions from a seed. */
export function chanceOf(random: Random): Chance {
  return { fraction: () => random.next(), token: () => `token${++ids}` }
}

export const failureOf = ({ record }: Claimed, step = 'a'): JobFailure => ({
  at: new Date(record.updatedAt).toISOString(),
  attempt: record.attempts,
  step,
  cause: 'failed',
  message: 'on purpose',
})

export async function jobsOf(queue: JobQueue, query: JobQuery): Promise<Job[]> {
  const listings = new Listings({ queue, cursors: new Cursors(() => ''), reads: 'recent' })
  const jobs: Job[] = []
  for await (const job of listings.jobs(query)) jobs.push(job)
  return jobs
}

/** Claims until nothing is left, completes what it gets, and gives it in the order of claims. */
export async function drained(queue: JobQueue, flow: string, turns = 8): Promise<Claimed[]> {
  const all: Claimed[] = []
  // What others have loaded.
  await queue.refresh()
  for (;;) {
    const { jobs, more } = await queue.claim(flow, turns)
    for (const job of jobs) await queue.complete(job, steps)
    all.push(...jobs)
    if (jobs.length === 0 && !more) return all
  }
}
