import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { lockRaces } from '../torture/locks.js'

const seed = pickSeed()

// The long loop is `npm run torture -- locks`.
void t.test(
  `of 8 who open at once one wins, whoever is killed meanwhile (seed ${seed})`,
  async (t) => {
    const report = await lockRaces({ directory: t.testdir(), rounds: 15, seed })
    t.comment(JSON.stringify(report))
    t.equal(report.rounds, 15)
  },
)
