// The Model Context Protocol over HTTP: by the official client of both eras, behind node:http and Fetch.

import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { catalogue, LorekeepError } from '../../../src/errors.js'
import { createFetchHandler, type HandlerOptions } from '../../../src/http/index.js'
import { assistantOf, createClient, textOf, type Assistant, type Era } from '../../mcp/assistant.js'
import { Working } from '../../mcp/working.js'
import { json, openStore, send, serve } from '../fixtures/serving.js'
import { version } from '../../../src/version.js'

const principals: Readonly<
  Record<string, { user: string; access?: 'read'; collections?: string[] }>
> = {
  alice: { user: 'alice' },
  bob: { user: 'bob' },
  reader: { user: 'alice', access: 'read' },
  narrow: { user: 'alice', collections: ['other'] },
  several: { user: 'alice', collections: ['default', 'other'] },
  any: { user: '*' },
}
const authenticate = (token = '') => principals[token] ?? null
const text = 'Mary Shelley wrote Frankenstein in Geneva.'
const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }

function post(url: string, message: object, accept?: string) {
  return send(`${url}/mcp`, {
    method: 'POST',
    headers: { authorization: 'Bearer alice', ...(accept && { accept }) },
    body: Buffer.from(JSON.stringify(message)),
  })
}

async function connected(
  t: Test,
  token: string,
  era: Era,
  { url = 'http://localhost', fetch }: { url?: string; fetch?: typeof globalThis.fetch },
  query = '',
): Promise<Assistant> {
  const client = createClient(era)
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/mcp${query}`), {
    requestInit,
    ...(fetch && { fetch }),
  })
  await client.connect(transport)
  t.teardown(() => client.close())
  return assistantOf(client)
}

for (const era of ['modern', 'legacy'] as const) {
  t.test(`an assistant of the ${era} era loads and asks what is its token's`, async (t) => {
    const store = await openStore(t)
    const { knowledge, objects, flows } = store
    const options = { knowledge, objects, flows, authenticate, mcp: 'write' } as const
    const serving = await serve(t, options)
    const handler = createFetchHandler(options as HandlerOptions as never)
    const doors = [
      { url: serving.url },
      { fetch: ((url: string, init: RequestInit) => handler(new Request(url, init))) as never },
    ]
    for (const door of doors) {
      const alice = await connected(t, 'alice', era, door)
      t.equal((await alice.client.listTools()).tools.length, 8)
      const loaded = await alice.call('load', { document: 'urn:note', text })
      const { job } = loaded.structuredContent as { job: string }
      const runner = flows.run()
      t.match((await alice.call('job', { job, wait_seconds: 30 })).structuredContent, {
        state: 'done',
      })
      await runner.stop()
      t.match(textOf(await alice.call('search', { text: 'Geneva' })), /document urn:note/)

      const bob = await connected(t, 'bob', era, door)
      t.match(textOf(await bob.call('search', { text: 'Geneva' })), /^No passage/)
      t.equal((await bob.call('job', { job })).isError, true)
      const narrow = await connected(t, 'narrow', era, door)
      t.match(textOf(await narrow.call('search', { text: 'Geneva' })), /^No passage/)
      t.match(
        textOf(await narrow.call('search', { text: 'a', collection: 'default' })),
        /FORBIDDEN/,
      )
      t.match(textOf(await narrow.call('load', { document: 'a', text })), /LK_DOCUMENT_ACCESS/)
      const reader = await connected(t, 'reader', era, door)
      t.equal((await reader.client.listTools()).tools.length, 7)
      await t.rejects(reader.call('load', { document: 'a', text }), { code: -32602 })
      const anyone = await connected(t, 'any', era, door, '?user=alice')
      t.match(textOf(await anyone.call('search', { text: 'Geneva' })), /document urn:note/)
      await t.rejects(connected(t, 'bob', era, door, '?user=alice'))
      await t.rejects(connected(t, 'nobody', era, door))
    }
  })
}

