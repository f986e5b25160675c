import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import express from 'express'
import t from 'tap'
import type { Test } from 'tap'
import { BodyMemory } from '../../src/http/body-memory.js'
import { readJson } from '../../src/http/json.js'
import type { JsonLimits } from '../../src/http/json.js'
import { NodeCall } from '../../src/http/node/call.js'
import { problemOf } from '../../src/http/problem.js'
import { answerJson } from '../../src/http/reply.js'
import { Random, pickSeed } from '../fixtures/random.js'
import { httpChunk, json, listen, send, wire } from './fixtures/serving.js'

/** A server that answers with the names of what it read, and the JSON of it. */
function echo(limits: Partial<JsonLimits> = {}) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const call = new NodeCall(request, response, () => '/')
    try {
      const memory = new BodyMemory(1024 * 1024, false).open({ user: 'alice' })
      const value = await readJson(
        { call, memory },
        { maxJsonBytes: 1024 * 1024, idleTimeoutMs: 10_000, ...limits },
      )
      const keys = Object.getOwnPropertyNames(value)
      await answerJson(call, 200, { keys, text: JSON.stringify(value) })
    } catch (error) {
      const problem = problemOf(error, 'r')
      await answerJson(call, problem.status, problem)
    }
  }
}

async function start(t: Test, limits?: Partial<JsonLimits>): Promise<number> {
  return listen(t, createServer(echo(limits)))
}

type Body = string | Uint8Array | readonly Uint8Array[]

async function post(port: number, body: Body, headers: Record<string, string> = {}) {
  return send(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? Buffer.from(body) : body,
  })
}

const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`

t.test('an object comes as it was sent, however it is cut and called', async (t) => {
  const port = await start(t)
  const text = '{"ü":"😀 \\ud83d\\ude00", "a" : [1, -2.5e3, true, null, {}, []], "": "a:b{[\\""}'
  const expected = { keys: ['ü', 'a', ''], text: JSON.stringify(JSON.parse(text)) }
  const bytes = Buffer.from(text)
  for (const body of [
    bytes,
    [bytes],
    [...bytes].map((byte) => Buffer.of(byte)),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(` \r\n\t${text} \n`),
  ]) {
    const reply = await post(port, body)
    t.equal(reply.status, 200)
    t.strictSame(json(reply), expected)
  }
  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/merge-patch+json',
    'application/x-www-form-urlencoded',
    'text/plain',
  ]) {
    t.strictSame(json(await post(port, bytes, { 'Content-Type': type })), expected, type)
  }
})

t.test('a body longer than the first buffer is whole', async (t) => {
  const port = await start(t)
  const text = JSON.stringify({ a: 'ä😀'.repeat(40_000) })
  const bytes = Buffer.from(text)
  const reply = await post(port, [bytes.subarray(0, 100_001), bytes.subarray(100_001)])
  t.strictSame(json(reply), { keys: ['a'], text })
})

t.test('a multipart body is refused before it is read', async (t) => {
  const port = await start(t)
  const { socket, ended } = await wire(t, port)
  socket.write(
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nContent-Type: Multipart/form-data; boundary=x\r\n\r\n',
  )
  t.match(await ended(), /^HTTP\/1.1 400 [^]*LK_HTTP_JSON/)
})

t.test('no body, an empty body and white space are told apart from JSON', async (t) => {
  const port = await start(t)
  for (const body of ['', '\ufeff', ' \n']) {
    const reply = await post(port, body, { 'Content-Length': `${Buffer.byteLength(body)}` })
    t.equal(reply.status, 400)
    t.equal(json(reply).code, 'LK_HTTP_JSON', JSON.stringify(body))
    t.equal('byteOffset' in json(reply), body === ' \n', 'nothing has no place')
  }
  const { socket, ended } = await wire(t, port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\n\r\n')
  const answer = await ended()
  t.match(answer, /^HTTP\/1.1 400 [^]*LK_HTTP_REQUEST/)
  t.match(answer, /\r\nConnection: close\r\n/)
  t.notMatch(answer, /core/, 'it is not about cores')
})

t.test('what is no object is refused', async (t) => {
  const port = await start(t)
  for (const body of ['[]', '[{}]', 'null', '1', 'true', '"{}"']) {
    const reply = await post(port, body)
    t.equal(reply.status, 400, body)
    t.equal(json(reply).code, 'LK_HTTP_JSON', body)
  }
})

t.test('maxJsonBytes holds for bodies of known and unknown length', async (t) => {
  const body = Buffer.from('{"a":"ü"}')
  for (const [maxJsonBytes, status] of [
    [body.byteLength, 200],
    [body.byteLength - 1, 413],
  ] as const) {
    const port = await start(t, { maxJsonBytes })
    for (const sent of [body, [body], [body.subarray(0, 4), body.subarray(4)]]) {
      const reply = await post(port, sent)
      t.equal(reply.status, status)
      if (status === 413) t.match(json(reply), { code: 'LK_HTTP_TOO_LARGE', maxJsonBytes })
    }
  }
})

t.test('an encoding that is none of ours is 415', async (t) => {
  const port = await start(t)
  for (const [encoding, status] of [
    ['compress', 415],
    ['br, gzip', 415],
    ['identity', 200],
  ] as const) {
    const reply = await post(port, '{}', { 'Content-Encoding': encoding })
    t.equal(reply.status, status, encoding)
    if (status === 415) t.equal(json(reply).code, 'LK_HTTP_ENCODING')
  }
})

t.test('a client that stops sending is told so', async (t) => {
  const port = await start(t, { idleTimeoutMs: 100 })
  const { socket, ended } = await wire(t, port)
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  socket.write(httpChunk(Buffer.from('{"a":')))
  t.match(await ended(), /^HTTP\/1.1 408 [^]*LK_HTTP_TIMEOUT/)
})

t.test('bytes that are not UTF-8 are refused, with the first of them', async (t) => {
  const port = await start(t)
  const bad = [
    [0xff],
    [0x80],
    [0xc0, 0x80],
    [0xc3],
    [0xe2, 0x82],
    [0xed, 0xa0, 0x80],
    [0xf0, 0x9f, 0x98],
    [0xf4, 0x90, 0x80, 0x80],
  ]
  for (const bytes of bad) {
    for (const before of ['', 'ü', '😀'.repeat(50), 'x'.repeat(1000)]) {
      const start = Buffer.from(`{"a":"${before}`)
      for (const end of ['', '"}', `ü${'x'.repeat(1000)}"}`]) {
        const reply = await post(port, Buffer.concat([start, Buffer.from(bytes), Buffer.from(end)]))
        t.equal(reply.status, 400)
        t.match(json(reply), { code: 'LK_HTTP_JSON', byteOffset: start.byteLength })
      }
    }
  }
})

