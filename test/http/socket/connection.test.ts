import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { createHandler } from '../../../src/http/index.js'
import type { HandlerOptions, Principal } from '../../../src/http/index.js'
import { family, fillCores, knows } from '../fixtures/graphs.js'
import { as, openStore, send, serve } from '../fixtures/serving.js'
import { Client } from './client.js'

const list = { operation: 'list-kg-cores' }
const textOf = (text: string) => Buffer.from(text).toString('base64')

/** The status that a handshake is refused with; 101 where it is not. */
async function handshake(
  t: Test,
  url: string,
  path = '/api/v1/socket',
  headers: Record<string, string> = {},
): Promise<number> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers })
  t.teardown(() => socket.terminate())
  return new Promise((resolve) => {
    socket.on('open', () => resolve(101)).on('error', () => {})
    socket.on('unexpected-response', (_, response: IncomingMessage) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
  })
}

t.test('every service of the socket answers with the id of its request', async (t) => {
  const { url, knowledge, flows } = await serve(t)
  await fillCores(knowledge)
  const client = await Client.open(t, url, { token: 'alice' })
  const flow = (service: string) => ({ service, flow: 'default' })
  t.strictSame((await client.one(list)).response, { ids: ['family', 'firm'] })
  t.strictSame(
    (await client.one({ operation: 'load-kg-core', id: 'firm', flow: 'default' })).response,
    {},
  )
  t.strictSame(
    (await client.one({ operation: 'unload-kg-core', id: 'firm', flow: 'default' })).response,
    {},
  )
  t.strictSame((await client.one({ operation: 'delete-kg-core', id: 'firm' })).response, {})
  t.strictSame((await client.one(list)).response, { ids: ['family'] })
  const home = { user: 'alice', collection: 'home' }
  const found = await client.one({ p: knows, ...home }, flow('triples'))
  t.equal((found.response?.['response'] as unknown[]).length, 2)
  t.equal(family.length, 3)
  const typed = { p: { t: 'i', i: knows.v }, collection: 'home' }
  t.match(await client.one(typed, flow('triples')), { response: { response: [{ s: { t: 'i' } }] } })
  const near = await client.one(
    { vectors: [[1, 0, 0]], limit: 1, ...home },
    flow('graph-embeddings'),
  )
  t.match(near.response, { entities: [{ e: true }] })
  const loaded = await client.one({ id: 'urn:d', text: textOf('Ellen.') }, flow('text-load'))
  t.strictSame(loaded.response, {})
  const documents: string[] = []
  for await (const { document } of flows.jobs({ flow: 'default', user: 'alice' })) {
    documents.push(document)
  }
  t.strictSame(documents, ['urn:d'])
})

t.test('what is not served is an error with the id of the request', async (t) => {
  const { url } = await serve(t)
  const client = await Client.open(t, url, { token: 'alice' })
  for (const [envelope, request, type] of [
    [{ service: 'agent', flow: 'default' }, { question: 'why?' }, 'unknown-service'],
    [{ service: 'toString' }, {}, 'unknown-service'],
    [{ service: 'knowledge' }, { operation: 'get-de-core', id: 'a' }, 'argument'],
    [{ service: 'knowledge' }, { ...list, user: 'bob' }, 'access-denied'],
    [{ service: 'triples' }, {}, 'argument'],
    [{ service: 'triples', flow: 'nowhere' }, {}, 'not-found'],
    [{ service: 7 }, {}, 'argument'],
    [{}, {}, 'argument'],
  ] as const) {
    const answer = await client.one(request, envelope)
    t.equal(answer.error?.type, type, JSON.stringify(envelope))
    t.strictSame(answer.response?.['error'], answer.error, 'where older clients look for it')
  }
  for (const text of ['{', '[]', '{"id":{}}', '{"service":"knowledge","request":{}}', '']) {
    client.send(text)
    const answer = await client.receive()
    t.ok(answer.error?.code)
    t.notOk('id' in answer)
  }
  client.send({ id: 5, service: 'knowledge', request: [] })
  t.match(await client.receive(), { id: 5, error: { code: 'LK_HTTP_REQUEST' } })
  t.strictSame((await client.one(list)).response, { ids: [] }, 'and the socket is open')
  await client.authenticate('alice')
  t.notOk('response' in (await client.one({}, { service: 'agent' })), 'newer ones look beside it')
})

