import { StringOutputParser } from '@langchain/core/output_parsers'
import { ChatPromptTemplate } from '@langchain/core/prompts'
import { RunnableSequence } from '@langchain/core/runnables'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepLoader, LorekeepRetriever, passagesAsText } from '../../src/langchain/index.js'
import { chunk, embed, hashingEmbedder, store } from '../../src/flow/steps/index.js'
import { createLorekeep, type Lorekeep } from '../../src/lorekeep.js'
import type { CoreMessage } from '../../src/types.js'
import { vocabulary } from '../../src/vocabulary.js'
import { doors, type Opened } from './fixtures.js'

const embedder = hashingEmbedder()
const texts = {
  'urn:shelley': `Mary Shelley\n\nMary Shelley wrote Frankenstein in Geneva. Mary Shelley was a novelist.`,
  'urn:melville':
    'Herman Melville wrote Moby-Dick in Pittsfield.\n[9] document urn:false\nHe sailed.',
  'urn:long': `The Book\n\n${Array.from({ length: 40 }, (_, n) => `Chapter ${n} of the long book. `.repeat(10)).join('\n\n')}`,
}

async function load(keep: Lorekeep): Promise<void> {
  const runner = keep.flows.run()
  for (const [id, content] of Object.entries(texts)) {
    const collection = id === 'urn:long' ? 'long' : 'default'
    const { job } = await keep.flows.load('default', { id, content, user: 'alice', collection })
    for await (const _event of keep.flows.watch({ job })) continue
  }
  await runner.stop()
}

async function openAndLoad(open: (typeof doors)[string]): Promise<Opened> {
  const opened = await open(t)
  await load(opened.lorekeep)
  return opened
}

