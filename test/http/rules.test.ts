// Rules of RFC 9110 by routes: each is asked of each example of the document, before the example itself is, whose
// answer shows that nothing was changed by them. Conditions and ranges of what has versions are in their own files.

import zlib from 'node:zlib'
import t from 'tap'
import { isPreferred } from '../../src/accept.js'
import type { RouteOperation } from '../../src/http/openapi/operations.js'
import { operations } from '../../src/http/openapi/operations.js'
import { routesOf } from '../../src/http/options.js'
import { createSparql } from '../../src/sparql/index.js'
import { json, openStore, send, serve } from './fixtures/serving.js'
import type { Reply } from './fixtures/serving.js'
import { tell } from './fixtures/story.js'
import type { Scene } from './fixtures/story.js'

interface Rule {
  readonly section: string
  readonly name: string
  /** What is seen of it; `undefined` where the rule is not about that example. */
  readonly ask: (scene: Scene) => Promise<string> | undefined
  readonly expected: string
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const openPaths =
  /^\/(?:healthz|readyz|metrics|api\/v1\/(?:openapi\.json|reference|inspector|inspector\/licenses\.txt))\?/

const isRead = ({ method }: Scene) => method === 'GET'
const hasBody = ({ told }: Scene) => told.requestBody !== undefined
/** Their answers have no body, say by their status what there is to say, or are as a page knows them. */
const answersAnyway: ReadonlySet<RouteOperation> = new Set([
  ...(['health', 'readiness', 'loadText', 'loadFile', 'inspector-file'] as const),
  ...(Object.keys(operations) as RouteOperation[]).filter((name) =>
    Object.entries<{ content?: object }>(operations[name].answers).every(
      ([status, { content }]) => Number(status) >= 300 || content === undefined,
    ),
  ),
])

async function refusal(asked: Promise<Reply>): Promise<string> {
  const reply = await asked
  const code = reply.body.length > 0 ? String(json(reply)['code']) : ''
  return `${reply.status} ${code}`.trim()
}

/** What two answers have to have in common. */
function told({ status, headers }: Reply): string {
  const names = ['content-type', 'vary', 'cache-control', 'etag', 'last-modified', 'accept-ranges']
  return JSON.stringify([status, names.map((name) => headers[name])])
}

/** Without what is another at every run, and what is told of the running server. */
function timeless(body: Buffer): string {
  return body.toString().replace(/"(?:milliseconds|next)":[^,}]*|\d{4}-\d\d-\d\dT[\d:.]+Z|\d/g, '')
}

const rules: readonly Rule[] = [
  {
    section: '9.3.7',
    name: 'OPTIONS tells what there is',
    ask: async ({ asked }) => {
      const { status, headers, body } = await asked({ method: 'OPTIONS', body: undefined })
      const allowed = String(headers.allow).split(', ')
      const others = methods.filter((method) => !allowed.includes(method))
      const found = [status, allowed.includes('OPTIONS'), body.length]
      for (const method of [...others, 'PROPFIND']) {
        const reply = await asked({ method, body: undefined })
        found.push(reply.status === 405 && reply.headers.allow === headers.allow)
      }
      return [...new Set(found)].join()
    },
    expected: '204,true,0',
  },
  {
    section: '9.3.2',
    name: 'HEAD is GET without a body',
    ask: (scene) =>
      isRead(scene) && scene.step !== 'backup'
        ? (async () => {
            const head = await scene.asked({ method: 'HEAD' })
            const get = await scene.asked()
            return `${head.body.length} ${told(head) === told(get) || `${told(head)} ${told(get)}`}`
          })()
        : undefined,
    expected: '0 true',
  },
  {
    section: '12.5.1',
    name: 'an Accept that cannot be met is a 406, before anything is done',
    ask: ({ asked, step }) =>
      answersAnyway.has(step) ? undefined : refusal(asked({ headers: { Accept: 'image/png' } })),
    expected: '406 LK_HTTP_NOT_ACCEPTABLE',
  },
  {
    section: '12.5.3',
    name: 'an Accept-Encoding that cannot be met is a 406, before anything is done',
    ask: ({ asked }) => refusal(asked({ headers: { 'Accept-Encoding': 'identity;q=0' } })),
    expected: '406 LK_HTTP_NOT_ACCEPTABLE',
  },
  {
    section: '12.5.3',
    name: 'what is encoded is the same',
    ask: (scene) =>
      isRead(scene) && !['metrics', 'backup', 'readiness'].includes(scene.step)
        ? (async () => {
            const headers = { 'Accept-Encoding': 'gzip, identity;q=0' }
            const [plain, coded] = [await scene.asked(), await scene.asked({ headers })]
            const isSame = timeless(zlib.gunzipSync(coded.body)) === timeless(plain.body)
            const { 'content-encoding': coding, vary } = coded.headers
            return `${coded.status} ${coding} ${/\bAccept-Encoding\b/.test(String(vary))} ${isSame}`
          })()
        : undefined,
    expected: '200 gzip true true',
  },
  {
    section: '8.4',
    name: 'a body in an unknown coding is a 415',
    ask: (scene) =>
      hasBody(scene)
        ? refusal(scene.asked({ headers: { 'Content-Encoding': 'rot13' } }))
        : undefined,
    expected: '415 LK_HTTP_ENCODING',
  },
  {
    section: '8.4',
    name: 'a body that is not in its coding is a 400',
    ask: (scene) =>
      hasBody(scene)
        ? refusal(scene.asked({ headers: { 'Content-Encoding': 'gzip' } }))
        : undefined,
    expected: '400 LK_HTTP_REQUEST',
  },
  {
    section: '14.2',
    name: 'a range of what has none is passed over',
    ask: (scene) =>
      isRead(scene) && !['exportCore', 'backup'].includes(scene.step)
        ? scene.asked({ headers: { Range: 'bytes=0-1' } }).then(({ status }) => String(status))
        : undefined,
    expected: '200',
  },
  {
    section: '13.1.1',
    name: 'If-Match of a version that there is not is a 412',
    ask: (scene) =>
      openPaths.test(scene.path)
        ? undefined
        : refusal(scene.asked({ headers: { 'If-Match': '"none"' } })),
    expected: '412 LK_PRECONDITION',
  },
  {
    section: '13.1.1',
    name: 'a condition that is none is a 400',
    ask: (scene) =>
      openPaths.test(scene.path)
        ? undefined
        : refusal(scene.asked({ headers: { 'If-Match': 'none at all' } })),
    expected: '400 LK_HTTP_REQUEST',
  },
]

