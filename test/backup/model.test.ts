import { join } from 'node:path'
import t from 'tap'
import { pickSeed } from '../fixtures/random.js'
import { backupRuns } from '../torture/backup.js'

const seed = pickSeed()

for (const [engine, backups] of [
  ['memory', 4],
  ['level', 3],
] as const) {
  t.test(`${engine}: a backup is what was acknowledged at its call, seed ${seed}`, async (t) => {
    const base = t.testdir()
    const directory = (run: number) => join(base, String(run))
    const counts = await backupRuns({ engine, backups, seed, directory })
    t.equal(counts.backups, backups)
    t.comment(JSON.stringify(counts))
  })
}