t.test('a token for several collections reads documents, cores and prompts', async (t) => {
  const { url, flows, knowledge } = await serve(t, { mcp: true, authenticate })
  for (const [id, collection] of [
    ['urn:note', 'other'],
    ['urn:secret', 'secret'],
  ] as const) {
    const document = { id, content: text, user: 'alice', collection }
    const { job } = await flows.load('default', document)
    const running = flows.run()
    for await (const _event of flows.watch({ job })) continue
    await running.stop()
  }
  const said = { s: { v: 'urn:s', e: true }, p: { v: 'urn:p', e: true }, o: { v: 'o', e: false } }
  await knowledge.write({ user: 'alice', id: 'written' }, [
    ['t', { m: { i: 'written', u: 'alice', m: [], c: 'other' }, t: [said] }],
  ])
  const { client } = await connected(t, 'several', 'modern', { url })
  const read = async (uri: string) => JSON.stringify(await client.readResource({ uri }))
  t.match(await read('lorekeep://document/urn%3Anote'), text)
  t.match(await read('lorekeep://core/urn%3Anote'), text)
  t.match(await read('lorekeep://core/written?collection=other'), 'urn:s')
  await t.rejects(read('lorekeep://core/written'), { message: /collection is missing/ })
  for (const uri of [
    'lorekeep://document/urn%3Asecret',
    'lorekeep://core/urn%3Asecret',
    'lorekeep://core/urn%3Asecret?collection=secret',
  ]) {
    await t.rejects(read(uri), uri)
  }
  const prompt = async (name: string, given: Record<string, string>) =>
    JSON.stringify(await client.getPrompt({ name, arguments: given }))
  t.match(await prompt('summarise', { document: 'urn:note' }), text)
  const question = 'Where did Mary Shelley write Frankenstein?'
  t.match(await prompt('ask', { question, collection: 'other' }), text)
  t.notMatch(await prompt('ask', { question, collection: 'default' }), text)
})

for (const era of ['modern', 'legacy'] as const) {
  t.test(`who leaves a question of the ${era} era ends its work`, async (t) => {
    const store = await openStore(t)
    const { knowledge, objects, flows } = store
    const working = new Working()
    const slow = Object.assign(Object.create(knowledge) as typeof knowledge, {
      graph: () => working.graph,
    })
    const failures: unknown[] = []
    const onError = (error: unknown) => void failures.push(error)
    const { url } = await serve(t, {
      ...{ knowledge: slow, objects, flows, authenticate, onError },
      mcp: true,
    })
    const gone = new AbortController()
    const leaving = (url: string | URL, init: RequestInit = {}) =>
      fetch(url, { ...init, signal: gone.signal })
    const alice = await connected(t, 'alice', era, { url, fetch: leaving as never })
    const begun = working.next()
    const answer = alice.call('answer_context', { question: 'Who?' })
    const { ended } = await begun
    gone.abort()
    await t.rejects(answer)
    await ended
    const bob = await connected(t, 'bob', era, { url })
    t.match(textOf(await bob.call('search', { text: 7 })), /LK_TOOL_ARGUMENTS/)
    t.strictSame(failures, [], 'it is no failure of the server')
  })
}

