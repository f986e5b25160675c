// What a client does when something breaks, is busy, or is left.

import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import t from 'tap'
import { connect, hasCode, LorekeepError, ServerError } from '../../src/client/index.js'
import { createSparql } from '../../src/sparql/index.js'
import { fillCores } from '../http/fixtures/graphs.js'
import { core, coreMessages, serve } from '../http/fixtures/serving.js'

const ref = { user: 'alice', id: 'a' }

t.test('bundled it is 10 kB at most, and imports nothing of Node', async (t) => {
  const { outputFiles, metafile } = await build({
    entryPoints: ['dist/src/client/index.js'],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true,
  })
  const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).length
  t.comment(`${bytes} bytes gzipped`)
  t.ok(bytes <= 10_000, `${bytes} bytes`)
  for (const [file, { imports }] of Object.entries(metafile.inputs)) {
    t.strictSame(
      imports.filter(({ external }) => external === true),
      [],
      file,
    )
    t.match(file, /^dist\/src\/(client\/|errors\.js|json-text\.js)/)
  }
})

t.test('an error has the code, the status and the id of the request', async (t) => {
  const serving = await serve(t)
  const { knowledge } = connect({ url: serving.url, token: 'bob' })
  const error = await knowledge.stat(ref).catch((error: unknown) => error)
  t.ok(error instanceof ServerError && error instanceof LorekeepError)
  t.ok(hasCode(error, 'LK_HTTP_FORBIDDEN') && !hasCode(error, 'LK_CLOSED'))
  t.match(error, { code: 'LK_HTTP_FORBIDDEN', kind: 'access', status: 403, requestId: /./ })
  const none = connect({ url: serving.url, token: 'alice' }).knowledge.export({
    ...ref,
    id: 'none',
  })
  await t.rejects(none, { code: 'LK_CORE_NOT_FOUND', status: 404, requestId: /./ })
  const { message } = error as Error
  t.match(message, /^access denied: /)
  t.notMatch(message, /access denied.*access denied/)
  const stranger = connect({ url: new URL('/elsewhere', serving.url), token: 'bob' })
  await t.rejects(stranger.objects.schemas(), { code: 'LK_HTTP_NOT_FOUND' })
})

t.test('what a newer server says of an answer is not lost', async (t) => {
  const text = 'event: error\ndata: {"code":"LK_OF_TOMORROW","detail":"the moon is down"}\n\n'
  const headers = { 'content-type': 'text/event-stream' }
  const { knowledge } = connect({
    url: 'http://elsewhere.example',
    fetch: async () => new Response(text, { headers }),
  })
  const message = /the moon is down/
  const asking = async () => knowledge.graph({ user: 'alice' }).answer({ text: 'when?' })
  await t.rejects(asking(), { code: 'LK_INTERNAL', message })
})

t.test('what is no lorekeep server is told so', async (t) => {
  for (const status of [200, 404, 500]) {
    const fetch = async () => new Response('<h1>Welcome</h1>', { status })
    const { objects } = connect({ url: 'http://elsewhere.example', fetch })
    const message = new RegExp(`answered ${status} .*no lorekeep server`)
    await t.rejects(objects.schemas(), { name: 'LorekeepError', code: 'LK_INTERNAL', message })
  }
  const fetch = async () => new Response('<h1>Welcome</h1>\n')
  const { knowledge } = connect({ url: 'http://elsewhere.example', fetch })
  const told = { code: 'LK_INTERNAL', message: /no lorekeep server/ }
  const reading = async () => {
    for await (const _ of knowledge.graph({ user: 'alice' }).match());
  }
  await t.rejects(reading(), told, 'a line of many')
})

/** The server of a test, with a way to it that breaks: `before` may throw, or answer itself. */
function through(
  url: string,
  on: (asked: string, init: RequestInit) => Promise<Response> | undefined,
) {
  const asked: string[] = []
  const client = connect({
    url: `${url}/api/v1/`,
    token: 'admin',
    fetch: async (url, init) => {
      asked.push(`${init.method} ${new URL(url).pathname.replace('/api/v1/', '')}`)
      return (await on(asked.at(-1)!, init)) ?? fetch(url, init)
    },
  })
  return { ...client, asked }
}

