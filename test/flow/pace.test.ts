import t from 'tap'
import { Pace } from '../../src/flow/pace.js'

t.test('as many are claimed ahead as are done while a claim is made', (t) => {
  const pace = new Pace()
  t.equal(pace.ahead(10), 0, 'nothing is known')
  pace.claimed(100)
  t.equal(pace.ahead(10), 0, 'not how long a job takes')
  pace.ended(50)
  t.equal(pace.ahead(10), 20)
  const slow = new Pace()
  slow.claimed(150)
  slow.ended(5000)
  t.equal(slow.ahead(10), 0)
  t.end()
})

t.test(
  'not more than is done in 200 ms, nor than eight times what runs, and none where claims are quick',
  (t) => {
    const pace = new Pace()
    pace.ended(100)
    pace.claimed(10_000)
    t.equal(pace.ahead(10), 20)
    const quick = new Pace()
    quick.ended(0)
    quick.claimed(10)
    t.equal(quick.ahead(10), 80)
    for (let n = 0; n < 3; n++) quick.claimed(9)
    t.equal(quick.ahead(10), 0)
    t.end()
  },
)
