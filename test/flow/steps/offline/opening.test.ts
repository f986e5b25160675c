import t from 'tap'
import { offlineExtractor } from '../../../../src/flow/steps/offline-extractor.js'
import type { Term } from '../../../../src/types.js'
import { vocabulary } from '../../../../src/vocabulary.js'

const extractor = offlineExtractor()
const term = (v: string): Term => ({ v, e: true })

/** What the flow says that a document is about. */
async function aboutOf(
  text: string,
  { title, index = 0 }: { title?: string; index?: number } = {},
) {
  const named = title === undefined ? {} : { title }
  const { entities, triples } = await extractor(
    { index, start: 0, end: text.length, text },
    {
      signal: new AbortController().signal,
      document: { id: 'd', user: 'u', collection: 'c', ...named, metadata: [], text },
      source: term('document'),
      entity: term,
      relation: term,
    },
  )
  const said = triples.filter(({ p }) => p.v === vocabulary.mainEntity)
  for (const { s, o } of said) {
    t.equal(s.v, 'document')
    t.ok(
      entities.some(({ name }) => name === o.v),
      'an entity',
    )
  }
  return said.map(({ o }) => o.v)
}

t.test('a text that begins as an entry of an encyclopedia is about what it defines', async (t) => {
  for (const [text, name] of [
    ['Ada Lovelace was a mathematician of London.', 'Ada Lovelace'],
    ['Ada Lovelace (10 December 1815 – 27 November 1852) was a writer.', 'Ada Lovelace'],
    ['Ada Lovelace, born in London, was one of the first programmers.', 'Ada Lovelace'],
    ['Ada Lovelace. Ada Lovelace was a mathematician of London.', 'Ada Lovelace'],
    ['The Kimber Manufacturing is an American company.', 'Kimber Manufacturing'],
    ['"When Flanders Failed" is the third episode of the season.', 'When Flanders Failed'],
    ['Rhiryd ap Bleddyn (1049–1088) was a Welsh king of Powys.', 'Rhiryd ap Bleddyn'],
    ['Formula 1 97 (known by other names) is the second game of its kind.', 'Formula 1 97'],
  ] as const) {
    t.strictSame(await aboutOf(text), [name], text)
  }
})

t.test('other beginnings, other chunks and texts with a title say nothing of it', async (t) => {
  for (const text of [
    'Ada Lovelace walked home.',
    'Ada Lovelace was late for dinner in London.',
    'Lunch is a problem.',
    'There are the eight airports of Ontario.',
    'This page is a list of the films of Hideo Nakata.',
    'In London, the Tower is a prison.',
    'My house is a mess.',
    'Is Ada Lovelace a mathematician?',
    'Ada Lovelace (who was a mathematician',
    'Ada, Lovelace',
    '"',
    'The',
    '',
    'Ada Lovelace war eine Mathematikerin, und das ist nicht alles.',
  ]) {
    t.strictSame(await aboutOf(text), [], text)
  }
  const text = 'Ada Lovelace was a mathematician of London.'
  t.strictSame(await aboutOf(text, { title: 'Ada' }), [])
  t.strictSame(await aboutOf(text, { index: 1 }), [])
})
