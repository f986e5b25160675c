import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { get as httpGet } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { decodeMulti, encode } from '@msgpack/msgpack'
import t from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { LorekeepError } from '../../../src/errors.js'
import type { ImportSummary } from '../../../src/knowledge/types.js'
import {
  as,
  core,
  coreMessages,
  httpChunk,
  importHead,
  json,
  send,
  serve,
  wire,
} from '../fixtures/serving.js'
import type { Serving } from '../fixtures/serving.js'
import { payloads } from '../../codec/dialects/payloads.js'
import { WatchedBackend } from '../fixtures/slices.js'

const headers = as('alice')
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

function target(url: string, route: string, query: Record<string, string>): string {
  return `${url}/api/v1/${route}?${new URLSearchParams(query)}`
}

async function upload(
  { url }: Serving,
  query: Record<string, string>,
  body: Uint8Array | Iterable<Uint8Array>,
) {
  const headers = { ...as('admin'), 'Content-Type': 'application/octet-stream' }
  return send(target(url, 'import-core', query), { method: 'POST', headers, body })
}

async function download({ url }: Serving, query: Record<string, string>) {
  return send(target(url, 'export-core', query), { headers: as('admin') })
}

interface CoreFile {
  readonly name: string
  readonly id: string
  readonly user: string
  readonly bytes: Buffer
}

/** The real cores where they are, and always a small one of our own making. */
function coreFiles(): CoreFile[] {
  const made = { name: 'made here', id: 'https://made/here', user: 'alice' }
  const files = [{ ...made, bytes: core(made.id, made.user, 20) }]
  const shared = '../shared/data'
  if (!existsSync(shared)) {
    t.comment(`real cores are skipped: no ${shared}`)
    return files
  }
  for (const name of readdirSync(shared).filter((name) => name.endsWith('.core'))) {
    const bytes = readFileSync(`${shared}/${name}`)
    const { i: id, u: user } = metadata(messagesOf(bytes.subarray(0, 1024 * 1024), 1)[0])
    files.push({ name, id, user, bytes })
  }
  return files
}

type Message = [string, { m: { i: string; u: string; m: unknown; c: string } }]
const metadata = (message: Message | undefined) => message?.[1].m ?? { i: '', u: '' }

function messagesOf(bytes: Uint8Array, limit = Infinity): Message[] {
  const messages: Message[] = []
  for (const message of decodeMulti(bytes)) {
    messages.push(message as Message)
    if (messages.length === limit) break
  }
  return messages
}

