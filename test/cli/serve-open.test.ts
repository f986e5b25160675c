import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { WebSocket } from 'ws'
import { Client } from '../http/socket/client.js'
import { fail, serve, succeed } from './command.js'

/** What comes back for these headers, which fetch() would not send. */
async function statusOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/api/v1/cores?user=alice`, { headers, agent: false })
    request.on('response', (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('error', reject).end()
  })
}

t.test('an open server asks nobody for a token, and says so', async (t) => {
  const { url, token, stderr } = await serve(t, ['--open', '--data', t.testdir()])
  t.equal(token, '')
  t.match(stderr(), /^# OPEN: nobody is asked for a token/m)
  t.notMatch(stderr(), 'LOREKEEP_TOKEN')
  const sample = await succeed(t, ['sample'])
  await succeed(t, ['import', '-', '--id', 'a', '--user', 'bob', '--url', url], { input: sample })
  t.match(String(await succeed(t, ['cores', '--user', 'bob', '--url', url])), /^a\b/m)
  t.equal(await statusOf(url, {}), 200)
  t.equal(await statusOf(url, { Authorization: 'Bearer anything' }), 200)
})

t.test('loading a text into an open server is answered with JSON', async (t) => {
  const body = JSON.stringify({ id: 'urn:a', text: Buffer.from('Ellen.').toString('base64') })
  const load = async (url: string) => {
    const path = `${url}/api/v1/flow/default/service/text-load`
    return (await fetch(path, { method: 'POST', body })).text()
  }
  const { url } = await serve(t, ['--open', '--data', t.testdir()])
  t.equal(await load(url), '{}')
  const config = { compat: { emptyJson: false } }
  const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
  const files = ['--config', join(dir, 'lorekeep.json'), '--data', join(dir, 'data')]
  const explicit = await serve(t, ['--open', ...files])
  t.equal(await load(explicit.url), '', 'what the configuration says counts')
})

t.test('pages of other sites do not get into an open server', async (t) => {
  const { url, port } = await serve(t, ['--open', '--data', t.testdir()]).then(({ url }) => {
    return { url, port: new URL(url).port }
  })
  for (const name of ['127.0.0.1', 'localhost', '[::1]', 'app.localhost']) {
    t.equal(await statusOf(url, { Host: `${name}:${port}` }), 200, name)
    t.equal(await statusOf(url, { Origin: `http://${name}:8888` }), 200, name)
  }
  for (const origin of ['https://example.com', 'null', 'http://localhost.example.com', '']) {
    t.equal(await statusOf(url, { Origin: origin }), 403, origin)
  }
  // A name of theirs that leads here.
  t.equal(await statusOf(url, { Host: `example.com:${port}` }), 403)
  t.equal(await statusOf(url, { Host: `127.0.0.1.example.com:${port}` }), 403)
})

t.test('an open server is for this machine alone, unless that is forced', async (t) => {
  const data = ['--data', t.testdir()]
  const refused = await fail(t, 2, ['serve', '--open', '--host', '0.0.0.0', ...data])
  t.match(refused, '--force')
  await fail(t, 2, ['serve', '--open', '--host', '::', ...data])
  await fail(t, 2, ['serve', '--force', ...data])
  const { url } = await serve(t, ['--open', '--force', '--host', '0.0.0.0', ...data])
  const { port } = new URL(url)
  const local = `http://127.0.0.1:${port}`
  t.equal(await statusOf(local, { Host: 'keep.example.com' }), 200)
  const own = { Host: 'keep.example.com', Origin: 'https://keep.example.com' }
  t.equal(await statusOf(local, own), 200)
  const foreign = { Host: 'keep.example.com', Origin: 'https://example.com' }
  t.equal(await statusOf(local, foreign), 403)
})

t.test('an open server takes no tokens', async (t) => {
  const config = { tokens: { secret: { user: 'alice' } } }
  const dir = t.testdir({ 'lorekeep.json': JSON.stringify(config) })
  const data = ['--data', join(dir, 'data')]
  await fail(t, 2, ['serve', '--open', '--token', 'secret=alice', ...data])
  const told = await fail(t, 2, [
    'serve',
    '--open',
    '--config',
    join(dir, 'lorekeep.json'),
    ...data,
  ])
  t.notMatch(told, 'secret')
})

async function handshake(t: Test, url: string, origin: string): Promise<string> {
  const options = { headers: { Origin: origin } }
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/socket`, options)
  t.teardown(() => socket.terminate())
  return new Promise((resolve) => {
    socket.on('open', () => resolve('open')).on('error', ({ message }) => resolve(message))
  })
}

t.test('an open server has a socket for programs, and none for pages of other sites', async (t) => {
  const { url, child, ended } = await serve(t, ['--open', '--data', t.testdir()])
  t.match(await handshake(t, url, 'https://example.com'), '403')
  t.equal(await handshake(t, url, 'http://localhost:3000'), 'open')
  const client = await Client.open(t, url)
  t.strictSame(await client.authenticate(''), {
    type: 'auth-ok',
    default_workspace: 'trustgraph',
  })
  const put = {
    operation: 'put-kg-core',
    id: 'a',
    triples: { metadata: {}, triples: [{ s: iri('a'), p: iri('b'), o: iri('c') }] },
  }
  t.strictSame((await client.one(put)).response, {})
  t.match(String(await succeed(t, ['cores', '--url', url])), /^a\b/m)
  // It ends although sockets are open.
  const closed = client.closed()
  child.kill('SIGTERM')
  t.equal(await closed, 1001)
  t.equal((await ended).code, 0)
})

const iri = (name: string) => ({ t: 'i', i: `urn:${name}` })

t.test('what nobody can be answered any more holds up no stop', { timeout: 60_000 }, async (t) => {
  for (const request of [
    // Of a page of another site, and to the address itself.
    'GET / HTTP/1.1\r\nHost: example.com\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n',
  ]) {
    const { url, child, ended } = await serve(t, ['--open', '--data', t.testdir()])
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    // Behind an answer that has no end, on one connection.
    socket.write(`GET /api/v1/events?user=a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n${request}`)
    await once(socket, 'data')
    // The second is on its way to its answer, which has no socket.
    await (await fetch(`${url}/healthz`)).text()
    socket.destroy()
    child.kill('SIGTERM')
    t.equal((await ended).code, 0)
  }
})
