// A primary and a standby that it waits for: what is acknowledged is there after a fail-over, and no caller hears of it.

import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { PostgresBackend } from '../../../adapters/postgres/index.js'
import type { Storage } from '../../../src/storage.js'
import { keysOf, numbered, put, text } from '../../suite/bytes.js'
import { pickSeed } from '../../fixtures/random.js'
import { failovers } from '../../torture/failover.js'
import { Cluster, skip } from './cluster.js'

const settings = [
  "synchronous_standby_names = 'ANY 1 (*)'",
  // Not before there is a standby.
  'synchronous_commit = local',
]

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  const start = async () => {
    const primary = await Cluster.start({ settings })
    const standby = await Cluster.start({ of: primary, settings })
    await primary.query("ALTER SYSTEM SET synchronous_commit = 'on'")
    await primary.query('SELECT pg_reload_conf()')
    const url = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`
    return { primary, standby, url }
  }

  void t.test('a fail-over is a pause', async (t) => {
    const { primary, standby, url } = await start()
    t.teardown(() => Promise.all([primary.stop(), standby.stop()]))
    const backend = new PostgresBackend({ url })
    t.teardown(() => backend.close())
    const storage = await backend.open('objects')
    let isDone = false
    const acknowledged: number[] = []
    const writing = [0, 1, 2, 3].map(async (writer) => {
      for (let n = writer; !isDone; n += 4) {
        // Carried out twice, it would be refused.
        const require = [{ type: 'absent', key: numbered(n) }] as const
        await storage.write([{ type: 'put', key: numbered(n), value: text('') }], { require })
        acknowledged.push(n)
        t.ok(await storage.get(numbered(n)))
      }
    })
    await wait(500)
    const before = acknowledged.length
    await primary.kill()
    await standby.query('SELECT pg_promote()')
    // It waits for a standby as well, and there is none.
    await standby.query("ALTER SYSTEM SET synchronous_standby_names = ''")
    await standby.query('SELECT pg_reload_conf()')
    const until = performance.now() + 20_000
    while (acknowledged.length < before + 100 && performance.now() < until) await wait(50)
    isDone = true
    await Promise.all(writing)
    t.comment(`${before} before, ${acknowledged.length} in the end`)
    t.ok(before > 0)
    t.ok(acknowledged.length >= before + 100)
    t.equal((await keysOf(storage)).length, acknowledged.length)
  })

  void t.test('two processes lose nothing of three stores in a fail-over', async (t) => {
    const seed = pickSeed()
    t.comment(`SEED=${seed}`)
    const told = await failovers({ rounds: 1, seed, retryMs: 30_000 })
    t.comment(JSON.stringify(told))
    t.ok(told.acknowledged > 0)
  })

  void t.test('a write that no standby has is not acknowledged', async (t) => {
    const { primary, standby, url } = await start()
    t.teardown(() => Promise.all([primary.stop(), standby.stop()]))
    const backend = new PostgresBackend({ url, statementTimeoutMs: 1000, retryMs: 2500 })
    t.teardown(() => backend.close())
    const storage: Storage = await backend.open('objects')
    await put(storage, text('a'), text('1'))
    const server = String(await standby.processId())
    const processes = execFileSync('ps', ['-o', 'pid=', '--ppid', server], { encoding: 'utf8' })
    const signal = (name: NodeJS.Signals) => {
      for (const id of processes.trim().split(/\s+/u)) process.kill(Number(id), name)
    }
    signal('SIGSTOP')
    const writing = put(storage, text('a'), text('2'))
    const isWaiting = async () => {
      const first = await Promise.race([writing.then(() => 'acknowledged'), wait(300, 'waiting')])
      return first === 'waiting'
    }
    t.ok(await isWaiting())
    const waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    for (const end of ['pg_cancel_backend', 'pg_terminate_backend']) {
      // The server tells of a commit then.
      t.same(await primary.query(`SELECT ${end}(pid) ${waiting}`), [[true]])
      t.ok(await isWaiting(), end)
    }
    signal('SIGCONT')
    await writing
    signal('SIGSTOP')
    await t.rejects(put(storage, text('a'), text('3')), {
      code: 'LK_STORAGE_FAILED',
      message: /the write may have happened/u,
    })
    await t.rejects(storage.get(text('a')), { code: 'LK_STORAGE_UNAVAILABLE' })
    signal('SIGCONT')
    await put(storage, text('a'), text('4'))
  })

  void t.test('a primary that was replaced is not the primary, also at first', async (t) => {
    const primary = await Cluster.start()
    const standby = await Cluster.start({ of: primary })
    t.teardown(() => Promise.all([primary.stop(), standby.stop()]))
    await standby.query('SELECT pg_promote()')
    const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
    await using backend = new PostgresBackend({ url })
    await put(await backend.open('objects'), text('a'), text('1'))
    t.same(await standby.query('SELECT count(*) FROM lorekeep.objects'), [['1']])
  })

  void t.test('what a new primary lacks is not read as if it had never been', async (t) => {
    const primary = await Cluster.start()
    const standby = await Cluster.start({ of: primary })
    t.teardown(() => Promise.all([primary.stop(), standby.stop()]))
    const url = `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/postgres`
    const backend = new PostgresBackend({ url })
    t.teardown(() => backend.close())
    const storage = await backend.open('objects')
    await put(storage, text('a'), text('1'))
    const [row] = await primary.query('SELECT pg_current_wal_lsn()')
    await standby.catchUp(String(row?.[0]))
    // The standby gets nothing any more.
    await standby.query("ALTER SYSTEM SET primary_conninfo = ''")
    await standby.query('SELECT pg_reload_conf()')
    while ((await standby.query('SELECT count(*) FROM pg_stat_wal_receiver'))[0]?.[0] !== '0') {
      await wait(20)
    }
    await put(storage, text('a'), text('2'))
    t.same(await storage.get(text('a')), text('2'))
    await primary.kill()
    await standby.query('SELECT pg_promote()')
    const lost = { code: 'LK_STORAGE_FAILED', message: /has lost what it had acknowledged/u }
    await t.rejects(storage.get(text('a')), lost)
    await t.rejects(storage.get(text('a')), lost)
  })
}