/** Cuts of 1 to 131,072 bytes, small ones as likely as large ones. Mulberry32. */
function* cut(bytes: Uint8Array, seed: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength;) {
    seed = (seed + 0x6d2b79f5) | 0
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    const size = Math.floor(131_073 ** (((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32))
    yield bytes.subarray(at, at + size)
    at += size
  }
}

for (const { name, id, user, bytes } of coreFiles()) {
  t.test(`${name}: under its own id and user it is exported as the same bytes`, async (t) => {
    const serving = await serve(t)
    const imported = await upload(serving, { id, user }, bytes)
    t.equal(imported.status, 200)
    t.match(json(imported), { bytes: bytes.byteLength, digest: sha256(bytes).toString('hex') })
    const exported = await download(serving, { id, user })
    t.equal(exported.status, 200)
    t.ok(exported.body.equals(bytes))
    t.equal(exported.headers['content-type'], 'application/octet-stream')
  })

  t.test(`${name}: under another id and user only i and u are others`, async (t) => {
    const serving = await serve(t)
    const other = { id: 'urn:other/ü', user: 'somebody else' }
    t.equal((await upload(serving, other, bytes)).status, 200)
    const { body } = await download(serving, other)
    const before = messagesOf(bytes)
    const after = messagesOf(body)
    t.equal(after.length, before.length)
    for (const message of before) {
      message[1].m.i = other.id
      message[1].m.u = other.user
    }
    // deepStrictEqual tells -0 from 0; the length tells a double from a float.
    t.doesNotThrow(() => assert.deepStrictEqual(after, before))
    const size = (text: string) => encode(text).byteLength
    const grown = size(other.id) - size(id) + size(other.user) - size(user)
    t.equal(body.byteLength, bytes.byteLength + grown * before.length)

    // And back again: nothing was lost on the way.
    const { body: back } = await upload(serving, { id, user }, body).then(() =>
      download(serving, { id, user }),
    )
    t.ok(back.equals(bytes))
  })

  t.test(`${name}: cuts of the upload change nothing`, async (t) => {
    const serving = await serve(t)
    const seed = Date.now() % 2 ** 31
    t.comment(`seed ${seed}`)
    const exact = { id, user }
    t.equal((await upload(serving, exact, cut(bytes, seed))).status, 200)
    t.ok((await download(serving, exact)).body.equals(bytes))
    const large = Array.from({ length: Math.ceil(bytes.byteLength / 131_072) }, (_, at) =>
      bytes.subarray(at * 131_072, (at + 1) * 131_072),
    )
    const summary = json(await upload(serving, exact, large))
    t.match(summary, { duplicate: true, bytes: bytes.byteLength })
  })
}

t.test('an upload in single bytes is the same core', async (t) => {
  const { port, knowledge } = await serve(t)
  const bytes = core('x', 'alice')
  const { socket, until } = await wire(t, port)
  socket.setNoDelay(true)
  socket.write(importHead('x'))
  for (const byte of bytes) {
    if (!socket.write(httpChunk(Buffer.of(byte)))) {
      await new Promise((resolve) => socket.once('drain', resolve))
    }
  }
  socket.write('0\r\n\r\n')
  t.match(await until('}'), /^HTTP\/1.1 200 /)
  t.match(await knowledge.stat({ user: 'alice', id: 'x' }), {
    digest: sha256(bytes).toString('hex'),
  })
})

t.test('an import is answered with its summary', async (t) => {
  const serving = await serve(t)
  const bytes = core('x', 'alice', 3)
  const reply = await upload(serving, { id: 'x', user: 'alice' }, bytes)
  t.equal(reply.status, 200)
  t.equal(reply.headers['content-type'], 'application/json')
  const summary: ImportSummary = {
    bytes: bytes.byteLength,
    messages: 6,
    triples: 6,
    entities: 3,
    vectors: 3,
    digest: sha256(bytes).toString('hex'),
    version: sha256(bytes).toString('hex'),
    duplicate: false,
    dialect: 'specification',
    skipped: {},
  }
  t.strictSame(json(reply), { ...summary })
})

t.test('an import reads every dialect, unless it is told not to', async (t) => {
  const serving = await serve(t)
  for (const { name, dialect, bytes, skipped = {} } of payloads) {
    const reply = await upload(serving, { id: 'x', user: 'alice', mode: 'replace' }, bytes)
    t.match(json(reply), { dialect, skipped }, name)
    const strict = { id: 'x', user: 'alice', dialect: 'specification' }
    t.match(json(await upload(serving, strict, bytes)), { status: 400 }, name)
  }
  const unknown = await upload(serving, { id: 'x', user: 'alice', dialect: 'x' }, Buffer.of())
  t.match(json(unknown), { code: 'LK_HTTP_REQUEST' })
})

t.test('an export for the newest reference system is made while it is sent', async (t) => {
  const serving = await serve(t)
  const name = { id: 'x', user: 'alice' }
  await upload(serving, name, core('x', 'alice', 30))
  const own = await download(serving, name)
  const other = await download(serving, { ...name, dialect: 'trustgraph-2' })
  t.equal(other.status, 200)
  t.equal(other.headers['content-type'], 'application/octet-stream')
  t.match(other.headers.etag, /^"[0-9a-f]{64}\.trustgraph-2"$/)
  for (const header of ['content-length', 'repr-digest']) {
    t.notOk(other.headers[header], header)
  }
  const [[type, data]] = [...decodeMulti(other.body)] as [[string, { m: unknown; t: unknown[] }]]
  t.match([type, data.m], ['t', { i: 'x', c: String }])
  t.match(data.t[0], { s: { t: 'i' } })
  const back = { ...name, mode: 'replace' }
  t.match(json(await upload(serving, back, other.body)), { dialect: 'trustgraph-2' })
  t.same((await download(serving, name)).body, own.body)
  t.same((await download(serving, { ...name, dialect: 'specification' })).body, own.body)

  t.equal(
    (await download(serving, { id: 'y', user: 'alice', dialect: 'trustgraph-2' })).status,
    404,
  )
  t.equal((await download(serving, { ...name, dialect: 'trustgraph-1' })).status, 400)
  const url = target(serving.url, 'export-core', { ...name, dialect: 'trustgraph-2' })
  const asTurtle = await send(url, { headers: { ...as('admin'), Accept: 'text/turtle' } })
  t.match(json(asTurtle), { status: 400, code: 'LK_HTTP_REQUEST' })
  const head = await send(url, { method: 'HEAD', headers: as('admin') })
  t.equal(head.status, 200)
})

t.test('mode says whether an import appends or replaces', async (t) => {
  const serving = await serve(t)
  const name = { id: 'x', user: 'alice' }
  const [one = Buffer.of(), two = Buffer.of(), three = Buffer.of()] = coreMessages('x', 'alice')
  await upload(serving, name, one)
  await upload(serving, { ...name, mode: 'append' }, two)
  t.ok((await download(serving, name)).body.equals(Buffer.concat([one, two])))
  await upload(serving, { ...name, mode: 'replace' }, three)
  t.ok((await download(serving, name)).body.equals(three))
  for (const mode of ['', 'Append', 'delete']) {
    const reply = await upload(serving, { ...name, mode }, one)
    t.equal(reply.status, 400, mode)
    t.equal(json(reply).code, 'LK_HTTP_REQUEST')
  }
})

t.test('index says whether an import indexes, whatever its format', async (t) => {
  const serving = await serve(t)
  const state = async (id: string) =>
    (await serving.knowledge.indexState({ user: 'bob', id })).state
  // Those of less than a slice wait for others, and small ones are indexed whatever was asked.
  const bytes = core('x', 'bob', 2500)
  const literal = 'long '.repeat(1000)
  const lines = Array.from({ length: 250 }, (_, n) => `<urn:a> <urn:b> "${n} ${literal}" .\n`)
  await upload(serving, { id: 'plain', user: 'bob' }, bytes)
  await upload(serving, { id: 'later', user: 'bob', index: 'false' }, bytes)
  await upload(serving, { id: 'asked', user: 'bob', index: 'true' }, bytes)
  await send(target(serving.url, 'import-core', { id: 'rdf', index: 'true' }), {
    method: 'POST',
    headers: { ...as('bob'), 'Content-Type': 'application/n-triples' },
    body: Buffer.from(lines.join('')),
  })
  const states = await Promise.all(['plain', 'later', 'asked', 'rdf'].map(state))
  t.strictSame(states, ['none', 'none', 'complete', 'complete'])
  const reply = await upload(serving, { id: 'bad', user: 'bob', index: 'yes' }, bytes)
  t.equal(reply.status, 400)
  t.equal(json(reply).code, 'LK_HTTP_REQUEST')
})

t.test('id is required, well-formed and not given twice', async (t) => {
  const { url } = await serve(t)
  for (const [method, route] of [
    ['POST', 'import-core'],
    ['GET', 'export-core'],
  ] as const) {
    for (const [query, code] of [
      ['user=alice', 'LK_HTTP_REQUEST'],
      ['id=x&id=x', 'LK_HTTP_REQUEST'],
      ['id=x&user=alice&user=alice', 'LK_HTTP_REQUEST'],
      ['id=', 'LK_CORE_REF'],
      [`id=${'x'.repeat(1025)}`, 'LK_CORE_REF'],
    ] as const) {
      const reply = await send(`${url}/api/v1/${route}?${query}`, { method, headers })
      t.equal(reply.status, 400, `${route} ${query.slice(0, 40)}`)
      t.equal(json(reply).code, code)
    }
  }
})

t.test('a stream that is no core is a 400 that says where, and leaves nothing', async (t) => {
  const serving = await serve(t)
  const bytes = core('x', 'alice')
  for (const [body, code] of [
    [bytes.subarray(0, -1), 'LK_CORE_FORMAT'],
    [Buffer.concat([bytes, Buffer.of(0xc1)]), 'LK_CORE_FORMAT'],
    [Buffer.from('<urn:a> <urn:b> <urn:c> .\n'), 'LK_CORE_FORMAT'],
    [Buffer.concat([bytes, encode(['x', {}])]), 'LK_CORE_TYPE'],
  ] as const) {
    const reply = await upload(serving, { id: 'x', user: 'alice' }, body)
    t.equal(reply.status, 400)
    t.match(json(reply), { code, errors: [{ message: String }] })
    t.match(JSON.stringify(json(reply)), /offset/i)
    t.equal(await serving.knowledge.stat({ user: 'alice', id: 'x' }), undefined)
  }
})

t.test('an export names its version', async (t) => {
  const serving = await serve(t)
  const name = { id: 'x', user: 'alice' }
  const [one = Buffer.of(), two = Buffer.of()] = coreMessages('x', 'alice')
  await upload(serving, name, one)
  const single = await download(serving, name)
  const digest = sha256(one)
  t.equal(single.headers.etag, `"${digest.toString('hex')}"`)
  t.equal(single.headers['repr-digest'], `sha-256=:${digest.toString('base64')}:`)
  t.equal(single.headers['content-length'], String(one.byteLength))
  t.equal(single.headers['accept-ranges'], 'bytes')
  t.equal(single.headers['cache-control'], 'private, no-cache')
  t.equal(single.headers.vary, 'Accept-Encoding, Authorization, Accept')

  await upload(serving, name, two)
  const double = await download(serving, name)
  t.not(double.headers.etag, single.headers.etag)
  t.notOk('repr-digest' in double.headers, 'the digest is that of the segments')
  const head = await send(target(serving.url, 'export-core', name), { method: 'HEAD', headers })
  const { etag, 'content-length': length, 'content-type': type } = double.headers
  t.match(head.headers, { etag, 'content-length': length, 'content-type': type })
  t.equal(head.body.byteLength, 0)
  t.equal(head.headers['content-length'], String(one.byteLength + two.byteLength))
})

t.test('If-None-Match with the version that is there is a 304, read off the record', async (t) => {
  const backend = new WatchedBackend()
  const serving = await serve(t, { backend })
  const name = { id: 'x', user: 'alice' }
  // Too much to lie inline.
  const bytes = core('x', 'alice', 200)
  await upload(serving, name, bytes)
  const tag = `"${sha256(bytes).toString('hex')}"`
  backend.reads = 0
  const ask = (known: string, method: string, id = 'x') =>
    send(target(serving.url, 'export-core', { ...name, id }), {
      method,
      headers: { ...headers, 'If-None-Match': known },
    })
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
    for (const method of ['GET', 'HEAD']) {
      const reply = await ask(known, method)
      t.equal(reply.status, 304, known)
      t.equal(reply.headers.etag, tag)
      t.equal(reply.body.byteLength, 0)
    }
  }
  t.equal((await ask('"other"', 'HEAD')).status, 200)
  t.equal(backend.reads, 0, 'no slice was read')
  t.equal((await ask(tag, 'GET', 'none')).status, 404)
  t.equal((await ask('*', 'HEAD', 'none')).status, 404)
  const other = await ask('"other", W/"another"', 'GET')
  t.equal(other.status, 200)
  t.ok(other.body.equals(bytes))
  t.ok(backend.reads > 0)
})

