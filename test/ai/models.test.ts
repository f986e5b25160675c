import { MockLanguageModelV3 } from 'ai/test'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { aiEmbedder, aiExtractor, aiGenerate } from '../../src/ai/index.js'
import { chunk, embed, extract, store } from '../../src/flow/steps/index.js'
import type { Prompt } from '../../src/graph/types.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { VirtualClock } from '../flow/virtual-clock.js'
import { answered, embeddingModel, failed, impatient, streamed } from './mocks.js'

const { signal } = new AbortController()
/** Whose vectors may be awaited whatever they are. */
const embedding = (...args: Parameters<typeof aiEmbedder>) => {
  const embedder = aiEmbedder(...args)
  return async (...asked: Parameters<typeof embedder>) => embedder(...asked)
}
const lengths = (values: readonly string[]) => values.map((text) => [text.length, 1])

t.test('an embedder asks for as many texts as the model takes, in their order', async (t) => {
  for (const [most, batch, calls] of [
    [3, undefined, [3, 3, 1]],
    [null, 2, [2, 2, 2, 1]],
    [100, undefined, [7]],
  ] as const) {
    const model = embeddingModel(lengths, most)
    const embedder = embedding(model, batch === undefined ? {} : { batch })
    const texts = ['', 'a', 'bb', 'ccc', 'dddd', 'eeeee', 'ffffff']
    t.strictSame(await embedder(texts, { signal }), lengths(texts))
    t.strictSame(
      model.doEmbedCalls.map(({ values }) => values.length),
      calls,
    )
  }
  const model = embeddingModel(lengths)
  await embedding(model)(['x'.repeat(150_000), 'y'.repeat(150_000)], { signal })
  t.equal(model.doEmbedCalls.length, 2)
  t.strictSame(await embedding(model)([], { signal }), [])
})

t.test('an embedder refuses what is not a vector for each text', async (t) => {
  for (const give of [
    () => [],
    () => [[1], [2], [3]],
    () => [[1, 2], [1]],
    () => [[1], [Number.NaN]],
    () => [[], []],
  ]) {
    const asked = embedding(embeddingModel(give))(['a', 'b'], { signal })
    await t.rejects(asked, { code: 'LK_MODEL_ANSWER' }, JSON.stringify(give()))
  }
  const two = embedding(embeddingModel(lengths), { dimensions: 3 })
  await t.rejects(two(['a'], { signal }), { code: 'LK_MODEL_ANSWER' })
  let length = 2
  const changing = embedding(embeddingModel(() => [Array<number>(length++).fill(1)]))
  await changing(['a'], { signal })
  await t.rejects(changing(['a'], { signal }), { code: 'LK_MODEL_ANSWER' })
})

t.test('a busy model is asked again, as long as it says', async (t) => {
  const { waits, ...options } = impatient(60_000)
  let calls = 0
  const model = embeddingModel((values) => {
    calls++
    if (calls === 1) throw failed(429, { 'retry-after': '7' })
    if (calls === 2) throw failed(503)
    return lengths(values)
  })
  t.strictSame(await embedding(model, options)(['a'], { signal }), [[1, 1]])
  t.strictSame(waits, [7000, 1000])
  calls = 0
  const twice = embedding(model, { ...options, maxAttempts: 1 })(['a'], { signal })
  await t.rejects(twice, {
    code: 'LK_MODEL_UNAVAILABLE',
    details: { status: 429, retryAfterMs: 7000 },
  })
  t.equal(calls, 1)
  const long = embeddingModel(() => {
    throw failed(429, { 'retry-after': '3600' })
  })
  const queued = embedding(long, options)(['a'], { signal })
  await t.rejects(queued, { code: 'LK_MODEL_UNAVAILABLE', details: { retryAfterMs: 3_600_000 } })
  t.equal(long.doEmbedCalls.length, 1)
})

