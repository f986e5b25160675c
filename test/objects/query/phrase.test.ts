import * as fc from 'fast-check'
import t from 'tap'
import { wordsOf } from '../../../src/objects/engine/word-keys.js'
import { PhraseSearch } from '../../../src/objects/query/phrase.js'
import { pickSeed } from '../../fixtures/random.js'

const word = fc.constantFrom('a', 'b', 'c', 'ab')
const row = fc.array(fc.array(word, { maxLength: 12 }), { maxLength: 3 })

t.test('a word that a row has many times takes no more than a pass over them', async (t) => {
  const search = new PhraseSearch(1)
  const { words } = wordsOf([{ path: ['a'], weight: 1 }], () => `${'x '.repeat(300_000)}y`)
  const placesOf = (form: string) => () => words.get(form)?.places ?? ''
  for (const [n, form] of ['x', 'x', 'y'].entries()) {
    search.add(7, placesOf(form))
    search.endWord(n)
  }
  t.strictSame([...search.finish()], [7])
})

t.test('the rows are those that have the words one behind the other, in one string', async () => {
  const property = fc.property(
    fc.array(row, { maxLength: 12 }),
    fc.array(word, { minLength: 2, maxLength: 4 }),
    fc.boolean(),
    fc.boolean(),
    (rows, forms, isPrefix, isReversed) => {
      const last = forms.length - 1
      const fits = (own: string, n: number) =>
        isPrefix && n === last ? own.startsWith(forms[n] as string) : own === forms[n]
      const expected = rows.flatMap((strings, ref) => {
        const has = strings.some((words) =>
          words.some((_, at) =>
            forms.every((__, n) => words[at + n] !== undefined && fits(words[at + n] as string, n)),
          ),
        )
        return has ? [ref] : []
      })
      const search = new PhraseSearch(0)
      const order = [...forms.keys()]
      for (const n of isReversed ? order.toReversed() : order) {
        rows.forEach((strings, ref) => {
          const texts = strings.map((words) => words.join(' '))
          const { words } = wordsOf([{ path: ['a'], weight: 1 }], () => texts)
          for (const [form, { places }] of words) if (fits(form, n)) search.add(ref, () => places)
        })
        search.endWord(n)
      }
      return JSON.stringify([...search.finish()]) === JSON.stringify(expected)
    },
  )
  fc.assert(property, { seed: pickSeed(), numRuns: 2000 })
})