t.test('a missing core is a 404, an empty one an empty 200', async (t) => {
  const serving = await serve(t)
  const name = { id: 'x', user: 'alice' }
  for (const method of ['GET', 'HEAD']) {
    const reply = await send(target(serving.url, 'export-core', name), { method, headers })
    t.equal(reply.status, 404)
    if (method === 'GET') t.equal(json(reply).code, 'LK_CORE_NOT_FOUND')
  }
  t.equal((await upload(serving, name, Buffer.of())).status, 200)
  const reply = await download(serving, name)
  t.equal(reply.status, 200)
  t.equal(reply.headers['content-length'], '0')
  t.equal(reply.body.byteLength, 0)
})

/** Messages of a megabyte each. */
function largeMessages(count: number): Uint8Array[] {
  const m = { i: 'x', m: [], u: 'alice', c: 'c' }
  return Array.from({ length: count }, (_, n) => {
    const o = { v: String(10_000_000 + n).repeat(125_000), e: false }
    return encode(['t', { m, t: [{ s: { v: 's', e: true }, p: { v: 'p', e: true }, o }] }])
  })
}

async function importLarge({ knowledge }: Serving, megabytes: number): Promise<number> {
  const ref = { user: 'alice', id: 'x' }
  return (await knowledge.import(ref, largeMessages(megabytes))).bytes
}

