import t from 'tap'
import { checkRetrieval, type QuestionEmbedder } from '../../../src/graph/retrieve/query.js'
import { retrieve, type RetrieveParts } from '../../../src/graph/retrieve/retrieve.js'
import type { NearEntity, RetrieveQuery, Subgraph } from '../../../src/graph/types.js'
import type { Embedder, Term, Triple } from '../../../src/types.js'
import { passagePredicates, vocabulary } from '../../../src/vocabulary.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { ArrayView } from './array-view.js'

const noEmbedder: QuestionEmbedder = { embed: undefined, isOffline: false }

t.test('the nearest come first, then what they lead to, each triple once', async (t) => {
  const triples = graph('a knows b', 'b knows a', 'b knows c', 'c knows d', 'd knows e', 'x is a')
  const found = await ask({ triples, near: ['b', 'a'] })
  t.strictSame(lines(found), [
    ...['b knows a', 'b knows c', 'a knows b'], // about b
    'x is a', // about a
    'c knows d', // about c, which b leads to
  ])
  t.strictSame(found.entities, nearEntities('b', 'a'))
})

t.test('depth says how far', async (t) => {
  const triples = graph('a to b', 'b to c', 'c to d', 'd to e')
  for (const depth of [0, 1, 2, 3]) {
    const found = await ask({ triples, near: ['a'] }, { depth })
    t.equal(found.triples.length, depth)
  }
})

t.test('a term contributes no more triples in each place than the limit', async (t) => {
  const many = [...Array(40).keys()]
  const places = {
    s: many.map((n) => `hub p${n} x`),
    p: many.map((n) => `x hub o${n}`),
    o: many.map((n) => `s${n} p hub`),
  }
  for (const [place, of] of Object.entries(places)) {
    const parts = { triples: graph(...of), near: ['hub'] }
    t.equal((await ask(parts, { depth: 1 })).triples.length, 30, place)
    t.equal((await ask(parts, { depth: 1, triples: 31 })).triples.length, 31, place)
  }
  const all = await ask({ triples: graph(...Object.values(places).flat()), near: ['hub'] })
  t.strictSame(
    lines(all).slice(0, 90),
    Object.values(places).flatMap((of) => of.slice(0, 30)),
  )
})

t.test('a subgraph has no more triples than the limit', async (t) => {
  const triples = [...Array(1100).keys()].map((n) => edge(`a${n % 40}`, `p${n}`, `b${n}`))
  const near = [...Array(40).keys()].map((n) => `a${n}`)
  t.equal((await ask({ triples, near })).triples.length, 150)
  t.equal((await ask({ triples, near }, { maxTriples: 151 })).triples.length, 151)
  t.equal((await ask({ triples, near }, { maxTriples: 5000 })).triples.length, 1100)
  t.equal((await ask({ triples, near }, { maxTriples: 0 })).triples.length, 0)
})

t.test('no node is asked for twice, and literals not at all', async (t) => {
  const cycle = graph('a to b', 'b to c', 'c to a', 'a to a', 'a to "1990"', 'other to "1990"')
  const view = new ArrayView(cycle)
  const found = await ask({ view, near: ['a', 'a'] }, { depth: 10 })
  t.strictSame(lines(found), ['a to b', 'a to a', 'a to 1990', 'c to a', 'b to c'])
  const subjects = view.asked.filter((pattern) => pattern.endsWith(' * *'))
  t.strictSame(subjects, ['a * *', 'b * *', 'c * *'])
})

t.test('nodes that the limit leaves no place for are not read', async (t) => {
  const triples = [...Array(100).keys()].map((n) => edge(`a${n}`, 'p', `b${n}`))
  const view = new ArrayView(triples)
  const near = [...Array(100).keys()].map((n) => `a${n}`)
  await ask({ view, near }, { maxTriples: 5, entities: 100 })
  t.notOk(view.asked.includes('a50 * *'))

  const names = new ArrayView([label('a', 'Ann'), label(vocabulary.label, 'label')])
  const found = await ask({ view: names, near: [vocabulary.label] })
  t.strictSame(found.labels, { [vocabulary.label]: 'label' })
  t.notOk(names.asked.includes(`* ${vocabulary.label} *`), 'all labels there are')
})

