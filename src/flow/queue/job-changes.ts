// What people do to jobs: let them go on, or take them away. One that has an id, or all that are found, some in each
// commit.

import { LorekeepError } from '../../errors.js'
import type { Job, JobState } from '../types.js'
import { numberIn } from './block.js'
import { wake } from './claiming.js'
import { dropDocument, readLeft } from './documents.js'
import type { Draft } from './draft.js'
import { lookForJobs } from './job-list.js'
import type { FoundJob, JobSearch, LookSizes } from './job-search.js'
import { eventOf, jobOf } from './job-view.js'
import { jobById, noJob } from './jobs.js'
import { jobRecords } from './lost-jobs.js'
import {
  deadKey,
  delayedKey,
  documentKey,
  jobKey,
  slotsPerBlock,
  type JobRecord,
} from './records.js'
import { runWith, type Run } from './run.js'
import { dropOutputs, letGo } from './settling.js'
import type { FlowState } from './state.js'
import { learnOf } from './under-way.js'

/** What is done to all jobs that are found. */
export type JobChange = 'retry' | 'cancel'

const states: Readonly<Record<JobChange, readonly JobState[]>> = {
  retry: ['dead', 'delayed'],
  cancel: ['queued', 'delayed', 'active', 'dead'],
}

/** How far it has come: the last number that was looked at, and the last that there was when it began. */
export type ChangePlace = readonly [after: number, until: number]

export interface JobsChanged {
  readonly changed: number
  /** `undefined` where nothing is left of what was there when it began. */
  readonly next: ChangePlace | undefined
}

/** @throws LorekeepError `LK_JOB_NOT_FOUND`, `LK_JOB_STATE` */
export async function retry(draft: Draft, id: string): Promise<Job> {
  const known = await knownById(draft, id)
  const { record, job } = known
  if (record === undefined || !states.retry.includes(job.state)) throw wrongState(job, 'retried')
  letGoOn(draft, known)
  return jobOf(record)
}

/** @throws LorekeepError `LK_JOB_NOT_FOUND`, `LK_JOB_STATE` */
export async function cancel(draft: Draft, id: string): Promise<void> {
  const known = await knownById(draft, id)
  if (known.job.state === 'done') throw wrongState(known.job, 'cancelled')
  await takeAway(draft, [known])
}

/**
 * Changes some of the jobs that are found behind a place, `most` at most, whose state allows it. Those that came since
 * it began are left alone, so that it ends however many come.
 * @throws LorekeepError `LK_FLOW_NOT_FOUND`
 */
export async function changeJobs(
  draft: Draft,
  change: JobChange,
  search: JobSearch,
  place: ChangePlace | undefined,
  most: number,
  sizes: LookSizes,
): Promise<JobsChanged> {
  draft.assertClean()
  const [after, until] = place ?? [undefined, draft.state.nextBlock * slotsPerBlock - 1]
  const possible = states[change].filter((state) => search.states.has(state))
  const asked = { ...search, states: new Set(possible), isReverse: false }
  const { found, next } = await lookForJobs(draft, asked, after, most, sizes)
  const meant = found.filter(({ number }) => number <= until)
  // A write would be refused where others were first; without one nobody says so.
  if (meant.length === 0) await draft.assertNewest()
  const known = await knownOf(draft, meant)
  if (change === 'cancel') await takeAway(draft, known)
  else for (const job of known) letGoOn(draft, job)
  const isOver = next === undefined || next >= until
  return { changed: meant.length, next: isOver ? undefined : [next, until] }
}

interface KnownJob extends FoundJob {
  /** Absent for a job that was never claimed. */
  readonly record: JobRecord | undefined
  readonly flow: FlowState
}

async function knownById(draft: Draft, id: string): Promise<KnownJob> {
  const number = numberIn(id)
  const job = await jobById(draft, id)
  if (number === undefined || job === undefined) throw noJob(id)
  // Runs are looked up and lanes read anew below: both need all that is written to be there.
  draft.assertClean()
  const [known] = await knownOf(draft, [{ number, job }])
  if (known === undefined) throw noJob(id)
  return known
}

