// Changes on condition: of two who know the same, one alone succeeds, wherever the other one sits.

import t from 'tap'
import { PostgresBackend } from '../adapters/postgres/index.js'
import { MemoryBackend } from '../adapters/memory.js'
import { checkConditions } from '../src/conditions.js'
import { openKnowledgeStore } from '../src/knowledge/store.js'
import { createLorekeep } from '../src/lorekeep.js'
import { openObjectStore } from '../src/objects/store.js'
import { Cursors } from '../src/paging.js'
import { Cluster, skip } from './adapters/postgres/cluster.js'
import { pickSeed } from './fixtures/random.js'
import { SharedMemory } from './fixtures/shared-memory.js'
import { conditionalWrites } from './torture/conditional-writes.js'

const refused = { code: 'LK_PRECONDITION' }

void t.test('what a condition says', async (t) => {
  const now = { version: 'b', updatedAt: '2026-01-01T00:00:00.500Z' }
  const holds = (conditions: object, known: typeof now | undefined = now) => {
    try {
      checkConditions(conditions, known, 'it')
      return true
    } catch {
      return false
    }
  }
  t.ok(holds({ ifVersion: 'b' }))
  t.ok(holds({ ifVersion: ['a', 'b'] }))
  t.ok(holds({ ifVersion: '*' }))
  t.notOk(holds({ ifVersion: 'a' }))
  t.notOk(holds({ ifVersion: [] }))
  t.notOk(holds({ ifVersion: null }))
  t.ok(holds({ ifNotVersion: 'a' }))
  t.notOk(holds({ ifNotVersion: ['a', 'b'] }))
  t.notOk(holds({ ifNotVersion: '*' }))
  t.notOk(holds({ ifVersion: 'b', ifNotVersion: 'b' }))
  t.ok(holds({ ifUnmodifiedSince: new Date('2026-01-01T00:00:00.500Z') }))
  t.notOk(holds({ ifUnmodifiedSince: new Date('2026-01-01T00:00:00.499Z') }))
  const none = (conditions: object) => {
    try {
      checkConditions(conditions, undefined, 'it')
      return true
    } catch {
      return false
    }
  }
  t.ok(none({ ifVersion: null }))
  t.ok(none({ ifNotVersion: '*' }))
  t.ok(none({ ifNotVersion: ['a'] }))
  t.notOk(none({ ifVersion: '*' }))
  t.notOk(none({ ifVersion: 'b' }))
  t.notOk(none({ ifUnmodifiedSince: new Date() }))
  const wrong = () => checkConditions({ ifVersion: 'a' }, now, 'it')
  t.throws(wrong, Object.assign(new Error(), { details: { version: 'b' } }))
})

void t.test('versions come with what is read, and change with each change', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge, objects, flows } = keep
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } })
  const metadata = { id: 'b', user: 'u', collection: 'c' }
  await objects.import({ metadata, schema_name: 's', values: [{ id: '1' }] })
  const first = await objects.get('c', '1')
  const { objects: page } = await objects.query({ schema_name: 's', fields: ['_version'] })
  t.strictSame(page, [{ _version: first?._version, _id: '1' }])
  const second = await objects.patch('c', '1', { n: 1 }, { ifVersion: first!._version })
  t.not(second?._version, first?._version)
  t.equal((await objects.get('c', '1'))?._version, second?._version)
  await t.rejects(objects.patch('c', '1', { n: 2 }, { ifVersion: first!._version }), refused)
  await t.rejects(objects.replace('c', '1', {}, { ifNotVersion: second!._version }), refused)
  const before = { ifUnmodifiedSince: new Date(0) }
  await t.rejects(objects.delete('c', '1', before), refused)
  t.match(await objects.get('c', '1'), { n: 1, _version: second?._version })
  t.equal(await objects.delete('c', '2', { ifVersion: 'x' }), false)
  t.equal(await objects.delete('c', '1', { ifVersion: [second!._version] }), true)

  const version = await objects.schemaVersion('s')
  const anew = { name: 's', fields: { id: { type: 'integer' } } }
  await t.rejects(objects.defineSchema(anew, { ifVersion: null }), refused)
  await t.rejects(objects.dropSchema('s', { ifVersion: 'x' }), refused)
  await objects.defineSchema({ name: 's', fields: { id: { type: 'string' } } }, { ifVersion: '*' })
  t.equal(await objects.schemaVersion('s'), version, 'the same definition')
  t.equal(await objects.dropSchema('s', { ifVersion: version! }), true)
  t.equal(await objects.schemaVersion('s'), undefined)

  const [collection] = await objects.collections()
  await t.rejects(objects.createCollection('c', { ifVersion: null }), refused)
  await t.rejects(objects.deleteCollection('c', { ifVersion: 'x' }), refused)
  t.equal(await objects.deleteCollection('c', { ifVersion: collection!.version }), 0)

  const of = await flows.version('default')
  await flows.stop('default', { ifVersion: of! })
  t.not(await flows.version('default'), of)
  await t.rejects(flows.start('default', { ifVersion: of! }), refused)
  await t.rejects(flows.define({ id: 'default' }, { ifVersion: of! }), refused)
  await t.rejects(flows.remove('default', { ifVersion: of! }), refused)
  await flows.start('default')
  t.equal(await flows.version('default'), of)

  const ref = { user: 'u', id: 'core' }
  const term = { v: 'urn:a', e: true }
  const message = [
    't',
    { m: { i: 'x', u: 'u', c: 'c', m: [] }, t: [{ s: term, p: term, o: term }] },
  ]
  await t.rejects(knowledge.write(ref, [message] as never, { ifVersion: '*' }), refused)
  const summary = await knowledge.write(ref, [message] as never, { ifVersion: null })
  t.equal((await knowledge.stat(ref))?.digest, summary.version)
  await t.rejects(knowledge.write(ref, [message] as never, { ifVersion: null }), refused)
  const same = await knowledge.write(ref, [message] as never, { ifVersion: summary.version })
  t.match(same, { duplicate: true, version: summary.version })
  await t.rejects(knowledge.delete(ref, { ifVersion: 'x' }), refused)
  t.equal(await knowledge.delete(ref, { ifVersion: summary.version }), true)
  t.equal(await knowledge.delete(ref, { ifVersion: summary.version }), false)
})

