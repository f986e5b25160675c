// Bytes of one user in a second, by both doors and by a clock that goes where it is waited for.

import { createServer } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import t from 'tap'
import type { Test } from 'tap'
import type { Clock } from '../../src/clock.js'
import { FetchCall } from '../../src/http/fetch/call.js'
import { NodeCall } from '../../src/http/node/call.js'
import { sharedBy } from '../../src/http/options.js'
import type { HandlerOptions } from '../../src/http/options.js'
import { Rates } from '../../src/http/rates.js'
import { Router } from '../../src/http/router.js'
import type { ObjectStore } from '../../src/objects/types.js'
import { as, core, json, listen, openStore, send } from './fixtures/serving.js'
import type { Reply } from './fixtures/serving.js'

const perSecond = 128 * 1024
const alice = { user: 'alice' }

/** Goes on by as long as somebody waits. */
class WaitedClock implements Clock {
  ms = 0
  readonly now = () => this.ms
  readonly elapsed = () => this.ms

  after(delayMs: number, call: () => void): () => void {
    const at = this.ms + delayMs
    const turn = setImmediate(() => {
      this.ms = Math.max(this.ms, at)
      call()
    })
    return () => clearImmediate(turn)
  }
}

t.test('a bucket holds a second, and what is more is waited for', async (t) => {
  const clock = new WaitedClock()
  const rates = new Rates(1000, clock)
  t.equal(rates.take(alice, 1000), 0)
  t.equal(rates.take(alice, 500), 500)
  t.equal(rates.take({ user: 'bob' }, 1000), 0, 'others have their own')
  clock.ms += 400
  t.equal(rates.take(alice, 0), 100)
  t.equal(rates.waitOf(alice), 100)
  clock.ms += 100_000
  t.equal(rates.take(alice, 1000), 0)
  t.equal(rates.take(alice, 1), 1, 'no more than a second is saved')
  t.equal(rates.take(alice, 9999), 10_000)
  t.equal(rates.waitOf(alice), 10_000)
  rates.take(alice, 1)
  t.throws(() => rates.waitOf(alice), {
    code: 'LK_HTTP_RATE',
    details: { maxUserBytesPerSecond: 1000, retryAfterSeconds: 11 },
  })
})

t.test('who owes is not forgotten among many who do not', async (t) => {
  const clock = new WaitedClock()
  const rates = new Rates(1000, clock)
  rates.take(alice, 1_000_000)
  for (let n = 0; n < 5000; n++) {
    rates.take({ user: `u${n}` }, 10)
    clock.ms += 10
  }
  t.throws(() => rates.waitOf(alice))
})

type Ask = (path: string, init?: { method: string; body: Buffer }) => Promise<Reply>

/** Both doors, with a clock of their own each. */
async function byBoth(
  t: Test,
  run: (t: Test, ask: Ask, clock: WaitedClock, stores: { objects: ObjectStore }) => Promise<void>,
): Promise<void> {
  const authenticate = (token: string | undefined) => (token ? { user: token } : null)
  const open = async (t: Test) => {
    const { knowledge, objects, flows } = await openStore(t)
    const clock = new WaitedClock()
    const given = { knowledge, objects, flows, authenticate, maxUserBytesPerSecond: perSecond }
    const shared = { ...sharedBy(given), rates: new Rates(perSecond, clock) }
    return { clock, given, shared }
  }
  await t.test('node:http', async (t) => {
    const { clock, given, shared } = await open(t)
    const router = new Router<IncomingMessage>(given, '/api/v1', shared)
    const port = await listen(
      t,
      createServer((request, response) => {
        void router.answer(new NodeCall(request, response, () => pathIn(request)), request)
      }),
    )
    const ask: Ask = (path, init) =>
      send(`http://127.0.0.1:${port}/api/v1${path}`, { ...init, headers: as('alice') })
    await run(t, ask, clock, given)
  })
  await t.test('fetch', async (t) => {
    const { clock, given, shared } = await open(t)
    const router = new Router<Request>(given as HandlerOptions<Request>, '/api/v1', shared)
    const ask: Ask = async (path, init) => {
      const request = new Request(`http://host/api/v1${path}`, {
        headers: as('alice'),
        ...(init && { method: init.method, body: new Uint8Array(init.body) }),
      })
      const call = new FetchCall(request)
      void router.answer(call, request)
      const response = await call.response
      const { status, headers } = response
      const body = Buffer.from(await response.arrayBuffer())
      return { status, headers: Object.fromEntries(headers), body, localPort: 0 }
    }
    await run(t, ask, clock, given)
  })
}

const pathIn = ({ url = '' }: IncomingMessage) => url.replace(/\?.*$/, '')

t.test('bodies and streams wait, and are whole', async (t) => {
  const bytes = core('x', 'alice', 1500)
  const least = ((bytes.length - perSecond) / perSecond) * 1000
  t.ok(least > 4000)
  await byBoth(t, async (t, ask, clock) => {
    const imported = await ask('/import-core?id=x', { method: 'POST', body: bytes })
    t.match(json(imported), { bytes: bytes.length })
    const came = clock.ms
    t.ok(came >= least * 0.9, `in: ${came} ms, ${least} expected`)
    clock.ms += 60_000
    const before = clock.ms
    const exported = await ask('/export-core?id=x')
    t.ok(exported.body.equals(bytes))
    // What was sent last is paid for by the next request.
    await ask('/whoami')
    const went = clock.ms - before
    t.ok(went >= least, `out: ${went} ms`)
    t.ok(went < least * 1.2, `and no slower: ${went} ms`)
  })
})

