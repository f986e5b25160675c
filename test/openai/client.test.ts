import { inspect } from 'node:util'
import { openaiExtractor } from '../../src/flow/steps/openai/extractor.js'
import t from 'tap'
import { LorekeepError } from '../../src/errors.js'
import { ModelClient } from '../../src/openai/client.js'
import type { ModelOptions } from '../../src/openai/client.js'
import { VirtualClock, modelAt, startModelServer } from './model-server.js'
import type { Answer } from './model-server.js'

const { signal } = new AbortController()
const secret = 'sk-do-not-tell'
const good: Answer = { body: { good: true } }

t.beforeEach(() => {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OTHER_KEY']) delete process.env[name]
})

function post(options: ModelOptions, { signal: given = signal, maxAnswerBytes = 1000 } = {}) {
  return new ModelClient(options).post('things', { a: 'b' }, { signal: given, maxAnswerBytes })
}

/** Itself: for t.rejects() another error that has its message would do. */
const rejection = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )

async function failure(work: Promise<unknown>): Promise<LorekeepError> {
  const error = await rejection(work)
  if (error instanceof LorekeepError) return error
  throw new Error('no LorekeepError', { cause: error })
}

t.test(
  'a request is JSON to the path below the URL, without a key where none is set',
  async (t) => {
    const server = await startModelServer(t)
    server.answer = () => good
    t.strictSame(await post({ ...modelAt(server), url: `${server.url}//` }), { good: true })
    t.match(server.requests, [{ path: '/v1/things', body: { a: 'b' } }])
    t.equal(server.requests[0]?.headers['content-type'], 'application/json')
    t.equal(server.requests[0]?.headers.authorization, undefined)
  },
)

t.test('key and URL come from the environment, as it is when a request is made', async (t) => {
  const server = await startModelServer(t)
  server.answer = () => good
  const { url, ...options } = modelAt(server)
  const client = new ModelClient(options)
  const other = new ModelClient({ ...options, keyVariable: 'OTHER_KEY' })
  process.env['OPENAI_BASE_URL'] = url
  process.env['OPENAI_API_KEY'] = `${secret}\n`
  process.env['OTHER_KEY'] = 'other'
  await client.post('things', {}, { signal, maxAnswerBytes: 1000 })
  await other.post('things', {}, { signal, maxAnswerBytes: 1000 })
  await post({ ...options, key: 'given' })
  process.env['OPENAI_API_KEY'] = ''
  await client.post('things', {}, { signal, maxAnswerBytes: 1000 })
  const keys = server.requests.map(({ headers }) => headers.authorization)
  t.strictSame(keys, [`Bearer ${secret}`, 'Bearer other', 'Bearer given', undefined])
})

t.test('an environment that cannot be right is refused before anything is sent', async (t) => {
  const server = await startModelServer(t)
  const { url, ...options } = modelAt(server)
  process.env['OPENAI_API_KEY'] = `${secret}\n${secret}€`
  const error = await failure(post({ ...options, url }))
  t.equal(error.code, 'LK_CONFIG')
  t.notMatch(inspect(error), secret)
  delete process.env['OPENAI_API_KEY']
  process.env['OPENAI_BASE_URL'] = `http://user:${secret}@localhost`
  const misplaced = await failure(post(options))
  t.equal(misplaced.code, 'LK_CONFIG')
  t.notMatch(inspect(misplaced), secret)
  t.strictSame(server.requests, [])
})

t.test('options of the wrong type are a mistake of the program', async (t) => {
  const wrong: Partial<Record<keyof ModelOptions, unknown>>[] = [
    { model: '' },
    { url: 'localhost:11434' },
    { url: 'http://u:p@localhost' },
    { key: 'two\nlines' },
    { keyVariable: '' },
    { timeoutMs: 0 },
    { maxAttempts: 1.5 },
  ]
  for (const options of wrong) {
    const given = { model: 'm', ...options } as ModelOptions
    t.throws(() => openaiExtractor(given), TypeError, inspect(options))
  }
})

