import { execFile } from 'node:child_process'
import { Agent, createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import {
  as,
  core,
  coreMessages,
  httpChunk,
  importHead,
  json,
  listen,
  send,
  serve,
  wire,
} from './fixtures/serving.js'

const run = promisify(execFile)
const ref = { user: 'alice', id: 'x' }
const importPath = '/api/v1/import-core?id=x&user=alice'
const post = (body: Uint8Array | Iterable<Uint8Array>, token = 'alice') =>
  ({ method: 'POST', headers: as(token), body }) as const

t.test('maxCoreBytes holds for bodies of known and unknown length', async (t) => {
  const body = core('x', 'alice')
  for (const [maxCoreBytes, status] of [
    [body.byteLength, 200],
    [body.byteLength - 1, 413],
  ] as const) {
    for (const sent of [body, [body], coreMessages('x', 'alice')]) {
      const { url, knowledge } = await serve(t, { maxCoreBytes })
      const reply = await send(url + importPath, post(sent))
      t.equal(reply.status, status)
      t.equal((await knowledge.stat(ref)) !== undefined, status === 200)
      if (status === 413) t.match(json(reply), { code: 'LK_CORE_TOO_LARGE', maxCoreBytes })
    }
  }
})

t.test('a Content-Length above the limit is refused before anything is read', async (t) => {
  const { port } = await serve(t, { maxCoreBytes: 1000 })
  const { socket, ended } = await wire(t, port)
  socket.write(importHead('x', 1001))
  const answer = await ended()
  t.match(answer, /^HTTP\/1.1 413 /)
  t.match(answer, /\r\nConnection: close\r\n/)
  t.match(answer, /LK_CORE_TOO_LARGE/)
})

t.test('an import of more than 4 GiB is refused when it is announced', async (t) => {
  const { port } = await serve(t, { checkContinue: true })
  const most = 4 * 1024 ** 3
  for (const [bytes, answer] of [
    [most + 1, /^HTTP\/1.1 413 /],
    [most, /^HTTP\/1.1 100 /],
  ] as const) {
    const { socket, until } = await wire(t, port)
    socket.write(importHead('x', bytes, ['Expect: 100-continue']))
    t.match(await until('HTTP/1.1 '), answer)
    socket.destroy()
  }
})

t.test('a transfer coding other than chunked is 415', async (t) => {
  const { port, knowledge } = await serve(t)
  const body = Buffer.concat([httpChunk(core('x', 'alice')), Buffer.from('0\r\n\r\n')])
  for (const [coding, status] of [
    ['gzip, chunked', 415],
    ['identity, chunked', 415],
    ['Chunked', 200],
  ] as const) {
    const { socket, until } = await wire(t, port)
    socket.write(importHead('x').replace(': chunked', `: ${coding}`))
    socket.write(body)
    const answer = await until('}')
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), coding)
    if (status === 415) {
      t.match(answer, 'LK_HTTP_ENCODING')
      t.equal(await knowledge.stat(ref), undefined)
    }
  }
})

t.test('an import without an announced body is refused, and replaces nothing', async (t) => {
  const { port, knowledge, errors } = await serve(t, { checkContinue: true })
  const before = await knowledge.import(ref, core('x', 'alice'))
  const head = (length: number, more: readonly string[] = []) =>
    importHead('x', length, more).replace('id=x', 'id=x&mode=replace')
  const unannounced = (more?: readonly string[]) =>
    head(0, more).replace('Content-Length: 0\r\n', '')
  for (const request of [
    unannounced(),
    unannounced(['Expect: 100-continue']),
    unannounced().replace('mode=replace', 'mode=append'),
    unannounced().replace('HTTP/1.1', 'HTTP/1.0'),
  ]) {
    const { socket, ended } = await wire(t, port)
    socket.write(request)
    const answer = await ended()
    t.match(answer, /HTTP\/1.1 400 [^]*LK_HTTP_REQUEST/)
    t.match(answer, /no body was announced/)
    t.match(answer, /\r\nConnection: close\r\n/)
    t.match(await knowledge.stat(ref), { bytes: before.bytes, segments: 1 })
  }
  t.strictSame(errors, [])

  for (const [request, body] of [
    [head(0), ''],
    [importHead('x').replace('id=x', 'id=x&mode=replace'), '0\r\n\r\n'],
  ] as const) {
    await knowledge.import(ref, core('x', 'alice'), { mode: 'replace' })
    const { socket, until } = await wire(t, port)
    socket.write(request + body)
    t.match(await until('}'), /^HTTP\/1.1 200 /, 'a body of no bytes that was announced')
    t.match(await knowledge.stat(ref), { bytes: 0 })
  }
})

