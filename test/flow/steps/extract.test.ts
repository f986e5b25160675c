import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { extract, type ExtractOptions } from '../../../src/flow/steps/extract.js'
import type { ChunkText, Extractor, ExtractOutput } from '../../../src/flow/steps/types.js'
import { defaultBase } from '../../../src/flow/steps/vocabulary.js'
import type { StepContext } from '../../../src/flow/types.js'
import type { Triple } from '../../../src/types.js'

const text = 'Ada met\n Bob.|Bob met ada.|Nobody else.'
const chunks = [0, 1, 2].map((index) => {
  const [start, end] = [[0, 13] as const, [14, 26] as const, [27, 39] as const][index] ?? [0, 0]
  return { index, start, end }
})

interface RunOptions {
  readonly signal?: AbortSignal
  readonly progress?: (done: number, total: number) => void
}

async function run(
  options: ExtractOptions,
  { signal = new AbortController().signal, progress = () => {} }: RunOptions = {},
  input: unknown = { chunks },
): Promise<ExtractOutput> {
  const document = { id: 'd', user: 'u', collection: 'c', metadata: [], text }
  // A step for which stores and leases are none of its business.
  const context = { document, base: defaultBase, signal, progress } as unknown as StepContext
  return (await extract(options).run(input as never, context)) as ExtractOutput
}

/** An extractor that answers what is listed for each chunk. */
function answers(...list: unknown[]): Extractor {
  return ({ index }) => list[index] as never
}

const nothing = { entities: [], triples: [] }
const names = (...list: string[]) => ({ entities: list.map((name) => ({ name })), triples: [] })

t.test('entities are one for each URI: first name, first definition, all chunks', async (t) => {
  const first = {
    entities: [{ name: ' Ada ' }, { name: 'met\n Bob' }, { name: 'Ada' }],
    triples: [],
  }
  const second = {
    entities: [
      { name: 'ada', definition: 'A mathematician.' },
      { name: 'Bob', definition: '' },
    ],
    triples: [],
  }
  const third = {
    entities: [
      { name: 'Nobody', definition: 'N' },
      { name: 'Ada', definition: 'A language.' },
    ],
    triples: [],
  }
  const { entities } = await run({ extractor: answers(first, second, third) })
  t.strictSame(entities, [
    {
      uri: 'http://trustgraph.ai/e/ada',
      name: 'Ada',
      chunks: [0, 1],
      definition: 'A mathematician.',
    },
    { uri: 'http://trustgraph.ai/e/met-bob', name: 'met Bob', chunks: [0] },
    { uri: 'http://trustgraph.ai/e/bob', name: 'Bob', chunks: [1], definition: '' },
    { uri: 'http://trustgraph.ai/e/nobody', name: 'Nobody', chunks: [2], definition: 'N' },
  ])
})

t.test('provenance leads to the chunks with the name, to others for want of those', async (t) => {
  const extractor = answers(names('Nobody', 'the nameless'), names('nobody'), names('NOBODY'))
  const { entities } = await run({ extractor })
  t.strictSame(
    entities.map(({ name, chunks }) => ({ name, chunks })),
    [
      { name: 'Nobody', chunks: [2] },
      { name: 'the nameless', chunks: [0] },
    ],
  )
})

t.test('triples are there once, in the terms of the base', async (t) => {
  const extractor: Extractor = (_chunk, { entity, relation }) => {
    const triple = { s: entity('Ada'), p: relation('has met'), o: { v: 'ada', e: false } }
    return { entities: [], triples: [triple, { ...triple, o: { v: 'ada', e: true } }, triple] }
  }
  const { triples } = await run({ extractor, base: 'urn:x:' })
  const [s, p] = [
    { v: 'urn:x:e/ada', e: true },
    { v: 'urn:x:e/has-met', e: true },
  ]
  t.strictSame(triples, [
    { s, p, o: { v: 'ada', e: false } },
    { s, p, o: { v: 'ada', e: true } },
  ] satisfies Triple[])
})