t.test('what storage and models fail with is for onError, and not for an assistant', async (t) => {
  const failures = [
    new LorekeepError('LK_STORAGE_FAILED', 'get: /var/secret/5.ldb: IO error'),
    new LorekeepError('LK_MODEL_REFUSED', 'http://secret/v1 answered 401', {
      details: { errors: [{ message: 'http://secret/v1' }] },
    }),
  ]
  let failure: unknown
  const { knowledge } = await openStore(t)
  const failing = Object.assign(Object.create(knowledge) as typeof knowledge, {
    corePage: () => Promise.reject(failure),
    graph: () => ({ retrieve: () => Promise.reject(failure) }),
  })
  const { url, errors } = await serve(t, { mcp: true, authenticate, knowledge: failing } as object)
  const list = { name: 'list', arguments: { what: 'cores' } }
  const ask = { name: 'ask', arguments: { question: 'Who?' } }
  for (failure of failures) {
    const { code, kind } = failure as LorekeepError
    const message = `${code}: ${catalogue[code].message}`
    const called = await post(url, { ...ping, method: 'tools/call', params: list })
    const told = { code, kind }
    t.match(json(called), {
      result: {
        isError: true,
        content: [{ text: message }],
        _meta: { 'lorekeep/error': told },
      },
    })
    const prompted = await post(url, { ...ping, method: 'prompts/get', params: ask })
    t.match(json(prompted), { error: { message, data: told } })
    t.notMatch(`${called.body}${prompted.body}`, 'secret')
    t.strictSame(errors.splice(0), [failure, failure])
  }
  failure = new LorekeepError('LK_CURSOR', 'of another list')
  const refused = await post(url, { ...ping, method: 'tools/call', params: list })
  t.match(String(refused.body), 'of another list')
  t.strictSame(errors, [], 'what is wrong with a question is for whoever asks')
})

t.test('an initialize of 2025-06-18, written by hand, is answered', async (t) => {
  const { url } = await serve(t, { mcp: true, authenticate })
  const clientInfo = { name: 'hand', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
  const reply = await post(url, { jsonrpc: '2.0', id: 1, method: 'initialize', params })
  t.equal(reply.status, 200)
  t.match(json(reply), {
    id: 1,
    result: { protocolVersion: '2025-06-18', serverInfo: { name: 'lorekeep', version } },
  })
})

t.test('what is wrong in thousands of places is told in some words', async (t) => {
  const { url } = await serve(t, { mcp: true, authenticate })
  const wrong = Array.from({ length: 2000 }, () => 1)
  const named = Object.fromEntries(wrong.map((value, n) => [`a${n}`, value]))
  const protocol = 'io.modelcontextprotocol'
  const newer = (clientInfo: object, clientCapabilities: object = {}) => ({
    _meta: {
      [`${protocol}/protocolVersion`]: '2026-07-28',
      [`${protocol}/clientInfo`]: { name: 'hand', version: '1', ...clientInfo },
      [`${protocol}/clientCapabilities`]: clientCapabilities,
    },
  })
  const older = (clientInfo: object, capabilities: object = {}) => ({
    protocolVersion: '2025-06-18',
    clientInfo: { name: 'hand', version: '1', ...clientInfo },
    capabilities,
  })
  const called = { name: 'list', arguments: { what: 'cores' } }
  for (const [method, params] of [
    ['initialize', older({ icons: wrong })],
    ['initialize', older({}, { experimental: named })],
    ['initialize', older({}, { extensions: named })],
    ['server/discover', newer({}, { experimental: named })],
    ['tools/call', { ...called, ...newer({ icons: wrong }) }],
    ['tools/call', { ...called, _meta: named }],
    ['tools/call', { ...called, arguments: named }],
  ] as const) {
    const reply = await post(url, { jsonrpc: '2.0', id: 1, method, params })
    t.equal(reply.status, 200, method)
    t.match(json(reply), { jsonrpc: '2.0', id: 1, error: { code: -32602 } })
    t.ok(reply.body.length < 1000, `${method}: ${reply.body.length} bytes`)
  }
  const unasked = await post(url, { jsonrpc: '2.0', method: 'notifications/a', params: named })
  t.equal(unasked.status, 400, 'nobody waits for the answer to a notification')
  t.match(unasked.headers['content-type'], /^application\/problem\+json/)
  t.match(json(unasked), { code: 'LK_HTTP_REQUEST', detail: /at most 500 values/ })
  const filters = { id: { $in: wrong.map(String) } }
  const asked = { name: 'query_objects', arguments: { schema: 'lorekeep_entity', filters } }
  const reply = await post(url, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: asked })
  t.equal(reply.status, 200, 'what is inside the arguments is for the tools')
})

