// Connections that are lost, sessions that are ended: no doubt reaches the caller before retryMs.

import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { PostgresBackend, type PostgresOptions } from '../../../adapters/postgres/index.js'
import { partitionNames } from '../../../adapters/postgres/tables.js'
import type { Storage } from '../../../src/storage.js'
import { pickSeed, Random } from '../../fixtures/random.js'
import { collect, numbered, put, text } from '../../suite/bytes.js'
import { Cluster, skip } from './cluster.js'
import { Proxy } from './proxy.js'

interface Test {
  teardown(fn: () => Promise<void>): unknown
}

const key = text('key')
const absent = { require: [{ type: 'absent', key }] } as const

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  let places = 0

  const open = async (t: Test, options: Partial<PostgresOptions> = {}) => {
    const proxy = await Proxy.start(cluster.port)
    const schema = `place_${places++}`
    const backend = new PostgresBackend({ shared: false, url: proxy.url, schema, ...options })
    t.teardown(async () => {
      await backend.close()
      await proxy.stop()
    })
    return { proxy, schema, backend, storage: await backend.open('objects') }
  }

  void t.test('a write whose answer is lost is not carried out twice', async (t) => {
    const { proxy, storage } = await open(t)
    proxy.cutsAnswers = true
    // Carried out twice, the second one would be refused.
    const writing = storage.write([{ type: 'put', key, value: text('1') }], absent)
    await wait(100)
    proxy.cutsAnswers = false
    await writing
    t.same(await storage.get(key), text('1'))
  })

  void t.test('a refusal whose answer is lost stays one', async (t) => {
    const { proxy, schema, storage } = await open(t)
    await put(storage, key, text('0'))
    proxy.cutsAnswers = true
    const other = text('other')
    const require = [{ type: 'absent', key: other } as const, ...absent.require]
    const outcomes = Promise.allSettled([
      storage.write([{ type: 'put', key: other, value: text('1') }], { require }),
      put(storage, text('third'), text('3')),
    ])
    await wait(100)
    // Where it were carried out again, nothing would be in its way.
    await cluster.query(`DELETE FROM ${schema}.objects WHERE key = 'key'`)
    proxy.cutsAnswers = false
    const [refused, stored] = await outcomes
    t.match(refused, {
      status: 'rejected',
      reason: { code: 'LK_STORAGE_CONFLICT', details: { index: 1 } },
    })
    t.equal(stored?.status, 'fulfilled')
    t.equal(await storage.get(other), undefined)
    t.same(await storage.get(text('third')), text('3'))
  })

  void t.test('connections that are cut at random are nobody’s business', async (t) => {
    const seed = pickSeed()
    t.comment(`SEED=${seed}`)
    const random = new Random(seed)
    const { proxy, storage } = await open(t)
    const counters = [0, 1, 2, 3].map(numbered)
    for (const counter of counters) await put(storage, counter, numbered(0))
    let raised = 0
    const raise = async (counter: Uint8Array) => {
      for (let times = 0; times < 40; times++) {
        const value = (await storage.get(counter))!
        const next = numbered(Buffer.from(value).readUInt32BE() + 1)
        // A read that comes before its own write, or a write that happens twice, would be refused here.
        const require = [{ type: 'equals', key: counter, value } as const]
        await storage.write([{ type: 'put', key: counter, value: next }], { require })
        const entries = await collect(storage.scan({ gte: counter, limit: 1 }))
        t.same(entries[0]?.value, next)
        raised++
      }
    }
    const raising = Promise.all(counters.map(raise))
    let isDone = false
    raising.then(
      () => (isDone = true),
      () => (isDone = true),
    )
    let cuts = 0
    while (!isDone) {
      await wait(random.below(150))
      proxy.cutsAnswers = random.chance(0.5)
      if (!proxy.cutsAnswers) proxy.cut()
      await wait(random.below(20))
      proxy.cutsAnswers = false
      cuts++
    }
    await raising
    t.equal(raised, 160)
    t.comment(`${cuts} cuts`)
    for (const counter of counters) t.same(await storage.get(counter), numbered(40))
  })

  void t.test('sessions that an operator ends come back', async (t) => {
    const { storage } = await open(t)
    await put(storage, key, text('1'))
    const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lorekeep'`
    await cluster.query(end)
    t.same(await storage.get(key), text('1'))
    await cluster.query(end)
    await put(storage, key, text('2'))
    t.same(await storage.get(key), text('2'))
  })

  void t.test('after retryMs a write is in doubt, and nobody reads before it is not', async (t) => {
    const { proxy, storage } = await open(t, { retryMs: 200 })
    await put(storage, key, text('1'))
    // A session that reads is there already, and could tell.
    t.same(await storage.get(key), text('1'))
    proxy.endsAfter = 'append objects'
    await t.rejects(put(storage, key, text('2')), {
      code: 'LK_STORAGE_FAILED',
      message: /the write may have happened/u,
    })
    await t.rejects(storage.get(key), { code: 'LK_STORAGE_UNAVAILABLE' })
    await t.rejects(collect(storage.scan({})), { code: 'LK_STORAGE_UNAVAILABLE' })
    proxy.endsAfter = undefined
    proxy.isDown = false
    t.same(await readSoon(storage, key), text('2'))
    await put(storage, key, text('3'))
  })

  void t.test('who is refused a new session does not know what the old one did', async (t) => {
    await cluster.query('CREATE ROLE refused LOGIN SUPERUSER')
    const proxy = await Proxy.start(cluster.port)
    const url = proxy.url.replace('postgres@', 'refused@')
    const backend = new PostgresBackend({
      shared: false,
      url,
      schema: `place_${places++}`,
      retryMs: 1000,
    })
    t.teardown(async () => {
      await backend.close()
      await proxy.stop()
    })
    const storage = await backend.open('objects')
    const other = text('other')
    const loseAnswers = async () => {
      proxy.cutsAnswers = true
      const outcomes = Promise.allSettled([
        storage.write([{ type: 'put', key, value: text('1') }], absent),
        storage.write([{ type: 'put', key: other, value: text('1') }], {
          require: [{ type: 'absent', key: other }],
        }),
      ])
      await wait(100)
      await cluster.query('ALTER ROLE refused NOLOGIN')
      proxy.cutsAnswers = false
      return { outcomes }
    }
    const first = await loseAnswers()
    await wait(200)
    await cluster.query('ALTER ROLE refused LOGIN')
    t.match(await first.outcomes, [{ status: 'fulfilled' }, { status: 'fulfilled' }])
    await storage.write([
      { type: 'del', key },
      { type: 'del', key: other },
    ])
    const second = await loseAnswers()
    for (const outcome of await second.outcomes) {
      t.match(outcome, {
        status: 'rejected',
        reason: { code: 'LK_STORAGE_FAILED', message: /the write may have happened/u },
      })
      if (outcome.status === 'rejected') t.notOk('code' in outcome.reason.details)
    }
    await t.rejects(storage.get(key), { code: 'LK_STORAGE_UNAVAILABLE' })
    await cluster.query('ALTER ROLE refused LOGIN')
    t.same(await readSoon(storage, key), text('1'))
    t.same(await storage.get(other), text('1'))
  })

  void t.test('a reload of the configuration makes no write less durable', async (t) => {
    const settings = ['wal_writer_delay = 10s', 'autovacuum = off']
    const lazy = await Cluster.start({ settings })
    t.teardown(() => lazy.stop())
    const backend = new PostgresBackend({ shared: false, url: lazy.url })
    t.teardown(() => backend.close())
    const storage = await backend.open('objects')
    await put(storage, key, text('1'))
    await lazy.query('ALTER SYSTEM SET synchronous_commit = off')
    await lazy.query('SELECT pg_reload_conf()')
    await wait(200)
    for (let n = 0; n < 10; n++) {
      const [row] = await lazy.query('SELECT pg_current_wal_insert_lsn()')
      const options =
        n % 2 === 0 ? {} : { require: [{ type: 'absent', key: numbered(n) } as const] }
      await storage.write([{ type: 'put', key: numbered(n), value: text('') }], options)
      const flushed = await lazy.query(`SELECT pg_current_wal_flush_lsn() > '${String(row?.[0])}'`)
      t.same(flushed, [[true]])
    }
  })

  void t.test('a server that falls silent after the log-in is a server that is away', async (t) => {
    const options = { retryMs: 0, statementTimeoutMs: 1000 }
    const { proxy, backend, storage } = await open(t, options)
    await put(storage, key, text('1'))
    proxy.silentFrom = 'pg_is_in_recovery'
    const opening = backend.open('cores')
    await t.rejects(opening, { code: 'LK_STORAGE_UNAVAILABLE', message: /does not answer/u })
    proxy.cut()
    await wait(100)
    await t.rejects(put(storage, key, text('2')), { message: /does not answer/u })
    const other = new PostgresBackend({ shared: false, url: proxy.url, ...options })
    const refused = t.rejects(other.open('cores'), { code: 'LK_STORAGE_UNAVAILABLE' })
    await Promise.all([other.close(), backend.close(), refused])
  })

  void t.test(
    'who was silent for a month and is there is not taken for one that has ended',
    async (t) => {
      const { schema, storage, backend } = await open(t, { shared: true })
      const writers = () =>
        cluster.query(`SELECT count(*)::int FROM ${schema}.writers WHERE partition = 'objects'`)
      const age = `UPDATE ${schema}.writers SET written = now() - interval '31 days'`
      await cluster.query(`INSERT INTO ${schema}.writers SELECT 'gone', partition, shared, sequence, refused, positions, written
      FROM ${schema}.writers WHERE partition = 'objects'`)
      await cluster.query(age)
      const second = new PostgresBackend({ url: cluster.url, schema })
      t.teardown(() => second.close())
      await put(await second.open('objects'), text('other'), text('1'))
      t.match(await writers(), [[2]], 'the one that is gone is gone')
      // Its session ends: it finds what it knows of itself.
      await cluster.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()`,
      )
      await put(storage, key, text('2'))
      t.same(await storage.get(key), text('2'))
      await backend.close()
    },
  )

  void t.test('what surely was not written is told as that', async (t) => {
    const { proxy, storage } = await open(t, { retryMs: 200 })
    await put(storage, key, text('1'))
    // The first write finds the session gone; where it cannot be made anew, the second is never sent.
    proxy.isDown = true
    proxy.cut()
    await t.rejects(put(storage, key, text('2')))
    await t.rejects(put(storage, key, text('3')), { code: 'LK_STORAGE_UNAVAILABLE' })
    proxy.isDown = false
    t.same(await readSoon(storage, key), text('1'))
    await put(storage, key, text('4'))
    t.same(await storage.get(key), text('4'))
  })

  void t.test('who was away while another one had it does not write any more', async (t) => {
    const { proxy, schema, backend, storage } = await open(t, { retryMs: 300 })
    await put(storage, key, text('1'))
    proxy.isDown = true
    proxy.cut()
    const other = new PostgresBackend({ shared: false, url: cluster.url, schema })
    await put(await other.open('objects'), key, text('2'))
    proxy.isDown = false
    await t.rejects(put(storage, key, text('3')), { code: /LK_STORAGE_(UNAVAILABLE|LOCKED)/u })
    await other.close()
    await t.rejects(put(storage, key, text('4')), {
      code: 'LK_STORAGE_UNAVAILABLE',
      message: /opened by somebody else/u,
    })
    await storage.close()
    const again = await backend.open('objects')
    t.same(await again.get(key), text('2'))
    await put(again, key, text('5'))
  })

  void t.test('who only reads notices as well', async (t) => {
    const { schema, backend, storage } = await open(t, { retryMs: 300 })
    await put(storage, key, text('1'))
    t.same(await storage.get(key), text('1'))
    // The session that writes; those that read remain.
    await cluster.query(
      "SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory'",
    )
    const other = new PostgresBackend({ shared: false, url: cluster.url, schema })
    await put(await other.open('objects'), key, text('2'))
    await t.rejects(storage.get(key), { code: 'LK_STORAGE_UNAVAILABLE' })
    await t.rejects(collect(storage.scan({})), { code: 'LK_STORAGE_UNAVAILABLE' })
    await other.close()
    await t.rejects(storage.get(key), { message: /opened by somebody else/u })
    await storage.close()
    t.same(await (await backend.open('objects')).get(key), text('2'))
  })

  void t.test('sessions of one partition do not end each other', async (t) => {
    const { proxy, storage } = await open(t, { retryMs: 100 })
    for (let times = 0; times < 4; times++) {
      await put(storage, key, text('1'))
      proxy.isDown = true
      proxy.cut()
      // Sent before it is noticed that nobody is there.
      await t.rejects(put(storage, key, text('2')), { code: 'LK_STORAGE_FAILED' })
      await wait(300)
      proxy.isDown = false
      // Whoever connects takes so long that another one would as well meanwhile.
      proxy.delays = 'SELECT'
      const { taken } = proxy
      await put(storage, key, text('3'))
      await wait(600)
      t.equal(proxy.taken, taken + 1)
      proxy.delays = undefined
    }
  })

  for (const language of ['English', 'another language']) {
    void t.test(`a key that is too long hurts nobody else, told in ${language}`, async (t) => {
      const { proxy, storage } = await open(t, { retryMs: 2000 })
      proxy.isForeign = language !== 'English'
      const long = (length: number) => new Random(1).bytes(length)
      const outcomes = await Promise.allSettled([
        put(storage, text('a'), text('1')),
        put(storage, long(2800), text('2')),
        put(storage, long(2600), text('3')),
      ])
      t.match(outcomes, [
        { status: 'fulfilled' },
        { status: 'rejected', reason: { code: 'LK_STORAGE_FAILED', details: { code: '54000' } } },
        { status: 'fulfilled' },
      ])
      t.same(await storage.get(text('a')), text('1'))
      t.same(await storage.get(long(2600)), text('3'))
      // And what is fatal is that in any language.
      await cluster.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lorekeep'",
      )
      await put(storage, text('a'), text('2'))
      t.same(await storage.get(text('a')), text('2'))
    })
  }

  void t.test(
    'the first page of a scan is of the time of the call, however slowly it is asked for',
    async (t) => {
      const { proxy, storage } = await open(t)
      await put(storage, key, text('1'))
      await storage.get(key)
      proxy.delays = 'COPY'
      const scan = storage.scan({})
      await put(storage, key, text('2'))
      t.same((await collect(scan))[0]?.value, text('1'))
    },
  )

  void t.test('a scan does not show what was written after it, in any turn', async (t) => {
    const { proxy, storage } = await open(t)
    proxy.delays = 'COPY'
    for (let turns = 0; turns < 10; turns++) {
      await put(storage, key, text('1'))
      const writing = put(storage, text('other'), text('1'))
      for (let turn = 0; turn < turns; turn++) await undefined
      const scan = storage.scan({ gte: key, limit: 1 })
      await put(storage, key, text('2'))
      t.same((await collect(scan))[0]?.value, text('1'))
      await writing
    }
  })

  void t.test('partitions are opened at once, whatever isolation is the default', async (t) => {
    for (const isolation of ['repeatable\\ read', 'serializable']) {
      const set = encodeURIComponent(`-c default_transaction_isolation=${isolation}`)
      const url = `${cluster.url}?options=${set}`
      await using backend = new PostgresBackend({ shared: false, url, schema: `place_${places++}` })
      await t.resolves(Promise.all(partitionNames.map((name) => backend.open(name))))
    }
  })

  void t.test('what is asked while it closes leaves no session', async (t) => {
    const url = `${cluster.url}?application_name=left`
    const backend = new PostgresBackend({ shared: false, url })
    const asked = backend.exists().catch(() => undefined)
    await wait(5)
    await backend.close()
    await asked
    await t.rejects(backend.exists(), { code: 'LK_CLOSED' })
    await wait(200)
    const left = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'left'"
    t.same(await cluster.query(left), [['0']])
  })

  void t.test('who has a partition is told of this database', async (t) => {
    await cluster.query('CREATE DATABASE another')
    const url = cluster.url.replace(/postgres$/u, 'another')
    const schema = `place_${places++}`
    await using other = new PostgresBackend({ shared: false, url, schema })
    await other.open('objects')
    await using backend = new PostgresBackend({ shared: false, url: cluster.url, schema })
    await backend.open('objects')
    const [row] = await cluster.query(
      "SELECT pid FROM pg_locks JOIN pg_database ON oid = database WHERE locktype = 'advisory' AND datname = 'another'",
    )
    await using late = new PostgresBackend({ shared: false, url: cluster.url, schema })
    const error = await late.open('objects').catch((error: Error) => error)
    t.match(error, { code: 'LK_STORAGE_LOCKED' })
    t.notMatch(error, { message: new RegExp(`session ${String(row?.[0])} `, 'u') })
  })

  void t.test('a schema that was made before needs no right to make one', async (t) => {
    const schema = `place_${places++}`
    await cluster.query('CREATE ROLE guest LOGIN')
    await cluster.query(`CREATE SCHEMA ${schema} AUTHORIZATION guest`)
    const url = cluster.url.replace('postgres@', 'guest@')
    await using backend = new PostgresBackend({ shared: false, url, schema })
    await put(await backend.open('objects'), key, text('1'))
    await cluster.query(`UPDATE ${schema}.format SET version = 2`)
    await using later = new PostgresBackend({ shared: false, url, schema })
    await t.rejects(later.open('cores'), { code: 'LK_STORAGE_FORMAT' })
  })

  void t.test('who waits for others that fail is told as soon as they are', async (t) => {
    const { proxy, backend, storage } = await open(t, { retryMs: 300, connections: 1 })
    await put(storage, key, text('1'))
    t.same(await storage.get(key), text('1'))
    // It takes connections, and says nothing.
    proxy.silentFrom = 'postgres'
    proxy.cut()
    const begun = performance.now()
    const reads = Promise.allSettled([1, 2, 3, 4, 5].map(() => storage.get(key)))
    const writes = Promise.allSettled([1, 2, 3, 4, 5].map(() => put(storage, key, text('2'))))
    await backend.close()
    for (const { status } of [...(await reads), ...(await writes)]) t.equal(status, 'rejected')
    const took = performance.now() - begun
    t.ok(took < 10_000, `${Math.round(took)} ms`)
  })

  void t.test('values of all lengths come in one answer', async (t) => {
    const { storage } = await open(t)
    const lengths = [0, 1, 4095, 4096, 65_535, 65_536, 65_537, 200_000]
    await storage.write(
      lengths.map((length, n) => ({
        type: 'put',
        key: numbered(n),
        value: new Random(n).bytes(length),
      })),
    )
    const keys = [numbered(99), ...lengths.map((_, n) => numbered(n)), numbered(98), numbered(2)]
    const values = await storage.getMany(keys)
    t.strictSame(
      values.map((value) => value?.length),
      [undefined, ...lengths, undefined, 4095],
    )
    for (const [n, length] of lengths.entries()) t.same(values[n + 1], new Random(n).bytes(length))
  })

  void t.test('what cannot be opened says why', async (t) => {
    const backendOf = (url: string) => new PostgresBackend({ shared: false, url, retryMs: 100 })
    const { port } = cluster
    const unknown = backendOf(`postgres://postgres@127.0.0.1:${port}/nowhere`)
    await t.rejects(unknown.open('cores'), {
      code: 'LK_STORAGE_FAILED',
      message: /database "nowhere" does not exist/u,
    })
    const away = backendOf('postgres://postgres:secret@127.0.0.1:1/postgres')
    await t.rejects(away.open('cores'), {
      code: 'LK_STORAGE_UNAVAILABLE',
      message: /^the storage is unavailable: PostgreSQL: connect ECONNREFUSED 127.0.0.1:1$/u,
    })
    await unknown.close()
    await away.close()
  })
}

/** As a caller has to: asks again while nobody knows. */
async function readSoon(storage: Storage, key: Uint8Array): Promise<Uint8Array | undefined> {
  for (let tries = 0; ; tries++) {
    try {
      return await storage.get(key)
    } catch (error) {
      if (tries === 100) throw error
      await wait(50)
    }
  }
}