t.test('what another request would not mend is told at once', async (t) => {
  const model = embeddingModel(() => {
    throw failed(400)
  })
  const asked = embedding(model)(['a'], { signal })
  await t.rejects(asked, { code: 'LK_MODEL_REFUSED', details: { status: 400 } })
  t.equal(model.doEmbedCalls.length, 1)
  const broken = embeddingModel(() => {
    throw new Error('a fault of the provider')
  })
  await t.rejects(embedding(broken)(['a'], { signal }), { message: 'a fault of the provider' })
})

t.test('an abort and a time-out end what never answers', async (t) => {
  const silent = embeddingModel(() => new Promise(() => {}))
  const controller = new AbortController()
  let timers = 0
  const clock = { now: () => 0, after: () => (timers++, () => void timers--) }
  const asked = embedding(silent, { clock })(['a'], { signal: controller.signal })
  setImmediate(() => controller.abort(new Error('enough')))
  await t.rejects(asked, { message: 'enough' })
  t.equal(timers, 0)
  t.equal(silent.doEmbedCalls[0]?.abortSignal?.aborted, true)
  await t.rejects(embedding(silent)(['a'], { signal: AbortSignal.abort() }), {
    name: 'AbortError',
  })
  const late = embedding(silent, { timeoutMs: 5, maxAttempts: 1 })(['a'], { signal })
  await t.rejects(late, { code: 'LK_MODEL_UNAVAILABLE' })
  const never = new MockLanguageModelV3({ doStream: () => new Promise(() => {}) })
  const pieces = aiGenerate(never, { timeoutMs: 5, maxAttempts: 1 })(prompt, { signal })
  await t.rejects(textOf(pieces), { code: 'LK_MODEL_UNAVAILABLE' })
})

const prompt: Prompt = {
  messages: [
    { role: 'system', content: 'Cite.' },
    { role: 'user', content: 'Who?' },
  ],
  ...{ question: 'Who?', sources: [], triples: [], labels: {} },
}

t.test('a model that thinks for longer than it may be silent is waited for', async (t) => {
  const thinking = Array.from({ length: 10 }, () => {
    return { type: 'reasoning-delta', id: '0', delta: 'Hm. ' } as const
  })
  const clock = new VirtualClock()
  const { stream } = streamed(['Dick [1].'])
  const model = new MockLanguageModelV3({
    doStream: {
      stream: ReadableStream.from(
        (async function* () {
          yield { type: 'reasoning-start', id: '0' } as const
          for (const thought of thinking) {
            await clock.advance(400)
            yield thought
          }
          yield { type: 'reasoning-end', id: '0' } as const
          yield* stream
        })(),
      ),
    },
  })
  const asked = aiGenerate(model, { timeoutMs: 600, maxAttempts: 1, clock })(prompt, { signal })
  t.equal(await textOf(asked), 'Dick [1].')
  t.equal(model.doStreamCalls.length, 1)
})

t.test('a generator gives the text as it comes', async (t) => {
  const model = new MockLanguageModelV3({ doStream: streamed(['Dick ', '', '[1].']) })
  const pieces: string[] = []
  for await (const piece of (await aiGenerate(model)(prompt, {
    signal,
  })) as AsyncIterable<string>) {
    pieces.push(piece)
  }
  t.strictSame(pieces, ['Dick ', '[1].'])
  t.match(model.doStreamCalls[0]?.prompt, [
    { role: 'system', content: 'Cite.' },
    { role: 'user', content: [{ type: 'text', text: 'Who?' }] },
  ])
})

t.test('a text that is none, or was cut off, is an error', async (t) => {
  for (const [texts, finish] of [
    [[], 'stop'],
    [['a'], 'length'],
    [['a'], 'content-filter'],
  ] as const) {
    const model = new MockLanguageModelV3({ doStream: streamed(texts, finish) })
    await t.rejects(textOf(aiGenerate(model)(prompt, { signal })), { code: 'LK_MODEL_ANSWER' })
  }
})

