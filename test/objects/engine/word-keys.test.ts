import * as fc from 'fast-check'
import t from 'tap'
import { sortWords } from '../../../src/objects/engine/entries.js'
import { newKeys } from '../../../src/objects/engine/key-list.js'
import { addWordKeys, placesIn, wordsOf } from '../../../src/objects/engine/word-keys.js'
import { pickSeed } from '../../fixtures/random.js'

const fields = [
  { path: ['a'], weight: 2 },
  { path: ['b'], weight: 1 },
]

t.test('a row has each of its words once, with how often and where', async (t) => {
  const object = { a: 'one two one', b: ['two three', '', 'one'] }
  const found = newKeys()
  const { words, length } = wordsOf(fields, (name) => object[name as 'a' | 'b'])
  addWordKeys({ words, length }, 7, found)
  const { keys, refs, places, lengths } = sortWords(found)
  t.strictSame(keys, [9, 'one\x005', 'three\x001', 'two\x003'])
  t.strictSame([...refs], [7, 7, 7, 7])
  // What follows a string leaves out one.
  t.strictSame(places?.map(placesOf), [[], [0, 2, 8], [5], [1, 4]])
  t.strictSame(lengths, [0, 9, 9, 9])
})

t.test('places are what they were, however long the row is', async (t) => {
  const many = fc.array(fc.constantFrom('a', 'b', 'c d', '', 'x '.repeat(40_000)), { maxLength: 5 })
  const property = fc.property(many, (texts) => {
    const expected = new Map<string, number[]>()
    let place = 0
    for (const text of texts) {
      for (const word of text.split(' ').filter((each) => each !== '')) {
        const known = expected.get(word)
        if (known === undefined) expected.set(word, [place])
        else known.push(place)
        place++
      }
      place++
    }
    const { words } = wordsOf(fields.slice(0, 1), () => texts)
    const found = new Map([...words].map(([word, { places }]) => [word, placesOf(places)]))
    t.strictSame(found, expected)
  })
  fc.assert(property, { seed: pickSeed(), numRuns: 30 })
})

function placesOf(text: string): number[] {
  const bytes = Buffer.from(`?${text}?`, 'latin1')
  return placesIn(bytes, 1, bytes.length - 1)
}