void t.test('a core that changes while an import is read is not replaced', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  const { knowledge } = keep
  const ref = { user: 'u', id: 'core' }
  const messageOf = (text: string) => {
    const term = { v: text, e: true }
    return ['t', { m: { i: 'x', u: 'u', c: 'c', m: [] }, t: [{ s: term, p: term, o: term }] }]
  }
  const { version } = await knowledge.write(ref, [messageOf('a')] as never)
  const slow = async function* () {
    yield messageOf('b')
    await knowledge.write(ref, [messageOf('c')] as never)
  }
  const change = { mode: 'replace', ifVersion: version } as const
  await t.rejects(knowledge.write(ref, slow() as never, change), refused)
  t.match(await knowledge.stat(ref), { messages: 2 })
})

void t.test(
  'each change has a later time than what was there, whatever the clock says',
  async (t) => {
    const backend = new MemoryBackend()
    const clock = { now: Date.UTC(2026, 0, 1) }
    const onError = (error: unknown) => t.fail(String(error))
    const parts = { isAlone: true, onError, now: () => clock.now }
    const objects = await openObjectStore({
      ...parts,
      objects: await backend.open('objects'),
      isShared: false,
      reads: 'fresh',
      cacheBytes: 1024 ** 2,
      collections: 'open',
    })
    const knowledge = await openKnowledgeStore({
      ...parts,
      cores: await backend.open('cores'),
      slices: await backend.open('slices'),
      cursors: new Cursors(() => ''),
      indexCacheBytes: 1024 ** 2,
      vectorCacheBytes: 1024 ** 2,
      embedder: () => [],
      isOffline: true,
    })
    t.teardown(async () => {
      await Promise.all([objects.close(1000), knowledge.close(1000)])
      await backend.close()
    })
    await objects.defineSchema({ name: 's', fields: { n: { type: 'integer' } } })
    const ref = { user: 'u', id: 'core' }
    const put = (n: number, options: { onDuplicate?: 'replace' } = {}) =>
      objects.import(
        {
          metadata: { id: 'b', user: 'u', collection: 'c' },
          schema_name: 's',
          values: [{ id: 'o', n }],
        },
        options,
      )
    const write = (text: string, options: { mode?: 'replace' } = {}) => {
      const term = { v: text, e: true }
      const message = { m: { i: 'x', u: 'u', c: 'c', m: [] }, t: [{ s: term, p: term, o: term }] }
      return knowledge.write(ref, [['t', message]] as never, options)
    }
    await put(0)
    await write('first')
    const first = await objects.get('c', 'o')
    t.equal(first?._updated_at, first?._created_at)
    const core = await knowledge.stat(ref)
    t.equal(core?.updatedAt, core?.createdAt)
    let n = 0
    for (const backMs of [0, 60_000]) {
      clock.now -= backMs
      for (const change of [
        () => objects.patch('c', 'o', { n: ++n }),
        () => objects.replace('c', 'o', { n: ++n }),
        () => put(++n, { onDuplicate: 'replace' }),
      ]) {
        const ifUnmodifiedSince = new Date((await objects.get('c', 'o'))!._updated_at)
        await change()
        await t.rejects(objects.patch('c', 'o', { n: 0 }, { ifUnmodifiedSince }), refused)
        t.match(await objects.get('c', 'o'), { n })
      }
      for (const options of [{}, { mode: 'replace' }, {}] as const) {
        const ifUnmodifiedSince = new Date((await knowledge.stat(ref))!.updatedAt)
        await write(`${++n}`, options)
        await t.rejects(knowledge.delete(ref, { ifUnmodifiedSince }), refused)
      }
    }
  },
)

void t.test('two clients of a shared memory lose no update', async (t) => {
  const seed = pickSeed()
  const memory = new SharedMemory()
  const backends = [memory.backend(), memory.backend()] as const
  const count = await conditionalWrites({ backends, histories: 60, seed })
  await memory.close()
  t.ok(count.refused > 0 && count.acknowledged > 60, `seed ${seed}: ${JSON.stringify(count)}`)
})

void t.test('two clients of a PostgreSQL lose no update', { skip }, async (t) => {
  const seed = pickSeed()
  const cluster = await Cluster.start()
  t.teardown(() => cluster.stop())
  const { url } = cluster
  const backends = [new PostgresBackend({ url }), new PostgresBackend({ url })] as const
  const count = await conditionalWrites({ backends, histories: 12, seed })
  t.ok(count.refused > 0, `seed ${seed}: ${JSON.stringify(count)}`)
})
