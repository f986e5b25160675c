import { request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import type { Generate } from '../../../src/graph/types.js'
import { readEventStream } from '../../../src/event-stream.js'
import { LorekeepError } from '../../../src/errors.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { literal, statement } from '../../cli/subgraphs.js'
import { events, modelAt, startModelServer } from '../../openai/model-server.js'
import { ask } from '../fixtures/objects.js'
import { as, serve } from '../fixtures/serving.js'
import type { Serving, ServeOptions } from '../fixtures/serving.js'

const question = { text: 'Where does Ellen live?' }
const inEvents = { ...as('alice'), Accept: 'text/event-stream' }

async function withPassages(t: Parameters<typeof serve>[0], options: ServeOptions = {}) {
  const serving = await serve(t, options)
  for (const [id, text] of Object.entries({
    novel: 'Ellen lives by the Thames.',
    notes: 'Ellen rows.',
  })) {
    const m = { i: id, u: 'alice', m: [], c: id }
    await serving.knowledge.write({ user: 'alice', id }, [
      ['t', { m, t: [statement(`urn:${id}`, vocabulary.text, literal(text))] }],
    ])
  }
  return serving
}

interface Event {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What came, and whether it ended as it should. */
async function streamed(response: IncomingMessage): Promise<{ events: Event[]; isWhole: boolean }> {
  const bytes: Buffer[] = []
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) bytes.push(chunk)
  } catch {
    // Cut.
  }
  const text = Buffer.concat(bytes).toString()
  const types = [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type as string)
  const data: unknown[] = []
  for await (const each of readEventStream(pieces(Buffer.from(text)))) data.push(JSON.parse(each))
  const found = types.map((type, n) => ({ type, data: data[n] as Event['data'] }))
  return { events: found, isWhole: response.complete }
}

async function* pieces(bytes: Buffer) {
  yield bytes
}

function open({ url }: Serving, body: object = question) {
  const request = httpRequest(`${url}/api/v1/graph/answer`, { method: 'POST', headers: inEvents })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve).on('error', reject)
  })
  request.end(JSON.stringify(body))
  return { request, response }
}

t.test('without a model the passages come, of all cores or one', async (t) => {
  const serving = await withPassages(t)
  const all = await ask(serving, 'POST /graph/answer', question)
  t.equal(all.status, 200)
  t.match(all.value, {
    text: /^\[1\] urn:novel\nEllen lives by the Thames\.\n\n\[2\] urn:notes\nEllen rows\.\n$/,
    citations: [
      { n: 1, start: 0, end: 3, source: { chunk: { v: 'urn:novel' }, text: /^Ellen lives/ } },
      { n: 2 },
    ],
    unknown: [],
    sources: [{ core: 'novel' }, { core: 'notes' }],
  })
  const one = await ask(serving, 'POST /cores/notes/answer', question)
  t.equal(one.value['text'], '[1] urn:notes\nEllen rows.\n')
  const some = { ...question, collection: 'notes', entities: 1 }
  t.equal((await ask(serving, 'POST /graph/answer', some)).value['text'], one.value['text'])
  t.equal((await ask(serving, 'POST /cores/none/answer', question)).status, 404)
  t.equal((await ask(serving, 'POST /graph/answer?user=bob', question)).status, 403)
})

t.test('the model of the host answers, a function or a server', async (t) => {
  const generate: Generate = ({ sources }) => `Of ${sources.length}: [1], [3].`
  const serving = await withPassages(t, { generate })
  const { value } = await ask(serving, 'POST /graph/answer', question)
  t.match(value, { text: 'Of 2: [1], [3].', citations: [{ n: 1 }], unknown: [{ n: 3 }] })

  const model = await startModelServer(t)
  model.answer = () => ({ pieces: events(['By the Thames ', '[1].']) })
  const asked = await withPassages(t, { generate: modelAt(model) })
  t.equal((await ask(asked, 'POST /graph/answer', question)).value['text'], 'By the Thames [1].')
})

