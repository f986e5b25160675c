import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { sampleId } from '../../src/cli/commands/cores/sample.js'
import { defineFlow } from '../../src/cli/commands/store/serve.js'
import type { NamedFlow } from '../../src/cli/config/config.js'
import type { FlowQueue } from '../../src/flow/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { embeddings, startModelServer } from '../openai/model-server.js'
import { fail, run, script, serve, start, succeed } from './command.js'
import type { Serving } from './command.js'
import { product, productSchema } from './products.js'

const sample = await succeed(t, ['sample'])

/** An upload whose body the server has begun to wait for. */
async function openUpload({ url }: Serving, token: string): Promise<ClientRequest> {
  const request = httpRequest(`${url}/api/v1/import-core?id=slow&user=alice`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, Expect: '100-continue' },
    agent: false,
  })
  request.flushHeaders()
  // The handler asks for the body when it pulls it, and not before.
  await once(request, 'continue')
  request.write(sample.subarray(0, 1000))
  return request
}

/** Waits until nobody takes connections there any more. */
async function refused(url: string): Promise<void> {
  const { hostname, port } = new URL(url)
  for (;;) {
    const socket = connect(Number(port), hostname)
    const connected = await new Promise<boolean>((resolve) => {
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    })
    socket.destroy()
    if (!connected) return
  }
}

const noCurl = spawnSync('curl', ['--version']).error ? 'no curl' : false

t.test('the first line on stdout says where, and stdout has no other', async (t) => {
  const { stdout, child, ended } = await serve(t, ['--data', t.testdir()])
  t.match(stdout(), /^lorekeep listening on http:\/\/127\.0\.0\.1:[1-9]\d*\n$/)
  child.kill('SIGTERM')
  const outcome = await ended
  t.equal(outcome.code, 0)
  t.match(String(outcome.stdout), /^[^\n]*\n$/)
})

t.test('its address leads to the inspector, unless that is not wanted', async (t) => {
  const place = t.testdir({ 'config.json': '{ "inspector": false }' })
  const { url } = await serve(t, ['--data', join(place, 'with')])
  const page = await fetch(url)
  t.equal(page.url, `${url}/api/v1/inspector`)
  t.match(await page.text(), /<title>lorekeep<\/title>/)
  t.equal((await fetch(url, { method: 'POST' })).status, 404)
  for (const flags of [['--no-inspector'], ['--config', join(place, 'config.json')]]) {
    const without = await serve(t, ['--data', join(place, String(flags.length)), ...flags])
    t.equal((await fetch(without.url)).status, 404)
    t.equal((await fetch(`${without.url}/api/v1/inspector`)).status, 404)
  }
  const told = await fail(t, 2, ['serve', '--no-inspector', '--open-browser'])
  t.match(told, /--no-inspector leaves out/)
})

t.test('--open-browser opens it', { skip: process.platform !== 'linux' }, async (t) => {
  const bin = t.testdir({ 'xdg-open': '#!/bin/sh\necho "$1" > "$(dirname "$0")/opened"\n' })
  chmodSync(join(bin, 'xdg-open'), 0o755)
  const PATH = `${bin}:${process.env['PATH']}`
  const data = join(bin, 'data')
  const { url } = await serve(t, ['--data', data, '--open-browser'], { PATH })
  const opened = join(bin, 'opened')
  while (!existsSync(opened)) await new Promise((resolve) => setTimeout(resolve, 20))
  t.equal(readFileSync(opened, 'utf8'), `${url}/api/v1/inspector\n`)
})

t.test('a thousand may knock while the server is busy', async (t) => {
  const bound = '/proc/sys/net/core/somaxconn'
  if (!existsSync(bound) || Number(readFileSync(bound, 'utf8')) < 1000) {
    return t.pass('', { skip: 'the system takes fewer' })
  }
  const { url, child } = await serve(t, ['--data', t.testdir()])
  const { hostname, port } = new URL(url)
  child.kill('SIGSTOP')
  try {
    const sockets = Array.from({ length: 1000 }, () => connect(Number(port), hostname))
    // Nobody takes them from the system, which leaves those without a place knocking for minutes.
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    for (const socket of sockets) socket.destroy()
  } finally {
    child.kill('SIGCONT')
  }
})

