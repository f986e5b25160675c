import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { graphemeEnd, graphemeFloor } from '../../../src/flow/steps/boundaries.js'
import { pickSeed, Random } from '../../fixtures/random.js'

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })
const seed = pickSeed() | 0

/** Asks about every place of the text, with every boundary before it that `known` picks. */
function verify(text: string, known: (boundaries: readonly number[]) => number): void {
  const boundaries: number[] = []
  for (const { index, segment } of graphemes.segment(text)) {
    boundaries.push(index)
    assert.equal(graphemeEnd(text, index), index + segment.length)
    for (let at = index; at < index + segment.length; at++) {
      assert.equal(graphemeFloor(text, at, known(boundaries)), index, `at ${at}`)
    }
  }
}

// Runs longer than the windows that a segmenter gets.
const run = fc
  .tuple(
    fc.constantFrom('\u0301', '🇦', '👩\u200d', '👍🏽', 'क्', 'ष', '\u0600', '각', 'ᄀ', 'ᅡ', 'x'),
    fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 150 })),
  )
  .map(([unit, count]) => unit.repeat(count))
const piece = fc.oneof(
  run,
  fc.constantFrom('\r\n', ' ', '©', '❤️', '\u200d', '\ud83c', '\udde6', '\u{e0067}', '书', 'กำ'),
)

t.test(`a grapheme is found from a window of the text (seed ${seed})`, async () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.nat(), (pieces, back) => {
      verify(pieces.join(''), (all) => all[Math.max(0, all.length - 1 - (back % 300))] as number)
    }),
    { seed, numRuns: 200 },
  )
})

t.test(`the characters of the West are apart, CR LF is not (seed ${seed})`, async () => {
  const random = new Random(seed)
  const units = Array.from({ length: 0x300 }, (_, n) => String.fromCharCode(n))
  for (let n = 0; n < 100; n++) {
    verify(`${random.shuffle(units).slice(0, 200).join('')}\r\n\r\n`, () => 0)
  }
})
