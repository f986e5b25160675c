// What a lorekeep says of itself: whether it takes work, and what operators watch.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { LevelBackend } from '../adapters/level/index.js'
import { MemoryBackend } from '../adapters/memory.js'
import { createLorekeep } from '../src/index.js'
import { FaultyBackend } from './fixtures/faulty-backend.js'

t.test('it is ready, and tells of its memory and its disk', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'lorekeep-health-'))
  const backend = new LevelBackend(directory)
  const keep = await createLorekeep({ backend, objectCacheBytes: 1000, graphCacheBytes: 2000 })
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  await keep.objects.defineSchema({ name: 'n', fields: { id: { type: 'string' } } })
  const metadata = { id: 'i', user: 'u', collection: 'c' }
  await keep.objects.import({ metadata, schema_name: 'n', values: [{ id: '1' }] })
  const health = await keep.health()
  t.match(health, { ready: true, problems: [], index: { parts: 0, waiting: 0, isBehind: false } })
  t.equal(health.caches.objects.maxBytes, 1000)
  t.equal(health.caches.graph.maxBytes, 2000)
  t.ok(health.caches.objects.bytes > 0)
  t.ok(Number(health.freeBytes) > 1024 ** 2)
  await keep.close()
  await t.rejects(keep.health(), { code: 'LK_CLOSED' })
})

t.test('a backend that does not tell of its disk has none', async (t) => {
  const keep = await createLorekeep({ backend: new MemoryBackend() })
  t.teardown(() => keep.close())
  t.notOk('freeBytes' in (await keep.health()))
})

t.test('it is not ready from a write that was refused to one that is taken', async (t) => {
  const faulty = new FaultyBackend(new MemoryBackend())
  const keep = await createLorekeep({ backend: faulty, onError: () => {} })
  t.teardown(() => keep.close())
  const create = () => keep.objects.createCollection('c')
  faulty.refusesWrites = true
  await t.rejects(create())
  const health = await keep.health()
  t.equal(health.ready, false)
  t.match(health.problems, [{ where: 'objects', code: 'LK_STORAGE_UNAVAILABLE' }])
  faulty.refusesWrites = false
  t.match(await keep.health(), { ready: true, problems: [] }, 'it has tried by itself')
  t.equal(await create(), true)
})