t.test('an answer is streamed as events: passages, text as it comes, the whole', async (t) => {
  let goOn = () => {}
  const isRead = new Promise<void>((resolve) => (goOn = resolve))
  const generate: Generate = async function* () {
    yield 'By the Thames ['
    await isRead
    yield '1].'
  }
  const serving = await withPassages(t, { generate, heartbeatMs: 5 })
  const response = await open(serving).response
  t.match(response, {
    statusCode: 200,
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  })
  let begun = ''
  for await (const chunk of response.iterator({ destroyOnReturn: false })) {
    begun += String(chunk)
    // The first text, and signs of life behind it.
    if (/By the Thames.*still here/s.test(begun)) break
  }
  t.match(begun, /^(: still here\n\n)*id: 1\nevent: sources\ndata: \{"sources":\[/)
  goOn()
  const { events: found, isWhole } = await streamed(response)
  t.equal(isWhole, true)
  t.match(found, [
    { type: 'text', data: { text: '[1].' } },
    {
      type: 'answer',
      data: { text: 'By the Thames [1].', citations: [{ n: 1, start: 14, end: 17 }], unknown: [] },
    },
  ])
})

t.test('what fails before the first event has a status, behind it an event', async (t) => {
  const failing: Generate = async function* () {
    yield 'By the'
    throw new LorekeepError('LK_MODEL_ANSWER', 'a secret of the model')
  }
  const serving = await withPassages(t, { generate: failing })
  t.equal((await open(serving, { text: '' }).response).statusCode, 400)
  t.equal((await open(serving, { ...question, cores: ['none'] }).response).statusCode, 404)
  t.strictSame(serving.errors, [])

  const { events: found } = await streamed(await open(serving).response)
  t.match(
    found.map(({ type }) => type),
    ['sources', 'text', 'error'],
  )
  t.match(found[2]?.data, { status: 502, code: 'LK_MODEL_ANSWER', requestId: /./ })
  t.notMatch(JSON.stringify(found), 'secret')
  t.match(serving.errors, [{ code: 'LK_MODEL_ANSWER', message: /secret/ }])

  const whole = await ask(serving, 'POST /graph/answer', question)
  t.equal(whole.status, 502)
  t.notMatch(JSON.stringify(whole.value), 'secret')
  for (const [code, status] of [
    ['LK_MODEL_UNAVAILABLE', 503],
    ['LK_MODEL_REFUSED', 502],
  ] as const) {
    const other = await withPassages(t, {
      generate: () => Promise.reject(new LorekeepError(code, 'secret')),
    })
    t.equal((await ask(other, 'POST /graph/answer', question)).status, status)
  }
})

t.test('a client that leaves ends the generation', async (t) => {
  for (const isStreamed of [true, false]) {
    let isAborted = () => {}
    const aborted = new Promise<void>((resolve) => (isAborted = resolve))
    let hasBegun = () => {}
    const begun = new Promise<void>((resolve) => (hasBegun = resolve))
    const generate: Generate = (_, { signal }) => {
      signal.addEventListener('abort', () => isAborted())
      hasBegun()
      return new Promise(() => {})
    }
    const serving = await withPassages(t, { generate })
    const headers = isStreamed ? inEvents : as('alice')
    const request = httpRequest(`${serving.url}/api/v1/graph/answer`, { method: 'POST', headers })
    request.on('error', () => {}).end(JSON.stringify(question))
    await begun
    request.destroy()
    await aborted
    await Promise.all(serving.answers)
    t.strictSame(serving.errors, [])
  }
})

t.test('a model has its time, and a user half of the places', async (t) => {
  const generate: Generate = () => new Promise(() => {})
  const serving = await withPassages(t, { generate, maxAnswerMs: 50, maxConcurrentAnswers: 2 })
  const late = await ask(serving, 'POST /graph/answer', question)
  t.match([late.status, late.value], [503, { code: 'LK_MODEL_UNAVAILABLE' }])

  const slow = await withPassages(t, { generate, maxConcurrentAnswers: 2 })
  const first = open(slow)
  await first.response
  t.match((await ask(slow, 'POST /graph/answer', question)).value, { code: 'LK_HTTP_BUSY' })
  t.equal((await ask(slow, 'POST /graph/retrieve', question)).status, 200)
  first.request.destroy()
  await Promise.all(slow.answers)
})

t.test('the time of a question is not that of the model', async (t) => {
  const maxQueryMs = 2000
  const generate: Generate = (_, { signal }) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error))
      setTimeout(() => resolve('late'), maxQueryMs + 200)
    })
  const serving = await withPassages(t, { generate, maxQueryMs })
  // Indexed by now.
  await ask(serving, 'POST /graph/retrieve', question)
  t.equal((await ask(serving, 'POST /graph/answer', question)).value['text'], 'late')
})

t.test('a client asks for no more than the host allows', async (t) => {
  let length = 0
  const generate: Generate = ({ messages }) => ((length = messages[1]?.content.length ?? 0), 'x')
  const serving = await withPassages(t, { generate, maxPromptLength: 600 })
  const text = 'Ellen rows. '.repeat(1000)
  await serving.knowledge.write({ user: 'alice', id: 'long' }, [
    [
      't',
      {
        m: { i: 'long', u: 'alice', m: [], c: 'c' },
        t: [statement('urn:long', vocabulary.text, literal(text))],
      },
    ],
  ])
  t.equal((await ask(serving, 'POST /cores/long/answer', question)).status, 200)
  t.ok(length < 700, `${length}`)
  for (const [body, path] of [
    [{ maxPromptLength: 601 }, 'maxPromptLength'],
    [{ maxPromptLength: 499 }, 'maxPromptLength'],
    [{ maxPromptLength: '500' }, 'maxPromptLength'],
    [{ text: 7 }, 'text'],
    [{ vector: [1] }, 'vector'],
    [{ generate: {} }, 'generate'],
    [{ entities: 10_001 }, 'entities'],
  ] as const) {
    const { status, value } = await ask(serving, 'POST /graph/answer', { ...question, ...body })
    t.match([status, value], [400, { code: 'LK_GRAPH_QUERY', errors: [{ path }] }], path)
  }
})