t.test('the prefix of a server is its own', async (t) => {
  for (const prefix of ['', '/kept', '/deep/api/v1']) {
    const { url } = await serve(t, { prefix })
    for (const at of [url, `${url}/`, `${url}${prefix}`, `${url}${prefix}/`]) {
      const { knowledge } = connect({ url: at, prefix, token: 'admin' })
      t.equal(await knowledge.stat({ user: 'alice', id: 'none' }), undefined, at)
    }
  }
})

t.test('an export comes as it is, and what is long in JSON encoded', async (t) => {
  const { url, knowledge } = await serve(t)
  const ref = { user: 'alice', id: 'a' }
  const { bytes: expected } = await knowledge.import(ref, core('a', 'alice', 100))
  const codings: unknown[] = []
  const seen = async (url: string, init: RequestInit) => {
    const reply = await fetch(url, init)
    codings.push([new URL(url).pathname.split('/').pop(), reply.headers.get('content-encoding')])
    return reply
  }
  const client = connect({ url, token: 'admin', fetch: seen })
  let bytes = 0
  for await (const chunk of await client.knowledge.export(ref)) bytes += chunk.byteLength
  t.equal(bytes, expected)
  t.equal((await client.objects.schemas()).length, 0)
  const graph = client.knowledge.graph({ user: 'alice' })
  const found = []
  for await (const triple of graph.match({})) found.push(triple)
  t.equal(found.length, 200)
  t.strictSame(codings, [
    ['a', null],
    ['export-core', null],
    ['schemas', null],
    ['match', 'gzip'],
  ])
})

t.test('what changes nothing is asked again, and nothing else is', async (t) => {
  const { url, knowledge } = await serve(t)
  await fillCores(knowledge)
  let broken = 2
  const client = through(url, () => {
    return broken-- > 0 ? Promise.reject(new TypeError('fetch failed')) : undefined
  })
  t.match(await client.knowledge.stat({ user: 'alice', id: 'firm' }), { id: 'firm' })
  t.equal(client.asked.length, 3)
  broken = 1
  t.equal(await client.knowledge.graph({ user: 'alice', cores: ['firm'] }).count(), 3)
  t.equal(client.asked.length, 5, 'a question is safe, though it is a POST')
  const changes: readonly (() => Promise<unknown>)[] = [
    () => client.knowledge.import(ref, core('a', 'alice')),
    () => client.knowledge.delete(ref),
    () => client.flows.load('default', { id: 'x', content: 'x', user: 'alice' }),
    () => client.objects.patch('c', 'x', {}),
    // Said again after it was made, it would be refused.
    () => client.flows.start('default', { ifVersion: '*' }),
    () => client.flows.define({ id: 'default' }, { ifVersion: '*' }),
    () => client.objects.defineSchema({ name: 'x' }, { ifVersion: null }),
  ]
  for (const change of changes) {
    broken = 1
    const before = client.asked.length
    await t.rejects(change(), { code: 'LK_STORAGE_UNAVAILABLE' })
    t.equal(client.asked.length, before + 1)
  }
  broken = Infinity
  const before = client.asked.length
  await t.rejects(client.objects.schemas(), { code: 'LK_STORAGE_UNAVAILABLE' })
  t.equal(client.asked.length, before + 4, 'and not for ever')
})

t.test('a condition that cannot be sent is refused, and not left out', async (t) => {
  const { url } = await serve(t)
  const client = through(url, () => undefined)
  const since = { ifUnmodifiedSince: new Date() } as never
  await t.rejects(client.objects.patch('c', 'x', {}, since), TypeError)
  await t.rejects(client.knowledge.import(ref, core('a', 'alice'), since), TypeError)
  t.equal(client.asked.length, 0)
})