t.test('a token comes in the query, in a header, or in a message', async (t) => {
  const { url, knowledge } = await serve(t, { defaultUser: 'alice' })
  await fillCores(knowledge)
  const ids = { ids: ['family', 'firm'] }
  const byQuery = await Client.open(t, url, { token: 'alice' })
  t.strictSame((await byQuery.one(list)).response, ids)
  const byHeader = await Client.open(t, url, { headers: as('alice') })
  t.strictSame((await byHeader.one(list)).response, ids)

  const client = await Client.open(t, url)
  t.match(await client.one(list), { error: { type: 'auth-required' } })
  t.match(await client.authenticate('stolen'), { type: 'auth-failed', error: /\w/ })
  t.match(await client.one(list), { error: { type: 'auth-required' } })
  t.strictSame(await client.authenticate('bob'), { type: 'auth-ok', default_workspace: 'bob' })
  t.strictSame((await client.one(list)).response, { ids: [] })
  t.match(await client.authenticate('stolen'), { type: 'auth-failed' })
  t.strictSame((await client.one(list)).response, { ids: [] }, 'still the one before')
  t.strictSame(await client.authenticate('admin'), { type: 'auth-ok', default_workspace: 'alice' })
  t.strictSame((await client.one({ ...list, workspace: 'default' })).response, ids)
  t.match(await client.authenticate(''), { type: 'auth-failed' })

  t.equal(await handshake(t, url, '/api/v1/socket?token=stolen'), 401)
  t.equal(await handshake(t, url, '/api/v1/socket', as('stolen')), 401)
  t.equal(await handshake(t, url, '/api/v1/socket?token='), 101)
  t.equal(await handshake(t, url, '/api/v1/socket?tokens=alice'), 400)
  t.equal(await handshake(t, url, '/api/v1/sockets'), 404)
})

t.test('pages open sockets where CORS would let them read answers', async (t) => {
  const { url } = await serve(t)
  const to = (url: string, origin: string, more = {}) =>
    handshake(t, url, '/api/v1/socket?token=alice', { Origin: origin, ...more })
  for (const origin of [url, 'http://localhost:3000', 'http://127.0.0.1:1']) {
    t.equal(await to(url, origin), 101, origin)
  }
  t.equal(await to(url, 'https://keep.example.com', { Host: 'keep.example.com' }), 101)
  const strangers = ['https://example.com', 'null', '', 'http://localhost.example.com']
  for (const origin of strangers) t.equal(await to(url, origin), 403, origin)
  const listed = await serve(t, { cors: { origins: ['https://example.com'] } })
  t.equal(await to(listed.url, 'https://example.com'), 101)
  t.equal(await to(listed.url, 'https://example.org'), 403)
  const everyone = await serve(t, { cors: { origins: '*' } })
  t.equal(await to(everyone.url, 'https://example.org'), 101)
  // Who asks nobody for a token has no other guard.
  const open = await serve(t, { authenticate: 'none' })
  t.equal(await to(open.url, 'https://example.com'), 403)
})

t.test(
  'cookies open sockets for pages of the server, and of origins that may send them',
  async (t) => {
    const origins = ['https://example.com']
    const authenticate = (_: string | undefined, { headers }: IncomingMessage) =>
      headers.cookie === 'session=alice' ? { user: 'alice' } : null
    const asks = async (cors: HandlerOptions['cors'], origin: string | undefined) => {
      const { url } = await serve(t, { authenticate, ...(cors && { cors }) })
      const headers = { Cookie: 'session=alice', Origin: origin ?? url }
      const client = await Client.open(t, url, { headers })
      const { response } = await client.one(list)
      return response !== undefined && 'ids' in response
    }
    t.equal(await asks(undefined, undefined), true, 'its own')
    t.equal(await asks({ origins }, origins[0]), false)
    t.equal(await asks({ origins: '*' }, origins[0]), false)
    t.equal(await asks({ origins, credentials: true }, origins[0]), true)
    t.equal(await asks({ origins, credentials: true }, 'http://localhost:3000'), false)
  },
)

