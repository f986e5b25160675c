// Passages by the words of a question, by its names, and by where names lead: over real cores.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import type { GraphSource, RetrieveQuery } from '../../../src/graph/types.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { entity, literal, messageOf } from '../asked.js'

const user = 'u'
const of = (name: keyof typeof vocabulary) => entity(vocabulary[name])

/** A document of some passages. */
function document(title: string | undefined, ...texts: string[]): Triple[] {
  const uri = `urn:${title ?? texts[0]}`
  return [
    ...(title === undefined ? [] : [{ s: entity(uri), p: of('name'), o: literal(title) }]),
    ...texts.flatMap((text, n) => [
      { s: entity(`${uri}/${n}`), p: of('type'), o: of('String') },
      { s: entity(`${uri}/${n}`), p: of('isPartOf'), o: entity(uri) },
      { s: entity(`${uri}/${n}`), p: of('text'), o: literal(text) },
    ]),
  ]
}

/** What a passage speaks of. */
function spokenOf(label: string, chunk: string): Triple[] {
  const s = entity(`urn:e/${label}`)
  return [
    { s, p: of('label'), o: literal(label) },
    { s, p: of('wasDerivedFrom'), o: entity(chunk) },
  ]
}

async function library(t: Test, cores: Readonly<Record<string, readonly Triple[]>>) {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  for (const [id, triples] of Object.entries(cores)) {
    await keep.knowledge.write({ user, id }, [messageOf(triples, 'c')])
  }
  const graph = keep.knowledge.graph({ user })
  const ask = async (query: RetrieveQuery | string) => {
    const asked = typeof query === 'string' ? { text: query } : query
    return (await graph.retrieve(asked)).sources
  }
  return { knowledge: keep.knowledge, graph, ask }
}

const found = (sources: readonly GraphSource[]) => sources.map(({ chunk }) => chunk.v.slice(4))

/** Of what the other words of a question are in every other passage. */
const others = Array.from({ length: 20 }, (_, n) =>
  document(`Other ${n}`, `A director of films was born in the city of number ${n}.`),
).flat()

const films = [
  ...document('Doctor Strange (2016 film)', 'Doctor Strange was made by Scott Derrickson.'),
  ...document('Scott Derrickson', 'He lives in Los Angeles, and was born in Denver.'),
  ...others,
]

t.test('the second passage of an answer is found by the first', async (t) => {
  const { ask } = await library(t, { films })
  const sources = await ask('In which city was the director of Doctor Strange born?')
  t.strictSame(found(sources.slice(0, 2)), ['Doctor Strange (2016 film)/0', 'Scott Derrickson/0'])
  const [first, second] = sources
  t.strictSame(first?.via, [], 'its own words are enough')
  t.strictSame(second?.via, [{ name: 'Scott Derrickson', from: first?.chunk }])
  t.equal(second?.legs.walk?.rank, 1)
  t.equal(second?.legs.names, undefined)
  const total = ({ legs }: GraphSource) =>
    [legs.words, legs.names, legs.walk].reduce((sum, leg) => sum + (leg?.score ?? 0), 0)
  for (const source of sources) t.equal(total(source), source.score)
  const byWords = [...sources].sort(
    (a, b) => (b.legs.words?.score ?? 0) - (a.legs.words?.score ?? 0),
  )
  t.equal(byWords[0]?.legs.words?.rank, 1)
})

t.test('passages that are all as good lead to little', async (t) => {
  const said = 'Alpha, beta and gamma of the house.'
  const near = [
    ...document('Zebulon Lodge', 'A building in the hills.'),
    ...document('Near', 'It has an alpha, which is a letter, beside many others of them.'),
  ]
  const text = 'alpha beta gamma'
  const placesIn = async (likes: number) => {
    const alike = Array.from({ length: likes }, (_, n) =>
      document(`Like ${n}`, `${said} It is behind nothing else.`),
    ).flat()
    const first = document('First', `${said} It is behind Zebulon Lodge.`)
    const { ask } = await library(t, { all: [...first, ...alike, ...near, ...others] })
    const sources = found(await ask(text))
    return ['Zebulon Lodge/0', 'Near/0'].map((name) => sources.indexOf(name))
  }
  const [led = 0, near1 = 0] = await placesIn(2)
  t.ok(led >= 0 && led < near1, 'by one of the three that have it')
  const [ledByOne = 0, before = 0] = await placesIn(14)
  t.ok(before >= 0 && before < ledByOne, `by one of fifteen: ${ledByOne}, ${before}`)
})

