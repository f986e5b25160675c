// Jobs by their ids, by state and by document.

import { LorekeepError } from '../../errors.js'
import { decodeKey } from '../../keys.js'
import { decodeRecord } from '../../record.js'
import type { Entry, Range, Storage } from '../../storage.js'
import type { Job, JobState } from '../types.js'
import { numberIn } from './block.js'
import { readDocument } from './documents.js'
import { isSame, type Draft } from './draft.js'
import { jobOf, queuedJobOf } from './job-view.js'
import { jobRecords } from './lost-jobs.js'
import { documentKeys, doneKeys, jobKey, latestKey, latestKeys, runKeysOf } from './records.js'
import type { DoneRecord, JobRecord, LatestRecord } from './records.js'
import { decodeRun, runWith, type Run } from './run.js'
import { hashOf, leasesOf } from './state.js'
import { activeJob } from './under-way.js'

export async function jobById(draft: Draft, id: string): Promise<Job | undefined> {
  const number = numberIn(id)
  if (number === undefined) return undefined
  const job = await jobByNumber(draft, number)
  if (job?.id === id) return job
  // The id of this number could not be read; it may be the one that is asked for.
  if (job !== undefined && (await isLost(draft, number))) throw lost(number)
  return undefined
}

async function isLost(draft: Draft, number: number): Promise<boolean> {
  return (await draft.record<JobRecord>(jobKey(number)))?.lost !== undefined
}

function lost(number: number): LorekeepError {
  const detail = `the document of job ${number} cannot be read; 'lost.${number.toString(36)}' is among the dead letters`
  return new LorekeepError('LK_STORAGE_CORRUPT', detail)
}

async function jobByNumber(draft: Draft, number: number): Promise<Job | undefined> {
  const active = await activeJob(draft, number)
  const [stored] = active === undefined ? await jobRecords(draft, [number]) : []
  const record = active?.record ?? stored
  if (record !== undefined) return jobOf(record)
  const document = await readDocument(draft, number, false)
  if (document === undefined) return undefined
  const run = await runWith(draft, document.flow, document.user, number)
  if (run?.again) return lacksRecord(draft, number)
  return run === undefined ? undefined : queuedJobOf(document)
}

/** What has become of a job that was claimed before its record alone says. */
function lacksRecord(draft: Draft, number: number): Promise<never> {
  return draft.contradiction(`job ${number} is queued without a record`)
}

export const states: readonly JobState[] = ['active', 'delayed', 'queued', 'dead', 'done']

/** Jobs of a document that wait, in one flow. */
async function queuedJobsOf(
  draft: Draft,
  flow: string,
  user: string,
  document: string,
): Promise<Job[]> {
  const wanted = hashOf(document)
  const jobs: Job[] = []
  for await (const page of draft.scan(runKeysOf(flow, user))) {
    for (const entry of page) {
      const { run } = decodeRun(entry)
      for (const [slot, hash] of run.hashes.entries()) {
        if (hash !== wanted) continue
        const job = await jobByNumberInRun(draft, run, slot)
        if (job.document === document) jobs.push(job)
      }
    }
  }
  return jobs
}

async function jobByNumberInRun(draft: Draft, run: Run, slot: number): Promise<Job> {
  const number = run.first + slot
  if (run.again) {
    const [record] = await jobRecords(draft, [number])
    return record ? jobOf(record) : lacksRecord(draft, number)
  }
  const stored = await readDocument(draft, number, false)
  return stored
    ? queuedJobOf(stored)
    : draft.contradiction(`job ${number} is queued without a document`)
}

/** What there is of a document: its jobs, and the newest load of it that was completed. */
export interface DocumentJobs {
  readonly jobs: readonly Job[]
  readonly latest: LatestRecord | undefined
}

/** The jobs of a document in every flow, but for older ones that are done. */
export async function jobsOf(draft: Draft, user: string, document: string): Promise<DocumentJobs> {
  const jobs: Job[] = []
  for (const flow of draft.state.flows.keys()) {
    jobs.push(...(await queuedJobsOf(draft, flow, user, document)))
  }
  const claimed = await claimedJobsOf(draft, user, document)
  const others = claimed.jobs.filter(({ id }) => jobs.every((job) => job.id !== id))
  return { jobs: [...jobs, ...others], latest: claimed.latest }
}

