// Servers that are there and say nothing: no error and no end of a connection tells of it.

import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { PostgresBackend, type PostgresOptions } from '../../../adapters/postgres/index.js'
import { collect, put, text } from '../../suite/bytes.js'
import { Cluster, skip } from './cluster.js'
import { Proxy } from './proxy.js'

interface Test {
  teardown(fn: () => unknown): unknown
}

const key = text('key')
const other = text('other')

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  const pair = async (t: Test) => {
    const primary = await Cluster.start()
    t.teardown(() => primary.stop())
    const standby = await Cluster.start({ of: primary })
    t.teardown(() => standby.stop())
    const proxy = await Proxy.start(primary.port)
    t.teardown(() => proxy.stop())
    const promote = async () => {
      await standby.query('SELECT pg_promote()')
    }
    const { host } = new URL(proxy.url)
    const url = `postgres://postgres@${host},127.0.0.1:${standby.port}/postgres`
    return { primary, standby, proxy, promote, url }
  }

  const open = async (t: Test, options: PostgresOptions) => {
    const backend = new PostgresBackend(options)
    t.teardown(() => backend.close())
    return backend.open('objects')
  }

  const caughtUp = async ({ primary, standby }: { primary: Cluster; standby: Cluster }) => {
    const [row] = await primary.query('SELECT pg_current_wal_lsn()')
    await standby.catchUp(String(row?.[0]))
  }

  void t.test('a primary that falls silent is a pause where another one is promoted', async (t) => {
    const { primary, standby, promote, url } = await pair(t)
    const storage = await open(t, { url })
    await put(storage, key, text('1'))
    t.same(await storage.get(key), text('1'))
    await caughtUp({ primary, standby })
    await primary.freeze()
    t.teardown(() => primary.thaw())
    const begun = performance.now()
    const calls = Promise.all([
      put(storage, other, text('2')),
      storage.get(key),
      collect(storage.scan({ gte: key, lte: key })),
      ...Array.from({ length: 20 }, () => storage.get(key)),
    ])
    await promote()
    const [, value, entries] = await calls
    const took = performance.now() - begun
    t.same(value, text('1'))
    t.same(entries[0]?.value, text('1'))
    t.same(await storage.get(other), text('2'))
    t.ok(took < 20_000, `${Math.round(took)} ms`)
    // Who comes back as if nothing had been is not asked any more.
    await primary.thaw()
    await put(storage, key, text('3'))
    t.same(await storage.get(key), text('3'))
    t.same(await standby.query('SELECT count(*) FROM lorekeep.objects'), [['2']])
  })

  void t.test('a write that a silent primary has carried out is not made twice', async (t) => {
    const { primary, standby, proxy, promote, url } = await pair(t)
    const storage = await open(t, { url })
    await put(storage, other, text('1'))
    proxy.mute()
    proxy.silentFrom = 'postgres'
    // Carried out twice, the second one would be refused.
    const require = [{ type: 'absent', key }] as const
    const writing = storage.write([{ type: 'put', key, value: text('1') }], { require })
    const isThere = "SELECT 1 FROM lorekeep.objects WHERE key = 'key'"
    while ((await primary.query(isThere)).length === 0) await wait(20)
    await caughtUp({ primary, standby })
    await promote()
    await writing
    t.same(await storage.get(key), text('1'))
    await put(storage, key, text('2'))
    t.same(await standby.query('SELECT count(*) FROM lorekeep.objects'), [['2']])
  })

  void t.test('one address that leads to another primary is asked anew', async (t) => {
    const { primary, standby, proxy, promote } = await pair(t)
    const storage = await open(t, { url: proxy.url })
    await put(storage, key, text('1'))
    t.same(await storage.get(key), text('1'))
    await caughtUp({ primary, standby })
    proxy.mute()
    const begun = performance.now()
    const calls = Promise.all([put(storage, other, text('2')), storage.get(key)])
    await promote()
    proxy.target = standby.port
    t.same((await calls)[1], text('1'))
    const took = performance.now() - begun
    t.ok(took < 20_000, `${Math.round(took)} ms`)
    t.same(await storage.get(other), text('2'))
  })

  void t.test('a statement that takes long is not cut where the server is well', async (t) => {
    const { primary, url } = await pair(t)
    const storage = await open(t, { url })
    await put(storage, key, text('1'))
    const locking = primary.query(
      'BEGIN; LOCK TABLE lorekeep.objects IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(7); COMMIT',
    )
    await wait(500)
    const calls = Promise.all([put(storage, key, text('2')), storage.get(key)])
    const waiting = async () =>
      (
        await primary.query(
          "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' ORDER BY pid",
        )
      ).map(([pid]) => pid)
    await wait(500)
    const at = await waiting()
    t.equal(at.length, 2)
    await wait(5000)
    t.same(await waiting(), at)
    await locking
    await calls
    t.same(await storage.get(key), text('2'))
  })

  void t.test('retryMs counts from when it is noticed that nobody answers', async (t) => {
    const cluster = await Cluster.start()
    t.teardown(() => cluster.stop())
    const proxy = await Proxy.start(cluster.port)
    t.teardown(() => proxy.stop())
    const storage = await open(t, { url: proxy.url, statementTimeoutMs: 1000, retryMs: 1500 })
    await put(storage, key, text('1'))
    t.same(await storage.get(key), text('1'))
    proxy.mute()
    const [value] = await Promise.all([storage.get(key), put(storage, other, text('2'))])
    t.same(value, text('1'))
    t.same(await storage.get(other), text('2'))
  })
}
