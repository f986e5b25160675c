// What may be one thing, what is, and what is not: over all cores of a user.

import type { DuplicatesOptions, Graph } from '../../graph/types.js'
import type { Term } from '../../types.js'
import type { GraphBody } from '../graph-question.js'
import { answer, answerJsonText } from '../reply.js'
import { listOf } from '../result-list.js'
import type { Exchange } from '../routes.js'

interface Asked {
  readonly exchange: Exchange
  readonly graph: Graph
  readonly signal: AbortSignal
}

type Answer = (asked: Asked) => Promise<void>

/** More pairs nobody looks through at once. */
const mostPairs = 10_000

export function duplicates(body: GraphBody, maxResults: number): Answer {
  const asked = {
    limit: body.count('limit', Math.min(mostPairs, maxResults)),
    least: body.share('least'),
    after: body.get('after') as DuplicatesOptions['after'],
  }
  return async ({ exchange, graph, signal }) => {
    const found = await graph.duplicates({ ...asked, signal })
    const text = await listOf('duplicates', () => each(found), found.length)
    await answerJsonText(exchange.call, 200, text)
  }
}

export function change(body: GraphBody, how: 'merge' | 'split'): Answer {
  // What they have to be is for the graph to say.
  const [a, b] = [body.get('a') as Term, body.get('b') as Term]
  return async ({ exchange, graph, signal }) => {
    await graph[how](a, b, { signal })
    await answer(exchange.call, 204)
  }
}

async function* each<T>(values: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* values
}
