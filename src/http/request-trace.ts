// What is told of requests on node:diagnostics_channel (docs/operations.md).

import { Trace, type Operation } from '../tracing.js'
import type { Call } from './call.js'

interface Told {
  readonly [field: string]: string | undefined
  readonly method: string
  /** As the table of endpoints has it; none where there is no such path. */
  readonly route: string | undefined
  readonly requestId: string
}

const requests = new Trace('http.request')

/** Somebody listens. */
export function isHeard(): boolean {
  return requests.isHeard
}

/** `work` puts the status of its answer into the operation. */
export function traceRequest<Result>(
  told: Told,
  headers: Call['headers'],
  work: (operation: Operation) => Result,
): Result {
  const operation = requests.operation(told, carrierIn(headers))
  return requests.run(operation, () => work(operation))
}

/** Of one that is answered elsewhere: gives what tells of its answer, by its status. What is told later counts nothing. */
export function beginRequest(told: Told, headers: Call['headers']): (status: number) => void {
  if (!requests.isHeard) return () => {}
  let end: (status: number) => void = () => {}
  const answered = new Promise<number>((resolve) => (end = resolve))
  void traceRequest(told, headers, async (operation) => {
    operation['status'] = await answered
  })
  return end
}

/** What https://www.w3.org/TR/trace-context/ has. */
function carrierIn({ traceparent, tracestate }: Call['headers']): Record<string, string> {
  const carrier: Record<string, string> = {}
  if (typeof traceparent === 'string') carrier['traceparent'] = traceparent
  if (typeof tracestate === 'string') carrier['tracestate'] = tracestate
  return carrier
}
