import t from 'tap'
import { Problems } from '../../../../src/door/problems.js'
import { Members } from '../../../../src/door/members.js'
import { modelOptionsFrom } from '../../../../src/openai/configuration.js'
import { openaiExtractor } from '../../../../src/flow/steps/openai/extractor.js'
import type { ChunkText, Extractor, ExtractorTools } from '../../../../src/flow/steps/types.js'
import { completion, modelAt, startModelServer } from '../../../openai/model-server.js'

const text = 'William Guest rowed up the\nThames. He came to Hammersmith in 2102 [at last].'
const chunk: ChunkText = { index: 3, start: 0, end: text.length, text }
const slug = (name: string) => name.toLowerCase().replaceAll(' ', '-')
const tools = {
  signal: new AbortController().signal,
  entity: (name) => ({ v: `e/${slug(name)}`, e: true }),
  relation: (name) => ({ v: `r/${slug(name)}`, e: true }),
} as ExtractorTools

const definition = { entity: 'William Guest', definition: 'A rower.' }
const relationship = {
  subject: 'William Guest',
  predicate: 'came to',
  object: 'Hammersmith',
  'object-entity': true,
}
const good = { definitions: [definition], relationships: [relationship] }
const term = (v: string) => ({ v, e: true })
const extracted = {
  entities: [{ name: 'William Guest', definition: 'A rower.' }, { name: 'Hammersmith' }],
  triples: [{ s: term('e/william-guest'), p: term('r/came-to'), o: term('e/hammersmith') }],
}

/** Promise or not. */
const run = async (extractor: Extractor) => extractor(chunk, tools)

t.test('a chunk is one request, and its findings become entities and triples', async (t) => {
  const server = await startModelServer(t)
  server.answer = () => completion(good)
  t.strictSame(await run(openaiExtractor(modelAt(server))), extracted)
  t.equal(server.requests.length, 1)
  t.match(server.requests[0], {
    path: '/v1/chat/completions',
    body: { model: 'm', temperature: 0, response_format: { type: 'json_object' } },
  })
  const messages = server.requests[0]?.body['messages'] as { role: string; content: string }[]
  t.strictSame(
    messages.map(({ role }) => role),
    ['system', 'user'],
  )
  t.equal(messages[1]?.content, text)
  // Servers refuse `json_object` otherwise.
  t.match(messages[0]?.content, 'JSON')
})

t.test('names are as the chunk has them, and what it does not name is left out', async (t) => {
  const server = await startModelServer(t)
  const relate = (subject: string, object: string, isEntity: boolean) => ({
    ...relationship,
    subject,
    object,
    'object-entity': isEntity,
  })
  server.answer = () =>
    completion({
      definitions: [
        { entity: 'Atlantis', definition: 'A place that the text does not have.' },
        { entity: ' the  thames\n', definition: ' A  river. ' },
        { entity: 'the Thames', definition: 'Again.' },
        { entity: '[at last]', definition: 'Punctuation is no pattern.' },
        { entity: '.*', definition: 'Nor is this.' },
      ],
      relationships: [
        relate('Atlantis', 'Hammersmith', true),
        relate('HAMMERSMITH', 'Atlantis', true),
        relate('HAMMERSMITH', 'a place that the text does not have', false),
      ],
    })
  t.strictSame(await run(openaiExtractor(modelAt(server))), {
    entities: [
      { name: 'the Thames', definition: 'A river.' },
      { name: '[at last]', definition: 'Punctuation is no pattern.' },
      { name: 'Hammersmith' },
    ],
    triples: [
      {
        s: term('e/hammersmith'),
        p: term('r/came-to'),
        o: { v: 'a place that the text does not have', e: false },
      },
    ],
  })
})