t.test('a stream is asked for again until it has begun', async (t) => {
  const { waits, ...options } = impatient(60_000)
  let calls = 0
  const busy = new MockLanguageModelV3({
    doStream: async () => {
      if (++calls < 3) throw failed(500)
      return streamed(['a'])
    },
  })
  t.equal(await textOf(aiGenerate(busy, options)(prompt, { signal })), 'a')
  t.strictSame(waits, [500, 1000])
  const broken = new MockLanguageModelV3({
    doStream: async () => ({
      stream: new ReadableStream({
        start(controller) {
          controller.enqueue({ type: 'text-start', id: '1' })
          controller.enqueue({ type: 'text-delta', id: '1', delta: 'a' })
          controller.enqueue({ type: 'error', error: failed(500) })
          controller.close()
        },
      }),
    }),
  })
  const said: string[] = []
  const read = async () => {
    const pieces = aiGenerate(broken, options)(prompt, { signal }) as AsyncIterable<string>
    for await (const piece of pieces) said.push(piece)
  }
  await t.rejects(read(), { code: 'LK_MODEL_UNAVAILABLE' })
  t.strictSame(said, ['a'])
})

t.test('who leaves a stream ends the request', async (t) => {
  let ended: AbortSignal | undefined
  const model = new MockLanguageModelV3({
    doStream: async ({ abortSignal }) => {
      ended = abortSignal
      return {
        stream: new ReadableStream({
          start(controller) {
            controller.enqueue({ type: 'text-start', id: '1' })
            controller.enqueue({ type: 'text-delta', id: '1', delta: 'a' })
          },
        }),
      }
    },
  })
  for await (const _ of aiGenerate(model)(prompt, { signal }) as AsyncIterable<string>) break
  t.equal(ended?.aborted, true)
})

t.test('a flow by models: vectors, triples, and an answer that cites', async (t) => {
  const embedder = aiEmbedder(embeddingModel(lengths, 1))
  const found = {
    definitions: [{ entity: 'Ellen', definition: 'She lives by the Thames.' }],
    relationships: [
      { subject: 'Ellen', predicate: 'lives by', object: 'Thames', 'object-entity': true },
      { subject: 'Nobody', predicate: 'lives by', object: 'Thames', 'object-entity': true },
    ],
  }
  const extracting = new MockLanguageModelV3({
    doGenerate: [
      answered('Sure! Here is it.'),
      answered('{"definitions":[]', 'length'),
      answered('```json\n' + JSON.stringify(found) + '\n```'),
    ],
  })
  const keep = await createLorekeep({ backend: new MemoryBackend(), embedder })
  t.teardown(() => keep.close())
  await keep.flows.define({
    id: 'models',
    steps: [
      chunk(),
      embed({ embedder }),
      extract({ extractor: aiExtractor(extracting), embedder }),
      store(),
    ],
  })
  keep.flows.run()
  const ref = { id: 'urn:visit', user: 'alice' }
  const { job } = await keep.flows.load('models', { ...ref, content: 'Ellen lives by the Thames.' })
  for await (const _event of keep.flows.watch({ job })) continue
  t.match(await keep.flows.job(job), { state: 'done', failures: [] })
  const asked = extracting.doGenerateCalls.map(({ prompt }) => prompt.length)
  t.strictSame(asked, [2, 4, 4])
  t.match(extracting.doGenerateCalls[0], { temperature: 0, prompt: [{ role: 'system' }] })
  const graph = keep.knowledge.graph({ user: 'alice' })
  const answering = new MockLanguageModelV3({
    doStream: streamed(['By the ', 'Thames [1], not the Rhine [2].']),
  })
  const answer = await graph.answer({
    text: 'Where does Ellen live?',
    generate: aiGenerate(answering),
  })
  t.match(answer, {
    text: 'By the Thames [1], not the Rhine [2].',
    citations: [{ n: 1, source: { document: { v: 'urn:visit' }, start: 0, end: 26 } }],
    unknown: [{ n: 2 }],
  })
  const labels = Object.values(answer.labels)
  t.ok(labels.includes('Ellen') && labels.includes('Thames') && !labels.includes('Nobody'))
})

async function textOf(given: ReturnType<ReturnType<typeof aiGenerate>>): Promise<string> {
  let text = ''
  for await (const piece of (await given) as AsyncIterable<string>) text += piece
  return text
}
