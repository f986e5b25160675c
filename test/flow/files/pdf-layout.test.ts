import t from 'tap'
import { columnsOf, linesOf } from '../../../src/flow/files/pdf-layout.js'

t.test('a page has as many pieces of text as it likes', async (t) => {
  const count = 200_000
  const fragments = Array.from({ length: count }, (_, n) => {
    const [left, base] = [n % 500, Math.floor(n / 500)]
    return { text: 'x', left, right: left + 1, base, size: 1 }
  })
  t.equal(columnsOf(fragments).flat().length, count)
})

t.test('pieces of a line are joined as its letters are read', (t) => {
  /** Each as wide as its letters, from the left, with a space between them. */
  const read = (...texts: string[]) => {
    let left = 0
    const pieces = texts.map((text) => {
      const right = left + text.length
      const piece = { text, left, right, base: 0, size: 1 }
      left = right + 0.3
      return piece
    })
    return linesOf(pieces).map((line) => line.text)
  }
  t.strictSame(read('one', 'two', '3.'), ['one two 3.'])
  t.strictSame(read('עולם', 'שלום'), ['שלום עולם'])
  t.strictSame(read('العالم', 'يا', 'مرحبا'), ['مرحبا يا العالم'])
  t.strictSame(read('טוב', 'New', 'York', 'ירושלים'), ['ירושלים New York טוב'])
  t.strictSame(read('.', 'עובד', 'Windows', '11', 'ירושלים'), ['ירושלים Windows 11 עובד .'])
  t.strictSame(read('2025', '-', '2024', 'בשנים'), ['בשנים 2024 - 2025'])
  t.strictSame(read('We', 'say', 'עולם', 'שלום', 'to', 'all', 'of', 'them'), [
    'We say שלום עולם to all of them',
  ])
  const glued = [
    { text: 'לום', left: 0, right: 3, base: 0, size: 1 },
    { text: 'ש', left: 3, right: 4, base: 0, size: 1 },
  ]
  t.match(linesOf(glued), [{ text: 'שלום', left: 0, right: 4 }])
  // As a change of the font within a number makes them.
  const number = ['20', '24', '.', '5'].map((text, n) => {
    return { text, left: 2 * n, right: 2 * n + 2, base: 0, size: 1 }
  })
  const year = { text: 'שנת', left: 8.3, right: 11, base: 0, size: 1 }
  t.match(linesOf([...number, year]), [{ text: 'שנת 2024.5' }])
  t.end()
})
