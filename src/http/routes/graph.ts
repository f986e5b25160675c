// Questions about the content of cores: about one, or about all of a user as one graph.

import type {
  EntityPattern,
  Graph,
  GraphQuery,
  QueryPattern,
  RetrieveQuery,
  Variable,
} from '../../graph/types.js'
import type { CoreRef, KnowledgeStore } from '../../knowledge/types.js'
import type { JsonObject } from '../../objects/types.js'
import { askedCollection } from '../access.js'
import { actingUser } from '../auth.js'
import {
  checkFields,
  coresIn,
  depthIn,
  patternIn,
  patternsIn,
  questionIn,
  textIn,
  vectorIn,
  wholeNumberIn,
} from '../graph-question.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { answerJson, answerJsonText } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { answerStream, linesOf, linesType, wantsLines, whileAsked } from '../stream.js'
import type { Clock } from '../stream.js'
import type { Places } from '../places.js'

export interface GraphRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  readonly maxGraphResults: number
  readonly maxQueryMs: number
  readonly questions: Places
  readonly exportIdleTimeoutMs: number
}

interface Question {
  readonly fields: readonly string[]
  readonly answer: (asked: Asked) => Promise<void>
}

interface Asked {
  readonly exchange: Exchange
  readonly graph: Graph
  readonly body: JsonObject
  readonly signal: AbortSignal
  readonly clock: Clock
}

const defaultLimit = 1000
/** Some millions of solutions. */
const maxDistinctBytes = 64 * 1024 ** 2

