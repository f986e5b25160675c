import t from 'tap'
import { vocabulary, documentUri, chunkUri } from '../../../src/flow/steps/vocabulary.js'
import { store } from '../../../src/flow/steps/store.js'
import { maxMessageWeight, weightOf } from '../../../src/message-weight.js'
import { longest } from '../../../src/turns.js'
import type { CoreMessage, Term, Triple } from '../../../src/types.js'
import { exported } from '../../fixtures/stores.js'
import { countTurns } from '../../fixtures/turns.js'
import {
  contextOf,
  documentOf,
  knowledgeOf,
  literal,
  messagesOf,
  openMemory,
  triplesOf,
  uri,
} from './knowledge.js'

const base = 'http://trustgraph.ai/'

/** The objects of a subject and predicate. */
function objects(triples: readonly Triple[], subject: string, predicate: string): string[] {
  return triples.filter(({ s, p }) => s.v === subject && p.v === predicate).map(({ o }) => o.v)
}

/** The one object of a subject and predicate. */
function one(triples: readonly Triple[], subject: string, predicate: string): string {
  const [found, ...others] = objects(triples, subject, predicate)
  if (found === undefined || others.length > 0) throw new Error(`not one ${predicate}`)
  return found
}

t.test(
  'each entity leads to chunks that contain its name, and these to the document',
  async (t) => {
    const keep = await openMemory(t)
    const document = documentOf()
    const knowledge = knowledgeOf(document)
    const output = await store().run(knowledge, contextOf(keep, document))
    t.equal(output, knowledge, 'hands on what it got')

    const triples = await triplesOf(keep, 'alice', document.id)
    const labels = triples.filter(({ p }) => p.v === vocabulary.label)
    t.same(
      labels.map(({ o }) => o),
      [literal('Ada'), literal('Bob'), literal('Oslo')],
    )
    for (const { s, o } of labels) {
      const chunks = objects(triples, s.v, vocabulary.subjectOf)
      t.ok(chunks.length > 0)
      t.same(objects(triples, s.v, vocabulary.wasDerivedFrom), chunks)
      for (const chunk of chunks) {
        const start = Number(one(triples, chunk, vocabulary.beginIndex))
        const end = Number(one(triples, chunk, vocabulary.endIndex))
        t.match(document.text.slice(start, end), o.v)
        t.equal(one(triples, chunk, vocabulary.text), document.text.slice(start, end))
        t.same(objects(triples, chunk, vocabulary.wasDerivedFrom), [document.id])
        t.same(objects(triples, chunk, vocabulary.isPartOf), [document.id])
        t.same(objects(triples, chunk, vocabulary.type), [vocabulary.String])
      }
    }
    const parts = objects(triples, document.id, vocabulary.hasPart)
    t.same(parts, ['urn:letters:1/c0', 'urn:letters:1/c1', 'urn:letters:1/c2'])
    t.same(
      parts.map((part) => one(triples, part, vocabulary.position)),
      ['0', '1', '2'],
    )
    t.same(objects(triples, document.id, vocabulary.type), [vocabulary.DigitalDocument])
    t.same(objects(triples, 'http://trustgraph.ai/e/oslo', vocabulary.definition), ['A city'])
  },
)

t.test('metadata and relations are kept as they are, and no triple comes twice', async (t) => {
  const keep = await openMemory(t)
  const [title] = documentOf().metadata as [Triple]
  const type = { s: title.s, p: uri(vocabulary.type), o: uri(vocabulary.DigitalDocument) }
  const asLiteral = { ...type, o: literal(vocabulary.DigitalDocument) }
  const inGraph = { ...title, g: 'urn:graph:source' }
  const inEnglish = { ...title, o: { ...title.o, ln: 'en' } }
  const metadata = [title, type, asLiteral, title, inGraph, inEnglish]
  const document = documentOf({ metadata })
  const knowledge = knowledgeOf(document)
  const [met] = knowledge.triples as [Triple]
  const triples = [met, title, met]
  await store().run({ ...knowledge, triples }, contextOf(keep, document))

  const stored = await triplesOf(keep, 'alice', document.id)
  const keys = stored.map((triple) => JSON.stringify(triple))
  t.equal(new Set(keys).size, keys.length)
  t.same(stored.slice(0, 5), [title, type, asLiteral, inGraph, inEnglish])
  t.same(stored.at(-1), met)
})

