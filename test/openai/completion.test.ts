import { inspect } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import type { LorekeepError } from '../../src/errors.js'
import type { ModelOptions } from '../../src/openai/client.js'
import { chatWith } from '../../src/openai/completion.js'
import { pickSeed } from '../fixtures/random.js'
import { VirtualClock, completion, events, modelAt, startModelServer } from './model-server.js'
import type { Answer } from './model-server.js'

const secret = 'sk-do-not-tell'
const messages = [{ role: 'user', content: 'Where does Ellen live?' }] as const
const { signal } = new AbortController()

t.beforeEach(() => {
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL']) delete process.env[name]
})

async function read(options: ModelOptions, given = signal): Promise<string[]> {
  const texts: string[] = []
  for await (const text of chatWith(options)(messages, { signal: given })) texts.push(text)
  return texts
}

/** What came before the error, and the error itself. */
async function failure(options: ModelOptions, given = signal) {
  const texts: string[] = []
  try {
    for await (const text of chatWith(options)(messages, { signal: given })) texts.push(text)
  } catch (error) {
    return { texts, error: error as LorekeepError }
  }
  throw new Error('no error')
}

t.test('a completion is asked for as a stream, and read as it comes', async (t) => {
  const server = await startModelServer(t)
  server.answer = () => ({ pieces: events(['By', ' the Thames', '.']) })
  t.strictSame(await read(modelAt(server)), ['By', ' the Thames', '.'])
  t.match(server.requests, [{ path: '/v1/chat/completions' }])
  t.strictSame(server.requests[0]?.body, { model: 'm', messages, stream: true })
})

t.test('a text is there before the answer has ended', async (t) => {
  const server = await startModelServer(t)
  let goOn = () => {}
  const isRead = new Promise<void>((resolve) => (goOn = resolve))
  server.answer = () => ({
    pieces: (async function* () {
      yield* events(['first'], null).slice(0, 2)
      await isRead
      yield* events(['second']).slice(1)
    })(),
  })
  const texts: string[] = []
  for await (const text of chatWith(modelAt(server))(messages, { signal })) {
    texts.push(text)
    goOn()
  }
  t.strictSame(texts, ['first', 'second'])
})

t.test('a stream may be cut anywhere, with any line ends and signs of life', async (t) => {
  const server = await startModelServer(t)
  const aText = fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'é', '😀', '[1]', '"', '\\') })
  const property = fc.asyncProperty(
    fc.array(aText, { minLength: 1, maxLength: 5 }),
    fc.constantFrom('\n', '\r\n', '\r'),
    fc.array(fc.nat(600), { maxLength: 8 }),
    async (texts, end, cuts) => {
      const said = ['x', ...texts]
      const stream = [': alive\n\n', ...events(said)].join(': alive\n\n').replaceAll('\n', end)
      const bytes = Buffer.from(stream)
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length]
      server.answer = () => ({
        pieces: places.slice(1).map((to, n) => bytes.subarray(places[n], to)),
      })
      t.equal((await read(modelAt(server))).join(''), said.join(''))
    },
  )
  await fc.assert(property, { seed: pickSeed(), numRuns: 100 })
  const bytes = Buffer.from(events(['é😀']).join(''))
  for (let at = 0; at <= bytes.length; at++) {
    server.answer = () => ({ pieces: [bytes.subarray(0, at), bytes.subarray(at)] })
    t.equal((await read(modelAt(server))).join(''), 'é😀', `at ${at}`)
  }
})

