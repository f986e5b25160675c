// Jobs of a flow: list, show, retry, cancel one, or all that match. An id tells nobody whose job it is, so a job that is
// not for the principal's eyes is one that does not exist.

import { LorekeepError } from '../../errors.js'
import type { FlowQueue, Job, JobChangeQuery, JobFilter, JobState } from '../../flow/types.js'
import { scopeOf } from '../access.js'
import { shownUser } from '../auth.js'
import {
  after,
  aText,
  aTimeParameter,
  aWord,
  filtersIn,
  limit,
  pageIn,
  type Parameter,
  user,
  valueOf,
} from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import { whileConnected } from '../stream.js'
import type { Exchange, Route } from '../routes.js'
import { aRule } from '../../door/rules.js'

const states = ['queued', 'delayed', 'active', 'done', 'dead'] as const
const isState = (word: string) => states.includes(word as JobState)

const filters = {
  state: {
    description: 'Jobs in this state alone, or in one of several with commas between.',
    schema: { type: 'string', pattern: `^(${states.join('|')})(,(${states.join('|')}))*$` },
    rule: aRule<string>(`some of ${states.join(', ')}, with commas between`, (text) =>
      String(text).split(',').every(isState),
    ),
  },
  document: aText('Jobs of this document alone.'),
  collection: aText('Jobs of documents in this collection alone.'),
  error: aText('Some of the code or message of the last failure, in letters of any size.'),
  createdFrom: aTimeParameter('Jobs that came then, or later: a date or time of ISO 8601.'),
  createdTo: aTimeParameter('Jobs that came before.'),
  updatedFrom: aTimeParameter('Jobs that changed last then, or later.'),
  updatedTo: aTimeParameter('Jobs that changed last before.'),
}
const flow = aText('Jobs of this flow alone.')
const order = aWord('`desc` has the newest first.', 'asc', 'desc')

/** What one request changes: for more it is asked again, so that none takes long. */
const mostChanged = 10_000
const changeLimit: Parameter = {
  description: 'How many are changed at most.',
  schema: { type: 'integer', minimum: 1, maximum: mostChanged, default: mostChanged },
  rule: aRule<string>(`a whole number from 1 to ${mostChanged}`, (text) => {
    return /^\d{1,5}$/.test(String(text)) && Number(text) >= 1 && Number(text) <= mostChanged
  }),
}
const changed = { user, ...filters, limit: changeLimit, after }

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
      query: { user, ...filters, order, limit, after },
      run: listJobs,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/jobs`,
      operation: 'listAnyJobs',
      query: { flow, user, ...filters, order, limit, after },
      run: listJobs,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${all}/retry`,
      operation: 'retryJobs',
      query: changed,
      run: retryJobs,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${prefix}/jobs/retry`,
      operation: 'retryAnyJobs',
      query: { flow, ...changed },
      run: retryJobs,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${all}/cancel`,
      operation: 'cancelJobs',
      query: changed,
      run: cancelJobs,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${prefix}/jobs/cancel`,
      operation: 'cancelAnyJobs',
      query: { flow, ...changed },
      run: cancelJobs,
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

  async function listJobs({ call, principal, parameters, query }: Exchange): Promise<void> {
    const page = await flows.jobPage({
      ...filterIn(principal, parameters, query),
      ...pageIn(query),
      order: valueOf(query, 'order', order) ?? 'asc',
      scope: scopeOf(principal),
    })
    await answerJson(call, 200, page)
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

  async function retryJobs(exchange: Exchange): Promise<void> {
    await answerChange(exchange, (query) => flows.retryAll(query))
  }

  async function cancelJobs(exchange: Exchange): Promise<void> {
    await answerChange(exchange, (query) => flows.cancelAll(query))
  }

  async function jobOf({ principal, parameters }: Exchange): Promise<Job> {
    const id = parameters.get('job') ?? ''
    const job = await flows.job(id, { scope: scopeOf(principal) })
    const flow = parameters.get('flow') ?? job?.flow
    if (job !== undefined && job.flow === flow) return job
    throw new LorekeepError('LK_JOB_NOT_FOUND', `'${id}'`, { details: { job: id } })
  }
}

/** Of all that match, until the client leaves. */
async function answerChange(
  { call, principal, parameters, query }: Exchange,
  change: (query: JobChangeQuery) => Promise<object>,
): Promise<void> {
  const behind = query.get('after')
  const asked = {
    ...filterIn(principal, parameters, query),
    ...(behind !== undefined && { after: behind }),
    limit: Number(valueOf(query, 'limit', changeLimit) ?? mostChanged),
    scope: scopeOf(principal),
  }
  const done = await whileConnected(call, (signal) => change({ ...asked, signal }))
  await answerJson(call, 200, done)
}

/** Which jobs are meant. */
function filterIn(
  principal: Exchange['principal'],
  parameters: Exchange['parameters'],
  query: Exchange['query'],
): JobFilter {
  const { state, ...rest } = filtersIn(query, filters)
  const user = shownUser(principal, query.get('user'))
  const flow = parameters.get('flow') ?? query.get('flow')
  return {
    ...rest,
    ...(flow !== undefined && { flow }),
    ...(user !== undefined && { user }),
    ...(state !== undefined && { state: state.split(',') as JobState[] }),
  }
}
