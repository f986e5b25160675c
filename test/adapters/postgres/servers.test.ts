// Which of several hosts is asked, and what is told where none of them can be.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { PostgresBackend } from '../../../adapters/postgres/index.js'
import { put, text } from '../../suite/bytes.js'
import { Cluster, skip } from './cluster.js'
import { Proxy } from './proxy.js'

interface Test {
  teardown(fn: () => unknown): unknown
}

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
    // On its way while its session ends it is looked for until `retryMs`: it may have been written.
    await t.rejects(put(storage, key, text('3')), { code: 'LK_STORAGE_FAILED' })
    const begun = performance.now()
    await t.rejects(put(storage, key, text('4')), {
      code: 'LK_STORAGE_FAILED',
      details: { code: '28000' },
    })
    t.ok(performance.now() - begun < 4000, 'at once')
  })

  void t.test('messages go where the store is, though who was the primary goes on', async (t) => {
    const primary = await Cluster.start()
    t.teardown(() => primary.stop())
    const standby = await Cluster.start({ of: primary })
    t.teardown(() => standby.stop())
    const proxy = await Proxy.start(primary.port)
    t.teardown(() => proxy.stop())
    const { host } = new URL(proxy.url)
    const url = `postgres://postgres@${host},127.0.0.1:${standby.port}/postgres`
    const backend = new PostgresBackend({ url })
    t.teardown(() => backend.close())
    const storage = await backend.open('objects')
    await put(storage, key, text('1'))
    const [row] = await primary.query('SELECT pg_current_wal_lsn()')
    await standby.catchUp(String(row?.[0]))
    await standby.query('SELECT pg_promote()')
    proxy.isDown = true
    // All but the one that listens, which is asked now and then.
    const sessions = "FROM pg_stat_activity WHERE application_name = 'lorekeep'"
    await primary.query(
      `SELECT pg_terminate_backend(pid) ${sessions} AND query !~ '^(LISTEN|SELECT 1$)'`,
    )
    t.same(await primary.query(`SELECT count(*) ${sessions}`), [['1']])
    await put(storage, key, text('2'))
    const other = new PostgresBackend({ url: standby.url })
    t.teardown(() => other.close())
    const { sharing } = await other.open('objects')
    const heard = new Promise((resolve) => sharing!.subscribe(resolve))
    storage.sharing!.publish(text('message'))
    t.same(await Promise.race([heard, wait(10_000, 'nothing', { ref: false })]), text('message'))
    // The server notices on its own time.
    while ((await primary.query(`SELECT 1 ${sessions}`)).length > 0) await wait(20)
  })

  const configured = async (t: Test) => {
    const cluster = await Cluster.start()
    t.teardown(() => cluster.stop())
    const hba = join(cluster.directory, 'pg_hba.conf')
    writeFileSync(hba, `host all lore 127.0.0.1/32 scram-sha-256\n${readFileSync(hba, 'utf8')}`)
    const made =
      "SET password_encryption = 'scram-sha-256'; CREATE ROLE lore LOGIN PASSWORD 'hidden'"
    await cluster.query(`${made}; SELECT pg_reload_conf()`)
    return cluster
  }

  void t.test('a password that is missing is told at once, like one that is wrong', async (t) => {
    const { port } = await configured(t)
    const { env } = process
    t.teardown(() => (process.env = env))
    process.env = { ...env }
    delete process.env['PGPASSWORD']
    process.env['PGPASSFILE'] = '/nowhere'
    const told = async (user: string) => {
      const url = `postgres://${user}@127.0.0.1:${port}/postgres`
      await using backend = new PostgresBackend({ url, retryMs: 5000 })
      const begun = performance.now()
      const error = await backend.exists().catch((error: Error) => error)
      t.ok(performance.now() - begun < 4000, 'at once')
      return error
    }
    t.match(await told('lore:wrong'), {
      code: 'LK_STORAGE_FAILED',
      kind: 'storage',
      details: { code: '28P01' },
    })
    t.match(await told('lore'), {
      code: 'LK_STORAGE_FAILED',
      kind: 'storage',
      message: /asks for a password.*PGPASSWORD/u,
    })
    t.equal(await told('lore:hidden'), false)
  })

  void t.test('TLS that the server has not is told at once', async (t) => {
    const { port } = await configured(t)
    for (const [parameters, options] of [
      ['?sslmode=require', {}],
      ['', { ssl: {} }],
    ] as const) {
      const url = `postgres://lore:hidden@127.0.0.1:${port}/postgres${parameters}`
      await using backend = new PostgresBackend({ url, retryMs: 5000, ...options })
      const begun = performance.now()
      const error = await backend.exists().catch((error: Error) => error)
      t.match(error, { code: 'LK_STORAGE_FAILED', message: /takes no TLS.*sslmode/u })
      t.notMatch(error, { message: /hidden/u })
      t.ok(performance.now() - begun < 4000, 'at once')
    }
  })
}