t.test('servers say the same in several ways', async (t) => {
  const server = await startModelServer(t)
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`
  const parts = [
    { type: 'thinking', thinking: 'hm' },
    { type: 'text', text: 'in ' },
    { type: 'text', text: 'parts' },
  ]
  const all: [string, Answer, string][] = [
    ['one JSON, where it does not stream', completion('whole'), 'whole'],
    ['without a reason at its end', { body: { choices: [{ message: { content: 'w' } }] } }, 'w'],
    ['another type', { pieces: events(['a', 'b']), type: 'text/plain' }, 'ab'],
    ['no [DONE]', { pieces: events(['a', 'b']).slice(0, -1) }, 'ab'],
    ['no reason, but [DONE]', { pieces: events(['a', 'b'], null) }, 'ab'],
    [
      'what was used, behind it',
      { pieces: [...events(['a']).slice(0, -1), event({ choices: [], usage: {} })] },
      'a',
    ],
    [
      'more behind [DONE]',
      { pieces: [...events(['a']), event({ error: { message: 'late' } })] },
      'a',
    ],
    [
      'a list of parts',
      { pieces: [event({ choices: [{ delta: { content: parts } }] }), ...events([])] },
      'in parts',
    ],
    [
      'a refusal',
      { pieces: [event({ choices: [{ delta: { refusal: 'no' } }] }), ...events([])] },
      'no',
    ],
    [
      'reasoning beside it',
      {
        pieces: [event({ choices: [{ delta: { reasoning_content: 'hm' } }] }), ...events(['so'])],
      },
      'so',
    ],
  ]
  for (const [name, answer, text] of all) {
    server.requests.length = 0
    server.answer = () => answer
    t.equal((await read(modelAt(server))).join(''), text, name)
    t.equal(server.requests.length, 1, name)
  }
})

t.test('thoughts before the answer are left out, wherever they are cut', async (t) => {
  const server = await startModelServer(t)
  const texts = [
    ['\n<think>\nEllen, [1]? <b>\n</think>\n\nBy the Thames.', 'By the Thames.'],
    ['<think></think>By the Thames.', 'By the Thames.'],
    ['<thin ice>', '<thin ice>'],
    ['<thin', '<thin'],
    [' By <think>the</think> Thames.', 'By <think>the</think> Thames.'],
  ] as const
  for (const [said, answer] of texts) {
    for (let at = 0; at <= said.length; at++) {
      server.answer = () => ({ pieces: events([said.slice(0, at), said.slice(at)]) })
      t.equal((await read(modelAt(server))).join(''), answer, `${said} at ${at}`)
    }
  }
})

t.test('an answer that is cut short or empty ends in an error, behind its text', async (t) => {
  const server = await startModelServer(t)
  const cases: [Answer, string[], string][] = [
    [{ pieces: events(['By the'], 'length') }, ['By the'], 'limit of tokens'],
    [{ pieces: events([], 'length') }, [], 'limit of tokens'],
    [{ pieces: events(['By'], 'content_filter') }, ['By'], 'filter'],
    [completion('By the', 'length'), ['By the'], 'limit of tokens'],
    [{ pieces: events([]) }, [], 'empty'],
    [{ pieces: events(['<think>for ever']) }, [], 'empty'],
    [{ body: { choices: [{ message: { content: null }, finish_reason: 'stop' }] } }, [], 'empty'],
  ]
  for (const [answer, texts, words] of cases) {
    server.requests.length = 0
    server.answer = () => answer
    const found = await failure(modelAt(server))
    t.strictSame(found.texts, texts)
    t.equal(found.error.code, 'LK_MODEL_ANSWER')
    t.match(found.error.message, words)
    t.equal(server.requests.length, 1, 'it was not asked for again')
  }
})

t.test('what breaks off before the first word is asked for again', async (t) => {
  const server = await startModelServer(t)
  const error = (body: object) => ({ pieces: [`data: ${JSON.stringify(body)}\n\n`] })
  const cases: [Answer, string][] = [
    [{ status: 503 }, 'LK_MODEL_UNAVAILABLE'],
    ['cut', 'LK_MODEL_UNAVAILABLE'],
    [{ pieces: [], end: 'cut' }, 'LK_MODEL_UNAVAILABLE'],
    [{ pieces: [] }, 'LK_MODEL_UNAVAILABLE'],
    [{ pieces: events([]).slice(0, 1) }, 'LK_MODEL_UNAVAILABLE'],
    [error({ error: { message: 'busy', code: 429 } }), 'LK_MODEL_UNAVAILABLE'],
    [error({ error: 'busy' }), 'LK_MODEL_UNAVAILABLE'],
    [error({ object: 'error', message: 'busy', code: 500 }), 'LK_MODEL_UNAVAILABLE'],
    [{ body: { error: { message: 'busy' } }, headers: json }, 'LK_MODEL_UNAVAILABLE'],
    [{ pieces: ['data: {"choices"\n\n'] }, 'LK_MODEL_ANSWER'],
    [{ pieces: ['<html>one moment</html>\n'], type: 'text/html' }, 'LK_MODEL_UNAVAILABLE'],
  ]
  for (const [answer, code] of cases) {
    const clock = new VirtualClock()
    server.requests.length = 0
    server.answer = (_, number) => (number === 0 ? answer : { pieces: events(['good']) })
    t.strictSame(await read(modelAt(server, clock)), ['good'], inspect(answer))
    t.strictSame(clock.waits, [500])
    t.equal(clock.timeouts.size, 0, 'no timer is left')
    server.requests.length = 0
    server.answer = () => answer
    t.equal((await failure(modelAt(server))).error.code, code)
    t.equal(server.requests.length, 4)
  }
})

const json = { 'Content-Type': 'application/json; charset=utf-8' }

t.test('what breaks off behind a word is an error at once', async (t) => {
  const server = await startModelServer(t)
  const [begin = '', word = ''] = events(['By'])
  const error = `data: {"error":{"message":"no more for ${secret}","code":502}}\n\n`
  for (const answer of [
    { pieces: [begin, word], end: 'cut' },
    { pieces: [begin, word] },
    { pieces: [begin, word, error] },
    { pieces: [begin, word, 'data: [DON'] },
  ] as const) {
    server.requests.length = 0
    server.answer = () => answer
    const found = await failure({ ...modelAt(server), key: secret })
    t.strictSame(found.texts, ['By'])
    t.equal(found.error.code, 'LK_MODEL_UNAVAILABLE')
    t.notMatch(inspect(found.error), secret)
    t.equal(server.requests.length, 1)
  }
})

t.test('an error of the request, said in the stream, is not asked again', async (t) => {
  const server = await startModelServer(t)
  for (const error of [
    { message: `bad key ${secret}`, code: 401 },
    { message: 'too long', code: '400' },
  ]) {
    server.requests.length = 0
    server.answer = () => ({ pieces: [`data: ${JSON.stringify({ error })}\n\n`] })
    const found = await failure({ ...modelAt(server), key: secret })
    t.equal(found.error.code, 'LK_MODEL_REFUSED')
    t.notMatch(inspect(found.error), secret)
    t.equal(server.requests.length, 1)
  }
})

t.test('a server that refuses to stream is asked for one piece', async (t) => {
  const server = await startModelServer(t)
  for (const status of [400, 422]) {
    server.requests.length = 0
    server.answer = ({ body }) =>
      body['stream'] === true ? { status, body: { error: 'no streams' } } : completion('whole')
    t.strictSame(await read(modelAt(server)), ['whole'])
    t.strictSame(server.requests[1]?.body, { model: 'm', messages })
  }
  server.answer = () => ({ status: 400, body: { error: 'too long' } })
  const { error } = await failure(modelAt(server))
  t.equal(error.code, 'LK_MODEL_REFUSED')
  t.match(error.message, 'too long')
})

t.test('a redirect is not followed, with the key or without', async (t) => {
  const server = await startModelServer(t)
  for (const status of [301, 302, 303, 307, 308]) {
    server.requests.length = 0
    const headers = { Location: `${server.url}/elsewhere` }
    server.answer = (_, number) => (number === 0 ? { status, headers } : completion('no'))
    const { error } = await failure({ ...modelAt(server), key: secret })
    t.equal(error.code, 'LK_MODEL_REFUSED')
    t.equal(server.requests.length, 1)
  }
})

t.test('a stream may be silent as long as the limit, each time', async (t) => {
  const server = await startModelServer(t)
  const clock = new VirtualClock()
  const [begin = '', word = ''] = events(['By'])
  server.answer = () => ({ pieces: [begin, word], end: 'hang' })
  const end = () => clock.timeouts.forEach((call) => call())
  server.onHang = () => setTimeout(end, 20)
  const { texts, error } = await failure(modelAt(server, clock))
  t.strictSame(texts, ['By'])
  t.equal(error.code, 'LK_MODEL_UNAVAILABLE')
  t.match(error.message, `no answer in ${VirtualClock.timeoutMs} ms`)
  t.equal(clock.timeouts.size, 0, 'no timer is left')

  // While the reader takes its time, none runs.
  server.answer = () => ({ pieces: events(['By', ' the']) })
  for await (const _ of chatWith(modelAt(server, clock))(messages, { signal })) {
    t.equal(clock.timeouts.size, 0)
  }
})

t.test('a reader that leaves, or a signal, ends the request', async (t) => {
  const server = await startModelServer(t)
  const [begin = '', word = ''] = events(['By'])
  server.answer = () => ({ pieces: [begin, word], end: 'hang' })
  const gone = () => new Promise<void>((resolve) => (server.onLeave = resolve))
  const isLeft = gone()
  for await (const text of chatWith(modelAt(server))(messages, { signal })) {
    t.equal(text, 'By')
    break
  }
  await isLeft
  t.equal(server.left, 1)

  const isAborted = gone()
  const controller = new AbortController()
  const reason = new Error('enough')
  server.onHang = () => controller.abort(reason)
  const { error } = await failure(modelAt(server), controller.signal)
  t.equal(error as unknown, reason)
  await isAborted
  t.equal(server.left, 2)
  t.equal((await failure(modelAt(server), AbortSignal.abort(reason))).error as unknown, reason)
})

t.test('a slow reader holds back the server', async (t) => {
  const server = await startModelServer(t)
  let sent = 0
  const piece = events(['x'.repeat(64 * 1024)], null)[1] ?? ''
  server.answer = () => ({
    pieces: (async function* () {
      for (; sent < 1000; sent++) yield piece
    })(),
  })
  let least = Infinity
  for await (const _ of chatWith(modelAt(server))(messages, { signal })) {
    // As long as the server goes on by itself.
    for (let before = -1; before !== sent;) {
      before = sent
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    least = sent
    break
  }
  t.ok(least < 900, `${least} of 1000 pieces of 64 KiB were taken`)
})
