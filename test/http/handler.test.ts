import { constants } from 'node:buffer'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { encode } from '@msgpack/msgpack'
import t, { type Test } from 'tap'
import { createHandler } from '../../src/http/index.js'
import type { HandlerOptions } from '../../src/http/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepError } from '../../src/errors.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { as, importHead, json, listen, openStore, send, serve, wire } from './fixtures/serving.js'

t.test('createHandler refuses options that cannot work, with a TypeError', async (t) => {
  const { knowledge } = await openStore(t)
  const make = (options: object) => () =>
    createHandler({ knowledge, authenticate: 'none', ...options } as HandlerOptions)
  t.throws(make({ authenticate: undefined }), { name: 'TypeError', message: /'none'/ })
  t.throws(make({ authenticate: 'all' }), TypeError)
  t.throws(make({ knowledge: undefined }), TypeError)
  for (const prefix of ['api', '/api/', '/', '/a//b', '/a?b']) {
    t.throws(make({ prefix }), TypeError, prefix)
  }
  for (const value of [0, -1, 1.5, NaN, Infinity, '5']) {
    t.throws(make({ maxCoreBytes: value }), TypeError, `maxCoreBytes ${value}`)
    t.throws(make({ maxJsonBytes: value }), TypeError, `maxJsonBytes ${value}`)
    t.throws(make({ maxBufferedBytes: value }), TypeError, `maxBufferedBytes ${value}`)
    t.throws(make({ maxConcurrentImports: value }), TypeError, `maxConcurrentImports ${value}`)
    t.throws(make({ idleTimeoutMs: value }), TypeError, `idleTimeoutMs ${value}`)
    t.throws(make({ exportIdleTimeoutMs: value }), TypeError, `exportIdleTimeoutMs ${value}`)
    t.throws(make({ heartbeatMs: value }), TypeError, `heartbeatMs ${value}`)
  }
  t.throws(make({ idleTimeoutMs: 2 ** 31 }), TypeError)
  t.throws(make({ maxJsonBytes: constants.MAX_STRING_LENGTH + 1 }), TypeError)
  t.throws(make({ signal: new AbortController() }), TypeError)
  t.throws(make({ compat: { emptyJson: 'yes' } }), TypeError)
  t.doesNotThrow(make({ knowledge: undefined, flows: (await openStore(t)).flows }))
  t.doesNotThrow(make({ maxJsonBytes: constants.MAX_STRING_LENGTH }))
  t.throws(() => createHandler(undefined as unknown as HandlerOptions), TypeError)
  t.doesNotThrow(make({ idleTimeoutMs: 2 ** 31 - 1, maxCoreBytes: Number.MAX_SAFE_INTEGER }))
})

t.test('healthz answers without a token', async (t) => {
  const { url } = await serve(t)
  const reply = await send(`${url}/healthz`)
  t.equal(reply.status, 200)
  t.equal(reply.body.toString(), '{"status":"ok"}')
  t.equal(reply.headers['content-type'], 'application/json')
})

t.test('HEAD answers with the headers of GET and no body', async (t) => {
  const { url } = await serve(t)
  const reply = await send(`${url}/healthz`, { method: 'HEAD' })
  t.equal(reply.status, 200)
  t.equal(reply.headers['content-length'], '15')
  t.equal(reply.body.byteLength, 0)
  const refused = await send(`${url}/api/v1/cores`, { method: 'HEAD' })
  t.equal(refused.status, 401)
  t.equal(refused.body.byteLength, 0)
})

t.test('an unknown path is a 404 problem', async (t) => {
  const { url } = await serve(t)
  const paths = [
    '/',
    '/api/v1',
    '/api/v1/',
    '/api/v1/cores/',
    '/api/v1/cores/a/b',
    '/cores',
    '/Healthz',
  ]
  for (const path of paths) {
    const reply = await send(url + path, { headers: as('alice') })
    t.equal(reply.status, 404, path)
    t.equal(json(reply).code, 'LK_HTTP_NOT_FOUND')
  }
})

