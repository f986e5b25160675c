// What happens to jobs, as server-sent events.

import { LorekeepError } from '../../errors.js'
import type { FlowQueue, JobEvent, WatchQuery } from '../../flow/types.js'
import { scopeOf } from '../access.js'
import { shownUser } from '../auth.js'
import { beginEvents, eventHeaders, eventsType, eventText } from '../events.js'
import type { EventSending } from '../events.js'
import { aText, user } from '../parameters.js'
import { answer } from '../reply.js'
import type { Places } from '../places.js'
import type { Exchange, Route } from '../routes.js'

interface EventRoutesOptions {
  readonly prefix: string
  readonly flows: FlowQueue
  readonly heartbeatMs: number
  readonly exportIdleTimeoutMs: number
  readonly streams: Places
  /** Ends every stream. */
  readonly signal: AbortSignal | undefined
}

const watched = {
  user,
  document: aText('Events of the jobs of this document alone.'),
  job: aText('Events of this job alone: the answer ends with its last one.'),
}

export function eventRoutes(options: EventRoutesOptions): readonly Route[] {
  const { prefix, flows, heartbeatMs, exportIdleTimeoutMs, signal } = options
  const ends = new Set<() => void>()
  // One listener, however many streams there are.
  signal?.addEventListener('abort', () => ends.forEach((end) => end()), { once: true })

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/flow/{flow}/events`,
      operation: 'watchJobs',
      media: [eventsType],
      query: watched,
      run: watchInPlace,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/events`,
      operation: 'watchAnyJobs',
      media: [eventsType],
      query: watched,
      run: watchInPlace,
    },
  ]

  async function watchInPlace(exchange: Exchange): Promise<void> {
    await options.streams.hold(exchange.principal, () => watch(exchange))
  }

  async function watch(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    // An unread body would keep the socket from telling that the client has gone.
    if (call.isBodyPending) {
      throw new LorekeepError('LK_HTTP_REQUEST', 'a stream of events is asked for without a body')
    }
    const asked = await watchedIn(exchange)
    if (call.method === 'HEAD') {
      await answer(call, 200, eventHeaders)
      return
    }
    const ended = new AbortController()
    const end = () => ended.abort()
    if (call.hasGone || signal?.aborted === true) end()
    const forget = call.onGone(end)
    ends.add(end)
    const limits = { heartbeatMs, idleTimeoutMs: exportIdleTimeoutMs }
    let sending: EventSending
    try {
      // Begun before the headers go out: who has them misses nothing from then on.
      const scope = scopeOf(principal)
      const events = flows.watch({ ...asked, scope, signal: ended.signal })
      sending = beginEvents(call, limits)
      await sending.all(textsOf(events))
    } finally {
      ends.delete(end)
      forget()
    }
    await sending.end()
  }

  /** @throws LorekeepError where it is not there, or not for the principal's eyes */
  async function watchedIn({ principal, parameters, query }: Exchange): Promise<WatchQuery> {
    const flow = parameters.get('flow')
    const user = shownUser(principal, query.get('user'))
    const document = query.get('document')
    const id = query.get('job')
    if (flow !== undefined && (await flows.get(flow)) === undefined) {
      throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${flow}'`, { details: { flow } })
    }
    if (id !== undefined) {
      const job = await flows.job(id, { scope: scopeOf(principal) })
      // Events of a job that the other parameters leave out would never come.
      const isMeant =
        job !== undefined &&
        (flow ?? job.flow) === job.flow &&
        (user ?? job.user) === job.user &&
        (document ?? job.document) === job.document
      if (isMeant) return { job: id }
      throw new LorekeepError('LK_JOB_NOT_FOUND', `'${id}'`, { details: { job: id } })
    }
    // What its events begin with: where that cannot be told, it is an answer with a status.
    if (document !== undefined) {
      const ref = { document, ...(user !== undefined && { user }) }
      await flows.document(ref, { scope: scopeOf(principal) })
    }
    return {
      ...(flow !== undefined && { flow }),
      ...(user !== undefined && { user }),
      ...(document !== undefined && { document }),
    }
  }
}

/** Made once for all streams: hundreds may be told the same event. */
const texts = new WeakMap<JobEvent, string>()

async function* textsOf(events: AsyncIterable<JobEvent>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) {
    let text = texts.get(event)
    if (text === undefined) texts.set(event, (text = eventText(event.type, event)))
    yield text
  }
}