async function openExport({ url }: Serving): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpGet(target(url, 'export-core', { id: 'x' }), { headers }, resolve).on('error', reject)
  })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

t.test('a slow disk slows the upload down, which then ends well', async (t) => {
  const backend = new WatchedBackend()
  const serving = await serve(t, { backend })
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  backend.beforeWrite = () => released
  let sent = 0
  const counted = function* () {
    for (const message of largeMessages(48)) {
      sent++
      yield message
    }
  }
  const reply = upload(serving, { id: 'x', user: 'alice' }, counted())
  // Until no more goes out: however slow the machine is, that is soon, or all is taken.
  for (let before = -1; before !== sent && sent < 48; await pause(1000)) before = sent
  t.ok(sent < 24, `${sent} MB were taken while nothing could be written`)
  release()
  t.equal((await reply).status, 200)
})

t.test('a slow reader slows the reading down, and gets everything', async (t) => {
  const backend = new WatchedBackend()
  const serving = await serve(t, { backend })
  const bytes = await importLarge(serving, 48)
  backend.reads = 0
  const response = await openExport(serving)
  await pause(300)
  const { reads } = backend
  // What the sockets of this machine hold, and a few slices on their way.
  t.ok(reads < 24, `${reads} slices were read for a reader that reads nothing`)
  await pause(200)
  t.equal(backend.reads, reads, 'and no more after that')
  let received = 0
  for await (const chunk of response) received += (chunk as Buffer).byteLength
  t.equal(received, bytes)
  t.ok(backend.reads > 40)
})