t.test('a busy server is asked again after the wait that it names', async (t) => {
  const cases: [Record<string, string>, number][] = [
    [{ 'Retry-After': '7' }, 7000],
    [{ 'Retry-After': '0' }, 0],
    [{ 'Retry-After': '60' }, 60_000],
    [{ 'Retry-After': 'Thu, 01 Jan 2026 00:00:09 GMT' }, 9000],
    [{ 'Retry-After': 'Wed, 31 Dec 2025 23:59:59 GMT' }, 0],
    [{ 'Retry-After': 'soon' }, 500],
    [{ 'retry-after-ms': '1234', 'Retry-After': '2' }, 1234],
    [{ 'retry-after-ms': '-1', 'Retry-After': '2' }, 2000],
  ]
  const server = await startModelServer(t)
  for (const [headers, wait] of cases) {
    const clock = new VirtualClock()
    server.requests.length = 0
    server.answer = (_, number) => (number === 0 ? { status: 429, headers } : good)
    t.strictSame(await post(modelAt(server, clock)), { good: true })
    t.strictSame(clock.waits, [wait], inspect(headers))
  }
})

t.test('a wait of more than a minute is left to the queue', async (t) => {
  const server = await startModelServer(t)
  const date = 'Thu, 01 Jan 2026 00:01:01 GMT'
  for (const headers of [{ 'Retry-After': '61' }, { 'Retry-After': date }]) {
    const clock = new VirtualClock()
    server.requests.length = 0
    server.answer = () => ({ status: 429, headers })
    const error = await failure(post(modelAt(server, clock)))
    t.equal(error.code, 'LK_MODEL_UNAVAILABLE')
    t.strictSame(error.details, { status: 429, retryAfterMs: 61_000 })
    t.equal(server.requests.length, 1)
    t.strictSame(clock.waits, [])
  }
})

t.test('a server that fails is asked four times, with longer waits between', async (t) => {
  const server = await startModelServer(t)
  for (const status of [408, 429, 500, 502, 503, 599]) {
    const clock = new VirtualClock()
    server.requests.length = 0
    server.answer = () => ({ status, body: 'down' })
    const error = await failure(post(modelAt(server, clock)))
    t.match(error, { code: 'LK_MODEL_UNAVAILABLE', details: { status } })
    t.equal(server.requests.length, 4)
    t.strictSame(clock.waits, [500, 1000, 2000])
  }
  server.answer = () => ({ status: 503, headers: { 'Retry-After': '5' } })
  const error = await failure(post({ ...modelAt(server), maxAttempts: 1 }))
  t.strictSame(error.details, { status: 503, retryAfterMs: 5000 })
})

t.test('the back-off is shortened by chance, by half at most', async (t) => {
  const server = await startModelServer(t)
  const clock = new VirtualClock()
  server.answer = () => ({ status: 500 })
  await failure(post({ ...modelAt(server, clock), chance: { fraction: () => 0.5 } }))
  t.strictSame(clock.waits, [375, 750, 1500])
})

t.test('a request that is refused is not sent again', async (t) => {
  const server = await startModelServer(t)
  for (const status of [400, 401, 403, 404, 422, 300, 304]) {
    server.requests.length = 0
    server.answer = () => ({ status, body: { error: { message: 'x'.repeat(1000) } } })
    const error = await failure(post(modelAt(server)))
    t.match(error, { code: 'LK_MODEL_REFUSED', details: { status } })
    t.ok(error.message.length < 600)
    t.equal(server.requests.length, 1)
  }
})

t.test('an error says what the server said, but not the key', async (t) => {
  const server = await startModelServer(t)
  process.env['OPENAI_API_KEY'] = secret
  const words = `no such key: ${secret}`
  const bodies = [{ error: { message: words } }, { error: words }, { message: words }, words]
  for (const status of [401, 403, 400, 503]) {
    for (const body of bodies) {
      server.answer = () => ({ status, body })
      const error = await failure(post({ ...modelAt(server), maxAttempts: 1 }))
      t.match(error.message, 'no such key')
      if (status < 404 && status > 400) t.match(error.message, 'OPENAI_API_KEY')
      t.notMatch(inspect(error), secret)
    }
  }
})

t.test('a redirect is not followed', async (t) => {
  const server = await startModelServer(t)
  for (const status of [301, 302, 303, 307, 308]) {
    server.requests.length = 0
    const headers = { Location: `${server.url}/elsewhere` }
    server.answer = (_, number) => (number === 0 ? { status, headers } : good)
    const error = await failure(post({ ...modelAt(server), key: secret }))
    t.match(error, { code: 'LK_MODEL_REFUSED', details: { status } })
    t.equal(server.requests.length, 1)
  }
})

