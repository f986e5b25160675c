import t from 'tap'
import { aReads, LastLook } from '../src/reads.js'

t.test('only what there is is taken', async (t) => {
  t.ok(aReads.holds('fresh'))
  t.ok(aReads.holds('recent'))
  for (const wrong of ['Fresh', '', undefined, null, 1]) t.notOk(aReads.holds(wrong))
})

t.test('recent is less than a second old, fresh is looked at each time', async (t) => {
  let now = 0
  const last = new LastLook(() => now)
  t.ok(last.isDue('recent'), 'nothing was seen yet')
  const seen = last.begin()
  now = 400
  seen()
  t.ok(last.isDue('fresh'))
  now = 999
  t.notOk(last.isDue('recent'))
  now = 1000
  t.ok(last.isDue('recent'), 'counted from when the look began')
})

t.test(
  'what is told makes the next look earlier, and during a look it may have been missed',
  async (t) => {
    const last = new LastLook(() => 0)
    last.begin()()
    t.notOk(last.isDue('recent'))
    last.outdate()
    t.ok(last.isDue('recent'))
    const seen = last.begin()
    last.outdate()
    seen()
    t.ok(last.isDue('recent'))
    last.begin()()
    t.notOk(last.isDue('recent'))
  },
)

t.test('an older look does not take back what a newer one saw', async (t) => {
  let now = 0
  const last = new LastLook(() => now)
  const old = last.begin()
  now = 500
  last.begin()()
  old()
  now = 1200
  t.notOk(last.isDue('recent'))
})