t.test('there is an embedding of each entity and chunk, in doubles', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  await store().run(knowledgeOf(document), contextOf(keep, document))
  const embeddings = embeddingsOf(await messagesOf(keep, 'alice', document.id))
  t.same(
    embeddings.map(({ e, v }) => [e.v, v]),
    [
      ['http://trustgraph.ai/e/ada', [[0, Math.fround(0.1)]]],
      ['http://trustgraph.ai/e/bob', [[1, Math.fround(0.1)]]],
      ['http://trustgraph.ai/e/oslo', [[2, Math.fround(0.1)]]],
      ['urn:letters:1/c0', [[0, 0.5, -1]]],
      ['urn:letters:1/c1', [[1, 0.5, -1]]],
      ['urn:letters:1/c2', [[2, 0.5, -1]]],
    ],
  )

  await store({ chunkEmbeddings: false }).run(knowledgeOf(document), contextOf(keep, document))
  t.equal(embeddingsOf(await messagesOf(keep, 'alice', document.id)).length, 3)
})

t.test('what it writes again is the same bytes, and less replaces more', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  const ref = { user: 'alice', id: document.id }
  await store().run(knowledgeOf(document), contextOf(keep, document))
  const first = await exported(keep.knowledge, ref)
  await store().run(knowledgeOf(document), contextOf(keep, document))
  t.same(await exported(keep.knowledge, ref), first)

  const shorter = documentOf({ text: 'Ada stayed.', metadata: [] })
  await store().run(knowledgeOf(shorter, ['Ada']), contextOf(keep, shorter))
  const triples = await triplesOf(keep, 'alice', document.id)
  t.same(objects(triples, document.id, vocabulary.hasPart), ['urn:letters:1/c0'])
  t.notMatch(JSON.stringify(triples), /oslo|title/)
})

t.test('a large document is many messages, of which the first has the metadata', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf({ text: 'Ada wrote. '.repeat(500) })
  await store().run(knowledgeOf(document, ['Ada']), contextOf(keep, document))
  const messages = await messagesOf(keep, 'alice', document.id)
  t.ok(messages.length > 10)
  for (const [n, [type, data]] of messages.entries()) {
    t.ok((type === 't' ? data.t : data.e).length <= 200)
    const m = n === 0 ? document.metadata : []
    t.same(data.m, { i: document.id, m, u: 'alice', c: 'letters' })
  }
  t.equal(embeddingsOf(messages).length, 501)
})

t.test('a flow may leave out embed and extract', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  const { chunks, vectors } = knowledgeOf(document)
  await store().run({ chunks, vectors }, contextOf(keep, document))
  t.equal(embeddingsOf(await messagesOf(keep, 'alice', document.id)).length, 3)
  await store().run({ chunks }, contextOf(keep, document))
  t.equal(embeddingsOf(await messagesOf(keep, 'alice', document.id)).length, 0)
  const triples = await triplesOf(keep, 'alice', document.id)
  t.equal(objects(triples, document.id, vocabulary.hasPart).length, 3)

  const empty = documentOf({ text: '' })
  await store().run({ chunks: [] }, contextOf(keep, empty))
  t.equal((await triplesOf(keep, 'alice', document.id)).length, 2)
})

t.test('texts are in the language that the metadata say of the document', async (t) => {
  const keep = await openMemory(t)
  const { language, inLanguage, dcLanguage } = vocabulary
  const textsOf = async (id: string, said: readonly (readonly [string, string, Term])[]) => {
    const metadata = said.map(([s, p, o]) => ({ s: uri(s), p: uri(p), o }))
    const document = documentOf({ id, metadata, text: 'Ada stayed.' })
    await store().run(knowledgeOf(document, ['Ada']), contextOf(keep, document))
    const triples = await triplesOf(keep, 'alice', id)
    return triples.filter(({ p }) => p.v === vocabulary.text).map(({ o }) => o)
  }
  const plain = literal('Ada stayed.')
  for (const [said, ln] of [
    [[], undefined],
    [[['urn:x', language, literal('en')]], 'en'],
    [[['urn:x', inLanguage, literal('pt-BR')]], 'pt-BR'],
    [[['urn:x', dcLanguage, literal('eng')]], 'eng'],
    [
      [
        ['urn:x', language, literal('EN')],
        ['urn:x', inLanguage, literal('en')],
      ],
      'en',
    ],
    [
      [
        ['urn:x', language, literal('en')],
        ['urn:x', language, literal('fr')],
      ],
      undefined,
    ],
    [[['urn:other', language, literal('en')]], undefined],
    [[['urn:x', language, uri('en')]], undefined],
    [[['urn:x', language, literal('English')]], undefined],
    [[['urn:x', language, literal('en_GB')]], undefined],
    [[['urn:x', language, literal('')]], undefined],
  ] as const) {
    const expected = ln === undefined ? plain : { ...plain, ln }
    t.strictSame(await textsOf('urn:x', said), [expected], JSON.stringify(said))
  }
  const german = [literal('de')] as const
  for (const s of ['My notes', 'http://trustgraph.ai/d/My%20notes']) {
    const said = [[s, language, ...german]] as const
    t.strictSame(await textsOf('My notes', said), [{ ...plain, ln: 'de' }], s)
  }
})

