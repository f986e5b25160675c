// What clients of the reference system ask a flow.

import { createQuestionServices } from '../reference/questions.js'
import type { QuestionParts } from '../reference/questions.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answerJsonText } from '../reply.js'
import type { Route } from '../routes.js'
import { whileAsked } from '../stream.js'

interface FlowServiceRoutesOptions extends JsonLimits, QuestionParts {
  readonly prefix: string
  readonly maxQueryMs: number
}

export function flowServiceRoutes(options: FlowServiceRoutesOptions): readonly Route[] {
  const { prefix, maxQueryMs } = options
  const services = createQuestionServices(options)
  const names = Object.keys(services) as (keyof typeof services)[]

  return names.map((name): Route => {
    return {
      access: 'read',
      method: 'POST',
      path: `${prefix}/flow/{flow}/service/${name}`,
      operation: `${name}-service`,
      run: async (exchange) => {
        const { call, principal, parameters } = exchange
        const text = await services[name]({
          principal,
          flow: parameters.get('flow') ?? '',
          body: await readJson(exchange, options),
          run: (work) => whileAsked(call, maxQueryMs, work),
        })
        await answerJsonText(call, 200, text)
      },
    }
  })
}
