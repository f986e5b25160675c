import { answerJson } from '../reply.js'
import type { Route } from '../routes.js'

/** Says that the process answers; open to everyone, so it says nothing else. */
export function healthRoutes(): readonly Route[] {
  return [
    {
      access: 'open',
      method: 'GET',
      path: '/healthz',
      operation: 'health',
      run: (call) => answerJson(call, 200, { status: 'ok' }),
    },
  ]
}
