// Lists of words: what is written is read, and bytes of anything else end in an error, or in some list.

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { hasCode } from '../../../src/errors.js'
import { countsEnd, WordList, WordListWriter } from '../../../src/graph/words/word-list.js'
import { pickSeed } from '../../fixtures/random.js'

const seed = pickSeed()

const gaps = fc.array(fc.oneof(fc.nat(3), fc.nat(2 ** 31)), { maxLength: 4 })
const entry = fc
  .record({
    /** How far behind the passage before. */
    step: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 2 ** 24 })),
    title: gaps,
    heading: gaps,
    text: gaps,
  })
  .filter(({ title, heading, text }) => title.length + heading.length + text.length > 0)

t.test(`what is written is read, with or without its positions (seed ${seed})`, async (t) => {
  const property = fc.property(
    fc.array(entry, { maxLength: 20 }),
    fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }),
    (entries, isRead) => {
      const writer = new WordListWriter()
      let passage = 0
      const expected = entries.map(({ step, ...fields }) => ({
        passage: (passage += step),
        fields,
      }))
      for (const { passage, fields } of expected) {
        const { title, heading, text } = fields
        writer.passage(passage, {
          title: title.length,
          heading: heading.length,
          text: text.length,
        })
        for (const gap of [...title, ...heading, ...text]) writer.gap(gap)
      }
      const bytes = Buffer.concat(writer.take())
      const list = new WordList(bytes, Infinity)
      assert.equal(list.count, entries.length)
      for (const [n, { passage, fields }] of expected.entries()) {
        assert.ok(list.next())
        assert.equal(list.passage, passage)
        const { title, heading, text } = fields
        assert.deepEqual(
          [list.title, list.heading, list.text],
          [title.length, heading.length, text.length],
        )
        if (isRead[n] === false) continue
        list.positions()
        const read = [...title, ...heading, ...text].map(() => list.gap())
        assert.deepEqual(read, [...title, ...heading, ...text])
      }
      assert.ok(!list.next())
      // Counts alone are the same list.
      const counts = new WordList(bytes.subarray(0, countsEnd(bytes, 0)), Infinity)
      const passages: number[] = []
      while (counts.next()) passages.push(counts.passage)
      assert.deepEqual(
        passages,
        expected.map(({ passage }) => passage),
      )
    },
  )
  fc.assert(property, { numRuns: 500, seed })
  t.pass()
})

const short = fc.record({
  step: fc.integer({ min: 1, max: 3 }),
  title: fc.constant<number[]>([]),
  heading: fc.constant<number[]>([]),
  text: fc.array(fc.nat(200), { minLength: 1, maxLength: 3 }),
})

t.test(`passages that are passed leave the positions where they are (seed ${seed})`, async (t) => {
  const property = fc.property(
    fc.array(fc.oneof({ arbitrary: short, weight: 20 }, entry), { maxLength: 200, size: 'max' }),
    fc.array(fc.nat(300), { maxLength: 20 }),
    (entries, bounds) => {
      const writer = new WordListWriter()
      let passage = 0
      for (const { step, title, heading, text } of entries) {
        const counts = { title: title.length, heading: heading.length, text: text.length }
        writer.passage((passage += step), counts)
        for (const gap of [...title, ...heading, ...text]) writer.gap(gap)
      }
      const bytes = Buffer.concat(writer.take())
      const [one, other] = [new WordList(bytes, Infinity), new WordList(bytes, Infinity)]
      const all = [...bounds.sort((a, b) => a - b), 2 ** 23, Infinity]
      for (const to of all) {
        let isThere = one.isBegun || one.next()
        while (isThere && one.passage < to) isThere = one.next()
        assert.equal(other.advance(to), isThere)
        if (!isThere) break
        for (const list of [one, other]) list.positions()
        const { passage, title, heading, text } = one
        assert.deepEqual(
          [other.passage, other.title, other.heading, other.text],
          [passage, title, heading, text],
        )
        const read = (list: WordList) =>
          Array.from({ length: title + heading + text }, () => list.gap())
        const gaps = read(one)
        assert.deepEqual(read(other), gaps)
        // Positions are read once.
        if (!one.next()) break
        other.next()
      }
    },
  )
  fc.assert(property, { numRuns: 500, seed })
  t.pass()
})

t.test(`any bytes end (seed ${seed})`, async (t) => {
  let damaged = 0
  const property = fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
    try {
      const list = new WordList(bytes, Infinity)
      while (list.next()) {
        list.positions()
        for (let left = list.title + list.heading + list.text; left > 0; left--) list.gap()
      }
    } catch (error) {
      if (!hasCode(error, 'LK_STORAGE_CORRUPT')) throw error
      damaged++
    }
  })
  fc.assert(property, { numRuns: 2000, seed })
  t.ok(damaged > 100, `${damaged} of them`)
})

t.test('positions that are said to begin behind the end are none', async (t) => {
  // One passage with one word, and counts of 127 bytes.
  const list = new WordList(Uint8Array.of(2, 127, 0, 4, 1, 4, 0, 0), Infinity)
  t.ok(list.next() && list.next())
  t.throws(() => list.positions(), { code: 'LK_STORAGE_CORRUPT' })
})

t.test('a list has no passage twice, and none without the word', async (t) => {
  for (const entries of [
    [1, 4, 0, 4],
    [1, 4, 1, 0],
    [1, 4, 1, 1, 0],
  ]) {
    const list = new WordList(Uint8Array.of(2, entries.length, ...entries, 0, 0), Infinity)
    t.ok(list.next())
    t.throws(() => list.next(), { code: 'LK_STORAGE_CORRUPT' })
  }
})
