// Run by the lock tests: a worker of node:cluster opens a directory and is killed, and another
// process opens it while the primary stands still.
// `node dist/test/adapters/level-cluster.js DIRECTORY`

import { execFileSync } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { LevelBackend } from '../../adapters/level/index.js'
import { LorekeepError } from '../../src/errors.js'

const [node, script, directory, alone] = process.argv as [string, string, string, string?]
const open = () =>
  new LevelBackend(directory).open('objects').then(
    () => 'ok',
    (error: unknown) => (error instanceof LorekeepError ? error.code : String(error)),
  )

if (alone !== undefined) {
  process.stdout.write(await open())
} else if (cluster.isPrimary) {
  const openAlone = () => execFileSync(node, [script, directory, 'alone'], { encoding: 'utf8' })
  const worker = cluster.fork()
  const [outcome] = (await once(worker, 'message')) as [string]
  const meanwhile = openAlone()
  worker.process.kill('SIGKILL')
  console.log(JSON.stringify([outcome, meanwhile, openAlone()]))
} else {
  process.send!(await open())
}
