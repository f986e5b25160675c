// What clients of the reference system ask about cores as wholes.

import { createKnowledgeService } from '../reference/knowledge.js'
import type { KnowledgeServiceParts } from '../reference/knowledge.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answerJson } from '../reply.js'
import type { Route } from '../routes.js'

interface KnowledgeServiceRoutesOptions extends JsonLimits, KnowledgeServiceParts {
  readonly prefix: string
}

export function knowledgeServiceRoutes(options: KnowledgeServiceRoutesOptions): readonly Route[] {
  const elsewhere = 'cores come in by import-core and go out by export-core, or both by the socket'
  const operate = createKnowledgeService(options, elsewhere)

  return [
    {
      access: 'read',
      method: 'POST',
      path: `${options.prefix}/knowledge`,
      operation: 'knowledge-service',
      run: async (exchange) => {
        const { call, principal } = exchange
        const answer = await operate(principal, await readJson(exchange, options))
        await answerJson(call, 200, answer)
      },
    },
  ]
}