/** Of jobs whose flow is there: no other has any. */
async function knownOf(draft: Draft, jobs: readonly FoundJob[]): Promise<KnownJob[]> {
  await learnOf(
    draft,
    jobs.map(({ number }) => number),
  )
  const { active, flows } = draft.state
  const others = jobs.filter(({ number }) => !active.has(number))
  const records = await jobRecords(
    draft,
    others.map(({ number }) => number),
  )
  const stored = new Map(others.map(({ number }, place) => [number, records[place]]))
  return jobs.flatMap(({ number, job }) => {
    const flow = flows.get(job.flow)
    const record = active.get(number)?.record ?? stored.get(number)
    return flow === undefined ? [] : [{ number, job, record, flow }]
  })
}

/** Of a dead letter, or a delayed job. */
function letGoOn(draft: Draft, { number, record, flow }: KnownJob): void {
  if (record === undefined) return
  if (record.state === 'delayed') {
    draft.delete(delayedKey(record.flow, record.dueAt ?? 0, number))
    draft.count(flow).delayed--
  } else {
    draft.delete(deadKey(record.flow, number))
    draft.count(flow).dead--
    record.attempts = 0
  }
  wake(draft, flow, number, record)
  draft.tell(() => eventOf('queued', record, draft.now))
}

/** Of jobs in any state but `done`, in the order of their numbers. */
async function takeAway(draft: Draft, jobs: readonly KnownJob[]): Promise<void> {
  const queued = jobs.filter(({ job }) => job.state === 'queued')
  const runs = await runsWith(draft, queued)
  await readLeft(
    draft,
    jobs.filter(({ record }) => record?.ownBody !== true),
  )
  for (const [run, numbers] of runs) takeOut(draft, run, numbers)
  for (const known of jobs) drop(draft, known)
}

function drop(draft: Draft, { number, job, record, flow }: KnownJob): void {
  const active = draft.state.active.get(number)
  if (active !== undefined) {
    letGo(draft, flow, active, true)
    draft.cancelled.push(number)
  } else if (job.state === 'queued') draft.count(flow).queued--
  else if (job.state === 'delayed') {
    draft.delete(delayedKey(job.flow, record?.dueAt ?? 0, number))
    draft.count(flow).delayed--
  } else {
    draft.delete(deadKey(job.flow, number))
    draft.count(flow).dead--
  }
  dropDocument(draft, number, record ?? {})
  if (record !== undefined) {
    dropOutputs(draft, number, record)
    draft.delete(jobKey(number))
    draft.delete(documentKey(job.user, job.document, number))
  }
  draft.tell(() => eventOf('cancelled', job, draft.now))
}

/** A run of queued jobs, and whose it is. */
interface OwnedRun {
  readonly run: Run
  readonly flow: FlowState
  readonly user: string
}

/** The runs in which queued jobs are, each with their numbers. */
async function runsWith(
  draft: Draft,
  queued: readonly KnownJob[],
): Promise<ReadonlyMap<OwnedRun, readonly number[]>> {
  const lanes = new Map<string, KnownJob[]>()
  for (const known of queued) {
    const name = JSON.stringify([known.job.flow, known.job.user])
    const lane = lanes.get(name)
    if (lane === undefined) lanes.set(name, [known])
    else lane.push(known)
  }
  const found = await Promise.all([...lanes.values()].map((jobs) => runsInLane(draft, jobs)))
  return new Map(found.flat())
}

async function runsInLane(draft: Draft, jobs: readonly KnownJob[]) {
  const found: (readonly [OwnedRun, number[]])[] = []
  for (const { number, flow, job } of jobs) {
    const last = found.at(-1)
    const isIn = last !== undefined && number < last[0].run.first + last[0].run.hashes.length
    if (isIn) {
      last[1].push(number)
      continue
    }
    const run = await runWith(draft, job.flow, job.user, number)
    if (run !== undefined) found.push([{ run, flow, user: job.user }, [number]])
  }
  return found
}

/** Queued jobs out of the midst of their run, which leaves what is between them. */
function takeOut(draft: Draft, { run, flow, user }: OwnedRun, numbers: readonly number[]): void {
  const { id } = flow.flow
  const { first, hashes, again } = run
  draft.deleteRun(id, user, first)
  let begin = first
  for (const end of [...numbers, first + hashes.length]) {
    const between = hashes.subarray(begin - first, end - first)
    if (between.length > 0) {
      draft.putRun(id, user, { first: begin, hashes: between, again, stored: begin }, false)
    }
    begin = end + 1
  }
  flow.lanes.forget(user)
}

function wrongState({ id, state }: Job, verb: string): LorekeepError {
  return new LorekeepError('LK_JOB_STATE', `a ${state} job cannot be ${verb}: '${id}'`, {
    details: { job: id, state },
  })
}
