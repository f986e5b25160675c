import t from 'tap'
import { LorekeepError } from '../../../src/errors.js'
import type { GraphQuery } from '../../../src/graph/types.js'
import type { SparqlEngine, SparqlRequest } from '../../../src/sparql/types.js'
import { createSparql } from '../../../src/sparql/index.js'
import { changeGraphs, fillCores } from '../fixtures/graphs.js'
import { as, json, send, serve } from '../fixtures/serving.js'
import type { Reply, Serving } from '../fixtures/serving.js'

const query = 'SELECT * WHERE { ?s ?p "1 + 1 = ü" }'
const form = 'application/x-www-form-urlencoded'
const direct = 'application/sparql-query'

/** Says what it was asked; real ones are tested where they are. */
class Echo implements SparqlEngine {
  request: SparqlRequest = {}
  accept: string | undefined
  signal: AbortSignal | undefined

  isInstalled(): boolean {
    return true
  }

  query(): never {
    throw new Error('not asked here')
  }

  async execute(_: unknown, text: string, request?: SparqlRequest) {
    this.request = request ?? {}
    this.accept = request?.accept
    this.signal = request?.signal
    if (this.accept === 'image/png') {
      return { type: 'not-acceptable', offered: ['text/csv'] } as const
    }
    if (text === 'malformed') throw new LorekeepError('LK_GRAPH_QUERY', 'at 1:1')
    return { type: 'answer', contentType: 'text/csv; charset=utf-8', body: said(text) } as const
  }
}

/** Answers that were begun and not ended. */
let open = 0

async function* said(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  open++
  try {
    yield Buffer.from(text)
    if (text === 'breaks') throw new Error('broken')
  } finally {
    open--
  }
}

interface Asking extends Serving {
  readonly engine: Echo
  /** The graphs that were asked. */
  readonly graphs: GraphQuery[]
}

async function serveEcho(
  t: Parameters<typeof serve>[0],
  options: Parameters<typeof serve>[1] = {},
): Promise<Asking> {
  const engine = new Echo()
  const serving = await serve(t, { sparql: engine, ...options })
  const graphs: GraphQuery[] = []
  changeGraphs(serving.knowledge, (_, query) => {
    graphs.push(query)
    return {}
  })
  return { ...serving, engine, graphs }
}

async function get({ url }: Serving, pairs: [string, string][], method = 'GET'): Promise<Reply> {
  return send(`${url}/api/v1/sparql?${new URLSearchParams(pairs)}`, {
    method,
    headers: as('alice'),
  })
}

async function post({ url }: Serving, type: string, body: string | Uint8Array, search = '') {
  const headers = { ...as('alice'), 'Content-Type': type }
  return send(`${url}/api/v1/sparql${search}`, { method: 'POST', headers, body: Buffer.from(body) })
}

t.test('a query comes in the URL, in a form, or as the body', async (t) => {
  const serving = await serveEcho(t)
  const parameters = new URLSearchParams({ query }).toString()
  for (const reply of [
    await get(serving, [['query', query]]),
    await post(serving, form, parameters),
    await post(serving, `${form}; charset=UTF-8`, parameters),
    await post(serving, direct, query),
  ]) {
    t.equal(reply.status, 200)
    t.equal(reply.body.toString(), query)
    t.equal(reply.headers['content-type'], 'text/csv; charset=utf-8')
    t.equal(reply.headers['vary'], 'Accept-Encoding, Accept')
  }
  const head = await get(serving, [['query', query]], 'HEAD')
  t.equal(head.status, 200)
  t.equal(head.headers['content-type'], 'text/csv; charset=utf-8')
  t.equal(open, 0)
})

t.test('core, which may be repeated, and collection choose the graph', async (t) => {
  const serving = await serveEcho(t)
  await get(serving, [['query', query]])
  const chosen: [string, string][] = [
    ['core', 'urn:a+b'],
    ['core', 'c'],
    ['collection', 'home'],
  ]
  await get(serving, [['query', query], ...chosen])
  await post(serving, form, new URLSearchParams([['query', query], ...chosen]).toString())
  await post(serving, direct, query, `?${new URLSearchParams(chosen)}`)
  const graph = { user: 'alice', cores: ['urn:a+b', 'c'], collection: 'home' }
  t.strictSame(serving.graphs, [{ user: 'alice' }, graph, graph, graph])
})

t.test('default-graph-uri and named-graph-uri choose the graphs of the query', async (t) => {
  const serving = await serveEcho(t)
  await get(serving, [['query', query]])
  t.notOk('defaultGraphs' in serving.engine.request || 'namedGraphs' in serving.engine.request)
  const chosen: [string, string][] = [
    ['default-graph-uri', 'urn:a'],
    ['named-graph-uri', 'urn:b'],
    ['default-graph-uri', 'urn:c'],
  ]
  await post(serving, direct, query, `?${new URLSearchParams(chosen)}`)
  t.match(serving.engine.request, { defaultGraphs: ['urn:a', 'urn:c'], namedGraphs: ['urn:b'] })
})

t.test('the engine gets Accept, and a signal that tells of the client', async (t) => {
  const serving = await serveEcho(t)
  await get(serving, [['query', query]])
  t.equal(serving.engine.accept, undefined)
  t.equal(serving.engine.signal?.aborted, false)
  const headers = { ...as('alice'), Accept: 'image/png' }
  const reply = await send(`${serving.url}/api/v1/sparql?query=x`, { headers })
  t.match(json(reply), { status: 406, code: 'LK_HTTP_NOT_ACCEPTABLE' })
})

