// What a search tells of passages, and what hostile questions cost. That the ranking is right is for the
// model of a library: test/knowledge/library.

import t, { type Test } from 'tap'
import { MemoryBackend } from '../../../adapters/memory.js'
import { hasCode } from '../../../src/errors.js'
import { patience } from '../../../src/graph/miss.js'
import { createLorekeep } from '../../../src/lorekeep.js'
import type { Triple } from '../../../src/types.js'
import { vocabulary } from '../../../src/vocabulary.js'
import { Random } from '../../fixtures/random.js'
import { entity, literal, messageOf } from '../asked.js'
import { collidingTerms } from '../index/colliding.js'

const user = 'u'
const [name, text, isPartOf] = [vocabulary.name, vocabulary.text, vocabulary.isPartOf].map((v) => ({
  v,
  e: true,
})) as [{ v: string; e: true }, { v: string; e: true }, { v: string; e: true }]

async function graphOf(t: Test, triples: readonly Triple[]) {
  const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
  t.teardown(() => keep.close())
  await keep.knowledge.write({ user, id: 'core' }, [messageOf(triples, 'c')])
  return keep.knowledge.graph({ user })
}

const passage = (at: string, words: string, title?: string): Triple[] => [
  { s: entity(at), p: text, o: literal(words) },
  { s: entity(at), p: isPartOf, o: entity(`document of ${at}`) },
  ...(title === undefined ? [] : [{ s: entity(`document of ${at}`), p: name, o: literal(title) }]),
]

t.test('a passage is told with its title, its core and where the words are', async (t) => {
  const graph = await graphOf(t, [
    ...passage('a', 'The dogs of Łódź, and a dog’s life.', 'Of Dogs'),
    ...passage('b', 'Cats.'),
  ])
  const [found, ...others] = await graph.search({ text: 'dog in lodz' })
  t.equal(others.length, 0)
  t.strictSame([found?.chunk, found?.document], [entity('a'), entity('document of a')])
  t.strictSame([found?.title, found?.core], ['Of Dogs', 'core'])
  const marked = found?.highlights.map(([from, to]) => found.text.slice(from, to))
  t.strictSame(marked, ['dogs', 'Łódź', 'dog’s'])
})

t.test('a passage is told with the page that it begins on, if that is a number', async (t) => {
  const page = { v: vocabulary.pageStart, e: true } as const
  const graph = await graphOf(t, [
    ...passage('a', 'Cats of one kind.'),
    { s: entity('a'), p: page, o: literal('7') },
    ...passage('b', 'Cats of another kind, with more words.'),
    { s: entity('b'), p: page, o: literal('vii') },
  ])
  const found = await graph.search({ text: 'cats' })
  t.strictSame(
    found.map(({ page }) => page),
    [7, undefined],
  )
})

t.test('texts of one hash are each that of its own passage', async (t) => {
  const random = new Random(1)
  for (const count of [2, 20]) {
    const texts = collidingTerms(random, count).map(({ v }) => v)
    const triples = texts.flatMap((text, n) => passage(`${n}`, text, 'Common'))
    const graph = await graphOf(t, triples)
    const found = await graph.search({ text: 'common', k: count })
    t.strictSame(
      new Map(found.map(({ chunk, text }) => [chunk.v, text])),
      new Map(texts.map((text, n) => [entity(`${n}`).v, text])),
    )
  }
})

t.test(
  'texts of one hash are found however many other collections have of their passages',
  async (t) => {
    const usual = patience.rows
    t.teardown(() => (patience.rows = usual))
    // Each text of the other collection is a pause.
    patience.rows = 1
    const texts = collidingTerms(new Random(1), 2).map(({ v }) => v)
    const own = texts.flatMap((text, n) => passage(`${n}`, text, 'Common'))
    const others = texts.flatMap((_, n) =>
      Array.from({ length: 40 }, (_, m) => passage(`${n}`, `Other text ${m}`)).flat(),
    )
    const filling = others.map((_, n) => ({ s: entity('n'), p: isPartOf, o: entity(`part ${n}`) }))
    const keep = await createLorekeep({ backend: new MemoryBackend(), indexThreads: 0 })
    t.teardown(() => keep.close())
    await keep.knowledge.write({ user, id: 'core' }, [
      messageOf([...own, ...filling], 'own'),
      messageOf(others, 'others'),
    ])
    const graph = keep.knowledge.graph({ user, collection: 'own' })
    const found = await graph.search({ text: 'common' })
    t.strictSame(found.map(({ text }) => text).sort(), [...texts].sort())
  },
)