t.test('names are in the language that is preferred, where there is one', async (t) => {
  const triples = [
    label('a', 'Vienna'),
    ...['Wien de', 'Wean de-AT', 'Vienne fr', 'Beč hr'].map((text) => {
      const [v = '', ln = ''] = text.split(' ')
      return { ...label('a', v), o: { v, e: false, ln } }
    }),
  ]
  const named = async (languages?: readonly string[]) =>
    (await ask({ triples, near: ['a'] }, { languages })).labels['a']
  t.equal(await named(), 'Vienna')
  t.equal(await named(['de', 'en']), 'Wien')
  t.equal(await named(['de-at', 'de']), 'Wean')
  t.equal(await named(['en', 'FR']), 'Vienne')
  t.equal(await named(['en']), 'Vienna', 'one without a language before any other')
  t.equal(await named([]), 'Vienna')
  t.equal(await named(['*']), 'Wien')
  const others = triples.slice(1)
  const foreign = await ask({ triples: others, near: ['a'] }, { languages: ['en'] })
  t.equal(foreign.labels['a'], 'Wien', 'the first, where none is wanted more')
  for (const languages of ['de', [7], ['en_GB'], ['']]) {
    const wrong = { vector: [1], languages: languages as string[] }
    await t.rejects(checkRetrieval(wrong, noEmbedder), {
      code: 'LK_GRAPH_QUERY',
      details: { errors: [{ path: 'languages' }] },
    })
  }
})

t.test('labels stand beside the triples of what they name', async (t) => {
  const triples = [
    ...graph('a knows b', 'b lives-in c'),
    label('a', 'Ann'),
    label('a', 'Anna'),
    edge('b', vocabulary.label, 'not-a-literal'),
    label('b', 'Ben'),
    label('knows', 'is acquainted with'),
    label('elsewhere', 'Elsewhere'),
    label('alone', 'Alone'),
  ]
  const { labels, triples: found } = await ask({ triples, near: ['a', 'alone'] })
  t.strictSame(found, triples.slice(0, 2))
  t.strictSame(labels, { a: 'Ann', b: 'Ben', knows: 'is acquainted with', alone: 'Alone' })
})

t.test('a URI may have any name', async (t) => {
  const { labels } = await ask({
    triples: [...graph('__proto__ p constructor'), label('__proto__', 'Proto')],
    near: ['__proto__'],
  })
  t.strictSame(Object.entries(labels), [['__proto__', 'Proto']])
})

t.test('knowledge fills the limits, and bookkeeping does not', async (t) => {
  const passages = [...Array(60).keys()]
  const triples = [
    ...passages.flatMap((n) => passage('book', n)),
    ...passages.map((n) => literal(`c${n}`, vocabulary.text, `Ann said ${n}.`)),
    ...passages.map((n) => literal(`c${n}`, vocabulary.articleSection, 'One')),
    ...passages.flatMap((n) => derived('a', n)),
    ...graph('a quoted-in c0', 'a knows b'),
    edge('a', vocabulary.isPartOf, 'country'),
    edge('a', vocabulary.type, 'Town'),
    literal('a', vocabulary.position, '12'),
    literal('a', vocabulary.text, 'Come back!'),
    ...graph('book writtenBy morris'),
  ]
  const found = await ask({ triples, near: ['a', 'book'] }, { triples: 6 })
  t.strictSame(found.triples, triples.slice(-7))
})

t.test('a hub of bookkeeping is left where too much of it would be read', async (t) => {
  const triples = (many: number) => [
    ...[...Array(many).keys()].map((n) => edge('a', vocabulary.wasDerivedFrom, `c${n}`)),
    ...graph('a knows b'),
  ]
  for (const [many, count] of [[99_999, 1] as const, [100_000, 0] as const]) {
    const { triples: found } = await ask({ triples: triples(many), near: ['a'] }, { depth: 1 })
    t.equal(found.length, count)
  }
})

t.test('sources are the passages of entities, with their places', async (t) => {
  const triples = [
    ...passage('book', 0),
    ...passage('book', 1),
    edge('c1', vocabulary.text, 'urn:no-text'),
    literal('c1', vocabulary.text, 'Ann met Ben.'),
    ...derived('a', 0),
    ...derived('a', 1),
    ...derived('b', 1),
    label('book', 'The Book'),
  ]
  const { sources, labels } = await ask({ triples, near: ['a', 'b'] })
  t.strictSame(sources, [
    {
      chunk: uri('c1'),
      document: uri('book'),
      title: 'The Book',
      core: 'core of a',
      start: 100,
      end: 200,
      text: 'Ann met Ben.',
      score: 0.9,
      legs: { vectors: { rank: 1, score: 0.9 } },
      via: [],
      entities: [uri('a'), uri('b')],
    },
    {
      chunk: uri('c0'),
      document: uri('book'),
      title: 'The Book',
      core: 'core of a',
      start: 0,
      end: 100,
      score: 0.9,
      legs: { vectors: { rank: 2, score: 0.9 } },
      via: [],
      entities: [uri('a')],
    },
  ])
  t.equal(labels['book'], 'The Book')
})

