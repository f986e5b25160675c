// Jobs under way with their records, of which those that others have claimed are read.

import type { Draft } from './draft.js'
import { leaseKey, type LeaseRecord } from './records.js'
import type { Active, Lease } from './state.js'

/** The job under way of this number; `undefined` where there is none. */
export async function activeJob(draft: Draft, number: number): Promise<Active | undefined> {
  const other = draft.state.others.get(number)
  if (other === undefined) return draft.state.active.get(number)
  const [job] = await activeJobs(draft, [other])
  return job
}

/** Has the records of those of these jobs that are under way in the state from here on. */
export async function learnOf(draft: Draft, numbers: readonly number[]): Promise<void> {
  const { active, others } = draft.state
  const unknown = numbers.map((number) => others.get(number)).filter((one) => one !== undefined)
  if (unknown.length === 0) return
  for (const job of await activeJobs(draft, unknown)) {
    others.delete(job.number)
    active.set(job.number, job)
  }
}

/** Those that have these leases, in their order. */
export async function activeJobs(draft: Draft, leases: readonly Lease[]): Promise<Active[]> {
  const { active } = draft.state
  const unread = leases.filter(({ number }) => !active.has(number))
  const records = await draft.records<LeaseRecord>(unread.map(({ number }) => leaseKey(number)))
  const read = new Map(unread.map(({ number }, place) => [number, records[place]]))
  const jobs: Active[] = []
  for (const lease of leases) {
    const record = read.get(lease.number)?.job
    const job = active.get(lease.number) ?? (record && { ...lease, record })
    jobs.push(job ?? (await draft.contradiction(`the lease of job ${lease.number} is gone`)))
  }
  return jobs
}
