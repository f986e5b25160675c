// Many passages of a list at once are those that come one by one.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { hasCode } from '../../../src/errors.js'
import { entries, NO_MORE } from '../../../src/graph/words/word-entries.js'
import { WordList, WordListWriter } from '../../../src/graph/words/word-list.js'
import { pickSeed } from '../../fixtures/random.js'

const seed = pickSeed()

const count = fc.oneof(fc.nat(2), fc.nat(40), fc.nat(2 ** 29))
const entry = fc
  .record({
    step: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 ** 18 })),
    title: fc.oneof(fc.constant(0), count),
    heading: fc.oneof(fc.constant(0), count),
    text: count,
  })
  .filter(({ title, heading, text }) => title + heading + text > 0)

interface Entry {
  readonly passage: number
  readonly title: number
  readonly heading: number
  readonly text: number
}

/** What is read up to some bounds, of those that are seen. */
function readUpTo(list: WordList, bounds: readonly number[], isSeen?: (n: number) => boolean) {
  const cursor = list.entries()
  const seen = isSeen && { has: isSeen }
  const found: Entry[] = []
  for (const to of bounds) {
    for (let read = cursor.readSeen(to, seen); read >= 0; read = cursor.readSeen(to, seen)) {
      for (let n = 0; n < read; n++) {
        const { passages, counts, titles, headings } = entries
        const word = counts[n] as number
        found.push({
          passage: passages[n] as number,
          title: (word & 1) === 0 ? 0 : (titles[n] as number),
          heading: (word & 2) === 0 ? 0 : (headings[n] as number),
          text: word >>> 2,
        })
        assert.ok((word & 3) === 0 || entries.hasOthers)
      }
    }
    assert.ok(cursor.next >= to)
  }
  assert.equal(cursor.next, NO_MORE)
  return found
}

t.test(`entries are those of the list (seed ${seed})`, async (t) => {
  const property = fc.property(
    fc.array(entry, { maxLength: 1500, size: 'max' }),
    fc.array(fc.nat(2 ** 20), { maxLength: 5 }),
    fc.integer({ min: 2, max: 5 }),
    (given, some, unseen) => {
      const writer = new WordListWriter()
      let passage = -1
      for (const { step, ...counts } of given) writer.passage((passage += step), counts)
      const bytes = Buffer.concat(writer.take())
      const list = new WordList(bytes, NO_MORE)
      const expected: Entry[] = []
      while (list.next()) {
        const { passage, title, heading, text } = list
        expected.push({ passage, title, heading, text })
      }
      const bounds = [...some.sort((a, b) => a - b), NO_MORE]
      assert.deepEqual(readUpTo(list, bounds), expected)
      const isSeen = (n: number) => n % unseen > 0
      assert.deepEqual(
        readUpTo(list, bounds, isSeen),
        expected.filter(({ passage }) => isSeen(passage)),
      )
    },
  )
  fc.assert(property, { numRuns: 100, seed })
  t.pass()
})

t.test(`any bytes are damaged for both, or for none (seed ${seed})`, async (t) => {
  const isDamaged = (read: () => unknown) => {
    try {
      read()
      return false
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      return true
    }
  }
  let damaged = 0
  const property = fc.property(
    fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(9), { maxLength: 40 })),
    (given) => {
      const bytes = Uint8Array.from(given)
      const byOne = isDamaged(() => {
        const list = new WordList(bytes, 1000)
        while (list.next());
      })
      const many = isDamaged(() => readUpTo(new WordList(bytes, 1000), [7, 500, NO_MORE]))
      assert.equal(many, byOne)
      if (many) damaged++
    },
  )
  fc.assert(property, { numRuns: 5000, seed })
  t.ok(damaged > 100, `${damaged} of them`)
})

t.test('passages from 2^31 on are in no list', async (t) => {
  const far = Uint8Array.of(1, 6, 0x80, 0x80, 0x80, 0x80, 0x08, 4)
  t.throws(() => new WordList(far, Infinity).entries(), { code: 'LK_STORAGE_CORRUPT' })
})