t.test('an IPv6 address is printed in brackets', async (t) => {
  const command = start(t, ['serve', '--host', '::1', '--port', '0', '--data', t.testdir()])
  try {
    await command.until('listening')
  } catch (error) {
    return t.pass('', { skip: `no IPv6 here: ${String(error)}` })
  }
  t.match(command.stdout(), /^lorekeep listening on http:\/\/\[::1\]:\d+\n/)
})

t.test('the lines for a shell work as they stand', { skip: noCurl }, async (t) => {
  const dir = t.testdir({ shell: {} })
  const { stderr } = await serve(t, ['--data', join(dir, 'data')])
  const shell = spawnSync('sh', ['-e'], { cwd: join(dir, 'shell'), input: stderr() })
  t.equal(shell.status, 0, String(shell.stderr))
  const output = String(shell.stdout)
  t.match(output, '"triples":44')
  t.match(output, '"cores":[')
  t.match(output, '"id":"urn:lorekeep:text"')
  t.match(output, /^\[1\] [^]*wrote Frankenstein/m)
  t.match(output, '"schemas":[')
  t.match(output, /\nthe same bytes\n$/)
})

t.test('tokens of the configuration and of flags are taken, others are not', async (t) => {
  const tokens = { 'hush-1': { user: 'alice' }, 'hush-3': { user: 'alice' } }
  const config = { port: 1, host: '203.0.113.1', data: 'shelf', tokens }
  const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
  const serving = await serve(t, [
    ...['--config', join(dir, 'lorekeep.json'), '--host', '127.0.0.1'],
    ...['--token', 'hush-2==bob', '--token', 'hush-3=bob'],
  ])
  const { url, stderr } = serving
  t.match(stderr(), join(dir, 'shelf'), 'a relative directory is meant from where the file is')
  for (const secret of ['hush-1', 'hush-2', 'hush-3']) t.notMatch(stderr(), secret)
  t.equal(serving.token, '', 'none is made where there are some')

  const statusOf = async (token: string, user: string) => {
    const headers = { Authorization: `Bearer ${token}` }
    const reply = await fetch(`${url}/api/v1/cores?user=${user}`, { headers })
    await reply.arrayBuffer()
    return reply.status
  }
  t.equal(await statusOf('hush-1', 'alice'), 200)
  t.equal(await statusOf('hush-1', 'bob'), 403)
  t.equal(await statusOf('hush-2=', 'bob'), 200)
  t.equal(await statusOf('hush-3', 'bob'), 200)
  t.equal(await statusOf('hush-3', 'alice'), 403)
  t.equal(await statusOf('wrong', 'alice'), 401)
  t.equal(await statusOf('user', 'alice'), 401)
  await fail(t, 1, ['cores', '--url', url, '--token', 'wrong'])
  await fail(t, 1, ['cores', '--url', url])
})

t.test('the limits of the configuration are in force', async (t) => {
  const limits = { maxCoreBytes: sample.length, maxStringBytes: 80, maxGraphResults: 5 }
  const config = { data: 'shelf', limits, embedder: { dimensions: 16 } }
  const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
  const { url, token } = await serve(t, ['--config', join(dir, 'lorekeep.json')])
  const post = async (body: Uint8Array) => {
    const target = `${url}/api/v1/import-core?user=a&id=${sampleId}`
    const headers = { Authorization: `Bearer ${token}` }
    const reply = await fetch(target, { method: 'POST', headers, body })
    return ((await reply.json()) as { code?: string }).code
  }
  t.equal(await post(sample), undefined)
  t.equal(await post(Buffer.concat([sample, sample])), 'LK_CORE_TOO_LARGE')
  const long = Buffer.from(sample.subarray(0, 1000))
  // The first header of a string of 8-bit length, from now on one of 255 bytes.
  long[long.indexOf(0xd9) + 1] = 255
  t.equal(await post(long), 'LK_CORE_FORMAT')
  // The vectors of the sample have as many dimensions as those of the embedder.
  const near = ['nearest', '--user', 'a', '--text', 'a', '--url', url, '--token', token]
  t.equal(String(await succeed(t, [...near, '-k', '5'])).split('\n').length, 6)
  await fail(t, 1, [...near, '-k', '6'])
})

