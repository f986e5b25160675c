// How many requests of one user are under way at once, by both doors.

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { openFetch } from './fixtures/fetching.js'
import { openEvents } from './fixtures/flows.js'
import { as, json, openStore, send, serve } from './fixtures/serving.js'

t.test('one user has as many as there may be, and others theirs', async (t) => {
  const serving = await serve(t, { maxUserRequests: 2 })
  const ask = (token: string, method = 'GET') =>
    send(`${serving.url}/api/v1/whoami`, { method, headers: as(token) })
  const streams = [await openEvents(t, serving, '/events'), await openEvents(t, serving, '/events')]
  const refused = await ask('alice')
  t.match(refused, { status: 429, headers: { 'retry-after': '1' } })
  t.match(json(refused), { code: 'LK_HTTP_RATE', maxUserRequests: 2 })
  t.equal((await ask('alice', 'HEAD')).status, 429)
  t.equal((await ask('bob')).status, 200)
  t.equal((await ask('nobody')).status, 401, 'who is refused otherwise holds nothing')
  t.equal((await send(`${serving.url}/healthz`)).status, 200)
  streams[0]?.leave()
  let reply = await ask('alice')
  while (reply.status === 429) reply = await ask('alice')
  t.equal(reply.status, 200)
  // What was answered, and what was refused, holds nothing.
  for (let n = 0; n < 10; n++) {
    t.equal((await ask('alice')).status, 200)
    const missing = await send(`${serving.url}/api/v1/cores/none`, { headers: as('alice') })
    t.equal(missing.status, 404)
  }
  const more = [await openEvents(t, serving, '/events')]
  t.equal((await ask('alice')).status, 429)
  for (const stream of [...streams, ...more]) stream.leave()
  t.strictSame(serving.errors, [])
})

t.test('what waits behind another on its connection ends with that', async (t) => {
  const serving = await serve(t, { maxUserRequests: 2 })
  const ask = () => send(`${serving.url}/api/v1/whoami`, { headers: as('alice') })
  const raw = connect(serving.port, '127.0.0.1')
  t.teardown(() => raw.destroy())
  raw.write(
    'GET /api/v1/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer alice\r\n\r\n'.repeat(2),
  )
  await once(raw, 'data')
  while ((await ask()).status !== 429) await sleep(10)
  raw.destroy()
  while ((await ask()).status !== 200) await sleep(10)
  const stream = await openEvents(t, serving, '/events')
  t.equal((await ask()).status, 200, 'both have left')
  stream.leave()
})

t.test('a request that is refused has changed nothing, and its body is not read', async (t) => {
  const serving = await serve(t, { maxUserRequests: 1 })
  const stream = await openEvents(t, serving, '/events')
  const schema = Buffer.from(JSON.stringify({ fields: { id: { type: 'string' } } }))
  const url = `${serving.url}/api/v1/collections/c`
  const reply = await send(url, { method: 'PUT', headers: as('alice'), body: schema })
  t.equal(reply.status, 429)
  t.strictSame(await serving.objects.collections(), [])
  stream.leave()
})

t.test('by the Fetch standard, too; and where everyone is one, there is no bound', async (t) => {
  const { knowledge, objects, flows } = await openStore(t)
  for (const [authenticate, expected] of [
    [() => ({ user: 'alice' }), 429],
    ['none', 200],
  ] as const) {
    const answer = openFetch({
      knowledge,
      objects,
      flows,
      authenticate,
      maxUserRequests: 1,
    })
    const stop = new AbortController()
    const { signal } = stop
    const stream = await answer(new Request('http://h/api/v1/events', { signal }))
    t.equal(stream.status, 200)
    t.equal((await answer(new Request('http://h/api/v1/whoami'))).status, expected)
    stop.abort()
    let status = 429
    while (status === 429) ({ status } = await answer(new Request('http://h/api/v1/whoami')))
    t.equal(status, 200)
  }
})