t.test('whoever would wait for long is told when to come again', async (t) => {
  await byBoth(t, async (t, ask, clock, { objects }) => {
    const id = { type: 'string', required: true } as const
    await objects.defineSchema({ name: 'things', fields: { id, text: { type: 'text' } } })
    const metadata = { id: 'b', user: 'alice', collection: 'c' }
    const values = Array.from({ length: 10 }, (_, n) => ({ id: `${n}`, text: 'x'.repeat(200_000) }))
    await objects.import({ metadata, schema_name: 'things', values })
    const query = Buffer.from(JSON.stringify({ schema_name: 'things' }))
    const path = '/flow/default/objects/query'
    const whole = await ask(path, { method: 'POST', body: query })
    t.equal(whole.status, 200)
    t.ok(whole.body.length > 2_000_000)
    t.equal(clock.ms, 0, 'what is there goes at once')
    const seconds = Math.ceil((query.length + whole.body.length - perSecond) / perSecond)
    const schema = Buffer.from(JSON.stringify({ fields: { id } }))
    const refused = await ask('/collections/other', { method: 'PUT', body: schema })
    t.match(refused, { status: 429, headers: { 'retry-after': String(seconds) } })
    t.match(json(refused), {
      code: 'LK_HTTP_RATE',
      maxUserBytesPerSecond: perSecond,
      retryAfterSeconds: seconds,
    })
    t.notMatch(JSON.stringify(await objects.collections()), /other/)
    t.equal((await ask('/openapi.json')).status, 200, 'what is open to everyone is not counted')
    clock.ms += seconds * 1000
    t.equal((await ask('/whoami')).status, 200)
  })
})

t.test('a wait ends where its client leaves', async (t) => {
  const { knowledge } = await openStore(t)
  const given = { knowledge, authenticate: () => alice }
  let forgotten = 0
  const clock: Clock = {
    now: () => 0,
    elapsed: () => 0,
    after: () => () => void forgotten++,
  }
  const rates = new Rates(1000, clock)
  rates.take(alice, 5000)
  const router = new Router<Request>(given, '/api/v1', { ...sharedBy(given), rates })
  const leaving = new AbortController()
  const request = new Request('http://host/api/v1/cores', { signal: leaving.signal })
  const answered = router.answer(new FetchCall(request), request)
  await new Promise((resolve) => setImmediate(resolve))
  leaving.abort()
  await answered
  t.equal(forgotten, 1)
})

t.test('a stream that had to wait shows again that it is alive', async (t) => {
  const { flows } = await openStore(t)
  const given = { flows, authenticate: () => alice, heartbeatMs: 5 }
  const clock = new WaitedClock()
  const rates = new Rates(1000, clock)
  const router = new Router<Request>(given, '/api/v1', { ...sharedBy(given), rates })
  const leaving = new AbortController()
  const request = new Request('http://host/api/v1/events', { signal: leaving.signal })
  const call = new FetchCall(request)
  const answered = router.answer(call, request)
  const reader = (await call.response).body!.getReader()
  let next = reader.read()
  const within = (ms: number) => Promise.race([next, sleep(ms)])
  t.match(String(Buffer.from((await within(10_000))?.value ?? '')), 'still here')
  rates.take(alice, 2000)
  next = reader.read()
  // What was under way.
  if ((await within(200)) !== undefined) next = reader.read()
  t.equal(await within(200), undefined)
  clock.ms += 3000
  t.match(String(Buffer.from((await within(10_000))?.value ?? '')), 'still here')
  leaving.abort()
  await answered
})

t.test('what a parser before us has read counts, however it came', async (t) => {
  const { objects } = await openStore(t)
  const given = { objects, authenticate: () => alice }
  const clock = new WaitedClock()
  const rates = new Rates(100_000, clock)
  const router = new Router<IncomingMessage>(given, '/api/v1', { ...sharedBy(given), rates })
  const port = await listen(
    t,
    createServer((request, response) => {
      void buffer(request).then((bytes) => {
        const isEncoded = request.headers['content-encoding'] === 'gzip'
        const body = JSON.parse(String(isEncoded ? gunzipSync(bytes) : bytes)) as object
        Object.assign(request, { body })
        return router.answer(new NodeCall(request, response, () => pathIn(request)), request)
      })
    }),
  )
  const url = `http://127.0.0.1:${port}/api/v1/flow/default/objects/query`
  const body = Buffer.from(JSON.stringify({ schema_name: 'none', filter: 'x'.repeat(200_000) }))
  const { status } = await send(url, { method: 'POST', headers: as('alice'), body })
  t.equal(status, 400)
  const announced = rates.take(alice, 0)
  t.ok(announced >= 1000, `${announced} ms`)
  clock.ms += 60_000
  await send(url, { method: 'POST', headers: as('alice'), body: [body] })
  t.equal(rates.take(alice, 0), announced, 'in chunks')
  clock.ms += 60_000
  const headers = { ...as('alice'), 'Content-Encoding': 'gzip' }
  await send(url, { method: 'POST', headers, body: gzipSync(body) })
  t.equal(rates.take(alice, 0), announced, 'encoded')
})
