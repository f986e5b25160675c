// Texts into flows: endpoint 5 of the specification.

import type { FlowQueue } from '../../flow/types.js'
import { scopeOf } from '../access.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answer, answerJson } from '../reply.js'
import { documentOf } from '../reference/texts.js'
import type { Exchange, Route } from '../routes.js'

interface TextRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly flows: FlowQueue
  readonly emptyJson: boolean
}

export function textRoutes(options: TextRoutesOptions): readonly Route[] {
  const { prefix, flows, emptyJson } = options
  const path = `${prefix}/flow/{flow}/service/text-load`

  return [{ access: 'change', method: 'POST', path, run: loadText }]

  // Whether the flow takes documents is asked when this one is queued, and not before: in between
  // it may have been stopped.
  async function loadText(exchange: Exchange): Promise<void> {
    const { request, response, principal, parameters } = exchange
    const body = await readJson(exchange, options)
    const document = documentOf(principal, body)
    const scope = scopeOf(principal)
    const { job } = await flows.load(parameters.get('flow') ?? '', document, { scope })
    const headers = {
      'Lorekeep-Job': job,
      // Relative to this path, which a mount or a proxy may have shortened before it came here.
      Location: `../jobs/${encodeURIComponent(job)}`,
      'Cache-Control': 'no-store',
    }
    if (emptyJson) await answerJson(request, response, 200, {}, headers)
    else await answer(request, response, 200, { ...headers, 'Content-Length': 0 })
  }
}