t.test('an unknown path goes to next, untouched', async (t) => {
  const { handler } = await serve(t)
  const server = createServer((request, response) => {
    void handler(request, response, () => {
      response.end(`${response.statusCode} ${response.getHeaderNames().join()}`)
    })
  })
  const port = await listen(t, server)
  const reply = await send(`http://127.0.0.1:${port}/elsewhere`)
  t.equal(reply.body.toString(), '200 ')
  t.equal((await send(`http://127.0.0.1:${port}/healthz`)).status, 200)
})

t.test("what next throws is the host's: a 500, and no rejection", async (t) => {
  for (const original of [new Error('secret'), new LorekeepError('LK_CORE_NOT_FOUND', 'secret')]) {
    for (const isAnswered of [false, true]) {
      const { handler, errors } = await serve(t)
      const answers: Promise<void>[] = []
      const server = createServer((request, response) => {
        const next = () => {
          if (isAnswered) response.writeHead(200).flushHeaders()
          throw original
        }
        answers.push(handler(request, response, next))
      })
      const port = await listen(t, server)
      const asking = send(`http://127.0.0.1:${port}/elsewhere`)
      if (isAnswered) await t.rejects(asking, 'too late for an answer')
      else {
        const reply = await asking
        t.equal(reply.status, 500)
        t.equal(json(reply).code, 'LK_INTERNAL')
        t.equal(json(reply).requestId, reply.headers['x-request-id'])
        t.equal(reply.headers['x-content-type-options'], 'nosniff')
        t.notMatch(reply.body.toString(), 'secret')
      }
      await t.resolves(Promise.all(answers))
      t.equal(errors.length, 1)
      const [error] = errors as [Error]
      t.equal(original instanceof LorekeepError ? error.cause : error, original)
    }
  }
})

t.test('the handler does not reject where the host broke request or response', async (t) => {
  const { handler, errors } = await serve(t)
  const answers: Promise<void>[] = []
  const server = createServer((request, response) => {
    const { url } = request
    if (url === '/url') Object.assign(request, { url: 5 })
    else response.statusMessage = 'no\nmessage'
    answers.push(handler(request, response, () => t.fail('next was called')))
  })
  const port = await listen(t, server)
  const reply = await send(`http://127.0.0.1:${port}/url`)
  t.equal(reply.status, 500)
  t.equal(json(reply).code, 'LK_INTERNAL')
  await t.rejects(send(`http://127.0.0.1:${port}/healthz`))
  await t.resolves(Promise.all(answers))
  t.equal(answers.length, 2)
  t.match(errors, [TypeError, Error, Error])
})

t.test('a method a path has not is a 405 with Allow', async (t) => {
  const { url } = await serve(t)
  const allowed = {
    '/healthz': 'GET, HEAD, OPTIONS',
    '/api/v1/import-core': 'POST, OPTIONS',
    '/api/v1/export-core': 'GET, HEAD, OPTIONS',
    '/api/v1/cores': 'GET, HEAD, OPTIONS',
    '/api/v1/cores/x': 'GET, HEAD, DELETE, OPTIONS',
  }
  for (const [path, allow] of Object.entries(allowed)) {
    const reply = await send(url + path, { method: 'PATCH', body: Buffer.from('x') })
    t.equal(reply.status, 405, path)
    t.equal(reply.headers.allow, allow)
    t.equal(json(reply).code, 'LK_HTTP_METHOD')
    const options = await send(url + path, { method: 'OPTIONS' })
    t.equal(options.status, 204, path)
    t.equal(options.headers.allow, allow)
    t.equal(options.body.byteLength, 0)
  }
  t.equal((await send(`${url}/api/v1/import-core`, { method: 'HEAD' })).status, 405)
})

