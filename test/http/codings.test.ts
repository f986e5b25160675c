// Content codings of answers, by both doors (RFC 9110, sections 8.4 and 12.5.3), and what conditions and ranges
// say of them.

import zlib from 'node:zlib'
import t from 'tap'
import type { Sink } from '../../src/http/call.js'
import { acceptedBy, isAccepted } from '../../src/http/coding/accepted.js'
import { codings } from '../../src/http/coding/codings.js'
import { EncodedSink } from '../../src/http/coding/encoded-sink.js'
import { best, decoders } from './fixtures/codings.js'
import { byBothDoors, fill } from './fixtures/doors.js'
import type { Asked } from './fixtures/doors.js'
import { defineQuick, openEvents } from './fixtures/flows.js'
import { as, core, json, send, serve } from './fixtures/serving.js'

t.test('what a client accepts', async (t) => {
  const rows: [header: string | undefined, coding: string | undefined, isRefused: boolean][] = [
    [undefined, undefined, false],
    ['', undefined, false],
    ['identity', undefined, false],
    ['gzip', 'gzip', false],
    ['x-gzip', 'gzip', false],
    ['GZip', 'gzip', false],
    ['deflate', undefined, false],
    ['compress, lzma', undefined, false],
    ['gzip, deflate, br', 'br', false],
    ['gzip, br;q=0.9', 'gzip', false],
    ['br;q=0, gzip', 'gzip', false],
    ['gzip;q=0', undefined, false],
    ['gzip ; q=0.000', undefined, false],
    ['gzip;q=0.001', 'gzip', false],
    ['gzip;q=x', 'gzip', false],
    ['gzip;q=', 'gzip', false],
    ['gzip;q=0.5, identity', undefined, false],
    ['gzip;q=0.5, identity;q=0.4', 'gzip', false],
    ['gzip, identity', 'gzip', false],
    ['*', best, false],
    ['*;q=0', undefined, true],
    ['*;q=0, gzip', 'gzip', true],
    ['*;q=0, identity', undefined, false],
    ['gzip;q=0, *', best, false],
    ['identity;q=0', undefined, true],
    ['identity;q=0, gzip;q=0.1', 'gzip', true],
    ['identity;q=0, deflate', undefined, true],
    [',, gzip ,', 'gzip', false],
  ]
  for (const [header, coding, isRefused] of rows) {
    const found = acceptedBy(header)
    t.strictSame([found.coding?.name, found.isIdentityRefused], [coding, isRefused], String(header))
  }
  t.ok(isAccepted('gzip;q=0.1, br', 'gzip'))
  t.notOk(isAccepted('gzip;q=0, br', 'gzip'))
  t.notOk(isAccepted(undefined, 'gzip'))
  t.notOk(isAccepted('deflate', 'deflate'), 'no answer has it')
})

t.test('answers of every kind are encoded where they are worth it', async (t) => {
  await byBothDoors(t, {}, async (t, ask, { knowledge, objects }) => {
    await knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice', 60), { mode: 'replace' })
    await knowledge.index({ user: 'alice', id: 'x' })
    await fill(objects)
    const match = Buffer.from(JSON.stringify({ limit: 200 }))
    const query = Buffer.from(JSON.stringify({ schema_name: 'things' }))
    const rows: [path: string, asked: Asked, type: string][] = [
      ['/export-core?id=x', {}, 'application/octet-stream'],
      ['/export-core?id=x&dialect=trustgraph-2', {}, 'application/octet-stream'],
      ['/export-core?id=x', { headers: { Accept: 'text/turtle' } }, 'text/turtle; charset=utf-8'],
      ['/openapi.json', {}, 'application/json'],
      ['/cores/x/match', { method: 'POST', body: match }, 'application/json'],
      [
        '/cores/x/match',
        { method: 'POST', body: match, headers: { Accept: 'application/x-ndjson' } },
        'application/x-ndjson',
      ],
      ['/flow/default/objects/query', { method: 'POST', body: query }, 'application/json'],
      ['/collections/things/objects/big', {}, 'application/json'],
    ]
    for (const [path, asked, type] of rows) {
      const what = `${path} ${type}`
      const plain = await ask(path, asked)
      t.match(plain, { status: 200, headers: { 'content-type': type } }, what)
      t.equal(plain.headers['content-encoding'], undefined)
      t.match(plain.headers.vary, /\bAccept-Encoding\b/)
      for (const [name, decode] of Object.entries(decoders)) {
        const headers = { ...asked.headers, 'Accept-Encoding': name }
        const coded = await ask(path, { ...asked, headers })
        t.match(coded, { status: 200, headers: { 'content-encoding': name } }, `${what} ${name}`)
        t.match(coded.headers.vary, /\bAccept-Encoding\b/)
        t.ok(decode(coded.body).equals(plain.body), `${what} ${name} is the same`)
        if (type !== 'application/octet-stream')
          t.ok(coded.body.length < plain.body.length / 2, what)
        t.equal(coded.headers['repr-digest'], undefined)
        t.equal(coded.headers['accept-ranges'], undefined)
        const { etag } = plain.headers
        if (etag !== undefined) t.equal(coded.headers.etag, `${String(etag).slice(0, -1)}.${name}"`)
        if (asked.method === 'POST') continue
        const head = await ask(path, { ...asked, method: 'HEAD', headers })
        t.equal(head.body.length, 0)
        for (const name of ['content-encoding', 'content-type', 'etag', 'vary', 'cache-control']) {
          t.equal(head.headers[name], coded.headers[name], `HEAD ${what}: ${name}`)
        }
        const length = head.headers['content-length']
        t.ok(
          length === undefined || length === String(coded.body.length),
          `HEAD ${what}: ${length}`,
        )
      }
    }
    // What is little, what is nothing, and what is an error.
    for (const [path, status] of [
      ['/whoami', 200],
      ['/collections/things/objects/small', 200],
      ['/cores/none', 404],
    ] as const) {
      const little = await ask(path, { headers: { 'Accept-Encoding': 'gzip' } })
      t.match(little, { status, headers: { 'content-encoding': undefined } }, path)
      const required = await ask(path, { headers: { 'Accept-Encoding': 'gzip, identity;q=0' } })
      t.match(required, { status, headers: { 'content-encoding': 'gzip' } }, path)
      t.ok(zlib.gunzipSync(required.body).length > 10)
    }
  })
})