t.test('a server that is busy is asked again after as long as it says', async (t) => {
  const { url } = await serve(t)
  let busy = true
  const client = through(url, () => {
    const problem = { code: 'LK_HTTP_BUSY', status: 503, detail: 'too many requests at once' }
    const headers = { 'Retry-After': '1' }
    const answer = Response.json(problem, { status: 503, headers })
    return busy ? Promise.resolve(answer) : undefined
  })
  const asked = client.objects.schemas()
  await new Promise((resolve) => setTimeout(resolve, 50))
  t.equal(client.asked.length, 1)
  busy = false
  t.strictSame(await asked, [])
  busy = true
  await t.rejects(client.objects.createCollection('c'), { code: 'LK_HTTP_BUSY', status: 503 })
})

t.test('how long a server asks to wait may be a date, nonsense, or years', async (t) => {
  const { url } = await serve(t)
  const problem = { code: 'LK_HTTP_RATE', status: 429, detail: 'too much of one user at once' }
  /** Between the first time and the second; undefined where there was none within 500 ms. */
  const waited = async (told: string) => {
    const times: number[] = []
    const { objects, close } = through(url, () => {
      times.push(performance.now())
      const headers = { 'Retry-After': told }
      return times.length > 1
        ? undefined
        : Promise.resolve(Response.json(problem, { status: 429, headers }))
    })
    const asked = objects.schemas().catch(() => undefined)
    await Promise.race([asked, new Promise<void>((resolve) => setTimeout(resolve, 500))])
    await close()
    return times[1] === undefined ? undefined : times[1] - times[0]!
  }
  const past = new Date(0).toUTCString()
  for (const told of ['-5', '-1e9', '1e-9', 'soon', 'NaN', '', '0', past]) {
    const ms = (await waited(told)) ?? 0
    t.ok(ms >= 90, `'${told}': ${ms} ms`)
  }
  const later = new Date(Date.now() + 4000).toUTCString()
  for (const told of [String(10 * 365 * 86_400), '9'.repeat(400), later]) {
    t.equal(await waited(told), undefined, told)
  }
})

t.test('an abort ends a wait at once, and is not tried again', async (t) => {
  const { url } = await serve(t)
  const slow = through(url, (_, { signal }) => {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new TypeError('terminated')))
    })
  })
  const gone = through(url, () => Promise.reject(new TypeError('fetch failed')))
  for (const client of [slow, gone]) {
    const reason = new Error('enough')
    const leaving = new AbortController()
    const { signal } = leaving
    const asked = client.knowledge.graph({ user: 'alice' }).count({}, { signal })
    asked.catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 20))
    const at = performance.now()
    leaving.abort(reason)
    t.equal(await asked.catch((error: unknown) => error), reason)
    t.comment(`${performance.now() - at} ms`)
    const before = client.asked.length
    await new Promise((resolve) => setTimeout(resolve, 300))
    t.equal(client.asked.length, before)
  }
  const timeout = AbortSignal.timeout(20)
  const inTime = slow.knowledge.graph({ user: 'alice' }).count({}, { signal: timeout })
  await t.rejects(inTime, { name: 'TimeoutError' })
  t.equal(slow.asked.length, 2, 'a time-out of the caller is no failure of the server')
})

t.test('SPARQL is answered in the format that was asked for', async (t) => {
  const { url, knowledge } = await serve(t, { sparql: createSparql() })
  await fillCores(knowledge)
  const graph = connect({ url, token: 'admin' }).knowledge.graph({ user: 'alice', cores: ['firm'] })
  const accept = 'text/csv'
  const { contentType, body } = await graph.sparql('SELECT (COUNT(*) AS ?n) { ?s ?p ?o }', {
    accept,
  })
  t.match(contentType, /^text\/csv/)
  const chunks = []
  for await (const chunk of body) chunks.push(chunk)
  t.equal(String(Buffer.concat(chunks)), 'n\r\n3\r\n')
  await t.rejects(graph.sparql('SELECT'), { code: 'LK_GRAPH_QUERY' })
})