t.test('a reader that leaves stops the reading, and the export is closed', async (t) => {
  const backend = new WatchedBackend()
  const serving = await serve(t, { backend })
  await importLarge(serving, 48)
  backend.reads = 0
  const response = await openExport(serving)
  await pause(100)
  response.destroy()
  await Promise.all(serving.answers)
  const { reads } = backend
  t.ok(reads < 24, `${reads} slices`)
  await pause(100)
  t.equal(backend.reads, reads)
  t.strictSame(serving.errors, [])
})

t.test('a reader that takes nothing for exportIdleTimeoutMs is cut off', async (t) => {
  const serving = await serve(t, { exportIdleTimeoutMs: 150 })
  const bytes = await importLarge(serving, 48)
  const response = await openExport(serving)
  await Promise.all(serving.answers)
  t.match(serving.errors, [{ code: 'LK_HTTP_TIMEOUT' }])
  let received = 0
  await t.rejects(async () => {
    for await (const chunk of response) received += (chunk as Buffer).byteLength
  })
  t.ok(received < bytes)
})

t.test('a reader that stalls at the end of an export is cut off as well', async (t) => {
  const serving = await serve(t, {
    exportIdleTimeoutMs: 150,
    maxConcurrentExports: 10_000,
    maxUserRequests: 10_000,
  })
  const bytes = core('x', 'alice', 12)
  t.ok(bytes.byteLength < 16_000, 'a response takes all of it at once')
  await upload(serving, { id: 'x', user: 'alice' }, bytes)
  const { socket } = await wire(t, serving.port)
  socket.pause()
  const request = [
    'GET /api/v1/export-core?id=x HTTP/1.1',
    'Host: localhost',
    'Authorization: Bearer alice',
    '\r\n',
  ].join('\r\n')
  // More than the sockets of this machine hold: one of the answers gets stuck.
  socket.write(request.repeat(3000))
  while (serving.errors.length === 0) {
    const { length } = serving.answers
    await pause(400)
    if (serving.answers.length === length) break
  }
  t.match(serving.errors[0], { code: 'LK_HTTP_TIMEOUT' })
  socket.destroy()
  await Promise.all(serving.answers)
})

