// Whether the process answers, and whether it takes work: open to everyone, so they say nothing else.

import { hasCode } from '../../errors.js'
import type { Health } from '../../health.js'
import { answerJson } from '../reply.js'
import type { Route } from '../routes.js'

interface HealthRoutesOptions {
  readonly health?: (() => Promise<Health>) | undefined
}

export function healthRoutes({ health }: HealthRoutesOptions): readonly Route[] {
  const healthz: Route = {
    access: 'open',
    method: 'GET',
    path: '/healthz',
    operation: 'health',
    media: [],
    run: (call) => answerJson(call, 200, { status: 'ok' }),
  }
  if (health === undefined) return [healthz]
  const readyz: Route = {
    access: 'open',
    method: 'GET',
    path: '/readyz',
    operation: 'readiness',
    media: [],
    run: async (call) => {
      const { ready, problems } = await health().catch(unreadyOnceClosed)
      if (ready) return answerJson(call, 200, { status: 'ready' })
      const where = problems.map(({ where }) => where).sort()
      await answerJson(call, 503, { status: 'unready', where }, { 'Retry-After': '1' })
    },
  }
  return [healthz, readyz]
}

/** A store that was closed is no failure to be told of at every probe: the process is on its way out. */
function unreadyOnceClosed(error: unknown): Pick<Health, 'ready' | 'problems'> {
  if (!hasCode(error, 'LK_CLOSED')) throw error
  return { ready: false, problems: [] }
}
