// `lorekeep jobs`: the documents of a flow on their way.

import type { Job, JobFilter, JobState } from '../../../flow/types.js'
import { withFlows } from '../../access/access.js'
import type { AccessOptions } from '../../access/access.js'
import { variable } from '../../config/environment.js'
import { note } from '../../output/failure.js'
import { formatCounted, formatTime } from '../../output/figures.js'
import { printFields, printList, type Listing } from '../../output/listing.js'
import { writeJson } from '../../output/output.js'
import { Pages, type PageTurning } from '../../output/pages.js'
import { left, right, whole } from '../../output/table.js'

interface JobsOptions extends AccessOptions {
  readonly json?: true
}

interface JobListOptions extends JobsOptions, PageTurning, Omit<JobFilter, 'flow' | 'state'> {
  readonly state?: readonly JobState[]
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
  const { user = variable('LOREKEEP_USER'), order, json } = options
  const query = { ...filterIn(options), order, ...(user !== undefined && { user }) }
  await withFlows(options, { create: false }, async (flows) => {
    const pages = new Pages(options, async (page) => {
      const { jobs, next } = await flows.jobPage({ ...query, ...page })
      return { items: jobs, next }
    })
    const count = await printList(pages, listing, json)
    pages.tellMore(formatCounted(count, 'job'))
  })
}

function filterIn(options: JobListOptions): JobFilter {
  const names = ['state', 'document', 'collection', 'error'] as const
  const times = ['createdFrom', 'createdTo', 'updatedFrom', 'updatedTo'] as const
  const given = [...names, ...times].filter((name) => options[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, options[name]]))
}

export async function showJob(id: string, options: JobsOptions): Promise<void> {
  const job = await withFlows(options, { create: false }, (flows) => flows.job(id))
  await printJob(job, options)
}

export async function retryJob(id: string, options: JobsOptions): Promise<void> {
  const job = await withFlows(options, { create: false }, (flows) => flows.retry(id))
  if (options.json) await writeJson(job)
  else note(`'${job.document}' is ${job.state} again`)
}

export async function cancelJob(id: string, options: JobsOptions): Promise<void> {
  await withFlows(options, { create: false }, (flows) => flows.cancel(id))
  note(`cancelled ${id}`)
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