t.test('a score is the sum of what explains it', async (t) => {
  const graph = await graphOf(t, [
    ...passage('a', 'ISO-4217 has codes of currencies.', 'Codes'),
    ...passage('b', 'A code of 4217 words, and no ISO norm.'),
  ])
  const found = await graph.search({ text: 'codes of ISO-4217', explain: true })
  t.strictSame(
    found.map(({ chunk }) => chunk),
    [entity('a'), entity('b')],
  )
  for (const { score, explanation = [] } of found) {
    const sum = explanation.reduce((all, part) => all + part.score, 0)
    t.ok(Math.abs(sum - score) < 1e-9, `${sum} of ${score}`)
  }
  t.strictSame(
    found.map(({ explanation }) => explanation?.map(({ word }) => word)),
    [
      ['codes', '"codes"', 'iso', '4217', '"iso 4217"'],
      ['codes', 'iso', '4217'],
    ],
  )
})

t.test('words beside each other count together, but not over a comma', async (t) => {
  const text = 'The blue head is at the door.'
  const graph = await graphOf(t, [
    ...passage('a', text),
    ...passage('b', 'A head of blue hair.'),
    ...passage('c', 'Doors.'),
  ])
  const parts = async (text: string) => {
    const [first] = await graph.search({ text, explain: true })
    return first?.explanation?.map(({ word }) => word) ?? []
  }
  t.ok((await parts('door of a blue head')).includes('"blue head"'))
  for (const parting of [', ', '; ', '， ', ' (', ': ']) {
    t.notOk((await parts(`door, blue${parting}head`)).includes('"blue head"'), parting)
  }
})

t.test('words in capitals with small ones between them count together', async (t) => {
  const all = ['Houses of the Parliament.', 'The Parliament has houses.', 'The houses.', 'Others.']
  const graph = await graphOf(
    t,
    all.flatMap((text, n) => passage(`p${n}`, text)),
  )
  const text = 'What are the Houses of the Parliament?'
  const found = await graph.search({ text, explain: true })
  t.equal(found[0]?.chunk.v, 'p0')
  const part = found[0]?.explanation?.find(({ word }) => word === '"houses … parliament"')
  const idf = (having: number) => Math.log(1 + (4 - having + 0.5) / (having + 0.5))
  t.ok(Math.abs((part?.idf ?? 0) - 0.75 * (idf(1) - idf(2))) < 1e-9)
  const small = await graph.search({ text: text.toLowerCase(), explain: true })
  t.notOk(small[0]?.explanation?.some(({ word }) => word.includes('…')))
})

t.test('a word that a question has again counts a little more', async (t) => {
  const graph = await graphOf(t, [
    ...passage('a', 'The mill.'),
    ...passage('b', 'The river.'),
    ...passage('c', 'Others.'),
  ])
  const scoresFor = async (text: string) => {
    const found = await graph.search({ text, explain: true })
    return new Map(found.map(({ chunk, score }) => [chunk.v, score]))
  }
  const [a, b] = [entity('a').v, entity('b').v]
  const once = (await scoresFor('mill, river')).get(a) ?? 0
  t.ok(once > 0)
  for (const [times, weight] of [
    [1, 1],
    [2, 1.2],
    [4, 1.4],
    [64, 2.2],
  ] as const) {
    const scores = await scoresFor(`river, ${'mill, '.repeat(times)}`)
    t.ok(Math.abs((scores.get(a) ?? 0) - weight * once) < 1e-9, `${times} times`)
    t.ok(Math.abs((scores.get(b) ?? 0) - once) < 1e-9)
  }
  const [found] = await graph.search({ text: 'river, mill, mill', explain: true })
  const sum = (found?.explanation ?? []).reduce((sum, { score }) => sum + score, 0)
  t.ok(Math.abs(sum - (found?.score ?? 0)) < 1e-9)
  // The same of a question in natural language.
  const { sources } = await graph.retrieve({ text: 'Is the mill by the river, or the mill?' })
  t.strictSame(
    sources.map(({ chunk }) => chunk?.v),
    [a, b],
  )
  t.ok(Math.abs((sources[0]?.legs?.words?.score ?? 0) - 1.2 * once) < 1e-9)
})

t.test('passages that other schemas than ours say are read as they are found', async (t) => {
  const by = (name: string) => ({ v: `http://schema.org/${name}`, e: true }) as const
  const graph = await graphOf(t, [
    { s: entity('p'), p: by('text'), o: literal('The mill stands by the river.') },
    { s: entity('p'), p: by('isPartOf'), o: entity('d') },
    { s: entity('d'), p: by('headline'), o: literal('Of mills') },
    { s: entity('miller'), p: by('subjectOf'), o: entity('p') },
  ])
  const asked = { text: 'Where does the mill stand?' }
  const [found] = await graph.search(asked)
  t.match(found, { text: 'The mill stands by the river.', title: 'Of mills' })
  const { sources, entities } = await graph.retrieve(asked)
  t.match(sources, [{ text: found?.text, title: found?.title, document: found?.document }])
  t.strictSame(
    entities.map(({ entity }) => entity),
    [entity('miller')],
  )
  const answer = await graph.answer({ ...asked, generate: () => 'By the river [1].' })
  t.match(answer.sources, [{ text: found?.text }])
})

