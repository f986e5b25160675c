import t from 'tap'
import { columnsOf } from '../../../src/flow/files/pdf-layout.js'

t.test('a page has as many pieces of text as it likes', async (t) => {
  const count = 200_000
  const fragments = Array.from({ length: count }, (_, n) => {
    const [left, base] = [n % 500, Math.floor(n / 500)]
    return { text: 'x', left, right: left + 1, base, size: 1 }
  })
  t.equal(columnsOf(fragments).flat().length, count)
})
