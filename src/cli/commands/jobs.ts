// `lorekeep jobs`: the documents of a flow on their way.

import type { Job, JobState } from '../../flow/types.js'
import { withFlows } from '../access/access.js'
import type { AccessOptions } from '../access/access.js'
import { variable } from '../config/environment.js'
import { note } from '../output/failure.js'
import { formatCount, printable } from '../output/figures.js'
import { writeJson, writeOut } from '../output/output.js'
import { Table } from '../output/table.js'

export interface JobsOptions extends AccessOptions {
  readonly json?: true
}

export interface JobListOptions extends JobsOptions {
  readonly state?: JobState
  readonly document?: string
  readonly user?: string
  readonly limit: number
}

const columns = [
  { head: 'JOB', isRight: false, isWhole: true },
  { head: 'STATE', isRight: false },
  { head: 'ATTEMPTS', isRight: true },
  { head: 'DOCUMENT', isRight: false },
  { head: 'USER', isRight: false },
  { head: 'UPDATED', isRight: false },
  { head: 'STEPS DONE', isRight: false },
]

/** One JSON object per line, a table on a terminal, else tabs. */
export async function listJobs(options: JobListOptions): Promise<void> {
  const { state, document, user = variable('LOREKEEP_USER'), limit, json } = options
  const query = {
    limit,
    ...(state !== undefined && { state }),
    ...(document !== undefined && { document }),
    ...(user !== undefined && { user }),
  }
  await withFlows(options, { create: false }, async (flows) => {
    const rows: string[][] = []
    let count = 0
    for await (const job of flows.jobs(query)) {
      count++
      if (json) await writeJson(job)
      else if (process.stdout.isTTY) rows.push(rowOf(job, shortTime))
      else await writeOut(`${rowOf(job, (time) => time).join('\t')}\n`)
    }
    if (rows.length > 0) {
      const table = new Table(columns, rows, process.stdout.columns || 80)
      await writeOut(table.head() + table.rows(rows))
    } else if (process.stdout.isTTY && !json) note('there are no such jobs')
    if (count === limit && !json) note(`${formatCount(count)} jobs; --limit shows more`)
  })
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
  for (const [name, value] of fields) await writeOut(`${name.padEnd(11)}${printable(value)}\n`)
}

function rowOf(job: Job, timeOf: (time: string) => string): string[] {
  const { id, state, attempts, completedSteps, updatedAt, user, document } = job
  const steps = completedSteps.join(' ')
  return [id, state, String(attempts), document, user, timeOf(updatedAt), steps].map(printable)
}

function shortTime(time: string): string {
  return time.slice(0, 16).replace('T', ' ')
}