const seed = pickSeed()
t.test(`where UTF-8 ends is where a decoder stumbles (seed ${seed})`, async (t) => {
  const port = await start(t)
  const random = new Random(seed)
  for (let round = 0; round < 300; round++) {
    const bytes = Buffer.from('aü€😀'.repeat(random.below(40) + 1))
    bytes[random.below(bytes.byteLength)] = 0x80 + random.below(128)
    const whole = bytes.toString()
    if (Buffer.from(whole).equals(bytes)) continue
    // The beginnings that are whole characters, one by one.
    let end = 0
    for (let size = 1; size <= 4; size++) {
      const character = bytes.subarray(end, end + size)
      if (!Buffer.from(character.toString()).equals(character)) continue
      end += character.byteLength
      size = 0
    }
    t.match(json(await post(port, bytes)), { code: 'LK_HTTP_JSON', byteOffset: end })
  }
})

t.test('a key that is there twice is refused, with its place', async (t) => {
  const port = await start(t)
  const cases = [
    ['{"a":1,"a":1}', 'a', 7],
    ['{"a":1,"\\u0061":2}', 'a', 7],
    ['{"b":[0,{"c":{"ü":1, "d":2,"ü":3}}]}', 'b[1].c.ü', 28],
    ['\ufeff{"a":{},"b":{"__proto__":1,"__proto__":{}}}', 'b.__proto__', 30],
    ['{"a":[{"x":1},{"x":1}],"x":{"x":1,"y":":","x":2}}', 'x.x', 42],
    ['{"":1,"":1}', '[""]', 6],
    ['{"1":1,"a":0,"1":1}', '["1"]', 13],
  ] as const
  for (const [body, path, byteOffset] of cases) {
    const reply = await post(port, body)
    t.equal(reply.status, 400, body)
    t.match(json(reply), { code: 'LK_HTTP_JSON', errors: [{ path }], byteOffset }, body)
  }
  const apart = '{"a":{"a":1},"b":[{"a":":"},{"a":"\\":"}],"constructor":1,"__proto__":{"a":1}}'
  t.equal((await post(port, apart)).status, 200)
  const long = 'k'.repeat(200_000)
  const reply = await post(port, `{"${long}":1,"${long}":2}`)
  t.equal(reply.status, 400)
  t.ok(reply.body.byteLength < 2_000, 'a long key does not come back')
})

