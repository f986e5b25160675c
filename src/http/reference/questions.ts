// What clients of the reference system ask a flow: triples by pattern, entities by vectors. Members
// that are not known here are left alone, as they are there.

import { shown } from '../../door/wording.js'
import type { Graph, NearEntity, TriplePattern } from '../../graph/types.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import { keyOf } from '../../terms.js'
import type { JsonObject, Triple } from '../../types.js'
import { checkCollection } from '../access.js'
import type { Principal } from '../auth.js'
import { GraphBody } from '../graph-question.js'
import type { Places } from '../places.js'
import { listOf } from '../result-list.js'
import { namedUser, withoutNulls } from './caller.js'
import { checkFlow } from './flows.js'
import type { HasFlow } from './flows.js'
import { eraOf, plainTerm, termOf, tripleOf } from './terms.js'
import type { Era } from './terms.js'

export interface QuestionParts {
  readonly knowledge: KnowledgeStore
  readonly hasFlow: HasFlow
  readonly defaultUser: string
  readonly maxGraphResults: number
  readonly questions: Places
}

export interface Asking {
  readonly principal: Principal
  readonly flow: string
  readonly body: JsonObject
  /** The client has shown by something else that it is of 2.0 or later. */
  readonly isNewer?: boolean
  /** Runs it with the signal that ends it. */
  readonly run: (work: (signal: AbortSignal) => Promise<string>) => Promise<string>
}

/** Answers with a JSON. @throws LorekeepError */
export type QuestionService = (asking: Asking) => Promise<string>

// Those of the reference system.
const defaultTriples = 10_000
const defaultEntities = 10

const maxVectors = 64

type Answer = (graph: Graph, signal: AbortSignal) => Promise<string>

export function createQuestionServices(
  parts: QuestionParts,
): Readonly<Record<'triples' | 'graph-embeddings', QuestionService>> {
  const { knowledge, hasFlow, defaultUser, maxGraphResults, questions } = parts
  return {
    triples: (asking) => ask(asking, findTriples),
    'graph-embeddings': (asking) => ask(asking, findEntities),
  }

  async function ask(
    { principal, flow, body: sent, isNewer, run }: Asking,
    question: (body: GraphBody, era: Era) => Answer,
  ): Promise<string> {
    await checkFlow(hasFlow, flow)
    const given = withoutNulls(sent)
    const user = namedUser(principal, given, defaultUser)
    const body = new GraphBody(withPlainTerms(given))
    const collection = body.text('collection') ?? 'default'
    const answer = question(body, eraOf(given, isNewer))
    body.endLeniently()
    checkCollection(principal, collection)
    const graph = knowledge.graph({ user, collection })
    return questions.hold(principal, () => run((signal) => answer(graph, signal)))
  }

  function findTriples(body: GraphBody, era: Era): Answer {
    // As the reference system has it: `*` is any graph, and the empty name the default one.
    const g = body.get('g') ?? '*'
    if (typeof g !== 'string') body.fail('g', `must be a string, not ${shown(g)}`)
    const limit = body.count('limit', maxGraphResults)
    const pattern = { ...body.plainPattern(), g: graphOf(String(g)) }
    return async (graph, signal) =>
      listOf(
        'response',
        (limit) => mapped(graph.match(pattern, { limit, signal, byText: true }), era),
        limit ?? Math.min(defaultTriples, maxGraphResults),
      )
  }

  /** One flat `vector` is asked by newer clients, which want to have scores, too. */
  function findEntities(body: GraphBody, era: Era): Answer {
    const k = body.count('limit', maxGraphResults) ?? defaultEntities
    const isFlat = body.has('vector')
    const vectors = isFlat ? [body.vector()] : body.vectors(maxVectors)
    return async (graph, signal) => {
      const found: NearEntity[] = []
      for (const vector of vectors) {
        found.push(...(await graph.nearest(vector, { k, signal })))
      }
      const entities = bestOf(found)
        .slice(0, k)
        .map(({ entity, score }) => {
          const term = termOf(entity, era)
          return isFlat ? { entity: term, score } : term
        })
      return JSON.stringify({ entities })
    }
  }
}

/** In a list it is the name of a graph, also where it looks like a variable. */
function graphOf(g: string): TriplePattern['g'] {
  if (g === '*') return undefined
  return g.startsWith('?') ? [g] : g || null
}

function withPlainTerms(body: JsonObject): JsonObject {
  const names = ['s', 'p', 'o'].filter((name) => body[name] !== undefined)
  const terms = names.map((name) => [name, plainTerm(body[name])] as const)
  return { ...body, ...(Object.fromEntries(terms) as JsonObject) }
}

async function* mapped(
  triples: AsyncIterable<Triple>,
  era: Era,
): AsyncGenerator<object, void, undefined> {
  for await (const triple of triples) yield era === 'plain' ? triple : tripleOf(triple, era)
}

/** Each entity once, in the order of its best score. */
function bestOf(found: readonly NearEntity[]): NearEntity[] {
  const best = new Map<string, NearEntity>()
  for (const near of found.toSorted((a, b) => b.score - a.score)) {
    const key = keyOf(near.entity)
    if (!best.has(key)) best.set(key, near)
  }
  return [...best.values()]
}