t.test('an import of objects goes as the text that it is', async (t) => {
  const { url } = await serve(t)
  const { objects } = connect({ url, token: 'admin' })
  await objects.defineSchema({ name: 'item', fields: { id: { type: 'string' } } })
  const metadata = '{"id":"i","user":"alice","collection":"c"}'
  const text = (n: string) =>
    `{"metadata":${metadata},"schema_name":"item","values":[{"id":"a","n":${n}}]}`
  t.match(await objects.import(text('1')), { imported: 1 })
  // Parsed and written again it would be null.
  await t.rejects(objects.import(text('1e400')), { code: 'LK_OBJECT_INVALID' })
  const elsewhere = connect({ url, token: 'admin', flow: 'none' })
  await t.rejects(elsewhere.objects.import(text('1')), { code: 'LK_FLOW_NOT_FOUND' })
})

t.test('a number that JSON does not have is refused, and takes no field away', async (t) => {
  const { url } = await serve(t)
  const { knowledge, objects, flows } = connect({ url, token: 'admin' })
  const graph = knowledge.graph({ user: 'alice' })
  const price = { type: 'number' }
  await objects.defineSchema({ name: 'item', fields: { id: { type: 'string' }, price } })
  const batch = (id: string, price: number) => ({
    metadata: { id: 'i', user: 'alice', collection: 'c' },
    schema_name: 'item',
    values: [{ id, price }],
  })
  await objects.import(batch('a', 7))
  const asking: readonly ((wrong: number) => Promise<unknown>)[] = [
    (price) => objects.patch('c', 'a', { price }),
    (price) => objects.replace('c', 'a', { price }),
    (price) => objects.import(batch('b', price)),
    (price) => objects.query({ schema_name: 'item', filters: { price: { $lte: price } } }),
    (price) => objects.explain({ schema_name: 'item', filters: { price: { $lte: price } } }),
    (minDelayMs) => flows.define({ id: 'f', minDelayMs }),
    (at) => graph.nearest([1, at]),
    (at) => graph.nearest(new Float32Array([1, at])),
    (k) => graph.nearest([1, 2], { k }),
  ]
  for (const wrong of [NaN, Infinity, -Infinity]) {
    for (const ask of asking) {
      // A promise that rejects, and nothing that is thrown before there is one.
      const asked = ask(wrong)
      await t.rejects(asked, { code: 'LK_HTTP_REQUEST', message: new RegExp(`is ${wrong}`) })
    }
  }
  t.match(await objects.get('c', 'a'), { price: 7 })
  t.equal(await objects.get('c', 'b'), undefined)
  t.notOk('price' in ((await objects.patch('c', 'a', { price: null })) ?? {}))
})

t.test('a load is left by its signal', async (t) => {
  const { url } = await serve(t)
  const silent = through(url, (_, { signal }) => {
    return new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(new TypeError('terminated')))
    })
  })
  const leaving = new AbortController()
  const { signal } = leaving
  const document = { id: 'urn:x', content: 'x', user: 'alice' }
  const loading = silent.flows.load('default', document, { signal })
  leaving.abort(new Error('enough'))
  await t.rejects(loading, { message: 'enough' })
})

t.test('close() ends what is under way, and what comes later', async (t) => {
  const { url } = await serve(t)
  const client = connect({ url, token: 'admin' })
  const events = client.flows.watch()[Symbol.asyncIterator]()
  const next = events.next()
  next.catch(() => undefined)
  await client.objects.schemas()
  await client.close()
  await t.rejects(next, { code: 'LK_CLOSED' })
  await t.rejects(client.objects.schemas(), { code: 'LK_CLOSED' })
})

t.test('who leaves while nothing happens is gone at once, also from the server', async (t) => {
  const serving = await serve(t)
  const client = connect({ url: serving.url, token: 'admin' })
  const answer = once(serving.server, 'request').then(([, response]) => response as ServerResponse)
  let connected: (() => void) | undefined
  const isConnected = new Promise<void>((done) => (connected = done))
  const events = client.flows.watch({ onConnected: () => connected?.() })[Symbol.asyncIterator]()
  const next = events.next()
  const closed = once(await answer, 'close')
  await isConnected
  t.strictSame(await events.return?.(), { done: true, value: undefined })
  t.strictSame(await next, { done: true, value: undefined })
  t.strictSame(await events.next(), { done: true, value: undefined })
  await closed
  // Where the server is away, too.
  serving.server.close()
  const away = client.flows.watch()[Symbol.asyncIterator]()
  const never = away.next()
  t.strictSame(await away.return?.(), { done: true, value: undefined })
  t.strictSame(await never, { done: true, value: undefined })
})

