// What `lorekeep serve --log` says.

import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { send } from '../http/fixtures/serving.js'
import { fail, start, type Command } from './command.js'

const token = 'secret-of-alice'
const secret = 'Xylophon'
/** Some who read lines end one there. */
const paper = 'pa\u2028per\u202e'

interface Line {
  readonly event: string
  readonly time: string
  readonly [field: string]: unknown
}

interface Logged extends Command {
  readonly url: string
}

async function logged(t: Test, log: readonly string[]): Promise<Logged> {
  const args = ['--data', t.testdir(), '--token', `${token}=alice`, ...log]
  const command = start(t, ['serve', '--port', '0', ...args])
  await command.until(' listening')
  await command.until('data in')
  return { ...command, url: /http:\/\/\S+/.exec(command.stdout())?.[0] ?? '' }
}

const call = (url: string, init: RequestInit = {}) =>
  fetch(url, { ...init, headers: { Authorization: `Bearer ${token}` } })

/** A text that is found, and a file that is none. */
async function load({ url }: Logged): Promise<void> {
  const service = `${url}/api/v1/flow/default/service`
  const content = `Anna plays the ${secret} in Berlin.`
  const body = JSON.stringify({ id: 'letter', user: 'alice', text: btoa(content), metadata: [] })
  await call(`${service}/text-load`, { method: 'POST', body })
  const broken = Buffer.from(`%PDF-1.7\n${secret}\n%%EOF`)
  await call(`${service}/file-load?id=${encodeURIComponent(paper)}&name=p.pdf`, {
    method: 'POST',
    body: broken,
  })
  await call(`${url}/api/v1/cores/${secret}?user=alice`)
  await call(`${url}/${secret}`)
}

t.test('a line of JSON for each request, each document, and what became of it', async (t) => {
  const command = await logged(t, ['--log', 'json'])
  await load(command)
  await command.until('"state":"dead"')
  await command.until('"state":"done"')
  command.child.kill('SIGTERM')
  const { stderr } = await command.ended
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
  const of = (event: string) => lines.filter((line) => line.event === event)
  t.match(of('listening'), [{ message: command.url }])
  const answers = of('http.request').map(({ status, method, route }) => [status, method, route])
  t.strictSame(answers, [
    [200, 'POST', '/api/v1/flow/{flow}/service/text-load'],
    [200, 'POST', '/api/v1/flow/{flow}/service/file-load'],
    [404, 'GET', '/api/v1/cores/{id}'],
    [404, 'GET', undefined],
  ])
  const processed = of('flows.process').map(({ document, state, user }) => [document, state, user])
  t.strictSame(processed.sort(), [
    ['letter', 'done', 'alice'],
    [paper, 'dead', 'alice'],
  ])
  t.match(of('flows.step'), [{ document: paper, step: 'read', error: /^LK_/ }])
  t.match(of('stopping'), [{ message: /^SIGTERM/ }])
  for (const line of lines) {
    t.equal(new Date(line.time).toISOString(), line.time)
    if (/^(?:http|flows|index)/.test(line.event)) t.type(line['ms'], 'number', line.event)
  }
  for (const hidden of [token, secret]) t.notMatch(stderr, hidden)
  t.notMatch(stderr, /[\u2028\u202e]/)
})

t.test('a line for each handshake, when it is answered', async (t) => {
  const command = await logged(t, ['--log', 'json'])
  const opened = async (path: string, headers: Record<string, string> = {}) => {
    const socket = new WebSocket(`${command.url.replace('http', 'ws')}${path}`, { headers })
    t.teardown(() => socket.terminate())
    await new Promise((resolve) => socket.on('open', resolve).on('error', resolve))
    return socket
  }
  await opened(`/api/v1/socket?token=${token}`)
  await command.until('"status":101')
  await opened(`/api/v1/socket?token=${secret}`)
  await opened('/api/v1/socket', { Origin: 'https://example.com' })
  await opened(`/${secret}`)
  const headers = { Connection: 'Upgrade', Upgrade: 'websocket' }
  const reply = await send(`${command.url}/api/v1/socket`, { headers })
  t.equal(reply.status, 400, 'without a key')
  await command.until('"status":400')
  command.child.kill('SIGTERM')
  const { stderr } = await command.ended
  const lines = stderr.split('\n').filter((line) => line.includes('http.request'))
  const told = lines.map((line) => JSON.parse(line) as Line)
  t.strictSame(
    told.map(({ status, method, route }) => [status, method, route]),
    [
      [101, 'GET', '/api/v1/socket'],
      [401, 'GET', '/api/v1/socket'],
      [403, 'GET', '/api/v1/socket'],
      [404, 'GET', undefined],
      [400, 'GET', '/api/v1/socket'],
    ],
  )
  t.ok(told.every(({ requestId, ms }) => typeof requestId === 'string' && Number(ms) < 5000))
  t.notMatch(stderr, new RegExp(`${token}|${secret}`))
})

t.test('what an open server refuses of pages has a line, too', async (t) => {
  const args = ['--open', '--log', 'text', '--port', '0', '--data', t.testdir()]
  const command = start(t, ['serve', ...args])
  await command.until(' listening')
  const url = /http:\/\/\S+/.exec(command.stdout())?.[0] ?? ''
  const headers = { Origin: 'https://example.com' }
  t.equal((await fetch(`${url}/api/v1/whoami`, { headers })).status, 403)
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/socket`, { headers })
  await new Promise((resolve) => socket.on('error', resolve))
  command.child.kill('SIGTERM')
  const { stderr } = await command.ended
  t.equal(stderr.match(/Z 403 GET unknown path [\d.]+ ms\n/g)?.length, 2, stderr)
})

t.test('the same as text for people', async (t) => {
  const command = await logged(t, ['--log', 'text'])
  await load(command)
  await command.until('state=dead')
  await command.until('state=done')
  command.child.kill('SIGTERM')
  const { stderr } = await command.ended
  t.match(stderr, /^\S+Z 200 POST \/api\/v1\/flow\/\{flow\}\/service\/text-load \S+ ms \S+$/m)
  t.match(stderr, /^\S+Z 404 GET unknown path \S+ ms \S+$/m)
  t.match(stderr, /^\S+Z flows\.process .*document=letter .*state=done \S+ ms$/m)
  t.notMatch(stderr, secret)
})

t.test('without the flag nobody is told of what goes well', async (t) => {
  const command = await logged(t, [])
  await load(command)
  command.child.kill('SIGTERM')
  t.notMatch((await command.ended).stderr, /http\.request|200 POST|flows\.process/)
})

t.test('a format that there is not', async (t) => {
  const message = await fail(t, 2, ['serve', '--log', 'xml'])
  t.match(message, /--log \[format\].*'xml'.*json, text/)
})
