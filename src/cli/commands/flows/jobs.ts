// `lorekeep jobs`: the documents of a flow on their way.

import type { Job, JobFilter, JobState } from '../../../flow/types.js'
import { withFlows } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { variable } from '../../config/environment.js'
import { note, UsageError } from '../../output/failure.js'
import { formatCounted, formatTime } from '../../output/figures.js'
import { printFields, printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { Pages, type PageTurning } from '../../output/pages.js'
import { left, right, whole } from '../../output/table.js'

interface JobsOptions extends AccessOptions {
  readonly json?: true
}

/** Which jobs, by what commander makes of the options. */
interface JobSelection extends Omit<JobFilter, 'flow' | 'state'> {
  readonly state?: readonly JobState[]
}

interface JobListOptions extends JobsOptions, PageTurning, JobSelection {
  readonly order: 'asc' | 'desc'
}

const listing: Listing<Job> = {
  columns: [
    whole('JOB'),
    left('STATE'),
    right('ATTEMPTS'),
    left('DOCUMENT'),
    left('USER'),
    left('UPDATED'),
    left('STEPS DONE'),
  ],
  cellsOf,
  none: 'there are no such jobs',
}

export async function listJobs(options: JobListOptions): Promise<void> {
  const { order, json } = options
  const query = { ...filterIn(options), order }
  await withFlows(options, { create: false }, async (flows) => {
    const pages = new Pages(options, async (page) => {
      const { jobs, next } = await flows.jobPage({ ...query, ...page })
      return { items: jobs, next }
    })
    const count = await printList(pages, listing, json)
    pages.tellMore(formatCounted(count, 'job'))
  })
}

const names = [
  ...(['state', 'document', 'collection', 'user', 'error'] as const),
  ...(['createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'] as const),
]

function filterIn({ user = variable('LOREKEEP_USER'), ...options }: JobSelection): JobFilter {
  const all = { ...options, user }
  const given = names.filter((name) => all[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, all[name]]))
}

export async function showJob(id: string, options: JobsOptions): Promise<void> {
  const job = await withFlows(options, { create: false }, (flows) => flows.job(id))
  await printJob(job, options)
}

interface JobChangeOptions extends JobsOptions, JobSelection {
  /** Whatever the state. */
  readonly all?: true
}

export async function retryJobs(id: string | undefined, options: JobChangeOptions): Promise<void> {
  checkMeant(id, options)
  if (id !== undefined) return retryJob(id, options)
  const retried = await withFlows(options, { create: false }, (flows) => {
    return flows.retryAll(filterIn(options))
  })
  if (options.json) await writeJson({ retried })
  else note(`${formatCounted(retried, 'job')} queued again`)
}

export async function cancelJobs(id: string | undefined, options: JobChangeOptions): Promise<void> {
  checkMeant(id, options)
  if (id !== undefined) return cancelJob(id, options)
  const cancelled = await withFlows(options, { create: false }, (flows) => {
    return flows.cancelAll(filterIn(options))
  })
  if (options.json) await writeJson({ cancelled })
  else note(`cancelled ${formatCounted(cancelled, 'job')}`)
}

/** Nobody changes all of a flow by leaving something out. */
function checkMeant(id: string | undefined, { all, ...options }: JobChangeOptions): void {
  const isFiltered = names.some((name) => options[name] !== undefined)
  if (id !== undefined && (all || isFiltered)) {
    throw new UsageError('name a job, or say which by options, not both')
  }
  if (id !== undefined || all || isFiltered) return
  throw new UsageError('name a job, say which by options such as --state, or all of them by --all')
}

async function retryJob(id: string, options: JobsOptions): Promise<void> {
  const job = await withFlows(options, { create: false }, (flows) => flows.retry(id))
  if (options.json) await writeJson(job)
  else note(`'${job.document}' is ${job.state} again`)
}

async function cancelJob(id: string, options: JobsOptions): Promise<void> {
  await withFlows(options, { create: false }, (flows) => flows.cancel(id))
  if (options.json) await writeJson({ cancelled: 1 })
  else note(`cancelled ${id}`)
}

async function printJob(job: Job, { json }: JobsOptions): Promise<void> {
  if (json) return writeJson(job)
  const fields: readonly (readonly [string, string])[] = [
    ['job', job.id],
    ['flow', job.flow],
    ['document', job.document],
    ['user', job.user],
    ['collection', job.collection],
    ['state', job.superseded ? `${job.state}, but a newer load was done before` : job.state],
    ['attempts', String(job.attempts)],
    ['done', job.completedSteps.join(' ')],
    ['created', job.createdAt],
    ['updated', job.updatedAt],
    ...(job.dueAt === undefined ? [] : [['due', job.dueAt] as const]),
    ...job.failures.map(({ at, attempt, step, cause, message }) => {
      return [cause, `${at} attempt ${attempt} at '${step}': ${message}`] as const
    }),
  ]
  await printFields(fields, 11)
}

function cellsOf(job: Job, isTerminal: boolean): string[] {
  const { id, state, attempts, completedSteps, updatedAt, user, document } = job
  const time = isTerminal ? formatTime(updatedAt) : updatedAt
  return [id, state, String(attempts), document, user, time, completedSteps.join(' ')]
}