t.test('legs are turned off one by one', async (t) => {
  const { graph, ask } = await library(t, { films })
  const text = 'In which city was the director of Doctor Strange born?'
  const rankOf = (sources: readonly GraphSource[]) => found(sources).indexOf('Scott Derrickson/0')
  t.equal(rankOf(await ask({ text })), 1)
  const standing = await ask({ text, use: { walk: false } })
  t.ok(rankOf(standing) > 1, 'nothing leads to it')
  t.ok(standing.every(({ legs }) => legs.walk === undefined))

  const words = await ask({ text, use: { names: false, walk: false } })
  t.ok(words.every(({ legs, via }) => Object.keys(legs).join() === 'words' && via.length === 0))
  const searched = await graph.search({ text, k: 50 })
  t.strictSame(
    words.map(({ chunk, score }) => [chunk.v, score.toFixed(9)]),
    searched.map(({ chunk, score }) => [chunk.v, score.toFixed(9)]),
  )
  const names = await ask({ text, use: { words: false, walk: false } })
  t.strictSame(found(names), ['Doctor Strange (2016 film)/0'])
  const [named] = names
  t.strictSame(named?.legs, { names: { rank: 1, score: named?.score } }, 'its words say nothing')
  t.strictSame(named?.via, [{ name: 'Doctor Strange' }])
})

t.test('a passage that has all of a question stays the first', async (t) => {
  const { ask } = await library(t, {
    all: [
      ...document('Zebra', 'Quagga foals, quagga foals.'),
      ...document('Notes', 'Of a zebra: quagga foals eat grass at night in the old Cape.'),
      ...document('Quagga', 'See Zebra.'),
    ],
  })
  const sources = await ask('zebra quagga foals eat grass')
  t.equal(sources[0]?.chunk.v, 'urn:Notes/0')
  t.strictSame(
    sources.map(({ score }) => score),
    sources.map(({ score }) => score).sort((a, b) => b - a),
  )
})

t.test('what is quoted comes first', async (t) => {
  const { ask } = await library(t, {
    all: [
      ...document('Grass', 'Zebras eat grass, and grass, zebras.'),
      ...document('Zebra', 'At night the zebra sleeps.'),
      ...document(
        'Notes',
        'It is said of old: the zebra sleeps at night, and wakes by day when it must.',
      ),
    ],
  })
  const [first, ...rest] = await ask('Which zebra note says "sleeps at night, and wakes"?')
  t.equal(first?.chunk.v, 'urn:Notes/0')
  t.ok(rest.every(({ score }) => score <= (first?.score ?? 0)))
})

t.test('a name of one core is found in the passages of others, whichever came first', async (t) => {
  const [one, other] = [
    document('Old letters', 'The keeper met Ada Quill at the lighthouse.'),
    document('Ada Quill', 'She was a painter of storms.'),
  ]
  const question = 'What did the person paint whom the keeper met at the lighthouse?'
  for (const cores of [
    { one, other },
    { other, one },
  ]) {
    const { ask } = await library(t, cores)
    const sources = await ask(question)
    t.strictSame(found(sources), ['Old letters/0', 'Ada Quill/0'])
    t.strictSame(
      sources[1]?.via.map(({ name }) => name),
      ['Ada Quill'],
    )
  }
})

t.test('a name leads between passages that nothing is the title of', async (t) => {
  const text = ['The keeper met Ada Quill.', 'Years later Ada Quill painted storms in Porto.']
  const chunks = text.map((words) => `urn:${words}/0`)
  const { knowledge, ask } = await library(t, {
    a: [...document(undefined, text[0] as string), ...spokenOf('Ada Quill', chunks[0] as string)],
    b: [...document(undefined, text[1] as string), ...others],
  })
  const question = 'Where did the person live whom the keeper met?'
  const sources = await ask(question)
  t.strictSame(
    sources.slice(0, 2).map(({ chunk }) => chunk.v),
    chunks,
  )
  t.equal(sources[1]?.via[0]?.name, 'Ada Quill')

  // What no passage speaks of any more is no name.
  await knowledge.delete({ user, id: 'a' })
  await knowledge.write({ user, id: 'a' }, [messageOf(document(undefined, text[0] as string), 'c')])
  const left = await ask(question)
  t.ok(left.every(({ via }) => via.length === 0))
})