export function graphRoutes(options: GraphRoutesOptions): readonly Route[] {
  const { prefix, knowledge, maxGraphResults, exportIdleTimeoutMs } = options
  const single = `${prefix}/cores/{id}`
  const query = ['user']
  const questions: Readonly<Record<string, Question>> = {
    match: { fields: ['s', 'p', 'o', 'limit'], answer: match },
    count: { fields: ['s', 'p', 'o'], answer: count },
    solve: { fields: ['patterns', 'select', 'distinct', 'limit'], answer: solve },
    nearest: { fields: ['vector', 'k', 'exact', 'where'], answer: nearest },
    retrieve: {
      fields: ['vector', 'text', 'entities', 'triples', 'depth', 'maxTriples'],
      answer: retrieve,
    },
  }
  const routes = Object.entries(questions).flatMap(([name, question]): readonly Route[] => {
    const run = (exchange: Exchange) => ask(exchange, question)
    return [
      { access: 'read', method: 'POST', path: `${single}/${name}`, query, run },
      { access: 'read', method: 'POST', path: `${prefix}/graph/${name}`, query, run },
    ]
  })

  return [
    ...routes,
    { access: 'change', method: 'POST', path: `${single}/index`, query, run: indexCore },
    { access: 'read', method: 'GET', path: `${single}/index`, query, run: showIndex },
  ]

  async function ask(exchange: Exchange, { fields, answer }: Question): Promise<void> {
    const { response, principal, parameters, query } = exchange
    const user = actingUser(principal, query.get('user'))
    const body = await readJson(exchange, options)
    const id = parameters.get('id')
    checkFields(body, [...fields, 'collection', ...(id === undefined ? ['cores'] : [])])
    const cores = id === undefined ? coresIn(body) : [id]
    const collection = askedCollection(principal, textIn(body, 'collection'))
    const asked: GraphQuery = {
      user,
      ...(cores !== undefined && { cores }),
      ...(collection !== undefined && { collection }),
    }
    await options.questions.hold(principal, () =>
      whileAsked(response, options.maxQueryMs, (signal, clock) =>
        answer({ exchange, graph: knowledge.graph(asked), body, signal, clock }),
      ),
    )
  }

  async function match(asked: Asked): Promise<void> {
    const { graph, body, signal } = asked
    await answerResults(asked, 'triples', (limit) =>
      graph.match(patternIn(body), { limit, signal }),
    )
  }

  async function solve(asked: Asked): Promise<void> {
    const { graph, body, signal } = asked
    const patterns = patternsIn(body, 'patterns') as readonly QueryPattern[]
    const select = body['select'] as readonly Variable[] | undefined
    const distinct = body['distinct'] as boolean | undefined
    await answerResults(asked, 'bindings', (limit) =>
      graph.solve(patterns, { select, distinct, limit, maxDistinctBytes, signal }),
    )
  }

  async function count({ exchange, graph, body, signal }: Asked): Promise<void> {
    const triples = await graph.count(patternIn(body), { signal })
    await answerJson(exchange.request, exchange.response, 200, { count: triples })
  }

  async function nearest({ exchange, graph, body, signal }: Asked): Promise<void> {
    const vector = vectorIn(body['vector'], 'vector')
    const entities = await graph.nearest(vector, {
      k: wholeNumberIn(body, 'k', maxGraphResults),
      exact: body['exact'] as boolean | undefined,
      where: patternsIn(body, 'where') as readonly EntityPattern[] | undefined,
      signal,
    })
    await answerJson(exchange.request, exchange.response, 200, { entities })
  }

  async function retrieve({ exchange, graph, body, signal }: Asked): Promise<void> {
    const query = {
      ...('vector' in body && { vector: vectorIn(body['vector'], 'vector') }),
      text: questionIn(body),
      entities: wholeNumberIn(body, 'entities', maxGraphResults),
      triples: wholeNumberIn(body, 'triples', maxGraphResults),
      depth: depthIn(body),
      maxTriples: wholeNumberIn(body, 'maxTriples', maxGraphResults),
      signal,
    } as RetrieveQuery
    await answerJson(exchange.request, exchange.response, 200, await graph.retrieve(query))
  }

  async function answerResults(
    { exchange: { request, response }, body, clock }: Asked,
    name: string,
    find: (limit: number | undefined) => AsyncIterable<unknown>,
  ): Promise<void> {
    if (wantsLines(request)) {
      const limit = wholeNumberIn(body, 'limit', Number.MAX_SAFE_INTEGER)
      const headers = { 'Content-Type': linesType }
      await answerStream(response, headers, linesOf(find(limit)), exportIdleTimeoutMs, clock)
      return
    }
    const limit = wholeNumberIn(body, 'limit', maxGraphResults)
    const text = await listOf(name, find, limit ?? Math.min(defaultLimit, maxGraphResults))
    await answerJsonText(request, response, 200, text)
  }

  // Without a signal: what is built is there for the next question, also where a proxy between the
  // client and here is less patient than either.
  async function indexCore(exchange: Exchange): Promise<void> {
    const state = await knowledge.index(refFromPath(exchange))
    await answerJson(exchange.request, exchange.response, 200, state)
  }

  async function showIndex(exchange: Exchange): Promise<void> {
    const state = await knowledge.indexState(refFromPath(exchange))
    await answerJson(exchange.request, exchange.response, 200, state)
  }
}

/** Terms can be long: a list of few of them that is longer than this ends early, and says so. */
const maxListLength = 8 * 1024 ** 2

/** `{ [name]: [...] }`, and whether there is more. */
export async function listOf(
  name: string,
  find: (limit: number) => AsyncIterable<unknown>,
  limit: number,
): Promise<string> {
  const texts: string[] = []
  let length = 0
  let truncated = false
  // One more than asked for tells whether there is more.
  for await (const value of find(limit + 1)) {
    truncated = texts.length === limit || length > maxListLength
    if (truncated) break
    const text = JSON.stringify(value)
    texts.push(text)
    length += text.length
  }
  return `{"${name}":[${texts.join()}]${truncated ? ',"truncated":true' : ''}}`
}

function refFromPath({ principal, query, parameters }: Exchange): CoreRef {
  return { user: actingUser(principal, query.get('user')), id: parameters.get('id') ?? '' }
}