t.test('the title of a document is its name, said once', async (t) => {
  const keep = await openMemory(t)
  const id = 'urn:letters:1'
  const { name, dctermsTitle, language } = vocabulary
  const said = (p: string, o: Term, s = id) => ({ s: uri(s), p: uri(p), o })
  const english = said(language, literal('en'))
  const letter = literal('A letter')
  const inEnglish = { ...letter, ln: 'en' }
  const inFrench = { ...letter, ln: 'fr' }
  for (const [what, title, metadata, expected] of [
    ['none', undefined, [], []],
    ['given', 'A letter', [], [letter]],
    ['in the language of the document', 'A letter', [english], [inEnglish]],
    ['said by another predicate', 'A letter', [said(dctermsTitle, letter)], [letter]],
    ['and in a language', 'A letter', [english, said(dctermsTitle, inFrench)], [inFrench]],
    ['said', 'A letter', [said(name, letter)], [letter]],
    ['said in a language', 'A letter', [said(name, inFrench)], [inFrench]],
    ['said without the language', 'A letter', [english, said(name, letter)], [letter]],
    ['another one said', 'A letter', [said(name, literal('B'))], [literal('B'), letter]],
    ['said of another', 'A letter', [said(name, letter, 'urn:y')], [letter]],
    ['a URI', 'A letter', [said(name, uri('A letter'))], [uri('A letter'), letter]],
  ] as const) {
    const document = documentOf({ metadata, ...(title !== undefined && { title }) })
    await store().run(knowledgeOf(document), contextOf(keep, document))
    const triples = await triplesOf(keep, 'alice', id)
    const names = triples.filter(({ s, p }) => s.v === id && p.v === name).map(({ o }) => o)
    t.strictSame(names, expected, what)
  }
})

t.test('chunks are in the section of the heading that they stand under', async (t) => {
  const keep = await openMemory(t)
  // A chunk of each sentence, and what follows its stop.
  const text = 'Ada wrote.\n\n# One\n\nBob wrote. Ada read.\n\n## Two\n\nBob left. Ada stayed.'
  const document = documentOf({ text })
  await store().run(knowledgeOf(document), contextOf(keep, document))
  const triples = await triplesOf(keep, 'alice', document.id)
  const sections = objects(triples, document.id, vocabulary.hasPart).map((chunk) => {
    return objects(triples, chunk, vocabulary.articleSection)
  })
  // The second begins with the first heading, and the fourth with the second.
  t.strictSame(sections, [[], ['One'], ['One'], ['Two'], ['Two']])
})

t.test(
  'chunks of files have their pages, and the last of the headings that they begin with',
  async (t) => {
    const keep = await openMemory(t)
    // A chunk of each sentence, and what follows its stop.
    const text = 'Ada wrote.\n\nOne\n\nTwo\n\nBob wrote. Ada read.'
    const headings = ['One', 'Two'].map((heading, n) => {
      const start = text.indexOf(heading)
      return { start, end: start + 3, text: heading, level: n + 1 }
    })
    const chunks = [
      { index: 0, start: 0, end: 10 },
      { index: 1, start: text.indexOf('One'), end: text.indexOf(' Ada read') },
      { index: 2, start: text.indexOf('Ada read'), end: text.length },
    ]
    const pages = [
      { start: text.indexOf('Two'), page: 7 },
      { start: text.indexOf('read'), page: 8 },
    ]
    const document = documentOf({ text, headings, pages })
    await store().run({ chunks }, contextOf(keep, document))
    const triples = await triplesOf(keep, 'alice', document.id)
    const said = objects(triples, document.id, vocabulary.hasPart).map((chunk) => {
      const { articleSection, pageStart, pageEnd } = vocabulary
      return [articleSection, pageStart, pageEnd].map((name) =>
        objects(triples, chunk, name).join(),
      )
    })
    t.strictSame(said, [
      ['', '', ''],
      ['Two', '7', ''],
      ['Two', '7', '8'],
    ])
  },
)

