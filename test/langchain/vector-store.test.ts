// After the published lists for vector stores (LangChain's VectorStoreIntegrationTests, Mastra's suite of stores),
// with the real package, over stores in process and of a server.

import { inspect } from 'node:util'
import { Document, type DocumentInterface } from '@langchain/core/documents'
import t, { type Test } from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { LorekeepVectorStore } from '../../src/langchain/index.js'
import type { MetadataFilter } from '../../src/langchain/index.js'
import { createLorekeep } from '../../src/lorekeep.js'
import { doors, GivenEmbeddings, WordEmbeddings } from './fixtures.js'

const texts = ['the cat sat on the mat', 'the dog ran in the park', 'stocks fell in the city']

function documentsOf(count = texts.length): Document[] {
  return texts.slice(0, count).map((pageContent, n) => {
    return new Document({ id: String(n), pageContent, metadata: { n, source: `${n}.txt` } })
  })
}

/** The text, metadata and id, as plain objects. */
function plain(documents: readonly DocumentInterface[]) {
  return documents.map(({ id, pageContent, metadata }) => ({ id, pageContent, metadata }))
}

for (const [door, open] of Object.entries(doors)) {
  const on = async (t: Test) => {
    const { knowledge, lorekeep } = await open(t)
    const embeddings = new WordEmbeddings()
    const store = new LorekeepVectorStore(embeddings, { knowledge, user: 'alice' })
    return { knowledge, lorekeep, embeddings, store }
  }

  t.test(`${door}: an empty store finds nothing`, async (t) => {
    const { store } = await on(t)
    t.equal(store._vectorstoreType(), 'lorekeep')
    t.strictSame(await store.similaritySearch('cat', 1), [])
    t.strictSame(await store.maxMarginalRelevanceSearch('cat', { k: 2 }), [])
    t.strictSame(await store.getByIds(['1', '2']), [])
    await store.delete({ ids: ['1'] })
    await store.delete({ deleteAll: true })
    t.strictSame(await store.addDocuments([]), [])
    t.strictSame(await store.addVectors([], []), [])
  })

  t.test(`${door}: what is added is found, and not changed`, async (t) => {
    const { store } = await on(t)
    const given = documentsOf()
    t.strictSame(await store.addDocuments(given), ['0', '1', '2'])
    t.strictSame(plain(given), plain(documentsOf()))
    const found = await store.similaritySearch('a cat on a mat', 1)
    t.strictSame(plain(found), plain(documentsOf(1)))
    t.ok(found[0] instanceof Document)
    t.equal((await store.similaritySearch('cat', 10)).length, 3)
    t.strictSame(await store.similaritySearch('cat', 0), [])
  })

  t.test(`${door}: without an id each gets one of its own`, async (t) => {
    const { store } = await on(t)
    const bare = texts.map((pageContent) => ({ pageContent, metadata: {} }))
    const ids = await store.addDocuments(bare)
    t.equal(new Set(ids).size, 3)
    t.strictSame(
      plain(await store.getByIds(ids)),
      bare.map((document, n) => ({ id: ids[n], ...document })),
    )
    const again = await store.addDocuments(bare)
    t.equal(new Set([...ids, ...again]).size, 6)
  })

  t.test(`${door}: one id is one document`, async (t) => {
    const { store } = await on(t)
    const ids = ['a', 'b', 'c']
    t.strictSame(await store.addDocuments(documentsOf(), { ids }), ids)
    await store.addDocuments(documentsOf(), { ids })
    t.equal((await store.similaritySearch('cat', 10)).length, 3)
    const changed = { pageContent: 'a new text of owls', metadata: { is: 'new' } }
    await store.addDocuments([changed], { ids: ['b'] })
    t.strictSame(plain(await store.getByIds(['b'])), [{ id: 'b', ...changed }])
    t.strictSame(plain(await store.similaritySearch('owls', 1)), [{ id: 'b', ...changed }])
    t.equal((await store.similaritySearch('dog park', 10)).length, 3)
    const [, score] = (await store.similaritySearchWithScore('a new text of owls', 1))[0] ?? []
    t.ok((score ?? 0) > 0.999)
  })

  t.test(`${door}: of an id that comes twice in one call the last stays`, async (t) => {
    const { store, embeddings } = await on(t)
    const twice = await store.addDocuments(documentsOf(), { ids: ['a', 'b', 'a'] })
    t.strictSame(twice, ['a', 'b', 'a'])
    t.strictSame(embeddings.batches, [2])
    t.strictSame(
      (await store.getByIds(['a'])).map(({ pageContent }) => pageContent),
      [texts[2]],
    )
    await store.addVectors(
      [
        [1, 0],
        [0, 1],
        [1, 1],
      ].map((v) => [...v, ...Array<number>(62).fill(0)]),
      documentsOf(),
      {
        ids: ['b', 'b', 'b'],
      },
    )
    t.strictSame(
      (await store.getByIds(['b', 'b'])).map(({ pageContent }) => pageContent),
      [texts[2], texts[2]],
    )
  })

  t.test(`${door}: documents are got by their ids, in their order`, async (t) => {
    const { store } = await on(t)
    await store.addDocuments(documentsOf())
    const found = await store.getByIds(['2', 'none', '0'])
    t.strictSame(
      found.map(({ id }) => id),
      ['2', '0'],
    )
  })

  t.test(`${door}: what is deleted is gone, one, several, and what was not there`, async (t) => {
    const { store, knowledge } = await on(t)
    await store.addDocuments(documentsOf())
    await store.delete({ ids: ['2'] })
    t.strictSame(idsOf(await store.similaritySearch('stocks', 10)), ['0', '1'])
    await store.delete({ ids: ['none', '2', '0', '0'] })
    t.strictSame(idsOf(await store.similaritySearch('cat', 10)), ['1'])
    await store.delete({ ids: [] })
    await store.addDocuments(documentsOf())
    await store.delete({ deleteAll: true })
    t.strictSame(await store.similaritySearch('cat', 10), [])
    t.strictSame((await knowledge.corePage({ user: 'alice' })).cores, [])
  })

  t.test(`${door}: an id that is too long for the name of a core is refused in time`, async (t) => {
    const { store, knowledge, embeddings } = await on(t)
    const [long, longest] = ['ü'.repeat(200), 'a'.repeat(988)]
    const wrong = store.addDocuments(documentsOf(), { ids: ['a', 'b', long] })
    await t.rejects(wrong, {
      code: 'LK_DOCUMENT_INVALID',
      details: { errors: [{ path: 'documents[2].id' }] },
    })
    t.strictSame(embeddings.batches, [])
    t.strictSame((await knowledge.corePage({ user: 'alice' })).cores, [])
    await store.addDocuments(documentsOf(2), { ids: ['a', longest] })
    t.strictSame(idsOf(await store.getByIds([long, longest])), [longest])
    await store.delete({ ids: [long, `${longest}b`, longest] })
    t.strictSame(idsOf(await store.getByIds(['a', long, longest])), ['a'])
  })

  t.test(`${door}: scores are cosines`, async (t) => {
    const { knowledge } = await open(t)
    const embeddings = new GivenEmbeddings(() => [])
    const store = new LorekeepVectorStore(embeddings, { knowledge, user: 'alice' })
    const vectors = [
      [2, 0],
      [0, 3],
      [-1, 0],
      [1, 1],
      [0, 0],
    ]
    const documents = vectors.map((_, n) => ({ pageContent: `${n}`, metadata: {} }))
    await store.addVectors(vectors, documents)
    const found = await store.similaritySearchVectorWithScore([1, 0], 5)
    const scores = found.map(([, score]) => score)
    t.strictSame(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    // Two have one score, and no order.
    const byText = found.toSorted(
      ([a, x], [b, y]) => y - x || Number(a.pageContent) - Number(b.pageContent),
    )
    t.strictSame(
      byText.map(([{ pageContent }, score]) => [pageContent, Number(score.toFixed(3))]),
      [
        ['0', 1],
        ['3', 0.707],
        ['1', 0],
        ['4', 0],
        ['2', -1],
      ],
    )
  })

  t.test(`${door}: MMR takes what is near and unlike`, async (t) => {
    const { knowledge } = await open(t)
    const store = new LorekeepVectorStore(new GivenEmbeddings(() => [[1, 0, 0]]), {
      knowledge,
      user: 'alice',
    })
    const vectors = [
      [1, 0.01, 0],
      [1, 0.02, 0],
      [0.8, -0.6, 0],
      [0, 0, 1],
    ]
    await store.addVectors(
      vectors,
      vectors.map((_, n) => ({ pageContent: `${n}`, metadata: { n } })),
    )
    const texts = async (options: object) =>
      (await store.maxMarginalRelevanceSearch('', { k: 2, ...options })).map(
        (one) => one.pageContent,
      )
    t.strictSame(await texts({ lambda: 1 }), ['0', '1'])
    t.strictSame(await texts({ lambda: 0.5 }), ['0', '2'])
    t.strictSame(await texts({ fetchK: 2, lambda: 0.5 }), ['0', '1'])
    t.strictSame(await texts({ k: 1, filter: { n: { $gt: 1 } } }), ['2'])
    const retriever = store.asRetriever({ searchType: 'mmr', k: 2, searchKwargs: { fetchK: 3 } })
    t.strictSame(
      (await retriever.invoke('')).map((one) => one.pageContent),
      ['0', '2'],
    )
  })

  t.test(`${door}: filters`, async (t) => {
    const { store } = await on(t)
    const day = (n: number) => new Date(Date.UTC(2024, 0, n))
    const metadatas: Record<string, unknown>[] = [
      { kind: 'a', year: 1990, draft: true, tags: ['x', 'y'], loc: { page: 1 }, at: day(1) },
      { kind: 'b', year: 2000.5, draft: false, tags: ['y'], loc: { page: 2 }, at: day(2) },
      { kind: 'a', year: 2010, draft: null, tags: [], 'a.b': 'dotted', at: day(3) },
      { kind: '2010', 'a b/ü?#%': 'odd', __proto__: null, a: { b: 'nested' } },
    ]
    const documents = metadatas.map(
      (metadata, n) => new Document({ id: `${n}`, pageContent: `same text`, metadata }),
    )
    await store.addDocuments(documents)
    const kinds = (count: number) =>
      Array.from({ length: count }, (_, n) => ({ kind: String(2010 + n) }))
    const times = (count: number, filter: MetadataFilter) =>
      Array.from({ length: count }, () => filter)
    // 1,000: itself, 47 times 21, and 12.
    const parts = {
      $or: times(47, { $and: times(10, { kind: 'a' }) }),
      $and: times(6, { kind: 'a' }),
    }
    const cases: readonly (readonly [MetadataFilter, string])[] = [
      [{}, '0123'],
      [{ kind: 'a' }, '02'],
      [{ kind: 'none' }, ''],
      [{ nothing: 'a' }, ''],
      [{ year: 2010 }, '2'],
      [{ kind: 'a', year: 1990 }, '0'],
      [{ year: { $gte: 1990, $lt: 2010 } }, '01'],
      [{ year: { $gt: 2000 } }, '12'],
      [{ kind: { $gt: '3' } }, '012'],
      [{ kind: { $in: ['b', '2010'] } }, '13'],
      [{ kind: { $in: [] } }, ''],
      [{ kind: { $in: ['a', 'b'] }, tags: { $in: ['x', 'y'] } }, '01'],
      [{ kind: { $eq: 'b' } }, '1'],
      [{ draft: true }, '0'],
      [{ draft: null }, '2'],
      [{ draft: 'true' }, ''],
      [{ tags: 'y' }, '01'],
      [{ 'loc.page': 2 }, '1'],
      [{ loc: { page: { $lte: 1 } } }, '0'],
      [{ at: day(2) }, '1'],
      [{ at: { $gte: day(2) } }, '12'],
      [{ 'a.b': 'nested' }, '3'],
      [{ 'a b/ü?#%': 'odd' }, '3'],
      [{ source: '0' }, ''],
      [{ $or: [{ kind: 'b' }, { year: { $lt: 2000 } }] }, '01'],
      [{ $or: [{ kind: 'a' }, { tags: 'y' }, { tags: 'x' }] }, '012'],
      [{ kind: 'a', $or: [{ tags: 'x' }, { draft: null }] }, '02'],
      [{ $or: [{ kind: 'none' }, { kind: 'a', year: 2010 }] }, '2'],
      [{ $and: [{ tags: 'x' }, { tags: 'y' }] }, '0'],
      [{ $and: [{ year: { $gt: 1990 } }, { $or: [{ draft: false }, { draft: null }] }] }, '12'],
      [{ $and: [{ $or: [{ kind: 'a' }, { kind: 'b' }] }, { $or: [{ year: 1990 }, {}] }] }, '012'],
      [parts, '02'],
      // 100 combinations.
      [{ $and: [{ $or: kinds(10) }, { $or: kinds(10) }] }, '3'],
    ]
    for (const [filter, expected] of cases) {
      const found = await store.similaritySearch('text', 10, filter)
      t.equal(idsOf(found).sort().join(''), expected, JSON.stringify(filter))
    }
    t.strictSame(idsOf(await store.asRetriever({ k: 1, filter: { kind: 'b' } }).invoke('text')), [
      '1',
    ])
    const itself: Record<string, unknown> = {}
    itself['$and'] = [itself, itself]
    const own: Record<string, unknown> = {}
    own['a'] = own
    for (const wrong of [
      'kind',
      { kind: undefined },
      { kind: Number.NaN },
      { kind: { $ne: 'a' } },
      { kind: { $in: 'a' } },
      { kind: { $gt: true } },
      { kind: { $gt: 1, $lt: undefined } },
      { $or: [] },
      { $or: { kind: 'a' } },
      { $or: [{ kind: 'a' }, 'b'] },
      { $and: [{ kind: { $ne: 'a' } }] },
      { $nor: [{ kind: 'a' }] },
      { $not: { kind: 'a' } },
      { $eq: 'a' },
      { kind: { $or: ['a', 'b'] } },
      { $or: kinds(101) },
      { $and: [{ $or: kinds(11) }, { $or: kinds(10) }] },
      { ...parts, draft: null },
      itself,
      own,
      { kind: ['a'] },
      { kind: () => true },
      { kind: { $in: Array.from({ length: 101 }, String) } },
    ]) {
      const asked = store.similaritySearch('text', 1, wrong as never)
      await t.rejects(asked, { code: 'LK_GRAPH_QUERY', details: { errors: [{}] } }, inspect(wrong))
    }
    await t.rejects(store.similaritySearch('text', 1, { kind: { $gt: 1, $lt: 'a' } }), {
      code: 'LK_GRAPH_QUERY',
    })
  })

  t.test(
    `${door}: metadata of any kind come back, or are refused before anything is stored`,
    async (t) => {
      const { store } = await on(t)
      const odd = JSON.parse('{"__proto__":{"polluted":1},"constructor":2,"":3}') as object
      const metadata = {
        ...{
          undefined_: undefined,
          list: [1, [2, { a: null }], undefined],
          deep: { a: { b: [] } },
        },
        ...{
          when: new Date(0),
          url: new URL('https://example.com/'),
          text: 'a\ud800b',
          big: 1e300,
        },
        ...{ minus: -0, odd },
      }
      await store.addDocuments([{ pageContent: 'x', metadata }], { ids: ['1'] })
      const [found] = await store.getByIds(['1'])
      t.strictSame(JSON.stringify(found?.metadata), JSON.stringify(metadata))
      t.ok(Object.hasOwn(found?.metadata['odd'] as object, '__proto__'))
      t.equal(({} as { polluted?: number }).polluted, undefined)
      const circular: { self?: object } = {}
      circular.self = circular
      for (const value of [
        ...[
          Number.NaN,
          Infinity,
          1n,
          Symbol('s'),
          () => 1,
          new Map(),
          new Date(Number.NaN),
          circular,
        ],
        Array.from({ length: 1001 }, (_, n) => n),
      ]) {
        const documents = [
          { id: 'good', pageContent: 'good', metadata: {} },
          { id: 'bad', pageContent: 'bad', metadata: { a: { b: value } } },
        ]
        const error = (await store.addDocuments(documents).catch((error: unknown) => error)) as {
          details: { errors: { path: string }[] }
        }
        t.match(error, { code: 'LK_DOCUMENT_INVALID' }, String(value))
        t.match(error.details.errors[0]?.path, /^documents\[1\]\.metadata/)
      }
      for (const document of [
        undefined,
        {},
        { pageContent: 7 },
        { pageContent: 'a', metadata: [] },
      ]) {
        await t.rejects(store.addDocuments([document as never]), { code: 'LK_DOCUMENT_INVALID' })
      }
      t.strictSame(await store.getByIds(['good']), [])
      t.equal((await store.similaritySearch('x', 10)).length, 1)
    },
  )

  t.test(`${door}: texts of any kind come back`, async (t) => {
    const { store } = await on(t)
    const odd = [
      '',
      ' ',
      '\u0000',
      'half \ud83d',
      '\ude00 half',
      '"}',
      'x'.repeat(200_000),
      'ملاحظة 日本',
    ]
    await store.addDocuments(
      odd.map((pageContent) => ({ pageContent, metadata: {} })),
      {
        ids: odd.map((_, n) => `id/${n} ü?#%\u0000`),
      },
    )
    const found = await store.getByIds(odd.map((_, n) => `id/${n} ü?#%\u0000`))
    t.strictSame(
      found.map(({ pageContent }) => pageContent),
      odd,
    )
  })

  t.test(`${door}: two stores in one library see their own alone`, async (t) => {
    const { knowledge } = await open(t)
    const options = { knowledge, user: 'alice' }
    const make = (more: object) =>
      new LorekeepVectorStore(new WordEmbeddings(), { ...options, ...more })
    const [one, two, bob] = [make({}), make({ collection: 'langchain:x' }), make({ user: 'bob' })]
    for (const store of [one, two, bob])
      await store.addDocuments(documentsOf(store === one ? 3 : 2))
    t.equal((await one.similaritySearch('cat', 10)).length, 3)
    await two.addDocuments([{ id: '0', pageContent: 'other', metadata: {} }])
    t.strictSame(
      (await one.getByIds(['0'])).map(({ pageContent }) => pageContent),
      [texts[0]],
    )
    await one.delete({ deleteAll: true })
    t.equal((await two.similaritySearch('cat', 10)).length, 2)
    t.equal((await bob.similaritySearch('cat', 10)).length, 2)
    t.strictSame(await one.similaritySearch('cat', 10), [])
    // Another object of one store has the same.
    t.equal((await make({ user: 'bob' }).similaritySearch('cat', 10)).length, 2)
  })

  t.test(`${door}: what others say in the collection is no document of the store`, async (t) => {
    const { store, lorekeep } = await on(t)
    await store.addDocuments(documentsOf(1))
    const e = { v: 'urn:other', e: true }
    const m = { i: '', u: '', m: [], c: 'langchain' }
    const v = [Array.from({ length: 64 }, (_, n) => n)]
    await lorekeep.knowledge.write({ user: 'alice', id: 'other' }, [['ge', { m, e: [{ e, v }] }]])
    const found = await store.similaritySearchVectorWithScore(v[0] as number[], 10)
    t.strictSame(
      found.map(([{ id }]) => id),
      ['0'],
    )
  })

  t.test(`${door}: vectors that cannot be are refused`, async (t) => {
    const { knowledge } = await open(t)
    const storeOf = (give: (texts: readonly string[]) => unknown) =>
      new LorekeepVectorStore(new GivenEmbeddings(give), { knowledge, user: 'alice' })
    for (const give of [
      () => [],
      (texts: readonly string[]) => [...texts, ''].map(() => [1, 2]),
      (texts: readonly string[]) => texts.map(() => []),
      (texts: readonly string[]) => texts.map(() => [1, Number.NaN]),
      (texts: readonly string[]) => texts.map((_, n) => Array<number>(n + 1).fill(1)),
      () => 'none',
    ]) {
      await t.rejects(storeOf(give).addDocuments(documentsOf()), { code: 'LK_STEP_OUTPUT' })
    }
    await t.rejects(storeOf(() => [[Number.NaN]]).similaritySearch('x'), { code: 'LK_STEP_OUTPUT' })
    const store = storeOf((texts) => texts.map(() => [1, 2, 3]))
    t.strictSame(await store.similaritySearch('x'), [])
    await store.addDocuments(documentsOf())
    await t.rejects(store.addVectors([[1, 2]], documentsOf(1)), { code: 'LK_STEP_OUTPUT' })
    // A store that is opened with another model, too, for which nothing would be found.
    const other = storeOf((texts) => texts.map(() => [1, 2]))
    await t.rejects(other.similaritySearch('x'), { code: 'LK_STEP_OUTPUT' })
    await t.rejects(other.addDocuments(documentsOf(1)), { code: 'LK_STEP_OUTPUT' })
    await store.delete({ deleteAll: true })
    await store.addVectors([[1, 2]], documentsOf(1))
    t.equal((await other.similaritySearch('x')).length, 1)
  })

  t.test(`${door}: an abort ends what is not stored yet`, async (t) => {
    const { knowledge } = await open(t)
    const controller = new AbortController()
    let calls = 0
    const embeddings = new GivenEmbeddings((texts) => {
      if (++calls === 2) controller.abort(new Error('enough'))
      return texts.map(() => [1, 2])
    })
    const store = new LorekeepVectorStore(embeddings, { knowledge, user: 'alice', batch: 1 })
    const adding = store.addDocuments(documentsOf(), { signal: controller.signal })
    await t.rejects(adding, { message: 'enough' })
    t.equal(calls, 2)
    t.strictSame(idsOf(await store.getByIds(['0', '1', '2'])), ['0'])
    const late = store.addVectors([[1, 2]], documentsOf(1), { signal: AbortSignal.abort() })
    await t.rejects(late, { name: 'AbortError' })
  })

  t.test(`${door}: what it holds is found by words, with its source`, async (t) => {
    const { store, knowledge } = await on(t)
    const metadata = { title: 'Of pets', source: 'pets and others.txt' }
    await store.addDocuments([{ id: '1', pageContent: 'The hamster is nocturnal.', metadata }])
    const { sources } = await knowledge
      .graph({ user: 'alice' })
      .retrieve({ text: 'When is a hamster awake?' })
    t.match(sources, [
      {
        text: 'The hamster is nocturnal.',
        title: 'Of pets',
        document: { v: 'urn:lorekeep:source:pets%20and%20others.txt' },
      },
    ])
  })
}

t.test('texts come to the embeddings some at a time, and none is held longer', async (t) => {
  const { knowledge } = await doors['in process']!(t)
  const embeddings = new WordEmbeddings()
  const store = new LorekeepVectorStore(embeddings, { knowledge, user: 'alice', batch: 50 })
  const many = Array.from({ length: 220 }, (_, n) => ({
    id: `${n}`,
    pageContent: `text ${n}`,
    metadata: { n },
  }))
  await store.addDocuments(many)
  t.strictSame(embeddings.batches, [50, 50, 50, 50, 20])
  t.equal((await store.similaritySearch('text', 1000)).length, 220)
  t.equal((await store.similaritySearch('text', 10, { n: { $gte: 100 } })).length, 10)
})

t.test('what was added is there after the process has ended', async (t) => {
  const directory = t.testdir()
  const opened = async () => {
    const keep = await createLorekeep({ backend: new LevelBackend(directory) })
    const options = { knowledge: keep.knowledge, user: 'alice' }
    return { keep, store: new LorekeepVectorStore(new WordEmbeddings(), options) }
  }
  const first = await opened()
  await first.store.addDocuments(documentsOf())
  await first.keep.close()
  const { keep, store } = await opened()
  t.strictSame(plain(await store.similaritySearch('cat mat', 1)), plain(documentsOf(1)))
  await keep.close()
})

t.test('a store is made of texts, or of documents', async (t) => {
  const { knowledge } = await doors['in process']!(t)
  const options = { knowledge, user: 'alice' }
  const embeddings = new WordEmbeddings()
  const one = await LorekeepVectorStore.fromTexts(
    texts,
    [{ n: 0 }, { n: 1 }, { n: 2 }],
    embeddings,
    options,
  )
  t.match(await one.similaritySearch('dog park', 1), [
    { pageContent: texts[1], metadata: { n: 1 } },
  ])
  const other = { ...options, collection: 'b' }
  const same = await LorekeepVectorStore.fromTexts(texts, { all: true }, embeddings, other)
  t.match(await same.similaritySearch('dog park', 1), [{ metadata: { all: true } }])
  const whole = { ...options, collection: 'c' }
  const two = await LorekeepVectorStore.fromDocuments(documentsOf(), embeddings, whole)
  t.equal((await two.similaritySearch('dog park', 10)).length, 3)
})

t.test('arguments that cannot be are TypeErrors', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge } = keep
  const make = (options: object) => new LorekeepVectorStore(new WordEmbeddings(), options as never)
  for (const wrong of [{}, { knowledge }, { knowledge, user: '' }, { knowledge: {}, user: 'a' }]) {
    t.throws(() => make(wrong), TypeError)
  }
  for (const more of [{ k: 1 }, { batch: 0 }, { collection: '' }]) {
    t.throws(() => make({ knowledge, user: 'alice', ...more }), TypeError)
  }
  const store = make({ knowledge, user: 'alice' })
  for (const wrong of [
    undefined,
    {},
    { id: ['1'] },
    { ids: '1' },
    { ids: [''] },
    { ids: [], deleteAll: true },
  ]) {
    await t.rejects(store.delete(wrong as never), TypeError, JSON.stringify(wrong))
  }
  for (const wrong of [
    { ids: ['1'] },
    { ids: ['1', '2', ''] },
    { ids: ['1', '2', '\ud800'] },
    { upsert: true },
  ]) {
    await t.rejects(
      store.addDocuments(documentsOf(), wrong as never),
      TypeError,
      JSON.stringify(wrong),
    )
  }
  await t.rejects(store.addVectors([[1]], []), TypeError)
  await t.rejects(store.similaritySearch('x', -1), TypeError)
  await t.rejects(store.getByIds('1' as never), TypeError)
  t.notMatch(JSON.stringify(store), /alice/)
})

t.test('a question of an empty store settles no length of vectors', async (t) => {
  const { knowledge } = await (doors['in process'] as NonNullable<(typeof doors)[string]>)(t)
  const storeOf = (length: number) =>
    new LorekeepVectorStore(
      new GivenEmbeddings((texts) => texts.map(() => Array<number>(length).fill(1))),
      { knowledge, user: 'alice' },
    )
  const [three, two] = [storeOf(3), storeOf(2)]
  t.strictSame(await three.similaritySearch('cat', 1), [])
  await two.addDocuments(documentsOf(1))
  await t.rejects(three.addDocuments(documentsOf()), { code: 'LK_STEP_OUTPUT' })
  await two.delete({ deleteAll: true })
  await three.addDocuments(documentsOf(1))
  await t.rejects(two.addDocuments(documentsOf()), { code: 'LK_STEP_OUTPUT' })
})

function idsOf(documents: readonly DocumentInterface[]): string[] {
  return documents.map(({ id }) => id as string)
}
