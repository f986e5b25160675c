// Whether the process answers, and whether it takes work: open to everyone, so they say nothing else.

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
      const { ready, problems } = await health()
      if (ready) return answerJson(call, 200, { status: 'ready' })
      const where = problems.map(({ where }) => where).sort()
      await answerJson(call, 503, { status: 'unready', where }, { 'Retry-After': '1' })
    },
  }
  return [healthz, readyz]
}