t.test('the empty name is no user, whoever asks', async (t) => {
  const { url, errors } = await serve(t, { mcp: true, authenticate })
  for (const token of ['alice', 'any']) {
    const reply = await send(`${url}/mcp?user=`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
      body: Buffer.from(JSON.stringify({ ...ping, method: 'tools/list' })),
    })
    t.match(json(reply), { status: 400, code: 'LK_HTTP_REQUEST', errors: [{ path: 'user' }] })
  }
  t.strictSame(errors, [])
})

t.test('progress comes before the answer, to those who take events alone', async (t) => {
  const { url, flows } = await serve(t, { mcp: true, authenticate })
  const { job } = await flows.load('default', { id: 'urn:note', content: text, user: 'alice' })
  const params = {
    name: 'job',
    arguments: { job, wait_seconds: 1 },
    _meta: { progressToken: 'p' },
  }
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  const plain = await post(url, message, 'application/json')
  t.match(plain.headers['content-type'], /^application\/json/)
  t.match(json(plain), { id: 1, result: { structuredContent: { state: 'queued' } } })
  const events = await post(url, message, 'application/json, text/event-stream')
  t.match(events.headers['content-type'], /^text\/event-stream/)
  const told = [...events.body.toString().matchAll(/^data: (.*)$/gm)].map(
    ([, data = '']) => JSON.parse(data) as Record<string, unknown>,
  )
  t.match(told[0], { method: 'notifications/progress', params: { progressToken: 'p', total: 1 } })
  t.match(told.at(-1), { id: 1, result: { structuredContent: { state: 'queued' } } })
  const unasked = await post(url, { ...message, params: { ...params, _meta: {} } })
  t.match(unasked.headers['content-type'], /^application\/json/)
})

t.test('without tokens, what comes by names of other machines is refused', async (t) => {
  const { url } = await serve(t, { mcp: true, authenticate: 'none' })
  const body = Buffer.from(JSON.stringify(ping))
  const ask = (headers: Record<string, string>) =>
    send(`${url}/mcp`, { method: 'POST', headers, body })
  t.equal((await ask({})).status, 200)
  t.equal((await ask({ origin: 'http://localhost:3000' })).status, 200)
  for (const headers of [
    { host: 'evil.example.com' },
    { origin: 'http://evil.example.com' },
    { host: 'evil.example.com', origin: 'http://evil.example.com' },
    { origin: 'null' },
    { origin: 'http://localhost.evil.example.com' },
  ]) {
    const reply = await ask(headers)
    t.equal(reply.status, 403, JSON.stringify(headers))
    t.match(json(reply), { code: 'LK_HTTP_FORBIDDEN' })
  }
})

t.test('with tokens, a page asks from the origin of the server or one of cors', async (t) => {
  const cors = { origins: ['https://app.example.com'] }
  const { url } = await serve(t, { mcp: true, authenticate, cors })
  const ask = (headers: Record<string, string>) => {
    const all = { authorization: 'Bearer alice', host: 'lore.example.com', ...headers }
    return send(`${url}/mcp`, {
      method: 'POST',
      headers: all,
      body: Buffer.from(JSON.stringify(ping)),
    })
  }
  t.equal((await ask({})).status, 200)
  t.equal((await ask({ origin: 'https://app.example.com' })).status, 200)
  t.equal((await ask({ origin: 'https://lore.example.com' })).status, 200)
  t.equal((await ask({ origin: 'https://evil.example.com' })).status, 403)
})

t.test('there is no such path unless it is asked for, and it takes all stores', async (t) => {
  const { url, knowledge } = await serve(t)
  t.equal((await send(`${url}/mcp`, { method: 'POST', body: Buffer.from('{}') })).status, 404)
  t.throws(
    () => createFetchHandler({ knowledge, mcp: true, authenticate: 'none' }),
    /mcp needs all stores: knowledge, objects, flows/,
  )
})
