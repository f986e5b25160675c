// The document of the routes: equal to the router both ways, clean for a linter, and its examples are
// requests that a server answers so. That all else is answered as it says is looked at in every test
// (fixtures/conforming.ts).

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { Test } from 'tap'
import type { HandlerOptions } from '../../src/http/index.js'
import { operations } from '../../src/http/openapi/operations.js'
import type { OperationName } from '../../src/http/openapi/operations.js'
import { documentOf } from '../../src/http/openapi/document.js'
import { schemas } from '../../src/http/openapi/schemas.js'
import { compile, match } from '../../src/http/routes.js'
import { routesOf } from '../../src/http/options.js'
import { createSparql } from '../../src/sparql/index.js'
import { Conformance } from './fixtures/conforming.js'
import type { Document } from './fixtures/conforming.js'
import { as, json, openStore, send, serve } from './fixtures/serving.js'
import type { Serving } from './fixtures/serving.js'

interface Told {
  readonly operationId: string
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly example?: string | number
  }[]
  readonly requestBody?: { readonly content: Contents }
  readonly responses: Readonly<Record<string, { readonly content?: Contents }>>
}
type Contents = Readonly<Record<string, { readonly example?: unknown }>>
type Paths = Readonly<Record<string, Readonly<Record<string, Told>>>>

async function optionsOf(t: Test): Promise<HandlerOptions> {
  const { knowledge, objects, flows, backup, health } = await openStore(t)
  return { knowledge, objects, flows, backup, health, metrics: true, authenticate: 'none' }
}

function pathsOf(options: HandlerOptions, prefix = '/api/v1'): Paths {
  return documentOf(routesOf(options, prefix), prefix)['paths'] as unknown as Paths
}