t.test(
  'cors, requireConditions and the bytes of one user of the configuration are in force',
  async (t) => {
    const origin = 'https://app.example.com'
    const limits = { maxUserBytesPerSecond: 131_072 }
    const config = { data: 'shelf', cors: { origins: [origin] }, requireConditions: true, limits }
    const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
    const { url, token } = await serve(t, ['--config', join(dir, 'lorekeep.json')])
    const asked = { Authorization: `Bearer ${token}`, Origin: origin }
    const whoami = await fetch(`${url}/api/v1/whoami`, { headers: asked })
    t.equal(whoami.headers.get('access-control-allow-origin'), origin)
    const schema = JSON.stringify({ fields: { id: { type: 'string', required: true } } })
    const put = (headers: Record<string, string>, body: string | Uint8Array = schema) =>
      fetch(`${url}/api/v1/schemas/x`, { method: 'PUT', headers, body })
    t.equal((await put(asked)).status, 428)
    t.equal((await put({ ...asked, 'If-None-Match': '*' })).status, 201)
    const begun = performance.now()
    const long = Buffer.alloc(3 * 131_072, ' ')
    await (await put({ ...asked, 'If-None-Match': '*' }, long)).text()
    t.ok(performance.now() - begun > 1500, 'two of three seconds are waited for')
  },
)

t.test('schemas, collections and flows of the configuration are there', async (t) => {
  const config = {
    data: 'shelf',
    collections: 'declared',
    schemas: [productSchema],
    flows: [{ id: 'mine' }],
    tokens: { any: { user: '*' }, one: { user: 'alice', collections: ['shop'] } },
    limits: { maxJsonBytes: 1000, maxBatchObjects: 2, maxObjectBytes: 200, maxQueryLimit: 3 },
  }
  const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
  const { url } = await serve(t, ['--config', join(dir, 'lorekeep.json')])
  const ask = async (token: string, method: string, path: string, body?: unknown) => {
    const headers = { Authorization: `Bearer ${token}` }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const reply = await fetch(`${url}/api/v1/${path}`, init)
    return { status: reply.status, ...((await reply.json()) as { code?: string; limit?: number }) }
  }
  const put = (token: string, flow: string, collection: string, values: readonly unknown[]) =>
    ask(token, 'POST', `flow/${flow}/objects/import`, {
      metadata: { id: 'b', user: 'alice', collection },
      schema_name: 'product',
      values,
    })
  t.match(await ask('any', 'GET', 'schemas'), { schemas: [{ name: 'product' }] })
  t.match(await put('any', 'mine', 'shop', [product(1)]), { code: 'LK_COLLECTION_NOT_FOUND' })
  for (const collection of ['shop', 'attic']) {
    t.match(await ask('any', 'PUT', `collections/${collection}`), { status: 201 })
    t.match(await put('any', 'mine', collection, [product(1)]), { status: 200 })
  }
  t.match(await put('any', 'none', 'shop', []), { code: 'LK_FLOW_NOT_FOUND' })
  t.match(await put('one', 'mine', 'shop', [product(2)]), { status: 200 })
  t.match(await put('one', 'mine', 'attic', [product(3)]), { code: 'LK_HTTP_FORBIDDEN' })
  const query = { schema_name: 'product', limit: 1000 }
  t.match(await ask('one', 'POST', 'flow/mine/objects/query', query), { total: 2, limit: 3 })
  t.match(await ask('any', 'POST', 'flow/mine/objects/query', query), { total: 3, limit: 3 })
  const three = [4, 5, 6].map(product)
  t.match(await put('any', 'mine', 'shop', three), { code: 'LK_OBJECT_TOO_LARGE' })
  const long = { ...product(7), name: 'x'.repeat(200) }
  t.match(await put('any', 'mine', 'shop', [long]), { status: Number, code: /^LK_OBJECT_/ })
  const longer = { ...product(7), name: 'x'.repeat(1000) }
  t.match(await put('any', 'mine', 'shop', [longer]), { code: 'LK_HTTP_TOO_LARGE' })
})