t.test('answers that wait behind one of their connection end with it', async (t) => {
  const serving = await serve(t)
  await importLarge(serving, 48)
  const { socket } = await wire(t, serving.port)
  socket.pause()
  const asked = (path: string) =>
    `GET /api/v1/${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer alice\r\n\r\n`
  socket.write(asked('export-core?id=x') + asked('nothing').repeat(20))
  while (serving.answers.length < 21) await pause(10)
  await pause(100)
  socket.destroy()
  await Promise.all(serving.answers)
})

t.test('an export that fails under way is cut, never ended', async (t) => {
  for (const failure of [
    new LorekeepError('LK_STORAGE_FAILED', '/var/secret'),
    new Error('not one of ours'),
  ]) {
    const backend = new WatchedBackend()
    const serving = await serve(t, { backend })
    const bytes = await importLarge(serving, 8)
    backend.reads = 0
    backend.beforeRead = () => {
      if (backend.reads > 4) throw failure
    }
    const response = await openExport(serving)
    t.equal(response.statusCode, 200)
    let received = 0
    await t.rejects(async () => {
      for await (const chunk of response) received += (chunk as Buffer).byteLength
    })
    t.ok(received < bytes)
    t.notOk(response.complete)
    t.equal(serving.errors.length, 1)
  }
})

t.test('storage that fails is a 5xx that names no file', async (t) => {
  const backend = new WatchedBackend()
  const serving = await serve(t, { backend })
  const name = { id: 'x', user: 'alice' }
  for (const [code, status] of [
    ['LK_STORAGE_FAILED', 500],
    ['LK_STORAGE_CORRUPT', 500],
    ['LK_STORAGE_UNAVAILABLE', 503],
  ] as const) {
    backend.beforeWrite = () => {
      throw new LorekeepError(code, '/var/secret', { cause: new Error('ENOSPC') })
    }
    const reply = await upload(serving, name, core('x', 'alice'))
    t.equal(reply.status, status)
    t.equal(json(reply).code, code)
    t.notMatch(reply.body.toString(), /secret|ENOSPC/)
    t.match(serving.errors.at(-1), { code, message: /secret/ })
  }
  backend.beforeWrite = () => {}
  t.equal(await serving.knowledge.stat({ user: 'alice', id: 'x' }), undefined)
  t.equal((await upload(serving, name, core('x', 'alice'))).status, 200)
})