t.test('a text that is longer than a string of a core may be is left out', async (t) => {
  const keep = await openMemory(t)
  const most = 1024 * 1024
  // The owl has two code units and four bytes.
  const text = `${'a'.repeat(most)}${'a'.repeat(most + 1)}é🦉`
  const document = documentOf({ text })
  const ends = [most, 2 * most + 1, text.length - 1, text.length]
  const chunks = ends.map((end, index) => ({ index, start: ends[index - 1] ?? 0, end }))
  await store().run({ chunks }, contextOf(keep, document))
  const triples = await triplesOf(keep, 'alice', document.id)
  const texts = [0, 1, 2, 3].map((n) => objects(triples, `${document.id}/c${n}`, vocabulary.text))
  t.equal(texts[0]?.[0]?.length, most)
  t.strictSame(texts.slice(1), [[], ['é\uFFFD'], ['\uFFFD']], 'and half of a pair is replaced')
})

t.test('an abort leaves the core as it was', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  const ref = { user: 'alice', id: document.id }
  await store().run(knowledgeOf(document), contextOf(keep, document))
  const before = await exported(keep.knowledge, ref)
  const reason = new Error('the lease is lost')
  const signal = AbortSignal.abort(reason)
  const shorter = documentOf({ text: 'Ada stayed.' })
  const run = async () => store().run(knowledgeOf(shorter), contextOf(keep, shorter, { signal }))
  await t.rejects(run(), reason)
  t.same(await exported(keep.knowledge, ref), before)
})

t.test('an input it cannot work on is refused, with the place', async (t) => {
  const keep = await openMemory(t)
  const document = documentOf()
  const good = knowledgeOf(document)
  const [ada] = good.entities
  const [chunk] = good.chunks
  const [met] = good.triples
  for (const [input, path] of [
    [document, 'chunks'],
    [undefined, 'chunks'],
    [{ chunks: 3 }, 'chunks'],
    [{ chunks: [null] }, 'chunks[0].index'],
    [{ chunks: [chunk, chunk] }, 'chunks[1].index'],
    [{ chunks: [{ index: 0, start: 0, end: document.text.length + 1 }] }, 'chunks[0]'],
    [{ chunks: [{ index: 0, start: 2, end: 1 }] }, 'chunks[0]'],
    [{ ...good, vectors: good.vectors?.slice(1) }, 'vectors'],
    [{ ...good, vectors: [1, 2, 3] }, 'vectors[0]'],
    [{ ...good, entities: {} }, 'entities'],
    [{ ...good, entities: [ada, ada] }, 'entities[1].uri'],
    [{ ...good, entities: [{ ...ada, uri: '' }] }, 'entities[0].uri'],
    [{ ...good, entities: [{ ...ada, name: 7 }] }, 'entities[0].name'],
    [{ ...good, entities: [{ ...ada, definition: null }] }, 'entities[0].definition'],
    [{ ...good, entities: [{ ...ada, vector: 'v' }] }, 'entities[0].vector'],
    [{ ...good, entities: [{ ...ada, chunks: undefined }] }, 'entities[0].chunks'],
    [{ ...good, entities: [{ ...ada, chunks: [3] }] }, 'entities[0].chunks'],
    [{ ...good, entities: [{ ...ada, chunks: [1, 0] }] }, 'entities[0].chunks'],
    [{ ...good, triples: [null] }, 'triples[0].s'],
    [{ ...good, triples: [met, { ...met, o: 'bob' }] }, 'triples[1].o'],
    [{ ...good, triples: [{ ...met, o: { v: '1', e: false, dt: 'int' } }] }, 'triples[0].o.dt'],
    [{ ...good, triples: [{ ...met, g: 7 }] }, 'triples[0].g'],
  ] as const) {
    const run = async () => store().run(input as never, contextOf(keep, document))
    const errors = { 0: { path } }
    await t.rejects(run(), { code: 'LK_STEP_INPUT', details: { step: 'store', errors } })
  }
  const input = { vectors: 1, entities: [{ ...ada, name: 7, definition: null }], triples: [{}] }
  const paths = ['vectors', 'chunks', 'entities[0].name', 'entities[0].definition']
  const all = [...paths, 'triples[0].s', 'triples[0].p', 'triples[0].o'].map((path) => ({ path }))
  const run = async () => store().run(input as never, contextOf(keep, document))
  await t.rejects(run(), { code: 'LK_STEP_INPUT', details: { errors: all } }, 'all of it at once')
  t.equal(await keep.knowledge.stat({ user: 'alice', id: document.id }), undefined)
})

