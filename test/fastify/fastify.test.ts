// lorekeep/fastify in a real Fastify: under any prefix, and beside what else an app has.

import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import Fastify from 'fastify'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import type { Test } from 'tap'
import { fastifyLorekeep } from '../../src/fastify/index.js'
import type { FastifyLorekeepOptions } from '../../src/fastify/index.js'
import { roundTrip } from '../http/fixtures/round-trip.js'
import { as, core, openStore, send } from '../http/fixtures/serving.js'

declare module 'fastify' {
  interface FastifyRequest {
    session?: string
  }
}

async function optionsOf(t: Test) {
  const { knowledge, objects, flows, health } = await openStore(t)
  const authenticate = (token: string | undefined) => (token === 'alice' ? { user: 'alice' } : null)
  return { knowledge, objects, flows, health, authenticate } satisfies FastifyLorekeepOptions
}

function create(t: Test, options: object = {}) {
  const app = Fastify({ forceCloseConnections: true, ...options })
  t.teardown(() => app.close())
  return app
}

async function portOf(app: ReturnType<typeof create>): Promise<number> {
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
}

t.test('it stands under any prefix', async (t) => {
  const mounts = [
    { outer: undefined, prefix: '', at: '' },
    { outer: '/deep/', prefix: '/lore', at: '/deep/lore' },
    { outer: '/of/:tenant', prefix: undefined, at: '/of/acme/api/v1' },
  ]
  for (const { outer, prefix, at } of mounts) {
    const options = await optionsOf(t)
    const app = create(t)
    await app.register(
      async (scope) => {
        await scope.register(fastifyLorekeep, {
          ...options,
          ...(prefix !== undefined && { prefix }),
        })
      },
      { ...(outer !== undefined && { prefix: outer }) },
    )
    const port = await portOf(app)
    await t.test(at, (t) => roundTrip(t, { port, knowledge: options.knowledge, at }))
    const health = `${(outer ?? '').replace(/\/$/, '').replace(':tenant', 'acme')}/healthz`
    t.equal((await send(`http://127.0.0.1:${port}${health}`)).status, 200, health)
  }
})

t.test('the rest of the app stays as it was', async (t) => {
  const app = create(t)
  app.register(fastifyLorekeep, await optionsOf(t))
  app.post('/mine', (request) => ({ got: request.body }))
  app.get('/healthz', () => ({ mine: true }))
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ mine: 'nothing' }))
  const mine = await app.inject({ method: 'POST', url: '/mine', payload: { a: 1 } })
  t.strictSame(mine.json(), { got: { a: 1 } })
  const binary = { 'content-type': 'application/octet-stream' }
  const refused = await app.inject({ method: 'POST', url: '/mine', headers: binary, payload: 'x' })
  t.equal(refused.statusCode, 415)
  t.strictSame((await app.inject('/healthz')).json(), { mine: true })
  t.match((await app.inject('/readyz')).json(), { status: 'ready' })
  t.equal((await app.inject('/metrics')).statusCode, 404)
  t.strictSame((await app.inject('/elsewhere')).json(), { mine: 'nothing' })
  const ours = await app.inject('/api/v1/elsewhere')
  t.match(ours.json(), { code: 'LK_HTTP_NOT_FOUND' })
})

t.test('assistants are answered beside the prefix, with the body as they sent it', async (t) => {
  const app = create(t)
  await app.register(
    async (scope) => {
      await scope.register(fastifyLorekeep, { ...(await optionsOf(t)), mcp: true })
    },
    { prefix: '/deep' },
  )
  const ask = (headers: object) =>
    app.inject({
      method: 'POST',
      url: '/deep/mcp',
      headers: { 'content-type': 'application/json', ...headers },
      payload: { jsonrpc: '2.0', id: 1, method: 'ping' },
    })
  const answered = await ask({ authorization: 'Bearer alice' })
  t.strictSame(answered.json(), { jsonrpc: '2.0', id: 1, result: {} })
  t.match((await ask({})).json(), { code: 'LK_HTTP_UNAUTHORIZED' })
  t.match((await app.inject('/deep/mcp')).json(), { code: 'LK_HTTP_METHOD' })

  const other = create(t)
  other.post('/mcp', () => ({ mine: true }))
  other.register(fastifyLorekeep, { ...(await optionsOf(t)), mcp: true })
  t.strictSame((await other.inject({ method: 'POST', url: '/mcp' })).json(), { mine: true })
})

