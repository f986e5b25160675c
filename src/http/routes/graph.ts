// Questions about the content of cores: about one, or about all of a user as one graph.

import type { Graph, RetrieveQuery, SearchQuery } from '../../graph/types.js'
import type { CoreRef, KnowledgeStore } from '../../knowledge/types.js'
import { actingUser } from '../auth.js'
import { askedGraph, GraphBody, maxDepth } from '../graph-question.js'
import { readJson } from '../json.js'
import type { JsonLimits } from '../json.js'
import { user } from '../parameters.js'
import { answerJson, answerJsonText } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import { answerStream, linesOf, linesType, wantsLines, whileAsked } from '../stream.js'
import type { Stopwatch } from '../stream.js'
import type { Places } from '../places.js'
import { listOf } from '../result-list.js'
import { change, duplicates } from './same-things.js'

interface GraphRoutesOptions extends JsonLimits {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  readonly maxGraphResults: number
  readonly maxQueryMs: number
  readonly questions: Places
  readonly exportIdleTimeoutMs: number
}

/** Reads its members of the body; the answer comes when all of the body is known to be right. */
type Question = (body: GraphBody, exchange: Exchange) => Answer

type Answer = (asked: Asked) => Promise<void>

interface Asked {
  readonly exchange: Exchange
  readonly graph: Graph
  readonly signal: AbortSignal
  readonly clock: Stopwatch
}

const defaultLimit = 1000
/** Some millions of solutions. */
const maxDistinctBytes = 64 * 1024 ** 2

/** Questions that have as many results as there are. */
const inLines: ReadonlySet<string> = new Set(['match', 'solve'])