t.test('a backup is encoded as it is made', async (t) => {
  const serving = await serve(t)
  await fill(serving.objects)
  const headers = { ...as('admin'), 'Accept-Encoding': 'gzip' }
  const reply = await send(`${serving.url}/api/v1/backup`, { headers })
  t.match(reply, { status: 200, headers: { 'content-encoding': 'gzip' } })
  const whole = zlib.gunzipSync(reply.body)
  t.ok(whole.length > 2 * reply.body.length)
  t.match(whole.subarray(0, 20).toString('latin1'), /^LKBACKUP/)
})

t.test('what refuses every coding there is gets a 406, and changes nothing', async (t) => {
  await byBothDoors(t, {}, async (t, ask, { knowledge }) => {
    for (const accept of ['identity;q=0', '*;q=0', 'identity;q=0, deflate', 'br;q=0, *;q=0']) {
      const headers = { 'Accept-Encoding': accept }
      const body = core('new', 'alice')
      const answer = await ask('/import-core?id=new', { method: 'POST', headers, body })
      t.match(answer, { status: 406, headers: { 'content-encoding': undefined } }, accept)
      t.match(json(answer as never), { code: 'LK_HTTP_NOT_ACCEPTABLE' })
      t.equal(await knowledge.stat({ user: 'alice', id: 'new' }), undefined)
      t.equal((await ask('/../../healthz', { headers })).status, 406)
    }
  })
})

t.test('conditions hold for tags of what is encoded', async (t) => {
  await byBothDoors(t, {}, async (t, ask, { knowledge, objects }) => {
    await knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice', 100), { mode: 'replace' })
    await fill(objects)
    for (const path of ['/export-core?id=x', '/collections/things/objects/big', '/cores/x']) {
      const tagOf = async (coding: string) => {
        const { headers } = await ask(path, { headers: { 'Accept-Encoding': coding } })
        return String(headers.etag)
      }
      const [plain, gzip, br] = [await tagOf('identity'), await tagOf('gzip'), await tagOf('br')]
      const isSmall = path === '/cores/x'
      t.equal(new Set([plain, gzip, br]).size, isSmall ? 1 : 3, path)
      if (isSmall) continue
      const rows: [tag: string, accept: string, known: string | undefined][] = [
        [plain, 'identity', plain],
        [plain, 'gzip', plain],
        [gzip, 'gzip', gzip],
        [gzip, 'gzip;q=0.1, br', gzip],
        [`W/${gzip}`, 'gzip', gzip],
        [`"other", ${br}, ${gzip}`, 'gzip', gzip],
        // Who does not accept it cannot use what it has of it.
        [gzip, 'identity', undefined],
        [gzip, 'br', undefined],
        [gzip, 'gzip;q=0', undefined],
        ['"other.gzip"', 'gzip', undefined],
        [gzip.replace('.gzip', '.deflate'), 'gzip, deflate', undefined],
      ]
      for (const [tag, accept, known] of rows) {
        const headers = { 'Accept-Encoding': accept, 'If-None-Match': tag }
        for (const method of ['GET', 'HEAD']) {
          const { status, headers: found, body } = await ask(path, { method, headers })
          const what = `${method} ${path} ${tag} by ${accept}`
          t.equal(status, known === undefined ? 200 : 304, what)
          if (known === undefined) continue
          t.equal(found['etag'], known, what)
          t.equal(found['content-encoding'], undefined)
          t.equal(body.length, 0)
          t.match(found['vary'], /\bAccept-Encoding\b/)
        }
      }
      t.equal((await ask(path, { headers: { 'If-Match': gzip } })).status, 200)
      t.equal((await ask(path, { headers: { 'If-Match': '"other.gzip"' } })).status, 412)
    }
    // A change on condition of what was read encoded.
    const path = '/collections/things/objects/big'
    const read = await ask(path, { headers: { 'Accept-Encoding': 'gzip' } })
    const change = { method: 'PATCH', body: Buffer.from('{"n":2}') }
    const headers = { 'If-Match': String(read.headers.etag) }
    const patched = await ask(path, {
      ...change,
      headers: { ...headers, 'Accept-Encoding': 'gzip' },
    })
    t.match(patched, { status: 200, headers: { 'content-encoding': 'gzip' } })
    t.notMatch(patched.headers.etag, /gzip/, 'the tag is that of what is stored')
    t.equal((await ask(path, { ...change, headers })).status, 412)
  })
})

