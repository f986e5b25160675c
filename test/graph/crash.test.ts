import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { graphCrashLoop } from '../torture/graph-crash.js'

const seed = pickSeed()

// The long loop is `npm run torture -- graph-crash`.
t.test(
  `kill -9 at any moment: answers are those of what was acknowledged (seed ${seed})`,
  async (t) => {
    const report = await graphCrashLoop({ directory: t.testdir(), cycles: 4, seed })
    t.comment(JSON.stringify(report))
    t.ok(report.acknowledged > 0)
  },
)
