import t from 'tap'
import { chunk } from '../../src/flow/steps/chunk.js'
import { embed } from '../../src/flow/steps/embed.js'
import { extract } from '../../src/flow/steps/extract.js'
import { index } from '../../src/flow/steps/index-objects.js'
import { openaiEmbedder } from '../../src/flow/steps/openai/embedder.js'
import { openaiExtractor } from '../../src/flow/steps/openai/extractor.js'
import { store } from '../../src/flow/steps/store.js'
import type { JobEvent } from '../../src/flow/types.js'
import { running } from './running.js'
import { completion, embeddings, modelAt, startModelServer } from '../openai/model-server.js'
import type { ModelRequest } from '../openai/model-server.js'

t.test('a document outlives a model that is away for a minute', async (t) => {
  const server = await startModelServer(t)
  const { keep, flows, clock } = await running(t)
  const embedder = openaiEmbedder(modelAt(server))
  const extractor = openaiExtractor(modelAt(server))
  const asked: string[] = []
  let hurdles = 0
  server.answer = (request: ModelRequest) => {
    asked.push(request.path)
    // Busy, then wrong, then right.
    if (++hurdles === 1) return { status: 429, headers: { 'Retry-After': '7' } }
    if (request.path.endsWith('/embeddings')) return embeddings(request)
    if (hurdles === 3) return completion('{"definitions": [')
    return completion({
      definitions: [{ entity: 'Whales', definition: 'mammals of the sea' }],
      relationships: [],
    })
  }
  await server.stop()
  await flows.define({
    id: 'models',
    maxAttempts: 50,
    minDelayMs: 1000,
    maxDelayMs: 16_000,
    steps: [chunk(), embed({ embedder }), extract({ extractor, embedder }), store(), index()],
  })
  const began = clock.now()
  const events: JobEvent[] = []
  const watching = (async () => {
    for await (const event of flows.watch({ flow: 'models' })) {
      events.push(event)
      if (event.type === 'done' || event.type === 'dead') return
      if (event.type !== 'failed') continue
      if (clock.now() - began >= 60_000) await server.start()
      void clock.advance(16_000)
    }
  })()
  const { job } = await flows.load('models', { id: 'urn:doc', content: 'Whales sing.' })
  flows.run()
  await watching

  const done = await flows.job(job)
  t.equal(done?.state, 'done')
  const failures = done?.failures ?? []
  t.ok(failures.length >= 4, 'it was tried while the model was away')
  for (const { step, cause, code } of failures) {
    t.strictSame(
      { step, cause, code },
      { step: 'embed', cause: 'failed', code: 'LK_MODEL_UNAVAILABLE' },
    )
  }
  t.equal(done?.attempts, failures.length + 1)
  const recorded = events.flatMap((event) => (event.type === 'step' ? [event.step] : []))
  t.strictSame(
    recorded.filter((step) => step !== 'chunk'),
    ['embed', 'extract', 'store', 'index'],
    'what the model gave was recorded, once',
  )
  t.strictSame(asked, [
    '/v1/embeddings', // busy
    '/v1/embeddings',
    '/v1/chat/completions', // malformed
    '/v1/chat/completions',
    '/v1/embeddings', // of the entity
  ])
  const core = await keep.knowledge.stat({ user: 'trustgraph', id: 'urn:doc' })
  t.equal(core?.vectors, 2, 'one of the chunk, one of the entity')
})
