import t from 'tap'
import { namesIn } from './names-in.js'

t.test('names hold the small words of institutions', async (t) => {
  for (const name of [
    'International Organization for Standardization',
    'Newark College of Arts and Sciences',
    'Department of Health and Human Services',
    'House of Commons',
    'Bank of England',
    'Premier of South Australia',
    "People's Republic of Poland",
    'Johnson & Johnson',
    'Joan of Arc',
    'Ludwig van Beethoven',
    'Vasco da Gama',
    'Harry Connick, Jr.',
    'Nine Inch Nails',
  ]) {
    t.strictSame(await namesIn(`Then they told us of the ${name} and left.`), [name])
  }
})

t.test('small words between two names are none of theirs', async (t) => {
  const names = (text: string) => namesIn(`We saw that ${text}.`)
  t.strictSame(await names('he left Apple for Google'), ['Apple', 'Google'])
  t.strictSame(await names('Trent Reznor of Nine Inch Nails sang'), [
    'Trent Reznor',
    'Nine Inch Nails',
  ])
  t.strictSame(await names('the universities of Oxford and Yale met'), ['Oxford', 'Yale'])
  t.strictSame(await names("Apple's Macintosh was sold in Rome and Paris"), [
    ...['Apple', 'Macintosh', 'Rome', 'Paris'],
  ])
})

t.test('adjectives of names are no names', async (t) => {
  t.strictSame(await namesIn('He was an Italian-born painter at a Boston-based school.'), [])
  t.strictSame(await namesIn('They saw Kim Jong-un and Jean-Luc Picard.'), [
    'Kim Jong-un',
    'Jean-Luc Picard',
  ])
})

t.test('other languages keep their own small words', async (t) => {
  t.strictSame(await namesIn('Gestern sah Otto von Bismarck den Rhein.', false), [
    'Otto von Bismarck',
    'Rhein',
  ])
})
