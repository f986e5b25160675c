// Turns of processes that stand still: their connections are there, and nothing comes of them.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { PostgresBackend } from '../../../adapters/postgres/index.js'
import { Cluster, skip } from './cluster.js'

const child = fileURLToPath(new URL('./turn-child.js', import.meta.url))

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  const [row] = await cluster.query('SHOW server_version_num')
  const isOld = Number(row?.[0]) < 140_000
  const sharing = async () => {
    const backend = new PostgresBackend({ url: cluster.url })
    t.teardown(() => backend.close())
    return (await backend.open('objects')).sharing!
  }

  void t.test(
    'a turn ends with a process that stands still, which has the next one as others do',
    { skip: isOld && 'PostgreSQL 14 and later end a session of which nothing comes' },
    async (t) => {
      const holder = spawn(process.execPath, [child, cluster.url], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      t.teardown(() => holder.kill('SIGKILL'))
      const lines = createInterface({ input: holder.stdout })
      await once(lines, 'line')
      const other = await sharing()
      holder.kill('SIGSTOP')
      const release = await other.turn('name', AbortSignal.timeout(20_000))
      holder.kill('SIGCONT')
      release()
      const had = once(lines, 'line')
      holder.stdin.write('again\n')
      await had
      const isFree = other.turn('name', AbortSignal.timeout(500)).then(
        () => true,
        () => false,
      )
      t.notOk(await isFree)
    },
  )

  void t.test('who works keeps a turn as long as it takes', async (t) => {
    const [one, other] = [await sharing(), await sharing()]
    const release = await one.turn('long')
    await t.rejects(other.turn('long', AbortSignal.timeout(3000)), { name: 'TimeoutError' })
    release()
    const next = await other.turn('long', AbortSignal.timeout(20_000))
    next()
  })
}
