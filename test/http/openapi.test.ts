// The document of the routes: equal to the router both ways, clean for a linter, and its examples are
// requests that a server answers so. That all else is answered as it says is looked at in every test
// (fixtures/conforming.ts).

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import type { Test } from 'tap'
import type { HandlerOptions } from '../../src/http/index.js'
import { operations } from '../../src/http/openapi/operations.js'
import { documentOf } from '../../src/http/openapi/document.js'
import { shared } from '../../src/http/openapi/sharing.js'
import { schemas } from '../../src/http/openapi/schemas.js'
import { compile, match } from '../../src/http/routes.js'
import { routesOf } from '../../src/http/options.js'
import { createSparql } from '../../src/sparql/index.js'
import type { JsonObject } from '../../src/types.js'
import { dereferenced } from './fixtures/dereferenced.js'
import { Conformance } from './fixtures/conforming.js'
import type { Document } from './fixtures/conforming.js'
import { json, openStore, send, serve } from './fixtures/serving.js'
import { exampleAnswer, exampleIn, exampleJob, jobIn, tell, toldInStory } from './fixtures/story.js'
import type { Paths } from './fixtures/story.js'

async function optionsOf(t: Test): Promise<HandlerOptions> {
  const { knowledge, objects, flows, backup, health } = await openStore(t)
  const on = { metrics: true, inspector: true, mcp: true }
  return { knowledge, objects, flows, backup, health, ...on, authenticate: 'none' }
}

function pathsOf(options: HandlerOptions, prefix = '/api/v1'): Paths {
  return documentOf(routesOf(options, prefix), prefix)['paths'] as unknown as Paths
}

t.test('the document has every route, and the router every operation', async (t) => {
  const options = await optionsOf(t)
  for (const prefix of ['/api/v1', '', '/a/b/c']) {
    const paths = pathsOf(options, prefix)
    const pathways = compile(routesOf(options, prefix))
    const routed = pathways.flat().flatMap(({ segments, routes }) =>
      [...routes].map(([method, { route }]) => {
        return `${method} ${segments.join('/')} ${Object.keys(route.query ?? {})
          .sort()
          .join()}`
      }),
    )
    const told = Object.entries(paths).flatMap(([path, operations]) => {
      t.ok(match(pathways, path.replace(/\{[^}]+\}/g, 'x')), path)
      return Object.entries(operations).map(([method, { parameters = [] }]) => {
        const names = parameters.filter((parameter) => parameter.in === 'query')
        const query = names.map(({ name }) => name)
        return `${method.toUpperCase()} ${path} ${query.sort().join()}`
      })
    })
    t.strictSame(told.sort(), routed.sort())
    for (const [path, operations] of Object.entries(paths)) {
      const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
      for (const { parameters = [] } of Object.values(operations)) {
        const there = parameters.filter((parameter) => parameter.in === 'path')
        t.strictSame(
          there.map(({ name }) => name),
          named,
        )
      }
    }
  }
  const used = new Set(routesOf(options, '').map(({ operation }) => operation))
  t.strictSame([...used].sort(), Object.keys(operations).sort(), 'no operation is without a route')
  const ids = Object.values(pathsOf(options)).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  )
  t.equal(new Set(ids).size, ids.length, 'operations have names of their own')
})

t.test('a store that is not given has no place in the document', async (t) => {
  const { knowledge, objects, flows } = await optionsOf(t)
  const authenticate = 'none' as const
  const there = (options: HandlerOptions) => Object.keys(pathsOf(options)).join(' ')
  t.notMatch(there({ objects: objects!, authenticate }), /cores|graph|sparql|jobs|flows|backup/)
  t.notMatch(there({ flows: flows!, authenticate }), /cores|graph|schemas|collections|backup/)
  t.notMatch(there({ knowledge: knowledge!, authenticate }), /schemas|jobs|collections|backup/)
  const document = documentOf(routesOf({ objects: objects!, authenticate }, ''), '')
  t.notMatch(JSON.stringify(document), /"(?:Job|Triple|CoreStat)"/)
})

t.test('it is served to everyone, made once', async (t) => {
  const serving = await serve(t, { inspector: true, mcp: true })
  const reply = await send(`${serving.url}/api/v1/openapi.json`)
  t.equal(reply.status, 200)
  t.equal(reply.headers['content-type'], 'application/json')
  const { knowledge, objects, flows, lorekeep } = serving
  const options = {
    knowledge,
    objects,
    flows,
    backup: lorekeep.backup,
    health: lorekeep.health,
    metrics: true,
    inspector: true,
    mcp: true,
    authenticate: 'none',
  } as const
  const document = documentOf(routesOf(options, '/api/v1'), '/api/v1')
  t.strictSame(json(reply), JSON.parse(JSON.stringify(shared(document))))
  const all = Object.keys((document['components'] as { schemas: object }).schemas)
  t.strictSame(all.sort(), Object.keys(schemas).sort(), 'no schema is there for nothing')
  t.equal((await send(`${serving.url}/api/v1/openapi.json`)).body.compare(reply.body), 0)
})

