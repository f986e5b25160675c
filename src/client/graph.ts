// Questions about cores of a server.

import type {
  Answer,
  AnswerQuery,
  AnswerStream,
  AskOptions,
  Bindings,
  FoundPassage,
  Graph,
  GraphQuery,
  MatchOptions,
  PatternOptions,
  RetrieveQuery,
  SearchQuery,
  TriplePattern,
} from '../graph/types.js'
import type { Term, Triple } from '../types.js'
import { createAnswer } from './answer.js'
import { checkTexts, chunksOf, finite, json, linesOf, parsed } from './connection.js'
import type { Asking, Connection } from './connection.js'
import { eventsOf } from './events.js'

/** Those methods of a Graph that HTTP has. `answer` is made by the model of the server. */
export interface RemoteGraph extends Pick<
  Graph,
  'count' | 'solve' | 'nearest' | 'duplicates' | 'merge' | 'split' | 'describe' | 'neighbours'
> {
  match(pattern?: TriplePattern, options?: Omit<PatternOptions, 'byText'>): AsyncIterable<Triple>
  retrieve(query: Omit<RetrieveQuery, 'rerank'>): ReturnType<Graph['retrieve']>
  answer(query: Omit<AnswerQuery, 'generate' | 'rerank'>): AnswerStream
  /** `truncated` where the texts are too long for one answer: behind these passages there are more. */
  search(query: SearchQuery): Promise<FoundPassage[] & { readonly truncated?: boolean }>
  /** `accept` names the format of the answer, by default any that the server has for such a query. */
  sparql(query: string, options?: AskOptions & { readonly accept?: string }): Promise<SparqlAnswer>
}

export interface SparqlAnswer {
  readonly contentType: string
  readonly body: AsyncIterable<Uint8Array>
}

export function createGraph(
  connection: Connection,
  { user, cores, collection }: Omit<GraphQuery, 'reads'>,
): RemoteGraph {
  const query = { user }

  /** A question changes nothing, and so does a change that is said again. */
  const send = (name: string, { signal, ...question }: Question, accept = json) =>
    connection.ask('POST', `graph/${name}`, {
      query,
      accept,
      type: json,
      body: JSON.stringify({ cores, collection, ...question }, plain),
      isSafe: true,
      signal,
    })
  const ask = async <T>(name: string, question: Question): Promise<T> =>
    connection.read(await send(name, question))

  async function* stream<T>(name: string, { limit, ...question }: Question): AsyncGenerator<T> {
    const asked = limit === Infinity ? question : { limit, ...question }
    const response = await send(name, asked, 'application/x-ndjson')
    for await (const line of linesOf(response)) yield parsed(response, line) as T
  }

  const change =
    (how: 'merge' | 'split') =>
    async (a: Term, b: Term, { signal }: AskOptions = {}) => {
      await send(how, { a, b, signal })
    }
  const match = (pattern: TriplePattern = {}, { limit, signal }: MatchOptions = {}) =>
    stream<Triple>('match', { ...pattern, limit, signal })

  return {
    match,
    async count(pattern = {}, { signal } = {}) {
      return (await ask<{ count: number }>('count', { ...pattern, signal })).count
    },
    solve: (patterns, { limit, select, distinct, signal } = {}) =>
      stream<Bindings>('solve', { patterns, limit, select, distinct, signal }),
    async nearest(vector, { k, exact, where, signal } = {}) {
      return (await ask<{ entities: never[] }>('nearest', { vector, k, exact, where, signal }))
        .entities
    },
    retrieve: (question) => ask('retrieve', { ...question }),
    answer: (question) =>
      createAnswer<Answer>(async function* (left) {
        const signal = [left, question.signal ?? left]
        yield* eventsOf(await send('answer', { ...question, signal }, 'text/event-stream'))
      }),
    async search(question) {
      const { passages, truncated } = await ask<{ passages: FoundPassage[]; truncated?: boolean }>(
        'search',
        { ...question },
      )
      return truncated === true ? Object.assign(passages, { truncated }) : passages
    },
    async sparql(text, { accept, signal } = {}) {
      checkTexts([text, user, collection, ...(cores ?? [])])
      const form = new URLSearchParams({ query: text, user })
      for (const id of cores ?? []) form.append('core', id)
      if (collection !== undefined) form.set('collection', collection)
      const type = 'application/x-www-form-urlencoded'
      const asking = { accept, type, body: String(form), isSafe: true, signal }
      const response = await connection.ask('POST', 'sparql', asking)
      return {
        contentType: response.headers.get('Content-Type') ?? '',
        body: chunksOf(response),
      }
    },
    async duplicates(options = {}) {
      return (await ask<{ duplicates: never[] }>('duplicates', { ...options })).duplicates
    },
    merge: change('merge'),
    split: change('split'),
    describe: (term, options) => match({ s: term }, options),
    async *neighbours(term, { limit = Infinity, signal } = {}) {
      let left = limit
      for (const [near, far, direction] of ways) {
        if (left <= 0) return
        // Of each direction as many: those with the term on both sides come once.
        for await (const triple of match({ [near]: term }, { limit, signal })) {
          const other = triple[far]
          const isTold = far === 's' && term.e && other.v === term.v
          if (!isTold && left-- > 0) yield { term: other, triple, direction }
        }
      }
    },
  }
}

/** Of neighbours: where in a triple the term stands, and where they do. */
const ways = [
  ['s', 'o', 'out'],
  ['o', 's', 'in'],
] as const

interface Question {
  readonly signal?: Asking['signal']
  readonly [name: string]: unknown
}

const xsd = 'http://www.w3.org/2001/XMLSchema#'

/** What JSON has no way to say: dates and large numbers as literals, vectors as lists. */
function plain(this: unknown, name: string, value: unknown): unknown {
  // JSON.stringify makes a text of a date before it asks.
  const given = (this as Readonly<Record<string, unknown>>)[name]
  if (given instanceof Date) return { v: given.toISOString(), e: false, dt: `${xsd}dateTime` }
  if (typeof value === 'bigint') return { v: String(value), e: false, dt: `${xsd}integer` }
  if (ArrayBuffer.isView(value)) return [...(value as Float32Array)]
  return finite(name, value)
}