t.test('every answer has a request id of its own and nosniff, and errors no cache', async (t) => {
  const { url } = await serve(t)
  const ids = new Set<unknown>()
  for (const path of ['/healthz', '/nowhere', '/api/v1/cores', '/api/v1/cores?user=alice']) {
    const reply = await send(url + path, { headers: path.includes('?') ? as('alice') : {} })
    ids.add(reply.headers['x-request-id'])
    t.equal(reply.headers['x-content-type-options'], 'nosniff')
    t.equal(reply.headers['cache-control'], 'no-store')
    if (reply.status !== 200) t.equal(json(reply).requestId, reply.headers['x-request-id'])
  }
  t.equal(ids.size, 4)
  t.notOk(ids.has(undefined))
})

t.test('prefix moves every path but healthz', async (t) => {
  for (const prefix of ['', '/kb', '/a/b']) {
    const { url } = await serve(t, { prefix })
    t.equal((await send(`${url}${prefix}/cores`, { headers: as('alice') })).status, 200, prefix)
    t.equal((await send(`${url}/api/v1/cores`, { headers: as('alice') })).status, 404, prefix)
    t.equal((await send(`${url}/healthz`)).status, 200)
  }
})

t.test('an error that is not ours leaves as a 500 that says nothing', async (t) => {
  const original = new Error('ENOENT: /home/secret/data')
  const infos: { requestId: string; request: IncomingMessage }[] = []
  const seen: unknown[] = []
  const { url } = await serve(t, {
    authenticate: () => Promise.reject(original),
    onError: (error, info) => {
      seen.push(error)
      infos.push(info)
    },
  })
  const reply = await send(`${url}/api/v1/cores`, { headers: as('alice') })
  t.equal(reply.status, 500)
  t.equal(json(reply).code, 'LK_INTERNAL')
  t.notMatch(reply.body.toString(), /secret|ENOENT/)
  t.equal(seen[0], original)
  t.equal(infos[0]?.requestId, reply.headers['x-request-id'])
  t.equal(infos[0]?.request.url, '/api/v1/cores')
})

t.test('an onError that fails is a warning, and the answer leaves all the same', async (t) => {
  const failures = [
    () => {
      throw new Error('the log is full')
    },
    () => Promise.reject(new Error('the log is full')),
  ]
  for (const onError of failures) {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
    const { url } = await serve(t, {
      onError,
      authenticate: () => {
        throw new Error('no')
      },
    })
    t.equal((await send(`${url}/api/v1/cores`, { headers: as('alice') })).status, 500)
    t.equal((await warned).message, 'the log is full')
  }
})

t.test('onError hears nothing of what clients do wrong', async (t) => {
  const { url, errors } = await serve(t)
  await send(`${url}/api/v1/cores`)
  await send(`${url}/api/v1/cores?limit=0`, { headers: as('alice') })
  await send(`${url}/nowhere`)
  t.strictSame(errors, [])
})

t.test('a closed store is a 503 with Retry-After', async (t) => {
  const lorekeep = await openStore(t)
  const handler = createHandler({ knowledge: lorekeep.knowledge, authenticate: 'none' })
  const port = await listen(t, createServer(handler))
  await lorekeep.close()
  const reply = await send(`http://127.0.0.1:${port}/api/v1/cores/x?user=u`)
  t.equal(reply.status, 503)
  t.equal(reply.headers['retry-after'], '1')
  t.equal(json(reply).code, 'LK_CLOSED')
})

t.test('a store that closes under an upload answers it with 503', async (t) => {
  const lorekeep = await createLorekeep({ backend: new MemoryBackend(), closeTimeoutMs: 50 })
  const handler = createHandler({ knowledge: lorekeep.knowledge, authenticate: 'none' })
  const server = createServer()
  let listeners = () => 0
  server.on('checkContinue', (request, response) => {
    listeners = () => request.listenerCount('readable')
    void handler(request, response)
  })
  const { socket, until, ended } = await wire(t, await listen(t, server))
  socket.write(importHead('x', 1000, ['Expect: 100-continue']))
  await until('100 Continue')
  await lorekeep.close()
  t.match(await until('}'), /HTTP\/1.1 503 [^]*LK_CLOSED/)
  t.equal(listeners(), 1)
  await ended()
  await new Promise(setImmediate)
  t.equal(listeners(), 0, 'nobody waits for the rest')
})

