// SPARQL over cores, as the SPARQL 1.1 Protocol has queries travel. Updates are none of ours.

import { isUtf8 } from 'node:buffer'
import { LorekeepError } from '../../errors.js'
import type { KnowledgeStore } from '../../knowledge/types.js'
import type { SparqlEngine } from '../../sparql/types.js'
import { askedCollection } from '../access.js'
import { actingUser } from '../auth.js'
import { maxCores } from '../graph-question.js'
import { collect, mostOf } from '../json.js'
import { aText, collection, user } from '../parameters.js'
import type { Parameters } from '../parameters.js'
import { answer } from '../reply.js'
import type { Exchange, Route } from '../routes.js'
import type { Places } from '../places.js'
import { answerStream, whileConnected } from '../stream.js'
import { parsePairs, queryOf, requestError, type Pair } from '../target.js'

interface SparqlRoutesOptions {
  readonly prefix: string
  readonly knowledge: KnowledgeStore
  readonly sparql: SparqlEngine | undefined
  readonly idleTimeoutMs: number
  readonly exportIdleTimeoutMs: number
  readonly maxQueryMs: number
  readonly questions: Places
}

/** A query is text that somebody wrote; parsing holds everyone else up. */
const maxQueryBytes = 256 * 1024

const maxGraphs = 1000

/** Clients send format, output and results beside an Accept, which decides. */
const query = {
  query: aText('The query; of a POST it may be in the body.'),
  update: aText('Refused: cores are changed by imports.'),
  user,
  collection,
  format: aText('Chooses nothing: Accept does.'),
  output: aText('Chooses nothing: Accept does.'),
  results: aText('Chooses nothing: Accept does.'),
  core: { ...aText('Asks this core alone, or these.'), repeatable: true },
  'default-graph-uri': {
    ...aText('A graph that the query is about, in place of its FROM.'),
    repeatable: true,
  },
  'named-graph-uri': {
    ...aText('A graph that the query is about, in place of its FROM NAMED.'),
    repeatable: true,
  },
} as const satisfies Parameters

export function sparqlRoutes(options: SparqlRoutesOptions): readonly Route[] {
  const { prefix, knowledge, sparql, idleTimeoutMs, exportIdleTimeoutMs } = options
  const path = `${prefix}/sparql`

  return [
    {
      access: 'read',
      method: 'GET',
      path,
      operation: 'sparqlByGet',
      media: [],
      query,
      run: askByGet,
    },
    {
      access: 'read',
      method: 'POST',
      path,
      operation: 'sparqlByPost',
      media: [],
      query,
      run: askByPost,
    },
  ]

  async function askByGet(exchange: Exchange): Promise<void> {
    // An unread body would keep the socket from telling that the client has gone.
    if (exchange.call.isBodyPending) {
      throw new LorekeepError('LK_HTTP_REQUEST', 'a GET has its query in the URL, and no body')
    }
    await ask(exchange, parsePairs(exchange.call.queryText))
  }

  async function askByPost(exchange: Exchange): Promise<void> {
    const { call } = exchange
    const type = (call.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase()
    const inUrl = parsePairs(call.queryText)
    if (type === 'application/x-www-form-urlencoded') {
      await ask(exchange, [...inUrl, ...parsePairs(await readText(exchange))])
    } else if (type === 'application/sparql-query') {
      await ask(exchange, [...inUrl, ['query', await readText(exchange)]])
    } else if (type === 'application/sparql-update') {
      throw noUpdate()
    } else {
      throw new LorekeepError(
        'LK_HTTP_REQUEST',
        `Content-Type is application/sparql-query or application/x-www-form-urlencoded, not '${type}'`,
      )
    }
  }

  async function ask(exchange: Exchange, pairs: readonly Pair[]): Promise<void> {
    const { call, principal } = exchange
    const parameters = queryOf(pairs, query)
    if (sparql === undefined) {
      throw new LorekeepError(
        'LK_PEER_MISSING',
        'this server answers no SPARQL: install @comunica/query-sparql-rdfjs-lite beside it, and give createHandler the option sparql',
      )
    }
    const cores = repeated(pairs, 'core', maxCores)
    const defaultGraphs = repeated(pairs, 'default-graph-uri', maxGraphs)
    const namedGraphs = repeated(pairs, 'named-graph-uri', maxGraphs)
    if (parameters.has('update')) throw noUpdate()
    const text = parameters.get('query')
    if (text === undefined) throw requestError('query', 'is missing')
    const user = actingUser(principal, parameters.get('user'))
    const collection = askedCollection(principal, parameters.get('collection'))
    const graph = knowledge.graph({
      user,
      ...(cores.length > 0 && { cores }),
      ...(collection !== undefined && { collection }),
    })
    const answerIt = async (signal: AbortSignal) => {
      const { accept } = call.headers
      const found = await sparql.execute(graph, text, {
        accept,
        signal,
        maxMs: options.maxQueryMs,
        lane: principal.user,
        ...(defaultGraphs.length > 0 && { defaultGraphs }),
        ...(namedGraphs.length > 0 && { namedGraphs }),
      })
      if (found.type === 'not-acceptable') {
        const offered = found.offered.join(', ')
        throw new LorekeepError('LK_HTTP_NOT_ACCEPTABLE', `there is ${offered}`)
      }
      const headers = {
        'Content-Type': found.contentType,
        'Cache-Control': 'no-store',
        Vary: 'Accept',
      }
      if (call.method !== 'HEAD') {
        await answerStream(call, headers, found.body, exportIdleTimeoutMs)
        return
      }
      // What was never begun has nothing to end it: it is begun, and left.
      const chunks = found.body[Symbol.asyncIterator]()
      await chunks.next()
      await chunks.return?.()
      await answer(call, 200, headers)
    }
    await options.questions.hold(principal, () => whileConnected(call, answerIt))
  }

  async function readText({ call, memory }: Exchange): Promise<string> {
    const limits = { content: 'query', maxBytes: maxQueryBytes, idleTimeoutMs } as const
    const bytes = await collect(call.openBody(limits), mostOf(call, maxQueryBytes), memory)
    if (isUtf8(bytes)) return bytes.toString()
    throw new LorekeepError('LK_HTTP_REQUEST', 'the body is not UTF-8')
  }
}

function repeated(pairs: readonly Pair[], asked: string, most: number): readonly string[] {
  const values = pairs.filter(([name]) => name === asked).map(([, value]) => value)
  if (values.length > most) {
    throw requestError(asked, `is there ${values.length} times; ${most} at most`)
  }
  if (asked !== 'core' && values.includes('')) throw requestError(asked, 'is empty')
  return values
}

function noUpdate(): LorekeepError {
  return new LorekeepError('LK_HTTP_REQUEST', 'SPARQL changes no cores here; import them')
}
