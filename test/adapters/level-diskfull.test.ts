import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { diskfull } from '../torture/diskfull.js'

const seed = pickSeed()

// The long run is `npm run torture -- diskfull`.
t.test(`a full disk costs nothing that was acknowledged (seed ${seed})`, async (t) => {
  const report = await diskfull({ directory: t.testdir(), cycles: 2, seed })
  if (typeof report === 'string') {
    t.comment(`skipped: ${report}`)
    return
  }
  t.comment(JSON.stringify(report))
  t.ok(report.acknowledged > 0 && report.refused > 0)
})