t.test('a request without an answer in time is given up and sent again', async (t) => {
  const server = await startModelServer(t)
  const clock = new VirtualClock()
  server.onHang = () => clock.timeouts.forEach((end) => end())
  server.answer = (_, number) => (number < 2 ? 'hang' : good)
  t.strictSame(await post(modelAt(server, clock)), { good: true })
  t.strictSame(clock.waits, [500, 1000])
  t.equal(clock.timeouts.size, 0, 'no timer is left')
  server.answer = () => 'hang'
  t.equal((await failure(post(modelAt(server, clock)))).code, 'LK_MODEL_UNAVAILABLE')
})

t.test('an answer that breaks off, or is a page of a gateway, is asked for again', async (t) => {
  const server = await startModelServer(t)
  const cases: [Answer, string][] = [
    ['cut', 'LK_MODEL_UNAVAILABLE'],
    [{ body: '<html>one moment</html>' }, 'LK_MODEL_ANSWER'],
    [{ body: '' }, 'LK_MODEL_ANSWER'],
  ]
  for (const [answer, code] of cases) {
    server.requests.length = 0
    server.answer = (_, number) => (number === 0 ? answer : good)
    t.strictSame(await post(modelAt(server)), { good: true })
    server.answer = () => answer
    t.equal((await failure(post(modelAt(server)))).code, code)
  }
})

t.test('a dead server is waited for, and found again when it lives', async (t) => {
  const server = await startModelServer(t)
  server.answer = () => good
  const clock = new VirtualClock()
  const client = new ModelClient(modelAt(server, clock))
  const ask = () => client.post('things', {}, { signal, maxAnswerBytes: 1000 })
  await ask()
  await server.stop()
  // As a queue does, until a minute has gone by.
  const end = clock.now() + 60_000
  while (clock.now() < end) t.equal((await failure(ask())).code, 'LK_MODEL_UNAVAILABLE')
  clock.waits.length = 0
  clock.onWait = (number) => (number === 2 ? server.start() : undefined)
  t.strictSame(await ask(), { good: true })
  t.strictSame(clock.waits, [500, 1000])
})

t.test('an answer may be as long as it is allowed to, and no longer', async (t) => {
  const server = await startModelServer(t)
  const body = JSON.stringify('x'.repeat(98))
  server.answer = () => ({ body })
  t.equal(await post(modelAt(server), { maxAnswerBytes: 100 }), 'x'.repeat(98))
  const error = await failure(post(modelAt(server), { maxAnswerBytes: 99 }))
  t.equal(error.code, 'LK_MODEL_ANSWER')
  t.equal(server.requests.length, 2, 'it was not asked for again')
  server.answer = () => ({ status: 400, body: 'y'.repeat(10_000_000) })
  t.equal((await failure(post(modelAt(server)))).code, 'LK_MODEL_REFUSED')
})

t.test('the caller ends a request, and a wait, with a reason of its own', async (t) => {
  const server = await startModelServer(t)
  const reason = new Error('enough')
  const aborted = AbortSignal.abort(reason)
  t.equal(await rejection(post(modelAt(server), { signal: aborted })), reason)
  t.strictSame(server.requests, [])

  const inRequest = new AbortController()
  server.answer = () => 'hang'
  server.onHang = () => inRequest.abort(reason)
  // Also where no other attempt would follow.
  const once = { ...modelAt(server), maxAttempts: 1 }
  t.equal(await rejection(post(once, { signal: inRequest.signal })), reason)

  const inWait = new AbortController()
  const clock = new VirtualClock()
  // The wait itself never ends.
  clock.onWait = () => (setImmediate(() => inWait.abort(reason)), new Promise(() => {}))
  server.answer = () => ({ status: 503 })
  t.equal(await rejection(post(modelAt(server, clock), { signal: inWait.signal })), reason)
  t.equal(server.requests.length, 2)
})

t.test('without a clock of its own a request waits in real time', async (t) => {
  const server = await startModelServer(t)
  const headers = { 'retry-after-ms': '1' }
  server.answer = (_, number) => (number === 0 ? { status: 429, headers } : good)
  t.strictSame(await post({ model: 'm', url: server.url }), { good: true })
})

t.test('fetch can be replaced', async (t) => {
  const urls: unknown[] = []
  const fetch = (async (url: unknown) => {
    urls.push(url)
    return Response.json({ good: true })
  }) as typeof globalThis.fetch
  t.strictSame(await post({ model: 'm', fetch }), { good: true })
  t.strictSame(urls, ['https://api.openai.com/v1/things'])
})
