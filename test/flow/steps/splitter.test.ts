import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { split, type SplitOptions } from '../../../src/flow/steps/splitter.js'
import type { Chunk } from '../../../src/flow/steps/types.js'
import { pickSeed } from '../../fixtures/random.js'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const isSpace = (text: string) => /^\s*$/.test(text)

function pieces(text: string, size: number, overlap = 0): string[] {
  return [...split(text, { size, overlap })].map(({ start, end }) => text.slice(start, end))
}

function firstOf(text: string): string {
  return graphemes.segment(text).containing(0)?.segment ?? ''
}

function lastOf(text: string): string {
  return graphemes.segment(text).containing(text.length - 1)?.segment ?? ''
}

/** Everything that split() promises of any text. */
function verify(text: string, { size, overlap }: SplitOptions): void {
  const boundaries = new Set([text.length])
  // What a segmenter gives holds a copy of the text: it must not be kept.
  for (const { index } of graphemes.segment(text)) boundaries.add(index)
  let last = { start: -1, end: 0 }
  let count = 0
  for (const { index, start, end } of split(text, { size, overlap })) {
    assert.equal(index, count++)
    assert.ok(boundaries.has(start) && boundaries.has(end), `${start} to ${end} is not whole`)
    assert.ok(!isSpace(firstOf(text.slice(start, end))), 'white space at the start')
    assert.ok(!isSpace(lastOf(text.slice(start, end))), 'white space at the end')
    assert.ok(
      end - start <= size || firstOf(text.slice(start, end)).length === end - start,
      `${end - start} units`,
    )
    assert.ok(start > last.start && end > last.end, 'no progress')
    assert.ok(start >= last.end - overlap, 'too much overlap')
    assert.ok(isSpace(text.slice(last.end, Math.max(last.end, start))), 'text left out')
    last = { start, end }
  }
  assert.ok(isSpace(text.slice(last.end)), 'text left out at the end')
}

const fragment = fc.oneof(
  fc.constantFrom(' ', '  ', '\n', '\r\n', '\r', '\n\n', '\r\n\r\n', '\n \n', '\t', '\u00a0'),
  fc.constantFrom('\ufeff', '\u2028', '\u2029', '\u3000', '\u0085', '\u200b', '\u00ad', '©'),
  fc.constantFrom('a', 'word', 'Mr. ', 'The end. ', 'Why? ', '"No!" ', 'x-y', '3.14', "don't "),
  fc.constantFrom('👩‍👩‍👧', '👍🏽', '\u{1f3fd}', '🇦🇧', '🇨', '❤️', '\u200d', '👩\u200d', '\u{e0067}'),
  fc.constantFrom('e\u0301', '\u0301', ' \u0301', '\u0600', '\u0600 ', '각', 'ᄀ', 'ᅡ', 'ᆨ'),
  fc.constantFrom(
    'ฉันชอบอ่านหนังสือ',
    'กำ',
    '我们在读书。',
    '很长的书',
    'यह क्षत्रिय है। ',
    'क्',
    'ष',
    'مرحبا ',
  ),
  fc.constantFrom('\ud83d', '\ude00', '\udde6', '\ud83c'),
  fc.string({ unit: 'grapheme', maxLength: 3 }),
  fc
    .tuple(fc.constantFrom('x', '\u0301', '🇦', '👩\u200d', 'क्', ' ', '\n', '书', '=', '\u0600'))
    .chain(([unit]) => fc.integer({ min: 1, max: 300 }).map((count) => unit.repeat(count))),
)
const hostile = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''))
const options = fc
  .integer({ min: 16, max: 300 })
  .chain((size) => fc.record({ size: fc.constant(size), overlap: fc.nat(size >> 1) }))

const seed = pickSeed() | 0

t.test(`any text comes in whole and exact pieces (seed ${seed})`, async () => {
  fc.assert(fc.property(hostile, options, verify), { seed, numRuns: 1500 })
})