t.test('a source has the title of its document, or its own where it is of none', async (t) => {
  const triples = [
    ...['a', 'b', 'c'].flatMap((name, n) => edge(name, vocabulary.wasDerivedFrom, `c${n}`)),
    edge('c0', vocabulary.isPartOf, 'book'),
    edge('c1', vocabulary.isPartOf, 'paper'),
    label('book', 'A label'),
    literal('book', vocabulary.dctermsTitle, 'A title'),
    edge('book', vocabulary.name, 'urn:name'),
    literal('c0', vocabulary.name, 'no document'),
    literal('paper', vocabulary.dcTitle, 'A paper'),
    literal('c2', vocabulary.name, 'Alone'),
  ]
  const { sources } = await ask({ triples, near: ['a', 'b', 'c'] })
  const titles = Object.fromEntries(sources.map(({ chunk, title }) => [chunk.v, title]))
  t.strictSame(titles, { c0: 'A title', c1: 'A paper', c2: 'Alone' })
})

t.test('passages of documents in the preferred language come first', async (t) => {
  // The nearest is in French, the next in no language that is known.
  const books = ['french', 'plain', 'german', 'swiss', 'english']
  const triples = [
    ...books.flatMap((_, n) => edge('abcde'.charAt(n), vocabulary.wasDerivedFrom, `c${n}`)),
    ...books.map((book, n) => edge(`c${n}`, vocabulary.isPartOf, book)),
    literal('french', vocabulary.language, 'fr'),
    literal('german', vocabulary.inLanguage, 'de'),
    literal('swiss', vocabulary.dcLanguage, 'de-CH'),
    edge('english', vocabulary.language, 'urn:english'),
    literal('c4', vocabulary.language, 'en'),
  ]
  const asked = async (languages?: readonly string[], entities?: number) => {
    const { sources } = await ask({ triples, near: [...'abcde'] }, { languages, entities })
    return sources.map(({ document, language }) => [document?.v, language].join(' ').trim())
  }
  const all = ['french fr', 'plain', 'german de', 'swiss de-CH', 'english en']
  t.strictSame(await asked(), all)
  t.strictSame(await asked(['de']), [
    'german de',
    'swiss de-CH',
    'plain',
    'french fr',
    'english en',
  ])
  // Who would have it Swiss takes other German before none.
  t.strictSame(await asked(['en', 'de-ch']), [all[4], all[3], all[2], all[1], all[0]])
  t.strictSame(await asked([]), all)
  t.strictSame(await asked(['it']), [all[1], all[0], all[2], all[3], all[4]])
  // One that is told is the best of some, not the nearest alone.
  const ofOne = books.slice(0, 4).map((_, n) => edge('a', vocabulary.wasDerivedFrom, `c${n}`))
  const parts = { triples: [...triples.slice(books.length), ...ofOne], near: ['a'] }
  const { sources } = await ask(parts, { languages: ['de'], entities: 1 })
  t.match(sources, [{ document: uri('german'), language: 'de' }])
  t.equal(sources.length, 1)
})

t.test('sources are read by all that search() knows passages by', async (t) => {
  const roles = {
    text: ['It said.', passagePredicates.text],
    title: ['A title', passagePredicates.title],
    heading: ['A heading', passagePredicates.heading],
    page: ['7', passagePredicates.page],
    document: [uri('book'), passagePredicates.partOf],
  } as const
  for (const from of passagePredicates.from) {
    const { sources } = await ask({ triples: [edge('a', from, 'c')], near: ['a'] })
    t.strictSame(
      sources.map(({ chunk, entities }) => [chunk, entities]),
      [[uri('c'), [uri('a')]]],
      from,
    )
  }
  for (const [role, [said, predicates]] of Object.entries(roles)) {
    for (const p of predicates) {
      const isText = typeof said === 'string'
      const triples = [
        edge('a', vocabulary.subjectOf, 'c'),
        isText ? literal('c', p, said) : edge('c', p, said.v),
        // Of something that is a passage it is no knowledge, by whichever of them.
        edge('c', vocabulary.type, vocabulary.String),
      ]
      const found = await ask({ triples, near: ['a', 'c'] })
      const told = found.sources[0]?.[role as keyof typeof roles]
      t.strictSame(typeof told === 'number' ? `${told}` : told, said, `${role} by ${p}`)
      if (role !== 'title') t.strictSame(found.triples, [], p)
    }
  }
})

