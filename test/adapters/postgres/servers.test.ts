// Which of several hosts is asked, and what is told where none of them can be.

import t from 'tap'
import { PostgresBackend } from '../../../adapters/postgres/index.js'
import { put, text } from '../../suite/bytes.js'
import { Cluster, skip } from './cluster.js'

const key = text('key')

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  void t.test('a refusal of who was the primary is nothing where another one is', async (t) => {
    const primary = await Cluster.start()
    t.teardown(() => primary.stop())
    await primary.query('CREATE ROLE lore LOGIN SUPERUSER')
    const standby = await Cluster.start({ of: primary })
    t.teardown(() => standby.stop())
    const url = `postgres://lore@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
    const backend = new PostgresBackend({ url, retryMs: 5000 })
    t.teardown(() => backend.close())
    const storage = await backend.open('objects')
    await put(storage, key, text('1'))
    const [row] = await primary.query('SELECT pg_current_wal_lsn()')
    await standby.catchUp(String(row?.[0]))
    await standby.query('SELECT pg_promote()')
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'lore'"
    await primary.query('ALTER ROLE lore NOLOGIN')
    await primary.query(end)
    t.same(await storage.get(key), text('1'))
    await put(storage, key, text('2'))
    t.same(await standby.query("SELECT value FROM lorekeep.objects WHERE key = 'key'"), [
      [Buffer.from('2')],
    ])
    await standby.query('ALTER ROLE lore NOLOGIN')
    await standby.query(end)
    const begun = performance.now()
    await t.rejects(put(storage, key, text('3')), {
      code: 'LK_STORAGE_FAILED',
      details: { code: '28000' },
    })
    t.ok(performance.now() - begun < 4000, 'at once')
  })
}