/** Those of them that do not wait for their first turn. */
async function claimedJobsOf(draft: Draft, user: string, document: string): Promise<DocumentJobs> {
  const numbers = await numbersUnder(draft, documentKeys(user, document))
  // Which documents these are is known by a hash alone.
  const unread = await numbersUnder(draft, documentKeys(user, ''))
  for (const record of await jobRecords(draft, unread)) {
    if (record?.lost === hashOf(document)) throw lost(numberIn(record.id) ?? 0)
  }
  const latest = await draft.record<LatestRecord>(latestKey(user, document))
  if (latest !== undefined) numbers.push(latest.number)
  const hash = hashOf(document)
  for (const lease of leasesOf(draft.state)) {
    if (lease.user === user && lease.hash === hash) numbers.push(lease.number)
  }
  const jobs: Job[] = []
  for (const number of new Set(numbers)) {
    const job = await jobByNumber(draft, number)
    // Another one may have the same hash.
    if (job?.document === document) jobs.push(job)
  }
  return { jobs, latest }
}

export interface CompletedLook {
  readonly found: readonly (readonly [document: string, latest: LatestRecord])[]
  /** `undefined` where nothing is behind what was found. */
  readonly next: string | undefined
}

/** What of a user was completed, by the bytes of the documents' ids, up to a number behind `after`. */
export async function completedPage(
  draft: Draft,
  user: string,
  { prefix, after, size }: { prefix: string; after: string | undefined; size: number },
): Promise<CompletedLook> {
  const { gt, lt } = latestKeys(user)
  const from =
    after !== undefined
      ? { gt: latestKey(user, after) }
      : prefix === ''
        ? { gt }
        : { gte: latestKey(user, prefix) }
  const found: (readonly [string, LatestRecord])[] = []
  for await (const page of draft.scan({ ...from, lt, limit: size })) {
    for (const { key, value } of page) {
      const document = String(decodeKey(key)[2])
      if (!document.startsWith(prefix)) return { found, next: undefined }
      found.push([document, decodeRecord<LatestRecord>(value)])
    }
  }
  return { found, next: found.length < size ? undefined : found.at(-1)?.[0] }
}

async function numbersUnder(draft: Draft, range: Range): Promise<number[]> {
  const numbers: number[] = []
  for await (const page of draft.scan({ ...range, keysOnly: true })) {
    numbers.push(...page.map(({ key }) => lastOf(key)))
  }
  return numbers
}

/** The oldest completions there are records of, some at a time, by their places. */
export async function oldestDone(
  storage: Pick<Storage, 'scan'>,
  id: string,
): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  const range = { ...doneKeys(id), limit: pruneSize }
  for await (const page of storage.scan(range)) entries.push(...page)
  return entries
}

/**
 * Removes the oldest records of done jobs, of these, which may have been read some time ago: others may have removed
 * some of them since, and none come before them. Returns how many there were to remove.
 * @param keep how many stay, by default as many as the flow says
 */
export async function prune(
  draft: Draft,
  id: string,
  oldest: readonly Entry[],
  keep?: number,
): Promise<number> {
  const flow = draft.state.flows.get(id)
  if (flow === undefined) return 0
  const { done, pruned } = flow.counts
  const left = oldest.filter(({ key }) => lastOf(key) >= pruned)
  const [first] = left
  // A flow that was removed and made anew counts from 0 again, and has other jobs under the same places.
  if (first === undefined || !isSame(await draft.get(first.key), first.value)) return 0
  const most = done - (keep ?? flow.flow.keepDone)
  let end = pruned
  for (const { key, value } of left) {
    const place = lastOf(key)
    const { numbers } = decodeRecord<DoneRecord>(value)
    // What one commit completed goes as a whole, and not before all of it is too much.
    if (place + numbers.length > most) break
    draft.delete(key)
    for (const number of numbers) draft.delete(jobKey(number))
    end = place + numbers.length
  }
  if (end > pruned) draft.count(flow).pruned = end
  return end - pruned
}

/** Commits whose completions are removed in one go. */
const pruneSize = 100

/** Removes the record of one done job. */
export async function forgetDone(draft: Draft, id: string): Promise<void> {
  const number = numberIn(id)
  if (number === undefined) return
  const record = await draft.record<JobRecord>(jobKey(number))
  if (record === undefined || record.state !== 'done') return
  draft.delete(jobKey(number))
}

function lastOf(key: Uint8Array): number {
  return decodeKey(key).at(-1) as number
}

export function noJob(job: string): LorekeepError {
  return new LorekeepError('LK_JOB_NOT_FOUND', `'${job}'`, { details: { job } })
}

export function noFlow(flow: string, more = ''): LorekeepError {
  return new LorekeepError('LK_FLOW_NOT_FOUND', `'${flow}'${more}`, { details: { flow } })
}