t.test('extractors get each chunk with its text; chunks and vectors pass through', async (t) => {
  const seen: ChunkText[] = []
  const vectors = [[1], [2], [3]]
  const extractor: Extractor = (chunk) => {
    seen.push(chunk)
    return nothing
  }
  const output = await run({ extractor }, {}, { chunks, vectors })
  t.strictSame(
    seen.map(({ text }) => text),
    ['Ada met\n Bob.', 'Bob met ada.', 'Nobody else.'],
  )
  t.strictSame(output, { chunks, vectors, entities: [], triples: [] })
  t.notOk('vectors' in (await run({ extractor })))
})

t.test('an embedder gives each entity the vector of its name and definition', async (t) => {
  const asked: string[] = []
  const embedder = (texts: readonly string[]) => {
    asked.push(...texts)
    return texts.map(({ length }) => [length])
  }
  const found = { entities: [{ name: 'Ada' }, { name: 'Bob', definition: 'A man.' }], triples: [] }
  const { entities } = await run({ extractor: answers(found, nothing, nothing), embedder })
  t.strictSame(asked, ['Ada', 'Bob: A man.'])
  t.strictSame(
    entities.map(({ vector }) => vector),
    [[3], [11]],
  )
})

t.test('chunks are under way side by side up to the limit, and told in order', async (t) => {
  for (const [concurrency, expected] of [
    [1, 1],
    [2, 2],
    [9, 3],
  ] as const) {
    let [active, most] = [0, 0]
    const told: number[][] = []
    const extractor: Extractor = async ({ index }) => {
      most = Math.max(most, ++active)
      // The first ends last.
      await setTimeout(20 - index * 8)
      active--
      return names(`n${index}`)
    }
    const progress = (...numbers: number[]) => told.push(numbers)
    const { entities } = await run({ extractor, concurrency }, { progress })
    t.equal(most, expected)
    t.strictSame(told, [
      [1, 3],
      [2, 3],
      [3, 3],
    ])
    t.strictSame(
      entities.map(({ name }) => name),
      ['n0', 'n1', 'n2'],
    )
  }
})

t.test('a failure aborts the other chunks under way, and no further one begins', async (t) => {
  const begun: number[] = []
  let aborted: unknown
  const extractor: Extractor = async ({ index }, { signal }) => {
    begun.push(index)
    if (index === 1) throw new RangeError('no')
    signal.addEventListener('abort', () => (aborted = signal.reason))
    await setTimeout(20)
    return nothing
  }
  await t.rejects(run({ extractor, concurrency: 2 }), RangeError)
  t.type(aborted, RangeError)
  await setTimeout(40)
  t.strictSame(begun, [0, 1])
})

t.test('once the signal is aborted, no chunk is begun and no answer is taken', async (t) => {
  const abort = new AbortController()
  const begun: number[] = []
  const extractor: Extractor = ({ index }) => {
    begun.push(index)
    if (index === 2) abort.abort(new RangeError('stop'))
    return nothing
  }
  await t.rejects(run({ extractor, concurrency: 1 }, { signal: abort.signal }), RangeError)
  t.strictSame(begun, [0, 1, 2])
  await t.rejects(run({ extractor }, { signal: abort.signal }), RangeError)
  t.strictSame(begun, [0, 1, 2])
})

t.test('between chunks of an extractor that only computes, others get their turn', async (t) => {
  let turns = 0
  const count = () => {
    turns++
    immediate = setImmediate(count)
  }
  let immediate = setImmediate(count)
  t.teardown(() => clearImmediate(immediate))
  const seen: number[] = []
  await run({ extractor: () => nothing, concurrency: 1 }, { progress: () => void seen.push(turns) })
  t.equal(new Set(seen).size, 3, seen.join(', '))
})

t.test('the offline extractor is the default', async (t) => {
  const { entities } = await run({})
  t.ok(entities.some(({ name, chunks }) => name === 'Bob' && chunks.includes(0)))
})

