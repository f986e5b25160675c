import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { flowsCrashLoop } from '../torture/flows-crash.js'

const seed = pickSeed()

// The long loop is `npm run torture -- flows-crash`.
t.test(
  `kill -9 at any moment: no document is lost, none runs behind its end (seed ${seed})`,
  async (t) => {
    const report = await flowsCrashLoop({ data: t.testdir(), cycles: 5, seed })
    t.comment(JSON.stringify(report))
    t.ok(report.acknowledged > 0)
  },
)
