// The door of the Fetch standard: what differs from node:http. Routes have tests of their own.

import t from 'tap'
import type { Test } from 'tap'
import { createFetchHandler, createHandler, type HandlerOptions } from '../../src/http/index.js'
import { hasCode } from '../../src/errors.js'
import { openFetch } from './fixtures/fetching.js'
import { as, core, openStore } from './fixtures/serving.js'
import { WatchedBackend } from './fixtures/slices.js'

const base = 'http://lorekeep.example/api/v1'
const exporting = `${base}/export-core?id=big`

/** `alice` and `bob` by token, and whoever has the cookie. */
async function open(t: Test, options: Partial<HandlerOptions<Request>> = {}) {
  const backend = new WatchedBackend()
  const { knowledge, objects, flows } = await openStore(t, backend)
  const errors: unknown[] = []
  const handler = openFetch({
    knowledge,
    objects,
    flows,
    authenticate: (token, request) => {
      if (request.headers.get('cookie') === 'session=1') return { user: 'carol' }
      return token === 'alice' || token === 'bob' ? { user: token } : null
    },
    onError: (error) => void errors.push(error),
    ...options,
  })
  const ask = (url: string, init: RequestInit & { duplex?: 'half' } = {}) => {
    const headers = { ...as('alice'), ...(init.headers as Record<string, string>) }
    return handler(new Request(url, { ...init, headers }))
  }
  return { backend, knowledge, objects, flows, handler, ask, errors }
}

/** Of several slices. */
async function fillBig(
  knowledge: Awaited<ReturnType<typeof open>>['knowledge'],
  rounds = 4000,
): Promise<Buffer> {
  const bytes = core('big', 'alice', rounds)
  await knowledge.import({ user: 'alice', id: 'big' }, bytes)
  return bytes
}

function streamOf(
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): ReadableStream<Uint8Array> {
  return ReadableStream.from(chunks) as ReadableStream<Uint8Array>
}

t.test('a core goes in and comes out as it was', async (t) => {
  const { ask } = await open(t)
  const bytes = core('small', 'alice', 40)
  const url = `${base}/import-core?id=small`
  const whole = await ask(url, { method: 'POST', body: new Uint8Array(bytes) })
  t.equal(whole.status, 200)
  t.match(await whole.json(), { bytes: bytes.length })
  const pieces = Array.from({ length: 50 }, (_, n) => bytes.subarray(n * 200, n * 200 + 200))
  const rest = bytes.subarray(50 * 200)
  const body = streamOf([...pieces, rest])
  const streamed = await ask(`${url}&mode=replace`, { method: 'POST', body, duplex: 'half' })
  t.equal(streamed.status, 200)
  const out = await ask(`${base}/export-core?id=small`)
  t.match(Object.fromEntries(out.headers), {
    'content-type': 'application/octet-stream',
    'content-length': String(bytes.length),
    'x-content-type-options': 'nosniff',
    'x-request-id': /./,
  })
  t.ok(Buffer.from(await out.arrayBuffer()).equals(bytes))
  const head = await ask(`${base}/export-core?id=small`, { method: 'HEAD' })
  t.strictSame([head.status, await head.text()], [200, ''])
  const etag = out.headers.get('etag') ?? ''
  const known = await ask(`${base}/export-core?id=small`, { headers: { 'If-None-Match': etag } })
  t.equal(known.status, 304)
})