t.test(
  'a schema of the configuration that is refused is told, and nothing is served',
  async (t) => {
    const wrong = { name: 'wrong', fields: { a: { type: 'strnig' } } }
    const config = { data: 'shelf', schemas: [productSchema, wrong] }
    const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
    const line = await fail(t, 1, ['serve', '--port', '0', '--config', join(dir, 'lorekeep.json')])
    for (const part of ['schemas[1]', 'wrong', 'strnig']) t.ok(line.includes(part), part)
  },
)

t.test('a flow that another server stops while it is defined stays stopped', async (t) => {
  const backend = new MemoryBackend()
  const keep = await createLorekeep({ backend })
  t.teardown(() => keep.close())
  await keep.flows.define({ id: 'mine', keepDone: 7 })
  let stops = 1
  const flows = new Proxy(keep.flows, {
    get: (of, name: keyof FlowQueue) => {
      if (name !== 'get') return of[name].bind(of) as unknown
      return async (id: string) => {
        const found = await of.get(id)
        if (stops-- > 0) await of.stop(id)
        return found
      }
    },
  })
  await defineFlow(flows, { id: 'mine', keepDone: 8 } as NamedFlow)
  t.match(await keep.flows.get('mine'), { active: false, keepDone: 8 })
})

t.test('flows of the configuration are defined, and stay stopped if nothing is said', async (t) => {
  const dir = t.testdir()
  const file = join(dir, 'lorekeep.json')
  const withFlows = async (...flows: readonly unknown[]) => {
    writeFileSync(file, JSON.stringify({ data: 'shelf', tokens: { any: { user: '*' } }, flows }))
    const { url, child, ended } = await serve(t, ['--config', file])
    const headers = { Authorization: 'Bearer any' }
    const reply = await fetch(`${url}/api/v1/flows`, { headers })
    const found = ((await reply.json()) as { flows: { id: string }[] }).flows
    await fetch(`${url}/api/v1/flows/mine/stop`, { method: 'POST', headers })
    child.kill('SIGTERM')
    await ended
    return Object.fromEntries(found.map(({ id, ...rest }) => [id, rest]))
  }
  const first = await withFlows({ id: 'mine', keepDone: 7 }, { id: 'idle', active: false })
  t.match(first, { default: { active: true }, mine: { active: true, keepDone: 7 } })
  t.match(first['idle'], { active: false, steps: { length: 5 } })
  const second = await withFlows({ id: 'mine', steps: ['chunk'] })
  t.match(second['mine'], { active: false, steps: [{ name: 'chunk' }], keepDone: 10_000 })
  t.match(second['idle'], { active: false }, 'a flow that is not configured any more stays')
  t.match((await withFlows({ id: 'mine', active: true }))['mine'], { active: true })

  const flows = [{ id: 'a' }, { id: 'b', steps: ['cut'] }]
  writeFileSync(file, JSON.stringify({ data: 'shelf', flows }))
  const line = await fail(t, 1, ['serve', '--port', '0', '--config', file])
  for (const part of ['flows[1]', "'b'", 'steps[0]']) t.ok(line.includes(part), part)
})

