// What clients of the reference system ask a flow: triples by pattern, entities by vectors. Fields
// that are not known here are left alone, as they are there.

import { LorekeepError } from '../../errors.js'
import type { Graph, NearEntity } from '../../graph/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import type { JsonObject } from '../../objects/types.js'
import { checkCollection } from '../access.js'
import { bounded, patternIn, refuse, textIn, vectorIn, wholeNumberIn } from '../graph-question.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answerJson, answerJsonText } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import type { Places } from '../places.js'
import { whileAsked } from '../stream.js'
import { listOf } from './graph.js'
import { namedUser } from './knowledge-service.js'

export interface FlowServiceRoutesOptions extends JsonLimits {
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

  async function ask(
    exchange: Exchange,
    find: (
      exchange: Exchange,
      body: JsonObject,
      graph: Graph,
      signal: AbortSignal,
    ) => Promise<void>,
  ): Promise<void> {
    const { response, principal, parameters } = exchange
    const flow = parameters.get('flow') ?? ''
    if (!(await hasFlow(flow))) {
      throw new LorekeepError('LK_FLOW_NOT_FOUND', `'${flow}'`, { details: { flow } })
    }
    // Clients leave a field out by sending null.
    const sent = Object.entries(await readJson(exchange, options))
    const body: JsonObject = Object.fromEntries(sent.filter(([, value]) => value !== null))
    const user = namedUser(principal, body, defaultUser)
    const collection = textIn(body, 'collection') ?? 'default'
    checkCollection(principal, collection)
    const graph = knowledge.graph({ user, collection })
    await questions.hold(principal, () =>
      whileAsked(response, maxQueryMs, (signal) => find(exchange, body, graph, signal)),
    )
  }

  async function findTriples(
    { request, response }: Exchange,
    body: JsonObject,
    graph: Graph,
    signal: AbortSignal,
  ): Promise<void> {
    const { g = '*' } = body
    if (g !== '*' && g !== '') refuse('g', 'cores have no named graphs; leave it out')
    const limit = wholeNumberIn(body, 'limit', maxGraphResults)
    const text = await listOf(
      'response',
      (limit) => graph.match(patternIn(body), { limit, signal }),
      limit ?? Math.min(defaultTriples, maxGraphResults),
    )
    await answerJsonText(request, response, 200, text)
  }

  async function findEntities(
    { request, response }: Exchange,
    body: JsonObject,
    graph: Graph,
    signal: AbortSignal,
  ): Promise<void> {
    const k = wholeNumberIn(body, 'limit', maxGraphResults) ?? defaultEntities
    const vectors = bounded(body['vectors'], 'vectors', maxVectors, 'vectors')
    if (!Array.isArray(vectors)) refuse('vectors', 'expected an array of vectors')
    const asked = vectors.map((vector, place) => vectorIn(vector, `vectors[${place}]`))
    const found: NearEntity[] = []
    for (const vector of asked) {
      found.push(...(await graph.nearest(vector, { k, signal })))
    }
    const entities = bestOf(found).slice(0, k)
    await answerJson(request, response, 200, { entities })
  }
}

/** Each entity once, in the order of its best score. */
function bestOf(found: readonly NearEntity[]): NearEntity['entity'][] {
  const best = new Map<string, NearEntity['entity']>()
  for (const { entity } of found.toSorted((a, b) => b.score - a.score)) {
    const key = `${entity.e} ${entity.v}`
    if (!best.has(key)) best.set(key, entity)
  }
  return [...best.values()]
}
