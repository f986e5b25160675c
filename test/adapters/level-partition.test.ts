// Group commit, profiles, pages.

import t from 'tap'
import { LevelBackend } from '../../adapters/level/index.js'
import type { LevelPartition } from '../../adapters/level/partition.js'
import type { Operation } from '../../src/storage.js'
import { bytes, keysOf, numbered, put } from '../suite/bytes.js'

const MiB = 1024 * 1024

void t.test('writes that wait at the same time share a native batch', async (t) => {
  const backend = new LevelBackend(t.testdir())
  t.teardown(() => backend.close())
  const storage = (await backend.open('flows')) as LevelPartition
  await Promise.all(
    Array.from({ length: 1000 }, (_, index) =>
      storage.write([{ type: 'put', key: numbered(index), value: numbered(index) }], {
        durable: true,
      }),
    ),
  )
  t.ok(storage.batches <= 10, `${storage.batches} batches`)
  t.equal((await keysOf(storage)).length, 1000)
})

void t.test('a group ends at maxGroupBytes, and a larger write goes alone', async (t) => {
  const backend = new LevelBackend(t.testdir(), { profiles: { flows: { maxGroupBytes: 10_000 } } })
  t.teardown(() => backend.close())
  const storage = (await backend.open('flows')) as LevelPartition
  const write = (number: number, length: number) =>
    put(storage, numbered(number), new Uint8Array(length - 4))
  await Promise.all([write(0, 5000), write(1, 5000), write(2, 5000)])
  t.equal(storage.batches, 2, 'two fit exactly, the third does not')
  await Promise.all([write(3, 5000), write(4, 5001)])
  t.equal(storage.batches, 4, 'one byte too many')
  await Promise.all([write(5, 50_000), write(6, 10), write(7, 10)])
  t.equal(storage.batches, 6)
  t.equal((await keysOf(storage)).length, 8)
})

void t.test('large and small values of one group stay apart', async (t) => {
  const backend = new LevelBackend(t.testdir())
  t.teardown(() => backend.close())
  for (const name of ['objects', 'slices'] as const) {
    const storage = await backend.open(name)
    const lengths = [0, 1, 100, 70_000, 5000, 300_000, 0, 3 * MiB, 17]
    await Promise.all(
      lengths.map((length, index) => {
        const value = new Uint8Array(length).fill(index)
        const operations: Operation[] = [
          { type: 'put', key: numbered(index), value },
          { type: 'del', key: bytes(9, index) },
        ]
        return storage.write(operations)
      }),
    )
    for (const [index, length] of lengths.entries()) {
      const value = await storage.get(numbered(index))
      t.ok(value && Buffer.from(value).equals(Buffer.alloc(length, index)), `${name} ${length}`)
    }
  }
})

void t.test('profiles can be overridden by partition', async (t) => {
  const directory = t.testdir()
  const backend = new LevelBackend(directory, {
    profiles: { objects: { pageEntries: 3, readInPlace: false } },
  })
  t.teardown(() => backend.close())
  const storage = await backend.open('objects')
  for (let index = 0; index < 7; index++) await put(storage, numbered(index), numbered(index))
  const pages: number[] = []
  for await (const page of storage.scan({})) pages.push(page.length)
  t.strictSame(pages, [3, 3, 1])
  t.same(await storage.get(numbered(2)), numbered(2))
})

void t.test('a page ends at about 1 MiB', async (t) => {
  const backend = new LevelBackend(t.testdir())
  t.teardown(() => backend.close())
  const storage = await backend.open('slices')
  const value = new Uint8Array(256 * 1024)
  for (let index = 0; index < 20; index++) {
    await storage.write([{ type: 'put', key: numbered(index), value }])
  }
  for (const reverse of [false, true]) {
    const pages: number[] = []
    for await (const page of storage.scan({ reverse })) pages.push(page.length)
    t.strictSame(pages, [4, 4, 4, 4, 4])
  }
})