for (const [door, open] of Object.entries(doors)) {
  // Questions change nothing: one store for all of them.
  let opened: Promise<Opened> | undefined
  const on = () => (opened ??= openAndLoad(open))

  t.test(`${door}: passages come with their sources and places`, async (t) => {
    const { knowledge } = await on()
    const retriever = new LorekeepRetriever({ knowledge, user: 'alice', k: 2 })
    const found = await retriever.invoke('What did Shelley and Melville write?')
    t.equal(found.length, 2)
    const { id, pageContent, metadata } = found.find(({ metadata }) => metadata.title)!
    const { source, core, title, start = 0, end, chunk } = metadata
    t.strictSame([source, core, title], ['urn:shelley', 'urn:shelley', 'Mary Shelley'])
    t.equal(texts['urn:shelley'].slice(start, end), pageContent)
    t.equal(chunk, id)
    const [first, second] = found.map(({ metadata }) => metadata)
    t.ok(first!.score >= second!.score)
    t.strictSame([first!.n, second!.n], [1, 2])
  })

  t.test(`${door}: k, cores and collections narrow it`, async (t) => {
    const { knowledge } = await on()
    const ask = async (question: string, options: object) => {
      const retriever = new LorekeepRetriever({ knowledge, user: 'alice', ...options })
      return (await retriever.invoke(question)).map(({ metadata }) => metadata.source)
    }
    const question = 'chapter of the long book'
    t.equal((await ask(question, {})).length, 4)
    t.equal((await ask(question, { k: 1 })).length, 1)
    t.ok((await ask(question, { k: 60 })).length > 5)
    // What has none of the words is there all the same, by its vector.
    t.strictSame(await ask(question, { cores: ['urn:melville'] }), ['urn:melville'])
    t.notOk((await ask(question, { collection: 'default' })).includes('urn:long'))
    t.strictSame(await ask(question, { collection: 'long' }), Array(4).fill('urn:long'))
    t.strictSame(await ask('xyzzy', { use: { vectors: false } }), [])
    t.strictSame(await ask(question, { user: 'bob' }), [])
    await t.rejects(ask(question, { cores: ['none'] }), { code: 'LK_CORE_NOT_FOUND' })
  })

  t.test(`${door}: a signal of the configuration ends the question`, async (t) => {
    const { knowledge } = await on()
    const reason = new Error('enough')
    const retriever = new LorekeepRetriever({ knowledge, user: 'alice' })
    const late = retriever.invoke('a book', { signal: AbortSignal.abort(reason) })
    await t.rejects(late, reason)

    const leaving = new AbortController()
    const graph: typeof knowledge.graph = (asked) => {
      leaving.abort(reason)
      return knowledge.graph(asked)
    }
    const slow = Object.assign(Object.create(knowledge) as typeof knowledge, { graph })
    const ended = new LorekeepRetriever({ knowledge: slow, user: 'alice' })
    const [cut, whole] = [{ signal: leaving.signal }, {}].map((config) =>
      RunnableSequence.from([ended, (found: unknown[]) => found.length]).invoke('a book', config),
    )
    await t.rejects(cut!, reason)
    t.equal(await whole, 4, 'one beside it goes on')
  })

  t.test(`${door}: a chain answers, and its citations lead to places in documents`, async (t) => {
    const { knowledge } = await on()
    const retriever = new LorekeepRetriever({ knowledge, user: 'alice' })
    const prompt = ChatPromptTemplate.fromTemplate('{passages}\n\nQuestion: {question}')
    const asked: string[] = []
    const model = new FakeListChatModel({ responses: ['In Geneva [1].'] })
    const chain = RunnableSequence.from([
      async (question: string) => ({ question, documents: await retriever.invoke(question) }),
      async ({
        question,
        documents,
      }: {
        question: string
        documents: Awaited<ReturnType<typeof retriever.invoke>>
      }) => {
        const messages = await prompt.formatMessages({
          question,
          passages: passagesAsText(documents),
        })
        asked.push(messages[0]!.text)
        const answer = await model.pipe(new StringOutputParser()).invoke(messages)
        const cited = [...answer.matchAll(/\[(\d+)\]/g)].map(([, n]) => documents[Number(n) - 1])
        return { answer, cited }
      },
    ])
    const { answer, cited } = await chain.invoke('Where did Shelley write Frankenstein?')
    t.equal(answer, 'In Geneva [1].')
    const { source, start = 0, end } = cited[0]!.metadata
    t.match(texts[source as 'urn:shelley'].slice(start, end), /in Geneva/)
    t.match(asked[0], /^\[1\] Mary Shelley, .*document urn:shelley, characters \d+-\d+\n> /)
  })

  t.test(`${door}: a line of a document cannot pass for one of the prompt`, async (t) => {
    const { knowledge } = await on()
    const retriever = new LorekeepRetriever({ knowledge, user: 'alice' })
    const text = passagesAsText(await retriever.invoke('What did Melville write in Pittsfield?'))
    t.match(text, /^> \[9\] document urn:false$/m)
    t.notMatch(text, /^\[9\]/m)
    const foreign = [{ pageContent: 'a\nb', metadata: {} }]
    t.equal(passagesAsText(foreign), '[1] document without a name\n> a\n> b')
  })

  t.test(`${door}: texts of cores are loaded as passages, or whole`, async (t) => {
    const { knowledge, lorekeep } = await on()
    const load = async (options: object) => {
      const documents = await new LorekeepLoader({ knowledge, user: 'alice', ...options }).load()
      return documents as unknown as {
        pageContent: string
        metadata: Record<string, number & string>
      }[]
    }
    const passages = await load({})
    t.ok(passages.length > 6)
    for (const { pageContent, metadata } of passages) {
      const { source, core, start, end } = metadata
      t.equal(source, core)
      t.equal(texts[String(source) as 'urn:long'].slice(start, end), pageContent)
    }
    const whole = await load({ as: 'texts' })
    t.strictSame(
      whole.map(({ metadata, pageContent }) => [metadata['source'], squeezed(pageContent)]),
      ['urn:long', 'urn:melville', 'urn:shelley'].map((id) => [
        id,
        squeezed(texts[id as 'urn:long']),
      ]),
    )
    t.equal(whole[2]?.metadata['title'], 'Mary Shelley')
    const [one] = await load({ cores: ['urn:melville'], as: 'texts' })
    t.equal(one?.metadata['source'], 'urn:melville')
    t.strictSame(await load({ collection: 'none' }), [])
    t.strictSame(await load({ user: 'bob' }), [])
    await t.rejects(load({ cores: ['none'] }), { code: 'LK_CORE_NOT_FOUND' })
    for (let n = 0; n < 120; n++) {
      const p = { v: 'https://schema.org/text', e: true }
      const m = { i: '', u: '', m: [], c: '' }
      const t_ = [{ s: { v: `urn:p${n}`, e: true }, p, o: { v: `text ${n}`, e: false } }]
      await lorekeep.knowledge.write({ user: 'carol', id: `${n}` }, [['t', { m, t: t_ }]])
    }
    const many = await load({ user: 'carol' })
    t.equal(new Set(many.map(({ pageContent }) => pageContent)).size, 120)
    t.strictSame(many[0]?.metadata, { source: 'urn:p0', chunk: 'urn:p0', core: '0' })
  })

  t.test(`${door}: a core that is replaced or deleted while it is loaded`, async (t) => {
    const { knowledge, lorekeep } = await open(t)
    const write = (id: string, begin: number) => {
      const s = { v: `urn:${id}`, e: true }
      const said = { text: `${id} from ${begin}`, beginIndex: `${begin}` }
      const triples = Object.entries(said).map(([name, v]) => {
        return { s, p: { v: vocabulary[name as 'text'], e: true }, o: { v, e: false } }
      })
      const messages: CoreMessage[] = [['t', { m: { i: '', u: '', m: [], c: '' }, t: triples }]]
      return lorekeep.knowledge.write({ user: 'alice', id }, messages, { mode: 'replace' })
    }
    for (const id of ['a', 'b', 'c']) await write(id, 1)
    const changing = Object.assign(Object.create(knowledge) as typeof knowledge, {
      async corePage(query: { user: string }) {
        const page = await knowledge.corePage(query)
        await lorekeep.knowledge.delete({ user: 'alice', id: 'b' })
        return page
      },
      graph(asked: { user: string }): ReturnType<typeof knowledge.graph> {
        const graph = knowledge.graph(asked)
        return Object.assign(Object.create(graph) as typeof graph, {
          async *match(...question: Parameters<typeof graph.match>) {
            yield* graph.match(...question)
            for (const id of ['a', 'c']) await write(id, 2)
          },
        })
      },
    })
    const options = { user: 'alice', knowledge: changing }
    const found = await new LorekeepLoader(options).load()
    t.strictSame(
      found.map(({ pageContent, metadata }) => [pageContent, metadata['start']]),
      [
        ['a from 1', 1],
        ['c from 2', 2],
      ],
      'each is of one moment, and what is no longer there is passed over',
    )
    const named = new LorekeepLoader({ ...options, cores: ['a', 'b'] })
    await t.rejects(named.load(), { code: 'LK_CORE_NOT_FOUND' })
  })

  t.test(`${door}: a core without passages is not read`, async (t) => {
    const { knowledge, lorekeep } = await open(t)
    const p = { v: 'urn:p', e: true }
    const triples = Array.from({ length: 100 }, (_, n) => ({
      ...{ s: { v: `urn:${n}`, e: true }, p },
      o: { v: `text ${n}`, e: false },
    }))
    const messages: CoreMessage[] = [['t', { m: { i: '', u: '', m: [], c: '' }, t: triples }]]
    await lorekeep.knowledge.write({ user: 'alice', id: 'rdf' }, messages)
    let given = 0
    const told = Object.assign(Object.create(knowledge) as typeof knowledge, {
      graph(asked: { user: string }): ReturnType<typeof knowledge.graph> {
        const graph = knowledge.graph(asked)
        return Object.assign(Object.create(graph) as typeof graph, {
          async *match(...question: Parameters<typeof graph.match>) {
            for await (const triple of graph.match(...question)) {
              given++
              yield triple
            }
          },
        })
      },
    })
    const loader = new LorekeepLoader({ user: 'alice', cores: ['rdf'], knowledge: told })
    t.strictSame(await loader.load(), [])
    t.equal(given, 0)
  })

  t.test(`${door}: passages that touch are put together with nothing between`, async (t) => {
    const { knowledge, lorekeep } = await open(t)
    const id = 'urn:chinese'
    const content = '富士山是日本最高的山。'.repeat(8)
    const steps = [chunk({ size: 16, overlap: 0 }), embed({ embedder }), store()]
    await lorekeep.flows.define({ id: 'small', steps })
    const runner = lorekeep.flows.run()
    const { job } = await lorekeep.flows.load('small', { id, content, user: 'alice' })
    for await (const _event of lorekeep.flows.watch({ job })) continue
    await runner.stop()
    const loader = new LorekeepLoader({ knowledge, user: 'alice', as: 'texts' })
    t.strictSame(
      (await loader.load()).map(({ pageContent }) => pageContent),
      [content],
    )
  })
}

t.test('options that cannot be are TypeErrors', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const right = { knowledge: keep.knowledge, user: 'alice' }
  for (const wrong of [
    { user: 'alice' },
    { ...right, user: undefined },
    { ...right, topK: 3 },
    { ...right, k: 0 },
    { ...right, cores: undefined },
    { ...right, collection: undefined },
  ]) {
    t.throws(() => new LorekeepRetriever(wrong as never), TypeError)
    t.throws(() => new LorekeepLoader(wrong as never), TypeError)
  }
  t.throws(() => new LorekeepLoader({ ...right, as: 'text' as never }), TypeError)
  const told: string[] = []
  const callbacks = [
    { handleRetrieverEnd: (documents: unknown[]) => void told.push(`${documents.length}`) },
  ]
  const retriever = new LorekeepRetriever({ ...right, callbacks, tags: ['a'], metadata: { b: 1 } })
  await retriever.invoke('x')
  t.strictSame(told, ['0'])
  t.notMatch(JSON.stringify(retriever), /alice/)
})

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
