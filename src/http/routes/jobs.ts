// Jobs of a flow: list, show, retry, cancel. An id tells nobody whose job it is, so a job that is
// not for the principal's eyes is one that does not exist.

import { LorekeepError } from '../../errors.js'
import type { FlowQueue, Job, JobState } from '../../flow/types.js'
import { scopeOf } from '../access.js'
import { shownUser } from '../auth.js'
import { disconnect } from '../body.js'
import { aText, limit, limitIn, user, valueOf } from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { oneOf } from '../../door/rules.js'

const states = ['queued', 'delayed', 'active', 'done', 'dead'] as const
const state = {
  description: 'Jobs in this state alone.',
  schema: { type: 'string', enum: states },
  rule: oneOf<JobState>(...states),
}

interface JobRoutesOptions {
  readonly prefix: string
  readonly flows: FlowQueue
}

export function jobRoutes({ prefix, flows }: JobRoutesOptions): readonly Route[] {
  const all = `${prefix}/flow/{flow}/jobs`
  const single = `${all}/{job}`
  // An id says which flow it is of: who has one alone need not know.
  const anywhere = `${prefix}/jobs/{job}`

  return [
    {
      access: 'read',
      method: 'GET',
      path: all,
      operation: 'listJobs',
      query: { user, state, document: aText('Jobs of this document alone.'), limit },
      run: listJobs,
    },
    { access: 'read', method: 'GET', path: single, operation: 'showJob', run: showJob },
    {
      access: 'change',
      method: 'DELETE',
      path: single,
      operation: 'cancelJob',
      media: [],
      run: cancelJob,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${single}/retry`,
      operation: 'retryJob',
      run: retryJob,
    },
    { access: 'read', method: 'GET', path: anywhere, operation: 'showAnyJob', run: showJob },
    {
      access: 'change',
      method: 'DELETE',
      path: anywhere,
      operation: 'cancelAnyJob',
      media: [],
      run: cancelJob,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${anywhere}/retry`,
      operation: 'retryAnyJob',
      run: retryJob,
    },
  ]

  async function listJobs(exchange: Exchange): Promise<void> {
    const { call, principal, parameters, query } = exchange
    const limit = limitIn(query)
    const user = shownUser(principal, query.get('user'))
    const inState = valueOf(query, 'state', state)
    const document = query.get('document')
    const found = flows.jobs({
      flow: parameters.get('flow') ?? '',
      ...(user !== undefined && { user }),
      ...(inState !== undefined && { state: inState }),
      ...(document !== undefined && { document }),
      scope: scopeOf(principal),
      limit,
    })
    const jobs: Job[] = []
    for await (const job of found) {
      if (call.hasGone) throw disconnect()
      jobs.push(job)
    }
    await answerJson(call, 200, { jobs })
  }

  async function showJob(exchange: Exchange): Promise<void> {
    await answerJson(exchange.call, 200, await jobOf(exchange))
  }

  async function cancelJob(exchange: Exchange): Promise<void> {
    const { id } = await jobOf(exchange)
    await flows.cancel(id, { scope: scopeOf(exchange.principal) })
    await answer(exchange.call, 204)
  }

  async function retryJob(exchange: Exchange): Promise<void> {
    const { id } = await jobOf(exchange)
    const scope = scopeOf(exchange.principal)
    await answerJson(exchange.call, 200, await flows.retry(id, { scope }))
  }

  async function jobOf({ principal, parameters }: Exchange): Promise<Job> {
    const id = parameters.get('job') ?? ''
    const job = await flows.job(id, { scope: scopeOf(principal) })
    const flow = parameters.get('flow') ?? job?.flow
    if (job !== undefined && job.flow === flow) return job
    throw new LorekeepError('LK_JOB_NOT_FOUND', `'${id}'`, { details: { job: id } })
  }
}