t.test('requests behind a token in the same breath wait for it', async (t) => {
  const { url } = await serve(t, {
    authenticate: async (token) => {
      await new Promise((resolve) => setImmediate(resolve))
      return token === 'alice' ? { user: 'alice' } : null
    },
  })
  const client = await Client.open(t, url)
  client.send({ type: 'auth', token: 'alice' })
  client.send({ id: 'a', service: 'knowledge', request: list })
  t.match(await client.receive(), { type: 'auth-ok' })
  t.match(await client.receive(), { id: 'a', response: { ids: [] } })
})

t.test('a principal may do by a socket what it may do over HTTP', async (t) => {
  const principals: Record<string, Principal> = {
    reader: { user: 'alice', access: 'read' },
    worker: { user: 'alice', collections: ['work'] },
  }
  const { url, knowledge } = await serve(t, {
    authenticate: (token = '') => principals[token],
  })
  await fillCores(knowledge)
  const put = { operation: 'put-kg-core', id: 'family', triples: { metadata: {}, triples: [] } }
  const text = { id: 'urn:d', text: textOf('Ellen.'), collection: 'home' }
  const flow = (service: string) => ({ service, flow: 'default' })
  const reader = await Client.open(t, url, { token: 'reader' })
  const typeOf = async (client: Client, request: object, envelope?: object) => {
    return (await client.ask(request, envelope)).at(-1)?.error?.type
  }
  t.equal(await typeOf(reader, put), 'access-denied')
  t.equal(await typeOf(reader, { operation: 'delete-kg-core', id: 'family' }), 'access-denied')
  t.equal(await typeOf(reader, text, flow('text-load')), 'access-denied')
  t.equal(await typeOf(reader, { operation: 'get-kg-core', id: 'family' }), undefined)
  t.equal(await typeOf(reader, { collection: 'home' }, flow('triples')), undefined)
  const worker = await Client.open(t, url, { token: 'worker' })
  t.equal(await typeOf(worker, { collection: 'home' }, flow('triples')), 'access-denied')
  t.equal(await typeOf(worker, { collection: 'work' }, flow('triples')), undefined)
  t.equal(await typeOf(worker, { vector: [1, 0, 0] }, flow('graph-embeddings')), 'access-denied')
  t.equal(await typeOf(worker, text, flow('text-load')), 'access')
  t.equal(await typeOf(worker, { operation: 'get-kg-core', user: 'bob', id: 'a' }), 'access-denied')
})

t.test('who does not say who it is may say little, and not for long', async (t) => {
  const { url } = await serve(t, { idleTimeoutMs: 200 })
  const silent = await Client.open(t, url)
  t.equal(await silent.closed(), 1008)
  const talking = await Client.open(t, url)
  talking.send(`{"a":"${'x'.repeat(70_000)}"}`)
  t.equal(await talking.closed(), 1008)
  const { url: patient } = await serve(t)
  const guessing = await Client.open(t, patient)
  for (let n = 0; n < 3; n++) guessing.send(`{"a":"${'x'.repeat(30_000)}"}`)
  t.equal(await guessing.closed(), 1008)
})

t.test('a message that does not go on ends the socket, and a silent one does not', async (t) => {
  const { url, port } = await serve(t, { idleTimeoutMs: 100 })
  const client = await Client.open(t, url, { token: 'alice' })
  client.socket.ping()
  const raw = await upgraded(t, port)
  // A text of 100 bytes, of which two come.
  raw.write(Buffer.from([0x81, 0x80 | 100, 0, 0, 0, 0, 0x7b, 0x22]))
  raw.resume()
  await once(raw, 'close')
  t.strictSame((await client.one(list)).response, { ids: [] })
})

t.test('a client that has vanished is left, and one that is silent is not', async (t) => {
  const { url, port } = await serve(t, { heartbeatMs: 200 })
  const client = await Client.open(t, url, { token: 'alice' })
  const vanished = await upgraded(t, port)
  // It reads, and answers no ping.
  vanished.resume()
  await once(vanished, 'close')
  for (let n = 0; n < 3; n++) await once(client.socket, 'ping')
  t.strictSame((await client.one(list)).response, { ids: [] })
})

