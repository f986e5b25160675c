import t from 'tap'
import { Problems } from '../../../src/door/problems.js'
import { embed, embedFrom, embedVectors } from '../../../src/flow/steps/embed.js'
import { hashingEmbedder } from '../../../src/flow/steps/hashing-embedder.js'
import { Members } from '../../../src/door/members.js'
import type { EmbedOutput, Embedder } from '../../../src/flow/steps/types.js'
import type { Step, StepContext } from '../../../src/flow/types.js'
import type { JsonObject } from '../../../src/types.js'
import { embeddings, startModelServer } from '../../openai/model-server.js'

const text = 'One fish. Two fish. Red fish. Blue fish.'
const chunks = [0, 10, 20, 30].map((start, index) => ({ index, start, end: start + 9 }))
const texts = chunks.map(({ start, end }) => text.slice(start, end))
const { signal } = new AbortController()

function contextOf(members: Partial<StepContext> = {}): StepContext {
  const document = { id: 'd', user: 'u', collection: 'c', metadata: [], text }
  return { document, signal, progress: () => {}, ...members } as StepContext
}

async function run(step: Step, context = contextOf()): Promise<EmbedOutput> {
  return (await step.run({ chunks }, context)) as EmbedOutput
}

t.test('embed gives a vector for the text of each chunk', async (t) => {
  t.equal(embed().name, 'embed')
  const output = await run(embed())
  t.strictSame(output, { chunks, vectors: await hashingEmbedder()(texts, { signal }) })
})

t.test('embed asks in batches and tells its progress', async (t) => {
  const asked: (readonly string[])[] = []
  const told: [number, number][] = []
  const embedder: Embedder = (some) => {
    asked.push(some)
    return some.map((_, i) => [i, 1])
  }
  const progress = (done: number, total: number) => void told.push([done, total])
  await run(embed({ embedder, batch: 3 }), contextOf({ progress }))
  t.strictSame(asked, [texts.slice(0, 3), texts.slice(3)])
  t.strictSame(told, [
    [3, 4],
    [4, 4],
  ])
})

t.test('embed takes what chunk gives, and nothing else', async (t) => {
  for (const input of [undefined, {}, { chunks: [{ index: 0, start: 0, end: text.length + 1 }] }]) {
    await t.rejects(async () => embed().run(input as never, contextOf()), { code: 'LK_STEP_INPUT' })
  }
  t.strictSame(await embed().run({ chunks: [] }, contextOf()), { chunks: [], vectors: [] })
})

t.test('a vector for each text, finite and of one length, or none is taken', async (t) => {
  const bad: unknown[] = [
    undefined,
    [],
    [[1], [2], [3]],
    [[1], [2], [NaN]],
    [[1], [Infinity]],
    [[1], [2, 3]],
    [[1], []],
    [[], []],
    [[1], ['2']],
    [[1], new Array(1)],
    [[1], new Uint8Array(1)],
    [[1], '2'],
  ]
  for (const vectors of bad) {
    const embedder = (() => vectors) as unknown as Embedder
    await t.rejects(embedVectors(embedder, ['a', 'b'], { signal }), { code: 'LK_STEP_OUTPUT' })
  }
  const good = [[1], new Float32Array(1), new Float64Array(1)]
  t.strictSame(await embedVectors(() => good, ['a', 'b', 'c'], { signal }), good)
})

t.test('vectors have one length over all batches', async (t) => {
  const embedder: Embedder = ([text]) => [text === 'b' ? [1, 2] : [1]]
  const embedding = embedVectors(embedder, ['a', 'b'], { signal, batch: 1 })
  await t.rejects(embedding, { code: 'LK_STEP_OUTPUT' })
})

t.test('others get their turn between batches, and may abort', async (t) => {
  const controller = new AbortController()
  const reason = new Error('enough')
  let batches = 0
  const embedder: Embedder = () => {
    if (++batches === 1) setImmediate(() => controller.abort(reason))
    return [[1]]
  }
  const options = { signal: controller.signal, batch: 1 }
  await t.rejects(embedVectors(embedder, ['a', 'b', 'c'], options), reason)
  t.equal(batches, 1)
  await t.rejects(embedVectors(embedder, ['a'], options), reason)
  t.equal(batches, 1)
})

t.test('options of the wrong type are a mistake of the program', async (t) => {
  t.throws(() => embed({ embedder: 'hashing' as unknown as Embedder }), TypeError)
  t.throws(() => embed({ batch: 0 }), TypeError)
})

function readerOf(options: JsonObject): Members {
  return new Members(options, 'options', new Problems())
}

t.test('a configuration without a type has the hashing embedder', async (t) => {
  const reader = readerOf({ dimensions: 8, batch: 1 })
  const { embedder } = embedFrom(reader)
  reader.end()
  t.equal(reader.problems.count, 0)
  t.strictSame(
    await run(embed({ embedder })),
    await run(embed({ embedder: hashingEmbedder({ dimensions: 8 }) })),
  )
})

t.test('a configuration can name a model and its server', async (t) => {
  const server = await startModelServer(t)
  server.answer = embeddings
  const type = 'openai'
  process.env['LORE_API_KEY'] = 'lore'
  t.teardown(() => delete process.env['LORE_API_KEY'])
  const more = { keyVariable: 'LORE_API_KEY', timeoutMs: 60_000, batch: 2, dimensions: 2 }
  const reader = readerOf({ type, model: 'm', url: server.url, ...more })
  const { embedder } = embedFrom(reader)
  reader.end()
  t.equal(reader.problems.count, 0)
  t.equal((await embedder(['a', 'b', 'c'], { signal })).length, 3)
  t.match(server.requests, [{ body: { model: 'm', dimensions: 2, input: ['a', 'b'] } }, {}])
  t.match(server.requests, [{ headers: { authorization: 'Bearer lore' } }, {}])
})

t.test('what is wrong with a configuration is told by its path', async (t) => {
  const cases: [JsonObject, string[]][] = [
    [{ type: 'magic' }, ['type']],
    [{ dimensions: 0, batch: 2049 }, ['dimensions', 'batch']],
    [{ model: 'm' }, ['model']],
    [{ type: 'openai' }, ['model']],
    [{ type: 'openai', model: '' }, ['model']],
    [{ type: 'openai', model: 'm', timeoutMs: 0 }, ['timeoutMs']],
    [{ type: 'openai', model: 'm', keyVariable: 'DATABASE_PASSWORD' }, ['keyVariable']],
    [{ type: 'openai', model: 'm', key: 'sk-1' }, ['key']],
    ...['localhost', 'ftp://a', 'http://u:p@a', 'http://a?key=1', 'http://a#b', 'http://a /'].map(
      (url): [JsonObject, string[]] => [{ type: 'openai', model: 'm', url }, ['url']],
    ),
  ]
  for (const [options, paths] of cases) {
    const reader = readerOf(options)
    embedFrom(reader)
    reader.end()
    const found = reader.problems.details.errors.map(({ path }) => path.replace('options.', ''))
    t.strictSame(found, paths, JSON.stringify(options))
  }
})