t.test('white space is what trim() takes', async (t) => {
  const units = Array.from({ length: 0x10000 }, (_, n) => String.fromCharCode(n))
  const wrong = units.filter((unit) => pieces(unit, 16).length !== unit.trim().length)
  t.same(wrong, [])
  t.same(pieces('', 16), [])
  t.same(pieces(' \r\n\u3000\ufeff\n\n\t', 16), [])
  t.same(pieces('\ufeff  in between \r\n', 16), ['in between'])
})

t.test('a chunk ends at the last paragraph that fits', async (t) => {
  const text = 'First words.\r\n\r\nSecond. And more.\r\n \r\nThird words. And more of them.\r\n'
  t.same(pieces(text, 56), [
    'First words.\r\n\r\nSecond. And more.',
    'Third words. And more of them.',
  ])
})

t.test('but not at one that leaves it half empty', async (t) => {
  const text = 'Heading\n\nOne sentence. Another one, which is longer than the first one.'
  t.same(pieces(text, 40), [
    'Heading\n\nOne sentence.',
    'Another one, which is longer than the',
    'first one.',
  ])
})

t.test('else at the last sentence, wherever its lines end', async (t) => {
  const text =
    'He spoke of it. She did\nnot hear. There was\nnothing to be\nsaid and so we left them.'
  t.same(pieces(text, 50), [
    'He spoke of it. She did\nnot hear.',
    'There was\nnothing to be\nsaid and so we left them.',
  ])
  const exact = 'Aaaa bbbb ccc. Ddd eeee.'
  t.equal(pieces(`${exact}\nFfff gggg hhhh iiii`, 24)[0], exact)
  const far = `${'word '.repeat(120)}End. M${'ore '.repeat(200)}`
  t.equal(pieces(far, 1000)[0]?.slice(-4), 'End.')
  t.same(pieces('我们在这里读书。因为它很有意思。我们还要读很多很多的书', 20), [
    '我们在这里读书。因为它很有意思。',
    '我们还要读很多很多的书',
  ])
})

t.test('else at the last line, else at the last word', async (t) => {
  t.same(pieces('12 34 56\n78 90 12\n34 56 78\n90 12 34', 20), [
    '12 34 56\n78 90 12',
    '34 56 78\n90 12 34',
  ])
  t.same(pieces('no end of words in this line of many words', 20), [
    'no end of words in',
    'this line of many',
    'words',
  ])
  t.same(pieces('ฉันชอบอ่านหนังสือมากเพราะว่ามันสนุกดี', 16), ['ฉันชอบอ่าน', 'หนังสือมากเพราะ', 'ว่ามันสนุกดี'])
})

t.test('else at the last grapheme', async (t) => {
  t.same(pieces('x'.repeat(40), 16), ['x'.repeat(16), 'x'.repeat(16), 'x'.repeat(8)])
  const family = '👩‍👩‍👧'
  t.same(pieces(family.repeat(5), 20), [family.repeat(2), family.repeat(2), family])
  t.same(pieces(`x${'🇦🇧'.repeat(300)}`, 1000).join(''), `x${'🇦🇧'.repeat(300)}`)
})

t.test('a grapheme that is longer than a chunk is one', async (t) => {
  const giant = `a${'\u0301'.repeat(500)}`
  t.same(pieces(`Before it ${giant} and behind it`, 20, 8), ['Before it', giant, 'and behind it'])
})

t.test('a chunk starts at a sentence of the one before, else at a word', async (t) => {
  const text = 'One sentence here. Two. Then there is a third one, and that is all of it.'
  t.same(pieces(text, 28, 12).slice(0, 2), [
    'One sentence here. Two.',
    'Two. Then there is a third',
  ])
  t.same(pieces('no end of words in this line of words', 20, 10), [
    'no end of words in',
    'words in this line',
    'this line of words',
  ])
  t.same(pieces('书'.repeat(3) + 'x'.repeat(40), 32, 16).slice(1), ['x'.repeat(11)])
})

t.test('a word without white space around starts a chunk, a sign does not', async (t) => {
  t.same(pieces('alpha,beta,gamma,delta', 16), ['alpha,beta,', 'gamma,delta'])
  t.same(pieces('alpha,beta,gamma,delta', 16, 8), ['alpha,beta,gamma', 'gamma,delta'])
})

