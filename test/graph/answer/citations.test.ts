import fc from 'fast-check'
import t from 'tap'
import {
  citationsIn,
  wholeCitations,
  withoutCitations,
} from '../../../src/graph/answer/citations.js'
import { pickSeed } from '../../fixtures/random.js'
import { source } from './sources.js'

const sources = ['a', 'b', 'c', 'd'].map((text) => source(text))

const aText = fc.string({
  unit: fc.constantFrom(
    '[',
    ']',
    '【',
    '】',
    '1',
    '2',
    ',',
    '-',
    ' ',
    'p',
    '^',
    '😀',
    '\n',
    'passage',
  ),
})

/** `1@4-7`, and `!9@4-7` for one that no passage has. */
function cited(text: string): string {
  const { citations, unknown } = citationsIn(text, sources)
  for (const { n, source } of citations) t.equal(source, sources[n - 1])
  const all = [
    ...citations.map((each) => ({ ...each, is: '' })),
    ...unknown.map((each) => ({ ...each, is: '!' })),
  ]
  return all.map(({ n, start, end, is }) => `${is}${n}@${start}-${end}`).join(' ')
}

t.test('what models write as citations is found where it stands', (t) => {
  const cases: [string, string][] = [
    ['By the Thames [1].', '1@14-17'],
    ['Thames[1][2].', '1@6-9 2@9-12'],
    ['[1, 2]', '1@0-6 2@0-6'],
    ['[1,2;3]', '1@0-7 2@0-7 3@0-7'],
    ['[1 and 3]', '1@0-9 3@0-9'],
    ['[1-3]', '1@0-5 2@0-5 3@0-5'],
    ['[1–2, 4]', '1@0-8 2@0-8 4@0-8'],
    ['[2 to 3]', '2@0-8 3@0-8'],
    ['[1, 1]', '1@0-6'],
    ['[ 2 ]', '2@0-5'],
    ['[^2]', '2@0-4'],
    ['[^2^]', '2@0-5'],
    ['[[2]]', '2@1-4'],
    ['[#2]', '2@0-4'],
    ['[Passage 2]', '2@0-11'],
    ['[passages 1 and 2]', '1@0-18 2@0-18'],
    ['[source 3]', '3@0-10'],
    ['[2, p. 14]', '2@0-10'],
    ['[2, page 3-4]', '2@0-13'],
    ['【2】', '2@0-3'],
    ['【2†L3-L5】', '2@0-9'],
    ['泰晤士河[1、2]', '1@4-9 2@4-9'],
    ['[2](#2)', '2@0-3'],
  ]
  for (const [text, expected] of cases) t.equal(cited(text), expected, text)
  t.end()
})

t.test('what has no number of a passage is no citation', (t) => {
  const cases: [string, string][] = [
    ['[5]', '!5@0-3'],
    ['[0]', '!0@0-3'],
    ['[1984]', '!1984@0-6'],
    ['[1, 9]', '1@0-6 !9@0-6'],
    ['[3-999999]', '3@0-10 4@0-10 !999999@0-10'],
    ['[0-1]', '1@0-5 !0@0-5'],
    ['[7-9]', '!7@0-5 !9@0-5'],
    ['[2023-24]', ''],
    ['[2024-10-15]', ''],
    ['[01]', ''],
    ['[1234567]', ''],
    ['[-1]', ''],
    ['[1.5]', ''],
    ['[sic] [x] [] [ ] [1', ''],
    ['(1) 1] {1}', ''],
    ['[1\n]', ''],
    ['[2 apples]', ''],
    ['`a[1]` is code, and so is\n```\na[2]\n``` but [3]', '3@43-46'],
    ['``` that does not end [1]', ''],
    ["an odd ` is not [1]\nin '`'", '1@16-19'],
  ]
  for (const [text, expected] of cases) t.equal(cited(text), expected, text)
  t.end()
})

const plain = (text: string) => text.replace(/[([【]/g, '[').replace(/[)\]】]/g, ']')

t.test('a text that is told again cites nothing, and says the same otherwise', (t) => {
  t.equal(withoutCitations('a[3] 【1】 [1, 2] [sic] [x]'), 'a(3) (1) (1, 2) [sic] [x]')
  const property = fc.property(aText, (text) => {
    const other = withoutCitations(text)
    t.equal(cited(other), '')
    t.equal(plain(other), plain(text))
    t.equal(other.length, text.length)
  })
  fc.assert(property, { seed: pickSeed(), numRuns: 500 })
  t.end()
})

t.test('what begins like a citation and is long is read once', (t) => {
  // By the square of it this would take an hour.
  for (const begin of ['[1 p', '[1, p. 2', '[1', '[', '[1,', '[1†', '[1^', '[passage', '[1 to']) {
    const text = `${begin}${' '.repeat(1_000_000)}x`
    t.equal(withoutCitations(text), text)
    t.strictSame(citationsIn(text, sources).citations, [])
  }
  t.equal(withoutCitations('[1 p.\t2\u00a0] [2†L3 ]'), '(1 p.\t2\u00a0) (2†L3 )')
  t.end()
})

t.test('pieces end inside of no citation, however the text came', async (t) => {
  const property = fc.asyncProperty(aText, fc.array(fc.nat(60)), async (text, cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), text.length]
    async function* texts() {
      for (const [n, to] of places.slice(1).entries()) yield text.slice(places[n], to)
    }
    const pieces: string[] = []
    for await (const piece of wholeCitations(texts())) pieces.push(piece)
    t.equal(pieces.join(''), text)
    t.ok(pieces.every((piece) => piece !== '' && piece.isWellFormed()))
    const ends = pieces.map((_, n) => pieces.slice(0, n + 1).join('').length)
    for (const { start, end } of citationsIn(text, sources).citations) {
      t.notOk(ends.some((at) => start < at && at < end))
    }
  })
  await fc.assert(property, { seed: pickSeed(), numRuns: 500 })
})

t.test('a piece is held back no longer than it may be a citation', async (t) => {
  let sent = 0
  async function* texts() {
    for (const text of [
      'By [',
      '1',
      '] and [see',
      '\n',
      ' [',
      'x'.repeat(300),
      '😀'[0] ?? '',
      '😀'[1] ?? '',
      '[2',
    ]) {
      sent++
      yield text
    }
  }
  const seen: [number, string][] = []
  for await (const piece of wholeCitations(texts())) seen.push([sent, piece])
  t.strictSame(seen, [
    [1, 'By '],
    [3, '[1] and '],
    [4, '[see\n'],
    [5, ' '],
    [6, `[${'x'.repeat(300)}`],
    [8, '😀'],
    [9, '[2'],
  ])
})
