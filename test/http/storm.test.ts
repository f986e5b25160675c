import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { storm } from '../torture/storm.js'

const isHere = process.platform === 'linux'
const skip = isHere ? false : 'it reads the memory of the server from /proc'

t.setTimeout(120_000)
t.test(
  'a short storm fills no server of 128 MB, and leaves nothing behind',
  { skip },
  async (t) => {
    const seed = pickSeed()
    t.comment(`seed ${seed}`)
    const report = await storm({
      directory: t.testdir(),
      imports: 40,
      seed,
      environment: {},
      mostAboveIdleMiB: 300,
    })
    t.ok(report.stored > 0, JSON.stringify(report))
  },
)
