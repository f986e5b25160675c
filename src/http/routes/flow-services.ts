// What clients of the reference system ask a flow: triples by pattern, entities by vectors. Fields
// that are not known here are left alone, as they are there.

import { LorekeepError } from '../../errors.js'
import type { Graph, NearEntity } from '../../graph/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import { keyOf } from '../../terms.js'
import type { JsonObject } from '../../types.js'
import { checkCollection } from '../access.js'
import { GraphBody } from '../graph-question.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answerJson, answerJsonText } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import type { Places } from '../places.js'
import { whileAsked } from '../stream.js'
import { listOf } from './graph.js'
import { namedUser } from './knowledge-service.js'

interface FlowServiceRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  readonly hasFlow: (id: string) => Promise<boolean>
  readonly defaultUser: string
  readonly maxGraphResults: number
  readonly maxQueryMs: number
  readonly questions: Places
}

// Those of the reference system.
const defaultTriples = 10_000
const defaultEntities = 10

const maxVectors = 64

type Answer = (exchange: Exchange, graph: Graph, signal: AbortSignal) => Promise<void>

export function flowServiceRoutes(options: FlowServiceRoutesOptions): readonly Route[] {
  const { prefix, knowledge, hasFlow, defaultUser, maxGraphResults, maxQueryMs, questions } =
    options
  const service = `${prefix}/flow/{flow}/service`

  return [
    {
      access: 'read',
      method: 'POST',
      path: `${service}/triples`,
      run: (exchange) => ask(exchange, findTriples),
    },
    {
      access: 'read',
      method: 'POST',
      path: `${service}/graph-embeddings`,
      run: (exchange) => ask(exchange, findEntities),
    },
  ]

  async function ask(exchange: Exchange, question: (body: GraphBody) => Answer): Promise<void> {
    const { response, principal, parameters } = exchange
    const flow = parameters.get('flow') ?? ''
    if (!(await hasFlow(flow))) {
      throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${flow}'`, { details: { flow } })
    }
    // Clients leave a field out by sending null.
    const sent = Object.entries(await readJson(exchange, options))
    const given: JsonObject = Object.fromEntries(sent.filter(([, value]) => value !== null))
    const user = namedUser(principal, given, defaultUser)
    const body = new GraphBody(given)
    const collection = body.text('collection') ?? 'default'
    const answer = question(body)
    body.endLeniently()
    checkCollection(principal, collection)
    const graph = knowledge.graph({ user, collection })
    await questions.hold(principal, () =>
      whileAsked(response, maxQueryMs, (signal) => answer(exchange, graph, signal)),
    )
  }

  function findTriples(body: GraphBody): Answer {
    const g = body.get('g') ?? '*'
    if (g !== '*' && g !== '') body.fail('g', 'must be left out: cores have no named graphs')
    const limit = body.count('limit', maxGraphResults)
    const pattern = body.pattern()
    return async ({ request, response }, graph, signal) => {
      const text = await listOf(
        'response',
        (limit) => graph.match(pattern, { limit, signal, byText: true }),
        limit ?? Math.min(defaultTriples, maxGraphResults),
      )
      await answerJsonText(request, response, 200, text)
    }
  }

  function findEntities(body: GraphBody): Answer {
    const k = body.count('limit', maxGraphResults) ?? defaultEntities
    const vectors = body.vectors(maxVectors)
    return async ({ request, response }, graph, signal) => {
      const found: NearEntity[] = []
      for (const vector of vectors) {
        found.push(...(await graph.nearest(vector, { k, signal })))
      }
      const entities = bestOf(found).slice(0, k)
      await answerJson(request, response, 200, { entities })
    }
  }
}

/** Each entity once, in the order of its best score. */
function bestOf(found: readonly NearEntity[]): NearEntity['entity'][] {
  const best = new Map<string, NearEntity['entity']>()
  for (const { entity } of found.toSorted((a, b) => b.score - a.score)) {
    const key = keyOf(entity)
    if (!best.has(key)) best.set(key, entity)
  }
  return [...best.values()]
}
