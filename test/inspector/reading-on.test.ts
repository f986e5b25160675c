// A list that is read again is as long as it was.

import t from 'tap'
import { readOn } from '../../src/inspector/parts/reading-on.js'

/** Of 400 numbers, 50 of which are looked at for a page: every tenth is listed. */
async function few(after: string | undefined, limit: number) {
  const from = after === undefined ? 0 : Number(after)
  const to = from + 50
  const items = Array.from({ length: 50 }, (_, n) => from + n).filter((n) => n % 10 === 0)
  return { items: items.slice(0, limit), next: to < 400 ? String(to) : undefined }
}

t.test('pages with few in them are read until as many as were there are', async (t) => {
  const first = await readOn(few, [], undefined, 20)
  t.strictSame(first, { items: [0, 10, 20, 30, 40], next: '50', total: undefined })
  const more = await readOn(few, first.items, first.next, 20)
  t.strictSame(more.items.length, 10)
  const again = await readOn(few, [], undefined, 20, more.items.length)
  t.strictSame(again, more)
  t.equal((await readOn(few, [], undefined, 100, 100)).items.length, 40, 'there are no more')
})