t.test('rules by routes', async (t) => {
  const serving = await serve(t, { sparql: createSparql(), inspector: true, mcp: true })
  const asked = new Map<Rule, number>()
  await tell(serving, async (scene) => {
    for (const rule of rules) {
      const found = await rule.ask(scene)
      if (found === undefined) continue
      asked.set(rule, (asked.get(rule) ?? 0) + 1)
      if (found !== rule.expected) {
        t.equal(found, rule.expected, `${rule.section} ${rule.name}: ${scene.step}`)
      }
    }
    const reply = await scene.asked()
    const { status } = operations[scene.step].example
    t.equal(reply.status, status, `${scene.step} is as if nothing had been asked before`)
    return reply
  })
  for (const rule of rules) t.ok((asked.get(rule) ?? 0) > 5, rule.name)
})

t.test('OPTIONS * is about the server', async (t) => {
  const { port } = await serve(t)
  const { request } = await import('node:http')
  const reply = await new Promise<{ status: number | undefined; allow: unknown }>((resolve) => {
    request({ port, method: 'OPTIONS', path: '*' }, (response) => {
      response.resume()
      resolve({ status: response.statusCode, allow: response.headers.allow })
    }).end()
  })
  t.strictSame(reply, { status: 204, allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' })
})

t.test('routes and the document say the same of media types', async (t) => {
  const { knowledge, objects, flows, backup, health } = await openStore(t)
  const stores = {
    knowledge,
    objects,
    flows,
    backup,
    health,
    metrics: true,
    inspector: true,
    mcp: true,
  }
  const seeTo = ['exportCore', 'sparqlByGet', 'sparqlByPost']
  for (const { operation, media = ['application/json'] } of routesOf(
    { ...stores, authenticate: 'none' },
    '',
  )) {
    const answers = Object.entries<{ content?: object }>(operations[operation].answers)
    const types = answers
      .filter(([status]) => Number(status) < 300)
      .flatMap(([, { content = {} }]) => Object.keys(content))
    const isExpected = !answersAnyway.has(operation) && !seeTo.includes(operation)
    t.strictSame([...media].sort(), isExpected ? [...new Set(types)].sort() : [], operation)
  }
})

t.test('the type that is liked more', async (t) => {
  const rows: [accept: string | undefined, areLines: boolean][] = [
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    ['application/x-ndjson', true],
    ['APPLICATION/X-NDJSON; charset=utf-8', true],
    ['application/x-ndjson, */*', true],
    ['application/x-ndjson, application/json', true],
    ['application/x-ndjson;q=0.5, application/json', false],
    ['application/x-ndjson;q=0.5, */*;q=0.1', true],
    ['application/x-ndjson;q=0, application/json;q=0', false],
    ['application/x-ndjson;q=0', false],
  ]
  for (const [accept, areLines] of rows) {
    const found = isPreferred(accept, 'application/x-ndjson', 'application/json')
    t.equal(found, areLines, String(accept))
  }
})

t.test('what is accepted with weights', async (t) => {
  const { url } = await serve(t)
  const rows: [accept: string, status: number][] = [
    ['', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['text/html, application/xhtml+xml, */*;q=0.8', 200],
    ['image/png, application/json;q=0.001', 200],
    ['application/json;q=0', 406],
    ['*/*, application/json;q=0', 406],
    ['text/*', 406],
    ['nonsense', 406],
  ]
  for (const [accept, status] of rows) {
    const reply = await send(`${url}/api/v1/openapi.json`, { headers: { Accept: accept } })
    t.equal(reply.status, status, accept)
    t.match(reply.headers.vary, /Accept-Encoding/)
  }
  t.equal((await send(`${url}/healthz`, { headers: { Accept: 'image/png' } })).status, 200)
})
