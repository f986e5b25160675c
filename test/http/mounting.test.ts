// The examples of docs/http.md as they stand there, in the real frameworks.

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import t from 'tap'
import ts from 'typescript'
import type { Test } from 'tap'
import { createHandler } from '../../src/http/index.js'
import { roundTrip } from './fixtures/round-trip.js'
import { as, core, json, listen, openStore, send } from './fixtures/serving.js'

const headers = as('alice')
const authenticate = (token: string | undefined) => (token === 'alice' ? { user: 'alice' } : null)

async function open(t: Test) {
  const { knowledge, objects, flows } = await openStore(t)
  const onError = (error: unknown) => void t.fail('onError was called', { error })
  const handler = createHandler({ knowledge, authenticate, onError })
  return { knowledge, objects, flows, handler, authenticate }
}

type Opened = Awaited<ReturnType<typeof open>>

/** The fenced block under a heading of docs/http.md. */
function example(heading: string): string {
  const page = readFileSync('docs/http.md', 'utf8')
  const section = page.split(`\n### ${heading}\n`)[1]?.split('\n#')[0]
  const code = /```[jt]s\n([^]*?)```/.exec(section ?? '')?.[1]
  if (code === undefined) throw new Error(`docs/http.md has no example under '${heading}'`)
  const { outputText } = ts.transpileModule(code, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 },
  })
  return outputText
}

/** Runs an example, which may use what the page has made before it, and leaves a `server`. */
async function run(t: Test, heading: string, made: Opened): Promise<Server> {
  const lines = example(heading).split('\n')
  const isImport = (line: string) => line.startsWith('import ')
  const module = [
    ...lines.filter(isImport),
    'export default async ({ handler, knowledge, objects, flows, authenticate }) => {',
    ...lines.filter((line) => !isImport(line)),
    'return server }',
  ].join('\n')
  const file = join(t.testdir({ 'example.mjs': module }), 'example.mjs')
  const { default: start } = (await import(pathToFileURL(file).href)) as {
    default: (made: Opened) => Promise<Server>
  }
  return start(made)
}

for (const heading of ['node:http', 'Express 5', 'Fastify 5', 'Koa 3', 'Hono']) {
  t.test(`the example for ${heading} serves a round trip`, async (t) => {
    const made = await open(t)
    const server = await run(t, heading, made)
    t.equal(server.requestTimeout, 0)
    await roundTrip(t, { port: await listen(t, server), knowledge: made.knowledge })
  })
}

t.test('Express serves a round trip under mounts and after parsers', async (t) => {
  const mounts = [
    ['/knowledge', '/knowledge', []],
    ['/api/v1', '', []],
    ['/deep/api/v1', '/deep', []],
    ['/', '', [express.json(), express.urlencoded()]],
    ['/', '', [express.raw({ type: '*/*', limit: '64mb' })]],
  ] as const
  for (const [mount, base, parsers] of mounts) {
    const { knowledge, handler } = await open(t)
    // As "test" Express does not log the upload that is cut.
    const app = express().set('env', 'test')
    for (const parser of parsers) app.use(parser)
    app.use(mount, handler)
    await roundTrip(t, { port: await listen(t, createServer(app)), knowledge, base })
  }
})

t.test('the handler stands in front of Hono, and leaves it the rest', async (t) => {
  const { knowledge, handler } = await open(t)
  const app = new Hono().get('/mine', (c) => c.text('mine'))
  const listener = getRequestListener(app.fetch)
  const server = createServer((request, response) =>
    handler(request, response, () => listener(request, response)),
  )
  const port = await listen(t, server)
  await roundTrip(t, { port, knowledge })
  t.equal((await send(`http://127.0.0.1:${port}/mine`)).body.toString(), 'mine')
})

t.test('what is not ours goes on to the rest of an Express app', async (t) => {
  const { handler } = await open(t)
  const app = express()
  app.use(handler).get('/mine', (_request, response) => void response.send('mine'))
  const port = await listen(t, createServer(app))
  t.equal((await send(`http://127.0.0.1:${port}/mine`)).body.toString(), 'mine')
  t.equal((await send(`http://127.0.0.1:${port}/healthz`)).status, 200)
})

t.test('a body that a parser has taken is a 500 at once, with the way out', async (t) => {
  const { knowledge } = await openStore(t)
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const handler = createHandler({ knowledge, authenticate: 'none', onError })
  const parsers = [
    express.text({ type: '*/*' }),
    express.urlencoded({ type: '*/*' }),
    ((request, _response, next) => {
      request.resume()
      next()
    }) satisfies express.RequestHandler,
    ((request, _response, next) => {
      request.resume().once('end', () => next())
    }) satisfies express.RequestHandler,
  ]
  for (const parser of parsers) {
    const app = express().use(parser).use(handler)
    const port = await listen(t, createServer(app))
    const started = performance.now()
    const reply = await send(`http://127.0.0.1:${port}/api/v1/import-core?id=x&user=u`, {
      method: 'POST',
      headers: { 'Content-Type': 'text/plain' },
      body: core('x', 'u'),
    })
    t.equal(reply.status, 500)
    t.match(json(reply), { code: 'LK_HTTP_BODY_CONSUMED', detail: /express\.raw/ })
    t.ok(performance.now() - started < 5000)
  }
  t.match(errors, Array(4).fill({ code: 'LK_HTTP_BODY_CONSUMED' }))
  t.equal(await knowledge.stat({ user: 'u', id: 'x' }), undefined)
})

t.test('maxCoreBytes holds for a body that was parsed before', async (t) => {
  const { knowledge } = await openStore(t)
  const bytes = core('x', 'u')
  for (const [maxCoreBytes, status] of [
    [bytes.byteLength, 200],
    [bytes.byteLength - 1, 413],
  ] as const) {
    const handler = createHandler({ knowledge, authenticate: 'none', maxCoreBytes })
    const app = express()
      .use(express.raw({ type: '*/*' }))
      .use(handler)
    const port = await listen(t, createServer(app))
    const url = `http://127.0.0.1:${port}/api/v1/import-core?id=x&user=u`
    const headers = { 'Content-Type': 'application/octet-stream' }
    t.equal((await send(url, { method: 'POST', headers, body: [bytes] })).status, status)
  }
})

t.test('requests that Fastify makes up for tests are answered', async (t) => {
  const { handler, knowledge } = await open(t)
  const app = Fastify()
  t.teardown(() => app.close())
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))
  app.all('/*', async (request, reply) => {
    reply.hijack()
    await handler(request.raw, reply.raw)
  })
  const url = '/api/v1/import-core?id=x'
  const imported = await app.inject({ method: 'POST', url, headers, payload: core('x', 'alice') })
  t.equal(imported.statusCode, 200)
  const streamed = await app.inject({
    method: 'POST',
    url: `${url}&mode=replace`,
    headers,
    payload: Readable.from([core('x', 'alice', 3)]),
  })
  t.equal(streamed.statusCode, 200)
  t.match(streamed.json(), { messages: 6 })
  const without = await app.inject({ method: 'POST', url: `${url}&mode=replace`, headers })
  t.equal(without.statusCode, 400)
  t.match(without.json(), { code: 'LK_HTTP_REQUEST' })
  t.match(await knowledge.stat({ user: 'alice', id: 'x' }), { messages: 6 })
  const refused = await app.inject({ method: 'POST', url, payload: core('x', 'alice') })
  t.equal(refused.statusCode, 401)
})