t.test('what is called several names by labels alone is found by each of them', async (t) => {
  const chunk = 'urn:The ILO was founded by the people of the harbour./0'
  const triples = [
    ...document(undefined, 'The ILO was founded by the people of the harbour.'),
    ...document(
      undefined,
      'Its seat: that of the International Labour Organization stands by a lake.',
    ),
    ...others,
    ...spokenOf('ILO', chunk),
    { s: entity('urn:e/ILO'), p: of('label'), o: literal('International Labour Organization') },
  ]
  const { ask } = await library(t, { all: triples })
  const [, second] = await ask('Where has the ILO its place?')
  t.equal(
    second?.chunk.v,
    'urn:Its seat: that of the International Labour Organization stands by a lake./0',
  )
})

t.test('a document without a title is called by the names of what it is about', async (t) => {
  const city = 'He lives in Los Angeles, and was born in Denver.'
  const untitled = (about: Triple[]) => [
    ...document('Doctor Strange (2016 film)', 'Doctor Strange was made by Scott Derrickson.'),
    ...document(undefined, city),
    { s: entity('urn:e/scott'), p: of('label'), o: literal('Scott Derrickson') },
    ...about,
    ...others,
  ]
  const asked = 'In which city was the director of Doctor Strange born?'
  const isAbout = { s: entity(`urn:${city}`), p: of('mainEntity'), o: entity('urn:e/scott') }
  for (const predicate of [
    vocabulary.mainEntity,
    'http://schema.org/mainEntity',
    'http://xmlns.com/foaf/0.1/primaryTopic',
  ]) {
    const about = { ...isAbout, p: entity(predicate) }
    const { ask } = await library(t, { films: untitled([about]) })
    t.strictSame(found((await ask(asked)).slice(0, 2))[1], `${city}/0`, predicate)
  }
  const { ask } = await library(t, { films: untitled([]) })
  t.notOk(
    (await ask(asked)).some(({ via }) => via.length > 0),
    'nothing leads there',
  )
})

t.test('a year, a small word, and a word in small letters lead nowhere', async (t) => {
  const { ask } = await library(t, {
    a: [
      ...document(undefined, 'The keeper left town in 1984, after it.'),
      ...['town', '1984', 'It'].flatMap((label) =>
        spokenOf(label, 'urn:The keeper left town in 1984, after it./0'),
      ),
    ],
    b: document('1984', 'A novel of a town.'),
    c: document('It', 'A novel of clowns.'),
  })
  const sources = await ask('When did the keeper leave?')
  t.equal(sources.length, 1)
})

t.test('of a long document with the name the passage counts that answers', async (t) => {
  const pages = Array.from({ length: 300 }, (_, n) => `Page ${n} is of nothing much.`)
  pages[217] = 'In this year the harbour was opened by the queen.'
  const { ask } = await library(t, {
    town: document('Kessel', ...pages),
    ship: document('The ship', 'The brig was built in Kessel, and sank at once.'),
    others,
  })
  const sources = await ask('Who opened the harbour of the place where the brig was built?')
  t.strictSame(found(sources.slice(0, 2)).sort(), ['Kessel/217', 'The ship/0'])
})

t.test('names are found where nothing stands between words', async (t) => {
  const { ask } = await library(t, {
    a: document(undefined, '灯台守は川端花子に会った。'),
    b: document('川端花子', '画家として嵐を描いた。'),
    c: document('別の人', '灯台は高い。'),
  })
  const sources = await ask('灯台守が会った人は何を描いたか')
  t.ok(found(sources).slice(0, 2).includes('川端花子/0'))
  const via = sources.find(({ chunk }) => chunk.v === 'urn:川端花子/0')?.via
  t.strictSame(
    via?.map(({ name }) => name),
    ['川端花子'],
  )
})

