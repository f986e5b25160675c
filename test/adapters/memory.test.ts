import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { bytes, keysOf, numbered } from '../suite/bytes.js'
import { suite } from '../suite/index.js'

suite({
  test: (name, run) => t.test(name, run),
  factory: {
    persistent: false,
    create: () => ({ backend: () => new MemoryBackend() }),
  },
})

void t.test('a page ends at about 1 MiB', async (t) => {
  const backend = new MemoryBackend()
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

void t.test('100,000 keys in random order and out again', async (t) => {
  // Enough to split and empty chunks many times over.
  const count = 100_000
  const storage = await new MemoryBackend().open('objects')
  const key = (index: number) => numbered((index * 7919) % count)
  for (let index = 0; index < count; index++) {
    await storage.write([{ type: 'put', key: key(index), value: bytes(index & 0xff) }])
  }
  t.equal((await keysOf(storage)).length, count)
  for (let index = 0; index < count; index += 2) {
    await storage.write([{ type: 'del', key: key(index) }])
  }
  t.equal((await keysOf(storage, { reverse: true })).length, count / 2)
  for (let index = 1; index < count; index += 1001) {
    t.same(await storage.get(key(index)), index % 2 === 0 ? undefined : bytes(index & 0xff))
  }
  for (let index = 1; index < count; index += 2) {
    await storage.write([{ type: 'del', key: key(index) }])
  }
  t.strictSame(await keysOf(storage), [])
})