t.test('a document id that is a URI is its URI, any other is encoded', async (t) => {
  for (const id of [
    'urn:isbn:9780141439471',
    'https://example.org/a?b=c#d',
    'https://example.org/päivä/%20',
    'tag:example.org,2026:x',
  ]) {
    t.equal(documentUri(id, base), id)
  }
  for (const [id, encoded] of [
    ['notes', 'notes'],
    ['My notes: one', 'My%20notes%3A%20one'],
    ['https://example.org/a b', 'https%3A%2F%2Fexample.org%2Fa%20b'],
    ['x:<y>', 'x%3A%3Cy%3E'],
    ['x:%zz', 'x%3A%25zz'],
    ['x:a#b#c', 'x%3Aa%23b%23c'],
    ['x:', 'x%3A'],
    ['x:\u0085', 'x%3A%C2%85'],
    ['C:\\letters', 'C%3A%5Cletters'],
    ['1:2', '1%3A2'],
  ] as const) {
    t.equal(documentUri(id, base), `http://trustgraph.ai/d/${encoded}`)
  }
  t.equal(chunkUri('https://example.org/a?b#c', 12), 'https://example.org/a?b#c/c12')

  const keep = await openMemory(t)
  const document = documentOf({ id: 'My notes' })
  await store({ base: 'urn:x:' }).run(knowledgeOf(document), contextOf(keep, document))
  const triples = await triplesOf(keep, 'alice', 'My notes')
  t.equal(objects(triples, 'urn:x:d/My%20notes', vocabulary.hasPart)[0], 'urn:x:d/My%20notes/c0')
})

t.test('datatypes, languages and graphs count for what a message holds', async (t) => {
  const keep = await openMemory(t)
  const id = 'urn:letters:1'
  const long = 'x'.repeat(maxMessageWeight / 8)
  const metadata = Array.from({ length: 20 }, (_, n): Triple => {
    const o = n % 2 === 0 ? { v: `${n}`, e: false, dt: `urn:${long}` } : literal(`${n}`)
    return { s: uri(id), p: uri('urn:p'), o, ...(n % 2 === 1 && { g: `urn:${long}` }) }
  })
  const document = documentOf({ id, metadata })
  await store().run(knowledgeOf(document), contextOf(keep, document))
  const messages = (await messagesOf(keep, 'alice', id)).filter(([type]) => type === 't')
  t.ok(messages.length > 2)
  // Without the first one's metadata, which is all of these at once.
  for (const [, data] of messages) {
    const weight = (data as { t: readonly Triple[] }).t.reduce((sum, one) => sum + weightOf(one), 0)
    t.ok(weight <= maxMessageWeight, `${weight}`)
  }
})

t.test('options that cannot be are TypeErrors', async (t) => {
  for (const options of [{ base: 'nowhere' }, { base: 7 }, { chunkEmbeddings: 'no' }]) {
    t.throws(() => store(options as object), TypeError)
  }
})

function embeddingsOf(messages: readonly CoreMessage[]) {
  return messages.flatMap(([type, data]) => (type === 'ge' ? [...data.e] : []))
}

t.test('others have turns while many triples are checked and told once each', async (t) => {
  const { ms } = longest
  t.teardown(() => {
    longest.ms = ms
  })
  const keep = await openMemory(t)
  const document = documentOf()
  const knowledge = knowledgeOf(document)
  // All the same: what is written is no more.
  const triples = new Array<Triple>(5000).fill(knowledge.triples[0] as Triple)
  longest.ms = -1
  const turns = countTurns()
  await store().run({ ...knowledge, triples }, contextOf(keep, document))
  t.ok(turns() >= 10_000)
  const signal = AbortSignal.abort(new Error('enough'))
  const stopped = async () => store().run(knowledge, contextOf(keep, document, { signal }))
  await t.rejects(stopped(), { message: 'enough' })
})
