import t from 'tap'
import { dates, dateTerm } from '../../../../src/flow/steps/offline/dates.js'
import { loadTagger } from '../../../../src/flow/steps/offline/tagger.js'

async function datesIn(text: string): Promise<string[]> {
  const tagger = await loadTagger()
  return tagger.sentences(text).flatMap((sentence) => {
    return dates(sentence).map(({ value, type }) => `${value} ${type}`)
  })
}

t.test('dates in every order, months, and years', async (t) => {
  for (const date of [
    ...['June 13, 1877', '13 June 1877', '13th June, 1877', 'Jun. 13 1877', '1877-06-13'],
    ...['the 13th of June 1877', 'June 13th, 1877'],
  ]) {
    t.strictSame(await datesIn(`He was born on ${date}, in Rome.`), ['1877-06-13 date'], date)
  }
  t.strictSame(await datesIn('It began in May 1998 and Sept. 2001.'), [
    '1998-05 gYearMonth',
    '2001-09 gYearMonth',
  ])
  t.strictSame(await datesIn('A film (1998), a war (1914–1918).'), [
    ...['1998 gYear', '1914 gYear', '1918 gYear'],
  ])
})

t.test('other numbers, and what is not said exactly, are none', async (t) => {
  for (const text of [
    'It was c. 1490, about 1500, or 1200 BC.',
    'It has 1500 people, 2000 metres and 1200%.',
    'We may 5 times; it is 3 May; the 1910s; 12345; 999.',
  ]) {
    t.strictSame(await datesIn(text), [], text)
  }
})

t.test('a day that its month does not have is none', async (t) => {
  const found = await datesIn('On 31 February 1999, or February 30, 1999, or 1999-02-30.')
  t.strictSame(found, ['1999-02 gYearMonth', '1999 gYear'])
})

t.test('a date is a typed literal', (t) => {
  const term = dateTerm({ value: '1998', type: 'gYear' })
  t.strictSame(term, { v: '1998', e: false, dt: 'http://www.w3.org/2001/XMLSchema#gYear' })
  t.end()
})