t.test('a name is a word of the text, as written first, or the beginning of one', async (t) => {
  const server = await startModelServer(t)
  const extractor = openaiExtractor(modelAt(server))
  const namesIn = async (text: string, ...names: string[]) => {
    const definitions = names.map((entity) => ({ entity, definition: 'A thing.' }))
    server.answer = () => completion({ definitions, relationships: [] })
    const { entities } = await extractor({ index: 0, start: 0, end: text.length, text }, tools)
    return entities.map(({ name }) => name)
  }
  const english = 'The chairman told us, because AI is of the US, that ASP.NET runs in Canada.'
  t.strictSame(await namesIn(english, 'AI', 'US', '.net', 'CANADA'), ['AI', 'US', '.NET', 'Canada'])
  t.strictSame(await namesIn(english, 'Ada', 'air', 'SP', 'can', 'ai'), ['AI'])
  t.strictSame(await namesIn('Apollo 11 has H2O, USA, E\u0301da.', 'Apollo 1', 'H', 'US', 'E'), [])
  t.strictSame(await namesIn('Apollo 11 has C++11.', 'C++', 'Apollo 11'), ['C++', 'Apollo 11'])
  t.strictSame(await namesIn('casino no no; 𐐨𐐬 𐐨𐐨', 'no no', '𐐨'), ['no no', '𐐨'])
  t.strictSame(await namesIn('Adas Haus an der Donauquelle', 'Ada', 'Donau'), ['Ada', 'Donau'])
  t.strictSame(await namesIn('Он живёт в Лондоне.', 'Лондон', 'лондоне', 'он'), [
    'Лондон',
    'Лондоне',
    'Он',
  ])
  t.strictSame(await namesIn('Η Αθήνα είναι μεγάλη.', 'Αθήνα', 'ήνα'), ['Αθήνα'])
  t.strictSame(await namesIn('私はAdaと東京都に2024年いた。', '東京', 'ADA', '2024', '024'), [
    '東京',
    'Ada',
    '2024',
  ])
  t.strictSame(await namesIn('그는 서울에서 산다.', '서울'), ['서울'])
  t.strictSame(await namesIn('سافر إلى لندن والقاهرة', 'القاهرة'), ['القاهرة'])
  t.strictSame(await namesIn('הוא גר בירושלים', 'ירושלים'), ['ירושלים'])
  t.strictSame(await namesIn('เขาอยู่ในกรุงเทพมหานคร', 'กรุงเทพ'), ['กรุงเทพ'])
})

t.test('fences, words and thoughts around the JSON do no harm', async (t) => {
  const server = await startModelServer(t)
  const json = JSON.stringify(good, null, 2)
  for (const content of [
    `\`\`\`json\n${json}\n\`\`\``,
    `Here you are:\n${json}\nAnything else?`,
    `\n<think>\nIt wants {"definitions": …}\n</think>\n${json}`,
  ]) {
    server.answer = () => completion(content)
    t.strictSame(await run(openaiExtractor(modelAt(server))), extracted)
  }
  server.answer = () => completion({ definitions: [], relationships: [] })
  t.strictSame(await run(openaiExtractor(modelAt(server))), { entities: [], triples: [] })
})