t.test('where cores name whole documents, these are the sources', async (t) => {
  const triples = [
    edge('a', vocabulary.subjectOf, 'book'),
    edge('book', vocabulary.type, vocabulary.DigitalDocument),
    edge('a', vocabulary.subjectOf, 'unknown'),
    literal('a', vocabulary.subjectOf, 'no URI'),
    edge('a', vocabulary.wasDerivedFrom, 'odd'),
    edge('odd', vocabulary.isPartOf, 'folder'),
    literal('odd', vocabulary.beginIndex, 'twelve'),
  ]
  const { sources, triples: found } = await ask({ triples, near: ['a'] })
  const common = { core: 'core of a', score: 0.9, via: [], entities: [uri('a')] }
  const legs = (rank: number) => ({ vectors: { rank, score: 0.9 } })
  t.strictSame(sources, [
    { chunk: uri('odd'), document: uri('folder'), legs: legs(1), ...common },
    { chunk: uri('book'), document: uri('book'), legs: legs(2), ...common },
    { chunk: uri('unknown'), legs: legs(3), ...common },
  ])
  t.strictSame(found, [])
})

t.test('passages take no places of entities, and are the better sources', async (t) => {
  const passages = [...Array(30).keys()]
  const triples = [
    ...passages.flatMap((n) => passage('book', n)),
    ...derived('a', 3),
    ...derived('a', 29),
    ...derived('b', 3),
    ...graph('a knows b'),
  ]
  const near = [
    ...passages.slice(0, 20).map((n) => nearEntity(`c${n}`, 0.8 - n / 100)),
    nearEntity('a', 0.5),
    nearEntity('b', 0.4),
    nearEntity('z', 0.3),
  ]
  const found = await ask({ triples, near }, { entities: 2 })
  t.strictSame(found.entities, near.slice(20, 22))
  t.strictSame(found.triples, graph('a knows b'))
  t.strictSame(
    found.sources.map(({ chunk, core, score, entities }) => [
      chunk.v,
      core,
      Math.round(score * 1000) / 1000,
      entities.map(({ v }) => v).join(),
    ]),
    [
      ['c3', 'core', 0.635, 'a,b'], // (0.77 + 0.5) / 2
      ['c0', 'core', 0.6, ''], // (0.8 + 0.4) / 2
    ],
  )
  const all = await ask({ triples, near }, { entities: 50 })
  const c29 = all.sources.find(({ chunk }) => chunk.v === 'c29')
  t.equal(c29?.score, 0.4, 'unknown is the farthest: (0.3 + 0.5) / 2')
  t.equal(c29?.core, 'core of a')
})

t.test('more are asked for until there are enough entities, and not for ever', async (t) => {
  const passages = [...Array(100).keys()]
  const triples = passages.flatMap((n) => passage('book', n))
  const asked = async (near: readonly string[], entities: number) => {
    const all: number[] = []
    await ask({ triples, near, onNearest: (k) => all.push(k) }, { entities })
    return all
  }
  const chunks = passages.map((n) => `c${n}`)
  t.strictSame(await asked(['a', 'b', 'c', 'd', ...chunks], 1), [4])
  t.strictSame(await asked(['a', ...chunks], 2), [8, 32, 128])
  t.strictSame(await asked(chunks, 1), [4, 16, 64])
  t.strictSame(await asked(['a', 'b'], 3), [12], 'there are no more')
})

t.test('where only passages are near, these are the sources', async (t) => {
  const near = [nearEntity('c1', 0.5), nearEntity('c0', 0.25)]
  const triples = [...passage('book', 0), ...passage('book', 1)]
  const found = await ask({ triples, near })
  t.strictSame([found.entities, found.triples], [[], []])
  t.strictSame(
    found.sources.map(({ chunk, score }) => [chunk.v, score]),
    [
      ['c1', 0.5],
      ['c0', 0.25],
    ],
  )
})

