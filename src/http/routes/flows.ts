// Flows. Everyone reads them; they work for all users, so only who acts for all changes them.

import { LorekeepError } from '../../errors.js'
import type { Flow, FlowDefinition, FlowQueue } from '../../flow/types.js'
import type { JsonObject } from '../../types.js'
import { checkUnlimited, forbidden } from '../access.js'
import { versionOf, type ChangeConditions } from '../../conditions.js'
import { answerVersioned, changeConditions, entityTag } from '../conditions.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import type { Call } from '../call.js'
import { after, filtersIn, limit, pageIn, prefix } from '../parameters.js'
import { answer, answerJson } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { isRecord, quoted } from '../../door/wording.js'
import { requestError } from '../target.js'

interface FlowRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly flows: FlowQueue
  readonly requireConditions: boolean
}

export function flowRoutes(options: FlowRoutesOptions): readonly Route[] {
  const { prefix: base, flows, requireConditions } = options
  const versions = true
  const single = `${base}/flows/{flow}`

  return [
    {
      access: 'read',
      method: 'GET',
      path: `${base}/flows`,
      operation: 'listFlows',
      query: { prefix, limit, after },
      run: listFlows,
    },
    { access: 'read', method: 'GET', path: single, operation: 'showFlow', versions, run: showFlow },
    {
      access: 'change',
      method: 'PUT',
      path: single,
      operation: 'defineFlow',
      versions,
      run: defineFlow,
    },
    {
      access: 'change',
      method: 'DELETE',
      path: single,
      operation: 'removeFlow',
      media: [],
      versions,
      run: removeFlow,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${single}/start`,
      operation: 'startFlow',
      versions,
      run: (exchange) => change(exchange, (id, conditions) => flows.start(id, conditions)),
    },
    {
      access: 'change',
      method: 'POST',
      path: `${single}/stop`,
      operation: 'stopFlow',
      versions,
      run: (exchange) => change(exchange, (id, conditions) => flows.stop(id, conditions)),
    },
    {
      access: 'read',
      method: 'GET',
      path: `${base}/flow/{flow}/stats`,
      operation: 'showFlowStats',
      run: showStats,
    },
  ]

  async function listFlows({ call, query }: Exchange): Promise<void> {
    const asked = { ...filtersIn(query, { prefix }), ...pageIn(query) }
    await answerJson(call, 200, await flows.flowPage(asked))
  }

  async function showFlow(exchange: Exchange): Promise<void> {
    const id = idOf(exchange)
    const flow = (await flows.get(id)) ?? noFlow(id)
    await answerVersioned(exchange.call, flow, { version: versionOf(flow) })
  }

  async function defineFlow(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    checkUnlimited(principal)
    const id = idOf(exchange)
    const conditions = changeConditions(call, requireConditions)
    const body = await readJson(exchange, options)
    if (body['id'] !== undefined && body['id'] !== id) {
      throw requestError('id', `must be ${quoted(id)}, as the path says, or be left out`)
    }
    checkOptions(body)
    const isNew = (await flows.get(id)) === undefined
    const flow = await flows.define({ ...body, id } as unknown as FlowDefinition, conditions)
    await answerFlow(call, isNew ? 201 : 200, flow)
  }

  async function removeFlow(exchange: Exchange): Promise<void> {
    const { call, principal } = exchange
    checkUnlimited(principal)
    const id = idOf(exchange)
    const conditions = changeConditions(call, requireConditions)
    if (!(await flows.remove(id, conditions))) noFlow(id)
    await answer(call, 204)
  }

  async function change(
    exchange: Exchange,
    make: (id: string, conditions: ChangeConditions | undefined) => Promise<Flow>,
  ): Promise<void> {
    const { call, principal } = exchange
    checkUnlimited(principal)
    await answerFlow(call, 200, await make(idOf(exchange), changeConditions(call, false)))
  }

  async function showStats(exchange: Exchange): Promise<void> {
    // They count everybody's jobs.
    checkUnlimited(exchange.principal)
    const stats = await flows.stats(idOf(exchange))
    await answerJson(exchange.call, 200, stats)
  }
}

async function answerFlow(call: Call, status: number, flow: Flow): Promise<void> {
  await answerJson(call, status, flow, { ETag: entityTag({ version: versionOf(flow) }) })
}

const hostsAlone = ['url', 'keyVariable']

/**
 * The process would send its key, and the texts of all users, to wherever a token holder says. What
 * else is wrong with steps is left to the store.
 */
function checkOptions({ steps }: JsonObject): void {
  if (!Array.isArray(steps)) return
  for (const [place, step] of steps.entries()) {
    const options: unknown = isRecord(step) ? step['options'] : undefined
    const name = isRecord(options) && hostsAlone.find((name) => Object.hasOwn(options, name))
    if (typeof name !== 'string') continue
    throw forbidden(
      `steps[${place}].options.${name} says where texts or keys go, which only the host of this server may: define the flow in its configuration or program`,
    )
  }
}

function idOf({ parameters }: Exchange): string {
  return parameters.get('flow') ?? ''
}

function noFlow(id: string): never {
  throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${id}'`, { details: { flow: id } })
}