t.test('the document has every route, and the router every operation', async (t) => {
  const options = await optionsOf(t)
  for (const prefix of ['/api/v1', '', '/a/b/c']) {
    const paths = pathsOf(options, prefix)
    const pathways = compile(routesOf(options, prefix))
    const routed = pathways.flatMap(({ segments, routes }) =>
      [...routes].map(([method, { single, repeatable }]) => {
        return `${method} ${segments.join('/')} ${[...single, ...repeatable].sort().join()}`
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
  const serving = await serve(t)
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
    authenticate: 'none',
  } as const
  const document = documentOf(routesOf(options, '/api/v1'), '/api/v1')
  t.strictSame(json(reply), JSON.parse(JSON.stringify(document)))
  const all = Object.keys((document['components'] as { schemas: object }).schemas)
  t.strictSame(all.sort(), Object.keys(schemas).sort(), 'no schema is there for nothing')
  t.equal((await send(`${serving.url}/api/v1/openapi.json`)).body.compare(reply.body), 0)
})

t.test('a linter has nothing to say', async (t) => {
  const document = documentOf(routesOf(await optionsOf(t), '/api/v1'), '/api/v1')
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

const term = (v: string) => ({ v, e: true })
/** As the document has it. */
const exampleJob = '8cS1QkF3TLyHzV9CVRlK5g-0.1'

/** In the order in which they make sense, with what has to happen before. */
const story: readonly (OperationName | ((serving: Serving, jobs: Jobs) => Promise<unknown>))[] = [
  ...(['health', 'openapi', 'whoami', 'importCore', 'listCores', 'showCore'] as const),
  ...(['exportCore', 'indexCore', 'showIndex', 'indexAll', 'showIndexOfAll'] as const),
  ...(['matchInCore', 'matchInGraph', 'countInCore', 'countInGraph'] as const),
  ...(['solveInCore', 'solveInGraph'] as const),
  async ({ knowledge }) => {
    const m = { i: '', m: [], u: '', c: 'letters' }
    const e = [{ e: term('urn:ellen'), v: [[1, 0, 0]] }]
    await knowledge.write({ user: 'alice', id: 'visit' }, [['ge', { m, e }]])
  },
  ...(['nearestInCore', 'nearestInGraph', 'retrieveInCore', 'retrieveInGraph'] as const),
  ...(['searchInCore', 'searchInGraph', 'duplicatesInCore', 'duplicatesInGraph'] as const),
  ...(['answerInCore', 'answerInGraph', 'mergeThings', 'splitThings'] as const),
  ...(['sparqlByGet', 'sparqlByPost', 'triples-service', 'graph-embeddings-service'] as const),
  ...(['knowledge-service', 'deleteCore', 'defineSchema', 'listSchemas', 'showSchema'] as const),
  ...(['createCollection', 'importObjects', 'queryObjects', 'explainQuery'] as const),
  ...(['showObject', 'replaceObject', 'patchObject', 'listCollections'] as const),
  ...(['deleteObject', 'deleteCollection', 'dropSchema'] as const),
  ...(['defineFlow', 'listFlows', 'showFlow', 'stopFlow', 'startFlow'] as const),
  ...([
    'loadText',
    'listJobs',
    'showJob',
    'showAnyJob',
    'cancelJob',
    'loadFile',
    'showFlowStats',
  ] as const),
  (serving, jobs) => runTo(serving, jobs.last),
  ...(['watchJobs', 'watchAnyJobs', 'listDocuments'] as const),
  ...(['showDocument', 'showAnyDocument'] as const),
  async (serving, jobs) => runTo(serving, await fail(serving, jobs)),
  'retryJob',
  ({ flows }, jobs) => flows.cancel(jobs.last),
  async (serving, jobs) => runTo(serving, await fail(serving, jobs)),
  ...(['retryAnyJob', 'cancelAnyJob', 'removeDocument', 'loadFile'] as const),
  (serving, jobs) => runTo(serving, jobs.last),
  ...(['removeAnyDocument', 'removeFlow', 'backup', 'readiness', 'metrics'] as const),
]

interface Jobs {
  last: string
}

/** Loads what can only fail. */
async function fail({ flows }: Serving, jobs: Jobs): Promise<string> {
  const run = () => Promise.reject(new Error('no'))
  await flows.define({ id: 'letters', steps: [{ name: 'fail', run }], maxAttempts: 1 })
  const lost = { id: 'urn:lost', content: 'x', user: 'alice' }
  jobs.last = (await flows.load('letters', lost)).job
  return jobs.last
}

async function runTo({ flows }: Serving, job: string): Promise<void> {
  const runner = flows.run()
  for await (const _ of flows.watch({ job }));
  await runner.stop()
}

t.test('every example is answered as it says', async (t) => {
  const serving = await serve(t, { sparql: createSparql() })
  const document = json(await send(`${serving.url}/api/v1/openapi.json`))
  const told = new Map<string, readonly [path: string, method: string, told: Told]>()
  for (const [path, operations] of Object.entries(document['paths'] as Paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      told.set(operation.operationId, [path, method, operation])
    }
  }
  const names = story.filter((step) => typeof step === 'string')
  t.strictSame([...new Set(names)].sort(), Object.keys(operations).sort(), 'none is left out')
  const jobs = { last: exampleJob }
  for (const step of story) {
    if (typeof step !== 'string') {
      await step(serving, jobs)
      continue
    }
    const id = step.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    const [path, method, operation] = told.get(id)!
    const { parameters = [], requestBody, responses } = operation
    const valueOf = ({ example = '' }: { readonly example?: string | number }) =>
      String(example).replace(exampleJob, jobs.last)
    const where = parameters.reduce(
      (url, parameter) =>
        url.replace(`{${parameter.name}}`, encodeURIComponent(valueOf(parameter))),
      path,
    )
    const query = parameters
      .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
      .map((parameter) => [parameter.name, valueOf(parameter)])
    const [type, body] = exampleIn(requestBody?.content)
    t.equal(type, operations[step].example.type, `the document shows the body of ${step}`)
    const [status, [accept, answer]] = Object.entries(responses)
      .map(([status, { content }]) => [status, exampleIn(content)] as const)
      .find(([status]) => Number(status) === operations[step].example.status)!
    const reply = await send(`${serving.url}${where}?${new URLSearchParams(query as never)}`, {
      method: method.toUpperCase(),
      headers: { ...as('admin'), ...(type && { 'Content-Type': type }), Accept: accept ?? '*/*' },
      ...(body !== undefined && {
        body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
      }),
    })
    t.equal(reply.status, Number(status), `${step} ${reply.body.toString().slice(0, 300)}`)
    jobs.last = String(reply.headers['lorekeep-job'] ?? jobs.last)
    if (answer === undefined) continue
    const found = reply.body.toString().replaceAll(jobs.last, exampleJob)
    t.strictSame(plain(typeof answer === 'string' ? found : JSON.parse(found)), plain(answer), step)
  }
})

function exampleIn(content: Contents = {}): readonly [type?: string, example?: unknown] {
  return (
    Object.entries(content)
      .map(([type, { example }]) => [type, example] as const)
      .find(([, example]) => example !== undefined) ?? []
  )
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
