import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { crashLoop } from '../torture/crash.js'

const seed = pickSeed()

// The long loop is `npm run torture`.
t.test(
  `kill -9 at any moment: acknowledged is whole, the rest is gone (seed ${seed})`,
  async (t) => {
    const report = await crashLoop({ data: t.testdir(), cycles: 12, seed })
    t.comment(JSON.stringify(report))
    t.ok(report.acknowledged > 0)
  },
)
