// Cursors: sealed, and good for one list alone.

import t from 'tap'
import { Cursors, pageByLooks } from '../src/paging.js'
import { aTime } from '../src/time-range.js'

const cursors = new Cursors(() => 'a secret')
const list = ['jobs', { user: 'alice' }]

t.test('a cursor gives the place that it was made of, and tells nobody what that is', async (t) => {
  for (const place of [0, 7, 2 ** 53 - 1, 'urn:a', 'ü', '']) {
    const cursor = cursors.seal(place, list)
    t.equal(cursors.open(cursor, list), place)
    t.equal(cursors.seal(place, list), cursor, 'the same for the same page')
    t.equal(new Cursors(() => 'a secret').open(cursor, list), place, 'after a restart')
    t.match(cursor, /^[\w-]+$/)
  }
  const text = Buffer.from(cursors.seal('urn:a:very:long:name', list), 'base64url').toString(
    'latin1',
  )
  t.notOk(text.includes('very'))
})

t.test('a cursor of anything else is refused', async (t) => {
  const cursor = cursors.seal(7, list)
  const refused = (text: string, of: readonly unknown[] = list, by = cursors) => {
    t.throws(() => by.open(text, of), {
      code: 'LK_CURSOR',
      details: { errors: [{ path: 'after' }] },
    })
  }
  refused(cursor, ['jobs', { user: 'bob' }])
  refused(cursor, ['documents', { user: 'alice' }])
  refused(cursor, ['jobs', { user: 'alice', state: 'dead' }])
  refused(cursor, list, new Cursors(() => 'another secret'))
  for (const text of ['', 'a', '7', 'not a cursor', cursor.slice(1), cursor.slice(0, -2)])
    refused(text)
  for (let at = 0; at < cursor.length - 1; at++) {
    const other = cursor[at] === 'A' ? 'B' : 'A'
    refused(cursor.slice(0, at) + other + cursor.slice(at + 1))
  }
})

t.test('a page that matches little ends all the same, and the next goes on', async (t) => {
  let looked = 0
  const look = async (after = 0) => {
    looked++
    const next = after + 100
    return { found: next === 5000 ? ['found'] : [], next: next === 6000 ? undefined : next }
  }
  const found: string[] = []
  let after: string | undefined
  let pages = 0
  do {
    const page = await pageByLooks<string, number>(look, { ...(after && { after }) }, cursors, list)
    found.push(...page.items)
    after = page.page.next
    pages++
  } while (after !== undefined)
  t.strictSame({ found, looked, pages }, { found: ['found'], looked: 60, pages: 3 })
})

t.test('a time to filter by is one moment', async (t) => {
  for (const text of ['2026-01-31', '2026-01-31T12:00Z', '2026-01-31T12:00:00.5+01:00']) {
    t.ok(aTime.holds(text), text)
  }
  for (const text of ['', 'now', '2026', '2026-01-31T12:00:00', '2026-13-01', '31.1.2026', 7]) {
    t.notOk(aTime.holds(text), String(text))
  }
})