t.test('whose pongs may wait behind an answer is not left before it can be read', async (t) => {
  const open = async (exportIdleTimeoutMs: number) => {
    const { url } = await serve(t, { heartbeatMs: 100, exportIdleTimeoutMs })
    const address = `${url.replace('http', 'ws')}/api/v1/socket?token=alice`
    const socket = new WebSocket(address, { autoPong: false })
    t.teardown(() => socket.terminate())
    const client = new Client(socket)
    await once(socket, 'open')
    await client.one(list)
    return client
  }
  const slow = await open(60_000)
  const closed = slow.closed()
  for (let n = 0; n < 4; n++) await Promise.race([once(slow.socket, 'ping'), closed])
  t.strictSame((await slow.one(list)).response, { ids: [] })
  await (await open(100)).closed()
})

t.test('what comes after a socket was refused keeps no memory', async (t) => {
  const { url, port } = await serve(t, { idleTimeoutMs: 100, maxBufferedBytes: 100_000 })
  for (let at = 0; at < 3; at++) {
    const raw = await upgraded(t, port)
    // A text of 40,000 bytes: one of them comes in time, and the others after the goodbye.
    raw.write(Buffer.from([0x81, 0x80 | 126, 0x9c, 0x40, 0, 0, 0, 0, 0x7b]))
    await once(raw, 'data')
    raw.write(Buffer.alloc(39_999, 0x20))
    raw.resume()
    await once(raw, 'close')
  }
  const client = await Client.open(t, url, { token: 'alice' })
  t.strictSame((await client.one({ ...list, x: 'x'.repeat(20_000) })).response, { ids: [] })
})

t.test('a message has as many bytes as a body of JSON may have', async (t) => {
  const { url } = await serve(t, { maxJsonBytes: 1000 })
  const client = await Client.open(t, url, { token: 'alice' })
  const fitting = (length: number) => {
    const start = '{"id":"a","service":"knowledge","request":{"operation":"list-kg-cores","x":"'
    return `${start.padEnd(length - 3, 'x')}"}}`
  }
  client.send(fitting(1000))
  t.match(await client.receive(), { id: 'a', response: { ids: [] } })
  client.send(fitting(1001))
  t.equal(await client.closed(), 1009)
})

t.test('a socket has so many requests under way, and the others wait', async (t) => {
  const open: (() => void)[] = []
  let most = 0
  const { knowledge, flows } = await openStore(t)
  const gate = {
    load: flows.load.bind(flows),
    run: flows.run.bind(flows),
    get: async () =>
      void (await new Promise<void>((resolve) => {
        open.push(resolve)
        most = Math.max(most, open.length)
      })),
  }
  const handled = await listening(t, {
    knowledge,
    flows: gate as unknown as NonNullable<HandlerOptions['flows']>,
    authenticate: 'none',
    maxSocketRequests: 2,
  })
  const client = await Client.open(t, handled)
  for (let n = 0; n < 5; n++)
    client.send({ id: `${n}`, service: 'triples', flow: 'a', request: {} })
  const answered: unknown[] = []
  while (answered.length < 5) {
    while (open.length === 0) await new Promise((resolve) => setImmediate(resolve))
    open.shift()?.()
    answered.push((await client.receive()).id)
  }
  t.equal(most, 2)
  t.strictSame(answered, ['0', '1', '2', '3', '4'])
})