t.test('a text that is cut off anywhere is refused, where it ends at the latest', async (t) => {
  const port = await start(t)
  const text = '{"a":[1.5e-3,true,null,"\\u00e4\\n"],"b":{"c":false}}'
  for (let end = 1; end < text.length; end++) {
    const reply = await post(port, text.slice(0, end))
    t.equal(reply.status, 400, text.slice(0, end))
    t.match(json(reply), { code: 'LK_HTTP_JSON' })
    // A literal that is cut is wrong where it begins.
    const { byteOffset } = json(reply)
    t.ok(Number(byteOffset) <= end && Number(byteOffset) > end - 5, `${end}: ${byteOffset}`)
  }
})

t.test('nesting is bounded, and a bomb of brackets is harmless', async (t) => {
  const port = await start(t)
  t.equal((await post(port, deep(200))).status, 200)
  t.equal((await post(port, `{"a":[${'[],{},'.repeat(200)}0]}`)).status, 200, 'side by side')
  for (const body of [
    deep(201),
    deep(100_000),
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    `{"s":"[[[[","a":${'['.repeat(200)}`,
  ]) {
    const reply = await post(port, body)
    t.equal(reply.status, 400)
    t.match(json(reply), { code: 'LK_HTTP_JSON', maxDepth: 200 })
  }
  t.equal((await post(port, `{"a":"${'['.repeat(1000)}"}`)).status, 200, 'not in a string')
})

t.test('names with a meaning in JavaScript are names', async (t) => {
  const port = await start(t)
  const text =
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":1}'
  const reply = await post(port, text)
  t.strictSame(json(reply), { keys: ['__proto__', 'constructor', 'toString'], text })
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
})

t.test('behind a parser of Express it takes what was parsed, or says what is wrong', async (t) => {
  const through = (...parsers: express.RequestHandler[]) => {
    const app = express().set('env', 'test')
    for (const parser of parsers) app.use(parser)
    return listen(t, createServer(app.use(echo({ maxJsonBytes: 500 }))))
  }
  const asJson = { 'Content-Type': 'application/json' }
  const asForm = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const asText = { 'Content-Type': 'text/plain' }

  const parsed = await through(express.json({ strict: false }), express.urlencoded())
  const reply = await post(parsed, '{"a":1,"__proto__":2}', asJson)
  t.strictSame(json(reply), { keys: ['a', '__proto__'], text: '{"a":1,"__proto__":2}' })
  t.equal((await post(parsed, '{"a":1}', asText)).status, 200, 'not parsed, so read here')
  t.match(json(await post(parsed, '[1]', asJson)), { code: 'LK_HTTP_JSON', status: 400 })
  t.match(json(await post(parsed, 'a=1', asForm)), { code: 'LK_HTTP_BODY_CONSUMED', status: 500 })
  t.match(json(await post(parsed, '5', asJson)), { code: 'LK_HTTP_BODY_CONSUMED', status: 500 })
  t.equal((await post(parsed, deep(200), asJson)).status, 200)
  const nested = json(await post(parsed, deep(201), asJson))
  t.match(nested, { code: 'LK_HTTP_JSON', maxDepth: 200 })
  const large = json(await post(parsed, `{"a":"${'x'.repeat(500)}"}`, asJson))
  t.match(large, { code: 'LK_HTTP_TOO_LARGE', maxJsonBytes: 500 })

  const raw = await through(express.raw({ type: '*/*' }))
  t.equal((await post(raw, '{"a":1}')).status, 200)
  t.match(json(await post(raw, '{"a":1,"a":1}', asJson)), { code: 'LK_HTTP_JSON', byteOffset: 7 })

  const text = await through(express.text({ type: '*/*' }))
  t.match(json(await post(text, '{}', asText)), { code: 'LK_HTTP_BODY_CONSUMED', status: 500 })
})