t.test('texts are accepted as the configuration says', async (t) => {
  const config = {
    data: 'shelf',
    tokens: { any: { user: '*' }, one: { user: 'alice' } },
    limits: { maxTextBytes: 30, maxMetadataTriples: 1 },
    defaultUser: 'nobody',
    base: 'https://acme.example/',
    compat: { emptyJson: true },
  }
  const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
  const { url } = await serve(t, ['--config', join(dir, 'lorekeep.json')])
  const load = async (token: string, text: string, more: object = {}) => {
    const init = {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify({ id: 'a', text: Buffer.from(text).toString('base64'), ...more }),
    }
    const reply = await fetch(`${url}/api/v1/flow/default/service/text-load`, init)
    return (await reply.json()) as object
  }
  t.strictSame(await load('any', 'x'.repeat(30)), {})
  t.strictSame(await load('one', 'x'), {})
  t.match(await load('any', 'x'.repeat(31)), { code: 'LK_DOCUMENT_TOO_LARGE' })
  const term = { v: 'x', e: false }
  const metadata = Array.from({ length: 2 }, () => ({ s: term, p: term, o: term }))
  t.match(await load('any', 'x', { metadata }), { code: 'LK_DOCUMENT_TOO_LARGE' })
  const jobs = await succeed(t, ['jobs', '--json', '--url', url, '--token', 'any'])
  const users = String(jobs).match(/(?<="user":")\w+/g)
  t.strictSame(new Set(users), new Set(['nobody', 'alice']))
  const one = ['--url', url, '--token', 'one']
  const input = Buffer.from('Ellen lives in Bath.')
  await succeed(t, ['load', '-', '--id', 'b', '--wait', ...one], { input })
  t.match(String(await succeed(t, ['match', '--core', 'b', ...one])), '<https://acme.example/d/b>')
})

t.test('SIGTERM lets a document under way finish, and ends streams of events', async (t) => {
  const dir = t.testdir({ 'a.txt': 'Mary Shelley wrote Frankenstein in Geneva.' })
  const model = await startModelServer(t)
  const asked = new Promise<void>((resolve) => (model.onHang = resolve))
  model.answer = () => 'hang'
  const options = { type: 'openai', model: 'm', url: model.url, timeoutMs: 1000 }
  const steps = ['chunk', { name: 'embed', options }, 'extract', 'store', 'index']
  const config = { data: 'shelf', flows: [{ id: 'default', steps }] }
  writeFileSync(join(dir, 'lorekeep.json'), JSON.stringify(config))
  const args = ['--config', join(dir, 'lorekeep.json'), '--stop-timeout', '600']
  const serving = await serve(t, [...args, '--token', 'a=alice'])
  const headers = { Authorization: 'Bearer a' }
  const events = await fetch(`${serving.url}/api/v1/flow/default/events`, { headers })
  const remote = ['--url', serving.url, '--token', 'a']
  await succeed(t, ['load', join(dir, 'a.txt'), '--id', 'urn:a', ...remote])
  await asked
  serving.child.kill('SIGTERM')
  await serving.until('SIGTERM')
  // The request that hangs is given up after a second, and sent again.
  model.answer = embeddings
  t.match(await events.text(), 'event: active')
  t.equal((await serving.ended).code, 0)
  const data = join(dir, 'shelf')
  t.match(String(await succeed(t, ['cores', '--user', 'alice', '--data', data])), /^urn:a\t/)
})

t.test('answers that fail for one reason are a line a second, not one each', async (t) => {
  const dir = t.testdir()
  const model = await startModelServer(t)
  const asked = new Promise<void>((resolve) => (model.onHang = resolve))
  model.answer = () => 'hang'
  const options = { type: 'openai', model: 'm', url: model.url, timeoutMs: 600_000 }
  const flow = {
    id: 'default',
    steps: ['chunk', { name: 'embed', options }, 'store'],
    stepTimeoutMs: 600_000,
    concurrency: 1,
    maxQueued: 1,
  }
  writeFileSync(join(dir, 'lorekeep.json'), JSON.stringify({ data: 'shelf', flows: [flow] }))
  const args = ['--config', join(dir, 'lorekeep.json'), '--stop-timeout', '0']
  const serving = await serve(t, [...args, '--token', 'a=alice'])
  const load = async (id: string) => {
    const body = JSON.stringify({ id, text: Buffer.from(id).toString('base64') })
    const headers = { Authorization: 'Bearer a' }
    const path = '/api/v1/flow/default/service/text-load'
    return fetch(`${serving.url}${path}`, { method: 'POST', headers, body })
  }
  t.equal((await load('urn:active')).status, 200)
  await asked
  t.equal((await load('urn:queued')).status, 200)
  const started = performance.now()
  for (let n = 0; n < 200; n++) {
    const { status } = await load(`urn:${n}`)
    if (status !== 503) t.fail(`${status} for ${n}`)
  }
  const seconds = Math.floor((performance.now() - started) / 1000)
  serving.child.kill('SIGTERM')
  const { stderr } = await serving.ended
  const lines = stderr.split('\n').filter((line) => line.includes('text-load'))
  t.ok(lines.length <= seconds + 2, `${lines.length} lines in ${seconds} s`)
  const counts = lines.map((line) => Number(/the last of (\d+) such errors/.exec(line)?.[1] ?? 1))
  const sum = counts.reduce((total, count) => total + count, 0)
  t.equal(sum, 200, 'and each is counted')
})

t.test('a data directory that is in use, or is none, is one line', async (t) => {
  const data = t.testdir({ file: '' })
  const { url } = await serve(t, ['--data', data])
  const locked = await fail(t, 1, ['serve', '--port', '0', '--data', data])
  t.match(locked, /in use: process \d+ .*--data.*--url/)
  t.match(await fail(t, 1, ['import', 'package.json', '--data', data]), '--url')
  await fail(t, 1, ['serve', '--port', '0', '--data', join(data, 'file')])
  const other = join(data, 'other')
  t.match(await fail(t, 1, ['serve', '--port', new URL(url).port, '--data', other]), 'in use')
})

t.test('SIGTERM lets an upload under way finish, and takes no new ones', async (t) => {
  const data = t.testdir()
  const serving = await serve(t, ['--data', data, '--token', 'a=alice', '--stop-timeout', '600'])
  const request = await openUpload(serving, 'a')
  const silent = connect(Number(new URL(serving.url).port), '127.0.0.1')
  await once(silent, 'connect')
  serving.child.kill('SIGTERM')
  await serving.until('SIGTERM')
  await refused(serving.url)
  request.end(sample.subarray(1000))
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  t.equal(response.statusCode, 200)
  response.resume()
  t.equal((await serving.ended).code, 0)
  const listed = await succeed(t, ['cores', '--user', 'alice', '--data', data])
  t.match(String(listed), /^slow\t6\t44\t/)
  silent.destroy()
})

t.test('an upload that does not end in time is cut off, and leaves nothing', async (t) => {
  const data = t.testdir()
  const serving = await serve(t, ['--data', data, '--token', 'a=alice', '--stop-timeout', '0'])
  const request = await openUpload(serving, 'a')
  const failed = once(request, 'error')
  serving.child.kill('SIGINT')
  t.equal((await serving.ended).code, 0)
  await failed.catch(() => {})
  t.match(serving.stderr(), '1 request not finished')
  t.equal(String(await succeed(t, ['cores', '--user', 'alice', '--data', data])), '')
})

t.test('a second signal ends the process at once', async (t) => {
  const args = ['--data', t.testdir(), '--token', 'a=alice', '--stop-timeout', '600']
  const serving = await serve(t, args)
  const request = await openUpload(serving, 'a')
  request.on('error', () => {})
  serving.child.kill('SIGINT')
  await serving.until('SIGINT')
  serving.child.kill('SIGINT')
  t.equal((await serving.ended).code, 130)
})

t.test('an idle connection that is kept alive does not hold up the end', async (t) => {
  const { url, token, child, ended } = await serve(t, ['--data', t.testdir()])
  const headers = { Authorization: `Bearer ${token}` }
  const reply = await fetch(`${url}/api/v1/cores?user=a`, { headers })
  await reply.arrayBuffer()
  child.kill('SIGTERM')
  t.equal((await ended).code, 0)
})

t.test('the lines to try it do what a configured token may', { skip: noCurl }, async (t) => {
  const tokens = {
    reader: { user: '*', access: 'read' },
    shelved: { user: 'alice', collections: ['shop', 'attic'] },
  }
  const dir = t.testdir({
    shell: {},
    'both.json': JSON.stringify({ data: 'both', tokens }),
    'reader.json': JSON.stringify({
      data: 'read',
      tokens: { reader: { ...tokens.reader, user: 'bob' } },
    }),
    'none.json': JSON.stringify({
      data: 'none',
      tokens: { x: { user: 'carol', collections: [] } },
    }),
    'any.json': JSON.stringify({ data: 'any', defaultUser: 'acme', tokens: { x: { user: '*' } } }),
  })
  const tried = async (name: string, token: string) => {
    const { stderr } = await serve(t, ['--config', join(dir, name)])
    const env = { ...process.env, LOREKEEP_TOKEN: token }
    const cwd = join(dir, 'shell')
    const shell = spawnSync('sh', ['-e'], { cwd, env, input: stderr() })
    t.equal(shell.status, 0, String(shell.stderr))
    return { lines: stderr(), output: String(shell.stdout) }
  }
  const both = await tried('both.json', 'shelved')
  t.match(both.lines, /^# try it, with a token of the user alice \(collections: shop, attic\) in /m)
  t.match(both.lines, / load .* --collection shop --user alice --url /)
  t.match(both.output, /"triples":44/)
  t.match(both.output, /Mary Shelley wrote/)
  t.notMatch(both.output, '"status":4')
  const reader = await tried('reader.json', 'reader')
  t.match(reader.lines, 'a token of the user bob, which may only read, in')
  for (const change of ['import-core', ' load ', ' sample', 'exported']) {
    t.notMatch(reader.lines, change)
  }
  t.match(reader.output, '{"cores":[],')
  const none = await tried('none.json', 'x')
  t.notMatch(none.lines, / load | ask /)
  t.notMatch(none.output, '"status":4')
  const any = await tried('any.json', 'x')
  t.match(any.lines, 'a token that acts for any user in')
  t.match(any.output, /"user":"acme"/)
  t.match(any.output, /Mary Shelley wrote/)
})

t.test('what goes wrong inside is one line on stderr', async (t) => {
  const { stderr } = await run(t, ['serve', '--host', '203.0.113.1', '--data', t.testdir()])
  t.match(stderr, /^lorekeep: cannot listen on 203\.0\.113\.1:8088: [^\n]+\n$/)
})

t.test('a server whose npm was ended stops by itself', async (t) => {
  const command = `${process.execPath} ${script} serve --port 0 --data ${t.testdir()}; true`
  const env = { ...process.env, npm_lifecycle_event: 'start' }
  const shell = spawn('sh', ['-c', command], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(shell.stdout, 'data')
  shell.kill('SIGKILL')
  // Held open by the server alone.
  shell.stdout.resume()
  await once(shell.stdout, 'close')
  t.pass()
})

t.test('a client that offers another protocol is answered in this one', async (t) => {
  const { url, token } = await serve(t, ['--data', t.testdir()])
  const ask = async (method: string, path: string, body?: string) => {
    const request = httpRequest(`${url}${path}`, {
      method,
      agent: false,
      headers: {
        Authorization: `Bearer ${token}`,
        Connection: 'Upgrade, HTTP2-Settings',
        Upgrade: 'h2c',
        'HTTP2-Settings': 'AAMAAABkAAQAAP__',
      },
    })
    request.end(body)
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  t.equal(await ask('GET', '/healthz'), 200)
  t.equal(await ask('GET', '/api/v1/cores?user=a'), 200)
  t.equal(await ask('DELETE', '/api/v1/cores/a?user=a'), 404)
  // Where Node asks which upgrades are wanted, this is a request like any other.
  const body = '{"operation":"list-kg-cores"}'
  t.ok([200, 426].includes((await ask('POST', '/api/v1/knowledge', body)) ?? 0))
})
