import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { bitrot } from '../torture/bitrot.js'

const seed = pickSeed()

// The long run is `npm run torture -- bitrot`.
t.test(`after a flipped bit no store gives a wrong answer (seed ${seed})`, async (t) => {
  const report = await bitrot({ directory: t.testdir(), rounds: 8, seed })
  t.comment(JSON.stringify(report))
  t.equal(report.silent, 0)
})
