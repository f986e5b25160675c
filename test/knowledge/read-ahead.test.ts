// What exports hold of slices that nobody has asked for yet.

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { encodeMessage } from '../../src/codec/encoder.js'
import type { Backend, Storage } from '../../src/storage.js'
import { altered } from '../fixtures/altered-storage.js'
import { bigStream, openStore } from '../fixtures/stores.js'

const ref = { user: 'alice', id: 'core' }
const slices = 12

async function counted(t: Parameters<typeof openStore>[0]) {
  const reads = { count: 0 }
  const memory = new MemoryBackend()
  const backend: Backend = {
    open: async (name) => {
      const storage: Storage = await memory.open(name)
      if (name !== 'slices') return storage
      const get: Storage['get'] = (key) => {
        reads.count++
        return storage.get(key)
      }
      return altered(storage, { get })
    },
    shared: memory.shared,
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory.close(),
  }
  const keep = await openStore(t, backend)
  await keep.knowledge.import(ref, bigStream('big', slices, encodeMessage))
  reads.count = 0
  return { keep, reads }
}

t.test('what was read ahead is let go where the reader pauses, and read again', async (t) => {
  const { keep, reads } = await counted(t)
  const chunks = (await keep.knowledge.export(ref))[Symbol.asyncIterator]()
  await chunks.next()
  t.equal(reads.count, 7)
  await sleep(600)
  let left = 0
  while ((await chunks.next()).done !== true) left++
  t.equal(reads.count, 1 + left + 6, 'the six were read twice')
})

t.test('a reader that goes on reads nothing twice', async (t) => {
  const { keep, reads } = await counted(t)
  let found = 0
  for await (const chunk of await keep.knowledge.export(ref)) found += chunk.length > 0 ? 1 : 0
  t.equal(reads.count, found)
})

t.test('all exports together read a few ahead', async (t) => {
  const { keep, reads } = await counted(t)
  const open = await Promise.all(
    Array.from({ length: 50 }, async () =>
      (await keep.knowledge.export(ref))[Symbol.asyncIterator](),
    ),
  )
  for (const chunks of open) await chunks.next()
  t.ok(reads.count <= 50 + 24, `${reads.count} slices were read for 50 readers`)
  for (const chunks of open) await chunks.return?.()
  reads.count = 0
  const after = (await keep.knowledge.export(ref))[Symbol.asyncIterator]()
  await after.next()
  t.equal(reads.count, 7, 'and what was let go is there for others')
  await after.return?.()
})