t.test(
  'a store that closes under a stalled export cuts it, and does not wait for it',
  async (t) => {
    const lorekeep = await createLorekeep({ backend: new MemoryBackend(), closeTimeoutMs: 50 })
    const { knowledge } = lorekeep
    const id = 'x'
    const o = { v: 'x'.repeat(1_000_000), e: false }
    const messages = Array.from({ length: 48 }, () => {
      const m = { i: id, m: [], u: 'u', c: 'c' }
      const triple = { s: { v: 's', e: true }, p: { v: 'p', e: true }, o }
      return encode(['t', { m, t: [triple] }])
    })
    await knowledge.import({ user: 'u', id }, messages)
    const errors: unknown[] = []
    const onError = (error: unknown) => void errors.push(error)
    const handler = createHandler({ knowledge, authenticate: 'none', onError })
    const answers: Promise<void>[] = []
    const server = createServer(
      (request, response) => void answers.push(handler(request, response)),
    )
    const { socket, until, ended } = await wire(t, await listen(t, server))
    socket.write('GET /api/v1/export-core?id=x&user=u HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await until('\r\n\r\n')
    socket.pause()
    await new Promise((resolve) => setTimeout(resolve, 100))
    const started = performance.now()
    await lorekeep.close()
    t.ok(performance.now() - started < 5_000, 'far below exportIdleTimeoutMs')
    socket.resume()
    const { length } = await ended()
    t.ok(length < 48_000_000, `${length} bytes`)
    await Promise.all(answers)
    t.match(errors, [{ code: 'LK_CLOSED' }])
  },
)

/** A connection that asks for more than what the system keeps for both ends, and then what there is in `tail`. */
async function askMuch(t: Test, exportIdleTimeoutMs: number, tail = '') {
  const { knowledge } = await openStore(t)
  const handler = createHandler({ knowledge, authenticate: 'none', exportIdleTimeoutMs })
  const answers: Promise<void>[] = []
  const server = createServer((request, response) => {
    answers.push(handler(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => {
    client.destroy()
    server.close()
    server.closeAllConnections()
  })
  const [socket] = (await once(server, 'connection')) as [Socket]
  const asked = 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'
  client.write(asked.repeat(200) + tail)
  return { answers, client, socket }
}

t.test('whole answers that nobody reads end with their connection', async (t) => {
  const { answers, socket } = await askMuch(t, 50)
  await once(socket, 'close')
  await t.resolves(Promise.all(answers))
})

t.test('answers that were waited for leave a connection as it was', async (t) => {
  const last = 'GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
  const { answers, client, socket } = await askMuch(t, 60_000, last)
  const timeouts: number[] = []
  const set = socket.setTimeout.bind(socket)
  socket.setTimeout = (ms, listener) => {
    timeouts.push(ms)
    return set(ms, listener)
  }
  const listeners = socket.listenerCount('timeout')
  client.resume()
  await once(client, 'close')
  t.equal(answers.length, 201)
  t.ok(timeouts.includes(60_000))
  // All that was set is taken back.
  t.equal(timeouts.filter((ms) => ms === 0).length, timeouts.filter((ms) => ms > 0).length)
  t.equal(socket.listenerCount('timeout'), listeners)
})

t.test('the promise is settled when the response is, also where the client left', async (t) => {
  const { url, answers } = await serve(t)
  await send(`${url}/healthz`)
  await t.resolves(Promise.all(answers))
  t.equal(answers.length, 1)
})