export function graphRoutes(options: GraphRoutesOptions): readonly Route[] {
  const { prefix, knowledge, maxGraphResults, exportIdleTimeoutMs } = options
  const single = `${prefix}/cores/{id}`
  const query = { user }
  const questions = {
    match,
    count,
    solve,
    nearest,
    retrieve,
    search,
    duplicates: (body: GraphBody) => duplicates(body, maxGraphResults),
  }
  // What is one is so in all that a user has.
  const changes = (['merge', 'split'] as const).map((name): Route => {
    const run = (exchange: Exchange) => ask(exchange, (body) => change(body, name))
    const path = `${prefix}/graph/${name}`
    return {
      access: 'change',
      method: 'POST',
      path,
      operation: `${name}Things`,
      media: [],
      query,
      run,
    }
  })
  const names = Object.keys(questions) as (keyof typeof questions)[]
  const routes = names.flatMap((name): readonly Route[] => {
    const run = (exchange: Exchange) => ask(exchange, questions[name])
    const [ofOne, ofAll] = [`${single}/${name}`, `${prefix}/graph/${name}`]
    const media = ['application/json', ...(inLines.has(name) ? [linesType] : [])]
    const base = { access: 'read', method: 'POST', media, query, run } as const
    return [
      { ...base, path: ofOne, operation: `${name}InCore` },
      { ...base, path: ofAll, operation: `${name}InGraph` },
    ]
  })

  return [
    ...routes,
    ...changes,
    {
      access: 'change',
      method: 'POST',
      path: `${single}/index`,
      operation: 'indexCore',
      query,
      run: indexCore,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${single}/index`,
      operation: 'showIndex',
      query,
      run: showIndex,
    },
    {
      access: 'change',
      method: 'POST',
      path: `${prefix}/index`,
      operation: 'indexAll',
      query,
      run: indexAll,
    },
    {
      access: 'read',
      method: 'GET',
      path: `${prefix}/index`,
      operation: 'showIndexOfAll',
      query,
      run: showIndexOfAll,
    },
  ]

  async function ask(exchange: Exchange, question: Question): Promise<void> {
    const { call, principal } = exchange
    const body = new GraphBody(await readJson(exchange, options))
    const graphOf = askedGraph(exchange, body)
    const answer = question(body, exchange)
    body.end()
    const asked = graphOf()
    await options.questions.hold(principal, () =>
      whileAsked(call, options.maxQueryMs, (signal, clock) =>
        answer({ exchange, graph: knowledge.graph(asked), signal, clock }),
      ),
    )
  }

  function match(body: GraphBody, exchange: Exchange): Answer {
    const pattern = body.pattern()
    return results(body, exchange, 'triples', ({ graph, signal }, limit) =>
      graph.match(pattern, { limit, signal }),
    )
  }

  function solve(body: GraphBody, exchange: Exchange): Answer {
    const patterns = body.patterns()
    if (!body.has('patterns')) body.fail('patterns', 'is missing; it must be an array of patterns')
    const chosen = {
      select: body.selection(),
      distinct: body.boolean('distinct'),
      maxDistinctBytes,
    }
    return results(body, exchange, 'bindings', ({ graph, signal }, limit) =>
      graph.solve(patterns, { ...chosen, limit, signal }),
    )
  }

  function count(body: GraphBody): Answer {
    const pattern = body.pattern()
    return async ({ exchange, graph, signal }) => {
      const count = await graph.count(pattern, { signal })
      await answerJson(exchange.call, 200, { count })
    }
  }

  function nearest(body: GraphBody): Answer {
    const vector = body.vector()
    const k = body.count('k', maxGraphResults)
    const exact = body.boolean('exact')
    const where = body.where()
    return async ({ exchange, graph, signal }) => {
      const entities = await graph.nearest(vector, { k, exact, where, signal })
      await answerJson(exchange.call, 200, { entities })
    }
  }

  function retrieve(body: GraphBody): Answer {
    const query = {
      ...(body.has('vector') && { vector: body.vector() }),
      text: body.question(),
      use: body.legs(),
      entities: body.integer('entities', 1, maxGraphResults),
      triples: body.count('triples', maxGraphResults),
      depth: body.count('depth', maxDepth),
      maxTriples: body.count('maxTriples', maxGraphResults),
      languages: body.languages(),
    }
    return async ({ exchange, graph, signal }) => {
      const found = await graph.retrieve({ ...query, signal } as RetrieveQuery)
      await answerJson(exchange.call, 200, found)
    }
  }

  function search(body: GraphBody): Answer {
    const query = {
      text: body.question(),
      k: body.integer('k', 1, maxGraphResults),
      document: body.text('document'),
      languages: body.languages(),
      explain: body.boolean('explain'),
    }
    return async ({ exchange, graph, signal }) => {
      const passages = await graph.search({ ...query, signal } as SearchQuery)
      // Their texts may be long.
      const text = await listOf('passages', () => each(passages), passages.length)
      await answerJsonText(exchange.call, 200, text)
    }
  }

  /** In one JSON, or in lines, which have no limit. */
  function results(
    body: GraphBody,
    { call }: Exchange,
    name: string,
    find: (asked: Asked, limit: number | undefined) => AsyncIterable<unknown>,
  ): Answer {
    const areLines = wantsLines(call)
    const limit = body.count('limit', areLines ? Number.MAX_SAFE_INTEGER : maxGraphResults)
    return async (asked) => {
      const { exchange, clock } = asked
      if (areLines) {
        const headers = { 'Content-Type': linesType }
        const lines = linesOf(find(asked, limit))
        await answerStream(exchange.call, headers, lines, exportIdleTimeoutMs, clock)
        return
      }
      const most = limit ?? Math.min(defaultLimit, maxGraphResults)
      const text = await listOf(name, (limit) => find(asked, limit), most)
      await answerJsonText(exchange.call, 200, text)
    }
  }

  // Without a signal: what is built is there for the next question, also where a proxy between the
  // client and here is less patient than either.
  async function indexCore(exchange: Exchange): Promise<void> {
    const state = await knowledge.index(refFromPath(exchange))
    await answerJson(exchange.call, 200, state)
  }

  async function indexAll(exchange: Exchange): Promise<void> {
    const state = await knowledge.index(userOf(exchange))
    await answerJson(exchange.call, 200, state)
  }

  async function showIndexOfAll(exchange: Exchange): Promise<void> {
    const state = await knowledge.indexState(userOf(exchange))
    await answerJson(exchange.call, 200, state)
  }

  async function showIndex(exchange: Exchange): Promise<void> {
    const state = await knowledge.indexState(refFromPath(exchange))
    await answerJson(exchange.call, 200, state)
  }
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* values
}

function refFromPath(exchange: Exchange): CoreRef {
  return { ...userOf(exchange), id: exchange.parameters.get('id') ?? '' }
}

function userOf({ principal, query }: Exchange): { readonly user: string } {
  return { user: actingUser(principal, query.get('user')) }
}
