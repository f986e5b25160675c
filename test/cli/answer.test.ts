import t from 'tap'
import { answerOf } from '../../src/cli/output/answer.js'
import { askedWords, excerptOf } from '../../src/cli/output/excerpt.js'
import type { Subgraph } from '../../src/graph/types.js'
import { vocabulary } from '../../src/vocabulary.js'
import { boat, entity, literal, nothing, statement } from './subgraphs.js'

const screen = { rows: 24, columns: 80, isHighlit: false }
const filler = 'Nothing of that is here, and there is a lot of it to be read. '

t.test('passages come first, then triples with what was asked for ahead', (t) => {
  const { text, summary } = answerOf('Who rows the boat?', boat, screen)
  t.equal(
    text,
    `[1]  News from Nowhere, 120 to 164  0.900
    He sculled the boat.
[2]  <urn:doc/c2>  0.250

Dick – rows – boat  [1]
boat – paintedIn – "green"
<urn:ellen> – mended – boat
<urn:guest> – knows – Dick
<urn:clara> – hair – "green"
`,
  )
  t.equal(summary, '2 entities, 2 passages, 5 triples')
  t.end()
})

t.test('much is cut to a screen, whatever its size', (t) => {
  const sources = Array.from({ length: 40 }, (_, index) => ({
    chunk: entity(`urn:doc/${'long/'.repeat(40)}${index}`),
    core: 'c',
    text: filler.repeat(40) + `Ellen lives in Bath ${index}. ${'長い文'.repeat(200)} ${filler}`,
    score: 1,
    legs: {},
    via: [],
    entities: [],
  }))
  const triples = Array.from({ length: 300 }, (_, index) =>
    statement('urn:ellen', `urn:p${index}`, literal('x'.repeat(500))),
  )
  const entities = [{ entity: entity('urn:ellen'), score: 1, core: 'c' }]
  const found: Subgraph = { ...nothing, entities, triples, sources }
  for (const [rows, columns] of [
    [24, 80],
    [50, 200],
    [10, 40],
    [3, 20],
  ] as const) {
    const { text, summary } = answerOf('Where does Ellen live?', found, {
      ...screen,
      rows,
      columns,
    })
    const lines = text.trimEnd().split('\n')
    t.ok(lines.length <= rows - 2, `${lines.length} lines in ${rows} rows`)
    for (const line of lines) t.ok(line.length <= columns, line)
    t.match(summary, /^1 entity, \d+ of 40 passages, \d+ of 300 triples; --all /)
  }
  t.match(answerOf('Ellen?', found, screen).text, / {4}….*Ellen lives/s)
  const onlyTriples = answerOf('Ellen?', { ...found, sources: [] }, screen)
  t.equal(onlyTriples.text.trimEnd().split('\n').length, 22)
  const onlyEntities = answerOf('Ellen?', { ...nothing, entities }, screen)
  t.equal(onlyEntities.text, '<urn:ellen>  <urn:ellen>  1.000\n')
  t.end()
})

t.test('of a long title as much is shown as leaves room for where the passage stands', (t) => {
  const [source] = boat.sources
  const titled = (title: string, more = {}) => ({
    ...nothing,
    sources: [{ ...source, ...more, title } as Subgraph['sources'][number]],
  })
  const head = (found: Subgraph) => answerOf('Who?', found, screen).text.split('\n')[0] ?? ''
  const long = 'The Project Gutenberg eBook, News from Nowhere, by William Morris'
  t.equal(head(titled('A Note')), '[1]  A Note, 120 to 164  0.900')
  const cut = head(titled(long, { heading: 'Chapter I', page: 3 }))
  t.match(cut, /^\[1\] {2}The Project Gutenberg .*… › Chapter I, page 3, 120 to 164 {2}0\.900$/)
  t.equal(cut.length, 80)
  // Each of the three has two columns.
  const wide = head(titled(long, { heading: '第一章', page: 3 }))
  t.match(wide, /… › 第一章, page 3, 120 to 164 {2}0\.900$/)
  t.equal(wide.length, 80 - 3)
  const file = {
    ...(source as Subgraph['sources'][number]),
    document: entity('file:///a/my%20notes.txt'),
  }
  const named = { ...nothing, sources: [file] }
  t.match(head(named), '[1]  my notes.txt, 120')
  t.end()
})

t.test('triples that only relate stand behind passages, and a name counts wherever it is', (t) => {
  const related = statement('urn:a', vocabulary.related, entity('urn:ellen'))
  const text = `${filler.repeat(10)} Ellen lives here. ${filler.repeat(10)}`
  const sources = Array.from({ length: 9 }, (_, n) => ({
    ...(boat.sources[0] as Subgraph['sources'][number]),
    chunk: entity(`urn:c${n}`),
    text,
  }))
  const found = {
    ...nothing,
    sources,
    triples: [related, statement('urn:ellen', 'urn:is', literal('x'))],
  }
  const { text: page } = answerOf('Where does Ellen live?', found, screen)
  t.equal(page.match(/^\[\d\]/gm)?.length, 5)
  t.match(page, /^ {4}.*Ellen/m)
  t.match(page, '<urn:ellen> – is – "x"')
  t.notMatch(page, 'related')
  t.match(answerOf('where is ellen', { ...found, sources: [] }, screen).text, 'related')
  t.end()
})

t.test('an excerpt is of the lines that have the rarest words that were asked for', (t) => {
  const others = [filler.repeat(3), filler.repeat(2)]
  const text = `${filler.repeat(10)}The boats that Ellen rowed.\n\n${filler.repeat(10)}`
  const words = askedWords('Is there a boat here?', [text, ...others])
  const lines = excerptOf(text, words, { count: 3, width: 60 })
  t.equal(lines.length, 3)
  t.match(lines.join(' '), /^… .*boats that Ellen.* …$/)
  for (const line of lines) t.ok(line.length <= 60)
  const plain = askedWords('unknown', [text])
  t.match(excerptOf(text, plain, { count: 3, width: 60 })[0], /^Nothing of that/)
  t.strictSame(excerptOf('', plain, { count: 3, width: 60 }), [])
  t.strictSame(excerptOf('a\u001b[2Jb', plain, { count: 3, width: 60 }), ['a\\u001b[2Jb'])
  t.end()
})

t.test('what was asked for is in bold where the terminal can, and common words are not', (t) => {
  const words = askedWords('Where does the boat lie?', ['the boat', 'the pier', 'the inn'])
  t.equal(words.emphasize('On the Boats.'), 'On the \u001b[1mBoats\u001b[22m.')
  const { text } = answerOf('the boat', boat, { ...screen, isHighlit: true })
  t.match(text, 'sculled the \u001b[1mboat\u001b[22m.')
  t.end()
})