t.test('what is no query of ours is a 400', async (t) => {
  const serving = await serveEcho(t)
  const tooMany = Array<[string, string]>(1001).fill(['core', 'x'])
  const refusals: readonly (readonly [string, Reply, string?])[] = [
    ['no query', await get(serving, [])],
    [
      'two queries',
      await get(serving, [
        ['query', 'a'],
        ['query', 'b'],
      ]),
    ],
    ['a query in both', await post(serving, form, 'query=a', '?query=b')],
    ['an update', await post(serving, form, 'update=CLEAR%20ALL')],
    ['an update beside a query', await post(serving, form, 'query=x&update=y')],
    ['an update as the body', await post(serving, 'application/sparql-update', 'CLEAR ALL')],
    ['JSON', await post(serving, 'application/json', '{"query":"x"}')],
    [
      'a graph without a name',
      await get(serving, [
        ['query', 'a'],
        ['default-graph-uri', ''],
      ]),
    ],
    ['too many graphs', await post(serving, form, `query=a${'&named-graph-uri=a'.repeat(1001)}`)],
    ['no UTF-8', await post(serving, direct, Buffer.of(0xff))],
    ['no UTF-8 in a form', await post(serving, form, 'query=%ff')],
    ['a malformed query', await get(serving, [['query', 'malformed']]), 'LK_GRAPH_QUERY'],
    [
      'too many cores',
      await post(serving, form, new URLSearchParams([['query', 'a'], ...tooMany]).toString()),
    ],
  ]
  for (const [name, reply, code = 'LK_HTTP_REQUEST'] of refusals) {
    t.match(json(reply), { status: 400, code }, name)
  }
  t.equal((await post(serving, direct, 'x'.repeat(256 * 1024))).status, 200)
  t.match(json(await post(serving, direct, 'x'.repeat(256 * 1024 + 1))), { status: 413 })
  t.strictSame(serving.errors, [])
})

t.test('names that are unknown or there twice, in URL and form, are told at once', async (t) => {
  const serving = await serveEcho(t)
  const wrong = 'query=a&quarry=c&core=x&named-graph-uri='
  const reply = await post(serving, form, wrong, '?query=b&core=y')
  const { errors } = json(reply) as { errors: readonly { path: string }[] }
  t.same(errors.map(({ path }) => path).sort(), ['quarry', 'query'])
})

t.test('an answer that breaks off is cut', async (t) => {
  const serving = await serveEcho(t)
  await t.rejects(get(serving, [['query', 'breaks']]), { code: 'ECONNRESET' })
  t.match(serving.errors, [{ message: 'broken' }])
})

t.test('users and collections are those of other questions', async (t) => {
  const serving = await serveEcho(t, {
    authenticate: () => ({ user: 'alice', collections: ['home', 'work'] }),
  })
  const status = async (pairs: [string, string][]) =>
    (await get(serving, [['query', query], ...pairs])).status
  t.equal(await status([['user', 'bob']]), 403)
  t.equal(await status([]), 400)
  t.equal(await status([['collection', 'other']]), 403)
  t.equal(await status([['collection', 'work']]), 200)
})

t.test('the engine there is answers over the cores that are asked', async (t) => {
  const serving = await serve(t, { sparql: createSparql() })
  await fillCores(serving.knowledge)
  const names = 'SELECT ?name WHERE { ?who <urn:label> ?name } ORDER BY ?name'
  const asked = async (text: string, accept: string, ...more: [string, string][]) => {
    const search = new URLSearchParams([['query', text], ...more])
    const headers = { ...as('alice'), Accept: accept }
    return send(`${serving.url}/api/v1/sparql?${search}`, { headers })
  }
  const csv = await asked(names, 'text/csv')
  t.match(csv, { status: 200, headers: { 'content-type': /^text\/csv/ } })
  t.equal(csv.body.toString(), 'name\r\nAnn\r\nDan\r\n')
  const json = 'application/sparql-results+json'
  const one = await asked(names, json, ['core', 'family'])
  t.strictSame(JSON.parse(one.body.toString()), {
    head: { vars: ['name'] },
    results: { bindings: [{ name: { type: 'literal', value: 'Ann' } }] },
  })
  const texts = await asked('SELECT ?o { ?s ?p ?o FILTER regex(?o, "^an", "i") }', 'text/csv')
  t.equal(texts.body.toString(), 'o\r\nAnn\r\n')
  const ntriples = await asked('DESCRIBE <urn:ben>', 'application/n-triples')
  t.equal(ntriples.body.toString(), '<urn:ben> <urn:knows> <urn:cas> .\n')
  for (const [text, code] of [
    ['SELECT', 'LK_GRAPH_QUERY'],
    ['CLEAR ALL', 'LK_GRAPH_QUERY'],
    ['ASK { ?s ?p ?o FILTER regex(?o, "(a)\\\\1") }', 'LK_GRAPH_QUERY'],
    ['ASK { FILTER <http://www.w3.org/2001/XMLSchema#integer>(1, 2) }', 'LK_GRAPH_QUERY'],
    ['ASK { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }', 'LK_GRAPH_QUERY'],
  ] as const) {
    const reply = await asked(text, json)
    t.match(JSON.parse(reply.body.toString()), { status: 400, code }, text)
  }
  const missing = await asked(names, json, ['core', 'none'])
  t.match(JSON.parse(missing.body.toString()), { status: 404, code: 'LK_CORE_NOT_FOUND' })
})

t.test('without an engine there is a 501 that says what to do', async (t) => {
  const serving = await serve(t)
  const reply = await get(serving, [['query', query]])
  t.match(json(reply), { status: 501, code: 'LK_PEER_MISSING', detail: /comunica/ })
})