t.test('a part is of the core as it is now, though it became shorter meanwhile', async (t) => {
  const { url, knowledge } = await serve(t)
  await knowledge.import(ref, core('a', 'alice', 100))
  const short = core('a', 'alice', 4)
  let isReplaced = false
  const client = connect({
    url,
    token: 'admin',
    fetch: async (url, init) => {
      if (!isReplaced && url.includes('export-core')) {
        isReplaced = true
        await knowledge.import(ref, short, { mode: 'replace' })
      }
      return fetch(url, init)
    },
  })
  const part = await client.knowledge.export(ref, { from: short.length + 1 })
  t.equal(part.bytes, short.length)
  for await (const chunk of part) t.fail(`${chunk.byteLength} bytes`)
  t.ok(isReplaced)
})

t.test('an export that is cut rejects, wherever it is cut', async (t) => {
  const { url, knowledge } = await serve(t)
  const bytes = core('a', 'alice', 50)
  await knowledge.import(ref, bytes)
  for (const at of [0, 100, bytes.length - 1]) {
    const client = connect({
      url,
      token: 'admin',
      fetch: async (url, init) => {
        const response = await fetch(url, init)
        if (!url.includes('export-core')) return response
        const whole = new Uint8Array(await response.arrayBuffer())
        return new Response(whole.slice(0, at), response)
      },
    })
    const found = await client.knowledge.export(ref)
    const read = async () => {
      for await (const _ of found);
    }
    await t.rejects(read(), { code: 'LK_STORAGE_UNAVAILABLE' }, `at ${at}`)
  }
})

t.test('an import goes out while it is made, and leaves nothing where it fails', async (t) => {
  const { url, knowledge } = await serve(t)
  const client = connect({ url, token: 'admin' })
  const messages = coreMessages('a', 'alice', 4)
  const told: number[] = []
  async function* source() {
    for (const message of messages) {
      yield message
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  const onProgress = ({ bytes }: { bytes: number }) => void told.push(bytes)
  const { bytes } = await client.knowledge.import(ref, source(), { onProgress })
  t.equal(told.length, messages.length)
  t.equal(told.at(-1), bytes)
  async function* broken() {
    yield messages[0]!
    throw new Error('no more')
  }
  await t.rejects(client.knowledge.import({ ...ref, id: 'b' }, broken()), { message: 'no more' })
  t.equal(await knowledge.stat({ ...ref, id: 'b' }), undefined)
})

t.test('watching goes on after connections that broke', async (t) => {
  const serving = await serve(t)
  const client = connect({ url: serving.url, token: 'admin' })
  const { job } = await client.flows.load('default', { id: 'urn:x', content: 'x', user: 'alice' })
  const seen: string[] = []
  let connected = 0
  const onConnected = () => void connected++
  const watching = (async () => {
    for await (const { type, state } of client.flows.watch({ job, onConnected })) {
      seen.push(`${type} ${state}`)
      // Twice, and then it is let be.
      if (seen.length < 3) serving.server.closeAllConnections()
      else if (seen.length === 3) serving.flows.run()
    }
  })()
  await watching
  t.strictSame(seen.slice(0, 3), Array(3).fill('state queued'))
  t.match(seen.at(-1), /done$/)
  t.equal(connected, 3, 'who watches is told after each gap')
  const leaving = new AbortController()
  const { signal } = leaving
  const ended = (async () => {
    for await (const _ of client.flows.watch({ flow: 'default', signal }));
  })()
  leaving.abort()
  await ended
  await t.rejects(
    (async () => {
      for await (const _ of client.flows.watch({ job: 'none' }));
    })(),
    { code: 'LK_JOB_NOT_FOUND' },
  )
})
