import { generateText, asSchema } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import t from 'tap'
import { knowledgeTools, type KnowledgeTool, type ToolAnswer } from '../../src/ai/index.js'
import { connect } from '../../src/client/index.js'
import type { Lorekeep } from '../../src/lorekeep.js'
import { serve } from '../http/fixtures/serving.js'
import { answered } from './mocks.js'

const texts = {
  'urn:shelley': 'Mary Shelley wrote Frankenstein in Geneva. Mary Shelley was a novelist.',
  'urn:long': Array.from({ length: 100 }, (_, n) =>
    `Chapter ${n} of the long book. `.repeat(20),
  ).join('\n\n'),
}
const doors = ['in process', 'over HTTP'] as const
const serving = await serve(t)
const { lorekeep } = serving
const runner = lorekeep.flows.run()
for (const [id, content] of Object.entries(texts)) {
  await processed(lorekeep, await lorekeep.flows.load('default', { id, content, user: 'alice' }))
}

for (const door of doors) {
  const stores = door === 'in process' ? lorekeep : connect({ url: serving.url, token: 'admin' })
  const tools = knowledgeTools({ lorekeep: stores, user: 'alice', write: true })

  t.test(`${door}: a model asks, is told passages, and cites them`, async (t) => {
    const input = JSON.stringify({ question: 'Where did Shelley write Frankenstein?' })
    const call = { type: 'tool-call' as const, toolCallId: '1', toolName: 'searchKnowledge', input }
    const model = new MockLanguageModelV3({
      doGenerate: [answered([call], 'tool-calls'), answered('In Geneva [1].')],
    })
    const { searchKnowledge, lookUp } = tools
    const { text, steps } = await generateText({
      ...{ model, prompt: 'Where did Shelley write Frankenstein?' },
      tools: { searchKnowledge, lookUp },
      stopWhen: ({ steps }) => steps.length === 3,
    })
    t.equal(text, 'In Geneva [1].')
    const { passages } = steps[0]?.toolResults[0]?.output as unknown as {
      passages: { n: number; document: string; start: number; end: number; text: string }[]
    }
    const { n, document, start, end, text: said } = passages[0]!
    t.strictSame([n, document], [1, 'urn:shelley'])
    t.equal(texts[document as 'urn:shelley'].slice(start, end), said)
    const told = model.doGenerateCalls[1]?.prompt.at(-1)
    t.match(told, {
      role: 'tool',
      content: [{ output: { type: 'text', value: /^\[1\] document urn:shelley, characters 0-/m } }],
    })
    t.match(model.doGenerateCalls[0]?.tools, [
      { name: 'searchKnowledge', inputSchema: { required: ['question'] } },
      { name: 'lookUp' },
    ])
  })

  t.test(`${door}: answers are bounded, and go on`, async (t) => {
    const question = 'What is in the chapters of the long book?'
    const first = await run(tools.searchKnowledge, { question, max_tokens: 500 })
    t.ok(Buffer.byteLength(first.asText) <= 2000)
    t.equal(first['truncated'], true)
    const second = await run(tools.searchKnowledge, { question, after: first['next'] as string })
    const numbers = [first, second].flatMap(
      ({ passages }) => passages as unknown as { n: number }[],
    )
    t.strictSame(
      numbers.map(({ n }) => n),
      numbers.map((_, at) => at + 1),
    )
  })

  t.test(`${door}: an entity is looked up, and what is not there is said`, async (t) => {
    const found = await run(tools.lookUp, { entity: 'Mary Shelley' })
    t.ok((found['triples'] as unknown as unknown[]).length > 0)
    t.match((await run(tools.lookUp, { entity: 'Nobody' })).asText, /searchKnowledge/)
    const of = (more: object) => knowledgeTools({ lorekeep: stores, user: 'alice', ...more })
    const none = await run(of({ collection: 'none' }).searchKnowledge, {
      question: 'Shelley',
      collection: 'default',
    })
    t.equal(none.asText, 'Nothing was found for this question: say so.')
    const long = await run(of({ cores: ['urn:long'] }).searchKnowledge, {
      question: 'Shelley',
      cores: ['urn:shelley'],
    })
    t.notMatch(long.asText, /urn:shelley/)
    const bob = knowledgeTools({ lorekeep: stores, user: 'bob' })
    t.match(await run(bob.searchKnowledge, { question: 'Shelley' }), { passages: [] })
  })

  t.test(`${door}: what is to be remembered is on disk, and found`, async (t) => {
    const id = `urn:memory:${door}`
    const kept = await run(tools.remember, {
      document: id,
      text: 'The password of the yak is Fritz.',
    })
    await processed(lorekeep, kept as unknown as { job: string })
    t.match(
      (await run(tools.searchKnowledge, { question: 'What is the password of the yak?' })).asText,
      /Fritz/,
    )
    t.notOk('remember' in knowledgeTools({ lorekeep: stores, user: 'alice' }))
    const elsewhere = knowledgeTools({
      lorekeep: stores,
      user: 'alice',
      write: true,
      collection: 'kept',
    })
    const { job } = await run(elsewhere.remember, {
      document: `${id}2`,
      text: 'x',
      collection: 'other',
    })
    t.equal((await lorekeep.flows.job(job as string))?.collection, 'kept')
  })

  t.test(`${door}: what is wrong is told, and nothing else`, async (t) => {
    for (const wrong of [
      {},
      { question: 7 },
      { question: '' },
      { question: 'x', k: 1 },
      { question: 'x'.repeat(1001) },
      { question: 'x', max_tokens: 1e9 },
    ]) {
      await t.rejects(run(tools.searchKnowledge, wrong), {
        code: 'LK_TOOL_ARGUMENTS',
        message: /^LK_TOOL_ARGUMENTS: /,
      })
    }
    await t.rejects(run(tools.searchKnowledge, { question: 'x', cores: ['none'] }), {
      code: 'LK_CORE_NOT_FOUND',
    })
    const aborted = run(tools.searchKnowledge, { question: 'x' }, AbortSignal.abort())
    await t.rejects(aborted, { name: 'AbortError' })
    const schema = await asSchema(tools.remember.inputSchema).jsonSchema
    t.match(schema, { required: ['document', 'text'], additionalProperties: false })
  })
}

t.test('of an error of others a model learns nothing', async (t) => {
  const { objects, flows } = lorekeep
  const secret = new Error('password 1234')
  const knowledge = {
    graph: () => {
      throw secret
    },
  } as never
  const { searchKnowledge } = knowledgeTools({ lorekeep: { knowledge, objects, flows }, user: 'a' })
  const error = await run(searchKnowledge, { question: 'x' }).catch((error: unknown) => error)
  t.match(error, { code: 'LK_INTERNAL', cause: secret })
  t.notMatch((error as Error).message, /1234/)
})

t.test('the runner ends', async () => runner.stop())

async function run(
  { execute }: KnowledgeTool,
  input: object,
  abortSignal = new AbortController().signal,
): Promise<ToolAnswer> {
  const options = { toolCallId: '1', messages: [], abortSignal }
  return (await execute?.(input as never, options as never)) as ToolAnswer
}

async function processed(keep: Lorekeep, { job }: { readonly job: string }): Promise<void> {
  for await (const _event of keep.flows.watch({ job })) continue
}
