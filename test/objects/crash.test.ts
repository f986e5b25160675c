import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { objectsCrashLoop } from '../torture/objects-crash.js'

const seed = pickSeed()

// The long loop is `npm run torture -- objects-crash`.
t.test(
  `kill -9 at any moment: acknowledged changes are whole, indexes right (seed ${seed})`,
  async (t) => {
    const report = await objectsCrashLoop({ data: t.testdir(), cycles: 12, seed })
    t.comment(JSON.stringify(report))
    t.ok(report.acknowledged > 0)
  },
)