t.test('an entity that no triple has is found all the same', async (t) => {
  const found = await ask({ triples: graph('a knows b'), near: ['nowhere'] })
  t.strictSame(found, { entities: nearEntities('nowhere'), triples: [], labels: {}, sources: [] })
})

t.test('50 entities are enough, and of sources as many as entities', async (t) => {
  const triples = [...Array(60).keys()].flatMap((n) => derived(`a${n}`, n))
  const near = [...Array(60).keys()].map((n) => `a${n}`)
  const found = await ask({ triples, near })
  t.equal(found.entities.length, 50)
  t.equal(found.sources.length, 50)
  t.equal((await ask({ triples, near }, { entities: 51 })).sources.length, 51)
})

const seed = pickSeed()
t.test(`blocks that have to be loaded change nothing (seed ${seed})`, async (t) => {
  const random = new Random(seed)
  const nodes = [...Array(60).keys()].map((n) => `n${n}`)
  const triples = [
    ...[...Array(400).keys()].map(() =>
      edge(random.pick(nodes), random.pick(['p', 'q', 'n1']), random.pick(nodes)),
    ),
    ...[...Array(20).keys()].flatMap((n) => passage('book', n)),
    ...nodes.flatMap((node) => [label(node, `Node ${node}`), ...derived(node, random.below(20))]),
  ]
  const near = [...random.shuffle(nodes).slice(0, 12), 'c1', 'c2']
  const query = { triples: 8, maxTriples: 150, depth: 3 }
  const expected = await ask({ triples, near }, query)
  t.equal(expected.triples.length, 150)
  for (let i = 0; i < 3; i++) {
    t.strictSame(await ask({ view: new ArrayView(triples, random), near }, query), expected)
  }
})

t.test('an aborted question ends with the reason', async (t) => {
  const reason = new Error('enough')
  const controller = new AbortController()
  const parts = {
    triples: graph('a knows b'),
    near: ['a'],
    onNearest: () => controller.abort(reason),
  }
  await t.rejects(ask(parts, { signal: controller.signal }), reason)
})

t.test('a question that is none is refused', async (t) => {
  const vector = [1]
  const cases: readonly [unknown, string][] = [
    [{}, 'text'],
    [{ vector, text: 'x' }, 'vector'],
    [{ vector: [] }, 'vector'],
    [{ vector: [NaN] }, 'vector'],
    [{ vector: Array(2) }, 'vector'],
    [{ vector: '1' }, 'vector'],
    [{ text: 1 }, 'text'],
    [{ text: ' ' }, 'text'],
    [{ text: '\uD800' }, 'text'],
    [{ vector, entities: 0 }, 'entities'],
    [{ vector, entities: 10_001 }, 'entities'],
    [{ vector, triples: -1 }, 'triples'],
    [{ vector, triples: 100_001 }, 'triples'],
    [{ vector, depth: 1.5 }, 'depth'],
    [{ vector, depth: 101 }, 'depth'],
    [{ vector, maxTriples: '10' }, 'maxTriples'],
    [{ vector, maxTriples: 1_000_001 }, 'maxTriples'],
    [{ vector, limit: 1 }, 'limit'],
    ['text', ''],
  ]
  for (const [query, path] of cases) {
    const refused = { code: 'LK_GRAPH_QUERY', details: { errors: [{ path }] } }
    await t.rejects(
      checkRetrieval(
        query,
        by(() => [[1]]),
      ),
      refused,
      JSON.stringify(query),
    )
  }
  const most = { entities: 10_000, triples: 100_000, depth: 100, maxTriples: 1_000_000 }
  t.match(await checkRetrieval({ vector, ...most }, noEmbedder), most)
})

t.test('a text is what the embedder makes of it', async (t) => {
  const { signal } = new AbortController()
  const embedder = by((texts, options) => {
    t.strictSame(texts, ['why?'])
    t.equal(options.signal.aborted, false)
    return Promise.resolve([new Float32Array([1, 2])])
  })
  const made = await checkRetrieval({ text: 'why?', signal }, embedder)
  t.strictSame(made.vector, new Float32Array([1, 2]))

  const needed = checkRetrieval({ text: 'why?', use: { vectors: true } }, noEmbedder)
  const details = { errors: [{ path: 'use.vectors' }] }
  await t.rejects(needed, { code: 'LK_GRAPH_QUERY', details })
  t.equal((await checkRetrieval({ text: 'why?' }, noEmbedder)).vector, undefined)
  const thrown = new Error('no model')
  const throwing = () => {
    throw thrown
  }
  await t.rejects(checkRetrieval({ text: 'why?' }, by(throwing)), thrown)
  for (const vectors of [[], [[]], [[1], [2]], [[NaN]]]) {
    const wrong = checkRetrieval(
      { text: 'why?' },
      by(() => vectors),
    )
    await t.rejects(wrong, TypeError, JSON.stringify(vectors))
  }
})

