import { join } from 'node:path'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t from 'tap'
import { MemoryBackend } from '../../adapters/memory.js'
import { patience, takeSnapshot } from '../../src/snapshot/backend-snapshot.js'
import { SnapshotLayer } from '../../src/snapshot/snapshot-layer.js'
import type { Storage } from '../../src/storage.js'
import { FaultyBackend } from '../fixtures/faulty-backend.js'
import { pickSeed } from '../fixtures/random.js'
import { snapshotRuns } from '../torture/snapshots.js'

const seed = pickSeed()

t.test(`a snapshot is what there was when it was taken, seed ${seed}`, async (t) => {
  const base = t.testdir()
  const directory = (run: number) => join(base, String(run))
  const { snapshots, entries } = await snapshotRuns({ runs: 40, seed, directory })
  t.ok(snapshots > 0 && entries > 0)
})

const key = (name: string) => Buffer.from(name)
const put = (name: string, value: Uint8Array) => ({ type: 'put', key: key(name), value }) as const

async function opened(backend: ConstructorParameters<typeof SnapshotLayer>[0]) {
  const layer = new SnapshotLayer(backend)
  const slices = await layer.open('slices')
  return { layer, slices }
}

const temporary = () =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('lorekeep-snapshot-')).length

t.test('who reads a snapshot of an engine must not wait long between two reads', async (t) => {
  const { unreadMs } = patience
  t.teardown(() => (patience.unreadMs = unreadMs))
  patience.unreadMs = 1000
  const backend = new MemoryBackend()
  const [cores, slices, objects, flows] = [
    await backend.open('cores'),
    await backend.open('slices'),
    await backend.open('objects'),
    await backend.open('flows'),
  ]
  await objects.write([put('a', Buffer.alloc(1))])
  const partitions = { cores, slices, objects, flows }
  const snapshot = await takeSnapshot(async () => ({ partitions, close: async () => undefined }))
  t.ok(snapshot.mayWait)
  const pages = snapshot.partitions.objects.scan({})[Symbol.asyncIterator]()
  for (const read of [
    () => snapshot.partitions.cores.get(key('a')),
    () => snapshot.partitions.flows.getMany([key('a')]),
    // A page, and that there are no more.
    () => pages.next(),
    () => pages.next(),
  ]) {
    while (snapshot.mayWait) await sleep(10)
    const reading = read()
    t.ok(snapshot.mayWait)
    await reading
  }
})

t.test('what was overwritten goes to a file past 16 MiB, which has no name', async (t) => {
  const before = temporary()
  const { layer, slices } = await opened(new MemoryBackend())
  const value = (n: number) => Buffer.alloc(1024 * 1024, n + 1)
  for (let n = 0; n < 24; n++) await slices.write([put(`k${10 + n}`, value(n))])
  const snapshot = layer.take()
  await slices.write(
    Array.from({ length: 24 }, (_, n) => ({ type: 'del', key: key(`k${10 + n}`) }) as const),
  )
  if (process.platform !== 'win32') t.equal(temporary(), before)
  let n = 0
  for await (const page of snapshot.partitions.slices.scan({})) {
    t.ok(page.length <= 2, 'pages of about a mebibyte')
    for (const entry of page) t.ok(value(n++).equals(entry.value))
  }
  t.equal(n, 24)
  await snapshot.close()
})

t.test(
  'without a place for the file the snapshot ends with the reason, and the write goes on',
  async (t) => {
    const before = process.env['TMPDIR']
    t.teardown(() =>
      before === undefined ? delete process.env['TMPDIR'] : (process.env['TMPDIR'] = before),
    )
    process.env['TMPDIR'] = join(t.testdir(), 'none')
    const { layer, slices } = await opened(new MemoryBackend())
    const value = Buffer.alloc(17 * 1024 * 1024)
    await slices.write([put('a', value)])
    const snapshot = layer.take()
    await slices.write([put('a', Buffer.from('new'))])
    const told = { code: 'LK_STORAGE_FAILED', message: /none: ENOENT/ }
    await t.rejects(snapshot.partitions.slices.get(key('a')), told)
  },
)

t.test('a value that is given out is not the one that is kept', async (t) => {
  const { layer, slices } = await opened(new MemoryBackend())
  await slices.write([put('a', Buffer.from('old'))])
  const snapshot = layer.take()
  await slices.write([put('a', Buffer.from('new'))])
  for (let n = 0; n < 2; n++) {
    const value = await snapshot.partitions.slices.get(key('a'))
    t.equal(Buffer.from(value!).toString(), 'old')
    value!.fill(0)
  }
  await snapshot.close()
})

t.test(
  'a snapshot that is not read while too much changes ends, and the writes go on',
  async (t) => {
    const layer = new SnapshotLayer(new MemoryBackend(), 3)
    const slices = await layer.open('slices')
    await slices.write(['a', 'b', 'c', 'd', 'e'].map((name) => put(name, Buffer.from('old'))))
    let ended = 0
    const snapshot = layer.take(() => ended++)
    const change = (name: string) => slices.write([put(name, Buffer.from('new'))])
    for (const name of ['a', 'b', 'c', 'a']) await change(name)
    t.equal(snapshot.changed, 3, 'each key once')
    // What was read needs no room any more.
    snapshot.pass('slices', key('b'))
    await change('d')
    t.equal(ended, 0)
    await change('e')
    await change('f')
    t.equal(ended, 1)
    const told = { code: 'LK_STORAGE_UNAVAILABLE', message: /keys have changed/ }
    await t.rejects(snapshot.partitions.slices.get(key('c')), told)
    t.equal(Buffer.from((await slices.get(key('f')))!).toString(), 'new')
  },
)