t.test('the list is in order, in pages, and of one user', async (t) => {
  const serving = await serve(t)
  const { url, knowledge } = serving
  const ids = Array.from({ length: 102 }, (_, n) => `urn:${String(n).padStart(3, '0')}`)
  for (const id of ids) await knowledge.import({ user: 'alice', id }, core(id, 'alice', 1))
  await knowledge.import({ user: 'bob', id: 'hers' }, core('hers', 'bob', 1))
  const list = async (query: Record<string, string>) => {
    const reply = await send(target(url, 'cores', query), { headers })
    const { cores, next, ...rest } = json(reply) as { cores: { id: string }[]; next?: string }
    t.strictSame(rest, { limit: Number(query['limit'] ?? 100) })
    return { ids: cores.map(({ id }) => id), next }
  }
  const first = await list({})
  t.strictSame(first.ids, ids.slice(0, 100))
  t.strictSame(await list({ after: first.next ?? '' }), { ids: ids.slice(100), next: undefined })
  t.strictSame(await list({ limit: '102' }), { ids, next: undefined })
  const most = await list({ limit: '101' })
  t.strictSame(most.ids, ids.slice(0, 101))
  await knowledge.delete({ user: 'alice', id: ids[100] ?? '' })
  t.strictSame((await list({ limit: '1', after: most.next ?? '' })).ids, ids.slice(101))
  t.strictSame((await list({ prefix: 'urn:05' })).ids, ids.slice(50, 60))
  t.strictSame((await list({ prefix: 'none' })).ids, [])
  const { updatedAt = '' } = (await knowledge.stat({ user: 'alice', id: 'urn:101' })) ?? {}
  t.ok((await list({ updatedFrom: updatedAt })).ids.includes('urn:101'))
  t.notOk((await list({ updatedTo: updatedAt })).ids.includes('urn:101'))
  t.notOk((await list({ createdTo: '2020-01-01' })).ids.length)
  for (const limit of ['0', '1001', '-1', '1.5', 'ten', '', '1e2', '00001']) {
    const reply = await send(target(url, 'cores', { limit }), { headers })
    t.equal(reply.status, 400, limit)
    t.equal(json(reply).code, 'LK_HTTP_REQUEST')
  }
})

t.test('a core can be looked at and deleted', async (t) => {
  const { url, knowledge } = await serve(t)
  const id = 'https://schema.org/30.0'
  const path = `${url}/api/v1/cores/${encodeURIComponent(id)}`
  await knowledge.import({ user: 'alice', id }, core(id, 'alice'))
  const shown = await send(path, { headers })
  t.equal(shown.status, 200)
  t.strictSame(json(shown), { ...(await knowledge.stat({ user: 'alice', id })) })
  const deleted = await send(path, { method: 'DELETE', headers })
  t.equal(deleted.status, 204)
  t.equal(deleted.body.byteLength, 0)
  for (const method of ['GET', 'DELETE']) {
    const reply = await send(path, { method, headers })
    t.equal(reply.status, 404)
    t.equal(json(reply).code, 'LK_CORE_NOT_FOUND')
  }
})

t.test('an export of a core whose first slice is gone is a 500, and no cut answer', async (t) => {
  const backend = new MemoryBackend()
  const serving = await serve(t, { backend })
  await upload(serving, { id: 'x', user: 'alice' }, core('x', 'alice', 200))
  const slices = await backend.open('slices')
  for await (const page of slices.scan({ keysOnly: true })) {
    await slices.write(page.map(({ key }) => ({ type: 'del', key })))
  }
  const reply = await send(`${serving.url}/api/v1/export-core?id=x`, { headers: as('alice') })
  t.equal(reply.status, 500)
  t.equal(json(reply).code, 'LK_STORAGE_CORRUPT')
  t.match(serving.errors, [{ message: /core 'x' of 'alice'.*a slice is missing/ }])
})

t.test('imports run side by side, also into one core', async (t) => {
  const serving = await serve(t)
  const replies = await Promise.all(
    Array.from({ length: 16 }, (_, n) => {
      const id = n % 2 === 0 ? 'shared' : `own ${n}`
      return upload(serving, { id, user: 'alice' }, core(`${n}`, 'alice', 4))
    }),
  )
  t.ok(replies.every(({ status }) => status === 200))
  const stat = await serving.knowledge.stat({ user: 'alice', id: 'shared' })
  t.match(stat, { segments: 8, triples: 64 })
})
