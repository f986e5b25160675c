// The cores of a running server, asked there.

import type { ClientRequest, IncomingMessage } from 'node:http'
import { StringDecoder } from 'node:string_decoder'
import type {
  AskOptions,
  Duplicate,
  GraphQuery,
  IndexState,
  LibraryIndexState,
  NearEntity,
  Subgraph,
} from '../../graph/types.js'
import { parseJson } from '../../json-text.js'
import type { Triple } from '../../types.js'
import type { FoundPassages, GraphAccess } from './graph-access.js'
import { readJson, ServerClient } from './server-client.js'
import type { Loss } from './server-client.js'

const askingLoss = { sending: 'nothing was answered', sent: 'nothing was answered' }
const changingLoss = {
  sending: 'nothing was changed',
  sent: 'whether it was changed is not known; saying it again is safe',
}
const indexingLoss = {
  sending: 'nothing was indexed',
  sent: 'whether it was indexed is not known; indexing it again is safe',
}

interface GraphRequest {
  readonly path: string
  /** Of a form it is a part. */
  readonly user?: string
  readonly body: object
  readonly accept?: string
  readonly loss?: Loss
  readonly signal: AbortSignal | undefined
}

/** The request is the reader's to destroy. */
type Answer = readonly [ClientRequest, IncomingMessage]

export function openRemoteGraph(url: URL, token: string | undefined): GraphAccess {
  const server = new ServerClient(url, token)
  return {
    async *match(graph, pattern, options) {
      const question = about(graph, 'match', { ...pattern, ...options })
      const answer = await ask(server, { ...question, accept: 'application/x-ndjson' })
      yield* valuesOf(bytesOf(answer, server, options.signal)) as AsyncIterable<Triple>
    },

    async count(graph, pattern, options) {
      const answer = await askJson(server, about(graph, 'count', { ...pattern, ...options }))
      return (answer as { readonly count: number }).count
    },

    async nearest(graph, vector, options) {
      const question = { vector: Array.from(vector), ...options }
      const answer = await askJson(server, about(graph, 'nearest', question))
      return (answer as { readonly entities: NearEntity[] }).entities
    },

    async retrieve(graph, query) {
      return (await askJson(server, about(graph, 'retrieve', query))) as Subgraph
    },

    async search(graph, query) {
      const answer = await askJson(server, about(graph, 'search', query))
      return { truncated: false, ...(answer as Pick<FoundPassages, 'passages'>) }
    },

    async duplicates(graph, options) {
      const answer = await askJson(server, about(graph, 'duplicates', options))
      return (answer as { readonly duplicates: Duplicate[] }).duplicates
    },

    async change(how, graph, [a, b], options) {
      const question = about(graph, how, { a, b, ...options } as AskOptions)
      const [request, response] = await ask(server, { ...question, loss: changingLoss })
      response.resume()
      request.destroy()
    },

    async sparql({ user, cores = [], collection }, text, { accept, signal }) {
      const body = new URLSearchParams({ query: text, user })
      for (const id of cores) body.append('core', id)
      if (collection !== undefined) body.set('collection', collection)
      const answer = await ask(server, { path: 'sparql', body, accept, signal })
      const contentType = answer[1].headers['content-type'] ?? ''
      return { contentType, body: bytesOf(answer, server, signal) }
    },

    async index({ user, id }, { signal }) {
      const question = { path: indexPath(id), user, body: {}, loss: indexingLoss, signal }
      return (await askJson(server, question)) as IndexState
    },

    async indexAll(user, { signal }) {
      const question = { path: 'index', user, body: {}, loss: indexingLoss, signal }
      return (await askJson(server, question)) as LibraryIndexState
    },

    async indexState({ user, id }) {
      return (await server.askJson('GET', indexPath(id), { user })) as IndexState
    },

    async indexStateOfAll(user) {
      return (await server.askJson('GET', 'index', { user })) as LibraryIndexState
    },

    async hasCores(user) {
      const page = (await server.askJson('GET', 'cores', { user, limit: '1' })) as {
        readonly cores: readonly unknown[]
      }
      return page.cores.length > 0
    },

    async close() {},
  }
}

function about(
  { user, cores, collection }: GraphQuery,
  verb: string,
  { signal, ...question }: AskOptions,
): GraphRequest {
  return { path: `graph/${verb}`, user, body: { cores, collection, ...question }, signal }
}

function indexPath(id: string): string {
  return `cores/${encodeURIComponent(id)}/index`
}

async function ask(
  server: ServerClient,
  { path, user, body, accept, loss = askingLoss, signal }: GraphRequest,
): Promise<Answer> {
  const request = server.start('POST', path, { user }, signal)
  const isForm = body instanceof URLSearchParams
  const bytes = Buffer.from(isForm ? String(body) : JSON.stringify(body))
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  request.setHeader('Content-Type', type)
  request.setHeader('Content-Length', bytes.byteLength)
  if (accept !== undefined) request.setHeader('Accept', accept)
  try {
    return [request, await server.upload(request, onePiece(bytes), loss)]
  } catch (error) {
    request.destroy()
    signal?.throwIfAborted()
    throw error
  }
}

async function askJson(server: ServerClient, question: GraphRequest): Promise<unknown> {
  const [request, response] = await ask(server, question)
  try {
    return await readJson(response)
  } catch (error) {
    question.signal?.throwIfAborted()
    throw error
  } finally {
    request.destroy()
  }
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array, void, undefined> {
  yield bytes
}

/** Ends with an error where the answer was cut off. */
async function* bytesOf(
  [request, response]: Answer,
  { origin }: ServerClient,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) yield chunk
  } catch (cause) {
    signal?.throwIfAborted()
    throw new Error(`the connection to ${origin} broke before the end of the answer`, { cause })
  } finally {
    request.destroy()
  }
}

/** Of JSON with a value per line. */
async function* valuesOf(
  bytes: AsyncIterable<Uint8Array>,
): AsyncGenerator<unknown, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of bytes) {
    const lines = (rest + decoder.write(Buffer.from(chunk))).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield parseJson(line)
  }
}