t.test('ranges are of what is not encoded', async (t) => {
  await byBothDoors(t, {}, async (t, ask, { knowledge }) => {
    await knowledge.import({ user: 'alice', id: 'x' }, core('x', 'alice', 100), { mode: 'replace' })
    const path = '/export-core?id=x'
    const plain = await ask(path)
    const coded = await ask(path, { headers: { 'Accept-Encoding': 'gzip' } })
    const range = { Range: 'bytes=100-2999', 'Accept-Encoding': 'gzip' }
    const part = await ask(path, { headers: range })
    t.match(part, { status: 206, headers: { 'content-encoding': undefined } })
    t.equal(part.headers.etag, plain.headers.etag)
    t.ok(part.body.equals(plain.body.subarray(100, 3000)))
    const same = await ask(path, { headers: { ...range, 'If-Range': String(plain.headers.etag) } })
    t.equal(same.status, 206)
    // What is there of an encoded answer does not go on with bytes of the other.
    const other = await ask(path, { headers: { ...range, 'If-Range': String(coded.headers.etag) } })
    t.match(other, { status: 200, headers: { 'content-encoding': 'gzip' } })
    const refused = { ...range, 'Accept-Encoding': 'gzip, identity;q=0' }
    const whole = await ask(path, { headers: refused })
    t.match(whole, { status: 200, headers: { 'content-encoding': 'gzip' } })
    t.ok(zlib.gunzipSync(whole.body).equals(plain.body))
    const beyond = { ...range, Range: 'bytes=99999999-' }
    t.equal((await ask(path, { headers: beyond })).status, 416)
  })
})

t.test(
  'what was written goes on when there is room again, though nobody waits for it',
  async (t) => {
    /** With room for one chunk, which is taken later. */
    class Narrow implements Sink {
      isFull = false
      readonly bytes: Uint8Array[] = []

      write(chunk: string | Uint8Array): boolean {
        this.bytes.push(Buffer.from(chunk))
        this.isFull = true
        setImmediate(() => (this.isFull = false))
        return false
      }

      flush(): void {}

      async drained(): Promise<void> {
        this.isFull = false
      }

      async end(): Promise<void> {}
    }
    for (const { name, encode } of codings) {
      if (encode === undefined) continue
      const sink = new Narrow()
      const encoder = encode.createEncoder()
      const encoded = new EncodedSink(sink, encoder, true)
      const content = Buffer.from(
        new Uint32Array(100_000).map((_, n) => Math.imul(n * n, 2654435761)).buffer,
      )
      encoded.write(content)
      encoded.write('the last of it')
      encoder.end()
      await new Promise((resolve) => encoder.once('end', resolve))
      const whole = Buffer.concat([content, Buffer.from('the last of it')])
      t.ok(decoders[name]!(Buffer.concat(sink.bytes)).equals(whole), name)
    }
  },
)

t.test('lines come one by one, and events as they are', async (t) => {
  const serving = await serve(t, { heartbeatMs: 20 })
  await defineQuick(serving)
  const { response } = await openEvents(t, serving, '/flow/quick/events')
  t.equal(response.headers['content-encoding'], undefined)
  const headers = { ...as('alice'), 'Accept-Encoding': 'gzip' }
  const ask = (accept: string) =>
    fetch(`${serving.url}/api/v1/flow/quick/events`, {
      headers: { ...headers, 'Accept-Encoding': accept },
    })
  const plain = await ask('gzip')
  t.equal(plain.headers.get('content-encoding'), null)
  await plain.body?.cancel()
  // Who takes nothing else gets each of them at once, too: a sign of life comes through.
  const encoded = await ask('gzip, identity;q=0')
  t.equal(encoded.headers.get('content-encoding'), 'gzip')
  const reader = encoded.body!.getReader()
  const { value } = await reader.read()
  t.match(new TextDecoder().decode(value), /: still here/)
  await reader.cancel()
})