t.test('a snapshot that cannot save ends, and the write goes on', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { layer, slices } = await opened(backend)
  await slices.write([put('a', Buffer.from('old'))])
  let ended = 0
  const snapshot = layer.take(() => ended++)
  // The read of the old value, not the write.
  backend.failAt = backend.calls + 1
  await slices.write([put('a', Buffer.from('new'))])
  t.equal(ended, 1)
  t.equal(Buffer.from((await slices.get(key('a')))!).toString(), 'new')
  await t.rejects(snapshot.partitions.slices.get(key('a')), { code: 'LK_STORAGE_FAILED' })
  await t.rejects(snapshot.partitions.slices.scan({})[Symbol.asyncIterator]().next(), {
    code: 'LK_STORAGE_FAILED',
  })
  await snapshot.close()
  t.equal(ended, 1)
})

t.test('after its end a snapshot costs nothing, and says so', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { layer, slices } = await opened(backend)
  const snapshot = layer.take()
  await slices.write([put('a', Buffer.from('1'))])
  t.equal(snapshot.changed, 1)
  await snapshot.close()
  await t.rejects(snapshot.partitions.slices.get(key('a')), { code: 'LK_CLOSED' })
  const { calls } = backend
  await slices.write([put('a', Buffer.from('2'))])
  t.equal(backend.calls, calls + 1)
})

t.test('what is passed is not saved any more', async (t) => {
  const backend = new FaultyBackend(new MemoryBackend())
  const { layer, slices } = await opened(backend)
  for (const name of ['a', 'b', 'c']) await slices.write([put(name, Buffer.from(name))])
  const snapshot = layer.take()
  await slices.write([put('a', Buffer.alloc(1)), put('c', Buffer.alloc(1))])
  t.equal(snapshot.changed, 2)
  snapshot.pass('slices', key('b'))
  t.equal(snapshot.changed, 1)
  const { calls } = backend
  await slices.write([put('b', Buffer.alloc(2))])
  t.equal(backend.calls, calls + 1)
  snapshot.pass('slices')
  t.equal(snapshot.changed, 0)
  await slices.write([put('d', Buffer.alloc(2))])
  t.equal(backend.calls, calls + 2)
  await snapshot.close()
})

t.test('writes under way when it is taken belong to it, and keep their order', async (t) => {
  const memory = await new MemoryBackend().open('slices')
  const order: string[] = []
  const held: (() => void)[] = []
  const slow: Storage = {
    get: (key) => memory.get(key),
    getBytes: (key, from, to) => memory.getBytes(key, from, to),
    getMany: (keys) => memory.getMany(keys),
    scan: (range) => memory.scan(range),
    async write(operations, options) {
      order.push(Buffer.from(operations[0]!.key).toString())
      await new Promise<void>((resolve) => held.push(resolve))
      await memory.write(operations, options)
    },
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory.close(),
  }
  const { layer, slices } = await opened({ open: async () => slow })
  const early = slices.write([put('a', Buffer.from('early'))])
  const snapshot = layer.take()
  const late = slices.write([put('a', Buffer.from('late'))])
  const later = slices.write([put('b', Buffer.from('later'))])
  await turn()
  t.same(order, ['a'], 'the late ones wait for the early one')
  held.shift()!()
  await early
  while (held.length < 2) await turn()
  await snapshot.close()
  const last = slices.write([put('c', Buffer.from('last'))])
  t.same(order, ['a', 'a', 'b', 'c'])
  while (held.length > 0) held.shift()!()
  await Promise.all([late, later, last])
})

t.test('a snapshot that fails while a page is read gives none of what is there now', async (t) => {
  for (const change of [put('a', Buffer.from('new')), { type: 'del', key: key('a') } as const]) {
    const memory = await new MemoryBackend().open('slices')
    let fails = false
    let whenRead = async () => {}
    const storage: Storage = {
      get: (key) => memory.get(key),
      getBytes: (key, from, to) => memory.getBytes(key, from, to),
      getMany: async (keys) => {
        if (fails) throw new Error('on purpose')
        return memory.getMany(keys)
      },
      async *scan(range) {
        const pages = []
        for await (const page of memory.scan(range)) pages.push(page)
        await whenRead()
        yield* pages
      },
      write: (operations, options) => memory.write(operations, options),
      close: () => memory.close(),
      [Symbol.asyncDispose]: () => memory.close(),
    }
    const { layer, slices } = await opened({ open: async () => storage })
    await slices.write([put('a', Buffer.from('old'))])
    const snapshot = layer.take()
    await slices.write([change])
    whenRead = async () => {
      fails = true
      await slices.write([put('b', Buffer.from('b'))])
    }
    await t.rejects(snapshot.partitions.slices.scan({})[Symbol.asyncIterator]().next(), {
      message: 'on purpose',
    })
    await snapshot.close()
  }
})