t.test('a flawed answer is asked for again, three times in all', async (t) => {
  const server = await startModelServer(t)
  const extractor = openaiExtractor(modelAt(server))
  const define = (change: object) => ({ ...good, definitions: [{ ...definition, ...change }] })
  const relate = (change: object) => ({ ...good, relationships: [{ ...relationship, ...change }] })
  const empty = [
    ...[null, [], {}, { choices: [] }, { choices: [{}] }, { choices: [{ message: {} }] }].map(
      (body) => ({ body }),
    ),
    ...['', ' \n'].map((content) => completion(content)),
    completion('', 'length'),
  ]
  const flawed = [
    completion(good, 'length'),
    ...[
      'I cannot help with that.',
      '{"definitions":[',
      { definitions: [] },
      { ...good, relationships: {} },
      { ...good, definitions: [null] },
      { ...good, definitions: new Array(201).fill(definition) },
      define({ entity: '' }),
      define({ entity: ' \n' }),
      define({ entity: 'x'.repeat(201) }),
      define({ entity: 7 }),
      define({ definition: 'x'.repeat(2001) }),
      define({ definition: '\ud800' }),
      relate({ subject: undefined }),
      relate({ predicate: null }),
      relate({ object: 'x'.repeat(201) }),
      relate({ object: 'x'.repeat(2001), 'object-entity': false }),
      relate({ 'object-entity': 'true' }),
    ].map((content) => completion(content)),
  ]
  for (const reply of [...empty, ...flawed]) {
    server.requests.length = 0
    server.answer = (_, number) => (number === 0 ? reply : completion(good))
    t.strictSame(await run(extractor), extracted, JSON.stringify(reply).slice(0, 200))
    const messages = server.requests[1]?.body['messages'] as { role: string; content: string }[]
    const hasContent = (flawed as unknown[]).includes(reply)
    t.strictSame(
      messages.map(({ role }) => role),
      hasContent ? ['system', 'user', 'assistant', 'user'] : ['system', 'user'],
    )
    t.ok(
      messages.every(({ content }) => content.trim() !== ''),
      'servers refuse empty messages',
    )
    t.equal(messages[1]?.content, text, 'of the text nothing else')
    t.match(messages[hasContent ? 3 : 0]?.content, /Your answer .*Give the JSON object again/)
  }
  server.requests.length = 0
  server.answer = () => completion(`${'x'.repeat(9000)} is no JSON`)
  const error = await run(extractor).catch((error: unknown) => error as Error)
  t.match(error, { code: 'LK_MODEL_ANSWER', details: { chunk: 3 } })
  t.ok((error as Error).message.length < 300)
  t.equal(server.requests.length, 3)
  const last = server.requests[2]?.body['messages'] as { content: string }[]
  t.ok(last.every(({ content }) => content.length <= 4000))
})

t.test('as much as is allowed is taken', async (t) => {
  const server = await startModelServer(t)
  const literal = { ...relationship, object: 'x'.repeat(2000), 'object-entity': false }
  const [definitions, relationships] = [definition, literal].map((one) => new Array(200).fill(one))
  server.answer = () => completion({ definitions, relationships })
  const { entities, triples } = await run(openaiExtractor(modelAt(server)))
  t.equal(entities.length, 1)
  t.equal(triples.length, 200)
  t.equal(server.requests.length, 1)
})

t.test(
  'a model that takes neither temperature nor format goes without, from then on',
  async (t) => {
    const server = await startModelServer(t)
    for (const status of [400, 422]) {
      const extractor = openaiExtractor(modelAt(server))
      server.requests.length = 0
      server.answer = ({ body }) => ('temperature' in body ? { status } : completion(good))
      t.strictSame(await run(extractor), extracted)
      t.strictSame(await run(extractor), extracted)
      t.strictSame(
        server.requests.map(({ body }) => 'response_format' in body),
        [true, false, false],
      )
    }
  },
)

t.test('a request that is refused either way says nothing of the next one', async (t) => {
  const server = await startModelServer(t)
  const extractor = openaiExtractor(modelAt(server))
  server.answer = () => ({ status: 400 })
  await t.rejects(run(extractor), { code: 'LK_MODEL_REFUSED' })
  server.answer = () => completion(good)
  await run(extractor)
  t.strictSame(
    server.requests.map(({ body }) => 'temperature' in body),
    [true, false, true],
  )
  server.answer = () => ({ status: 404 })
  await t.rejects(run(extractor), { code: 'LK_MODEL_REFUSED' })
  t.equal(server.requests.length, 4)
})

t.test('a configuration can name the model', async (t) => {
  const server = await startModelServer(t)
  server.answer = () => completion(good)
  const reader = new Members({ model: 'm', url: server.url }, 'options', new Problems())
  const extractor = openaiExtractor(modelOptionsFrom(reader))
  reader.end()
  t.equal(reader.problems.count, 0)
  t.strictSame(await run(extractor), extracted)
  const empty = new Members({}, 'options', new Problems())
  modelOptionsFrom(empty)
  t.match(empty.problems.details.errors, [{ path: 'options.model' }])
})