t.test('what is refused is refused as by node:http', async (t) => {
  const { ask, handler } = await open(t, { maxCoreBytes: 1000 })
  const statusOf = async (url: string, init?: Parameters<typeof ask>[1]) => {
    const response = await ask(url, init)
    const { code } = (await response.json()) as { code: string }
    return `${response.status} ${code}`
  }
  const importing = `${base}/import-core?id=x`
  const large = core('x', 'alice', 40)
  const post = (body: ReadableStream | Uint8Array<ArrayBuffer>) =>
    ({ method: 'POST', body, duplex: 'half' }) as const
  t.equal(await statusOf(`${base}/nowhere`), '404 LK_HTTP_NOT_FOUND')
  t.equal(await statusOf(`${base}/cores`, { method: 'PUT' }), '405 LK_HTTP_METHOD')
  t.equal(await statusOf(importing, { method: 'POST' }), '400 LK_HTTP_REQUEST')
  t.equal(await statusOf(importing, post(streamOf([large]))), '413 LK_CORE_TOO_LARGE')
  t.equal(await statusOf(importing, post(new Uint8Array(large))), '413 LK_CORE_TOO_LARGE')
  t.equal(await statusOf(`${base}/graph/match`, post(streamOf([]))), '400 LK_HTTP_JSON')
  const used = new Request(importing, { ...post(new Uint8Array(9)), headers: as('alice') })
  await used.text()
  t.equal((await handler(used)).status, 500)
  const nobody = await handler(new Request(`${base}/cores`))
  t.equal(nobody.status, 401)
  t.match(nobody.headers.get('www-authenticate'), /^Bearer /)
  const byCookie = new Request(`${base}/cores`, { headers: { Cookie: 'session=1' } })
  t.strictSame(await (await handler(byCookie)).json(), { cores: [], limit: 100 })
  const options = await ask(`${base}/cores`, { method: 'OPTIONS' })
  t.strictSame([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'])
})

t.test('what was announced and is not there is refused, and replaces nothing', async (t) => {
  const { ask, knowledge, flows } = await open(t)
  const bytes = core('small', 'alice', 40)
  await knowledge.import({ user: 'alice', id: 'small' }, bytes)
  const importing = `${base}/import-core?id=small&mode=replace`
  const cut = new Uint8Array(bytes.subarray(0, 100))
  // As SvelteKit hands on what has no Content-Type, and as a proxy that leaves in the midst.
  for (const [url, length, body] of [
    [importing, { 'Content-Length': '6842' }],
    [importing, { 'Transfer-Encoding': 'chunked' }],
    [importing, { 'Content-Length': '6842' }, ''],
    [importing, { 'Content-Length': `${bytes.length}` }, cut],
    [`${base}/flow/default/service/file-load?id=x&name=x.txt`, { 'Content-Length': '5' }],
    [`${base}/flow/default/service/text-load`, { 'Content-Length': '5' }],
  ] as const) {
    const refused = await ask(url, {
      method: 'POST',
      headers: length,
      ...(body !== undefined && { body }),
    })
    t.equal(refused.status, 400, `${url} ${JSON.stringify(length)}`)
    const detail = JSON.stringify(await refused.json())
    t.match(detail, /was announced, and (0|100) bytes came of it/, detail)
  }
  const rewritten = { 'Content-Type': 'application/json', 'Content-Length': '99' }
  const query = { method: 'POST', headers: rewritten, body: '{"schema_name":"none"}' }
  const asked = await ask(`${base}/flow/default/objects/query`, query)
  t.match(await asked.json(), { code: 'LK_SCHEMA_NOT_FOUND' }, 'JSON says itself where it ends')
  const [kept] = (await knowledge.corePage({ user: 'alice' })).cores
  t.match(kept, { id: 'small', bytes: bytes.length })
  t.strictSame((await flows.jobPage({})).jobs, [])
  const empty = await ask(importing, { method: 'POST', headers: { 'Content-Length': '0' } })
  t.match(await empty.json(), { bytes: 0 }, 'who says so has an empty core')
})

t.test('an import that its sender gives up leaves nothing', async (t) => {
  const { ask, knowledge } = await open(t, { idleTimeoutMs: 60 })
  const url = `${base}/import-core?id=x`
  const bytes = core('x', 'alice', 40)
  async function* breaking() {
    yield bytes.subarray(0, 3000)
    throw new Error('the file is gone')
  }
  const broken = await ask(url, { method: 'POST', body: streamOf(breaking()), duplex: 'half' })
  t.notOk(broken.ok)
  let isCancelled = false
  const silent = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(bytes.subarray(0, 3000))),
    cancel: () => void (isCancelled = true),
  })
  const late = await ask(url, { method: 'POST', body: silent, duplex: 'half' })
  t.equal(late.status, 408)
  t.ok(isCancelled)
  t.equal(await knowledge.stat({ user: 'alice', id: 'x' }), undefined)
})

t.test('a signal ends a body that stays silent, and gives its place back', async (t) => {
  const { ask, errors } = await open(t, { maxUserRequests: 1 })
  let isCancelled = false
  const leaving = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(core('a', 'alice').subarray(0, 10)),
    cancel: () => void (isCancelled = true),
  })
  const url = `${base}/import-core?id=a`
  const { signal } = leaving
  const asked = ask(url, { method: 'POST', body, signal, duplex: 'half' })
  await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal((await ask(`${base}/cores`)).status, 429)
  leaving.abort()
  await asked
  t.equal(isCancelled, true)
  t.equal((await ask(`${base}/cores`)).status, 200)
  t.strictSame(errors, [])
})