t.test('what is repeated is a whole grapheme, and not more than the overlap', async (t) => {
  t.same(pieces('aaaaaaaa \u0301cccccc dddd eeee ffff', 16, 8), [
    'aaaaaaaa \u0301cccccc',
    'dddd eeee ffff',
  ])
})

t.test('a chunk brings a quarter of its size at least, whatever it repeats', async (t) => {
  t.same(pieces('aaaa bbbb cccccccccccccccc', 16, 8), ['aaaa bbbb cccccc', 'c'.repeat(16)])
})

t.test('white space counts as overlap: no chunk repeats and brings nothing new', async (t) => {
  t.same(pieces(`a b c d e f g h${' '.repeat(100)}i`, 16, 8), ['a b c d e f g h', 'i'])
  t.same(pieces('a b c d e f g h    i j k l m', 16, 8), ['a b c d e f g h', 'g h    i j k l m'])
})

t.test('the last chunk is no crumb', async (t) => {
  const text = `${'word '.repeat(20)}end`
  const lengths = pieces(text, 100).map(({ length }) => length)
  t.same(lengths, [74, 28])
})

const repeat = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length))
const unkind = {
  letters: 'x',
  'line ends': '\r\n',
  spaces: ' ',
  marks: '\u0301',
  flags: '🇦🇧',
  families: '👩‍👩‍👧',
  'joined faces': '👩\u200d',
  'lone surrogates': '\ud800',
  'long graphemes': `a b ${'\u0301'.repeat(1100)}`,
  'marks on spaces': ' \u0301',
  prefixes: '\u0600 ',
  signs: '=',
  lines: 'x\n',
  dots: 'a.',
  syllables: 'क्',
  thai: 'ฉันชอบอ่านหนังสือมากเพราะ',
}
for (const [name, unit] of Object.entries(unkind)) {
  t.test(`what is asked of a segmenter grows as the text: ${name}`, async (t) => {
    for (const [size, overlap] of [
      [2000, 100],
      [64, 32],
    ] as const) {
      const [once, fourTimes] = [10_000, 40_000].map((length) => {
        const text = `x${repeat(unit, length)}y`
        return segmented(() => [...split(text, { size, overlap })])
      })
      t.ok((fourTimes ?? NaN) <= 6 * (once ?? NaN) + 1000, `${once} units, then ${fourTimes}`)
      t.ok((fourTimes ?? NaN) <= 40_000 * (size === 64 ? 40 : 4), `${fourTimes} units`)
    }
  })
}

/** The length of all texts that segmenters got meanwhile. */
function segmented(work: () => void): number {
  const { segment } = Intl.Segmenter.prototype
  let units = 0
  Intl.Segmenter.prototype.segment = function (this: Intl.Segmenter, text: string) {
    units += text.length
    return segment.call(this, text)
  }
  try {
    work()
  } finally {
    Intl.Segmenter.prototype.segment = segment
  }
  return units
}

t.test('a novel, in chunks of which none is small', async (t) => {
  const file = resolve('../shared/data/news-from-nowhere.txt')
  if (!existsSync(file)) {
    t.comment('no novel: ../shared/data is not there')
    return
  }
  const text = readFileSync(file, 'latin1')
  const chunks = [...split(text, { size: 2000, overlap: 100 })]
  t.ok(chunks.every(({ start, end }) => end - start >= 500 && end - start <= 2000))
  const isAfterSpace = ({ start }: Chunk) => /^\s\S$/.test(text.slice(start - 1, start + 1))
  t.same(
    chunks.slice(1).filter((chunk) => !isAfterSpace(chunk)),
    [],
  )
  const isBeforeSpace = ({ end }: Chunk) => /^\S\s$/.test(text.slice(end - 1, end + 1))
  t.same(
    chunks.slice(0, -1).filter((chunk) => !isBeforeSpace(chunk)),
    [],
  )
})
