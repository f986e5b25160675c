// Snapshots of PostgreSQL: what ends them, and backups and verifications that are read from them.

import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { LevelBackend } from '../../../adapters/level/index.js'
import { PostgresBackend, type PostgresOptions } from '../../../adapters/postgres/index.js'
import { encodeMessage } from '../../../src/codec/encoder.js'
import { createLorekeep, restore, type Backend } from '../../../src/index.js'
import { BackupDecoder } from '../../../src/backup/decoder.js'
import { decodeKey } from '../../../src/keys.js'
import { slicedMessage, triplesMessage } from '../../fixtures/stores.js'
import { collect, fill, numbered, put, text } from '../../suite/bytes.js'
import { Cluster, skip } from './cluster.js'
import { Proxy } from './proxy.js'

interface Test {
  teardown(fn: () => Promise<void>): unknown
}

if (skip !== false) void t.test('PostgreSQL', { skip }, () => undefined)
else {
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  let places = 0
  const place = () => ({ url: cluster.url, schema: `place_${places++}`, shared: false })
  const opened = (t: Test, options: PostgresOptions) => {
    const backend = new PostgresBackend(options)
    t.teardown(() => backend.close())
    return backend
  }

  void t.test('a snapshot ends with its session', async (t) => {
    const proxy = await Proxy.start(cluster.port)
    t.teardown(() => proxy.stop())
    const backend = opened(t, { ...place(), url: proxy.url })
    const storage = await backend.open('objects')
    await fill(storage, 3000)
    const snapshot = await backend.snapshot()
    const { partitions } = snapshot
    const pages = partitions.objects.scan({})[Symbol.asyncIterator]()
    await pages.next()
    // The next page is here already.
    await pages.next()
    proxy.cut()
    const lost = { code: 'LK_STORAGE_UNAVAILABLE', message: /the session that has the snapshot/u }
    await t.rejects(partitions.objects.get(numbered(1)), lost)
    await t.rejects(partitions.cores.get(numbered(1)), lost)
    await t.rejects(collect(partitions.objects.scan({})), lost)
    await snapshot.close()
    t.ok(await storage.get(numbered(1)))
  })

  void t.test('a snapshot lasts as long as it may', async (t) => {
    const backend = opened(t, { ...place(), snapshotMs: 300 })
    await put(await backend.open('objects'), text('a'), text('1'))
    const { partitions } = await backend.snapshot()
    const sessions = `SELECT count(*)::int4 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL
      AND application_name = 'lorekeep'`
    t.same(await partitions.objects.get(text('a')), text('1'))
    t.same(await cluster.query(sessions), [[1]])
    await wait(400)
    const ended = { code: 'LK_STORAGE_UNAVAILABLE', message: /snapshotMs/u }
    await t.rejects(partitions.objects.get(text('a')), ended)
    while ((await cluster.query(sessions))[0]?.[0] !== 0) await wait(20)
  })

  void t.test('whoever stands still holds nothing up for ever', async (t) => {
    const backend = opened(t, { ...place(), snapshotMs: 1000 })
    const snapshot = await backend.snapshot()
    const [[limit]] = (await cluster.query(`SELECT count(*)::int4 FROM pg_stat_activity
      WHERE state = 'idle in transaction' AND application_name = 'lorekeep'`)) as [[number]]
    t.equal(limit, 1)
    // As if this process did not come to its own limit.
    const until = performance.now() + 1500
    while (performance.now() < until);
    const left = `SELECT count(*)::int4 FROM pg_stat_activity WHERE state = 'idle in transaction'`
    t.same(await cluster.query(left), [[0]])
    await snapshot.close()
  })

  void t.test('a store that one process has alone is read by others', async (t) => {
    const options = place()
    const storage = await opened(t, options).open('objects')
    await put(storage, text('a'), text('1'))
    const { partitions } = await opened(t, options).snapshot()
    await put(storage, text('a'), text('2'))
    t.same(await partitions.objects.get(text('a')), text('1'))
  })

  void t.test('a backup of what two write to is of one moment', async (t) => {
    const options = { ...place(), shared: true }
    const keeps = await Promise.all(
      [0, 1].map(() => createLorekeep({ backend: new PostgresBackend(options), indexThreads: 0 })),
    )
    t.teardown(() => Promise.all(keeps.map((keep) => keep.close())))
    const [one, two] = keeps as [(typeof keeps)[0], (typeof keeps)[0]]
    for (const name of ['s0', 's1']) {
      await one.objects.defineSchema({
        name,
        fields: { id: { type: 'string' }, n: { type: 'integer' } },
      })
    }
    let isOver = false
    const acknowledged = [0, 0]
    const writing = keeps.map(async ({ objects }, at) => {
      for (let n = 0; !isOver; n++) {
        const metadata = { id: `batch ${at} ${n}`, user: 'u', collection: 'c' }
        const values = [{ id: `${at} ${n}`, n }]
        await objects.import({ metadata, schema_name: `s${at}`, values })
        acknowledged[at]!++
      }
    })
    const dir = t.testdir()
    const file = `${dir}/a`
    let before: readonly number[] = []
    try {
      while (acknowledged.some((count) => count < 3)) await wait(10)
      before = [...acknowledged]
      await one.backup(file)
      for await (const finding of two.verify({ deep: true })) t.equal(finding.severity, 'info')
    } finally {
      isOver = true
    }
    await Promise.all(writing)
    const level = new LevelBackend(`${dir}/level`)
    await restore(level, file)
    await using keep = await createLorekeep({ backend: level })
    for (const [at, count] of before.entries()) {
      const schema_name = `s${at}`
      const { total } = await keep.objects.query({ schema_name })
      t.ok(total >= count && total <= acknowledged[at]!, `${total} of ${acknowledged[at]}`)
      const later = await keep.objects.query({ schema_name, filters: { n: { $gte: total } } })
      t.equal(later.total, 0, 'none without those before it')
    }
    for await (const finding of keep.verify({ deep: true })) t.equal(finding.severity, 'info')
  })

  void t.test('nothing is restored into what others may open', async (t) => {
    const backend = opened(t, { ...place(), shared: true })
    await t.rejects(restore(backend, '/none'), TypeError)
  })

  void t.test('a store moves to PostgreSQL and back as it is', async (t) => {
    const dir = t.testdir({ first: {}, second: {} })
    const first = new LevelBackend(`${dir}/first`)
    const keep = await createLorekeep({ backend: first })
    const ref = { user: 'u', id: 'core' }
    const messages = [triplesMessage('core', 20), slicedMessage('core')]
    await keep.knowledge.import(
      ref,
      messages.map((message) => encodeMessage(message, 0)),
    )
    await keep.knowledge.index({ user: 'u' })
    await keep.objects.defineSchema({
      name: 's',
      fields: { id: { type: 'string' }, n: { type: 'integer' } },
    })
    const metadata = { id: 'batch', user: 'u', collection: 'c' }
    await keep.objects.import({ metadata, schema_name: 's', values: [{ id: 'a', n: 1 }] })
    await keep.flows.load('default', { id: 'doc', user: 'u', content: 'A text.' })
    await keep.close()
    const copy = async (from: Backend, to: Backend, file: string) => {
      const moved = await createLorekeep({ backend: from, indexThreads: 0 })
      await moved.backup(`${dir}/${file}`)
      await moved.close()
      await restore(to, `${dir}/${file}`)
      await to.close()
      return contentOf(`${dir}/${file}`)
    }
    const options = place()
    const there = new PostgresBackend(options)
    const before = await copy(new LevelBackend(`${dir}/first`), there, 'to')
    const after = await copy(
      new PostgresBackend({ ...options, shared: true }),
      new LevelBackend(`${dir}/second`),
      'from',
    )
    t.ok(before.size > 10)
    t.same(after, before)
  })
}

/** The entries of a backup by partition and key. */
async function contentOf(file: string): Promise<Map<string, string>> {
  const decoder = new BackupDecoder()
  const content = new Map<string, string>()
  for (const { partition, entries } of decoder.push(await readFile(file))) {
    for (const { key, value } of entries) {
      // Of who had it open, and of what they write.
      if (['member', 'beat', 'slot'].includes(String(decodeKey(key)[0]))) continue
      content.set(
        `${partition} ${Buffer.from(key).toString('hex')}`,
        Buffer.from(value).toString('hex'),
      )
    }
  }
  decoder.finish()
  return content
}