t.test('an export is read at the pace of its reader', async (t) => {
  const { ask, backend, knowledge } = await open(t)
  const bytes = await fillBig(knowledge, 14_000)
  const before = backend.reads
  const response = await ask(exporting)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const chunks = [(await reader.read()).value as Uint8Array]
  for (let n = 0; n < 50; n++) await new Promise((resolve) => setImmediate(resolve))
  // One slice, and those that are read ahead.
  t.ok(bytes.length > 9.5 * 1024 ** 2, `${bytes.length} bytes`)
  t.ok(backend.reads - before <= 8, `${backend.reads - before} slices`)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
  }
  t.ok(Buffer.concat(chunks).equals(bytes))
})

for (const how of ['its body is cancelled', 'its request is aborted'] as const) {
  t.test(`an export ends when ${how}`, async (t) => {
    const { ask, knowledge, errors } = await open(t, { maxConcurrentExports: 1 })
    await fillBig(knowledge)
    const asker = new AbortController()
    const first = await ask(exporting, { signal: asker.signal })
    const reader = (first.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    t.equal((await ask(exporting)).status, 503)
    if (how === 'its body is cancelled') await reader.cancel()
    else {
      asker.abort()
      await t.rejects(readOn(reader))
    }
    for (let status = 503; status === 503;) {
      const next = await ask(exporting)
      status = next.status
      await next.body?.cancel()
      // In memory all of it would be done in one turn, and the export that ends has to wait for its own.
      await new Promise((resolve) => setImmediate(resolve))
    }
    t.notOk(errors.find((error) => !hasCode(error, 'LK_HTTP_BUSY')))
  })
}

async function readOn(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}

t.test('a reader that takes nothing is cut off', async (t) => {
  const { ask, knowledge, errors } = await open(t, { exportIdleTimeoutMs: 40 })
  await fillBig(knowledge)
  const response = await ask(exporting)
  while (errors.length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  t.match(errors, [{ code: 'LK_HTTP_TIMEOUT' }])
  await t.rejects(response.arrayBuffer())
})

t.test('an error in the midst of an answer cuts it', async (t) => {
  const { ask, backend, knowledge, errors } = await open(t)
  await fillBig(knowledge)
  const before = backend.reads
  backend.beforeRead = () => {
    if (backend.reads - before > 1) throw new Error('the disk is gone')
  }
  const response = await ask(exporting)
  t.equal(response.status, 200)
  await t.rejects(response.arrayBuffer())
  t.match(errors, [{ message: /disk is gone|could not be read/ }])
})

t.test('events come as they happen, until nobody reads them', async (t) => {
  const { ask, flows } = await open(t)
  const response = await ask(`${base}/flow/default/events`)
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const next = reader.read()
  await flows.load('default', { id: 'a', user: 'alice', content: 'Alice met Bob.' })
  t.match(Buffer.from((await next).value ?? []).toString(), /^id: 1\nevent: queued\ndata: \{/)
  await reader.cancel()
})

t.test('options are those of createHandler()', async (t) => {
  const { knowledge } = await open(t)
  for (const create of [createHandler, createFetchHandler]) {
    const wrong: object = { knowledge, authenticate: 'none', prefx: '/x' }
    t.throws(() => create(wrong as never), { message: new RegExp(`${create.name}.*prefx`) })
  }
})

t.test('who has gone before the answer is there is let go', { timeout: 30_000 }, async (t) => {
  const { handler, ask } = await open(t)
  const gone = AbortSignal.abort(new Error('gone'))
  for (const path of ['/healthz', '/api/v1/cores', '/api/v1/nowhere']) {
    const request = new Request(`http://lorekeep.example${path}`, { signal: gone })
    t.equal((await handler(request)).status, 499, path)
  }
  const controller = new AbortController()
  const { signal } = controller
  const asked = ask(`${base}/import-core?id=x`, {
    ...{ method: 'POST', body: new Uint8Array(core('x', 'alice', 4)), signal },
  })
  controller.abort()
  t.equal((await asked).status, 499)
})

t.test('a refusal has one id, that of the body, and says each thing once', async (t) => {
  const { ask } = await open(t)
  const { headers, ...response } = await ask(`${base}/nowhere`).then(async (response) => {
    return { headers: response.headers, body: (await response.json()) as { requestId: string } }
  })
  t.equal(headers.get('x-request-id'), response.body.requestId)
  t.equal(headers.get('x-content-type-options'), 'nosniff')
})