t.test('bodies that a route takes are bodies by the document, and others are not', async (t) => {
  const { url } = await serve(t)
  const document = (await (await fetch(`${url}/api/v1/openapi.json`)).json()) as JsonObject
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'document')
  const text = { id: 'a', title: null, charset: null }
  const fields = { id: { type: 'string' } }
  const [a, b] = ['x', 'y'].map((v) => ({ v, e: true }))
  const rows: readonly (readonly [schema: string, line: string, body: object, takes: boolean])[] = [
    ['TextLoad', 'POST flow/default/service/text-load', { ...text, text: 'YQ==' }, true],
    [
      'TextLoad',
      'POST flow/default/service/text-load',
      { ...text, content: 'a', text: null },
      true,
    ],
    ['TextLoad', 'POST flow/default/service/text-load', text, false],
    ['NewSchema', 'PUT schemas/s', { fields, index_undeclared: false }, true],
    ['NewSchema', 'PUT schemas/s', { fields, index_undeclared: 'no' }, false],
    // What it is asked of there is not.
    ['Pair', 'POST graph/merge?user=a', { a, b, collection: 'c' }, true],
    ['Pair', 'POST graph/merge?user=a', { a, b, collection: 7 }, false],
  ]
  for (const [schema, line, body, takes] of rows) {
    const [method = '', path = ''] = line.split(' ')
    const said = `${line} ${JSON.stringify(body)}`
    t.equal(ajv.validate({ $ref: `document#/components/schemas/${schema}` }, body), takes, said)
    const headers = { authorization: 'Bearer admin' }
    const sent = await fetch(`${url}/api/v1/${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    })
    const { detail = '' } = (sent.ok ? {} : await sent.json()) as { detail?: string }
    t.equal(sent.ok || /is nowhere in the graph/.test(detail), takes, said)
  }
  const { Pair } = (document['components'] as { schemas: Record<string, JsonObject> }).schemas
  t.strictSame(Object.keys(Pair!['properties'] as object), ['a', 'b', 'collection'])
})

t.test('what it says several times is there once, and nothing is lost by it', async (t) => {
  const routes = routesOf(await optionsOf(t), '/api/v1')
  const whole = plainCopy(documentOf(routes, '/api/v1'))
  const small = plainCopy(shared(whole))
  t.strictSame(dereferenced(small), whole)
  const bytes = JSON.stringify(small).length
  t.ok(bytes < 340_000, `${bytes} bytes of ${JSON.stringify(whole).length}`)
})

t.test('a linter has nothing to say', async (t) => {
  const document = shared(documentOf(routesOf(await optionsOf(t), '/api/v1'), '/api/v1'))
  const folder = t.testdir({
    'redocly.yaml': [
      'extends: [recommended-strict]',
      // The token is checked before the parameters, and open paths refuse nothing.
      'rules: { operation-4xx-response: off }',
      'telemetry: off',
    ].join('\n'),
  })
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(document))
  const lint = join(process.cwd(), 'node_modules/@redocly/cli/bin/cli.js')
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const run = promisify(execFile)(
    process.execPath,
    [lint, 'lint', '--format=json', 'openapi.json'],
    {
      cwd: folder,
      env,
    },
  )
  const { stdout } = await run.catch((error: { stdout: string }) => error)
  const { totals, problems } = JSON.parse(stdout) as { totals: object; problems: unknown[] }
  t.strictSame(totals, { errors: 0, warnings: 0, ignored: 0 }, JSON.stringify(problems))
})

t.test('what the document leaves out is noticed', async (t) => {
  const document = documentOf(routesOf(await optionsOf(t), ''), '') as unknown as Document
  const conformance = new Conformance(document)
  const headers = {
    'x-request-id': '1',
    'x-content-type-options': 'nosniff',
    vary: 'Accept-Encoding',
    'cache-control': 'no-store',
    'content-type': 'application/json',
  }
  const problem = (body: string, more: object = {}) =>
    conformance.problemOf({
      method: 'GET',
      path: '/healthz',
      status: 200,
      headers,
      body: Buffer.from(body),
      ...more,
    })
  t.equal(problem('{"status":"ok"}'), undefined)
  t.match(problem('{"status":"ok","more":1}'), /must NOT have additional properties/)
  t.match(problem('{}'), /required property/)
  t.match(problem('{"status":"ok"}', { headers: { ...headers, 'x-new': '1' } }), /x-new/)
  t.match(problem('{"status":"ok"}', { status: 202 }), /status 202/)
  const { 'x-request-id': _, ...fewer } = headers
  t.match(problem('{"status":"ok"}', { headers: fewer }), /x-request-id is missing/)
  const asText = { ...headers, 'content-type': 'text/plain' }
  t.match(problem('{"status":"ok"}', { headers: asText }), /type text\/plain/)
})

for (const door of ['node', 'fetch'] as const) {
  t.test(`every example is answered as it says, by ${door}`, async (t) => {
    const serving = await serve(t, { sparql: createSparql(), inspector: true, mcp: true, door })
    t.strictSame([...toldInStory].sort(), Object.keys(operations).sort(), 'none is left out')
    await tell(serving, async ({ step, told, asked, job }) => {
      const [type] = exampleIn(told.requestBody?.content)
      t.equal(type, operations[step].example.type, `the document shows the body of ${step}`)
      const [status, [, answer]] = exampleAnswer(step, told)
      const reply = await asked()
      t.equal(reply.status, Number(status), `${step} ${reply.body.toString().slice(0, 300)}`)
      if (answer === undefined) return reply
      const found = reply.body.toString().replaceAll(jobIn(reply, job), exampleJob)
      t.strictSame(
        plain(typeof answer === 'string' ? found : JSON.parse(found)),
        plain(answer),
        step,
      )
      return reply
    })
  })
}

function plainCopy(document: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(document)) as JsonObject
}

/** The version of a collection is made of the time; a core's is a digest. */
const isTimed = (name: string, value: unknown) => name === 'version' && String(value).length < 20

/** Without what is another at every run. */
function plain(answer: unknown): unknown {
  const text = JSON.stringify(answer, (name, value: unknown) =>
    /^(?:milliseconds|next|_version)$/.test(name) || isTimed(name, value) ? 0 : value,
  )
  const timeless = text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'T')
  return JSON.parse(timeless) as unknown
}
