import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { createHandler } from '../../../src/http/index.js'
import type { Principal } from '../../../src/http/index.js'
import { createLorekeep, restore } from '../../../src/index.js'
import { FaultyBackend } from '../../fixtures/faulty-backend.js'
import { as, core, json, send, serve, wire } from '../fixtures/serving.js'
import type { Serving } from '../fixtures/serving.js'

const path = '/api/v1/backup'
const ref = { user: 'alice', id: 'books' }

async function copyOf(t: Test, bytes: Uint8Array) {
  const backend = new MemoryBackend()
  await restore(backend, bytes)
  const copy = await createLorekeep({ backend })
  t.teardown(() => copy.close())
  return copy
}

t.test('a backup is sent, and restores', async (t) => {
  const { url, knowledge, errors } = await serve(t)
  await knowledge.import(ref, core('books', 'alice'))
  const { status, headers, body } = await send(url + path, { headers: as('admin') })
  t.equal(status, 200)
  t.match(headers, { 'content-type': 'application/octet-stream', 'cache-control': 'no-store' })
  const copy = await copyOf(t, body)
  t.same(await copy.knowledge.stat(ref), await knowledge.stat(ref))
  const head = await send(url + path, { method: 'HEAD', headers: as('admin') })
  t.match(head, { status: 200, headers: { 'content-type': 'application/octet-stream' } })
  t.equal(head.body.length, 0)
  t.same(errors, [])
})

t.test('it is for any user without a list of collections alone', async (t) => {
  const principals: Readonly<Record<string, Principal>> = {
    any: { user: '*' },
    'any-in-a': { user: '*', collections: ['a'] },
    'any-nowhere': { user: '*', collections: [] },
    alice: { user: 'alice' },
  }
  const { url } = await serve(t, { authenticate: (token = '') => principals[token] })
  for (const [name, status] of Object.entries({
    any: 200,
    'any-in-a': 403,
    'any-nowhere': 403,
    alice: 403,
  })) {
    for (const method of ['GET', 'HEAD']) {
      t.equal((await send(url + path, { method, headers: as(name) })).status, status, name)
    }
  }
  t.equal((await send(url + path)).status, 401)
  t.equal((await send(url + path, { method: 'POST', headers: as('any') })).status, 405)
  const withBody = { headers: { ...as('any'), 'Content-Length': '1' }, body: Buffer.from('x') }
  t.match(json(await send(url + path, withBody)), { code: 'LK_HTTP_REQUEST' })
})

t.test('without the option there is no such path', async (t) => {
  const { url } = await serve(t, { backup: undefined } as never)
  t.equal((await send(url + path, { headers: as('admin') })).status, 404)
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const wrong = { knowledge: keep.knowledge, authenticate: 'none', backup: true } as never
  t.throws(() => createHandler(wrong), TypeError)
})

/** A request whose answer is read no further than its head. */
async function begin(url: string): Promise<IncomingMessage> {
  const request = httpRequest(url + path, { headers: as('admin'), agent: false }).end()
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  return response
}

/** More than the buffers of a connection hold. */
async function fill({ flows }: Serving) {
  const content = 'x'.repeat(9_000_000)
  for (const id of ['a', 'b', 'c']) await flows.load('default', { id, user: 'alice', content })
}

t.test('one at a time; a second one is told to come again', async (t) => {
  const serving = await serve(t)
  const { url } = serving
  await fill(serving)
  const first = await begin(url)
  const second = await send(url + path, { headers: as('admin') })
  t.equal(second.status, 503)
  t.match(json(second), { code: 'LK_HTTP_BUSY' })
  const chunks: Buffer[] = []
  for await (const chunk of first) chunks.push(chunk as Buffer)
  await copyOf(t, Buffer.concat(chunks))
})

t.test('whoever has all of one may ask for the next one at once', async (t) => {
  let goOn = () => {}
  const held = new Promise<void>((resolve) => (goOn = resolve))
  const serving: Serving = await serve(t, {
    backup: async (...asked) => {
      const summary = await serving.lorekeep.backup(...asked)
      await held
      return summary
    },
  })
  const ask = () => send(serving.url + path, { headers: as('admin') })
  t.equal((await ask()).status, 200)
  t.equal((await ask()).status, 200)
  goOn()
  await Promise.all(serving.answers)
  t.same(serving.errors, [])
})

t.test('a reader that takes nothing is cut off, and one that leaves ends it', async (t) => {
  const serving = await serve(t, { exportIdleTimeoutMs: 100 })
  const { url, answers, errors } = serving
  await fill(serving)
  const stalled = await begin(url)
  stalled.on('error', () => {})
  await Promise.all(answers)
  t.match(errors, [{ code: 'LK_HTTP_TIMEOUT' }])
  stalled.destroy()
  const leaving = await begin(url)
  leaving.on('error', () => {})
  leaving.destroy()
  await Promise.all(answers)
  t.equal(errors.length, 1)
  // Its head alone: on a busy machine the rest may take longer than the limit.
  const next = await begin(url)
  next.on('error', () => {})
  t.equal(next.statusCode, 200)
  next.destroy()
})

t.test('an error after the first byte cuts the connection', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const serving = await serve(t, { backend })
  const { url, port, errors } = serving
  await fill(serving)
  const calls = async () => {
    const before = backend.calls
    await send(url + path, { headers: as('admin') })
    return backend.calls - before
  }
  const all = await calls()
  backend.failAt = backend.calls + all
  const line = await wire(t, port)
  line.socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin\r\n\r\n`)
  const text = await line.ended()
  t.match(text, /^HTTP\/1\.1 200 /)
  t.notMatch(text, /\r\n0\r\n\r\n$/)
  t.match(errors, [{ code: 'LK_STORAGE_FAILED' }])
})