t.test('an unannounced body is refused as well where something has parsed before', async (t) => {
  const { handler, knowledge } = await serve(t)
  const { bytes } = await knowledge.import(ref, core('x', 'alice'))
  const port = await listen(
    t,
    createServer((request, response) => {
      // As platforms do that read bodies themselves, and as parsers that keep nothing.
      if (request.headers['x-parsed'] !== undefined) Object.assign(request, { body: Buffer.of() })
      else request.resume()
      void handler(request, response)
    }),
  )
  for (const header of ['X-Parsed: yes\r\n', '']) {
    const { socket, ended } = await wire(t, port)
    const head = importHead('x', 0).replace('id=x', 'id=x&mode=replace')
    socket.write(head.replace('Content-Length: 0\r\n', header))
    t.match(await ended(), /^HTTP\/1.1 400 [^]*no body was announced/)
    t.match(await knowledge.stat(ref), { bytes })
  }
})

t.test('the content type of an import is not looked at', async (t) => {
  const { url } = await serve(t)
  for (const type of ['application/octet-stream', 'application/x-www-form-urlencoded', 'text/x']) {
    const { headers, ...rest } = post(core('x', 'alice'))
    const sending = { ...rest, headers: { ...headers, 'Content-Type': type } }
    t.equal((await send(url + importPath, sending)).status, 200, type)
  }
})

t.test('a client that stops sending is told so, and leaves nothing', async (t) => {
  const [first = Buffer.of()] = coreMessages('x', 'alice')
  const { port, knowledge, errors } = await serve(t, { idleTimeoutMs: 150 })
  for (const part of [Buffer.of(), first, first.subarray(0, 40)]) {
    const { socket, ended } = await wire(t, port)
    const started = performance.now()
    socket.write(importHead('x', 10_000))
    socket.write(part)
    const answer = await ended()
    t.match(answer, /^HTTP\/1.1 408 /)
    t.match(answer, /\r\nConnection: close\r\n/)
    t.match(answer, /LK_HTTP_TIMEOUT/)
    t.ok(performance.now() - started >= 150)
  }
  t.equal(await knowledge.stat(ref), undefined)
  t.strictSame(errors, [])
})

t.test('the idle limit counts from the last byte, not from the first', async (t) => {
  const { port } = await serve(t, { idleTimeoutMs: 300 })
  const { socket, until } = await wire(t, port)
  const body = core('x', 'alice', 4)
  socket.write(importHead('x', body.byteLength))
  for (let at = 0; at < body.byteLength; at += 400) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    socket.write(body.subarray(at, at + 400))
  }
  t.ok(body.byteLength > 1600, 'it took longer than the limit')
  t.match(await until('}'), /^HTTP\/1.1 200 /)
})

t.test('imports above maxConcurrentImports are 503 until one is over', async (t) => {
  const { url, port } = await serve(t, { maxConcurrentImports: 4, checkContinue: true })
  const body = core('x', 'alice')
  const under: Awaited<ReturnType<typeof wire>>[] = []
  for (const id of ['x', 'y']) {
    const each = await wire(t, port)
    each.socket.write(importHead(id, body.byteLength, ['Expect: 100-continue']))
    await each.until('100 Continue')
    under.push(each)
  }
  const busy = await send(`${url}/api/v1/import-core?id=z`, post(body))
  t.equal(busy.status, 503)
  t.equal(busy.headers['retry-after'], '1')
  t.equal(json(busy).code, 'LK_HTTP_BUSY')
  // Half of the places are for others.
  const other = { ...post(core('z', 'bob')), headers: as('bob') }
  t.equal((await send(`${url}/api/v1/import-core?id=z`, other)).status, 200)

  // One ends well, the other badly; both give their place back.
  under[0]?.socket.write(body)
  await under[0]?.until('HTTP/1.1 200')
  under[1]?.socket.write(Buffer.alloc(body.byteLength))
  await under[1]?.until('HTTP/1.1 400')
  const replies = [
    await send(`${url}/api/v1/import-core?id=z1`, post(body)),
    await send(`${url}/api/v1/import-core?id=z2`, post(body)),
    await send(`${url}/api/v1/import-core?id=z3`, post(body)),
  ]
  t.strictSame(
    replies.map(({ status }) => status),
    [200, 200, 200],
  )
})

