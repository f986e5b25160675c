// Two stores over one backend: what one refuses, or finds nothing to do about, holds for what the
// other has written, not for what it remembers.

import t, { type Test } from 'tap'
import { createLorekeep, type LorekeepOptions } from '../../src/lorekeep.js'
import type { ObjectStore } from '../../src/objects/types.js'
import type { Backend, PartitionName, Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { backends } from '../fixtures/stores.js'
import { MemoryBackend } from '../../adapters/memory.js'
import { objectProblems } from '../fixtures/problems.js'
import { KeptBackend } from './kept-backend.js'
import { batchOf, cases, counted, defined, one, outcomeOf } from './outdated-cases.js'

for (const [engine, createBackend] of backends) {
  for (const [name, { before, meanwhile, then, gives, options }] of Object.entries(cases)) {
    t.test(`${engine}: ${name}`, async (t) => {
      const backend = new KeptBackend(createBackend(t))
      t.teardown(() => backend.real.close())
      const first = await opened(t, backend)
      await before(first)
      const second = await opened(t, backend, options)
      await meanwhile(first)
      t.strictSame(await outcomeOf(then(second)), gives)
      t.strictSame(await objectProblems(backend), [])
    })
  }
}

t.test('a refusal costs one look at the head, a change none', async (t) => {
  const backend = new CountingBackend(new MemoryBackend())
  const objects = await opened(t, backend)
  await defined(objects)
  let start = backend.gets
  await objects.import(one)
  t.equal(backend.gets - start, 0)
  for (const work of [
    () => objects.import(one),
    () => objects.import(one, { onDuplicate: 'skip' }),
    () => objects.import(batchOf([{ id: 'x' }])),
    () => objects.delete('c', 2),
    () => objects.deleteCollection('d'),
    () => defined(objects),
  ]) {
    start = backend.gets
    const writes = backend.writes
    await outcomeOf(work())
    t.equal(backend.gets - start, 1)
    t.equal(backend.writes, writes)
  }
})

t.test('nothing is refused because of a change that was not made', async (t) => {
  const kept = new KeptBackend(new MemoryBackend())
  const backend = new FaultyBackend(kept)
  const objects = await opened(t, backend)
  await defined(objects)
  await objects.import(batchOf([{ id: 2 }]))
  // Both are in one group; the write of the first, which the second would meet, fails.
  Object.assign(backend, { failAt: backend.calls + 1 })
  const both = await Promise.all([objects.import(one), objects.import(one)].map(outcomeOf))
  t.strictSame(both, ['LK_STORAGE_FAILED', 'LK_STORAGE_FAILED'])
  t.strictSame(await outcomeOf(counted(objects, one)), [1, 0])
  t.strictSame(await objectProblems(kept), [])
})

async function opened(
  t: Test,
  backend: Backend,
  options: Partial<LorekeepOptions> = {},
): Promise<ObjectStore> {
  const keep = await createLorekeep({ backend, ...options })
  t.teardown(() => keep.close())
  return keep.objects
}

/** Counts what is asked of the partition of objects. */
class CountingBackend extends KeptBackend {
  gets = 0
  writes = 0

  override async open(partition: PartitionName): Promise<Storage> {
    const storage = await super.open(partition)
    if (partition !== 'objects') return storage
    const get: Storage['get'] = (key) => {
      this.gets++
      return storage.get(key)
    }
    const write: Storage['write'] = (operations, options) => {
      this.writes++
      return storage.write(operations, options)
    }
    return altered(storage, { get, write })
  }
}
