import t from 'tap'
import { openaiEmbedder } from '../../../../src/flow/steps/openai/embedder.js'
import { embeddings, modelAt, startModelServer } from '../../../openai/model-server.js'

const { signal } = new AbortController()

t.test('texts are asked for as OpenAI has it, new lines and all', async (t) => {
  const server = await startModelServer(t)
  server.answer = embeddings
  const vectors = await openaiEmbedder(modelAt(server))(['a', 'b\n\nb'], { signal })
  t.strictSame(vectors, [Float64Array.of(1, 0.5), Float64Array.of(4, 0.5)])
  t.equal(server.requests.length, 1)
  t.equal(server.requests[0]?.path, '/v1/embeddings')
  t.strictSame(server.requests[0]?.body, {
    model: 'm',
    input: ['a', 'b\n\nb'],
    encoding_format: 'float',
  })
  await openaiEmbedder({ ...modelAt(server), dimensions: 2 })(['a'], { signal })
  t.equal(server.requests[1]?.body['dimensions'], 2)
})

t.test('64 texts go into a request, or as many as are asked for, in their order', async (t) => {
  const server = await startModelServer(t)
  server.answer = embeddings
  const counts = () => server.requests.splice(0).map(({ body }) => (body['input'] as []).length)
  const texts = Array.from({ length: 129 }, (_, i) => 'x'.repeat(i + 1))
  const lengths = texts.map((text) => text.length)
  const vectors = await openaiEmbedder(modelAt(server))(texts, { signal })
  t.strictSame(
    vectors.map(([length]) => length),
    lengths,
  )
  t.strictSame(counts(), [64, 64, 1])
  await openaiEmbedder({ ...modelAt(server), batch: 100 })(texts, { signal })
  t.strictSame(counts(), [100, 29])
  t.strictSame(await openaiEmbedder(modelAt(server))([], { signal }), [])
  t.strictSame(counts(), [])
})

t.test('200,000 bytes of text go into a request, or one text that is longer', async (t) => {
  const server = await startModelServer(t)
  server.answer = embeddings
  const texts = ['é'.repeat(50_000), 'b'.repeat(100_000), 'c', 'd'.repeat(300_000), 'e']
  await openaiEmbedder(modelAt(server))(texts, { signal })
  const inputs = server.requests.map(({ body }) => body['input'])
  t.strictSame(inputs, [texts.slice(0, 2), ['c'], texts.slice(3, 4), ['e']])
})

t.test('embeddings may come in any order, and without indexes', async (t) => {
  const server = await startModelServer(t)
  const embedder = openaiEmbedder(modelAt(server))
  server.answer = () => ({
    body: {
      data: [
        { index: 2, embedding: [3] },
        { index: 0, embedding: [1] },
        { index: 1, embedding: [2] },
      ],
    },
  })
  const expected = [1, 2, 3].map((n) => Float64Array.of(n))
  t.strictSame(await embedder(['a', 'b', 'c'], { signal }), expected)
  server.answer = () => ({ body: { data: [1, 2, 3].map((n) => ({ embedding: [n] })) } })
  t.strictSame(await embedder(['a', 'b', 'c'], { signal }), expected)
})

t.test('an answer that does not fit the texts is refused', async (t) => {
  const server = await startModelServer(t)
  const embedder = openaiEmbedder(modelAt(server))
  const of = (...data: unknown[]) => ({ data })
  const first = { index: 0, embedding: [1] }
  const bad = [
    null,
    [],
    {},
    of(first),
    of(first, first),
    of(first, { index: 1, embedding: [1] }, { index: 2, embedding: [1] }),
    of(first, { index: 2, embedding: [1] }),
    of(first, { index: -1, embedding: [1] }),
    of(first, { index: 0.5, embedding: [1] }),
    of(first, { index: '1', embedding: [1] }),
    of(first, null),
    of(first, { index: 1 }),
    of(first, { index: 1, embedding: [] }),
    of(first, { index: 1, embedding: [1, 2] }),
    of(first, { index: 1, embedding: [null] }),
    of(first, { index: 1, embedding: 'AACAPw==' }),
  ].map((body) => JSON.stringify(body))
  bad.push('{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1e999]}]}')
  for (const body of bad) {
    server.answer = () => ({ body })
    await t.rejects(async () => embedder(['a', 'b'], { signal }), { code: 'LK_MODEL_ANSWER' }, body)
  }
  t.equal(server.requests.length, bad.length, 'none was asked for again')
})

t.test('options of the wrong type are a mistake of the program', async (t) => {
  const server = await startModelServer(t)
  const options = modelAt(server)
  t.throws(() => openaiEmbedder({ ...options, batch: 0 }), TypeError)
  t.throws(() => openaiEmbedder({ ...options, dimensions: 0.5 }), TypeError)
})