t.test('a body that comes byte by byte ends, however long each byte is waited for', async (t) => {
  const { port } = await serve(t, { idleTimeoutMs: 200 })
  const body = core('x', 'alice', 40)
  const { socket, until } = await wire(t, port)
  socket.write(importHead('x', body.byteLength))
  let sent = 0
  const drip = setInterval(() => socket.write(body.subarray(sent, ++sent)), 50)
  t.teardown(() => clearInterval(drip))
  t.match(await until('}'), /^HTTP\/1.1 408 /)
})

t.test('100 Continue is sent once, and only to a body that is wanted', async (t) => {
  const body = core('x', 'alice')
  for (const checkContinue of [true, false]) {
    const { port } = await serve(t, { checkContinue })
    const wanted = await wire(t, port)
    wanted.socket.write(importHead('x', body.byteLength, ['Expect: 100-Continue']))
    t.equal(await wanted.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
    wanted.socket.write(body)
    const answer = await wanted.until('}')
    t.equal(answer.split('100 Continue').length, 2)
    t.match(answer, /HTTP\/1.1 200 /)
  }
  const { port } = await serve(t, { checkContinue: true })
  const refused = await wire(t, port)
  const head = importHead('x', body.byteLength, ['Expect: 100-continue'])
  refused.socket.write(head.replace('Bearer alice', 'Bearer nobody'))
  const answer = await refused.ended()
  t.match(answer, /^HTTP\/1.1 401 /)
  t.notMatch(answer, '100 Continue')
})

t.test('a client that leaves mid-upload leaves nothing, wherever it is cut', async (t) => {
  const body = core('x', 'alice')
  const [first = Buffer.of(), second = Buffer.of()] = coreMessages('x', 'alice')
  const cuts = [
    ['before the first byte', Buffer.of()],
    ['inside a message', first.subarray(0, 50)],
    ['between two messages', Buffer.concat([first, second])],
    ['before the end of the body', body],
  ] as const
  for (const [name, part] of cuts) {
    for (const kind of ['of known length', 'chunked']) {
      for (const how of ['end', 'resetAndDestroy'] as const) {
        const { port, knowledge, errors, answers, server } = await serve(t)
        const asked = new Promise((resolve) => server.once('request', resolve))
        const { socket } = await wire(t, port)
        if (kind === 'chunked') {
          socket.write(importHead('x'))
          if (part.byteLength > 0) socket.write(httpChunk(part))
        } else {
          socket.write(importHead('x', body.byteLength + 1))
          socket.write(part)
        }
        await asked
        await new Promise((resolve) => setTimeout(resolve, 20))
        socket[how]()
        await Promise.all(answers)
        t.equal(answers.length, 1)
        t.equal(await knowledge.stat(ref), undefined, `${kind}, ${how} ${name}`)
        t.strictSame(errors, [])
      }
    }
  }
})

t.test('a refusal reaches a client that is still sending', async (t) => {
  const big = Buffer.alloc(24 * 1024 * 1024, 0x20)
  const { url, port } = await serve(t, { maxCoreBytes: 30 * 1024 * 1024 })
  const small = await serve(t, { maxCoreBytes: 1024 })
  const file = join(t.testdir({ big }), 'big')
  const cases = [
    ['401', 'LK_HTTP_UNAUTHORIZED', url + importPath, 'nobody'],
    ['403', 'LK_HTTP_FORBIDDEN', url + importPath, 'bob'],
    ['400', 'LK_CORE_FORMAT', url + importPath, 'alice'],
    ['400', 'LK_HTTP_REQUEST', `${url}/api/v1/import-core`, 'alice'],
    ['405', 'LK_HTTP_METHOD', `${url}/api/v1/cores`, 'alice'],
    ['413', 'LK_CORE_TOO_LARGE', small.url + importPath, 'alice'],
  ] as const
  for (const [status, code, target, token] of cases) {
    const authorization = `Authorization: Bearer ${token}`
    for (const more of [[], ['-H', 'Expect:'], ['-H', 'Transfer-Encoding: chunked']]) {
      const { stdout } = await run('curl', [
        ...['-sS', '-X', 'POST', target, '-H', authorization, '--data-binary', `@${file}`],
        ...['-w', '\n%{http_code}', ...more],
      ])
      t.match(stdout, code, `curl ${code} ${more.join(' ')}`)
      t.ok(stdout.endsWith(`\n${status}`))
    }
    const headers = as(token)
    const whole = await fetch(target, { method: 'POST', headers, body: big })
    t.equal(`${whole.status}`, status, `fetch ${code}`)
    t.match(await whole.json(), { code })
    const streamed = await fetch(target, {
      method: 'POST',
      headers,
      body: new Blob([big]).stream(),
      duplex: 'half',
    } as RequestInit)
    t.equal(`${streamed.status}`, status, `fetch of a stream ${code}`)
    t.match(await streamed.json(), { code })
  }

  // Reads nothing before everything is written.
  const { socket, until, ended } = await wire(t, port)
  socket.pause()
  socket.write(importHead('x', big.byteLength).replace('Bearer alice', 'Bearer nobody'))
  await new Promise<void>((resolve, reject) => {
    socket.write(big, (error) => (error ? reject(error) : resolve()))
  })
  socket.resume()
  t.match(await until('}'), /^HTTP\/1.1 401 [^]*LK_HTTP_UNAUTHORIZED/)
  await ended()
})

t.test('a refused client that never stops sending is cut off', async (t) => {
  const { port, answers } = await serve(t)
  const { socket, ended } = await wire(t, port)
  const mebibyte = Buffer.alloc(1024 * 1024)
  let sent = 0
  socket.write(importHead('x', 2 ** 40).replace('Bearer alice', 'Bearer nobody'))
  const pump = () => {
    while (socket.writable && socket.write(mebibyte)) sent++
    sent++
  }
  socket.on('drain', pump)
  pump()
  t.match(await ended(), /^HTTP\/1.1 401 /)
  await Promise.all(answers)
  t.ok(sent < 128, `${sent} MiB`)
})

t.test('a body that an answer does not want is not swallowed for ever', async (t) => {
  const { port, knowledge, answers, errors } = await serve(t)
  const bytes = core('x', 'alice')
  const mebibyte = Buffer.alloc(1024 * 1024)
  for (const [line, status] of [
    ['GET /api/v1/export-core?id=x', 200],
    ['HEAD /api/v1/export-core?id=x', 200],
    ['GET /api/v1/export-core?user=alice&id=x', 304],
    ['GET /api/v1/cores', 200],
    ['DELETE /api/v1/cores/x', 204],
  ] as const) {
    await knowledge.import(ref, bytes, { mode: 'replace' })
    const { socket, ended } = await wire(t, port)
    let sent = 0
    socket.write(
      [
        `${line} HTTP/1.1`,
        'Host: localhost',
        'Authorization: Bearer alice',
        `Content-Length: ${2 ** 40}`,
        ...(status === 304 ? ['If-None-Match: *'] : []),
        '\r\n',
      ].join('\r\n'),
    )
    const pump = () => {
      while (socket.writable && socket.write(mebibyte)) sent++
      sent++
    }
    socket.on('drain', pump)
    pump()
    const answer = await ended()
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} `), line)
    t.match(answer, /\r\nConnection: close\r\n/, line)
    if (line.startsWith('GET /api/v1/export') && status === 200) {
      t.ok(answer.endsWith(bytes.toString('latin1')), 'the export is whole')
    }
    t.ok(sent < 128, `${sent} MiB`)
  }
  await Promise.all(answers)
  t.strictSame(errors, [])
})

t.test('a connection can be used again after each answer', async (t) => {
  const { url } = await serve(t)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const body = core('x', 'alice')
  const headers = as('alice')
  const steps = [
    [200, '/healthz', {}],
    [401, '/api/v1/cores', {}],
    [200, importPath, post(body)],
    [400, importPath, post(body.subarray(0, -1))],
    [200, '/api/v1/export-core?id=x', { headers }],
    [304, '/api/v1/export-core?id=x', { headers: { ...headers, 'If-None-Match': '*' } }],
    [200, '/api/v1/export-core?id=x', { headers, method: 'HEAD' }],
    [404, '/api/v1/export-core?id=none', { headers }],
    [204, '/api/v1/cores/x', { headers, method: 'DELETE' }],
    [404, '/nowhere', {}],
    [204, '/api/v1/cores', { method: 'OPTIONS' }],
    [200, '/api/v1/cores', { headers }],
  ] as const
  const ports = new Set<number>()
  for (const [status, path, sending] of steps) {
    const reply = await send(url + path, { ...sending, agent })
    t.equal(reply.status, status, path)
    ports.add(reply.localPort)
  }
  t.equal(ports.size, 1)
})

t.test('two requests sent in one go are answered in turn', async (t) => {
  const { port } = await serve(t)
  const body = core('x', 'alice')
  const { socket, until } = await wire(t, port)
  socket.write(
    Buffer.concat([
      Buffer.from(importHead('x', body.byteLength)),
      body,
      Buffer.from('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'),
    ]),
  )
  const answer = await until('{"status":"ok"}')
  t.equal(answer.split('HTTP/1.1 200').length, 3)
})