const ada = { v: 'urn:ada', e: true }
const bad: Readonly<Record<string, [answer: unknown, path: string]>> = {
  nothing: [undefined, ''],
  'a list': [[], ''],
  'no entities': [{ triples: [] }, 'entities'],
  'no triples': [{ entities: [] }, 'triples'],
  'an entity that is a string': [{ ...nothing, entities: ['Ada'] }, 'entities[0]'],
  'an empty name': [names('Ada', ' \n'), 'entities[1].name'],
  'half of a surrogate pair': [names('\ud83d'), 'entities[0].name'],
  'a name of 1,001 characters': [names('a'.repeat(1001)), 'entities[0].name'],
  'a definition that is no string': [
    { ...nothing, entities: [{ name: 'Ada', definition: null }] },
    'entities[0].definition',
  ],
  'too many entities': [
    { ...nothing, entities: Array.from({ length: 5001 }, () => ({ name: 'a' })) },
    'entities',
  ],
  'a triple without an object': [{ ...nothing, triples: [{ s: ada, p: ada }] }, 'triples[0].o'],
  'a term that is a string': [
    { ...nothing, triples: [{ s: 'Ada', p: ada, o: ada }] },
    'triples[0].s',
  ],
  'an empty URI': [
    { ...nothing, triples: [{ s: ada, p: { v: '', e: true }, o: ada }] },
    'triples[0].p.v',
  ],
  'a broken literal': [
    { ...nothing, triples: [{ s: ada, p: ada, o: { v: '\udc00', e: false } }] },
    'triples[0].o.v',
  ],
  'a language that is none': [
    { ...nothing, triples: [{ s: ada, p: ada, o: { v: 'x', e: false, ln: 'en_GB' } }] },
    'triples[0].o.ln',
  ],
  'an empty graph': [{ ...nothing, triples: [{ s: ada, p: ada, o: ada, g: '' }] }, 'triples[0].g'],
}
for (const [what, [answer, path]] of Object.entries(bad)) {
  t.test(`an extractor may not return ${what}`, async (t) => {
    await t.rejects(run({ extractor: answers(nothing, answer, nothing) }), {
      code: 'LK_STEP_OUTPUT',
      details: { chunk: 1, errors: [{ path }] },
    })
  })
}

t.test('what is at the limits of an extraction is taken', async (t) => {
  const entities = Array.from({ length: 5000 }, () => ({ name: 'a'.repeat(1000), definition: '' }))
  const empty = { s: ada, p: ada, o: { v: '', e: false } }
  const found = await run({
    extractor: answers({ entities, triples: [empty] }, nothing, nothing),
  })
  t.strictSame([found.entities.length, found.triples], [1, [empty]])
})

t.test('triples that differ in datatype, language or graph alone are several', async (t) => {
  const o = { v: '1', e: false }
  const plain = { s: ada, p: ada, o }
  const triples = [
    plain,
    { ...plain, o: { ...o, dt: 'urn:int' } },
    { ...plain, o: { ...o, ln: 'en' } },
    { ...plain, g: 'urn:g' },
  ]
  const found = await run({ extractor: answers({ entities: [], triples }, nothing, nothing) })
  t.strictSame(found.triples, triples)
})

t.test('an input that is not of chunks of the document is refused', async (t) => {
  for (const input of [null, {}, { chunks: [{ index: 0, start: 0, end: 1000 }] }]) {
    await t.rejects(run({}, {}, input), { code: 'LK_STEP_INPUT' })
  }
})

t.test('wrong options are the programmer’s mistake', async (t) => {
  const make = (options: unknown) => () => extract(options as ExtractOptions)
  t.throws(make({ extractor: 'offline' }), TypeError)
  t.throws(make({ embedder: {} }), TypeError)
  t.throws(make({ base: 'no uri' }), TypeError)
  t.throws(make({ concurrency: 0 }), TypeError)
  t.throws(make({ concurrency: 1.5 }), TypeError)
})