async function listening(t: Test, options: HandlerOptions): Promise<string> {
  const handler = createHandler(options)
  const server = createServer((request, response) => void handler(request, response))
  server.on('upgrade', (...upgraded) => void handler.upgrade(...upgraded))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('a reader that takes nothing is not read ahead of, and is cut off', async (t) => {
  const { knowledge } = await openStore(t)
  const m = { i: '', m: [], u: '', c: 'c' }
  const ref = { user: 'trustgraph', id: 'large' }
  const total = 150
  function* large() {
    for (let n = 0; n < total; n++) {
      const o = { v: `${n} ${'x'.repeat(400_000)}`, e: false }
      yield ['t', { m, t: [{ s: knows, p: knows, o }] }] as const
    }
  }
  await knowledge.write(ref, large())
  let read = 0
  let isOver = false
  const counting = {
    import: knowledge.import.bind(knowledge),
    export: knowledge.export.bind(knowledge),
    async *messages(...asked: Parameters<typeof knowledge.messages>) {
      try {
        for await (const message of knowledge.messages(...asked)) {
          read++
          yield message
        }
      } finally {
        isOver = true
      }
    },
  }
  const url = await listening(t, {
    knowledge: counting as unknown as typeof knowledge,
    authenticate: 'none',
    exportIdleTimeoutMs: 300,
  })
  const client = await Client.open(t, url)
  client.socket.pause()
  client.send({ id: 'a', service: 'knowledge', request: { operation: 'get-kg-core', id: 'large' } })
  // The server's side is cut; here that is seen when reading goes on.
  const closed = client.closed()
  while (!isOver) await new Promise((resolve) => setTimeout(resolve, 10))
  client.socket.resume()
  await closed
  t.ok(read < total, `${read} of ${total}`)
})

t.test(
  'sockets end with the store, with the signal, and not before they have answered',
  async (t) => {
    const signalled = new AbortController()
    const { url, lorekeep } = await serve(t, { signal: signalled.signal })
    const client = await Client.open(t, url, { token: 'alice' })
    t.ok(await client.one(list))
    const closed = client.closed()
    signalled.abort()
    t.equal(await closed, 1001)
    t.equal(await handshake(t, url, '/api/v1/socket?token=alice'), 503)
    await lorekeep.close()

    const other = await serve(t)
    const idle = await Client.open(t, other.url, { token: 'alice' })
    const ended = idle.closed()
    await other.lorekeep.close()
    t.equal(await ended, 1001)
  },
)

t.test('there are so many sockets, and half of them for one user', async (t) => {
  const { url } = await serve(t, { maxSockets: 4 })
  const place = async (token: string) => handshake(t, url, `/api/v1/socket?token=${token}`)
  t.strictSame([await place('alice'), await place('alice'), await place('alice')], [101, 101, 503])
  const unknown = await Client.open(t, url)
  t.match(await unknown.authenticate('alice'), { type: 'auth-ok' })
  t.equal(await unknown.closed(), 1013, 'whose places are taken')
  t.equal(await place('bob'), 101)
})

t.test('other paths are the hosts, and a GET is no handshake', async (t) => {
  const { knowledge } = await openStore(t)
  const handler = createHandler({ knowledge, authenticate: 'none' })
  const server = createServer((request, response) => void handler(request, response))
  server.on('upgrade', (request, socket, head) => {
    void handler.upgrade(request, socket, head, () => socket.end('HTTP/1.1 418 Mine\r\n\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.equal(await handshake(t, url, '/elsewhere'), 418)
  t.equal(await handshake(t, url), 101)
  t.equal((await send(`${url}/api/v1/socket`)).status, 404)
})

t.test('what a host throws for a path of its own is told, and ends the socket', async (t) => {
  const { knowledge } = await openStore(t)
  const told: unknown[] = []
  const onError = (error: unknown) => void told.push(error)
  const handler = createHandler({ knowledge, authenticate: 'none', onError })
  const server = createServer((request, response) => void handler(request, response))
  const broken = new Error('no such room')
  const ended: Promise<void>[] = []
  server.on('upgrade', (request, socket, head) => {
    const next = () => {
      throw broken
    }
    ended.push(handler.upgrade(request, socket, head, next))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const raw = connect(port, '127.0.0.1')
  t.teardown(() => raw.destroy())
  raw.write('GET /elsewhere HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: a\r\n\r\n')
  await once(raw, 'close')
  await t.resolves(Promise.all(ended))
  t.strictSame(told, [broken])
})

t.test('an authenticate that fails is a 500, and the host is told', async (t) => {
  const { url, errors } = await serve(t, {
    authenticate: (token) => {
      if (token === undefined) return null
      throw new Error('the directory is down')
    },
  })
  t.equal(await handshake(t, url, '/api/v1/socket?token=a'), 500)
  const client = await Client.open(t, url)
  t.match(await client.authenticate('a'), { type: 'auth-failed' })
  t.match(errors, [{ message: 'the directory is down' }, { message: 'the directory is down' }])
  t.equal(errors.length, 2)
})

/** A socket whose frames are written byte by byte. */
async function upgraded(t: Test, port: number): Promise<Socket> {
  const raw = connect(port, '127.0.0.1')
  t.teardown(() => raw.destroy())
  const key = Buffer.alloc(16).toString('base64')
  raw.write(
    `GET /api/v1/socket?token=alice HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
  )
  await once(raw, 'data')
  return raw
}