t.test('a host may have the last word', async (t) => {
  const { graph, ask } = await library(t, { films })
  const text = 'In which city was the director of Doctor Strange born?'
  const { signal } = new AbortController()
  const sources = await ask({
    text,
    signal,
    rerank: async (question, passages, options) => {
      t.equal(question, text)
      t.equal(options.signal.aborted, false)
      return passages.map(({ text = '' }) => (text.includes('number 7') ? 1 : -1))
    },
  })
  t.equal(sources[0]?.chunk.v, 'urn:Other 7/0')
  t.strictSame(sources[0]?.legs.rerank, { rank: 1, score: 1 })
  t.strictSame(
    found(sources.slice(1)),
    found((await ask(text)).filter(({ chunk }) => chunk.v !== 'urn:Other 7/0')),
    'equal ones as they were',
  )
  const wrong: (readonly [given: unknown, told: string])[] = [
    [[1], 'not 1'],
    ['no', 'not the string "no"'],
    [sources.map((_, n) => (n === 1 ? NaN : n)), 'not NaN for the passage 1'],
    [new Array<number>(sources.length), 'not undefined for the passage 0'],
  ]
  for (const [given, told] of wrong) {
    const asked = graph.retrieve({ text, rerank: () => given as number[] })
    const message = `rerank must give ${sources.length} finite numbers, one for each passage, ${told}`
    await t.rejects(asked, new TypeError(message))
  }
  const thrown = new Error('no model')
  const throwing = () => {
    throw thrown
  }
  await t.rejects(graph.retrieve({ text, rerank: throwing }), thrown)
  const controller = new AbortController()
  const reason = new Error('enough')
  const never = () => {
    controller.abort(reason)
    return new Promise<number[]>(() => {})
  }
  const left = graph.retrieve({ text, signal: controller.signal, rerank: never })
  await t.rejects(left, reason, 'one that does not notice the signal')
})

t.test('a question that finds nothing by words is asked by vectors', async (t) => {
  const backend = new MemoryBackend()
  const keep = await createLorekeep({ backend, indexThreads: 0 })
  t.teardown(() => keep.close())
  const { flows, knowledge } = keep
  flows.run()
  const { job } = await flows.load('default', { user, id: 'urn:d', content: 'Rowing to Oxford.' })
  for await (const { state } of flows.watch({ job })) if (state === 'done') break
  const graph = knowledge.graph({ user })
  const [row] = (await graph.retrieve({ text: 'Oxford' })).sources
  t.strictSame(Object.keys(row?.legs ?? {}), ['words'], 'not by the offline embedder')
  const [near] = (await graph.retrieve({ text: 'Oxf' })).sources
  t.strictSame(Object.keys(near?.legs ?? {}), ['vectors'])
  const both = (await graph.retrieve({ text: 'Oxford', use: { vectors: true } })).sources
  t.strictSame(Object.keys(both[0]?.legs ?? {}).sort(), ['vectors', 'words'])
  const none = (await graph.retrieve({ text: 'Oxf', use: { vectors: false } })).sources
  t.strictSame(none, [])
})

t.test('an aborted question ends with the reason', async (t) => {
  const { graph } = await library(t, { films })
  const reason = new Error('enough')
  await t.rejects(graph.retrieve({ text: 'Doctor', signal: AbortSignal.abort(reason) }), reason)
})

t.test('a passage that many cores say takes the place of one', async (t) => {
  const cores: Record<string, Triple[]> = { other: document('Ferry', 'A boat, and much else.') }
  for (let n = 0; n < 70; n++) {
    cores[`copy ${n}`] = [
      ...document('River', 'The old boat on the river.'),
      { s: entity('urn:copy'), p: entity('urn:number'), o: literal(`${n}`) },
    ]
  }
  const { ask } = await library(t, cores)
  const sources = await ask('old boat')
  t.strictSame(found(sources), ['River/0', 'Ferry/0'])
  t.strictSame(
    sources.map(({ legs }) => legs.words?.rank),
    [1, 2],
  )
})