t.test('hooks see requests and answers, and authenticate sees what they made', async (t) => {
  const seen: string[] = []
  const app = create(t)
  app.addHook('onRequest', async (request, reply) => {
    const session = /session=(\w+)/.exec(request.headers.cookie ?? '')?.[1]
    if (session !== undefined) request.session = session
    reply.header('X-Of-Host', 'yes').header('Vary', 'Origin')
  })
  app.addHook('onResponse', async (request, reply) => {
    seen.push(`${request.method} ${request.url} ${reply.raw.statusCode}`)
  })
  app.register(fastifyLorekeep, {
    ...(await optionsOf(t)),
    authenticate: (_token, { session }: FastifyRequest) =>
      session === undefined ? null : { user: session },
  })
  const url = '/api/v1/whoami'
  t.equal((await app.inject(url)).statusCode, 401)
  const known = await app.inject({ url, headers: { cookie: 'session=carol' } })
  t.match(known.json(), { user: 'carol' })
  t.match(known.headers, { 'x-of-host': 'yes', vary: /^Origin, Accept-Encoding/ })
  t.strictSame(seen, [`GET ${url} 401`, `GET ${url} 200`])
})

t.test('bodies are bounded by the limits of lorekeep alone', async (t) => {
  const bytes = core('x', 'alice', 20)
  for (const [maxCoreBytes, status] of [
    [bytes.length, 200],
    [bytes.length - 1, 413],
  ] as const) {
    const options = await optionsOf(t)
    const app = create(t, { bodyLimit: 10 })
    app.register(fastifyLorekeep, { ...options, maxCoreBytes })
    const url = '/api/v1/import-core?id=x'
    for (const type of ['application/octet-stream', 'application/json', 'x/y', undefined]) {
      const headers = { ...as('alice'), ...(type !== undefined && { 'content-type': type }) }
      const reply = await app.inject({ method: 'POST', url, headers, payload: bytes })
      t.equal(reply.statusCode, status, String(type))
    }
  }
})

t.test('an error is told to the log of its request, or to onError', async (t) => {
  const logged: string[] = []
  const told: unknown[] = []
  const secret = new Error('the directory of users is away')
  const authenticate = () => Promise.reject(secret)
  const options = { ...(await optionsOf(t)), authenticate }
  const stream = { write: (line: string) => void logged.push(line) }
  const app = create(t, { logger: { level: 'error', stream } })
  app.register(fastifyLorekeep, options)
  app.register(fastifyLorekeep, {
    ...options,
    prefix: '/told',
    onError: (error, { request }) => void told.push(error, request.routeOptions.url),
  })
  const reply = await app.inject('/api/v1/whoami')
  t.equal(reply.statusCode, 500)
  t.notMatch(reply.body, /directory/)
  const [line, ...more] = logged.map((line) => JSON.parse(line) as object)
  t.match(line, {
    err: { message: secret.message },
    requestId: reply.headers['x-request-id'],
    reqId: 'req-1',
  })
  t.equal((await app.inject('/told/whoami')).statusCode, 500)
  t.strictSame(told, [secret, '/told/*'])
  t.strictSame(more, [])
})

t.test('closing the app ends streams of events', async (t) => {
  const app = create(t, { forceCloseConnections: false })
  app.register(fastifyLorekeep, await optionsOf(t))
  const port = await portOf(app)
  const asked = httpRequest({ port, path: '/api/v1/events', headers: as('alice'), agent: false })
  const response = await new Promise<IncomingMessage>((resolve) =>
    asked.on('response', resolve).end(),
  )
  const ended = new Promise<boolean>((resolve) => {
    response.on('close', () => resolve(response.complete)).resume()
  })
  await app.close()
  t.equal(await ended, true)
})

t.test('options that cannot be are refused where it is registered', async (t) => {
  const options = await optionsOf(t)
  for (const wrong of [{ prefx: '/x' }, { prefix: 'x' }, { authenticate: undefined }]) {
    const app = create(t)
    app.register(fastifyLorekeep, { ...options, ...(wrong as object) })
    await t.rejects(async () => app.ready(), TypeError)
  }
})