t.test('of a long question the beginning is looked for, in names as well', async (t) => {
  const graph = await graphOf(t, [
    ...passage('a', 'The mill stands by the river.'),
    ...['mill', 'Ellen'].flatMap((label) => [
      { s: entity(label), p: { v: vocabulary.label, e: true }, o: literal(label) },
      { s: entity(label), p: { v: vocabulary.wasDerivedFrom, e: true }, o: entity('a') },
    ]),
  ])
  const scoresFor = async (text: string) => {
    const { entities } = await graph.retrieve({ text })
    return Object.fromEntries(entities.map(({ entity, score }) => [entity.v, score]))
  }
  const [mill, ellen] = [entity('mill').v, entity('Ellen').v]
  t.strictSame(await scoresFor('The mill of Ellen'), { [mill]: 1, [ellen]: 1 })
  const long = `The mill ${'of '.repeat(6000)} Ellen`
  t.strictSame(await scoresFor(long), { [mill]: 1, [ellen]: 0.5 })
})

t.test('words that say little count where there are no others', async (t) => {
  const graph = await graphOf(t, [
    ...passage('a', 'To be or not to be.'),
    ...passage('b', 'Hamlet.'),
  ])
  const chunks = async (words: string) =>
    (await graph.search({ text: words })).map(({ chunk }) => chunk.v)
  t.strictSame(await chunks('to be'), [entity('a').v])
  t.strictSame(await chunks('to be Hamlet'), [entity('b').v])
  t.strictSame(await chunks('"not to be"'), [entity('a').v])
  t.strictSame(await chunks('"be to"'), [])
  t.strictSame(await chunks('ham*'), [entity('b').v])
  t.strictSame(await chunks('-hamlet'), [])
})

t.test('a phrase has 64 words at most, and one word again and again is one list', async (t) => {
  const graph = await graphOf(t, passage('a', 'the '.repeat(100)))
  const [found] = await graph.search({ text: `"${'the '.repeat(64)}"` })
  t.strictSame(found?.highlights, [[0, 399]])
  await t.rejects(graph.search({ text: `"${'the '.repeat(65)}"` }), { code: 'LK_GRAPH_QUERY' })
  // Written as one it is no condition: such a text has any length.
  t.equal((await graph.search({ text: 'the-'.repeat(1000) })).length, 1)
  const twice = await graph.search({ text: '"the the" '.repeat(1600), explain: true })
  t.equal(twice[0]?.explanation?.length, 1)
})

t.test('of a long passage the first thousand places are told', async (t) => {
  const graph = await graphOf(t, passage('a', 'word '.repeat(2000)))
  const [found] = await graph.search({ text: 'words' })
  t.equal(found?.highlights.length, 1000)
})

t.test('a signal ends a search', async (t) => {
  const graph = await graphOf(t, passage('a', 'word'))
  const reason = new Error('enough')
  await t.rejects(graph.search({ text: 'word', signal: AbortSignal.abort(reason) }), reason)
  const error: unknown = await graph.search({ text: ' ' }).catch((error: unknown) => error)
  t.ok(hasCode(error, 'LK_GRAPH_QUERY'))
})

t.test('a question has 16,384 characters at most', async (t) => {
  const graph = await graphOf(t, passage('a', 'word'))
  for (const unit of ['word ', '知识', 'a-', '"a" ']) {
    const text = unit.repeat(16_384).slice(0, 16_380) + 'word'
    await t.resolves(graph.search({ text }), unit)
    const errors = [{ path: 'text' }]
    await t.rejects(graph.search({ text: `${text}s` }), {
      code: 'LK_GRAPH_QUERY',
      details: { errors },
    })
  }
})

t.test('a word as it was asked for counts more, the rarer it is', async (t) => {
  const many = Array.from({ length: 50 }, (_, n) => passage(`p${n}`, `Plants, plants ${n}.`))
  const graph = await graphOf(t, [
    ...many.flat(),
    ...passage('one', 'The planting of trees by hand is slow work in the old manner of it.'),
  ])
  const [first] = await graph.search({ text: 'planting', explain: true })
  t.equal(first?.chunk.v, 'one')
  t.strictSame(
    first?.explanation?.map(({ word, passages }) => [word, passages]),
    [
      ['planting', 51],
      ['"planting"', 1],
    ],
  )
  const sum = first?.explanation?.reduce((all, { score }) => all + score, 0)
  t.equal(sum, first?.score)
})

t.test('each of thousands of texts of one chunk is its own', async (t) => {
  const count = 8000
  const texts = Array.from({ length: count }, (_, n) => `word ${n} ${'of many '.repeat(n % 5)}`)
  const graph = await graphOf(t, [
    ...texts.flatMap((words) => passage('a', words).slice(0, 1)),
    // What has no words is no text of it.
    { s: entity('a'), p: text, o: entity('a') },
  ])
  const found = await graph.search({ text: 'word', k: count })
  t.strictSame(found.map(({ text }) => text).sort(), [...texts].sort())
  t.ok(found.every(({ text, score }) => score > 0 && text.startsWith('word')))
})