t.test('a question that is aborted while its text is embedded ends with the reason', async (t) => {
  for (const vectors of [[], [[1, 2]]]) {
    const controller = new AbortController()
    const reason = new Error('enough')
    const embedder = by(() => {
      controller.abort(reason)
      return vectors
    })
    const asked = checkRetrieval({ text: 'why?', signal: controller.signal }, embedder)
    await t.rejects(asked, reason, `an embedder that gives ${vectors.length} vectors then`)
  }
})

t.test('an embedder that does not notice the signal is left', async (t) => {
  const controller = new AbortController()
  const reason = new Error('enough')
  const embedder = by(() => {
    controller.abort(reason)
    return new Promise(() => {})
  })
  const asked = checkRetrieval({ text: 'why?', signal: controller.signal }, embedder)
  await t.rejects(asked, reason)
})

function by(embed: Embedder): QuestionEmbedder {
  return { embed, isOffline: false }
}

// ── asking ───────────────────────────────────────────────────────────────────

interface Asked {
  readonly triples?: readonly Triple[]
  readonly view?: ArrayView
  readonly near: readonly (string | NearEntity)[]
  readonly onNearest?: (k: number) => void
}

async function ask(asked: Asked, query: Partial<RetrieveQuery> = {}): Promise<Subgraph> {
  const { triples = [], near, onNearest } = asked
  const view = asked.view ?? new ArrayView(triples)
  const all = near.map((entity, n) =>
    typeof entity === 'string' ? nearEntities(...(near as string[]))[n] : entity,
  )
  const parts: RetrieveParts = {
    view,
    nearest: async (_, { k }) => {
      onNearest?.(k)
      return (all as NearEntity[]).slice(0, k)
    },
    passages: () => Promise.resolve([]),
    coreOf: (s) => `core of ${view.term(s).v}`,
  }
  return retrieve(parts, await checkRetrieval({ vector: [1], ...query }, noEmbedder))
}

function nearEntities(...names: string[]): NearEntity[] {
  return names.map((name, n) => nearEntity(name, 0.9 - n / 100))
}

function nearEntity(name: string, score: number): NearEntity {
  return { entity: uri(name), score, core: 'core' }
}

// ── graphs ───────────────────────────────────────────────────────────────────

function graph(...lines: string[]): Triple[] {
  return lines.map((line) => {
    const [s = '', p = '', o = ''] = line.split(' ')
    return o.startsWith('"') ? literal(s, p, o.slice(1, -1)) : edge(s, p, o)
  })
}

function lines({ triples }: Subgraph): string[] {
  return triples.map(line)
}

function line({ s, p, o }: Triple): string {
  return `${s.v} ${p.v} ${o.v}`
}

function uri(v: string): Term {
  return { v, e: true }
}

function edge(s: string, p: string, o: string): Triple {
  return { s: uri(s), p: uri(p), o: uri(o) }
}

function literal(s: string, p: string, v: string): Triple {
  return { s: uri(s), p: uri(p), o: { v, e: false } }
}

function label(s: string, v: string): Triple {
  return literal(s, vocabulary.label, v)
}

/** What a flow says of a passage. */
function passage(document: string, n: number): Triple[] {
  const chunk = `c${n}`
  return [
    edge(document, vocabulary.hasPart, chunk),
    edge(chunk, vocabulary.type, vocabulary.String),
    edge(chunk, vocabulary.isPartOf, document),
    edge(chunk, vocabulary.wasDerivedFrom, document),
    literal(chunk, vocabulary.position, String(n)),
    literal(chunk, vocabulary.beginIndex, String(n * 100)),
    literal(chunk, vocabulary.endIndex, String(n * 100 + 100)),
  ]
}

function derived(entity: string, n: number): Triple[] {
  return [
    edge(entity, vocabulary.subjectOf, `c${n}`),
    edge(entity, vocabulary.wasDerivedFrom, `c${n}`),
  ]
}
